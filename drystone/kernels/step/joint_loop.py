"""The loop of steps with joints: as ``step.loop``, with their arrays for the stages after contacts
are found."""

from drystone.kernels._calls import call
from drystone.kernels._jit import stage
from drystone.kernels.step import joint_names as its
from drystone.kernels.step import names as the


@stage
def loop_joints(program, at, steps, s, found, scan, j, where):
    """Run `steps` steps, the first of them from stage `at` on; returns the code that stopped it.

    where (2,): out, steps that were finished and the stage that stopped.
    """
    done, last = 0, program.size - 1
    while done < steps:
        while at <= last:
            if at == the.DETECT:
                code = call(program[at], (scan, scan.x, scan.R, scan.margin))
                if code != the.GO_ON:
                    code += the.DETECTION
            elif at < its.FIRST or at == last:
                code = call(program[at], (s, found))
            else:
                code = call(program[at], (s, found, j))
            if code == the.AGAIN:
                at = s.count[the.BACK]
            elif code != the.GO_ON:
                where[0], where[1] = done, at
                return code
            else:
                at += 1
        at = 0
        done += 1
    where[0], where[1] = done, 0
    return the.GO_ON
