"""The methods of force level agree with each other and with an independent solver."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear, nnls

import drystone as ds

FEW = settings(deadline=None, max_examples=100, derandomize=True)


def factor(seed, n, rank, lean):
    """B of M = B B' and c of q = B c: always solvable, since b lies in the range.

    `lean` shifts the columns to one side, so that contacts share their load.
    """
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(n, min(rank, n))) + lean
    return B, rng.normal(size=min(rank, n))


CASES = st.tuples(
    st.integers(0, 10**6), st.integers(1, 10), st.integers(1, 10), st.sampled_from([0.0, 1.0])
)


def planar_system(rng, nc, bodies=1, mu=0.5, load=(0.5, -9.81)):
    """Unit bodies in the plane touching each other or the ground at random places."""
    J = np.zeros((2 * nc, 3 * bodies))
    for i in range(nc):
        a, b = rng.integers(bodies), rng.integers(-1, bodies)
        angle = np.pi / 2 + 0.5 * rng.normal()
        n = np.array([np.cos(angle), np.sin(angle)])
        for k, v in enumerate((n, np.array([n[1], -n[0]]))):
            for body, sign in ((a, 1.0), (b, -1.0)):
                if body >= 0 and (body != a or sign > 0):
                    arm = 0.5 * rng.normal(size=2)
                    twist = arm[0] * v[1] - arm[1] * v[0]
                    J[2 * i + k, 3 * body : 3 * body + 3] = sign * np.array([*v, twist])
    return ds.FrictionProblem(J @ J.T, J @ np.tile([*load, 0.0], bodies), mu, dim=2)


@FEW
@given(CASES)
def test_all_methods_give_the_accelerations_of_least_squares(case):
    """min |B'f + c|, f >= 0 is the same problem, solved by an active-set method of SciPy."""
    B, c = factor(*case)
    M, q = B @ B.T, B @ c
    f = nnls(B.T, -c)[0]
    a, size = M @ f + q, max(1.0, np.abs(q).max())
    problem = ds.LCP(M, q)
    for solver in ("qp", ds.QP(form=2)):
        solution = ds.solve(problem, solver, tol=1e-10)
        assert solution.ok
        np.testing.assert_allclose(solution.dual, a, atol=1e-10 * size)
    guess = ds.solve(problem, "lp")
    assert guess.ok or guess.info["step"] == "d"
    if guess.ok:
        np.testing.assert_allclose(guess.dual, a, atol=1e-10 * size)
    for solver in ("pgs", "sor"):
        swept = ds.solve(problem, solver, tol=1e-12)  # slow where B is nearly singular
        assert swept.ok or (swept.iterations == 100_000 and swept.residual <= 1e-8)
        np.testing.assert_allclose(swept.dual, a, atol=1e-10 * size)


@FEW
@given(CASES, st.integers(0, 4))
def test_with_equality_rows(case, free):
    """Free rows against the split f = f' - f'', in the reference and as an LCP."""
    B, c = factor(*case)
    M, q, n = B @ B.T, B @ c, len(B)
    free = min(free, n)
    split = np.vstack([B[:free], -B[:free], B[free:]])
    f = nnls(split.T, -c)[0]
    f = np.concatenate([f[:free] - f[free : 2 * free], f[2 * free :]])
    a, size = M @ f + q, max(1.0, np.abs(q).max())
    mixed = ds.MixedLCP(M, q, free)
    for solver in ("qp", ds.QP(form=2)):
        solution = ds.solve(mixed, solver, tol=1e-10)
        assert solution.ok
        np.testing.assert_allclose(solution.dual, a, atol=1e-10 * size)
        assert np.abs(solution.dual[:free]).max(initial=0.0) <= 1e-10 * size
    guess = ds.solve(mixed, "lp")
    if guess.ok:
        np.testing.assert_allclose(guess.dual, a, atol=1e-10 * size)
    as_lcp = ds.solve(ds.LCP(split @ split.T, split @ c), "qp", tol=1e-10)
    assert as_lcp.ok
    np.testing.assert_allclose(as_lcp.dual[:free], -as_lcp.dual[free : 2 * free], atol=1e-12)
    np.testing.assert_allclose(as_lcp.dual[2 * free :], a[free:], atol=1e-10 * size)


@FEW
@given(CASES)
def test_between_bounds(case):
    B, c = factor(*case)
    M, q = B @ B.T, B @ c
    rng = np.random.default_rng(case[0])
    lower, width = rng.normal(size=len(q)), rng.exponential(size=len(q))
    upper = lower + width
    f = lsq_linear(B.T, -c, (lower, upper), method="bvls", tol=1e-14).x
    a, size = M @ f + q, max(1.0, np.abs(q).max())
    for solver in ("qp", ds.QP(form=2)):
        solution = ds.solve(ds.BoxedLCP(M, q, lower, upper), solver, tol=1e-10)
        assert solution.ok
        np.testing.assert_allclose(solution.dual, a, atol=1e-10 * size)
    swept = ds.solve(ds.BoxedLCP(M, q, lower, upper), "pgs", tol=1e-12)
    assert swept.ok or (swept.iterations == 100_000 and swept.residual <= 1e-8)
    np.testing.assert_allclose(swept.dual, a, atol=1e-10 * size)


