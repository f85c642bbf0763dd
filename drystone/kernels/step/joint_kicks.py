"""Steps of second order with joints (RATTLE): what ``kicks`` does, and of joints beside it.

In the second kick joints give J v = 0 where bodies arrived, motors and springs their other half,
and of limits those take part that are reached.
"""

from drystone.kernels._jit import stage
from drystone.kernels.step import codes, kicks
from drystone.kernels.step.copies import copy_all


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
