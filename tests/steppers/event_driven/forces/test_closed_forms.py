"""Forces of one instant against closed forms."""

from dataclasses import replace

import numpy as np
import pytest

from drystone.steppers.event_driven.forces import ContactForces, ContactState, Kind, solutions
from drystone.types import Status
from tests.steppers.event_driven.instants import particle_on_incline, planar_rows, rod

G = 9.81
FRICTION = ("dantzig", "lemke", "qp-signs", "jacobi", "lotstedt")


@pytest.mark.parametrize("method", FRICTION)
@pytest.mark.parametrize("angle", [0.1, 0.4, 0.6])
def test_particle_at_rest_on_an_incline(method, angle):
    """It stays while tan(angle) <= mu; else friction is mu m g cos and it begins to slide."""
    mu, mass = 0.5, 2.0
    result = ContactForces(method).solve(particle_on_incline(angle, mu, mass=mass))
    normal, pull = mass * G * np.cos(angle), mass * G * np.sin(angle)
    friction = min(pull, mu * normal)
    assert result.ok
    np.testing.assert_allclose(result.f, [[normal, -friction]], rtol=1e-7)
    np.testing.assert_allclose(result.acceleration[0, 0], (pull - friction) / mass, atol=1e-6)
    assert result.states == (Kind.STICKING if np.tan(angle) <= mu else Kind.YIELDING,)


@pytest.mark.parametrize("method", ["dantzig", "lemke", "lp", "qp", "jacobi", "ramp"])
@pytest.mark.parametrize("speed", [-2.0, 3.0])
def test_sliding_particle_takes_the_dynamic_coefficient(method, speed):
    angle, coefficients = 0.4, (0.9, 0.5)
    state = particle_on_incline(angle, coefficients, speed=speed)
    result = ContactForces(method).solve(state)
    a = G * (np.sin(angle) - np.sign(speed) * 0.5 * np.cos(angle))
    assert result.ok
    assert result.states == (Kind.SLIDING,)
    np.testing.assert_allclose(result.acceleration[0], [a, 0.0, 0.0], atol=1e-7)


def test_static_coefficient_holds_what_the_dynamic_one_would_not():
    state = particle_on_incline(0.6, (0.9, 0.3))
    np.testing.assert_allclose(ContactForces().solve(state).acceleration, 0.0, atol=1e-12)


def test_the_caller_may_decide_who_slides():
    """Inside a step of an integrator: a slip of 1e-12 m/s, but the contact is in its slip phase."""
    state = particle_on_incline(0.1, 0.5, speed=1e-12)
    assert ContactForces().solve(state).states == (Kind.STICKING,)
    result = ContactForces().solve(replace(state, slip=[[1.0]]))
    assert result.states == (Kind.SLIDING,)
    a = G * (np.sin(0.1) - 0.5 * np.cos(0.1))
    np.testing.assert_allclose(result.acceleration[0, 0], a, rtol=1e-12)


def ladder(angle, mu, *, length=4.0, mass=10.0):
    """A uniform ladder at rest between floor and smooth wall on its left (x = 0)."""
    c, s = 0.5 * length * np.cos(angle), 0.5 * length * np.sin(angle)
    J = np.zeros((2, 2, 2, 3))
    J[0, :, 0] = planar_rows((c, -s), (0.0, 1.0))  # foot on the floor
    J[1, :, 0] = planar_rows((-c, s), (1.0, 0.0))  # top at the wall
    return ContactState(
        body=[[0, -1], [0, -1]], J=J, u=np.zeros((2, 2)), mu=[mu, 0.0], inverse_mass=[1 / mass],
        inverse_inertia=[12 / (mass * length**2)], acceleration=[[0.0, -G, 0.0]],
    )  # fmt: skip


@pytest.mark.parametrize("method", ["dantzig", "lemke", "qp-signs"])
def test_ladder_stands_while_friction_holds_half_the_cotangent(method):
    angle, mass = 1.0, 10.0
    need = 0.5 / np.tan(angle)
    result = ContactForces(method).solve(ladder(angle, need + 1e-6))
    np.testing.assert_allclose(result.acceleration, 0.0, atol=1e-9)
    expected = [[mass * G, -mass * G * need], [mass * G * need, 0.0]]
    np.testing.assert_allclose(result.f, expected, rtol=1e-9, atol=1e-9)
    slips = ContactForces(method).solve(ladder(angle, need - 1e-3))
    assert slips.states[0] == Kind.YIELDING
    assert slips.acceleration[0, 0] > 0.0


@pytest.mark.parametrize("method", ["dantzig", "lemke", "lp", "qp", "jacobi"])
def test_smooth_ladder_starts_to_fall(method):
    """Without friction the ladder turns with 3 g cos(angle) / (2 length) from rest."""
    angle, length = 1.0, 4.0
    result = ContactForces(method).solve(ladder(angle, 0.0, length=length))
    assert result.ok
    np.testing.assert_allclose(
        result.acceleration[0, 2], 1.5 * G * np.cos(angle) / length, rtol=1e-8
    )


def test_pendulum_as_a_joint():
    """A bob on a massless rod, as a particle on a circle: tension m (g cos + v^2 / l)."""
    angle, length, speed, mass = 0.7, 1.5, 2.0, 3.0
    inward = np.array([-np.sin(angle), np.cos(angle)])
    state = ContactState(
        body=np.zeros((0, 2), int), J=np.zeros((0, 2, 2, 3)), u=np.zeros((0, 2)), mu=[],
        inverse_mass=[1 / mass], inverse_inertia=[0.0], acceleration=[[0.0, -G, 0.0]],
        joint_body=[[0, -1]], joint_J=[[[*inward, 0.0], [0.0, 0.0, 0.0]]],
        joint_bias=[-(speed**2) / length],
    )  # fmt: skip
    result = ContactForces().solve(state)
    tension = mass * (G * np.cos(angle) + speed**2 / length)
    np.testing.assert_allclose(result.joint, [tension], rtol=1e-12)
    along = np.array([np.cos(angle), np.sin(angle)])
    np.testing.assert_allclose(result.acceleration[0, :2] @ along, -G * np.sin(angle), rtol=1e-12)


