"""The contract: options are checked, answers are judged, failures are reported or raised."""

import sys
from dataclasses import FrozenInstanceError, dataclass

import numpy as np
import pytest

import drystone as ds
from drystone.solvers import base, registry
from drystone.solvers.base import Answer, Limits, Solver, Start

LCP = ds.LCP([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0])
SOLUTION = np.array([4.0 / 3.0, 7.0 / 3.0])


@dataclass(frozen=True, kw_only=True)
class Fixed(Solver):
    """A method that answers what it is told to."""

    answer: Answer = None
    seen: list = None
    name = "fixed"

    def refuses(self, problem):
        return "it only takes LCPs" if problem.kind != "lcp" else None

    def run(self, problem, start, limits):
        if self.seen is not None:
            self.seen.append((start, limits))
        return self.answer


def test_a_good_answer_is_solved_however_its_method_ended():
    for status in ds.Status:
        solution = ds.solve(LCP, Fixed(answer=Answer(SOLUTION, status, 3)))
        assert solution.status is ds.Status.SOLVED
        assert solution.ok
        assert solution.residual <= 1e-15
        assert solution.iterations == 3
        assert solution.methods == ("fixed",)
        assert solution.dual == pytest.approx([0.0, 0.0], abs=1e-14)


def test_a_bad_answer_is_not_believed():
    boast = Fixed(answer=Answer(np.zeros(2), ds.Status.SOLVED))
    assert ds.solve(LCP, boast).status is ds.Status.INACCURATE
    honest = Fixed(answer=Answer(np.zeros(2), ds.Status.STALLED))
    assert ds.solve(LCP, honest).status is ds.Status.STALLED
    broken = Fixed(answer=Answer(np.full(2, np.nan), ds.Status.SOLVED))
    assert ds.solve(LCP, broken).status is ds.Status.INACCURATE


def test_both_residuals_count():
    """Scaled residual within the tolerance, unit-free one not: not solved."""
    problem = ds.LCP(np.diag([1e-8, 1e8]), [-1e-12, -1.0])
    value = np.array([0.0, 1e-8])
    plain, unit = problem.residuals(value)
    assert plain < 1e-8 < unit
    status = ds.solve(problem, Fixed(answer=Answer(value, ds.Status.SOLVED))).status
    assert status is ds.Status.INACCURATE


def test_tolerance_decides():
    near = Fixed(answer=Answer(SOLUTION + 1e-6, ds.Status.SOLVED))
    assert ds.solve(LCP, near).status is ds.Status.INACCURATE
    assert ds.solve(LCP, near, tol=1e-4).ok


def test_failure_can_be_raised_and_carries_the_solution():
    bad = Fixed(answer=Answer(np.zeros(2), ds.Status.STALLED))
    with pytest.raises(ds.SolverError, match="fixed: no further progress") as caught:
        ds.solve(LCP, bad, on_failure="raise")
    assert caught.value.solution.status is ds.Status.STALLED
    with pytest.raises(ds.OptionError, match="on_failure = 'ignore'"):
        ds.solve(LCP, bad, on_failure="ignore")


def test_refusal_says_why():
    problem = ds.FrictionProblem(np.eye(3), np.zeros(3), 0.5)
    with pytest.raises(ds.UnsupportedProblemError, match="fixed: it only takes LCPs"):
        ds.solve(problem, Fixed())


@pytest.mark.parametrize("problem", [None, "pile.hdf5", np.eye(2), 3])
def test_something_that_is_no_problem(problem):
    with pytest.raises(ds.UnsupportedProblemError, match="is not a problem"):
        ds.solve(problem, Fixed())


@pytest.mark.parametrize(
    "options", [{"tol": 0.0}, {"tol": -1}, {"tol": float("nan")}, {"time_limit": 0}]
)
def test_options_out_of_range(options):
    with pytest.raises(ds.OptionError, match=f"fixed: {next(iter(options))} = "):
        Fixed(**options)


def test_unknown_solvers_are_named():
    with pytest.raises(ds.OptionError, match=r"unknown solver 'lemkee': did you mean 'lemke'\?"):
        ds.solve(LCP, "lemkee")
    with pytest.raises(ds.OptionError, match="expected a name or a solver object"):
        ds.solve(LCP, 3)
    with pytest.raises(TypeError):
        Fixed(pivots=3)


