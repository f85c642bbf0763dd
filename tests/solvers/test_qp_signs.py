"""Quadratic programs of guessed signs: exact in the plane, square cones in space."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import drystone as ds
from drystone.problems import classic
from drystone.problems.convert import fold
from drystone.solvers.qp_signs import Signed


def pile(seed, nc, mu=0.5):
    """Planar bodies, one for two contacts, touching each other or the ground at random places."""
    rng = np.random.default_rng(seed)
    bodies = max(1, nc // 2)
    J = np.zeros((2 * nc, 3 * bodies))
    for i in range(nc):
        a, b = rng.choice(bodies + 1, size=2, replace=False) - 1
        angle = np.pi / 2 + 0.4 * rng.normal()
        n = np.array([np.cos(angle), np.sin(angle)])
        for k, v in enumerate((n, np.array([n[1], -n[0]]))):
            for body, sign in ((a, 1.0), (b, -1.0)):
                arm = 0.5 * rng.normal(size=2)
                if body >= 0:
                    twist = arm[0] * v[1] - arm[1] * v[0]
                    J[2 * i + k, 3 * body : 3 * body + 3] = sign * np.array([*v, twist])
    return ds.FrictionProblem(J @ J.T, J @ np.tile([0.5, -9.81, 0.0], bodies), mu, dim=2)


@settings(deadline=None, max_examples=40, derandomize=True)
@given(st.integers(0, 10**6), st.integers(1, 8), st.sampled_from([0.2, 0.5, 1.0]))
def test_planar_static_friction(seed, nc, mu):
    """Every line of (14-2), from its definition."""
    problem = pile(seed, nc, mu)
    solution = ds.solve(problem, "qp-signs")
    if not solution.ok:  # no convergence is promised; it must be told
        assert solution.status is ds.Status.STALLED
        return
    f, a = solution.value.reshape(nc, 2).T, solution.dual.reshape(nc, 2).T
    tol = 1e-7 * max(np.abs(f).max(), np.abs(a).max())
    assert f[0].min() >= -tol
    assert a[0].min() >= -tol
    assert np.minimum(f[0], a[0]).max() <= tol
    assert (np.abs(f[1]) - mu * f[0]).max() <= tol
    assert np.minimum(np.abs(a[1]), mu * f[0] - np.abs(f[1])).max() <= tol
    assert (f[1] * a[1]).max() <= tol * max(1.0, np.abs(f).max())


@pytest.mark.parametrize(("nc", "count"), [(8, 12), (16, 8), (40, 3)])
def test_it_works_up_to_forty_contacts(nc, count):
    """The thesis reports success to about n = 40: all of a fixed set here."""
    for seed in range(count):
        solution = ds.solve(pile(100 + seed, nc), "qp-signs")
        assert solution.ok, seed


def test_the_objective_is_14_19():
    """x'w of the transformed problem against the sum written out, at arbitrary forces."""
    problem = pile(3, 4)
    rng = np.random.default_rng(0)
    sigma = np.array([1.0, -1.0, -1.0, 1.0])
    signed = Signed.of(fold(problem), sigma)
    f = rng.normal(size=8)
    a = problem.dense @ f + problem.q
    x = signed.unknowns(f)
    np.testing.assert_allclose(signed.forces(x), f)
    fn, ft, an, at = f[::2], f[1::2], a[::2], a[1::2]
    total = (fn * an + (0.5 * fn - ft * sigma) * (-at * sigma)).sum()
    assert x @ signed.lcp.dual(x) == pytest.approx(total)


def test_an_opening_contact_that_accelerates_sideways():
    """sgn(0) = +1 (14-13) would ask a_x <= 0 of a contact without force; the guess must not."""
    for push in (3.0, -3.0):
        problem = ds.FrictionProblem(np.eye(4), [1.0, push, -9.81, push / 3], 0.5, dim=2)
        solution = ds.solve(problem, "qp-signs")
        assert solution.ok
        np.testing.assert_allclose(solution.value, [0.0, 0.0, 9.81, -push / 3], atol=1e-9)


def test_wrong_signs_are_flipped():
    """One sweep cannot know the signs of a long chain; the retries find them."""
    problem = pile(5, 12)
    patient = ds.solve(problem, ds.QPSigns(sweeps=400))
    hasty = ds.solve(problem, ds.QPSigns(sweeps=1, attempts=20))
    assert patient.ok
    assert hasty.ok
    assert hasty.info["attempts"] > patient.info["attempts"]


