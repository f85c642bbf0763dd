"""LCPs whose rows and columns have units of their own: SOLVED means solved in any of them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import drystone as ds
from drystone.solvers import LCPS, OURS

NAMES = [entry.name for entry in OURS if LCPS in entry.takes]


def integers(rng, n):
    """A solvable boxed problem of small integers; M positive semidefinite or anything."""
    A, B = rng.integers(-3, 4, (n, n)), rng.integers(-3, 4, (n, n))
    M = [A, A @ A.T, B - B.T, A[:, :2] @ A[:, :2].T + B - B.T][rng.integers(4)].astype(float)
    lower, upper = np.zeros(n), np.full(n, np.inf)
    free = rng.random(n) < rng.choice([0.0, 0.3])
    lower[free] = -np.inf
    if rng.random() < 0.3:
        upper = np.where(rng.random(n) < 0.5, rng.integers(1, 4, n), np.inf)
    z = np.clip(np.maximum(rng.integers(-3, 4, n), 0), lower, upper)
    w = rng.integers(0, 4, n) * np.where(z == lower, 1, np.where(z == upper, -1, 0))
    return M, w - M @ z, lower, upper


def natural_residual(z, M, q, lower, upper):
    w = M @ z + q
    return np.linalg.norm(z - np.clip(z - w, lower, upper)) / max(np.linalg.norm(q), 1.0)


@pytest.mark.parametrize("name", NAMES)
def test_no_solver_calls_a_scaled_problem_solved_that_is_not(name):
    solved = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 7))
        M, q, lower, upper = integers(rng, n)
        rows, columns = 2.0 ** rng.integers(-27, 28, (2, n))
        if seed % 3 == 0:
            columns[:] = 1.0
        scaled = rows[:, None] * M * columns, rows * q
        problem = ds.BoxedLCP(*scaled, lower / columns, upper / columns)
        if np.isposinf(upper).all():
            problem = ds.MixedLCP(*scaled, np.isneginf(lower))
        try:
            solution = ds.solve(problem, name, time_limit=1.0)
        except ds.UnsupportedProblemError:
            continue
        if solution.ok:
            solved += 1
            assert natural_residual(columns * solution.value, M, q, lower, upper) < 1e-6
    assert solved > (50 if name == "auto" else 0)


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_the_measure_of_a_wrong_answer_has_no_units(storage):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 8))
        A = rng.normal(size=(n, n))
        M, q = A @ A.T, rng.normal(size=n)
        lower, upper = np.zeros(n), rng.uniform(0.1, 3.0, n)
        z = np.clip(rng.normal(size=n), lower, upper)
        given = ds.BoxedLCP(storage(M), q, lower, upper).optimality(z)[0]
        rows, columns = 2.0 ** rng.integers(-27, 28, (2, n))
        scaled = storage(rows[:, None] * M * columns)
        other = ds.BoxedLCP(scaled, rows * q, lower / columns, upper / columns)
        assert other.optimality(z / columns)[0] == pytest.approx(given, rel=0.05)


def test_the_measure_bounds_the_change_that_makes_an_answer_exact():
    """By hand: M = diag(2, 1), q = (-2, -1): z = (1, 1); at (1, 1 + e) row 2 is off by e of terms
    of 2, and q is half of the terms."""
    problem = ds.LCP(np.diag([2.0, 1.0]), [-2.0, -1.0])
    for e in (1e-3, 1e-6):
        primal, gap = problem.optimality(np.array([1.0, 1.0 + e]))
        assert primal == pytest.approx(e, rel=2e-3)
        assert gap == 0.0
        assert problem.optimality(np.array([1.0, 1.0 - e]))[0] == pytest.approx(e, rel=2e-3)
    assert problem.optimality(np.ones(2)) == (0.0, 0.0)
    assert problem.optimality(np.array([1.0, 0.0]))[0] > 0.9


def test_rows_of_rounding_are_no_error():
    """z = 0 in rows that hold 1e-17 beside one of 1, as loads that cancel leave them."""
    M = np.diag([1.0, 1.0, 2.0])
    primal, _ = ds.LCP(M, [-1.0, -1e-17, 1e-17]).optimality(np.array([1.0, 0.0, 0.0]))
    assert primal < 1e-12


@pytest.mark.parametrize("name", [entry.name for entry in OURS])
def test_an_empty_problem_is_solved(name):
    empty = np.zeros((0, 0)), np.zeros(0)
    problems = [ds.LCP(*empty), ds.MixedLCP(*empty, 0), ds.BoxedLCP(*empty, 0.0, 1.0)]
    problems += [
        ds.FrictionProblem(*empty, 0.5, dim=dim, law=law)
        for dim in (2, 3)
        for law in ("coulomb", "convex", "static")
    ]
    tried = 0
    for problem in problems:
        try:
            solution = ds.solve(problem, name)
        except ds.UnsupportedProblemError:
            continue
        tried += 1
        assert solution.ok
        assert solution.value.shape == (0,)
    assert tried > 0


def test_rows_without_terms_ask_nothing():
    """With q = 0 a row may have no terms; then it is met, and no measure of z comes from it."""
    problem = ds.LCP([[0.0, 1.0], [1.0, 0.0]], [0.0, 0.0])
    assert problem.optimality(np.array([1.0, 0.0])) == (0.0, 0.0)
    assert problem.optimality(np.array([1.0, 1.0]))[0] > 0.1
