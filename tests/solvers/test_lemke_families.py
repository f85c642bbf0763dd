"""Lemke on families of random problems, each judged by something independent of pivoting."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, lsq_linear, nnls

import drystone as ds
from drystone.solvers.certificates import infeasibility_certificate, ray_certificate

SEEDS = st.integers(0, 2**32 - 1)
many = settings(deadline=None, max_examples=500, derandomize=True)
some = settings(deadline=None, max_examples=150, derandomize=True)


def feasible(M, q):
    """Whether some z >= 0 has M z + q >= 0, by linear programming."""
    return linprog(np.zeros(q.size), A_ub=-M, b_ub=q).status == 0


@many
@given(SEEDS)
def test_least_squares_with_nonnegative_unknowns(seed):
    """min |G z - b|, z >= 0 is the LCP (G'G, -G'b): rank-deficient when G is wide."""
    rng = np.random.default_rng(seed)
    n, rows = int(rng.integers(1, 12)), int(rng.integers(1, 12))
    G, b = rng.normal(size=(rows, n)), rng.normal(size=rows)
    solution = ds.Lemke().solve(ds.LCP(G.T @ G, -G.T @ b))
    assert solution.ok
    assert solution.residual <= 1e-11
    expected = nnls(G, b)[0]
    np.testing.assert_allclose(G @ solution.value, G @ expected, atol=1e-7)  # w is unique, z not
    if rows >= n:
        np.testing.assert_allclose(solution.value, expected, atol=1e-6)


@many
@given(SEEDS)
def test_degenerate_integer_problems(seed):
    """Semidefinite integer data full of ties: solved exactly if feasible, else a proof."""
    rng = np.random.default_rng(seed)
    n, rank = int(rng.integers(1, 9)), int(rng.integers(0, 5))
    G = rng.integers(-1, 2, (rank, n)).astype(float)
    skew = np.triu(rng.integers(-1, 2, (n, n)), 1).astype(float) * (rng.random() < 0.5)
    M, q = G.T @ G + skew - skew.T, rng.integers(-1, 2, n).astype(float)
    solution = ds.Lemke(max_pivots=2000).solve(ds.LCP(M, q))
    if feasible(M, q):
        assert solution.ok
        assert solution.residual <= 1e-12
    else:
        assert solution.status is ds.Status.INFEASIBLE
        assert infeasibility_certificate(M, q, solution.info["certificate"], tol=1e-12)


@many
@given(SEEDS)
def test_any_matrix_ends_in_a_solution_or_a_ray(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 8))
    if seed % 3:
        M, q = rng.integers(-2, 3, (n, n)).astype(float), rng.integers(-2, 3, n).astype(float)
    else:
        M, q = rng.normal(size=(n, n)), rng.normal(size=n)
    solution = ds.Lemke(max_pivots=5000).solve(ds.LCP(M, q))
    if solution.ok:
        assert solution.residual <= 1e-10
    else:
        assert solution.status in (ds.Status.RAY, ds.Status.INFEASIBLE)
        assert ray_certificate(M, solution.ray)
    if solution.status is ds.Status.INFEASIBLE:
        assert not feasible(M, q)


@some
@given(SEEDS)
def test_p_matrices_have_one_solution(seed):
    """Diagonally dominant, unsymmetric: the solution found is the only one there is."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 7))
    M = rng.normal(size=(n, n))
    np.fill_diagonal(M, np.abs(M).sum(axis=1) + 0.1)
    problem = ds.LCP(M, rng.normal(size=n))
    solution, all_of_them = ds.solve(problem, "lemke"), ds.solve(problem, "enumerative")
    assert all_of_them.info["count"] == 1
    np.testing.assert_allclose(solution.value, all_of_them.value, atol=1e-11)


def contact_system(rng, dim):
    """Random contacts between a few bodies: fewer degrees of freedom than rows, some at rest."""
    nc, d = int(rng.integers(1, 7)), dim
    dofs = int(rng.integers(2, 2 + d * nc))
    J = (
        rng.integers(-1, 2, (d * nc, dofs)) * 1.0
        if rng.random() < 0.4
        else rng.normal(size=(d * nc, dofs))
    )
    inertia = 10.0 ** rng.uniform(-1, 1, dofs)
    W = (J / inertia) @ J.T
    q = J @ rng.normal(size=dofs) if rng.random() < 0.8 else np.zeros(d * nc)
    if rng.random() < 0.3:
        q = np.round(q)
    return W, q, np.where(rng.random(nc) < 0.2, 0.0, rng.uniform(0.05, 3.0, nc))


@many
@given(SEEDS)
def test_time_steps_with_friction_are_always_solved(seed):
    """The matrix is copositive and a solution exists for every q in the range of J."""
    rng = np.random.default_rng(seed)
    W, q, mu = contact_system(rng, 2)
    if not np.allclose(q, W @ np.linalg.lstsq(W, q, rcond=None)[0], atol=1e-9):
        return
    problem = ds.FrictionProblem(W, q, mu, dim=2, law=("coulomb", "static")[seed % 2])
    solution = ds.Lemke().solve(problem)
    assert solution.ok
    assert max(solution.residual, solution.residual_unit) <= 1e-9


@some
@given(SEEDS)
def test_pyramids_in_space_are_always_solved(seed):
    rng = np.random.default_rng(seed)
    W, q, mu = contact_system(rng, 3)
    if not np.allclose(q, W @ np.linalg.lstsq(W, q, rcond=None)[0], atol=1e-9):
        return
    problem = ds.FrictionProblem(W, q, mu, cone=int(rng.choice([4, 6, 8])))
    solution = ds.solve(problem, "lemke")
    assert solution.ok
    assert max(solution.residual, solution.residual_unit) <= 1e-9


