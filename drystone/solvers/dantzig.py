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
import scipy.sparse as sp
from scipy.sparse.csgraph import reverse_cuthill_mckee

from drystone.kernels import status as code
from drystone.kernels.linalg.envelope import entries, extent
from drystone.kernels.pivoting import contact_guess as guesses
from drystone.kernels.pivoting import dantzig as kernels
from drystone.problems import BoxedLCP, FrictionProblem, MixedLCP, Problem
from drystone.problems.cones import CircularCone
from drystone.solvers.base import Answer, Limits, Solver, Start
from drystone.solvers.reuse import EXACT_RESIDUAL, reuse_friction, reuse_lcp
from drystone.types import STATUS_OF_CODE, Bools, Floats, Ints, Status

ENDS = (Status.SOLVED, Status.INFEASIBLE)
BURST_PRODUCTS = 4_000_000  # multiplications between two readings of the clock: a few milliseconds


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
    _least: ClassVar[dict[str, int]] = {"max_pivots": 1, "max_size": 1}

    def refuses(self, problem: Problem) -> str | None:
        if problem.size > self.max_size:
            return f"{problem.size} rows are more than max_size = {self.max_size}"
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
    if max(residuals) > min(tol, EXACT_RESIDUAL):
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
        self.V = np.empty((kernels.V_ROWS, n))
        self.T = np.empty((kernels.T_ROWS, n), dtype=np.int64)
        self.reg = np.zeros(kernels.REGISTERS, dtype=np.int64)
        self.num = np.zeros(kernels.NUMBERS)
        pivots = 50 * n + 500 if options.max_pivots is None else options.max_pivots
        self.reg[kernels.MAX_PIVOTS] = pivots
        traced = min(pivots, 20_000) if options.trace else 0
        self.trace_sets, self.trace = np.zeros((traced, n), np.int8), np.zeros((traced, 5))
        self.d, self.nc = 1, n
        if isinstance(problem, FrictionProblem):
            self.d, self.nc = problem.d, problem.nc

    def finish(self, limits: Limits) -> Answer:
        """Run; with friction, start again in another order when contacts seem to cycle."""
        total, restarts = int(self.reg[kernels.MAX_PIVOTS]), self.d > 1
        share = 4 * self.problem.size + 100 if restarts else total
        while True:
            self.reg[kernels.MAX_PIVOTS] = min(total, self.reg[kernels.PIVOTS] + share)
            status = self._attempt(limits)
            over = self.reg[kernels.PIVOTS] >= total or status is Status.TIME_LIMIT
            if over or not restarts or status in ENDS or self._ray_is_real(status):
                return self._answer(status)
            self.reg[kernels.RULE] += 1

    def _attempt(self, limits: Limits) -> Status:
        state = self.At, self.S, self.V, self.T, self.reg, self.num
        outcome = self._prepare(state)
        budget = max(1, BURST_PRODUCTS // (1 + self.At.size))
        expired = False
        while outcome == code.RUNNING and not expired:
            outcome = kernels.advance(*state, self.trace_sets, self.trace, budget)
            expired = limits.expired()
        return Status.TIME_LIMIT if outcome == code.RUNNING else STATUS_OF_CODE[outcome]

    def _ray_is_real(self, status: Status) -> bool:
        """Driving far enough always helps static friction: a ray needs a sliding contact."""
        if status is not Status.RAY:
            return False
        symmetric = self.reg[kernels.SYMMETRIC] == 1
        return not symmetric or bool(self.problem.sliding.any())

    def _prepare(self, state: tuple[Any, ...]) -> int:
        p = self.problem
        if isinstance(p, FrictionProblem):
            W, mu, free = p.dense, p.mu, np.zeros(p.size, bool)
            free[p.d * p.nc :] = True
            slip = np.zeros((p.nc, p.d - 1)) if p.slip is None else p.slip
        else:
            W, mu, free, slip = p.dense, np.zeros(p.size), p.free, np.zeros((p.size, 0))
        return int(kernels.prepare(kernels.Given(W, p.q, mu, slip, free, self.d), *state))

    def _answer(self, status: Status) -> Answer:
        reg = self.reg
        value = self._vector(kernels.F)
        groups, basis = basis_of(self.problem, self.T, value)
        info: dict[str, Any] = {
            "drives": int(reg[kernels.DRIVES]),
            "pivots": int(reg[kernels.PIVOTS]),
            "zero_steps": int(reg[kernels.ZEROS]),
            "drops": int(reg[kernels.DROPS]),
            "refactorisations": int(reg[kernels.REBUILDS]),
            "restarts": int(reg[kernels.RULE]),
            "reused": False,
            "guesses": 0,
        }
        if self.trace.size:
            rows = int(reg[kernels.TRACED])
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
            extras["ray"] = self._vector(kernels.DF)
        return Answer(value, status, iterations=info["pivots"], extras=extras)

    def _vector(self, row: int) -> Floats:
        out = np.empty(self.problem.size)
        kernels.finish(self.V, row, self.d, self.nc, out)
        return out


def _refuses_friction(problem: FrictionProblem) -> str | None:
    if problem.law == "convex":
        return "it solves the static and the exact Coulomb law, not the convex relaxation"
    if not (isinstance(problem.cone, CircularCone) or problem.k == 2):
        return f"it needs circular friction cones, not {problem.cone}"
    if problem.dim == 3 and problem.law == "coulomb" and _may_slip(problem):
        return (
            "in space it freezes the direction of friction on reaching the cone, so its answer "
            "obeys the static law (14-1) and not exact Coulomb; state law='static'"
        )
    return None


def _may_slip(problem: FrictionProblem) -> bool:
    """Whether any contact has friction whose direction is unknown."""
    return bool(((problem.mu > 0) & ~problem.sliding).any())


# An answer to sparse contact problems by guessing all contacts at once, before Dantzig's method.
#
# The guess costs a few sparse factorisations. Where it holds it is an answer like any other, exact
# to rounding; where it does not, Dantzig's method starts from nothing as ever.

GUESS_ROWS = 64  # fewer are driven one by one in less time than a guess takes
DENSE_SHARE = 0.1  # of all entries: a matrix with more of them is dense
WIDE_SHARE = 0.2  # of all entries: a factor with more of them is dense

SKEW = 1e-13  # of the largest diagonal: a matrix that is less symmetric is that of sliding


@dataclass(slots=True)
class Guess:
    """closed (nc,): contacts that press, and stick if they have friction; their forces (n,)."""

    closed: Bools
    value: Floats
    rounds: int

    def table(self, problem: Any) -> Ints:
        """Index sets as those of a run of Dantzig's method."""
        d = problem.d if isinstance(problem, FrictionProblem) else 1
        out = np.zeros((kernels.T_ROWS, problem.size), np.int64)
        head = d * np.arange(self.closed.size)
        out[kernels.KIND, head] = kernels.NORMAL
        out[kernels.STATE, head] = np.where(self.closed, kernels.C, kernels.NC)
        for t in range(1, d):
            rough = problem.mu > 0.0
            out[kernels.KIND, head + t] = np.where(rough, kernels.TANGENT, kernels.FIXED)
            state = np.where(self.closed, kernels.C, kernels.OUT)
            out[kernels.STATE, head + t] = np.where(rough, state, kernels.TIED)
        return out


def guessed(problem: Any) -> Guess | None:
    """A guess that holds, of a sparse problem without bilateral rows or known slip; else None."""
    n = problem.size
    if n < GUESS_ROWS or not _takes(problem):
        return None
    friction = isinstance(problem, FrictionProblem)
    d, mu = (problem.d, problem.mu) if friction else (1, np.zeros(n))
    W = np.ascontiguousarray(problem.dense)
    diagonal, room = W.diagonal(), int(DENSE_SHARE * n * n)
    start, index, value = np.empty(n + 1, np.int64), np.empty(room, np.int64), np.empty(room)
    if not (diagonal > 0.0).all():
        return None
    count = int(entries(W, SKEW * float(diagonal.max()), start, index, value))
    if count < 0:
        return None
    order = _order(start, index[:count], value[:count], d)
    ints, rows = np.empty((4, n + 1), np.int64), (d * order[:, None] + np.arange(d)).ravel()
    size = int(extent(start, index, rows, np.int64(n), ints[1, :n], ints[2], ints[3]))
    if size > WIDE_SHARE * n * n:
        return None
    unit = np.sqrt(diagonal.reshape(-1, d).mean(axis=1))
    contacts = guesses.Contacts(start, index, value, problem.q, mu, unit, np.int64(d), order)
    closed, f, a = np.empty(n // d, np.bool_), np.empty(n), np.empty(n)
    trial = guesses.Guess(closed, f, a, ints, np.empty((3, n)), np.empty(size))
    rounds, wrong = guesses.guess(contacts, trial)
    return Guess(closed, f, int(rounds)) if wrong == 0 and np.isfinite(f).all() else None


def _takes(problem: Any) -> bool:
    if isinstance(problem, FrictionProblem):
        return problem.size == problem.d * problem.nc and not problem.sliding.any()
    return isinstance(problem, MixedLCP) and not problem.free.any()


def _order(start: Ints, index: Ints, value: Floats, d: int) -> Ints:
    """Contacts in an order that keeps those of one body near each other."""
    n = start.size - 1
    graph = sp.csr_matrix((value, index, start), shape=(n, n))
    place = np.empty(n, np.int64)
    place[reverse_cuthill_mckee(graph, symmetric_mode=True)] = np.arange(n)
    return np.argsort(place.reshape(-1, d).min(axis=1), kind="stable")


# Index sets as a basis, and solving again with them, in the plane and in space.
#
# A basis says of every contact: open, stick or slip (with its direction). While it still holds,
# the forces of a changed problem cost one linear solve, and they change continuously with it.

GROUPS = ("open", "stick", "slip", "dynamic")
COUNTS = {"drives": 0, "pivots": 0, "zero_steps": 0, "drops": 0, "refactorisations": 1}


def basis_of(problem: Any, table: Ints, value: Floats) -> tuple[dict[str, Ints], Any]:
    """(index_sets, basis) of a finished run.

    LCP: basis is the mask of basic rows. Friction: basis is the index sets with "direction",
    (nc, d - 1), the unit direction of friction of each slipping contact.
    """
    if not isinstance(problem, FrictionProblem):
        basic = table[kernels.STATE] == kernels.C
        bounded = ~problem.free
        return {
            "contact": np.flatnonzero(basic & bounded),
            "open": np.flatnonzero(~basic & bounded),
        }, basic
    d, nc = problem.d, problem.nc
    group, direction = np.empty(nc, np.int64), np.empty((nc, d - 1))
    kernels.classify(table, value, d, nc, group, direction)
    groups = {name: np.flatnonzero(group == code) for code, name in enumerate(GROUPS)}
    if d == 2:  # by the sign of u_t, which friction opposes
        groups["slip+"] = np.flatnonzero(direction[:, 0] < 0)
        groups["slip-"] = np.flatnonzero(direction[:, 0] > 0)
    return groups, groups | {"direction": direction}


def reuse(problem: Any, start: Start, tol: float) -> Answer | None:
    """The solution with the basis of an earlier one, or None when it no longer holds."""
    basis = start.basis
    if isinstance(problem, FrictionProblem):
        held = reuse_friction(problem, basis, start.value)
        if held is None:
            return None
        value, dual, residuals = held
    else:
        found = reuse_lcp(problem.dense, problem.q, problem.free, basis)
        if found is None:
            return None
        value, dual = found[0], problem.dual(found[0])
        residuals = problem.residuals(value, dual)
    if max(residuals) > min(tol, EXACT_RESIDUAL):
        return None
    extras: dict[str, Any] = {"basis": basis, "info": COUNTS | {"restarts": 0, "reused": True}}
    if isinstance(basis, dict):
        extras["index_sets"] = {key: rows for key, rows in basis.items() if key != "direction"}
    return Answer(value, Status.SOLVED, dual=dual, residuals=residuals, extras=extras)
