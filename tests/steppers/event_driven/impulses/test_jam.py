"""Impulses without collision (Baraff 1992, 13.1): the tip of the inconsistent rod stops at once."""

from dataclasses import replace

import numpy as np
import pytest

import drystone as ds
from drystone.problems import classic
from drystone.steppers.event_driven.forces import ContactForces, ContactState, Kind
from drystone.steppers.event_driven.impulses import (
    CollisionLaw,
    impulse_without_collision,
    resolve_jam,
)
from drystone.types import Status
from tests.steppers.event_driven.instants import dense_rows, random_state, rod

THETA, MU = np.radians(72.0), classic.MU


def jammed(mu=MU, slip=-1.0, restitution=0.0):
    return rod(mu, angle=THETA, inertia=1 / 16, slip=slip, restitution=restitution)


def by_hand(mu, slip, mass=1.0, inertia=1 / 16):
    """The impulse p at which slip stops, f_t = mu f_n: u_t' = mu (1/m + s^2/I) - c s / I."""
    c, s = np.cos(THETA), np.sin(THETA)
    rate = mu * (1 / mass + s**2 / inertia) - c * s / inertia
    p = -slip / rate
    return p, p * (1 / mass + (c**2 - mu * c * s) / inertia)


@pytest.mark.parametrize("slip", [-0.3, -1.0, -4.0])
def test_the_ray_is_scaled_until_the_tip_stops(slip):
    state = jammed(slip=slip)
    forces = ContactForces().solve(state)
    assert forces.status is Status.RAY
    hit, stopped = impulse_without_collision(state, forces.ray, forces.joint_ray)
    p, speed = by_hand(MU, slip)
    assert stopped == 0
    np.testing.assert_allclose(hit.impulse, [[p, MU * p]], rtol=1e-9)
    np.testing.assert_allclose(hit.u, [[speed, 0.0]], atol=1e-12)
    assert hit.u[0, 0] < 0.0  # 13.1: where the impulse acts, bodies do not separate
    assert hit.energy < 0.0


@pytest.mark.parametrize("method", ["dantzig", "lemke", "jacobi"])
def test_afterwards_forces_exist(method):
    state = jammed()
    hit = resolve_jam(state, ContactForces(method).solve(state).ray)
    np.testing.assert_allclose(hit.u, 0.0, atol=1e-12)
    calm = replace(state, u=hit.u)
    result = ContactForces(method).solve(calm)
    assert result.ok
    assert result.states == (Kind.STICKING,)


@pytest.mark.parametrize("restitution", [0.0, 0.3, 0.8])
@pytest.mark.parametrize("slip", [-0.5, -2.0])
def test_scaling_and_the_exact_impact_agree(restitution, slip):
    """Slip to rest along the ray, then a sticking collision: the path of the exact impact."""
    state = jammed(slip=slip, restitution=restitution)
    ray = ContactForces().solve(state).ray
    exact = resolve_jam(state, ray, law=CollisionLaw(law="routh", restitution="poisson"))
    scaled = resolve_jam(state, ray, law=CollisionLaw(law="newton"))
    if restitution == 0.0:
        np.testing.assert_allclose(scaled.impulse, exact.impulse, rtol=1e-9)
        np.testing.assert_allclose(scaled.velocity_change, exact.velocity_change, rtol=1e-9)
        np.testing.assert_allclose(scaled.energy, exact.energy, rtol=1e-9)
    assert exact.u[0, 0] >= -1e-12
    assert scaled.u[0, 0] >= -1e-12
    assert "jams" in exact.log[0]
    assert "jams" in scaled.log[0]


def test_a_jam_in_space_is_that_of_the_plane_it_lies_in():
    flat = jammed()
    J = np.zeros((1, 3, 2, 6))
    # x, y of the plane become x, z of space; the rod turns about -y
    J[0, :2, 0, [0, 2]] = flat.J[0, :, 0, :2].T
    J[0, :2, 0, 4] = -flat.J[0, :, 0, 2]
    arm = np.array([-np.cos(THETA), 0.0, -np.sin(THETA)])
    J[0, 2, 0] = np.concatenate([[0.0, 1.0, 0.0], np.cross(arm, [0.0, 1.0, 0.0])])
    state = ContactState(
        body=[[0, -1]], J=J, u=[[0.0, -1.0, 0.0]], mu=MU, inverse_mass=[1.0],
        inverse_inertia=np.diag([16.0, 16.0, 16.0])[None],
        acceleration=[[0.0, 0.0, -9.81, 0.0, 0.0, 0.0]],
    )  # fmt: skip
    forces = ContactForces().solve(state)
    assert forces.status is Status.RAY
    planar = resolve_jam(flat, ContactForces().solve(flat).ray)
    for law in (CollisionLaw(law="keller"), CollisionLaw(law="newton")):
        hit = resolve_jam(state, forces.ray, law=law)
        np.testing.assert_allclose(hit.impulse[0, :2], planar.impulse[0], rtol=1e-7)
        np.testing.assert_allclose(hit.impulse[0, 2], 0.0, atol=1e-9)


def test_a_direction_that_stops_nothing_is_refused():
    state = jammed()
    with pytest.raises(ds.SimulationError, match="stops no sliding contact"):
        impulse_without_collision(state, np.array([[1.0, -1.0]]))
    calm, law = jammed(mu=0.1), CollisionLaw(law="routh")
    with pytest.raises(ds.SimulationError, match="routh finds no jam"):
        resolve_jam(calm, np.array([[1.0, 0.1]]), law=law)


def sliding_everywhere(seed):
    """A random planar instant whose bodies move along all of their contacts, much friction."""
    state = random_state(seed, bodies=2, contacts=3, joints=seed % 2, mu=2.0, lean=0.6)
    rows, ties, _ = dense_rows(state)
    held = np.vstack([rows[::2], ties])
    v = np.random.default_rng(seed).normal(size=rows.shape[1])
    v -= np.linalg.lstsq(held, held @ v, rcond=None)[0]
    return replace(state, u=(rows @ v).reshape(3, 2))


@pytest.mark.parametrize("method", ["dantzig", "lemke"])
def test_every_ray_is_a_valid_impulse(method):
    """Theorem 5 of Baraff 1992: z >= 0, z_i > 0 => (A z)_i <= 0, and some sliding contact takes
    part."""
    jams = 0
    for seed in range(250):
        state = sliding_everywhere(seed)
        forces = ContactForces(method, explain="never").solve(state)
        assert forces.ok or forces.status is Status.RAY
        if forces.status is not Status.RAY:
            continue
        jams += 1
        rows, ties, inverse = dense_rows(state)
        change = inverse @ (rows.T @ forces.ray.ravel() + ties.T @ forces.joint_ray)
        growth, z = (rows @ change).reshape(3, 2)[:, 0], forces.ray[:, 0]
        slack = 1e-9 * np.abs(rows @ change).max()
        assert (z >= 0).all()
        assert (growth[z > 1e-12 * z.max()] <= slack).all()
        assert (z[np.abs(state.u[:, 1]) > 1e-8] > 0).any()
        np.testing.assert_allclose(ties @ change, 0.0, atol=max(slack, 1e-12))
        first, stopped = impulse_without_collision(state, forces.ray, forces.joint_ray)
        assert abs(state.u[stopped, 1]) > 1e-8
        assert (first.u[z > 1e-12 * z.max(), 0] <= 1e-9).all()
        hit = resolve_jam(state, forces.ray, forces.joint_ray)
        assert hit.status is Status.SOLVED
        assert hit.energy < 1e-12
        assert hit.u[:, 0].min() >= -1e-7
    assert jams >= 10