def test_four_legs_carry_the_chair_in_space():
    legs = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    J = np.zeros((4, 3, 2, 6))
    for i, (x, y) in enumerate(legs):
        axes = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
        J[i, :, 0] = np.hstack([axes, np.cross([x, y, -1.0], axes)])
    state = ContactState(
        body=[[0, -1]] * 4, J=J, u=np.zeros((4, 3)), mu=0.4, inverse_mass=[0.5],
        inverse_inertia=np.eye(3)[None], acceleration=[[1.0, 0.5, -G, 0.0, 0.0, 0.0]],
    )  # fmt: skip
    for method in ("dantzig", "jacobi", "lemke"):
        # sweeps end at a residual: contacts at the edge of their cones may creep by that much
        result = ContactForces(method, tol=1e-12).solve(state)
        assert result.ok
        np.testing.assert_allclose(result.acceleration, 0.0, atol=1e-7)
        np.testing.assert_allclose(result.f[:, 0].sum(), 2 * G, rtol=1e-7)
        total = np.einsum("cdk,cd->k", state.J[:, :, 0, :3], result.f)
        np.testing.assert_allclose(total, [-2.0, -1.0, 2 * G], atol=1e-6)


TAN_2 = np.arctan(2.0)  # the angle at which a uniform rod jams most easily, at mu = 4/3


@pytest.mark.parametrize("method", ["dantzig", "lemke", "jacobi"])
def test_painleve_rod_jams_from_friction_four_thirds_on(method):
    """A uniform rod (I = m l^2 / 3) without spin: forces below mu = 4/3, none above (Painleve)."""
    below = rod(4 / 3 - 1e-6, angle=TAN_2, inertia=1 / 3)
    result = ContactForces(method).solve(below)
    assert result.ok
    assert result.f[0, 0] > 1e4  # the force grows without bound as the threshold is reached
    above = rod(4 / 3 + 1e-6, angle=TAN_2, inertia=1 / 3)
    jammed = ContactForces(method).solve(above)
    assert jammed.status is Status.RAY
    assert jammed.ray[0, 0] > 0.0
    np.testing.assert_allclose(jammed.ray[0, 1], above.mu[0, 1] * jammed.ray[0, 0])
    assert solutions(above)[0].kind == "impulse"
    # dragged the other way friction pushes the rod apart: always consistent
    assert ContactForces(method).solve(rod(2.0, angle=TAN_2, inertia=1 / 3, slip=1.0)).ok


@pytest.mark.parametrize("angle", np.linspace(0.2, 1.4, 7))
def test_painleve_threshold_at_any_angle(angle):
    """1 + (cos^2 - mu cos sin) / k^2 changes its sign at mu = (k^2 + cos^2) / (cos sin)."""
    k2 = 1 / 3
    mu = (k2 + np.cos(angle) ** 2) / (np.cos(angle) * np.sin(angle))
    assert ContactForces().solve(rod(0.999 * mu, angle=angle, inertia=k2)).ok
    assert ContactForces().solve(rod(1.001 * mu, angle=angle, inertia=k2)).status is Status.RAY


@pytest.mark.parametrize("method", ["dantzig", "lemke", "qp-signs"])
@pytest.mark.parametrize(("torque", "spin"), [(0.5, 0.0), (3.0, 0.0), (0.5, 4.0), (0.5, -4.0)])
def test_friction_in_a_joint_is_a_contact_under_a_given_load(method, torque, spin):
    """A row without bodies but with compliance states the load; friction of 2 N m resists."""
    load, inertia = 2.0, 0.8
    J = np.zeros((1, 2, 2, 3))
    J[0, 1, 0, 2] = 1.0
    wheel = ContactState(
        body=[[0, -1]], J=J, u=[[0.0, spin]], mu=1.0, inverse_mass=[1.0],
        inverse_inertia=[1 / inertia], acceleration=[[0.0, 0.0, torque / inertia]],
        bias=[[-load, 0.0]], soft=[[1.0, 0.0]],
    )  # fmt: skip
    result = ContactForces(method).solve(wheel)
    resist = -np.sign(spin) * load if spin else -np.clip(torque, -load, load)
    np.testing.assert_allclose(result.f, [[load, resist]], rtol=1e-9)
    np.testing.assert_allclose(result.acceleration[0, 2], (torque + resist) / inertia, atol=1e-9)
    np.testing.assert_allclose(result.contact_acceleration[0, 0], 0.0, atol=1e-9)


def test_onset_of_slip_goes_on_with_the_dynamic_coefficient():
    """mu_s = 0.6 gives way at 0.6 rad; from then on mu_d = 0.4 acts, in the direction of onset."""
    state = particle_on_incline(0.6, (0.6, 0.4))
    result = ContactForces().solve(state)
    assert result.states == (Kind.YIELDING,)
    np.testing.assert_allclose(result.onset, [[1.0]])
    sliding = ContactForces().solve(replace(state, slip=result.onset))
    a = G * (np.sin(0.6) - 0.4 * np.cos(0.6))
    np.testing.assert_allclose(sliding.acceleration[0, 0], a, rtol=1e-12)
    assert not ContactForces().solve(particle_on_incline(0.1, 0.5)).onset.any()
