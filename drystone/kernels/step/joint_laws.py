"""Blocks with laws beside joints: contacts, limits, motors of limited force, island by island.

The stages of a solve are those of contacts (``policy``), on rows that are stored, and Newton's
method is one of them. The convex law lifts given loads, as which motors and friction of joints are
stated: it is solved until loads are as given.
"""

import numpy as np

from drystone.kernels._jit import kernel, stage
from drystone.kernels.blocks import CONVEX
from drystone.kernels.contact.sweeps import solve_block_islands
from drystone.kernels.rows import add_impulses, row_velocities
from drystone.kernels.step import codes
from drystone.kernels.step.copies import copy_all
from drystone.kernels.step.finish import SLIP_ROUNDS, sliding
from drystone.kernels.step.policy import count_sweeps, plan, reset_sweeps, share

LIFTS = 40  # solves until the loads of joints are what they should be
EXACT = 1e-12  # of a load, that it may be off


@stage
def begin(s, scan, j):
    """Coefficients, velocities of the guess, and what islands may cost."""
    n = s.rows
    if j.slides == 0:
        for i in range(n):
            at = s.source[i]
            s.loose[i] = at >= 0 and s.old_slid[at]
    for i in range(n):
        s.mu[i] = s.both[i, 1] if s.loose[i] else s.both[i, 0]
    push(s)
    return share(s)


@stage
def push(s):
    """v = v_free + M^-1 J' r."""
    n = s.rows
    copy_all(s.v_free, s.v)
    add_impulses(s.body[:n], s.P[:n], s.r[:n], s.v)


@kernel
def sweep_planar(s, scan, j):
    """Sweeps over the chosen islands."""
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
    if s.n_chosen == 0:
        return codes.GO_ON
    reset_sweeps(s)
    solve_block_islands(shape, s, j.soft, j.unit, None)
    return count_sweeps(s)


@stage
def plan_newton(s, scan, j):
    """What each island still needs: the next stage is Newton's method."""
    plan(s, scan)
    return codes.GO_ON


@stage
def ask(s, scan, j):
    """SOLVE: blocks are left to a solver of the library."""
    return codes.SOLVE


@stage
def conclude(s, scan, j):
    """Velocities; AGAIN if a contact with its static coefficient slides: it gets the dynamic one,
    and all is solved again. The set of sliding contacts only grows, so this ends. CLOSE if an
    island is not solved: there are other ways to close joints."""
    n = s.rows
    if s.failed >= 0:
        j.slides = 0
        if j.lifts > 0:
            _as_given(s, j)
        return codes.CLOSE_JOINTS
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
    if broke and j.slides < SLIP_ROUNDS:
        s.next_stage = j.laws_stage
        return codes.AGAIN
    j.slides = 0
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
