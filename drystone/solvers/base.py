"""The contract of a solver, and the judging that all of them share.

1. A solver is a frozen dataclass of keyword options; its class attribute `name` is what users type.
2. `refuses(problem)` returns None, or the sentence that says why it does not take this problem.
3. `run(problem, start, limits)` works and returns an `Answer`; it never raises for
   non-convergence, and checks `limits.expired()` at least every few milliseconds of work.
4. `solve` judges the answer with the problem's own measures and builds the `Solution`: a status
   SOLVED that they do not confirm becomes INACCURATE, and an answer within the tolerance is SOLVED
   however its method ended. Where the residual is within it and the velocities are not (large
   impulses hide their error), the method continues from there to a smaller residual.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, ClassVar, Self

import numpy as np

from drystone.arguments import answering
from drystone.errors import ArgumentError, DrystoneError, OptionError, UnsupportedProblemError
from drystone.kernels._jit import compile_seconds
from drystone.problems import GlobalFrictionProblem, Problem
from drystone.registry import misfit, once_a_class, unfit
from drystone.types import Floats, Solution, Status
from drystone.values import check_options, reals, text, whole

REFINEMENTS = 4  # attempts at a smaller residual where a small one hides errors of velocities
LEAST_RESIDUAL = 1e-16  # residual that may be aimed at
answering(Solution)  # ``dataclasses.replace`` with a wrong word is answered, too
EXTRAS = ("ray", "basis", "solutions", "index_sets", "history", "info")  # fields of a Solution


class Limits:
    """What a run may spend: residual to reach (both forms), and seconds of work.

    Compiling is not work: the first solve on a machine must end as the second one does.
    """

    __slots__ = ("_deadline", "tol")

    def __init__(self, tol: float, seconds: float) -> None:
        self.tol = tol
        self._deadline = perf_counter() - compile_seconds() + seconds

    def expired(self) -> bool:
        return self.left() == 0.0

    def left(self) -> float:
        return max(0.0, self._deadline - perf_counter() + compile_seconds())


class Start:
    """Where a run starts: a value, and what an earlier Solution of a like problem can tell."""

    __slots__ = ("basis", "value")

    def __init__(self, value: Floats | None = None, basis: Any = None) -> None:
        self.value = value
        self.basis = basis


COLD = Start()


@dataclass(slots=True)
class Answer:
    """What a run found, before it is judged. `extras` become fields of the Solution."""

    value: Floats
    status: Status
    iterations: int = 0
    methods: tuple[str, ...] = ()
    dual: Floats | None = None
    residuals: tuple[float, float] | None = None
    extras: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Solver:
    """Options every method has.

    tol: largest residual, in the scaled and in the unit-free form [1].
    time_limit: wall seconds after which a run returns what it has [s].
    """

    tol: float = 1e-8
    time_limit: float = 60.0

    name: ClassVar[str] = ""
    auto: ClassVar[Mapping[str, float]] = {}  # places of a user's solver in the order of `auto`
    _least: ClassVar[dict[str, int]] = {}  # of counts among the options, where they are given

    def __new__(cls, *args: Any, **options: Any) -> Self:
        wrong = unfit(cls)
        if wrong is not None:
            raise ArgumentError(f"{cls.__name__} {wrong}")
        check_own(cls.__name__, cls)
        return object.__new__(cls)

    def __post_init__(self) -> None:
        check_options(self, self.name)
        if not self.tol > 0:
            raise OptionError(f"{self.name}: tol = {self.tol}: expected a positive number")
        if not self.time_limit > 0:
            raise OptionError(f"{self.name}: time_limit = {self.time_limit}: expected > 0 s")
        for option, least in self._least.items():
            count = getattr(self, option)
            if count is not None and not count >= least:
                raise OptionError(f"{self.name}: {option} = {count}: expected at least {least}")

    def refuses(self, problem: Problem) -> str | None:
        """None, or the reason why this method does not take the problem."""
        raise NotImplementedError

    def run(self, problem: Any, start: Start, limits: Limits) -> Answer:
        raise NotImplementedError

    def solve(self, problem: Problem, guess: Any = None) -> Solution:
        begin = perf_counter()
        if not isinstance(problem, Problem):
            raise UnsupportedProblemError(
                f"{type(problem).__name__} is not a problem: state an LCP or a FrictionProblem"
            )
        reason = self._ask("refuses", problem)
        if reason is not None:
            if not isinstance(reason, str) or not reason:
                own = f"{type(self).__name__}.refuses"
                raise OptionError(f"{own} gave {text(reason)}: expected None or a sentence")
            raise UnsupportedProblemError(f"{self.name}: {reason}{_advice(problem)}")
        limits = Limits(self.tol, self.time_limit)
        stated = problem.local
        with np.errstate(over="ignore", invalid="ignore"):  # the residual says what came of it
            return self._refined(problem, stated, as_start(problem, guess), limits, begin)

    def _refined(
        self, problem: Problem, stated: Any, start: Start, limits: Limits, begin: float
    ) -> Solution:
        """Run, and continue where a residual within the tolerance hides an error that is not."""
        answer = self._answer(stated, start, limits)
        solution = judged(problem, answer, self, begin)
        for _ in range(REFINEMENTS):
            tol = finer(solution, self.tol)
            if tol is None or limits.expired():
                break
            limits.tol = tol
            again = self._answer(stated, Start(solution.value, answer.extras.get("basis")), limits)
            again.iterations += answer.iterations
            refined = judged(problem, again, self, begin)
            if not worst(refined) < worst(solution):
                break
            answer, solution = again, refined
        return solution

    def _ask(self, method: str, *args: Any) -> Any:
        """What a method that users override answers; an error of its own gets a note that says
        whose it is."""
        try:
            return getattr(self, method)(*args)
        except DrystoneError:
            raise
        except Exception as error:
            error.add_note(f"solver {self.name!r}: in {type(self).__name__}.{method}")
            raise

    def _answer(self, problem: Any, start: Start, limits: Limits) -> Answer:
        """What ``run`` found. That of a user's solver is checked, and its residual is measured
        here, whatever it says. A problem without unknowns needs no method."""
        if problem.size == 0:
            return Answer(np.zeros(0), Status.SOLVED)
        answer = self._ask("run", problem, start, limits)
        if type(self).__module__.partition(".")[0] != __package__.partition(".")[0]:
            _check_answer(f"{type(self).__name__}.run", problem, answer)
            answer.dual = answer.residuals = None
        found: Answer = answer
        return found


def _advice(problem: Problem) -> str:
    """Solvers that take a problem, as the end of a sentence."""
    from drystone.solvers.auto import suited  # which is a solver itself

    names = suited(problem)
    if not names:
        return ""
    few = ", ".join(names[:-1])
    return f" (use {few} or {names[-1]})" if few else f" (use {names[-1]})"


@once_a_class
def check_own(owner: str, cls: type[Solver]) -> None:
    """OptionError unless a class has both methods of a solver, with their arguments."""
    for name in ("refuses", "run"):
        if getattr(cls, name) is getattr(Solver, name) and cls is not Solver:
            raise OptionError(f"{owner} lacks a method {name}")
    wrong = misfit(cls, Solver, "refuses", "run")
    if wrong is not None:
        raise OptionError(f"{owner} {wrong}")


def _check_answer(owner: str, problem: Any, answer: Any) -> None:
    """OptionError unless a user's ``run`` gave what can be judged."""
    if not isinstance(answer, Answer):
        raise OptionError(f"{owner} gave {text(answer)}: expected a ds.Answer")
    if not isinstance(answer.status, Status):
        raise OptionError(f"{owner}: status = {text(answer.status)}: expected a ds.Status")
    if whole(answer.iterations) is None:
        raise OptionError(f"{owner}: iterations = {text(answer.iterations)}: expected a number")
    named = isinstance(answer.methods, tuple | list) and all(
        isinstance(name, str) for name in answer.methods
    )
    if not named:
        raise OptionError(f"{owner}: methods = {text(answer.methods)}: expected a tuple of names")
    if not isinstance(answer.extras, dict) or not set(answer.extras) <= set(EXTRAS):
        expected = f"expected a dict of {', '.join(EXTRAS)}"
        raise OptionError(f"{owner}: extras = {text(answer.extras)}: {expected}")
    value = reals(answer.value)  # not finite: it diverged, and the residual says so
    if value is None or value.shape != (problem.size,):
        expected = f"expected {problem.size} numbers"
        raise OptionError(f"{owner}: value = {text(answer.value)}: {expected}")
    answer.value = value


