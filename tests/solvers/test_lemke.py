"""Lemke on problems with known answers: textbooks, rays, options, limits, restarts."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import drystone as ds
from drystone.errors import OptionError, UnsupportedProblemError
from drystone.problems import classic
from drystone.problems.convert import fold
from drystone.solvers.certificates import infeasibility_certificate, ray_certificate


def assert_solves(M, q, z, tol=1e-10):
    """z >= 0, w >= 0, z'w = 0, straight from the definition."""
    w = M @ z + q
    scale = max(1.0, np.abs(q).max(), np.abs(z).max())
    assert z.min(initial=0.0) >= -tol * scale
    assert w.min(initial=0.0) >= -tol * scale
    assert np.abs(z * w).max(initial=0.0) <= tol * scale**2


def test_two_by_two_by_hand():
    M, q = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([-5.0, -6.0])
    solution = ds.Lemke().solve(ds.LCP(M, q))
    assert solution.ok
    np.testing.assert_allclose(solution.value, [4 / 3, 7 / 3], rtol=1e-15)
    assert solution.basis.tolist() == [True, True]


@pytest.mark.parametrize("n", range(1, 13))
def test_murty_takes_two_to_the_n_pivots(n):
    solution = ds.Lemke().solve(classic.murty(n))
    assert solution.ok
    assert solution.iterations == 2**n
    np.testing.assert_array_equal(solution.value, [2.0**n] + [0.0] * (n - 1))


@pytest.mark.parametrize(("name", "optimum"), [("beale", -0.05), ("chvatal", -1.0), ("kuhn", -2.0)])
def test_cycling_examples_end_at_their_optimum(name, optimum):
    problem = classic.cycling(name)
    rng = np.random.default_rng(5)
    for cover in [None, 1.0, *rng.uniform(0.1, 10.0, (20, problem.size))]:
        solution = ds.Lemke(covering=cover, max_pivots=200).solve(problem)
        assert solution.ok
        assert problem.q[:4] @ solution.value[:4] == pytest.approx(optimum, rel=1e-12)


def test_principal_pivoting_cycles_but_lemke_does_not():
    solution = ds.Lemke().solve(classic.kostreva())
    np.testing.assert_allclose(solution.value, 1 / 3, rtol=1e-14)
    upper = ds.Lemke().solve(classic.murty_transposed(12))
    np.testing.assert_allclose(upper.value, [0.0] * 11 + [1.0], atol=1e-14)


def test_infeasible_problem_gets_a_certificate():
    problem = classic.infeasible()
    solution = ds.solve(problem, "lemke")
    assert solution.status is ds.Status.INFEASIBLE
    y = solution.info["certificate"]
    assert (y >= 0).all()
    assert (problem.dense.T @ y <= 1e-15).all()
    assert problem.q @ y < 0
    assert ray_certificate(problem.dense, solution.ray)


def test_contradicting_equations_get_a_certificate():
    M = np.array([[0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 1.0, 0.0], [0, 0, 0, 1.0]])
    problem = ds.MixedLCP(M, [-2.0, 1.0, 1.0, -1.0], 2)
    solution = ds.solve(problem, "lemke")
    assert solution.status is ds.Status.INFEASIBLE
    assert infeasibility_certificate(M, problem.q, solution.info["certificate"], free=problem.free)
    solvable = ds.MixedLCP(M, [-2.0, 0.0, 1.0, -1.0], 2)
    np.testing.assert_allclose(ds.solve(solvable, "lemke").value, [0, -3, 2, 1], atol=1e-14)


@pytest.mark.parametrize("cover", [None, 2.0])
def test_equations_without_a_variable_of_their_own_are_split(cover):
    """The free variable of row 1 appears nowhere, or its equation says nothing."""
    lemke = ds.Lemke(covering=cover)
    solution = lemke.solve(ds.MixedLCP([[0.0, 1.0], [0.0, 1.0]], [-1.0, -1.0], 1))
    assert solution.ok
    assert solution.value[1] == pytest.approx(1.0)
    assert lemke.solve(ds.MixedLCP([[0.0, 0.0], [1.0, 1.0]], [0.0, -1.0], 1)).ok
    none = lemke.solve(ds.MixedLCP([[0.0, 1.0], [0.0, 1.0]], [-1.0, 1.0], 1))
    assert not none.ok  # z_2 = 1 and w_2 = 2 are not complementary


