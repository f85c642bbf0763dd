"""The interior-point method: LCPs against least squares, proofs of infeasibility, its algebra."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear, nnls

import drystone as ds
from drystone.kernels.cones import interior_point as kernels
from drystone.problems.residual import project_cone
from drystone.solvers._system import BlockSystem, FullSystem, SparseSystem
from drystone.solvers.certificates import infeasibility_certificate
from tests.solvers.cone_problems import random_problem, third_party

EASY = settings(deadline=None, max_examples=40, derandomize=True)
METHOD = "interior-point"


@EASY
@given(seed=st.integers(0, 10**6), n=st.integers(1, 12), rank=st.integers(1, 12))
def test_psd_lcp_is_nonnegative_least_squares(seed, n, rank):
    """M = A'A, q = -A'b: A z is the nearest point to b of the cone of A's columns."""
    rng = np.random.default_rng(seed)
    A, b = rng.standard_normal((rank, n)), rng.standard_normal(rank)
    solution = ds.solve(ds.LCP(A.T @ A, -A.T @ b), METHOD, tol=1e-10)
    assert solution.ok
    z, _ = nnls(A, b)
    np.testing.assert_allclose(A @ solution.value, A @ z, atol=1e-7)


@EASY
@given(seed=st.integers(0, 10**6), n=st.integers(1, 10))
def test_boxed_lcp_is_bounded_least_squares(seed, n):
    rng = np.random.default_rng(seed)
    A, b = rng.standard_normal((n + 2, n)), rng.standard_normal(n + 2)
    lower = rng.choice([-np.inf, -0.3, 0.0], n)
    upper = rng.choice([np.inf, 0.2, 0.5], n)
    problem = ds.BoxedLCP(A.T @ A, -A.T @ b, lower, upper)
    solution = ds.solve(problem, METHOD, tol=1e-10)
    assert solution.ok
    expected = lsq_linear(A, b, (lower, upper), tol=1e-14, method="bvls").x
    np.testing.assert_allclose(solution.value, expected, atol=1e-7)


@EASY
@given(seed=st.integers(0, 10**6), n=st.integers(2, 12), sparse=st.booleans())
def test_unsymmetric_monotone_mixed_lcp(seed, n, sparse):
    """M = PSD + skew, some rows free: the conditions themselves, row by row."""
    rng = np.random.default_rng(seed)
    A, K = rng.standard_normal((n, n)), rng.standard_normal((n, n))
    M = A @ A.T + K - K.T
    free = rng.uniform(size=n) < 0.3
    q = rng.standard_normal(n)
    problem = ds.MixedLCP(sp.csr_array(M) if sparse else M, q, free)
    solution = ds.solve(problem, METHOD, tol=1e-10)
    assert solution.ok
    z, w = solution.value, M @ solution.value + q
    assert np.abs(w[free]).max(initial=0.0) <= 1e-8
    assert np.minimum(z, w)[~free].min(initial=0.0) >= -1e-8
    assert np.abs((z * w)[~free]).max(initial=0.0) <= 1e-6


def test_large_sparse_lcp():
    """Obstacle problem: -u'' >= -8, u >= -0.1 on a grid; where it does not touch it is exact."""
    n = 2000
    h = 1.0 / (n + 1)
    M = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n)) / h**2
    # z = u + 0.1 with u = 0 at the ends: the boundary values enter q
    q = np.full(n, 8.0)
    q[[0, -1]] -= 0.1 / h**2
    solution = ds.solve(ds.LCP(M, q), METHOD, tol=1e-9)
    assert solution.ok
    x = h * np.arange(1, n + 1)
    # free part: u = 4 x (x - 2 a) with u'(a) = 0 and u(a) = -0.1: a = sqrt(0.1 / 4)
    a = np.sqrt(0.025)
    exact = np.where(x < a, 4 * (x - a) ** 2, np.where(x > 1 - a, 4 * (x - 1 + a) ** 2, 0.0))
    np.testing.assert_allclose(solution.value, exact, atol=20 * h**2)


