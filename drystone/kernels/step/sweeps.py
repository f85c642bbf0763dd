"""Sixth stage: sweeps over the chosen islands, within their tolerances and numbers of sweeps."""

from drystone.kernels._jit import stage
from drystone.kernels.light_islands import solve_light_islands
from drystone.kernels.step import names as the


@stage
def sweep(s, scan):
    """Accelerated Gauss-Seidel on body velocities."""
    n, ni, m = s.count[the.ROWS], s.count[the.ISLANDS], s.chosen_count[0]
    if m == 0:
        return the.GO_ON
    _reset(s, ni)
    if _worth_threads(s, m):
        return the.THREADS
    solve_light_islands(
        s.chosen[:m], s.start[: ni + 1], s.body[:n], s.bias[:n], s.mu[:n], s.count[the.LAW],
        s.limit[:ni], s.enough[:ni], s.resort[:ni], s.least[:ni], s.most[:ni], s.leave[0],
        s.q[:n], s.v, s.r[:n], s.u[:n], s.ended[:ni], s.sweeps[:ni], s.residual[:ni],
        s.contact[:n], s.motion, s.seen, s.mine, s.awake[:n],
    )  # fmt: skip
    return counted(s, ni)


@stage
def _worth_threads(s, m):
    """Whether an island is to be cut, or islands are to be shared out."""
    total, most = 0, 0
    for j in range(m):
        size = s.start[s.chosen[j] + 1] - s.start[s.chosen[j]]
        total += size
        most = max(most, size)
    return most >= s.count[the.HUGE] or (m > 1 and total >= s.count[the.HUGE + 1])


@stage
def _reset(s, ni):
    for k in range(ni):
        s.sweeps[k] = 0


@stage
def counted(s, ni):
    for k in range(ni):
        s.count[the.ITERATIONS] += s.sweeps[k]
    return the.GO_ON