def test_a_ray_of_a_solvable_game_is_still_a_ray():
    problem = classic.bimatrix_game()
    assert ds.solve(problem, "lemke").ok  # from the start of Lemke and Howson
    solution = ds.solve(problem, ds.Lemke(covering=1.0))
    assert solution.status is ds.Status.RAY
    assert ray_certificate(problem.dense, solution.ray)
    assert not infeasibility_certificate(problem.dense, problem.q, solution.ray)


def test_certificates_refuse_what_proves_nothing():
    M = np.array([[1.0, -2.0], [0.0, -1.0]])
    assert ray_certificate(M, [0.0, 3.0])
    assert not ray_certificate(M, [1.0, 0.0])  # (M z)_1 = 1 > 0
    assert not ray_certificate(M, [0.0, 0.0])
    assert not ray_certificate(M, [-1.0, 1.0])
    assert not ray_certificate(M, [np.nan, 1.0])
    assert not infeasibility_certificate(M, np.array([1.0, 1.0]), [0.0, 1.0])  # q'y > 0
    assert not infeasibility_certificate(M, np.array([-1.0, -1.0]), [1.0, 0.0])  # M'y has 1
    assert not infeasibility_certificate(M, np.array([-1.0, -1.0]), [-1.0, 1.0])


@pytest.mark.parametrize("mass", [0.3, 1.0, 7.0])
def test_inconsistent_rod_ends_in_the_impulse(mass):
    solution = ds.solve(classic.inconsistent_rod(mass), "lemke")
    assert solution.status is ds.Status.RAY
    np.testing.assert_allclose(solution.ray / solution.ray[0], [1.0, classic.MU], rtol=1e-12)
    at_rest = ds.solve(classic.inconsistent_rod(mass, gravity=0.0), "lemke")
    assert at_rest.ok
    np.testing.assert_array_equal(at_rest.value, [0.0, 0.0])


@pytest.mark.parametrize("values", [(3, 5, 7), (1, 2, 4, 8), (6, 10, 15)])
def test_subset_sum_gives_a_force_or_an_impulse(values):
    """Every inconsistent configuration ends in a ray that satisfies (13-1)."""
    sums = {sum(chosen) for k in range(len(values) + 1) for chosen in combinations(values, k)}
    for target in range(1, sum(values) + 3):
        problem = classic.subset_sum(values, target)
        solution = ds.solve(problem, "lemke")
        if solution.ok:
            assert target in sums
            continue
        assert solution.status is ds.Status.RAY
        folded = fold(problem)
        z = solution.ray[0 : 2 * problem.nc : 2]
        full = np.append(z, solution.ray[2 * problem.nc :])
        assert ray_certificate(folded.A, full, free=folded.bilateral)
        np.testing.assert_allclose(solution.ray[1 : 2 * problem.nc : 2], classic.MU * z, atol=1e-14)
        assert ds.solve(classic.subset_sum_lcp(values, target), "lemke").ray is not None


def test_restart_from_a_basis_costs_one_linear_solve():
    rng = np.random.default_rng(1)
    G = rng.normal(size=(30, 30))
    M, q = G @ G.T, rng.normal(size=30)
    first = ds.solve(ds.LCP(M, q), "lemke")
    again = ds.solve(ds.LCP(M, q * 1.01), "lemke", guess=first)
    assert again.ok
    assert again.info["reused"]
    assert again.iterations == 0
    np.testing.assert_allclose(again.value, 1.01 * first.value, rtol=1e-9, atol=1e-14)


def test_a_basis_that_fails_is_still_a_start():
    rng = np.random.default_rng(2)
    fewer = 0
    for _ in range(20):
        G = rng.normal(size=(25, 25))
        M, q = G @ G.T / 25 + 0.1 * np.eye(25), rng.normal(size=25)
        first = ds.Lemke().solve(ds.LCP(M, q))
        moved = ds.LCP(M, q + 0.3 * rng.normal(size=25))
        warm, cold = ds.Lemke().solve(moved, first), ds.Lemke().solve(moved)
        assert warm.ok
        np.testing.assert_allclose(warm.value, cold.value, atol=1e-11)
        fewer += warm.iterations < cold.iterations
    assert fewer >= 15


def test_a_basis_of_another_problem_is_ignored():
    small = ds.solve(classic.kostreva(), "lemke")
    assert ds.solve(classic.murty(4), "lemke", guess=small).ok