@pytest.mark.parametrize(
    ("M", "q", "free"),
    [
        ([[0.0, 0.0], [0.0, 1.0]], [-1.0, 1.0], 0),
        ([[1.0, -1.0], [-1.0, 1.0]], [-1.0, -1.0], 0),
        ([[0.0, 1.0], [-1.0, 0.0]], [1.0, -1.0], 0),
        ([[0.0, 0.0], [0.0, 1.0]], [1.0, 1.0], 1),
    ],
)
def test_infeasible_lcps_come_with_a_proof(M, q, free):
    problem = ds.MixedLCP(M, q, free) if free else ds.LCP(M, q)
    solution = ds.solve(problem, METHOD)
    assert solution.status is ds.Status.INFEASIBLE
    y = solution.info["certificate"]
    assert infeasibility_certificate(np.array(M), np.array(q), y, 1e-8, problem.free)


@EASY
@given(seed=st.integers(0, 10**6), n=st.integers(2, 8))
def test_random_infeasible_psd_lcps(seed, n):
    """A'y = 0 and q'y < 0 for a y > 0 hidden in the data."""
    rng = np.random.default_rng(seed)
    y = rng.uniform(0.2, 1.0, n)
    A = rng.standard_normal((n, n - 1))
    A -= np.outer(y, y @ A) / (y @ y)
    q = rng.standard_normal(n)
    q -= y * (y @ q + 0.5) / (y @ y)
    solution = ds.solve(ds.LCP(A @ A.T, q), METHOD)
    assert solution.status is ds.Status.INFEASIBLE
    assert infeasibility_certificate(A @ A.T, q, solution.ray, 1e-7)


def test_infeasible_convex_contact():
    """A contact between two bodies that cannot move, pressed together."""
    problem = ds.FrictionProblem(np.zeros((3, 3)), [-1.0, 0.0, 0.0], 0.5, law="convex")
    solution = ds.solve(problem, METHOD)
    assert solution.status is ds.Status.INFEASIBLE
    assert solution.ray[0] > 0


