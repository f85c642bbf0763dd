"""The linear-programming heuristic of 1989, "lp" (Baraff 1989, 6 and 7).

Frictionless contact forces f: a = A f + b >= 0, f >= 0, f'a = 0. A contact with a_i > 0 is called
vanishing; V is a guess of those, and each guess makes the problem linear:
(a) guess V = {}: A f + b = 0, f >= 0. It succeeds on nearly all steps of a simulation.
(b) else f_a = argmin sum f subject to A f + b >= 0, f >= 0; V = {i: a_i(f_a) > 0}.
(c) solve (18): f_i = 0, a_i >= 0 in V and a_i = 0, f_i >= 0 elsewhere.
(d) else take f_a itself: it does not penetrate, but adds the energy f_a'a > 0, which is reported.
Holonomic (free) rows are equalities with f of any sign, left out of the sum. If such rows have
no solution: least squares (SVD) when there are no others, or the least 1-norm of their
accelerations (37) by another linear program.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from drystone.errors import OptionError
from drystone.problems import BoxedLCP, FrictionProblem, MixedLCP, Problem
from drystone.solvers._polish import interior, polish_boxed, reused
from drystone.solvers.base import Answer, Limits, Solver, Start
from drystone.solvers.certificates import boxes_infeasible
from drystone.solvers.qp import frictionless, normal_lcp
from drystone.types import Bools, Floats, Status

FEASIBLE = 1e-10  # HiGHS' own tolerance, of unit-free rows with |b| = 1; its least setting
SLOW = 10.0 * FEASIBLE  # accelerations in the same units that are more than its rounding


@dataclass(frozen=True, kw_only=True)
class LP(Solver):
    """Guess which contacts break, verify by linear programming (HiGHS).

    vanishing: acceleration, unit-free and relative to |b|, above which step (b) guesses that
        a contact vanishes [1]; where that guess does not hold, above what is rounding.
    holonomic: "svd" or "lp" for infeasible problems that have free rows only.
    """

    vanishing: float = 1e-7
    holonomic: str = "svd"

    name: ClassVar[str] = "lp"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.vanishing > 0:
            raise OptionError(f"lp: vanishing = {self.vanishing}: expected a positive number")
        if self.holonomic not in ("svd", "lp"):
            raise OptionError(f"lp: holonomic = {self.holonomic!r}: expected 'svd' or 'lp'")

    def refuses(self, problem: Problem) -> str | None:
        problem = problem.local
        if isinstance(problem, FrictionProblem):
            if not frictionless(problem):
                return "solves frictionless contacts, not friction"
        elif not isinstance(problem, MixedLCP):
            return "solves rows with f >= 0 or free, not boxes"
        return None

    def run(self, problem: Any, start: Start, limits: Limits) -> Answer:
        if not isinstance(problem, FrictionProblem):
            return self._heuristic(problem, start, limits)
        lcp, Q = normal_lcp(problem)
        answer = self._heuristic(lcp, Start(None, start.basis), limits)
        value = np.asarray(Q @ answer.value)
        return Answer(value, answer.status, answer.iterations, extras=answer.extras)

    def _heuristic(self, problem: BoxedLCP, start: Start, limits: Limits) -> Answer:
        again = reused(problem, start.basis, limits.tol)
        if again is not None:
            stats = {"step": "basis", "counts": dict.fromkeys("abcd", 0)}
            return Answer(again, Status.SOLVED, 0, extras={"basis": start.basis, "info": stats})
        rows = _Rows(problem, limits)
        counts = {"a": 1, "b": 0, "c": 0, "d": 0}
        none = np.zeros(problem.size, bool)
        f, step, V, status = rows.guess(none), "a", none, Status.SOLVED
        if f is None and not problem.free.all():
            counts["b"], step = 1, "b"
            approximate = rows.minimum_sum()
            if approximate is not None:
                f, V = self._second(rows, rows.b + rows.A @ approximate, counts)
                step = "c"
                if f is None:
                    counts["d"], step = 1, "d"
                    f, status = approximate, Status.APPROXIMATE
        if f is None:
            status = rows.verdict()
            f, step = self._infeasible(rows, problem), "infeasible"
        value = f * rows.scale
        if status is Status.SOLVED:
            value = polish_boxed(problem, value)
        energy = float((value * problem.dual(value))[~problem.free].sum())
        info: dict[str, Any] = {"step": step, "counts": counts, "energy": energy}
        info["vanishing"] = int(V.sum())
        extras: dict[str, Any] = {"info": info}
        if status is Status.SOLVED:
            extras["basis"] = interior(problem, value)
        return Answer(value, status, rows.iterations, extras=extras)

    def _second(
        self, rows: _Rows, a: Floats, counts: dict[str, int]
    ) -> tuple[Floats | None, Bools]:
        """Step (c): f and V, by what vanishes clearly, else by what vanishes at all."""
        V = ~rows.free & (a > self.vanishing)
        counts["c"] += 1
        f = rows.guess(V)
        every = ~rows.free & (a > min(self.vanishing, SLOW))
        if f is None and (every & ~V).any():
            V = every
            counts["c"] += 1
            f = rows.guess(V)
        return f, V

    def _infeasible(self, rows: _Rows, problem: BoxedLCP) -> Floats:
        """Least violation of the holonomic rows; zero where the others are to blame."""
        if problem.free.all() and self.holonomic == "svd":
            A = rows.A if isinstance(rows.A, np.ndarray) else rows.A.toarray()
            return np.asarray(np.linalg.lstsq(A, -rows.b, rcond=None)[0])
        f = rows.least_violation() if problem.free.any() else None
        return np.zeros(problem.size) if f is None else f


class _Rows:
    """a = A f + b in unit-free unknowns with |b| = 1: HiGHS' tolerances are absolute."""

    def __init__(self, problem: BoxedLCP, limits: Limits) -> None:
        unit, self.limits, self.iterations, self.word = problem.unit, limits, 0, 0
        self.problem = problem
        b = problem.q / unit
        size = float(np.linalg.norm(b)) or 1.0
        self.b, self.scale = b / size, size / unit
        if problem.sparse:
            inverse = sp.diags_array(1.0 / unit)
            self.A = sp.csr_array(inverse @ problem.M @ inverse)
        else:
            self.A = problem.M / unit[:, None] / unit
        self.free: Bools = problem.free

    def verdict(self) -> Status:
        """Why the last program gave nothing: the limit, HiGHS' own trouble, or no such f."""
        if self.limits.expired() or self.word == 1:
            return Status.TIME_LIMIT
        proved = self.word == 2 and boxes_infeasible(self.problem)
        return Status.INFEASIBLE if proved else Status.STALLED

    def guess(self, V: Bools) -> Floats | None:
        """f of (18): zero and a >= 0 in V, a = 0 and f >= 0 (or free) outside; or None."""
        return self._solve(np.zeros(V.size), V, ~V, np.where(V, 0.0, np.inf))

    def minimum_sum(self) -> Floats | None:
        """(22), (23): least total force that keeps every contact from accelerating inwards."""
        cost = np.where(self.free, 0.0, self.scale / self.scale.max())
        return self._solve(cost, ~self.free, self.free, np.full(cost.size, np.inf))

    def least_violation(self) -> Floats | None:
        """(37): least 1-norm of the free rows' accelerations, the others as in (23)."""
        n, rows = self.b.size, np.flatnonzero(self.free)
        A, E = sp.csr_array(self.A), sp.eye_array(rows.size)
        equal = sp.hstack([A[rows], -E, E])
        others = np.flatnonzero(~self.free)
        below = sp.hstack([-A[others], sp.csr_array((others.size, 2 * rows.size))])
        cost = np.concatenate([np.zeros(n), np.ones(2 * rows.size)])
        lower = np.concatenate([np.where(self.free, -np.inf, 0.0), np.zeros(2 * rows.size)])
        bounds = np.column_stack([lower, np.full(lower.size, np.inf)])
        x = self._linprog(cost, below, self.b[others], equal, -self.b[rows], bounds)
        return None if x is None else x[:n]

    def _solve(self, cost: Floats, above: Bools, equal: Bools, upper: Floats) -> Floats | None:
        lower = np.where(self.free, -np.inf, 0.0)
        bounds = np.column_stack([lower, upper])
        A, b = self.A, self.b
        return self._linprog(cost, -A[above], b[above], A[equal], -b[equal], bounds)

    def _linprog(self, cost: Floats, A: Any, b: Floats, E: Any, e: Floats, bounds: Any) -> Any:
        if self.limits.expired():
            return None
        found = linprog(
            cost,
            A_ub=A if b.size else None,
            b_ub=b if b.size else None,
            A_eq=E if e.size else None,
            b_eq=e if e.size else None,
            bounds=bounds,
            method="highs",
            options={
                "time_limit": max(self.limits.left(), 1e-3),
                "primal_feasibility_tolerance": FEASIBLE,
                "dual_feasibility_tolerance": FEASIBLE,
            },
        )
        self.iterations += int(found.nit)
        self.word = int(found.status)
        return found.x if found.status == 0 else None
