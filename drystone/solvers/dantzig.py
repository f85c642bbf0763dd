"""Dantzig's principal pivoting, extended to friction: "dantzig" (Baraff 1994).

Solves LCPs with a positive semidefinite matrix of any rank, bilateral rows included, and contact
forces with static friction (plane and space, true circular cone) and dynamic friction, in any
mixture. Unsymmetric LCPs (dynamic friction folded into the matrix) end in a solution or a ray.
Theory: docs/theory/dantzig.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from drystone.errors import OptionError
from drystone.kernels import dantzig as kernels
from drystone.kernels import dantzig_sets as sets
from drystone.kernels import dantzig_setup as setup
from drystone.kernels import status as code
from drystone.problems import BoxedLCP, FrictionProblem, GlobalFrictionProblem, MixedLCP, Problem
from drystone.problems.cones import CircularCone
from drystone.solvers._dantzig_reuse import COUNTS, basis_of, reuse
from drystone.solvers._dantzig_start import guessed
from drystone.solvers.base import Answer, Limits, Solver, Start
from drystone.types import STATUS_OF_CODE, Floats, Status

ENDS = (Status.SOLVED, Status.INFEASIBLE)
EXACT = 1e-10  # residual of a guess that is an answer
WORK = 4_000_000  # multiplications between two looks at the clock: a few milliseconds


@dataclass(frozen=True, kw_only=True)
class Dantzig(Solver):
    """Contact forces by driving one force at a time, all others keeping their conditions.

    Large sparse problems without known slip are guessed first: all contacts press and stick, or
    but a few (``info["guesses"]``); where that holds nothing is driven.

    max_pivots: limit of set changes; None means 50 per row and 500 more.
    trace: keep the index sets and the driven acceleration of every pivot in ``info["trace"]``;
        nothing is guessed then.
    max_size: rows beyond which the dense factorisation is refused.
    """

    max_pivots: int | None = None
    trace: bool = False
    max_size: int = 4000

    name: ClassVar[str] = "dantzig"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_pivots is not None and self.max_pivots < 1:
            raise OptionError(f"dantzig: max_pivots = {self.max_pivots}: expected at least 1")
        if self.max_size < 1:
            raise OptionError(f"dantzig: max_size = {self.max_size}: expected at least 1")

    def refuses(self, problem: Problem) -> str | None:
        if problem.size > self.max_size:
            return f"{problem.size} rows are more than max_size = {self.max_size}"
        if isinstance(problem, GlobalFrictionProblem):
            problem = problem.local
        if isinstance(problem, BoxedLCP):
            if isinstance(problem, MixedLCP):
                return None
            return "a boxed LCP has upper bounds, which this method does not know"
        return _refuses_friction(problem)

    def run(self, problem: Any, start: Start, limits: Limits) -> Answer:
        if start.basis is not None:
            again = reuse(problem, start, limits.tol)
            if again is not None:
                return again
        first = None if self.trace or limits.expired() else _by_guess(problem, limits.tol)
        if first is not None:
            return first
        return _Run(self, problem).finish(limits)


def _by_guess(problem: Any, tol: float) -> Answer | None:
    """What a guess of all contacts gives, without any drive, if that is exact."""
    found = guessed(problem)
    if found is None:
        return None
    dual = problem.dual(found.value)
    residuals = problem.residuals(found.value, dual)
    if max(residuals) > min(tol, EXACT):
        return None
    groups, basis = basis_of(problem, found.table(problem), found.value)
    info = COUNTS | {"restarts": 0, "reused": False, "guesses": found.rounds}
    extras = {"info": info, "index_sets": groups, "basis": basis}
    return Answer(found.value, Status.SOLVED, dual=dual, residuals=residuals, extras=extras)


class _Run:
    """The arrays of one solve, and the loop that watches the clock."""

    def __init__(self, options: Dantzig, problem: Any) -> None:
        n = problem.size
        self.problem = problem
        self.S, self.At = np.empty((n, n)), np.empty((n, n))
        self.V = np.empty((sets.V_ROWS, n))
        self.T = np.empty((sets.T_ROWS, n), dtype=np.int64)
        self.reg = np.zeros(sets.REGISTERS, dtype=np.int64)
        self.num = np.zeros(sets.NUMBERS)
        pivots = 50 * n + 500 if options.max_pivots is None else options.max_pivots
        self.reg[sets.MAX_PIVOTS] = pivots
        traced = min(pivots, 20_000) if options.trace else 0
        self.trace_sets, self.trace = np.zeros((traced, n), np.int8), np.zeros((traced, 5))
        self.d, self.nc = 1, n
        if isinstance(problem, FrictionProblem):
            self.d, self.nc = problem.d, problem.nc

    def finish(self, limits: Limits) -> Answer:
        """Run; with friction, start again in another order when contacts seem to cycle."""
        total, restarts = int(self.reg[sets.MAX_PIVOTS]), self.d > 1
        share = 4 * self.problem.size + 100 if restarts else total
        while True:
            self.reg[sets.MAX_PIVOTS] = min(total, self.reg[sets.PIVOTS] + share)
            status = self._attempt(limits)
            over = self.reg[sets.PIVOTS] >= total or status is Status.TIME_LIMIT
            if over or not restarts or status in ENDS or self._ray_is_real(status):
                return self._answer(status)
            self.reg[sets.RULE] += 1

    def _attempt(self, limits: Limits) -> Status:
        state = self.At, self.S, self.V, self.T, self.reg, self.num
        outcome = self._prepare(state)
        budget = max(1, WORK // (1 + self.At.size))
        expired = False
        while outcome == code.RUNNING and not expired:
            outcome = kernels.advance(*state, self.trace_sets, self.trace, budget)
            expired = limits.expired()
        return Status.TIME_LIMIT if outcome == code.RUNNING else STATUS_OF_CODE[outcome]

    def _ray_is_real(self, status: Status) -> bool:
        """Driving far enough always helps static friction: a ray needs a sliding contact."""
        if status is not Status.RAY:
            return False
        symmetric = self.reg[sets.SYMMETRIC] == 1
        return not symmetric or bool(self.problem.sliding.any())

    def _prepare(self, state: tuple[Any, ...]) -> int:
        p = self.problem
        if isinstance(p, FrictionProblem):
            W, mu, free = p.dense, p.mu, np.zeros(p.size, bool)
            free[p.d * p.nc :] = True
            slip = np.zeros((p.nc, p.d - 1)) if p.slip is None else p.slip
        else:
            W, mu, free, slip = p.dense, np.zeros(p.size), p.free, np.zeros((p.size, 0))
        return int(setup.prepare(W, p.q, mu, slip, free, self.d, *state))

    def _answer(self, status: Status) -> Answer:
        reg = self.reg
        value = self._vector(sets.F)
        groups, basis = basis_of(self.problem, self.T, value)
        info: dict[str, Any] = {
            "drives": int(reg[sets.DRIVES]),
            "pivots": int(reg[sets.PIVOTS]),
            "zero_steps": int(reg[sets.ZEROS]),
            "drops": int(reg[sets.DROPS]),
            "refactorisations": int(reg[sets.REBUILDS]),
            "restarts": int(reg[sets.RULE]),
            "reused": False,
            "guesses": 0,
        }
        if self.trace.size:
            rows = int(reg[sets.TRACED])
            info["trace"] = {
                "sets": self.trace_sets[:rows],
                "drive": self.trace[:rows, 0].astype(np.int64),
                "row": self.trace[:rows, 1].astype(np.int64),
                "acceleration": self.trace[:rows, 2],
                "force": self.trace[:rows, 3],
                "step": self.trace[:rows, 4],
            }
        extras: dict[str, Any] = {"info": info, "index_sets": groups, "basis": basis}
        if status is Status.RAY:
            extras["ray"] = self._vector(sets.DF)
        return Answer(value, status, iterations=info["pivots"], extras=extras)

    def _vector(self, row: int) -> Floats:
        out = np.empty(self.problem.size)
        setup.finish(self.V, row, self.d, self.nc, out)
        return out


def _refuses_friction(problem: FrictionProblem) -> str | None:
    if problem.law == "convex":
        return "it solves the static and the exact Coulomb law, not the convex relaxation"
    if not (isinstance(problem.cone, CircularCone) or problem.k == 2):
        return f"it needs circular friction cones, not {problem.cone}"
    if problem.dim == 3 and problem.law == "coulomb" and _may_slip(problem):
        return (
            "in space it freezes the direction of friction on reaching the cone, so its answer "
            "obeys the static law (14-1) and not exact Coulomb; state law='static', or use "
            "'nsgs' or 'newton'"
        )
    return None


def _may_slip(problem: FrictionProblem) -> bool:
    """Whether any contact has friction whose direction is unknown."""
    return bool(((problem.mu > 0) & ~problem.sliding).any())
