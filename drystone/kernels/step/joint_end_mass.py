"""M at the end of the step beside joints: what ``end_mass`` does, with rows of joints.

Joints were closed with M at the start; the velocities by which they are stay what their rows ask.
"""

from drystone.kernels._jit import kernel, stage
from drystone.kernels.rows import responses
from drystone.kernels.step import codes, end_mass
from drystone.kernels.step.copies import copy_all
from drystone.kernels.step.joint_aim import speed
from drystone.kernels.step.joint_spare import quiet, restore, silence


@kernel
def again(s, scan, j):
    """AGAIN from the solve with M at the end of the step, until velocities stay."""
    n = s.rows
    if j.goal == codes.MASS:
        _complete(s, j, n)
    if end_mass.settled(s):
        return codes.GO_ON
    end_mass.turn(s, scan)
    _respond(s, j, n)
    quiet(s, j)
    silence(s, j)
    j.softening = 0.0
    j.is_stiff = j.by_host = 0
    j.goal = codes.MASS
    s.next_stage = j.aim_stage + 2
    return codes.AGAIN


@kernel
def _respond(s, j, n):
    responses(s.inverse_mass, s.inverse, s.body[:n], s.J[:n], j.soft[:n], s.P[:n], s.D[:n])


@stage
def _complete(s, j, n):
    """All rows again; those too many end as they come."""
    restore(j)
    copy_all(j.J0[:n], s.J[:n])
    _respond(s, j, n)
    for i in range(n):
        block = j.joint[i]
        for a in range(s.bias.shape[1]):
            now = speed(i, a, s.body, s.J, s.v)
            if block >= 0 and j.block_row[block, a] >= 0 and not j.closes[j.block_row[block, a]]:
                s.bias[i, a] = -now
            s.q[i, a] = speed(i, a, s.body, s.J, s.v_free) + s.bias[i, a]
            s.u[i, a] = now + s.bias[i, a] + j.soft[i, a] * s.r[i, a]