@settings(deadline=None, max_examples=60, derandomize=True)
@given(st.integers(0, 10**6), st.integers(1, 4), st.sampled_from([0.1, 0.4, 0.8]))
def test_static_friction_in_the_plane_where_the_solution_is_unique(seed, nc, mu):
    problem = planar_system(np.random.default_rng(seed), nc, max(1, nc // 2), mu)
    everything = ds.solve(problem, "enumerative")
    duals = [problem.dual(value) for value in everything.solutions]
    scale = max(1.0, np.abs(problem.q).max())
    if max(np.abs(u - duals[0]).max() for u in duals) > 1e-9 * scale:
        return  # several motions are possible: nothing to agree on
    for solver in ("pgs", "qp-signs", "dantzig", "lemke"):
        solution = ds.solve(problem, solver, tol=1e-10)
        assert solution.residual <= 1e-8, solver
        np.testing.assert_allclose(solution.dual, duals[0], atol=1e-6 * scale, err_msg=solver)
    settled = ds.solve(problem, "lotstedt")
    if settled.ok:
        np.testing.assert_allclose(settled.dual, duals[0], atol=1e-6 * scale)


@pytest.mark.parametrize("solver", ["pgs", "jacobi", "qp-signs", "lotstedt"])
@pytest.mark.parametrize(("angle", "mu"), [(0.3, 0.5), (0.6, 0.5), (0.3, 0.0)])
def test_particle_on_an_incline(solver, angle, mu):
    """f_N = m g cos(theta); it stays if tan(theta) <= mu, else a_t = known."""
    g = 9.81
    normal, pull = g * np.cos(angle), g * np.sin(angle)
    problem = ds.FrictionProblem(np.eye(2), [-normal, pull], mu, dim=2)
    solution = ds.solve(problem, solver)
    friction = min(pull, mu * normal)
    assert solution.ok
    np.testing.assert_allclose(solution.value, [normal, -friction], rtol=1e-7)
    np.testing.assert_allclose(solution.dual, [0.0, pull - friction], atol=1e-6)


@pytest.mark.parametrize("solver", ["lp", "qp", "pgs", "jacobi"])
def test_block_on_a_floor_with_two_contacts(solver):
    """Baraff 1989, figure 8: mass m, half width 1, central inertia I: each contact carries half."""
    m, inertia, g = 2.0, 0.7, 9.81
    J = np.array([[0.0, 1.0, -1.0], [1.0, 0.0, 0.5], [0.0, 1.0, 1.0], [1.0, 0.0, 0.5]])
    W = J @ np.diag([1 / m, 1 / m, 1 / inertia]) @ J.T
    problem = ds.FrictionProblem(W, J @ [0.0, -g, 0.0], 0.0, dim=2)
    solution = ds.solve(
        problem, ds.PGS(sweep="jacobi", damp=True) if solver == "jacobi" else solver
    )
    assert solution.ok
    np.testing.assert_allclose(solution.value, [m * g / 2, 0.0, m * g / 2, 0.0], rtol=1e-6)


def test_four_legged_chair():
    """Four legs, three equations: the forces are not unique, the accelerations are."""
    legs = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    J = np.column_stack([np.ones(4), legs])
    problem = ds.LCP(J @ J.T, J @ [-9.81, 0.2, 0.1])
    for solver in ("lp", "qp", ds.QP(form=2), "pgs", "sor"):
        solution = ds.solve(problem, solver, tol=1e-9)
        assert solution.ok
        assert solution.value.sum() == pytest.approx(9.81, rel=1e-7)
        np.testing.assert_allclose(solution.dual, 0.0, atol=1e-7)


FOLDER = next(
    (
        up / "shared" / "problems"
        for up in Path(__file__).resolve().parents
        if (up / "shared" / "problems").is_dir()
    ),
    None,
)


@pytest.mark.problems
@pytest.mark.skipif(FOLDER is None, reason="no third-party problems beside the project")
@pytest.mark.parametrize(
    ("name", "solvers"),
    [
        ("lcp_mmc.dat", ["lp", "qp", ds.QP(form=2), "pgs", "sor", "jacobi"]),
        ("lcp_trivial.dat", ["lp", "qp", "pgs", "sor", "jacobi"]),
        ("lcp_exp_murty.dat", ["lp", "qp", "pgs"]),
        ("lcp_CPS_4.dat", ["lp", "qp"]),
        ("PD_mlcp.dat", ["lp"]),
        ("relay2_mlcp.dat", ["lp"]),
        ("FrictionContactProblem00237.dat", ["pgs", "sor"]),
        ("FrictionContactProblem00374.dat", ["pgs", "jacobi", "qp-signs", "lotstedt"]),
        ("gfc2d_granularflowonwall_00069_00350.dat", ["pgs", "sor", "qp-signs", "lotstedt"]),
        ("LMGC_GlobalFrictionContactProblem00046.hdf5", ["qp-signs", "lotstedt"]),
    ],
)
def test_problems_of_other_peoples_simulations(name, solvers):
    problem = ds.read_problem(FOLDER / name)
    for solver in solvers:
        solution = ds.solve(problem, solver)
        assert solution.ok, solver
        assert max(problem.residuals(solution.value)) <= 1e-8
