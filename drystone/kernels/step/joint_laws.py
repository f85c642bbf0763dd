"""Blocks with laws beside joints: contacts, limits, motors of limited force, island by island.

What ``steppers.time_stepping.solve`` and ``friction`` do, in the usual case: a few sweeps, then
Newton's steps. Where they do not arrive the stages answer SOLVE, with the guess as it was, and all
of it is done in Python.
"""

from drystone.kernels import status
from drystone.kernels._jit import kernel, stage
from drystone.kernels.island_sweeps import solve_islands
from drystone.kernels.rows import add_impulses, row_velocities
from drystone.kernels.step import joint_names as its
from drystone.kernels.step import names as the
from drystone.kernels.step.copies import copy_all
from drystone.kernels.step.finish import ROUNDS, sliding
from drystone.kernels.step.prepare import CHEAP, FEW, SWEEPS


@kernel
def sweep_planar(s, scan, j):
    """Impulses by sweeps, from the guess."""
    n, ni = _begin(s, j)
    solve_islands(
        (0, 0), s.chosen[:ni], s.start[: ni + 1], s.body[:n], s.J[:n], s.P[:n], s.D[:n], j.soft[:n],
        s.bias[:n], s.mu[:n], j.unit[:n], s.count[the.LAW], s.limit[:ni], s.most[:ni], s.leave[0],
        s.q[:n], s.v, s.r[:n], j.lam[:n], s.u[:n], s.ended[:ni], s.sweeps[:ni], s.residual[:ni],
    )  # fmt: skip
    return _left(s, j, n, ni)


@kernel
def sweep_spatial(s, scan, j):
    """The same in space."""
    n, ni = _begin(s, j)
    solve_islands(
        (0, 0, 0), s.chosen[:ni], s.start[: ni + 1], s.body[:n], s.J[:n], s.P[:n], s.D[:n],
        j.soft[:n], s.bias[:n], s.mu[:n], j.unit[:n], s.count[the.LAW], s.limit[:ni], s.most[:ni],
        s.leave[0], s.q[:n], s.v, s.r[:n], j.lam[:n], s.u[:n], s.ended[:ni], s.sweeps[:ni],
        s.residual[:ni],
    )  # fmt: skip
    return _left(s, j, n, ni)


@stage
def _begin(s, j):
    """Coefficients, velocities of the guess, and what islands may cost."""
    n, ni, tol = s.count[the.ROWS], s.count[the.ISLANDS], s.real[the.TOL]
    if j.count[its.SLIDES] == 0:
        copy_all(s.r[:n], j.guess[:n])
        for i in range(n):
            at = s.source[i]
            s.loose[i] = at >= 0 and s.old_slid[at]
    for i in range(n):
        s.mu[i] = s.both[i, 1] if s.loose[i] else s.both[i, 0]
        j.lam[i] = 0.0
    copy_all(s.v_free, s.v)
    add_impulses(s.body[:n], s.P[:n], s.r[:n], s.v)
    s.leave[0] = True
    for k in range(ni):
        size = s.start[k + 1] - s.start[k]
        s.chosen[k], s.sweeps[k] = k, 0
        s.limit[k] = the.CLOSER * tol if size <= the.SMALL else tol
        # what joints must tell each other takes sweeps too many
        s.most[k] = FEW if _jointed(s, j, k) else SWEEPS + CHEAP // size
    return n, ni


@stage
def _jointed(s, j, k):
    found = False
    for i in range(s.start[k], s.start[k + 1]):
        found = found or j.joint[i] >= 0
    return found


@stage
def _left(s, j, n, ni):
    """The plan: islands that Newton is to solve; SOLVE if one is not for it."""
    total = 0.0
    for i in range(n):
        for a in range(s.r.shape[1]):
            total += s.r[i, a]
    j.count[its.UNSOLVED] = 0
    fine = abs(total) < 1e300  # else there is nothing to go on from
    for k in range(ni):
        j.count[its.SPENT] += s.sweeps[k]
        s.plan[k] = the.DONE
        if s.ended[k] != status.SOLVED:
            s.plan[k] = the.SMALL_NEWTON
            j.count[its.UNSOLVED] += 1
            size = s.start[k + 1] - s.start[k]
            fine = fine and (size <= the.SMALL or _jointed(s, j, k))
    return the.GO_ON if fine else give_up(s, j, n)


@stage
def give_up(s, j, n):
    """All to Python, from the guess."""
    copy_all(j.guess[:n], s.r[:n])
    j.count[its.SLIDES] = j.count[its.SPENT] = 0
    return the.SOLVE


@stage
def conclude(s, scan, j):
    """Velocities; AGAIN if a contact with its static coefficient slides: it gets the dynamic one,
    and all is solved again. The set of sliding contacts only grows, so this ends."""
    n, count = s.count[the.ROWS], s.count
    if j.count[its.UNSOLVED] > 0:
        copy_all(s.v_free, s.v)
        add_impulses(s.body[:n], s.P[:n], s.r[:n], s.v)
        count[the.METHODS] |= 2
    count[the.METHODS] |= 1
    row_velocities(s.body[:n], s.J[:n], s.bias[:n], s.v, s.u[:n])
    for i in range(n):
        for a in range(s.u.shape[1]):
            s.u[i, a] += j.soft[i, a] * s.r[i, a]
    sliding(count[the.ISLANDS], s.start, s.r, s.u, s.q, s.slid)
    broke = False
    for i in range(n):
        if s.slid[i] and not s.loose[i] and s.both[i, 0] > s.both[i, 1]:
            broke = s.loose[i] = True
    j.count[its.SLIDES] += 1
    if broke and j.count[its.SLIDES] < ROUNDS:
        count[the.BACK] = its.LAWS
        return the.AGAIN
    count[the.ITERATIONS] += j.count[its.SPENT]
    j.count[its.SLIDES] = j.count[its.SPENT] = 0
    return the.GO_ON