@some
@given(SEEDS)
def test_convex_law_against_a_quadratic_program(seed):
    """The relaxation in the plane: r = G y with y >= 0 minimises 1/2 r'Wr + q'r (least squares)."""
    rng = np.random.default_rng(seed)
    nc = int(rng.integers(1, 5))
    J = rng.normal(size=(2 * nc, 2 * nc + 1))
    W, v, mu = J @ J.T, rng.normal(size=2 * nc + 1), rng.uniform(0.1, 1.0, nc)
    problem = ds.FrictionProblem(W, J @ v, mu, dim=2, law="convex")
    G = np.zeros((2 * nc, 2 * nc))
    for i in range(nc):
        G[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = [[1.0, 1.0], [mu[i], -mu[i]]]
    expected = G @ nnls(J.T @ G, -v)[0]
    np.testing.assert_allclose(ds.solve(problem, "lemke").value, expected, atol=1e-6)


@many
@given(SEEDS)
def test_equality_rows_by_elimination(seed):
    """A quadratic program with equations: min 1/2 x'Hx + c'x, A x = b, x >= 0 (KKT by hand)."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(2, 8)), int(rng.integers(1, 3))
    G, A = rng.normal(size=(n, n)), rng.normal(size=(min(k, n - 1), n))
    H, c, b = G @ G.T, rng.normal(size=n), A @ rng.uniform(0.0, 1.0, n)
    k = b.size
    M = np.block([[np.zeros((k, k)), A], [-A.T, H]])  # the free block is zero
    problem = ds.MixedLCP(M, np.concatenate([-b, c]), k)
    solution = ds.Lemke().solve(problem)
    assert solution.ok
    assert solution.residual <= 1e-10
    x, y = solution.value[k:], solution.value[:k]
    gradient = H @ x + c - A.T @ y
    scale = 1.0 + np.abs(solution.value).max()
    assert np.abs(A @ x - b).max() <= 1e-9 * scale
    assert x.min() >= -1e-9 * scale
    assert gradient.min() >= -1e-8 * scale
    assert abs(x @ gradient) <= 1e-8 * scale**2


@some
@given(SEEDS)
def test_redundant_equations(seed):
    """The same with equations repeated: a singular free block of a solvable problem."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 7))
    G, A = rng.normal(size=(n, n)), rng.normal(size=(1, n))
    A = np.vstack([A, -2.0 * A])
    b = A @ rng.uniform(0.0, 1.0, n)
    M = np.block([[np.zeros((2, 2)), A], [-A.T, G @ G.T]])
    solution = ds.solve(ds.MixedLCP(M, np.concatenate([-b, rng.normal(size=n)]), 2), "lemke")
    assert solution.ok
    assert solution.residual <= 1e-9


@many
@given(SEEDS)
def test_boxes_against_bounded_least_squares(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 9))
    G, b = rng.normal(size=(n + 2, n)), 3.0 * rng.normal(size=n + 2)
    lower = np.where(rng.random(n) < 0.3, -np.inf, -rng.random(n))
    upper = np.where(rng.random(n) < 0.3, np.inf, rng.random(n))
    problem = ds.BoxedLCP(G.T @ G, -G.T @ b, lower, upper)
    solution = ds.solve(problem, "lemke")
    assert solution.ok
    expected = lsq_linear(G, b, (lower, upper), method="bvls", tol=1e-14).x
    np.testing.assert_allclose(solution.value, expected, atol=1e-7)
    again = ds.solve(problem, "lemke", guess=solution)
    assert again.info["reused"]


def test_boxes_that_are_a_point():
    problem = ds.BoxedLCP(np.eye(2), [-5.0, 5.0], [1.0, 1.0], [1.0, 1.0])
    np.testing.assert_allclose(ds.solve(problem, "lemke").value, [1.0, 1.0])


@some
@given(SEEDS)
def test_units_do_not_matter(seed):
    """Rows and columns in wildly different units: the same contacts press."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    G = rng.normal(size=(n, n))
    M, q = G @ G.T + 0.1 * np.eye(n), rng.normal(size=n)
    r, c = 10.0 ** rng.uniform(-6, 6, n), 10.0 ** rng.uniform(-6, 6, n)
    plain = ds.solve(ds.LCP(M, q), "lemke")
    scaled = ds.solve(ds.LCP(r[:, None] * M * c, r * q), "lemke")
    np.testing.assert_allclose(c * scaled.value, plain.value, atol=1e-9)


def test_larger_problems():
    rng = np.random.default_rng(8)
    for n, rank in ((120, 120), (160, 60), (300, 100)):
        G = rng.normal(size=(rank, n))
        problem = ds.LCP(G.T @ G, -G.T @ rng.normal(size=rank))
        solution = ds.Lemke().solve(problem)
        assert solution.ok
        assert solution.residual <= 1e-11


FOLDER = next(
    (p / "shared/problems" for p in Path(__file__).parents if (p / "shared/problems").is_dir()),
    None,
)
NAMES = sorted(p.name for p in FOLDER.glob("*lcp*.dat")) if FOLDER else []


@pytest.mark.problems
@pytest.mark.skipif(not NAMES, reason="the third-party problems are not here")
@pytest.mark.parametrize("name", NAMES)
def test_third_party_problems(name):
    assert FOLDER is not None
    problem = ds.read_problem(FOLDER / name)
    solution = ds.solve(problem, "lemke")
    assert solution.ok
    assert max(solution.residual, solution.residual_unit) <= 1e-12
    again = ds.solve(problem, "lemke", guess=solution)
    assert max(again.residual, again.residual_unit) <= 1e-12