@pytest.mark.kernels
@settings(deadline=None, max_examples=30, derandomize=True)
@given(seed=st.integers(0, 10**6), d=st.sampled_from([1, 2, 3, 4]))
def test_scaling_point(seed, d):
    """Theta x = y, T T = Theta, lambda = T x = T^-1 y, and Theta is positive definite."""
    rng = np.random.default_rng(seed)
    x, y = _inside(rng, 3, d), _inside(rng, 3, d)
    shape, kind = (0,) * d, np.full(3, kernels.CONE_BLOCK)
    v, lam, theta, eta = np.empty((3, d)), np.empty((3, d)), np.empty((3, d, d)), np.empty(3)
    assert kernels.nt_scaling(shape, kind, x, y, v, eta, lam, theta) == 0
    np.testing.assert_allclose(np.einsum("iab,ib->ia", theta, x), y, rtol=1e-9)
    root = np.empty((3, d, d))
    for b in range(d):
        unit, out = np.zeros((3, d)), np.empty((3, d))
        unit[:, b] = 1.0
        for i in range(3):
            kernels.scale_row(shape, v, eta, unit, out, i, 1.0)
        root[:, :, b] = out
    np.testing.assert_allclose(root @ root, theta, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(np.einsum("iab,ib->ia", root, lam), y, rtol=1e-8)
    assert np.linalg.eigvalsh(theta).min() > 0


@pytest.mark.kernels
@settings(deadline=None, max_examples=30, derandomize=True)
@given(seed=st.integers(0, 10**6), d=st.sampled_from([1, 2, 3]))
def test_largest_step_touches_the_boundary(seed, d):
    rng = np.random.default_rng(seed)
    x, dx = _inside(rng, 4, d), rng.standard_normal((4, d))
    alpha = kernels.largest_step((0,) * d, np.full(4, kernels.CONE_BLOCK), x, dx)
    depth = [_depth(x + a * dx) for a in np.linspace(0.0, 0.999, 50) * min(alpha, 1e6)]
    assert min(depth) > 0
    if np.isfinite(alpha):
        assert abs(_depth(x + alpha * dx)) <= 1e-8 * (1 + alpha)
        assert _depth(x + (1.001 * alpha + 1e-9) * dx) < 0


@pytest.mark.kernels
@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_polish_is_newton_on_the_natural_map(exact, d):
    """F' by central differences times the step gives -F, away from kinks."""
    rng = np.random.default_rng(d)
    problem = random_problem(d, 3, max(d, 2), law="coulomb" if exact else "convex")
    nb = 3
    A = rng.standard_normal((nb * d, nb * d))
    W, q = A @ A.T + np.eye(nb * d), rng.standard_normal(nb * d)
    mu = problem.mu if d > 1 else np.zeros(nb)
    r = rng.standard_normal((nb, d))

    def natural(flat):
        r = flat.reshape(nb, d)
        u = (W @ flat + q).reshape(nb, d)
        shifted = u.copy()
        if exact:
            shifted[:, 0] += mu * np.linalg.norm(u[:, 1:], axis=1)
        return (r - project_cone(r - shifted, mu)).ravel()

    D, rhs, P = np.empty((nb, d, d)), np.empty((nb, d)), np.empty((d + 1, d))
    u = (W @ r.ravel() + q).reshape(nb, d)
    kernels.polish((0,) * d, exact, r, u, mu, np.ones((nb, d)), 0.0, P, D, rhs)
    full = W.copy()
    for i in range(nb):
        full[d * i : d * i + d, d * i : d * i + d] += D[i]
    step = np.linalg.solve(full, rhs.ravel())
    h = 1e-6
    x = r.ravel()
    slope = np.column_stack(
        [(natural(x + h * e) - natural(x - h * e)) / (2 * h) for e in np.eye(nb * d)]
    )
    np.testing.assert_allclose(slope @ step, -natural(x), atol=1e-6)


@pytest.mark.parametrize("system", [BlockSystem, FullSystem, SparseSystem])
@pytest.mark.parametrize("d", [1, 3])
def test_shifted_systems_agree_with_dense_algebra(system, d):
    rng = np.random.default_rng(d)
    nb = 7
    mask = rng.uniform(size=(nb, nb)) < 0.3
    A = rng.standard_normal((nb, d, nb, d)) * (mask | mask.T)[:, None, :, None]
    W = ds.problems.delassus.BlockMatrix.of(sp.csr_array(A.reshape(nb * d, nb * d)), d)
    D, b = rng.standard_normal((nb, d, d)) + 10 * np.eye(d), rng.standard_normal((nb, d))
    solver = system(W)
    for scale in (1.0, 3.0):  # the second uses the order found for the first
        assert solver.factorise(scale * D)
        full = W.dense + sp.block_diag(list(scale * D)).toarray()
        expected = np.linalg.solve(full, b.ravel())
        np.testing.assert_allclose(solver.solve(b).ravel(), expected, atol=1e-12)


def test_without_polish_rounding_ends_the_path_near_1e_7():
    """x and y reach the boundary of their cones together: x_0 - |x_1| has no digits left. How early
    differs from problem to problem and from processor to processor; the polish ends at rounding."""
    plain, polished = ds.InteriorPoint(polish=False, tol=1e-12), ds.InteriorPoint(tol=1e-12)
    problems = [random_problem(seed, 5, 3) for seed in range(40)]
    reached = np.array([ds.solve(problem, plain).residual for problem in problems])
    assert 1e-10 < np.median(reached) < 1e-7
    assert reached.max() < 1e-5
    assert all(ds.solve(problem, polished).ok for problem in problems)


def test_options_are_checked():
    with pytest.raises(ds.OptionError, match="max_iterations"):
        ds.InteriorPoint(max_iterations=0)


@pytest.mark.problems
@pytest.mark.parametrize(
    "name",
    [
        "Capsules-i100-1090.dat",
        "Capsules-i101-404.dat",
        "Capsules-i122-1617.dat",
        "Box_Stacks-i0122-82-5.hdf5",
        "fc2d_granularflowonwall_02020_00213.dat",
        "spheres-in-a-box-98-i10000-256-10.hdf5",
        "deltasigma_mlcp.dat",
        "diodeBridge40_mlcp.dat",
        "lcp_mmc.dat",
    ],
)
def test_hard_third_party_problems(name):
    assert ds.solve(third_party(name), METHOD, time_limit=1e9).ok


def _inside(rng, nb, d):
    x = rng.standard_normal((nb, d))
    x[:, 0] = np.linalg.norm(x[:, 1:], axis=1) + rng.uniform(0.05, 1.0, nb)
    return x


def _depth(x):
    return (x[:, 0] - np.linalg.norm(x[:, 1:], axis=1)).min()
