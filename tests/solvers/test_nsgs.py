"""Gauss-Seidel by contacts: exact Coulomb and convex, formed and matrix-free."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import drystone as ds
from tests.library import coulomb_by_hand, random_bodies


@settings(deadline=None, max_examples=60, derandomize=True)
@given(seed=st.integers(0, 10**6), dim=st.sampled_from([2, 3]), bilateral=st.integers(0, 2))
def test_coulomb_law_by_cases(seed, dim, bilateral):
    rng = np.random.default_rng(seed)
    problem = random_bodies(rng, 8, 6, dim=dim, bilateral=bilateral, mu=0.4)
    solution = ds.solve(problem, "nsgs", tol=1e-10)
    if solution.ok:  # Gauss-Seidel may cycle on Coulomb's law; what it calls solved is solved
        assert coulomb_by_hand(problem, solution.value) <= 1e-7
    assert solution.status in (ds.Status.SOLVED, ds.Status.STALLED, ds.Status.MAX_ITERATIONS)


@settings(deadline=None, max_examples=30, derandomize=True)
@given(seed=st.integers(0, 10**6))
def test_convex_law_always_converges_and_is_a_minimum(seed):
    rng = np.random.default_rng(seed)
    problem = random_bodies(rng, 6, 5, law="convex", mu=0.6)
    solution = ds.solve(problem, "nsgs", tol=1e-9)
    assert solution.ok
    r, W = solution.value, problem.dense
    energy = 0.5 * r @ W @ r + problem.q @ r
    for _ in range(20):  # any other point of the cone has no less energy
        other = r + 0.1 * rng.normal(size=r.size)
        blocks = other.reshape(-1, 3)
        blocks[:, 0] = np.maximum(blocks[:, 0], np.linalg.norm(blocks[:, 1:], axis=1) / 0.6)
        assert 0.5 * other @ W @ other + problem.q @ other >= energy - 1e-9


@pytest.mark.parametrize(("dim", "bilateral"), [(2, 0), (2, 3), (3, 0), (3, 2)])
def test_matrix_free_takes_the_same_path(dim, bilateral):
    """Sweeps without W are the sweeps with W, to rounding."""
    for law in ("coulomb", "convex"):
        make = {"dim": dim, "bilateral": bilateral, "law": law, "mu": 0.3}
        formed = random_bodies(np.random.default_rng(5), 10, 9, **make)
        free = random_bodies(np.random.default_rng(5), 10, 9, operator=True, **make)
        solver = ds.NSGS(max_sweeps=25, tol=1e-30)
        a, b = solver.solve(formed), solver.solve(free)
        np.testing.assert_allclose(a.value, b.value, atol=1e-9 * np.abs(a.value).max())


def test_warm_start_is_done_at_once():
    problem = random_bodies(np.random.default_rng(1), 6, 8, mu=0.3)
    first = ds.solve(problem, "nsgs", tol=1e-9)
    again = ds.solve(problem, "nsgs", guess=first, tol=1e-9)
    assert again.ok
    assert again.iterations <= 2 < first.iterations


def test_history_falls_and_limits_are_kept():
    problem = random_bodies(np.random.default_rng(2), 20, 40, mu=0.5)
    solution = ds.solve(problem, ds.NSGS(max_sweeps=30, tol=1e-14))
    assert solution.status is ds.Status.MAX_ITERATIONS
    assert solution.iterations == 30
    assert solution.history[-1] < solution.history[0]
    assert ds.solve(problem, ds.NSGS(tol=1e-30, patience=50)).status is ds.Status.STALLED
    assert ds.solve(problem, ds.NSGS(tol=1e-30, time_limit=1e-9)).status is ds.Status.TIME_LIMIT


def test_over_relaxation_reaches_the_same_velocities():
    problem = random_bodies(np.random.default_rng(3), 8, 6, mu=0.2)
    plain = ds.solve(problem, "nsgs", tol=1e-11)
    for omega in (0.7, 1.3):
        other = ds.solve(problem, ds.NSGS(relaxation=omega), tol=1e-11)
        assert other.ok
        np.testing.assert_allclose(other.dual, plain.dual, atol=1e-7)


@pytest.mark.parametrize(
    "options", [{"relaxation": 0.0}, {"relaxation": 2.0}, {"max_sweeps": 0}, {"every": 0}]
)
def test_bad_options(options):
    with pytest.raises(ds.OptionError, match=f"nsgs: {next(iter(options))}"):
        ds.NSGS(**options)


def test_refusals_say_what_to_use():
    W = np.eye(3)
    with pytest.raises(ds.UnsupportedProblemError, match="use lemke"):
        ds.solve(ds.FrictionProblem(W, -np.ones(3), 0.5, cone=8), "nsgs")
    with pytest.raises(ds.UnsupportedProblemError, match="known slip direction"):
        ds.solve(ds.FrictionProblem(W, -np.ones(3), 0.5, slip=[[1.0, 0.0]]), "nsgs")
    with pytest.raises(ds.UnsupportedProblemError, match="not lcp"):
        ds.solve(ds.LCP(W, -np.ones(3)), "nsgs")
