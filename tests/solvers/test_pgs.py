"""Projected sweeps: what they promise, where they do not converge, and the iteration of (14-1)."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import drystone as ds
from drystone.kernels.cones import pgs as kernels
from drystone.problems import classic
from drystone.solvers.pgs import ContactSweeps, RowSweeps

# positive definite, yet Jacobi's iteration matrix has the spectral radius 1.8
DIVERGES = np.full((3, 3), 0.9) + 0.1 * np.eye(3)


def spatial_system(seed, nc, bodies=2, mu=0.5, law="static"):
    """Random rows of rank at most 6 for each body; loads that press most contacts together."""
    rng = np.random.default_rng(seed)
    J = rng.normal(size=(3 * nc, 6 * bodies))
    f = rng.normal(size=6 * bodies) - J[::3].sum(axis=0)
    return ds.FrictionProblem(J @ J.T, J @ f, mu, law=law)


def violations(problem, r):
    """Largest violation of each line of (14-1), worked out contact by contact."""
    f = r.reshape(-1, problem.d)
    a = (problem.dense @ r + problem.q).reshape(-1, problem.d)
    worst = dict.fromkeys(("force", "acceleration", "product", "cone", "slip", "opposes"), 0.0)
    for (fn, *ft), (an, *at), mu in zip(f, a, problem.mu, strict=True):
        size, speed = np.hypot(*ft), np.hypot(*at)
        found = {
            "force": -fn,
            "acceleration": -an,
            "product": min(fn, an),
            "cone": size - mu * fn,
            "slip": min(speed, mu * fn - size),
            "opposes": np.dot(ft, at) / max(size, speed, 1e-12),
        }
        worst = {key: max(worst[key], value) for key, value in found.items()}
    return worst


def test_jacobi_fails_on_a_definite_matrix_and_says_so():
    assert np.linalg.eigvalsh(DIVERGES).min() > 0
    assert max(abs(np.linalg.eigvals(np.eye(3) - DIVERGES))) == pytest.approx(1.8)
    jacobi = ds.solve(ds.LCP(DIVERGES, -np.ones(3)), "jacobi")
    assert jacobi.status is ds.Status.STALLED
    assert jacobi.info["period"] == 2  # held by z >= 0, it alternates
    assert jacobi.solver == "jacobi"
    equations = ds.solve(ds.MixedLCP(DIVERGES, -np.ones(3), 3), "jacobi")
    assert equations.status is ds.Status.STALLED
    assert equations.info["diverged"]
    assert np.isfinite(equations.value).all()


@pytest.mark.parametrize("solver", ["pgs", "sor", ds.PGS(sweep="jacobi", damp=True)])
def test_the_others_converge(solver):
    for problem in (ds.LCP(DIVERGES, -np.ones(3)), ds.MixedLCP(DIVERGES, -np.ones(3), 3)):
        solution = ds.solve(problem, solver, tol=1e-12)
        assert solution.ok
        np.testing.assert_allclose(solution.value, np.full(3, 1 / 2.8), rtol=1e-10)


def test_damping_reports_the_relaxation_it_ended_with():
    solution = ds.solve(ds.LCP(DIVERGES, -np.ones(3)), ds.PGS(sweep="jacobi", damp=True))
    assert solution.info["relaxation"] == 0.5  # 1 - 0.5 * 2.8 = -0.4
    assert solution.ok


@pytest.mark.kernels
@settings(deadline=None, max_examples=25, derandomize=True)
@given(st.integers(0, 10**6), st.integers(1, 9), st.booleans())
def test_dense_and_sparse_sweeps_are_the_same(seed, n, jacobi):
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(n, n))
    M, q = B @ B.T + np.eye(n), rng.normal(size=n)
    lower = np.where(rng.random(n) < 0.3, -np.inf, -0.2)
    upper = np.where(rng.random(n) < 0.3, np.inf, 0.3)
    dense = RowSweeps(ds.BoxedLCP(M, q, lower, upper), np.zeros(n), jacobi)
    sparse = RowSweeps(ds.BoxedLCP(sp.csr_array(M), q, lower, upper), np.zeros(n), jacobi)
    dense.sweep(0.8, 5, 0.0)
    sparse.sweep(0.8, 5, 0.0)
    np.testing.assert_allclose(dense.z, sparse.z, rtol=1e-12, atol=1e-14)
    # and both are the formula of appendix C
    z = np.zeros(n)
    for _ in range(5):
        old = z.copy()
        for i in range(n):
            e = M[i] @ (old if jacobi else z) + q[i]
            z[i] = np.clip(z[i] - 0.8 * e / M[i, i], lower[i], upper[i])
    np.testing.assert_allclose(dense.z, z, rtol=1e-12, atol=1e-14)


@pytest.mark.kernels
def test_jacobi_friction_is_the_listing_of_appendix_c():
    """Against a transcription, misprints mended."""
    problem = spatial_system(3, 3)
    W, q, mu, D = problem.dense, problem.q, problem.mu, problem.dense.diagonal()
    model = ContactSweeps(problem, np.zeros(9), True)
    model.sweep(1.0, 4, 0.0)
    f = np.zeros(9)
    for _ in range(4):
        a, new = W @ f + q, f.copy()
        for i in range(3):
            n, t = 3 * i, slice(3 * i + 1, 3 * i + 3)
            new[n] = max(0.0, f[n] - a[n] / D[n])
            if np.hypot(*f[t]) < mu[i] * f[n] or f[t] @ a[t] > 0:
                new[t] = f[t] - a[t] / D[t]
            size = np.hypot(*new[t])
            if size > mu[i] * f[n]:
                new[t] *= mu[i] * f[n] / size
        f = new
    np.testing.assert_allclose(model.value(), f, rtol=1e-12, atol=1e-13)


@pytest.mark.kernels
def test_gauss_seidel_friction_uses_the_newest_accelerations():
    """The same with a = W f + q worked out anew before each use; joints row by row."""
    rng = np.random.default_rng(8)
    J = rng.normal(size=(8, 10))
    problem = ds.FrictionProblem(
        J @ J.T, J @ rng.normal(size=10) - 2, [0.4, 0.7], bilateral=2, law="static"
    )
    W, q, mu, D = problem.dense, problem.q, problem.mu, problem.dense.diagonal()
    model = ContactSweeps(problem, np.zeros(8), False)
    model.sweep(0.9, 3, 0.0)
    f = np.zeros(8)

    def move(row):
        return f[row] - 0.9 * (W[row] @ f + q[row]) / D[row]

    for _ in range(3):
        for i in range(2):
            n, t = 3 * i, slice(3 * i + 1, 3 * i + 3)
            f[n] = max(0.0, move(n))
            if np.hypot(*f[t]) < mu[i] * f[n] or f[t] @ (W[t] @ f + q[t]) > 0:
                f[n + 1] = move(n + 1)
                f[n + 2] = move(n + 2)
            size = np.hypot(*f[t])
            if size > mu[i] * f[n]:
                f[t] *= mu[i] * f[n] / size
        f[6] = move(6)
        f[7] = move(7)
    assert f[0] > 0
    assert np.abs(f[4:6]).max() > 0
    np.testing.assert_allclose(model.value(), f, rtol=1e-12, atol=1e-13)


@pytest.mark.kernels
@pytest.mark.parametrize("jacobi", [True, False])
def test_solutions_are_fixed_points(jacobi):
    """Any solution of (14-1) stays put: here stick, slip and an open contact, by hand."""
    W = np.diag([1.0, 2.0, 2.0] * 3)
    q = np.array([-4.0, 1.0, 0.5, -4.0, 6.0, 8.0, 1.0, 3.0, 0.0])
    slip = -2.0 * np.array([0.6, 0.8])
    r = np.array([4.0, -0.5, -0.25, 4.0, *slip, 0.0, 0.0, 0.0])
    problem = ds.FrictionProblem(W, q, 0.5, law="static")
    assert problem.residual(r) < 1e-15
    model = ContactSweeps(problem, r, jacobi)
    code, sweeps, change, _ = model.sweep(1.0, 3, 1e-14)
    assert (code, sweeps) == (kernels.SOLVED, 1)
    assert change < 1e-14
    np.testing.assert_allclose(model.value(), r, atol=1e-14)


@settings(deadline=None, max_examples=60, derandomize=True)
@given(st.integers(0, 10**6), st.integers(1, 6), st.sampled_from([0.0, 0.2, 0.7]))
def test_static_friction_in_space_meets_14_1(seed, nc, mu):
    problem = spatial_system(seed, nc, mu=mu)
    solution = ds.solve(problem, ds.PGS(max_sweeps=20_000), tol=1e-10)
    if solution.status in (ds.Status.MAX_ITERATIONS, ds.Status.STALLED):
        return  # no convergence is promised with friction; it must only be reported
    assert solution.ok
    scale = max(np.abs(solution.value).max(), np.abs(problem.q).max())
    for name, value in violations(problem, solution.value).items():
        assert value <= 1e-9 * scale, name


def test_most_spatial_systems_do_converge():
    ended = [ds.solve(spatial_system(k, 4, mu=0.4), "pgs").ok for k in range(40)]
    assert sum(ended) >= 36


@pytest.mark.parametrize("solver", ["pgs", "jacobi", "sor"])
def test_a_push_that_pulls_in_is_an_impulse(solver):
    """D_N <= 0 at the sliding tip: a ray at that contact alone, with the property (13-1)."""
    problem = classic.inconsistent_rod()
    solution = ds.solve(problem, solver)
    assert solution.status is ds.Status.RAY
    assert solution.info["contact"] == 0
    np.testing.assert_allclose(solution.ray, [1.0, classic.MU])
    assert (problem.dense @ solution.ray)[0] == pytest.approx(-1.0)
    # zero is a force solution, and it is the one that is returned; the ray is still told
    indeterminate = ds.solve(classic.rod(), solver)
    assert indeterminate.ok
    assert indeterminate.ray is not None
    known = ds.solve(classic.rod(), solver, guess=[1.0, classic.MU])
    assert known.ok
    assert known.value[0] == 1.0


def test_sliding_contacts_are_folded():
    """One sliding particle: a_N = f_N - g = 0 and f_t = -mu f_N slip, against the motion."""
    problem = ds.FrictionProblem(np.eye(3), [-9.81, 0.0, 1.0], 0.3, slip=[[3.0, -4.0]])
    for solver in ("pgs", "jacobi", "sor"):
        solution = ds.solve(problem, solver)
        assert solution.ok
        np.testing.assert_allclose(solution.value, 9.81 * np.array([1, -0.18, 0.24]), rtol=1e-7)


def test_bilateral_rows_are_equations():
    rng = np.random.default_rng(5)
    J = rng.normal(size=(2 * 3 + 2, 9))
    problem = ds.FrictionProblem(
        J @ J.T, J @ rng.normal(size=9), 0.3, dim=2, bilateral=2, law="static"
    )
    solution = ds.solve(problem, "pgs", tol=1e-11)
    assert solution.ok
    np.testing.assert_allclose(solution.dual[-2:], 0.0, atol=1e-9)


def test_a_global_problem_is_swept_in_local_form():
    H = np.array([[0.0, 1.0], [1.0, 0.0]])
    problem = ds.GlobalFrictionProblem(2.0 * np.eye(2), H, [1.0, -20.0], np.zeros(2), 0.5, dim=2)
    solution = ds.solve(problem, "pgs")
    assert solution.ok
    np.testing.assert_allclose(solution.value, [20.0, -1.0])
    np.testing.assert_allclose(solution.velocity, 0.0, atol=1e-12)


def test_a_good_guess_saves_sweeps():
    problem = spatial_system(1, 5, mu=0.3)
    cold = ds.solve(problem, "pgs", tol=1e-10)
    warm = ds.solve(problem, "pgs", tol=1e-10, guess=cold)
    assert warm.iterations < cold.iterations / 2
    assert ds.solve(problem, "pgs", tol=1e-10).value.tobytes() == cold.value.tobytes()


def test_rows_of_zeros():
    M = np.diag([1.0, 0.0])
    held = ds.solve(ds.LCP(M, [-1.0, 2.0]), "pgs")
    assert held.ok
    np.testing.assert_allclose(held.value, [1.0, 0.0])
    assert ds.solve(ds.LCP(M, [-1.0, -2.0]), "pgs").status is ds.Status.INFEASIBLE
    boxed = ds.solve(ds.BoxedLCP(M, [-1.0, -2.0], 0.0, 7.0), "pgs")
    np.testing.assert_allclose(boxed.value, [1.0, 7.0])
    wall = ds.FrictionProblem(np.zeros((2, 2)), [-1.0, 0.0], 0.5, dim=2)
    assert ds.solve(wall, "pgs").status is ds.Status.INFEASIBLE


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (ds.LCP([[0.0, 1.0], [1.0, 1.0]], [1.0, 1.0]), r"M\[0, 0\] = 0 in a row that is not zero"),
        (ds.LCP(sp.csr_array([[0.0, 1.0], [1.0, 1.0]]), [1.0, 1.0]), r"M\[0, 0\] = 0"),
        (ds.LCP(-np.eye(2), [1.0, 1.0]), r"M\[0, 0\] = -1"),
        (ds.FrictionProblem(np.eye(3), np.ones(3), 0.5), "law='static'"),
        (ds.FrictionProblem(np.eye(2), np.ones(2), 0.5, dim=2, law="convex"), "convex"),
        (ds.FrictionProblem(np.eye(3), np.ones(3), 0.5, cone=8), "law='static'"),
        (ds.FrictionProblem(np.diag([1.0, 0.0]), np.ones(2), 0.5, dim=2), r"W\[1, 1\] = 0"),
    ],
)
def test_what_it_does_not_take_it_names(problem, words):
    with pytest.raises(ds.UnsupportedProblemError, match=words):
        ds.solve(problem, "pgs")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"sweep": "newton"}, "sweep = 'newton'"),
        ({"relaxation": 2.0}, "0 < omega < 2"),
        ({"relaxation": 0.0}, "0 < omega < 2"),
        ({"max_sweeps": 0}, "max_sweeps"),
    ],
)
def test_wrong_options(options, words):
    with pytest.raises(ds.OptionError, match=words):
        ds.PGS(**options)


def test_limits_are_kept():
    n = 60
    M = np.full((n, n), 0.999) + 0.001 * np.eye(n)
    q = -1.0 - np.arange(n) / n
    problem = ds.MixedLCP(M, q, n)
    few = ds.solve(problem, ds.PGS(max_sweeps=7))
    assert few.status is ds.Status.MAX_ITERATIONS
    assert few.iterations == 7
    short = ds.solve(problem, ds.PGS(max_sweeps=10**9, tol=1e-300), time_limit=0.05)
    assert short.status in (ds.Status.TIME_LIMIT, ds.Status.STALLED)
    assert short.iterations < 10**9
