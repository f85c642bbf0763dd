"""S of a step's impulses: joints under load turn with their bodies; see
``kernels.joint_stiffness`` and ``steppers.time_stepping.stiffness``."""

from drystone.kernels import joint_stiffness as kernels
from drystone.kernels._jit import kernel, stage
from drystone.kernels.step import codes
from drystone.kernels.step.copies import copy_all
from drystone.kernels.step.joint_spare import spread


@stage
def scale_of(s):
    """h^2 / 4 over the time for which forces act [s]."""
    return 0.25 * s.h * (s.h / s.kick)


@kernel
def load(s, scan, j):
    """S of the impulses s.r: of the least that do what they do. Schemes that do not close joints
    at the end of the step have none."""
    if j.scheme != codes.EXACT_JOINTS or j.goal == codes.MASS:
        return codes.GO_ON
    n, d, dim = s.rows, s.J.shape[1], s.position.shape[1]
    r = s.r
    if j.excess > j.large_excess:
        r = s.w
        copy_all(s.r[:n], r[:n])
        spread(j, r)
    for row in range(j.impulse.size):
        j.impulse[row] = 0.0  # of blocks that are left out
    for i in range(n):
        if j.joint[i] >= 0:
            for a in range(d):
                row = j.block_row[j.joint[i], a]
                if row >= 0:
                    j.impulse[row] = r[i, a]
    flat = j.S.reshape(j.S.size)
    for k in range(flat.size):
        flat[k] = 0.0
    scale = scale_of(s)
    levers = kernels.Levers(j.body, j.arms, j.gap, j.first_row, j.row_code, j.tie)
    kernels.stiffness(levers, j.impulse, scale, j.S)
    kernels.soften(
        dim, s.inverse_mass, s.mass, j.inertia, j.S, j.axes, j.values, j.bend, j.inverse, j.stiff
    )
    j.is_stiff = 0
    for b in range(j.stiff.size):
        if j.stiff[b]:
            j.is_stiff = 1
    return codes.GO_ON
