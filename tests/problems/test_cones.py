"""Cones: directions, stretching, and maximal dissipation checked by sampling."""

import numpy as np
import pytest

import drystone as ds
from drystone.problems.cones import as_cone


@pytest.mark.parametrize("k", [2, 4, 6, 8, 20])
def test_directions_are_unit_balanced_and_even(k):
    D = ds.PolyhedralCone(k).directions()
    assert D.shape == (1 if k == 2 else 2, k)
    assert np.allclose(np.linalg.norm(D, axis=0), 1.0)
    assert np.array_equal(D[:, : k // 2], -D[:, k // 2 :])  # (2.6): d and -d
    if k > 2:
        angles = np.sort(np.arctan2(D[1], D[0]) % (2 * np.pi))
        assert np.allclose(np.diff(angles), 2 * np.pi / k)


def test_cones_by_their_short_names():
    assert as_cone(None) == as_cone("circular") == ds.CircularCone()
    assert as_cone(np.int64(6)) == ds.PolyhedralCone(6)
    skate = ds.EllipticCone((1, 0.05))
    assert as_cone(skate) is skate


def admissible(cone, rng, count):
    """Tangential parts of impulses with mu r_n = 1, on the boundary of the cone."""
    if isinstance(cone, ds.EllipticCone):
        angle = rng.uniform(0, 2 * np.pi, count)
        inner = np.column_stack([cone.ratios[0] * np.cos(angle), cone.ratios[1] * np.sin(angle)])
        c, s = np.cos(cone.angle), np.sin(cone.angle)
        return inner @ np.array([[c, s], [-s, c]])
    directions = rng.normal(size=(count, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    return directions * [1.0, 1.0, cone.radius]


@pytest.mark.parametrize(
    "cone",
    [
        ds.EllipticCone((1.0, 0.2)),
        ds.EllipticCone((0.5, 2.0), angle=0.7),
        ds.SoftFingerCone(0.02),
        ds.SoftFingerCone(3.0),
    ],
)
def test_slip_solutions_dissipate_most(cone):
    """Among all admissible friction forces the solution's has the least power.

    The solution is built from the samples alone: the best of a fine sampling of the cone's
    boundary. The residual must accept it to sampling accuracy and nothing else.
    """
    rng = np.random.default_rng(1)
    d = cone.block(3)
    forces = admissible(cone, rng, 400_000)
    for _ in range(5):
        velocity = rng.normal(size=d - 1)
        best = forces[np.argmin(forces @ velocity)]
        mu = rng.uniform(0.2, 1.0)
        r = np.concatenate([[1.0 / mu], best])
        u = np.concatenate([[0.0], velocity])
        problem = ds.FrictionProblem(np.eye(d), u - r, mu, cone=cone)
        assert problem.residual(r) < 2e-2
        worse = forces[rng.integers(len(forces))]
        if worse @ velocity > 0.9 * (best @ velocity):
            other = np.concatenate([[1.0 / mu], worse])
            spoiled = ds.FrictionProblem(np.eye(d), u - other, mu, cone=cone)
            assert spoiled.residual(other) > 5 * problem.residual(r)


def test_elliptic_slip_in_closed_form():
    """min f.v over |f / a| <= mu r_n: f = -mu r_n a^2 v / |a v|."""
    a, v, mu = np.array([1.0, 0.05]), np.array([1.0, 1.0]), 0.5
    f = -mu * a**2 * v / np.linalg.norm(a * v)
    r, u = np.array([1.0, *f]), np.array([0.0, *v])
    problem = ds.FrictionProblem(np.eye(3), u - r, mu, cone=ds.EllipticCone(tuple(a)))
    assert max(problem.residuals(r)) < 1e-15
    assert ds.FrictionProblem(np.eye(3), u - r, mu).residual(r) > 1e-2  # not isotropic


def test_soft_finger_sticks_until_the_combined_bound():
    mu, radius = 0.5, 0.1
    cone = ds.SoftFingerCone(radius)

    def residual(r):
        r = np.asarray(r, dtype=float)
        return ds.FrictionProblem(np.eye(4), -r, mu, cone=cone).residual(r)  # u = 0

    assert residual([2.0, 0.6, 0.0, 0.8 * radius]) < 1e-15  # |(0.6, 0.8)| = mu r_n
    assert residual([2.0, 0.6, 0.0, 0.9 * radius]) > 1e-3


def test_stretched_form_translates_back():
    rng = np.random.default_rng(2)
    half = rng.normal(size=(8, 8))
    problem = ds.FrictionProblem(
        half.T @ half, rng.normal(size=8), 0.5, bilateral=2, cone=ds.EllipticCone((2.0, 0.3), 0.4)
    )
    form, r = problem.form, rng.normal(size=8)
    blocks = form.impulses(r)
    assert blocks.shape == (3, 3)
    assert form.mu.tolist() == [0.5, 0.5, -1.0]
    assert np.allclose(form.value(blocks), r)
    # the stretched matrix gives the stretched velocities
    assert np.allclose(form.W.product(blocks, form.q), form.velocities(problem.dual(r)))
    # power is the same in both coordinates
    u = rng.normal(size=8)
    assert np.vdot(form.impulses(r), form.velocities(u)) == pytest.approx(r @ u)


def test_dynamic_friction_on_an_elliptic_cone():
    """A known slip direction gives the force of maximal dissipation, also when anisotropic."""
    a, v, mu = np.array([1.0, 0.2]), np.array([0.6, 0.8]), 0.5
    f = -mu * 2.0 * a**2 * v / np.linalg.norm(a * v)
    r = np.array([2.0, *f])
    problem = ds.FrictionProblem(
        np.eye(3), np.array([-2.0, 3.0, 1.0]), mu, cone=ds.EllipticCone(tuple(a)), slip=v[None]
    )
    assert max(problem.residuals(r)) < 1e-15
