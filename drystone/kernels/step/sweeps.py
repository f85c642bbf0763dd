"""Sweeps over the chosen islands, within their tolerances and numbers of sweeps."""

from drystone.kernels._jit import stage
from drystone.kernels.contact.sweeps import solve_packed_islands
from drystone.kernels.step import codes


@stage
def sweep(s, scan):
    """Accelerated Gauss-Seidel on body velocities."""
    ni, m = s.islands, s.n_chosen
    if m == 0:
        return codes.GO_ON
    reset(s, ni)
    if _worth_threads(s, m):
        return codes.THREADS
    solve_packed_islands(s, s.chosen[:m], s.seen, s.mine, s.awake)
    return counted(s, ni)


@stage
def _worth_threads(s, m):
    """Whether an island is to be cut, or islands are to be shared out."""
    total, most = 0, 0
    for j in range(m):
        size = s.start[s.chosen[j] + 1] - s.start[s.chosen[j]]
        total += size
        most = max(most, size)
    return most >= s.parallel_island or (m > 1 and total >= s.parallel_total)


@stage
def reset(s, ni):
    for k in range(ni):
        s.sweeps[k] = 0


@stage
def counted(s, ni):
    for k in range(ni):
        s.iterations += s.sweeps[k]
    return codes.GO_ON
