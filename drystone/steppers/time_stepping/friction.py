"""Static and dynamic friction in the scheme: which coefficient each contact has in a step.

A contact that slid in the last step has its dynamic coefficient, any other its static one. If a
contact with the static one slides, it gets the dynamic one and the step is solved again: the set
of sliding contacts only grows, so this ends.

Motors and friction of joints are friction under a given load F h (``constraints.joints.blocks``).
The convex law would lift that load: its row reads s (r_n - F h) = mu |u_t|. So what it adds, mu
|u_t|, is taken off the row's bias, and the step is solved again until nothing is left of it; the
answer is the convex law for contacts and |r| <= F h for joints, both at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from drystone.constraints.rows import Rows
from drystone.kernels.step.finish import SLIP_ROUNDS, SLIP_SPEED
from drystone.kernels.step.joint_laws import EXACT, LIFTS
from drystone.steppers.time_stepping.solve import IslandSolver, Solved
from drystone.types import Bools, Floats, Ints


def solve_friction(
    rows: Rows,
    bias: Floats,
    v_free: Floats,
    guess: Floats | None,
    slid: Bools,
    solver: IslandSolver,
    step: Any,
) -> Solved:
    """Impulses of a step with static and dynamic coefficients; slid (nc,): contacts that did in the
    last step; step: see ``IslandSolver.solve``."""
    r = np.zeros((rows.nc, rows.d)) if guess is None else guess

    def once(bias: Floats, r: Floats) -> Solved:
        return _slipping(rows, bias, v_free, r, slid, solver, step)

    loaded = (rows.joint >= 0) & (rows.mu[:, 0] > 0.0)
    if solver.options.formulation == "convex" and loaded.any():
        return _unlifted(bias, r, np.flatnonzero(loaded), once)
    return once(bias, r)


def _unlifted(
    bias: Floats,
    r: Floats,
    at: Ints,
    once: Callable[[Floats, Floats], Solved],
) -> Solved:
    """Solve until the given loads of the blocks `at` are those that were given.

    A secant step for each: in slip |u_t| falls linearly as the load grows.
    """
    given, bias = bias[at, 0].copy(), bias.copy()
    shift, slip = np.zeros((2, at.size)), np.zeros((2, at.size))
    iterations = 0
    for k in range(LIFTS):
        solved = once(bias, r)
        iterations += solved.iterations
        slip[0], slip[1] = slip[1], np.sqrt((solved.u[at, 1:] ** 2).sum(axis=1))
        wrong = slip[1] - shift[1]
        if (np.abs(wrong) <= EXACT * np.abs(given)).all():
            break
        moved = shift[1] - shift[0]
        slope = np.divide(slip[1] - slip[0], moved, out=np.zeros(at.size), where=moved != 0.0)
        slope = np.clip(slope, 0.0, 0.9) if k else np.zeros(at.size)
        shift[0], shift[1] = shift[1], shift[1] + wrong / (1.0 - slope)
        bias[at, 0] = given + shift[1]
        r = solved.r
    solved.iterations = iterations
    return solved


def _slipping(
    rows: Rows,
    bias: Floats,
    v_free: Floats,
    r: Floats,
    slid: Bools,
    solver: IslandSolver,
    step: Any,
) -> Solved:
    """Each contact with its static or dynamic coefficient."""
    static, dynamic = rows.mu[:, 0], rows.mu[:, 1]
    if (static == dynamic).all():
        return solver.solve(rows, static.copy(), bias, v_free, r, step)
    loose = slid.copy()
    iterations = 0
    for _ in range(SLIP_ROUNDS):
        solved = solver.solve(rows, np.where(loose, dynamic, static), bias, v_free, r, step)
        iterations += solved.iterations
        broke = sliding(rows, solved) & ~loose & (static > dynamic)
        if not broke.any():
            break
        loose |= broke
        r = solved.r
    solved.iterations = iterations
    return solved


def sliding(rows: Rows, solved: Solved) -> Bools:
    """(nc,) contacts that carry load and slip.

    Slow is meant against what the island's contacts would do without impulses (q): bodies at rest
    have no other speed than rounding.
    """
    if rows.nc == 0:
        return np.zeros(0, bool)
    speed = np.sqrt((solved.u[:, 1:] ** 2).sum(axis=1))
    most = np.maximum(np.abs(solved.q), np.abs(solved.u)).max(axis=1)
    scale = np.repeat(np.maximum.reduceat(most, rows.start[:-1]), np.diff(rows.start))
    return (solved.r[:, 0] > 0.0) & (speed > SLIP_SPEED * scale)
