"""Quadratic programs: forms 1 and 2, certificates, and the convex law as a cone program."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import drystone as ds
from drystone.problems.convert import to_lcp
from drystone.problems.residual import project_cone

FORMS = [ds.QP(form=1), ds.QP(form=2)]


def rough_system(seed, nc, mu=0.6, dim=3, **statement):
    rng = np.random.default_rng(seed)
    J = rng.normal(size=(dim * nc, 6 * max(1, nc // 2)))
    q = J @ rng.normal(size=J.shape[1])
    return ds.FrictionProblem(J @ J.T, q, mu, dim=dim, law="convex", **statement)


@pytest.mark.parametrize("solver", FORMS)
def test_the_objective_of_form_1_is_zero_and_of_form_2_is_the_energy(solver):
    M, q = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([-5.0, -6.0])
    solution = ds.solve(ds.LCP(M, q), solver)
    np.testing.assert_allclose(solution.value, [4 / 3, 7 / 3], rtol=1e-13)
    assert solution.residual <= 1e-14  # polished: the library alone stops at 1e-9
    if solver.form == 1:
        assert solution.info["objective"] == pytest.approx(0.0, abs=1e-7)


@settings(deadline=None, max_examples=60, derandomize=True)
@given(st.integers(0, 10**6), st.integers(1, 12))
def test_unsymmetric_semidefinite_matrices_by_form_1(seed, n):
    """M = B B' + skew; solvable because M x + q >= 0 has a point by construction."""
    rng = np.random.default_rng(seed)
    B, S = rng.normal(size=(n, max(1, n // 2))), rng.normal(size=(n, n))
    M = B @ B.T + S - S.T
    z, w = rng.exponential(size=n), rng.exponential(size=n)
    solution = ds.solve(ds.LCP(M, w - M @ z), "qp")
    assert solution.ok
    assert solution.value.min() >= 0
    assert solution.dual.min() >= -1e-9 * np.abs(w - M @ z).max()


def test_form_2_refuses_an_unsymmetric_matrix():
    with pytest.raises(ds.UnsupportedProblemError, match="form=1"):
        ds.solve(ds.LCP([[2.0, 1.0], [0.0, 2.0]], [1.0, 1.0]), ds.QP(form=2))


@pytest.mark.parametrize("solver", FORMS)
def test_nondegenerate_problems_end_at_rounding(solver):
    rng = np.random.default_rng(2)
    for n in (5, 20, 60):
        B = rng.normal(size=(n, n))
        for problem in (
            ds.LCP(B @ B.T, rng.normal(size=n)),
            ds.MixedLCP(B @ B.T, rng.normal(size=n), n // 3),
            ds.BoxedLCP(B @ B.T, rng.normal(size=n), -0.1, 0.2),
        ):
            assert ds.solve(problem, solver).residual <= 1e-11


def test_rows_with_every_kind_of_bound():
    """Known solution: inside, at the lower, at the upper bound, free, fixed, mirrored."""
    rng = np.random.default_rng(0)
    B = rng.normal(size=(6, 6))
    M = B @ B.T + np.eye(6)
    lower = np.array([-1.0, 0.5, -2.0, -np.inf, 0.7, -np.inf])
    upper = np.array([1.0, np.inf, 1.5, np.inf, 0.7, 0.3])
    z = np.array([0.2, 0.5, 1.5, -3.0, 0.7, 0.3])
    w = np.array([0.0, 2.0, -1.0, 0.0, 5.0, -4.0])
    problem = ds.BoxedLCP(M, w - M @ z, lower, upper)
    for solver in FORMS:
        solution = ds.solve(problem, solver)
        assert solution.ok
        np.testing.assert_allclose(solution.value, z, atol=1e-11)


def test_infeasible_problems_come_with_a_certificate():
    """Form 1: y >= 0 with M'y <= 0 and q'y < 0 (Farkas); form 2: an unbounded descent."""
    M, q = np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([-1.0, -1.0])
    first = ds.solve(ds.LCP(M, q), FORMS[0])
    assert first.status is ds.Status.INFEASIBLE
    assert first.info["proves"] == "primal"
    y = first.info["certificate"][:2]
    assert y.min() > 0
    np.testing.assert_array_less(M.T @ y, 1e-7 * y.max())
    assert q @ y < 0
    second = ds.solve(ds.LCP(M, q), FORMS[1])
    assert second.status is ds.Status.INFEASIBLE
    x = second.info["certificate"]
    assert second.info["proves"] == "dual"
    np.testing.assert_allclose(M @ x, 0.0, atol=1e-7 * np.abs(x).max())
    assert q @ x < 0 < x.min()


def test_an_indefinite_matrix_is_named_by_its_eigenvalue():
    for problem in (ds.LCP([[1.0, 3.0], [3.0, 1.0]], [1.0, 1.0]),):
        with pytest.raises(ds.UnsupportedProblemError, match="semidefinite"):
            ds.solve(problem, "qp")
    wedged = ds.FrictionProblem([[1.0, -4.0], [-4.0, 17.0]], [1.0, 0], 2.0, dim=2, slip=[[-1.0]])
    with pytest.raises(ds.UnsupportedProblemError, match="A must be positive semidefinite"):
        ds.solve(wedged, "qp")


@settings(deadline=None, max_examples=60, derandomize=True)
@given(
    st.lists(st.floats(-9, 9), min_size=3, max_size=3),
    st.one_of(st.just(0.0), st.floats(1e-6, 2.0)),
    st.sampled_from([None, 4, 8]),
)
def test_one_contact_with_unit_inertia_is_a_projection(q, mu, cone):
    """min 1/2 |r + q|^2 over the cone: r = P_K(-q), known in closed form.

    A program solved to 1e-8 cannot tell a smaller coefficient from none.
    """
    problem = ds.FrictionProblem(np.eye(3), q, mu, law="convex", cone=cone)
    solution = ds.solve(problem, "qp")
    assert solution.ok
    expected = project_cone(-np.array([q]), np.array([mu]), cone or 0)[0]
    np.testing.assert_allclose(solution.value, expected, atol=1e-7 * max(1.0, *np.abs(q)))


@settings(deadline=None, max_examples=40, derandomize=True)
@given(st.integers(0, 10**6), st.integers(1, 8), st.sampled_from([2, 3]))
def test_convex_law_with_round_cones(seed, nc, dim):
    """r in K, u in K*, r.u = 0, checked from the definition of the two cones."""
    rng = np.random.default_rng(seed)
    mu = rng.uniform(0, 1, nc) * (rng.random(nc) < 0.8)  # some without friction
    problem = rough_system(seed, nc, mu, dim)
    solution = ds.solve(problem, "qp")
    assert solution.ok
    r, u = solution.value.reshape(nc, dim), solution.dual.reshape(nc, dim)
    scale = max(np.abs(r).max(), np.abs(u).max())
    for i in range(nc):
        assert np.linalg.norm(r[i, 1:]) <= mu[i] * r[i, 0] + 1e-7 * scale
        assert mu[i] * np.linalg.norm(u[i, 1:]) <= u[i, 0] + 1e-7 * scale
        assert abs(r[i] @ u[i]) <= 1e-7 * scale**2


def test_polyhedral_cones_approach_the_round_one():
    """The inscribed cone has fewer impulses, so its least energy is higher, and falls with k."""
    energies = []
    for cone in (4, 8, 16, 32, None):
        problem = rough_system(7, 3, 0.8, cone=cone)
        solution = ds.solve(problem, "qp")
        assert solution.ok
        energies.append(0.5 * solution.value @ (solution.dual + problem.q))
    assert all(a >= b - 1e-9 for a, b in pairwise(energies))
    assert energies[-2] - energies[-1] < 0.01 * abs(energies[-1])


@settings(deadline=None, max_examples=40, derandomize=True)
@given(st.integers(0, 10**6), st.integers(1, 6), st.sampled_from([2, 4, 6, 16]))
def test_polyhedral_cones_in_both_forms(seed, nc, k):
    """The LCP of the relaxation and the program in the forces alone have the same velocities."""
    rng = np.random.default_rng(seed)
    dim = 2 if k == 2 else 3
    J = rng.normal(size=(dim * nc + 1, 3 * nc + 2))
    mu = rng.uniform(0, 1, nc) * (rng.random(nc) < 0.8)
    q = J @ rng.normal(size=3 * nc + 2)
    problem = ds.FrictionProblem(J @ J.T, q, mu, dim=dim, law="convex", cone=k, bilateral=1)
    first, second = (ds.solve(problem, solver) for solver in FORMS)
    assert first.ok
    assert second.ok
    np.testing.assert_allclose(first.dual, second.dual, atol=1e-9 * np.abs(q).max())


def test_the_polyhedral_convex_law_is_an_lcp_that_lemke_solves_too():
    problem = rough_system(11, 3, 0.5, cone=4)
    pyramid = to_lcp(problem)
    pivoted = ds.solve(pyramid.lcp, "lemke")
    assert pivoted.ok
    solution = ds.solve(problem, "qp")
    u = problem.dual(pyramid.value(pivoted.value))
    np.testing.assert_allclose(solution.dual, u, atol=1e-8 * np.abs(u).max())


def test_joints_anisotropy_and_soft_fingers():
    rng = np.random.default_rng(4)
    J = rng.normal(size=(3 * 2 + 2, 9))
    jointed = ds.FrictionProblem(J @ J.T, J @ rng.normal(size=9), 0.4, bilateral=2, law="convex")
    solution = ds.solve(jointed, "qp")
    assert solution.ok
    np.testing.assert_allclose(solution.dual[-2:], 0.0, atol=1e-10)
    skate = rough_system(5, 3, 0.5, cone=ds.EllipticCone((1.0, 0.2), 0.3))
    assert ds.solve(skate, "qp").residual <= 1e-11
    J = rng.normal(size=(8, 9))
    q = J @ rng.normal(size=9)
    finger = ds.FrictionProblem(J @ J.T, q, 0.5, law="convex", cone=ds.SoftFingerCone(0.3))
    assert ds.solve(finger, "qp").ok


def test_frictionless_problems_of_any_law():
    """Normals alone; a sliding contact folds its friction in (form 1, A unsymmetric)."""
    rng = np.random.default_rng(3)
    J = rng.normal(size=(9, 12))
    W, q = J @ J.T, J @ rng.normal(size=12)
    smooth = ds.FrictionProblem(W, q, 0.0)
    expected = ds.solve(ds.LCP(W[::3, ::3], q[::3]), ds.QP(form=2)).value
    np.testing.assert_allclose(ds.solve(smooth, "qp").value[::3], expected, atol=1e-10)
    slip = rng.normal(size=(3, 2))
    sliding = ds.FrictionProblem(W, q, 0.05, slip=slip)
    assert ds.solve(sliding, "qp").ok
    with pytest.raises(ds.UnsupportedProblemError, match="form 2 needs a symmetric A"):
        ds.solve(sliding, ds.QP(form=2))


def test_refusals_and_options():
    with pytest.raises(ds.UnsupportedProblemError, match="not convex"):
        ds.solve(ds.FrictionProblem(np.eye(3), np.ones(3), 0.5), "qp")
    mixed = {"law": "convex", "slip": [[1.0, 0.0], [0.0, 0.0]]}
    with pytest.raises(ds.UnsupportedProblemError, match="polyhedral"):
        ds.solve(ds.FrictionProblem(np.eye(6), np.ones(6), 0.5, **mixed), "qp")
    pyramids = ds.FrictionProblem(np.eye(6), -np.ones(6), 0.5, cone=4, **mixed)
    assert ds.solve(pyramids, "qp").ok
    with pytest.raises(ds.UnsupportedProblemError, match="form 1"):
        ds.solve(pyramids, ds.QP(form=2))
    with pytest.raises(ds.OptionError, match="form = 3"):
        ds.QP(form=3)


def test_an_index_set_is_reused():
    rng = np.random.default_rng(9)
    B = rng.normal(size=(12, 8))
    M, q = B @ B.T, B @ rng.normal(size=8)
    first = ds.solve(ds.LCP(M, q), "qp")
    later = ds.solve(ds.LCP(M, 1.001 * q), "qp", guess=first)
    assert later.ok
    assert later.iterations == 0
    assert later.info["reused"]


def test_nothing_and_all_fixed():
    assert ds.solve(ds.LCP(np.zeros((0, 0)), []), "qp").ok
    fixed = ds.solve(ds.BoxedLCP(np.eye(2), [1.0, -1.0], [2.0, 3.0], [2.0, 3.0]), "qp")
    np.testing.assert_allclose(fixed.value, [2.0, 3.0])
    assert fixed.ok


def test_time_limit():
    problem = rough_system(1, 40, 0.5, cone=8)
    assert ds.solve(problem, "qp", time_limit=1e-6).status is not ds.Status.SOLVED


@pytest.mark.parametrize("form", [1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_answers_at_the_edge_of_their_bounds_are_exact(form, seed):
    """Rows that depend on each other, all at rest, and only few forces within the bounds: those of
    the rows in the plane z = 0. The nearest of all forces at rest lies outside."""
    rng = np.random.default_rng(seed)
    J = rng.normal(size=(28, 12))
    J[:, -1] = np.where(np.arange(28) < 16, 0.0, np.abs(J[:, -1]) + 0.1)
    f = np.where(np.arange(28) < 10, rng.uniform(1.0, 2.0, 28), 0.0)
    M = J @ J.T
    found = ds.solve(ds.LCP(M, -M @ f), ds.QP(form=form, tol=1e-9))
    assert found.ok
    assert found.residual < 1e-12
    assert found.value.min() >= 0.0
    assert np.abs(found.value[16:]).max() < 1e-9
    assert np.abs(M @ (found.value - f)).max() < 1e-10 * np.abs(M @ f).max()
