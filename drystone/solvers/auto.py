"""auto: picks methods by kind, size and structure, and falls back until an answer is judged good.

Which methods it asks for which problems, and in which order, is said by the records of the solvers
(``drystone.solvers``). Three things are its own:

* friction with smooth cones: nsgs and newton in turn, in rounds of more and more sweeps, before the
  fourth in order and those after it. Both hand their last point on, good or not: where one of them
  is stuck, the other moves. All other methods start from the best answer so far;
* a small residual that hides errors of velocities: are all loaded contacts at rest (qp,
  ``_jammed``);
* an LCP of at most 4 rows: all bases in one kernel call.

An infeasibility that a method has proved ends the search; a ray (13-1) is kept and returned if no
method finds a solution.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar

import numpy as np

from drystone.kernels import status as code
from drystone.kernels.pivoting.enumerate import first_basis
from drystone.problems import LCP, BoxedLCP, FrictionProblem, GlobalFrictionProblem, Problem
from drystone.solvers import (
    BOXED_LCP,
    FRICTION,
    LARGE_CONTACTS,
    LARGE_FRICTION,
    PLAIN_LCP,
    POLYHEDRAL,
    SPARSE_LCP,
    SPARSE_ROWS,
    SolverEntry,
    in_order,
)
from drystone.solvers._blocks import BlockProblem, smooth_cones_only
from drystone.solvers._jammed import at_rest, creeps
from drystone.solvers.base import LEAST_RESIDUAL, REFINEMENTS, Answer, Limits, Solver, Start
from drystone.solvers.nsgs import FormedSweeps
from drystone.solvers.registry import SOLVERS, by_name
from drystone.types import Status

Options = tuple[tuple[str, Any], ...]

FIRST_SWEEPS = 20  # of Gauss-Seidel before Newton: enough to find most of the active set
JUDGED_EVERY = 10  # sweeps
ROUND_SWEEPS = (100, 200, 400, 800, 1600)  # sweeps before Newton is tried again
ROUND_STEPS = 150  # Newton steps of one round
PIVOTED = 1500  # rows of a planar friction problem that a dense tableau may take
ROUNDS_PLACE = 3.5  # of the rounds of sweeps and Newton in the order for friction
JAMS = 3  # searches for contacts at rest
TINY_ROWS = 4  # rows of an LCP whose bases are all tried


@dataclass(frozen=True, kw_only=True)
class Auto(Solver):
    """Chooses, falls back, and says what ran (``Solution.methods``)."""

    name: ClassVar[str] = "auto"

    def refuses(self, problem: Problem) -> str | None:
        if not isinstance(problem, BoxedLCP | FrictionProblem | GlobalFrictionProblem):
            return f"takes problems of this package, not {type(problem).__name__}"
        return None

    def run(self, problem: BoxedLCP | FrictionProblem, start: Start, limits: Limits) -> Answer:
        search, kind = _Search(problem, start, limits), kind_of(problem)
        if (
            isinstance(problem, FrictionProblem)
            and (kind == FRICTION or (kind == LARGE_FRICTION and not problem.matrix_free))
            and search.took("nsgs", _sweeps(problem, start, limits))
        ):
            return search.result()
        if (
            isinstance(problem, LCP)
            and 0 < problem.size <= TINY_ROWS
            and start.basis is None
            and search.took("enumerative", _tiny(problem))
        ):
            return search.result()
        for name, options in _chain(problem, kind):
            method = _method(name, search.tol, options)
            if method.refuses(problem) is not None:
                continue
            if search.took(name, search.run(method, bool(options))) or limits.expired():
                break
            if search.refined > REFINEMENTS:
                break
        return search.result()


@cache
def _method(name: str, tol: float, options: Options) -> Solver:
    return replace(by_name(name), tol=tol, **dict(options))


def kind_of(problem: BoxedLCP | FrictionProblem) -> str:
    """Of ``PROBLEMS``."""
    if isinstance(problem, FrictionProblem):
        if smooth_cones_only(problem) is not None:
            return POLYHEDRAL
        return FRICTION if problem.nc <= LARGE_CONTACTS else LARGE_FRICTION
    if problem.kind == BOXED_LCP:
        return BOXED_LCP
    return SPARSE_LCP if problem.sparse and problem.size > SPARSE_ROWS else PLAIN_LCP


def suited(problem: Problem) -> list[str]:
    """Names of the solvers that take a problem, of those that `auto` asks."""
    stated = problem.local
    asked = in_order(kind_of(stated), SOLVERS.entries())
    return [entry.name for entry in asked if by_name(entry.name).refuses(stated) is None]


def _chain(problem: BoxedLCP | FrictionProblem, kind: str) -> Iterator[tuple[str, Options]]:
    order = in_order(kind, SOLVERS.entries())
    if kind == FRICTION:
        yield from _rounds(problem.size, order)
    else:
        yield from ((entry.name, ()) for entry in order)


def _rounds(rows: int, order: list[SolverEntry]) -> Iterator[tuple[str, Options]]:
    """Sweeps were made: Newton, the others in order, and rounds of both at their place."""
    newton = ("newton", (("sweeps", 0), ("max_steps", ROUND_STEPS), ("homotopy", 0)))
    others = [entry for entry in order if entry.name not in ("nsgs", "newton")]
    yield newton
    for entry in others:
        if entry.auto[FRICTION] < ROUNDS_PLACE:
            yield entry.name, ()
            yield newton
    for sweeps in ROUND_SWEEPS:
        yield "nsgs", (("max_sweeps", sweeps),)
        yield newton
    for entry in others:
        large = entry.name == "lemke" and rows > PIVOTED
        if entry.auto[FRICTION] >= ROUNDS_PLACE and not large:
            yield entry.name, ()
    yield "newton", (("sweeps", 0),)
    yield "nsgs", ()


def _tiny(problem: LCP) -> Answer:
    """The first basis that solves a handful of rows."""
    z, basis = np.zeros(problem.size), np.zeros(problem.size, dtype=bool)
    if first_basis(problem.dense, problem.q, 1e-12, z, basis):
        return Answer(z, Status.SOLVED, 1, extras={"basis": basis})
    return Answer(np.zeros(problem.size), Status.STALLED, 1)


def _sweeps(problem: FrictionProblem, start: Start, limits: Limits) -> Answer:
    """Gauss-Seidel for as long as it is likely to finish before a factorisation would pay."""
    c = BlockProblem(problem)
    W, r = c.W, c.start(start.value)
    if not (W.blocks[W.diagonal, 0, 0] > 0).all():
        return Answer(c.value(r), Status.SINGULAR)
    sweeper, done, ahead = FormedSweeps(c, 1.0), 0, FIRST_SWEEPS
    while True:
        ended, done, both = sweeper.sweep(r, done, ahead, limits.tol, JUDGED_EVERY)
        if ended != code.RUNNING or limits.expired():
            break
        ahead = _sweeps_left(sweeper.history, limits.tol)
        if ahead == 0:
            break
    solved = ended == code.SOLVED
    answer = Answer(c.value(r), Status.SOLVED if solved else Status.STALLED, done)
    if r.size == problem.size and problem.cone.stretch(problem.dim) is None:
        answer.dual, answer.residuals = sweeper.u.reshape(-1), both
        if problem.law == "static":
            answer.residuals = None
    return answer


def _sweeps_left(history: np.ndarray, tol: float) -> int:
    """Sweeps to the tolerance at the rate seen last, or 0 if that is more than were done."""
    judged = np.flatnonzero(np.isfinite(history))
    if judged.size < 2:
        return 0
    i, j = judged[-2], judged[-1]
    rate = np.log(history[j] / history[i]) / (j - i)
    if not rate < 0:
        return 0
    left = int(np.ceil(np.log(0.5 * tol / history[j]) / rate))
    return left if 0 < left <= FIRST_SWEEPS else 0


class _Search:
    """The best answer so far, what ran, and rays or proofs met on the way."""

    def __init__(self, problem: BoxedLCP | FrictionProblem, start: Start, limits: Limits) -> None:
        self.problem, self.limits, self.basis = problem, limits, start.basis
        self.best: Answer | None = (
            None if start.value is None else Answer(start.value, Status.STALLED)
        )
        self.last = self.best
        self.least = np.inf
        self.tol = limits.tol
        self.jams = 0
        self.rank = (True, np.inf)
        self.refined = 0
        self.verdict: Answer | None = None
        self.methods: list[str] = []
        self.iterations = 0

    def run(self, method: Solver, onward: bool) -> Answer:
        """From the last point if `onward`, else from the best; at most half the time left."""
        answer = self.last if onward else self.best
        value = None if answer is None else answer.value
        share = Limits(self.tol, 0.5 * self.limits.left())
        return method.run(self.problem, Start(value, self.basis), share)

    def took(self, name: str, answer: Answer) -> bool:
        """Judge an answer; True if the search is over."""
        self.methods.append(name)
        self.last = answer
        self.iterations += answer.iterations
        if answer.dual is None:
            answer.dual = self.problem.dual(answer.value)
        if answer.residuals is None:
            answer.residuals = self.problem.residuals(answer.value, answer.dual)
        residual = max(answer.residuals)
        worst = residual
        if residual <= self.limits.tol:
            worst = self._judged(answer, residual)
            self.refined += 1
            if worst > self.limits.tol:  # the methods that follow aim at a smaller residual
                aim = 0.1 * residual * self.limits.tol / worst
                self.tol = min(self.tol, max(aim, LEAST_RESIDUAL))
        if answer.status is Status.INFEASIBLE and not worst <= self.limits.tol:
            self.verdict = answer
            return True
        if answer.status is Status.RAY and self.verdict is None:
            self.verdict = answer
        rank = (not residual <= self.limits.tol, worst)
        if rank < self.rank or self.best is None:
            self.best, self.least, self.rank = answer, worst, rank
        if residual <= self.limits.tol and self._jams(answer, worst):
            return True
        return worst <= self.limits.tol

    def _judged(self, answer: Answer, residual: float) -> float:
        """The largest of all measures of an answer whose residual is within the tolerance."""
        problem, tol = self.problem, self.limits.tol
        worst = max(residual, *problem.optimality(answer.value, answer.dual))
        if worst <= tol:
            backward = problem.backward_error(answer.value, answer.dual, enough=np.sqrt(tol))
            worst = max(worst, backward**2)
        return worst

    def _jams(self, answer: Answer, worst: float) -> bool:
        """Whether all contacts are at rest where a small residual hides an error, or where they
        creep under large impulses; then these are found."""
        problem = self.problem
        if self.jams == JAMS or not isinstance(problem, FrictionProblem) or problem.matrix_free:
            return False
        if worst <= self.limits.tol:
            form, dual = problem.form, answer.dual
            u = form.velocities(problem.dual(answer.value) if dual is None else dual)
            if not creeps(form.impulses(answer.value), u, form.q, form.unit):
                return False
        self.jams += 1
        held = at_rest(problem, answer.value, self.limits)
        if held is None:
            return False
        self.jams = JAMS
        return self.took("qp", Answer(held, Status.SOLVED, 1))

    def result(self) -> Answer:
        best = self.best if self.best is not None else self.verdict
        assert best is not None
        if self.least > self.limits.tol:
            if self.verdict is not None:
                best = self.verdict
            elif self.limits.expired():
                best.status = Status.TIME_LIMIT
        best.methods = tuple(dict.fromkeys(self.methods))
        best.iterations = self.iterations
        return best
