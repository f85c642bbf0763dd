"""Static and dynamic friction in the scheme: which coefficient each contact has in a step.

A contact that slid in the last step has its dynamic coefficient, any other its static one. If a
contact with the static one slides, it gets the dynamic one and the step is solved again: the set
of sliding contacts only grows, so this ends.
"""

from __future__ import annotations

import numpy as np

from drystone.constraints.rows import Rows
from drystone.steppers.time_stepping.solve import IslandSolver, Solved
from drystone.steppers.time_stepping.warm import WarmStart, sliding
from drystone.types import Floats, Ints

ROUNDS = 10  # of contacts that break loose because others did


def solve_friction(
    rows: Rows,
    bias: Floats,
    v_free: Floats,
    guess: Floats | None,
    at: Ints,
    warm: WarmStart,
    solver: IslandSolver,
    rest: float,
) -> Solved:
    """Impulses of a step with static and dynamic coefficients; at: see ``WarmStart.find``;
    rest: see ``IslandSolver.solve``."""
    r = np.zeros((rows.nc, rows.d)) if guess is None else guess
    static, dynamic = rows.mu[:, 0], rows.mu[:, 1]
    if (static == dynamic).all():
        return solver.solve(rows, static.copy(), bias, v_free, r, rest)
    loose = np.zeros(rows.nc, bool)
    if warm.slid is not None and warm.slid.size:
        loose = (at >= 0) & warm.slid[at]
    iterations = 0
    for _ in range(ROUNDS):
        solved = solver.solve(rows, np.where(loose, dynamic, static), bias, v_free, r, rest)
        iterations += solved.iterations
        broke = sliding(rows, solved) & ~loose & (static > dynamic)
        if not broke.any():
            break
        loose |= broke
        r = solved.r
    solved.iterations = iterations
    return solved
