"""Blocks with laws beside joints: contacts, limits, motors of limited force, island by island.

What ``steppers.time_stepping.solve`` and ``friction`` do, in the usual case: a few sweeps, then
Newton's steps. The convex law lifts given loads, as which motors and friction of joints are stated:
it is solved until loads are as given. Where this does not arrive the stages answer SOLVE, with the
guess as it was, and all of it is done in Python.
"""

import numpy as np

from drystone.kernels import status
from drystone.kernels._jit import kernel, stage
from drystone.kernels.blocks import CONVEX
from drystone.kernels.island_sweeps import solve_islands
from drystone.kernels.rows import add_impulses, row_velocities
from drystone.kernels.step import codes
from drystone.kernels.step.copies import copy_all
from drystone.kernels.step.finish import ROUNDS, sliding

LIFTS = 40  # solves until the loads of joints are what they should be
EXACT = 1e-12  # of a load, that it may be off


@kernel
def sweep_planar(s, scan, j):
    """Impulses by sweeps, from the guess."""
    return _sweep((0, 0), s, j)


@kernel
def sweep_spatial(s, scan, j):
    """The same in space."""
    return _sweep((0, 0, 0), s, j)


@kernel
def sweep_finger(s, scan, j):
    """The same with the spin of soft fingers."""
    return _sweep((0, 0, 0, 0), s, j)


@kernel
def _sweep(shape, s, j):
    n, ni = _begin(s, j)
    solve_islands(
        shape, s.chosen[:ni], s.start[: ni + 1], s.body[:n], s.J[:n], s.P[:n], s.D[:n], j.soft[:n],
        s.bias[:n], s.mu[:n], j.unit[:n], s.law, s.limit[:ni], s.most[:ni], s.leave, s.q[:n], s.v,
        s.r[:n], j.lam[:n], s.u[:n], s.ended[:ni], s.sweeps[:ni], s.residual[:ni], None,
        s.only_sweeps != 0,
    )  # fmt: skip
    return _left(s, j, n, ni)


@stage
def _begin(s, j):
    """Coefficients, velocities of the guess, and what islands may cost."""
    n, ni, tol = s.rows, s.islands, s.tol
    if j.slides == 0:
        copy_all(s.r[:n], j.guess[:n])
        for i in range(n):
            at = s.source[i]
            s.loose[i] = at >= 0 and s.old_slid[at]
    for i in range(n):
        s.mu[i] = s.both[i, 1] if s.loose[i] else s.both[i, 0]
        j.lam[i] = 0.0
    copy_all(s.v_free, s.v)
    add_impulses(s.body[:n], s.P[:n], s.r[:n], s.v)
    s.leave = not s.only_sweeps
    for k in range(ni):
        size = s.start[k + 1] - s.start[k]
        s.chosen[k], s.sweeps[k] = k, 0
        s.limit[k] = s.policy.closer * tol if size <= s.policy.small else tol
        # what joints must tell each other takes sweeps too many
        s.most[k] = s.policy.first_sweeps + s.policy.first_visits // size
        if _jointed(s, j, k):
            s.most[k] = s.policy.jointed_sweeps
        if s.only_sweeps:
            s.limit[k], s.most[k] = tol, s.max_sweeps
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
    j.unsolved = 0
    fine = abs(total) < 1e300  # else there is nothing to go on from
    for k in range(ni):
        j.spent += s.sweeps[k]
        s.plan[k] = codes.DONE
        if s.ended[k] != status.SOLVED:
            s.plan[k] = codes.SMALL_NEWTON
            j.unsolved += 1
            size = s.start[k + 1] - s.start[k]
            fine = fine and not s.only_sweeps and (size <= s.policy.small or _jointed(s, j, k))
    return codes.GO_ON if fine else give_up(s, j, n)


@stage
def ask(s, scan, j):
    """SOLVE: blocks are left to a solver of the library."""
    return codes.SOLVE


@stage
def give_up(s, j, n):
    """All to Python, from the guess."""
    copy_all(j.guess[:n], s.r[:n])
    j.slides = j.spent = 0
    if j.lifts > 0:
        _as_given(s, j)
    return codes.SOLVE


@stage
def conclude(s, scan, j):
    """Velocities; AGAIN if a contact with its static coefficient slides: it gets the dynamic one,
    and all is solved again. The set of sliding contacts only grows, so this ends."""
    n = s.rows
    if j.unsolved > 0:
        copy_all(s.v_free, s.v)
        add_impulses(s.body[:n], s.P[:n], s.r[:n], s.v)
        s.methods |= 2
    s.methods |= 1
    row_velocities(s.body[:n], s.J[:n], s.bias[:n], s.v, s.u[:n])
    for i in range(n):
        for a in range(s.u.shape[1]):
            s.u[i, a] += j.soft[i, a] * s.r[i, a]
    sliding(s.islands, s.start, s.r, s.u, s.q, s.slid)
    broke = False
    for i in range(n):
        if s.slid[i] and not s.loose[i] and s.both[i, 0] > s.both[i, 1]:
            broke = s.loose[i] = True
    j.slides += 1
    if broke and j.slides < ROUNDS:
        s.next_stage = j.laws_stage
        return codes.AGAIN
    s.iterations += j.spent
    j.slides = j.spent = 0
    if s.law == CONVEX and j.loads and not _unlifted(s, j):
        s.next_stage = j.laws_stage
        return codes.AGAIN
    return codes.GO_ON


@stage
def _unlifted(s, j):
    """Whether given loads are those that were given, up to rounding: mu |u_t|, which the law adds,
    is taken off their bias. A secant step for each: in slip |u_t| falls linearly as the load grows.
    """
    exact, first = True, j.lifts == 0
    for i in range(s.rows):
        if not _loaded(j, i):
            continue
        if first:
            j.load[i] = s.bias[i, 0]
            j.lift[i, 0] = j.lift[i, 1] = j.slip[i, 1] = 0.0
        speed = 0.0
        for a in range(1, s.u.shape[1]):
            speed += s.u[i, a] ** 2
        j.slip[i, 0], j.slip[i, 1] = j.slip[i, 1], np.sqrt(speed)
        exact = exact and abs(j.slip[i, 1] - j.lift[i, 1]) <= EXACT * abs(j.load[i])
    j.lifts += 1
    if exact or j.lifts == LIFTS:
        _as_given(s, j)
        return True
    for i in range(s.rows):
        if _loaded(j, i):
            moved, slope = j.lift[i, 1] - j.lift[i, 0], 0.0
            if moved != 0.0 and not first:
                slope = min(max((j.slip[i, 1] - j.slip[i, 0]) / moved, 0.0), 0.9)
            j.lift[i, 0] = j.lift[i, 1]
            j.lift[i, 1] += (j.slip[i, 1] - j.lift[i, 1]) / (1.0 - slope)
            s.bias[i, 0] = s.q[i, 0] = j.load[i] + j.lift[i, 1]  # a row without bodies
    return False


@stage
def _loaded(j, i):
    """Whether block i is friction under a given load."""
    return j.joint[i] >= 0 and j.block_mu[j.joint[i]] > 0.0


@stage
def _as_given(s, j):
    for i in range(s.rows):
        if _loaded(j, i):
            s.bias[i, 0] = s.q[i, 0] = j.load[i]
    j.lifts = 0