def test_solvers_and_solutions_are_frozen():
    solver = Fixed(answer=Answer(SOLUTION, ds.Status.SOLVED))
    with pytest.raises(FrozenInstanceError):
        solver.tol = 1.0
    with pytest.raises(FrozenInstanceError):
        ds.solve(LCP, solver).residual = 0.0


def test_a_guess_is_a_value_or_a_solution():
    seen = []
    solver = Fixed(answer=Answer(SOLUTION, ds.Status.SOLVED, extras={"basis": "here"}), seen=seen)
    solution = ds.solve(LCP, solver)
    assert seen[-1][0] is base.COLD
    ds.solve(LCP, solver, guess=[1, 2])
    assert seen[-1][0].value.tolist() == [1.0, 2.0]
    ds.solve(LCP, solver, guess=solution)
    assert seen[-1][0].value is solution.value
    assert seen[-1][0].basis == "here"
    with pytest.raises(ds.ArrayError, match="guess has 1 entries: expected 2"):
        ds.solve(LCP, solver, guess=[1])
    other = ds.LCP(np.eye(3), np.zeros(3))  # a solution of another size lends its basis only
    ds.solve(other, Fixed(answer=Answer(np.zeros(3), ds.Status.SOLVED), seen=seen), guess=solution)
    assert seen[-1][0].value is None


def test_the_start_is_copied():
    guess = np.array([1.0, 2.0])
    first = base.initial(LCP, Start(guess))
    first[0] = 7.0
    assert guess[0] == 1.0
    assert base.initial(LCP, base.COLD).tolist() == [0.0, 0.0]


class Clock:
    """Stands in for the machine's: it goes on when it is told to."""

    def __init__(self, monkeypatch):
        self.now = 100.0
        monkeypatch.setattr(base, "perf_counter", lambda: self.now)


def test_limits(monkeypatch):
    clock = Clock(monkeypatch)
    limits = Limits(1e-8, 0.02)
    assert not limits.expired()
    assert limits.left() == pytest.approx(0.02)
    clock.now += 0.03
    assert limits.expired()
    assert limits.left() == 0.0


def test_compiling_does_not_count_against_the_time_limit(monkeypatch):
    clock, spent = Clock(monkeypatch), [0.0]
    monkeypatch.setattr(base, "compile_seconds", lambda: spent[0])
    limits = Limits(1e-8, 0.02)
    clock.now += 0.03
    spent[0] = 0.03  # of which all was compiling
    assert not limits.expired()
    clock.now += 0.03
    assert limits.expired()


def test_global_problem_is_run_in_local_form_and_judged_in_its_own():
    M, H = np.diag([2.0, 2.0]), np.eye(2)
    problem = ds.GlobalFrictionProblem(M, H, [-2.0, 0.5], [0.0, 0.0], 0.5, dim=2)

    @dataclass(frozen=True, kw_only=True)
    class Local(Solver):
        name = "local"

        def refuses(self, problem):
            return None

        def run(self, problem, start, limits):
            assert isinstance(problem, ds.FrictionProblem)
            return Answer(np.array([2.0, -0.5]), ds.Status.SOLVED)  # sticks: v = 0

    solution = ds.solve(problem, Local())
    assert solution.ok
    assert solution.velocity == pytest.approx([0.0, 0.0])
    assert solution.dual == pytest.approx([0.0, 0.0])


def test_registry_names_are_the_classes_names():
    for name in registry.SOLVERS:
        solver = registry.by_name(name)
        assert isinstance(solver, Solver)
        assert registry.by_name(name) is solver
        if not registry.SOLVERS[name].options:
            assert solver.name == name


def test_overhead_of_the_judge_is_small():
    """A tiny problem costs under 100 microseconds in all: a hundred calls or so, which are counted,
    as a busy machine's clock says nothing."""
    solver = Fixed(answer=Answer(SOLUTION, ds.Status.SOLVED))
    ds.solve(LCP, solver)
    calls = [0]

    def count(frame, event, argument):
        calls[0] += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        ds.solve(LCP, solver)
    finally:
        sys.setprofile(None)
    assert calls[0] < 100


def test_repr_is_one_line():
    text = repr(ds.solve(LCP, Fixed(answer=Answer(SOLUTION, ds.Status.SOLVED))))
    assert text.startswith("Solution(SOLVED, residual=")
    assert "methods=fixed" in text
