"""Steps of second order with joints (RATTLE): what ``kicks`` does, and of joints beside it.

In the second kick joints give J v = 0 where bodies arrived, motors and springs their other half,
and of limits those take part that are reached.
"""

from drystone.kernels._jit import stage
from drystone.kernels.step import codes, kicks
from drystone.kernels.step.copies import copy_all


@stage
def keep_start(s, j):
    """Keep what the step before left: a step whose second kick is too hard is begun anew."""
    n = s.old_rows
    j.first_old_rows, j.first_old_h = n, s.old_h
    copy_all(s.old_a[:n], j.first_old_a[:n])
    copy_all(s.old_b[:n], j.first_old_b[:n])
    copy_all(s.old_feature[:n], j.first_old_feature[:n])
    copy_all(s.old_impulse[:n], j.first_old_impulse[:n])
    copy_all(s.old_spin[:n], j.first_old_spin[:n])
    copy_all(s.old_slid[:n], j.first_old_slid[:n])


@stage
def again(s, scan, j):
    """After the first kick: go back for the second. After it: one report of both, and the first
    kick's contacts and joints to be read."""
    first, n = s.drifts, s.rows
    code = kicks.again(s, scan)
    if first:
        copy_all(s.J[:n], j.first_J[:n])
        copy_all(s.P[:n], j.first_P[:n])
        copy_all(s.D[:n], j.first_D[:n])
        copy_all(j.soft[:n], j.first_soft[:n])
        copy_all(j.unit[:n], j.first_unit[:n])
        copy_all(j.joint[:n], j.first_joint[:n])
        return code
    n = s.rows
    copy_all(j.first_J[:n], s.J[:n])
    copy_all(j.first_P[:n], s.P[:n])
    copy_all(j.first_D[:n], s.D[:n])
    copy_all(j.first_soft[:n], j.soft[:n])
    copy_all(j.first_unit[:n], j.unit[:n])
    copy_all(j.first_joint[:n], j.joint[:n])
    return codes.GO_ON