def test_in_space_sticking_is_exact_and_slipping_has_a_square_cone():
    stick = ds.FrictionProblem(np.eye(3), [-10.0, 2.0, -3.0], 0.5, law="static")
    solution = ds.solve(stick, "qp-signs")
    assert solution.ok
    np.testing.assert_allclose(solution.value, [10.0, -2.0, 3.0], rtol=1e-9)
    slip = ds.FrictionProblem(np.eye(3), [-10.0, 20.0, -30.0], 0.5, law="static")
    square = ds.solve(slip, "qp-signs")
    assert square.status is ds.Status.APPROXIMATE
    np.testing.assert_allclose(square.value, [10.0, -5.0, 5.0], rtol=1e-8)


def test_a_body_on_three_feet_in_space():
    """A plate on an incline, mu above tan(theta): rest, so that A f = -b exactly (14-1)."""
    feet = np.array([[1.0, 0.0], [-0.5, 0.8], [-0.5, -0.8]])
    height, tilt = 0.3, 0.4
    J = []
    for x, y in feet:
        arm = np.array([x, y, -height])
        for v in (np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])):
            J.append([*v, *np.cross(arm, v)])
    J = np.array(J)
    pull = 9.81 * np.array([np.sin(tilt), 0.0, -np.cos(tilt), 0.0, 0.0, 0.0])
    problem = ds.FrictionProblem(J @ J.T, J @ pull, 0.8, law="static")
    for solver in ("qp-signs", "pgs"):
        solution = ds.solve(problem, solver)
        assert solution.ok
        np.testing.assert_allclose(solution.dual, 0.0, atol=1e-6)
        np.testing.assert_allclose(J.T @ solution.value, -pull, atol=1e-6)


def test_sliding_contacts_and_joints_go_along():
    rng = np.random.default_rng(2)
    J = rng.normal(size=(2 * 3 + 1, 8))
    problem = ds.FrictionProblem(
        J @ J.T,
        J @ rng.normal(size=8),
        [0.2, 0.4, 0.3],
        dim=2,
        bilateral=1,
        slip=[[1.0], [0.0], [0.0]],
    )
    solution = ds.solve(problem, "qp-signs")
    assert solution.ok
    assert abs(solution.dual[-1]) < 1e-9
    assert solution.value[1] == pytest.approx(-0.2 * solution.value[0])


def test_rays_and_kinematic_contradictions():
    assert ds.solve(classic.inconsistent_rod(), "qp-signs").status is ds.Status.RAY
    wall = ds.FrictionProblem(np.zeros((2, 2)), [-1.0, 0.0], 0.5, dim=2)
    assert ds.solve(wall, "qp-signs").status is ds.Status.INFEASIBLE


def test_refusals_options_and_limits():
    with pytest.raises(ds.UnsupportedProblemError, match="friction problems, not lcp"):
        ds.solve(ds.LCP(np.eye(2), [1.0, 1.0]), "qp-signs")
    with pytest.raises(ds.UnsupportedProblemError, match="circular"):
        ds.solve(ds.FrictionProblem(np.eye(3), np.ones(3), 0.5, cone=4), "qp-signs")
    with pytest.raises(ds.UnsupportedProblemError, match="tens of contacts"):
        ds.solve(ds.FrictionProblem(np.eye(900), -np.ones(900), 0.5), "qp-signs")
    with pytest.raises(ds.OptionError, match="attempts"):
        ds.QPSigns(attempts=0)
    with pytest.raises(ds.OptionError, match="sweeps"):
        ds.QPSigns(sweeps=0)
    solution = ds.solve(pile(0, 30), "qp-signs", time_limit=1e-6)
    assert solution.status is ds.Status.TIME_LIMIT


@pytest.mark.parametrize("scale", [0.0, 1e-100, 1.0])
@pytest.mark.parametrize("bilateral", [0, 2])
def test_velocities_of_any_size_and_none(scale, bilateral):
    """Bodies that fall freely have q = 0, and no forces; others solve to scale."""
    problem = pile(3, 2)
    W = np.asarray(problem.W.toarray() if hasattr(problem.W, "toarray") else problem.W)
    if bilateral:
        W = np.kron(np.eye(2), W)[: 4 + bilateral, : 4 + bilateral]
    q = np.concatenate([np.asarray(problem.q), np.zeros(bilateral)])
    stated = ds.FrictionProblem(W, scale * q, 0.5, dim=2, bilateral=bilateral)
    solution = ds.solve(stated, "qp-signs")
    assert solution.ok
    forces = solution.value / (scale or 1.0)
    wanted = ds.solve(ds.FrictionProblem(W, q, 0.5, dim=2, bilateral=bilateral), "qp-signs").value
    assert forces == pytest.approx(wanted if scale else 0.0 * wanted, rel=1e-6, abs=1e-9)
