"""The LP heuristic: its steps (a) to (d) and their statistics, holonomic rows, infeasible rows."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import drystone as ds
from drystone.problems import classic


def random_problem(seed, leaning=True):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 20))
    B = rng.normal(size=(n, int(rng.integers(1, n + 1)))) + (2.0 if leaning else 0.0)
    return ds.LCP(B @ B.T, B @ B.T @ rng.normal(size=n))


def test_step_a_when_no_contact_breaks():
    """Loads that press everywhere: A f = b with f >= 0 exists, and one program finds it."""
    rng = np.random.default_rng(0)
    for n in (1, 3, 8):
        B = rng.normal(size=(n, n + 1))
        f = rng.exponential(size=n)
        solution = ds.solve(ds.LCP(B @ B.T, -B @ B.T @ f), "lp")
        assert solution.ok
        assert solution.info["step"] == "a"
        assert solution.info["counts"] == {"a": 1, "b": 0, "c": 0, "d": 0}
        assert solution.info["vanishing"] == 0
        np.testing.assert_allclose(solution.value, f, rtol=1e-8)


def test_step_c_when_a_contact_vanishes():
    """Two particles, one pulled off its floor: V is that one, and it is found."""
    solution = ds.solve(ds.LCP(np.diag([1.0, 2.0]), [-9.81, 3.0]), "lp")
    assert solution.ok
    assert solution.info["step"] == "c"
    assert solution.info["vanishing"] == 1
    np.testing.assert_allclose(solution.value, [9.81, 0.0], rtol=1e-12)
    np.testing.assert_allclose(solution.dual, [0.0, 3.0], atol=1e-12)


def test_step_d_adds_energy_and_tells():
    """The least total force need not say which contacts vanish. Then it is used, and reported."""
    failed = [s for k in range(60) if (s := ds.solve(random_problem(k), "lp")).info["step"] == "d"]
    assert failed
    for solution in failed:
        assert solution.status is ds.Status.APPROXIMATE
        scale = np.abs(solution.dual).max()
        assert solution.value.min() >= -1e-9 * np.abs(solution.value).max()
        assert solution.dual.min() >= -1e-9 * scale  # (23): it does not penetrate
        assert solution.info["energy"] == pytest.approx(solution.value @ solution.dual)
        assert solution.info["energy"] > 0  # (25)


def test_step_d_is_the_minimum_sum_solution():
    seed = next(k for k in range(60) if ds.solve(random_problem(k), "lp").info["step"] == "d")
    problem = random_problem(seed)
    reference = linprog(np.ones(problem.size), A_ub=-problem.dense, b_ub=problem.q)
    assert ds.solve(problem, "lp").value.sum() == pytest.approx(reference.fun, rel=1e-7)


def test_statistics_over_random_problems():
    """Every answer of (a) and (c) is a solution, (d) never is; none ends otherwise."""
    steps = Counter()
    for k in range(80):
        solution = ds.solve(random_problem(k, leaning=k % 2 == 0), "lp")
        steps[solution.info["step"]] += 1
        assert solution.ok == (solution.info["step"] in "ac")
    assert set(steps) == set("acd")


def test_nearly_every_step_of_a_run_takes_the_first_guess():
    """A bar on four legs under a growing couple: legs lift off at single instants."""
    places = np.array([-2.0, -1.0, 1.0, 2.0])
    steps, standing = Counter(), np.arange(4)
    for couple in np.linspace(0.0, 25.0, 200):
        J = np.column_stack([np.ones(standing.size), places[standing]])
        solution = ds.solve(ds.LCP(J @ J.T, J @ [-9.81, -couple]), "lp")
        assert solution.ok
        steps[solution.info["step"]] += 1
        standing = standing[solution.dual < 1e-9]
        # it tips about its right end when the couple passes that of the weight about it
        assert standing.tolist() == ([0, 1, 2, 3] if couple <= 2 * 9.81 else [3])
    assert steps == {"a": 199, "c": 1}


def test_holonomic_rows_are_free_and_left_out_of_the_sum():
    """A joint pulls with a force of either sign; its size does not count in (22)."""
    M = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.5], [0.0, 0.5, 1.0]])
    solution = ds.solve(ds.MixedLCP(M, [4.0, -1.0, 2.0], 1), "lp")
    assert solution.ok
    assert solution.value[0] < 0
    assert solution.dual[0] == pytest.approx(0.0, abs=1e-12)
    sliding = ds.FrictionProblem(M, [-1.0, 0.0, 2.0], 0.0, dim=2, bilateral=1)
    assert ds.solve(sliding, "lp").ok


def test_infeasible_holonomic_rows_by_svd_and_by_1_norm():
    """x + y = 1 and x + y = 2: least squares says 1.5, the 1-norm anything in [1, 2]."""
    problem = ds.MixedLCP(np.ones((2, 2)), [-1.0, -2.0], 2)
    squares = ds.solve(problem, "lp")
    assert squares.status is ds.Status.INFEASIBLE
    np.testing.assert_allclose(squares.value, [0.75, 0.75])
    sums = ds.solve(problem, ds.LP(holonomic="lp"))
    assert sums.status is ds.Status.INFEASIBLE
    assert 1.0 - 1e-9 <= sums.value.sum() <= 2.0 + 1e-9
    assert np.abs(sums.dual).sum() == pytest.approx(1.0)


def test_infeasible_joints_beside_contacts_leave_the_contacts_sound():
    M = np.zeros((3, 3))
    M[:2, :2], M[2, 2] = 1.0, 1.0
    solution = ds.solve(ds.MixedLCP(M, [-1.0, -2.0, -3.0], 2), "lp")
    assert solution.status is ds.Status.INFEASIBLE
    assert np.abs(solution.dual[:2]).sum() == pytest.approx(1.0)
    assert solution.dual[2] >= -1e-9


def test_infeasible_contacts():
    solution = ds.solve(ds.LCP([[1.0, -1.0], [-1.0, 1.0]], [-1.0, -1.0]), "lp")
    assert solution.status is ds.Status.INFEASIBLE


def test_dynamic_friction_is_frictionless_to_it():
    """Known slip leaves normal forces only; the rod has A = -1/m, b = 1: V = {} finds f_N = m."""
    solution = ds.solve(classic.rod(2.0), "lp")
    assert solution.ok
    assert solution.value[0] == pytest.approx(2.0)
    assert ds.solve(classic.inconsistent_rod(), "lp").status is ds.Status.INFEASIBLE


@settings(deadline=None, max_examples=30, derandomize=True)
@given(st.integers(0, 10**6), st.floats(1e-6, 1e6), st.floats(1e-6, 1e6))
def test_units_do_not_matter(seed, length, load):
    problem = random_problem(seed)
    scaled = ds.LCP(problem.M * length, problem.q * load)
    steps = [ds.solve(p, "lp").info["step"] for p in (problem, scaled)]
    assert steps[0] == steps[1]


def test_an_index_set_is_reused():
    """The same contacts a step later cost one linear solve and no program."""
    problem = random_problem(3)
    first = ds.solve(problem, "lp")
    assert first.ok
    later = ds.solve(ds.LCP(problem.M, 1.01 * problem.q), "lp", guess=first)
    assert later.ok
    assert (later.info["step"], later.iterations) == ("basis", 0)
    np.testing.assert_allclose(later.dual, 1.01 * first.dual, atol=1e-9 * np.abs(first.dual).max())
    turned = ds.solve(ds.LCP(problem.M, -problem.q), "lp", guess=first)
    assert turned.info["step"] != "basis"


def test_what_it_does_not_take_and_wrong_options():
    with pytest.raises(ds.UnsupportedProblemError, match="frictionless"):
        ds.solve(ds.FrictionProblem(np.eye(3), np.ones(3), 0.5), "lp")
    with pytest.raises(ds.UnsupportedProblemError, match="boxes"):
        ds.solve(ds.BoxedLCP(np.eye(2), np.ones(2), 0.0, 1.0), "lp")
    with pytest.raises(ds.OptionError, match="holonomic"):
        ds.LP(holonomic="qr")
    with pytest.raises(ds.OptionError, match="vanishing"):
        ds.LP(vanishing=0.0)


def test_time_limit():
    rng = np.random.default_rng(0)
    B = rng.normal(size=(150, 75))
    solution = ds.solve(ds.LCP(B @ B.T, B @ rng.normal(size=75)), "lp", time_limit=1e-6)
    assert solution.status is ds.Status.TIME_LIMIT
