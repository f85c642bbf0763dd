"""The loop: stages by their addresses, step after step, until one of them needs Python."""

from drystone.kernels._calls import call
from drystone.kernels._jit import stage
from drystone.kernels.step import names as the
from drystone.kernels.step.contacts import note_contacts
from drystone.kernels.step.copies import copy_all
from drystone.kernels.step.due import due


@stage
def loop(job, at, steps):
    """Run `steps` steps, the first of them from stage `at` on; returns the code that stopped it.

    job: program (n,): addresses of stages, of detection at DETECT, which has arguments of its own;
    s and scan: what all stages get; own (2,): the stages own[0]:own[1] get the arrays j of joints,
    too; where (2,): out, steps that were finished and the stage that stopped.
    """
    program, own, where, s, scan, j = job.program, job.own, job.where, job.s, job.scan, job.j
    done = 0
    while done < steps:
        while at < program.size:
            if at == the.DETECT:
                code = call(program[at], (scan, scan.x, scan.R, scan.margin))
                if code != the.GO_ON:
                    code += the.DETECTION
            elif own[0] <= at < own[1]:
                code = call(program[at], (s, scan, j))
            else:
                code = call(program[at], (s, scan))
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


@stage
def tally(report, total):
    """Add a step to the totals of a run."""
    failed = report[the.R_FAILED] >= 0.0
    deep = report[the.DEPTH] > total[the.T_MAX_DEPTH]
    total[the.T_STEPS] += 1.0
    total[the.T_UNSOLVED] += 1.0 if failed else 0.0
    total[the.T_DEEP] += 1.0 if deep else 0.0
    total[the.T_HALVED] += 1.0 if report[the.RETRIES] > 0.0 else 0.0
    if failed or deep:
        total[the.T_FIRST] = min(total[the.T_FIRST], report[the.R_TIME])
    if failed and total[the.T_BODY] < 0.0:
        total[the.T_BODY] = report[the.UNSOLVED_BODY]
    if report[the.RESIDUAL] > total[the.T_RESIDUAL]:  # what is no number is no worst
        total[the.T_RESIDUAL] = report[the.RESIDUAL]
    if report[the.INFEASIBILITY] > total[the.T_METRES]:
        total[the.T_METRES] = report[the.INFEASIBILITY]
    if report[the.DEPTH] > total[the.T_DEPTH]:
        total[the.T_DEPTH] = report[the.DEPTH]
        total[the.T_DEEP_A], total[the.T_DEEP_B] = report[the.DEEP_A], report[the.DEEP_B]


@stage
def record(s, scan):
    """The last stage: the clock, and every so many steps a frame; FULL if there is no room."""
    kept = due(s)
    k, islands, logged = s.count[the.RECORDED], s.count[the.ISLANDS], s.count[the.LOGGED]
    noted, touching = s.noted_ends[0], s.count[the.ROWS] * s.count[the.WATCHED]
    if kept and (k >= s.frame_time.size or logged + islands > s.log.shape[0]):
        return the.FULL
    if kept and noted + touching > s.noted_numbers.shape[0]:
        return the.FULL
    s.count[the.CURSOR] += 1
    s.real[the.TIME] = s.origin[0] + (s.origin[1] + s.count[the.CURSOR]) * s.real[the.H]
    s.report[the.R_TIME] = s.real[the.TIME]
    tally(s.report, s.total)
    s.count[the.TAKEN] += 1
    if not kept:
        return the.GO_ON
    s.count[the.TAKEN] = 0
    for j in range(islands):
        s.log[logged + j, 0] = max(s.residual[j, 0], s.residual[j, 1])
        s.log[logged + j, 1] = s.start[j + 1] - s.start[j]
    s.count[the.LOGGED] = s.frame_log[k] = logged + islands
    if touching > 0:
        numbers, bodies, laws = s.noted_numbers, s.noted_bodies, s.noted_laws
        note_contacts(s, numbers, bodies, laws, s.noted_features, s.noted_ends)
    for a in range(3):
        s.frame_noted[k, a] = s.noted_ends[a]
    s.frame_time[k] = s.real[the.TIME]
    copy_all(s.position, s.frame_position[k])
    copy_all(s.velocity, s.frame_velocity[k])
    copy_all(s.orientation, s.frame_orientation[k])
    copy_all(s.report, s.frame_report[k])
    copy_all(s.wrench, s.frame_wrench[k])
    s.count[the.RECORDED] = k + 1
    return the.GO_ON
