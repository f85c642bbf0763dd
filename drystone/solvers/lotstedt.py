"""Lotstedt's approximation of friction, "lotstedt" (Baraff 1992, 14.2.1).

The bound of friction is mu times the normal force g of the *previous* step: dynamic friction
-mu g slip becomes a known load, static friction a box, each tangent axis for itself,
    min 1/2 f'A f + b'f  subject to  f_N >= 0,  -mu g <= f_x, f_y <= mu g            (14-10)
(both bounds carry mu, which is missing in print). Its optimality conditions are (14-9)
for symmetric A.

Without a previous step g starts at 0 and is replaced by the f_N it leads to, again and again. That
may converge (in the plane: to the exact law), alternate between two values, or diverge.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from drystone.problems import BoxedLCP, FrictionProblem, Problem
from drystone.solvers._blocks import circular_cones_only
from drystone.solvers.base import COLD, Answer, Limits, Solver, Start
from drystone.solvers.qp import indefinite, solve_boxed
from drystone.types import Floats, Status

CONVERGED_CHANGE = 1e-10  # of the largest unit-free force: passes that change less have converged
GROWING = 10  # passes in a row whose change grew: diverging


@dataclass(frozen=True, kw_only=True)
class Lotstedt(Solver):
    """Friction bounded by an earlier normal force; a convex QP for each pass.

    passes: how often g is replaced by the new f_N; None means once if the guess brings the
        forces of a previous step, else until they converge (at most 200 times). The history
        holds the largest unit-free change of f_N in each pass.
    """

    passes: int | None = None

    name: ClassVar[str] = "lotstedt"
    _least: ClassVar[dict[str, int]] = {"passes": 1}

    def refuses(self, problem: Problem) -> str | None:
        reason = circular_cones_only(problem)
        if reason is not None:
            return reason
        stated: Any = problem.local
        W = _formed(stated)
        if problem.size and abs(W - W.T).max() > 1e-6 * abs(W).max():
            return "W must be symmetric: (14-10) has other optimality conditions than (14-9)"
        return indefinite("W", W)

    def run(self, problem: Any, start: Start, limits: Limits) -> Answer:
        d, nc = problem.d, problem.nc
        unit = problem.form.unit[:nc]
        g = np.zeros(nc)
        if start.value is not None:
            g = np.maximum(start.value[: d * nc : d], 0.0)
        passes = self.passes or (200 if start.value is None else 1)
        trail, moves = [g * unit], [0.0]
        answer = Answer(np.zeros(problem.size), Status.STALLED)
        status: Status | None = None
        info: dict[str, Any] = {}
        for _ in range(passes):
            answer = solve_boxed(boxed(problem, g), 2, COLD, limits)
            g = np.maximum(answer.value[: d * nc : d], 0.0)
            trail.append(g * unit)
            moves.append(float(np.abs(trail[-1] - trail[-2]).max(initial=0.0)))
            status, info = _verdict(trail, moves)
            if answer.status is Status.INFEASIBLE:
                status = Status.INFEASIBLE
            elif limits.expired():
                status = Status.TIME_LIMIT
            if status is not None or max(problem.residuals(answer.value)) <= limits.tol:
                break
        if status is None:  # as many passes as asked for, each one solved
            start_up = self.passes is None and start.value is None
            status = Status.MAX_ITERATIONS if start_up else Status.APPROXIMATE
        info["passes"] = len(moves) - 1
        extras = {"history": np.array(moves[1:]), "info": info}
        return Answer(answer.value, status, len(moves) - 1, extras=extras)


def boxed(problem: FrictionProblem, g: Floats) -> BoxedLCP:
    """(14-10) with bounds from the normal forces g; known friction has equal bounds."""
    d, nc = problem.d, problem.nc
    lower = np.full(problem.size, -np.inf)
    upper = np.full(problem.size, np.inf)
    low, high = (x[: d * nc].reshape(nc, d) for x in (lower, upper))
    low[:, 0] = 0.0
    bound = np.repeat((problem.mu * g)[:, None], d - 1, axis=1)
    low[:, 1:], high[:, 1:] = -bound, bound
    if problem.slip is not None:
        known = (-bound * problem.slip)[problem.sliding]
        low[problem.sliding, 1:] = high[problem.sliding, 1:] = known
    W = _formed(problem)
    return BoxedLCP(0.5 * (W + W.T), problem.q, lower, upper)


def _formed(problem: FrictionProblem) -> Any:
    return problem.dense if problem.matrix_free else problem.W


def _verdict(trail: list[Floats], moves: list[float]) -> tuple[Status | None, dict[str, Any]]:
    """Whether the start-up has converged, alternates or diverges; forces unit-free."""
    size = max(float(np.abs(trail[-1]).max(initial=0.0)), np.finfo(float).tiny)
    if moves[-1] <= CONVERGED_CHANGE * size:
        return Status.APPROXIMATE, {"settled": True}
    if len(trail) > 3 and np.abs(trail[-1] - trail[-3]).max() <= CONVERGED_CHANGE * moves[-1]:
        return Status.STALLED, {"alternates": True}
    last = moves[-GROWING - 1 :]
    if len(moves) > GROWING + 1 and all(a < b for a, b in pairwise(last)):
        return Status.STALLED, {"diverged": True}
    return None, {}