def as_start(problem: Problem, guess: Any) -> Start:
    if guess is None:
        return COLD
    if isinstance(guess, Solution):
        fits = guess.value.size == problem.size
        return Start(guess.value if fits else None, guess.basis)
    return Start(problem.check_guess(guess))


def judged(problem: Problem, answer: Answer, solver: Solver, begin: float) -> Solution:
    """The Solution of an answer: residual measured, status confirmed or corrected."""
    velocity = None
    dual, residuals = answer.dual, answer.residuals
    if isinstance(problem, GlobalFrictionProblem):
        velocity = problem.velocity(answer.value)
        dual, residuals = problem.velocities(velocity), None
    if dual is None:
        dual = problem.dual(answer.value)
    if residuals is None:
        residuals = problem.residuals(answer.value, dual)
    primal, gap = problem.optimality(answer.value, dual)
    backward = 0.0
    if max(*residuals, primal, gap) <= solver.tol:
        backward = problem.backward_error(answer.value, dual, enough=np.sqrt(solver.tol))
    status = answer.status
    if max(*residuals, primal, gap, backward**2) <= solver.tol:
        status = Status.SOLVED
    elif status is Status.SOLVED:
        status = Status.INACCURATE
    return Solution(
        value=answer.value,
        status=status,
        residual=residuals[0],
        residual_unit=residuals[1],
        iterations=answer.iterations,
        seconds=perf_counter() - begin,
        solver=solver.name,
        methods=answer.methods or (solver.name,),
        dual=dual,
        velocity=velocity,
        primal=primal,
        gap=gap,
        backward=backward,
        **answer.extras,
    )


def worst(solution: Solution) -> float:
    """The largest of the measures that the tolerance bounds."""
    return max(solution.residual, solution.residual_unit, unseen(solution))


def unseen(solution: Solution) -> float:
    """The largest of those that large impulses hide from the residual."""
    return max(solution.primal, solution.gap, solution.backward**2)


def finer(solution: Solution, tol: float) -> float | None:
    """The residual to aim at where one within `tol` hides an error that is not; else None."""
    residual = max(solution.residual, solution.residual_unit)
    beyond = unseen(solution) / tol
    if not (residual <= tol and 1.0 < beyond < np.inf):
        return None
    return max(0.1 * min(residual, tol) / beyond, LEAST_RESIDUAL)


def initial(problem: Problem, start: Start) -> Floats:
    """A fresh copy of the starting value, or zeros."""
    return np.zeros(problem.size) if start.value is None else start.value.copy()