@settings(deadline=None, max_examples=100, derandomize=True)
@given(st.integers(0, 2**32 - 1))
def test_any_positive_covering_vector_will_do(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 8))
    G = rng.normal(size=(n, n))
    M, q = G @ G.T, rng.normal(size=n)
    cover = 10.0 ** rng.uniform(-3, 3, n)
    plain, covered = ds.solve(ds.LCP(M, q), "lemke"), ds.Lemke(covering=cover).solve(ds.LCP(M, q))
    assert plain.ok
    assert covered.ok
    np.testing.assert_allclose(covered.dual, plain.dual, atol=1e-9 * np.abs(q).max())
    boxed = ds.BoxedLCP(M, q, 0.0, np.where(np.arange(n) % 2, np.inf, 1.0))
    np.testing.assert_allclose(
        ds.Lemke(covering=cover).solve(boxed).dual, ds.solve(boxed, "lemke").dual, atol=1e-8
    )


def test_limits_end_it_with_a_status():
    few = ds.Lemke(max_pivots=10).solve(classic.murty(8))
    assert few.status is ds.Status.MAX_ITERATIONS
    assert few.iterations == 10
    short = ds.Lemke(time_limit=0.02).solve(classic.murty(40))
    assert short.status is ds.Status.TIME_LIMIT
    assert short.iterations < 2**40
    short = ds.Lemke(time_limit=0.02).solve(classic.murty(40))
    assert short.status is ds.Status.TIME_LIMIT


@pytest.mark.parametrize(
    "options",
    [
        {"max_pivots": 0},
        {"max_pivots": 1.5},
        {"pivot_tol": 0.0},
        {"pivot_tol": 0.5},
        {"covering": -1.0},
        {"covering": [1.0, 0.0]},
        {"covering": np.ones((2, 2))},
        {"covering": "ones"},
        {"covering": np.inf},
        {"tol": 0.0},
        {"time_limit": -1.0},
    ],
)
def test_bad_options(options):
    with pytest.raises(OptionError):
        ds.Lemke(**options)


def test_refuses_what_is_not_an_lcp():
    W, q = np.eye(3), -np.ones(3)
    lemke = ds.Lemke()
    with pytest.raises(UnsupportedProblemError, match="even number of directions"):
        lemke.solve(ds.FrictionProblem(W, q, 0.5))
    with pytest.raises(UnsupportedProblemError, match="smooth"):
        lemke.solve(ds.FrictionProblem(W, q, 0.5, cone=ds.EllipticCone((1.0, 0.2))))
    with pytest.raises(UnsupportedProblemError, match="circular cone"):
        lemke.solve(ds.FrictionProblem(W, q, 0.5, law="static"))
    with pytest.raises(UnsupportedProblemError, match="2 entries"):
        ds.Lemke(covering=[1.0, 1.0]).solve(classic.kostreva())
    with pytest.raises(UnsupportedProblemError, match="give a number"):
        ds.Lemke(covering=[1.0, 1.0]).solve(classic.rod())
    assert lemke.solve(ds.FrictionProblem(W, q, 0.0)).ok
    assert lemke.solve(ds.FrictionProblem(W, q, 0.5, slip=[[1.0, 0.0]])).ok
    assert lemke.solve(ds.FrictionProblem(W, q, 0.5, cone=8)).ok


def test_empty_and_trivial_problems():
    empty = ds.solve(ds.LCP(np.zeros((0, 0)), np.zeros(0)), "lemke")
    assert empty.ok
    assert ds.solve(ds.LCP(-np.eye(3), np.ones(3)), "lemke").value.tolist() == [0.0, 0.0, 0.0]
    equations = ds.solve(ds.MixedLCP([[2.0, 1.0], [1.0, 3.0]], [-3.0, -4.0], 2), "lemke")
    np.testing.assert_allclose(equations.value, [1.0, 1.0])


def test_too_large_for_dense_matrices_is_refused():
    problem = ds.LCP(np.eye(5), -np.ones(5))
    with pytest.raises(ds.UnsupportedProblemError, match="over max_size = 4"):
        ds.solve(problem, ds.Lemke(max_size=4))


def test_a_ray_is_one_or_is_not_returned():
    """Friction of 1e300, where sums overflow or lose all that presses: rays of rounding."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        nc = int(rng.integers(1, 7))
        J = rng.normal(size=(2 * nc, 3 * max(1, nc // 3)))
        J = np.round(J) if seed % 2 else J
        problem = ds.FrictionProblem(J @ J.T, J @ rng.normal(size=J.shape[1]), 1e300, dim=2)
        for solver in ("lemke", "auto"):
            solution = ds.solve(problem, solver)
            assert solution.status is not ds.Status.RAY
            assert solution.ray is None
