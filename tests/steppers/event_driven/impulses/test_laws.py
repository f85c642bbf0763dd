"""Collisions against closed forms: balls, cradles, stacks, joints."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import drystone as ds
from drystone.steppers.event_driven.forces import ContactState
from drystone.steppers.event_driven.impulses import CollisionLaw, collide
from drystone.types import Status
from tests.steppers.event_driven.instants import (
    dense_rows,
    planar_rows,
    random_state,
    row_of_balls,
)

FEW = settings(deadline=None, max_examples=50, derandomize=True)


def after(state, velocities, **options):
    hit = collide(state, **options)
    assert hit.status is Status.SOLVED
    return np.asarray(velocities) + hit.velocity_change[:, 0]


@pytest.mark.parametrize("order", ["simultaneous", "propagation"])
@pytest.mark.parametrize("eps", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("masses", [(1.0, 1.0), (1.0, 3.0), (5.0, 2.0)])
def test_two_balls(order, eps, masses):
    """Momentum is kept and the relative velocity becomes -eps of itself."""
    m, n = masses
    v = after(row_of_balls(masses, [2.0, -1.0], eps), [2.0, -1.0], order=order)
    centre = (2.0 * m - n) / (m + n)
    expected = [centre - eps * 3.0 * n / (m + n), centre + eps * 3.0 * m / (m + n)]
    np.testing.assert_allclose(v, expected, rtol=1e-12)


def test_three_balls_hit_by_one():
    """Simultaneously -1/3, 2/3, 2/3; one after the other 0, 0, 1."""
    state = row_of_balls([1.0] * 3, [1.0, 0.0, 0.0], 1.0)
    v = after(state, [1, 0, 0], order="simultaneous")
    np.testing.assert_allclose(v, [-1 / 3, 2 / 3, 2 / 3], rtol=1e-12)
    v = after(state, [1, 0, 0], order="propagation")
    np.testing.assert_allclose(v, [0.0, 0.0, 1.0], atol=1e-12)


@pytest.mark.parametrize("struck", [1, 2, 3])
def test_newtons_cradle(struck):
    """As many balls leave as arrive, one impact at a time."""
    v = np.zeros(5)
    v[:struck] = 1.0
    out = after(row_of_balls([1.0] * 5, v, 1.0), v, order="propagation")
    np.testing.assert_allclose(out, v[::-1], atol=1e-12)


@pytest.mark.parametrize("options", [{}, {"order": "propagation"}, {"law": "routh"}])
@pytest.mark.parametrize("slip", [3.0, -3.0])
def test_friction_of_an_impact_is_the_dynamic_coefficient(options, slip):
    """A block strikes the floor and slides on: it loses mu (1 + eps) v_n, mu the smaller one."""
    J = np.zeros((1, 2, 2, 3))
    J[0, :, 0] = [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
    state = ContactState(
        body=[[0, -1]], J=J, u=[[-2.0, slip]], mu=[[0.9, 0.3]], restitution=0.5,
        inverse_mass=[0.5], inverse_inertia=[1.0],
    )  # fmt: skip
    hit = collide(state, **options)
    loss = 0.3 * 1.5 * 2.0
    np.testing.assert_allclose(hit.velocity_change[0, :2], [-np.sign(slip) * loss, 3.0], rtol=1e-9)


def test_heavy_ball_on_a_light_one():
    """Baraff 1989, figure 12: 9:1 stack falls on the floor, plastic: at once, or by 0.9 a round."""
    J = np.zeros((2, 2, 2, 3))
    J[0, :, 0] = [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]  # light ball on the floor
    J[1, :, 0], J[1, :, 1] = J[0, :, 0], -J[0, :, 0]  # heavy ball on the light one
    state = ContactState(
        body=[[0, -1], [1, 0]], J=J, u=[[-1.0, 0.0], [0.0, 0.0]], mu=0.0,
        inverse_mass=[1.0, 1 / 9], inverse_inertia=[1.0, 1.0],
    )  # fmt: skip
    at_once = collide(state, order="simultaneous")
    np.testing.assert_allclose(at_once.velocity_change[:, 1], [1.0, 1.0], rtol=1e-12)
    slow = collide(state, order="propagation")
    np.testing.assert_allclose(slow.velocity_change[:, 1], [1.0, 1.0], atol=1e-7)
    floor, between = (
        [i for i, hit in enumerate(slow.impacts) if hit.contacts == (k,)] for k in (0, 1)
    )
    assert len(between) == pytest.approx(np.log(1e-8) / np.log(0.9), abs=2)
    assert floor[:3] == [0, 2, 4]
    for rounds in (1, 2, 5):
        short = CollisionLaw(order="propagation", max_impacts=2 * rounds)
        stopped = short.resolve(state)
        assert "still approach" in stopped.log[0]
        before_end = sum(hit.energy for hit in stopped.impacts[: 2 * rounds])
        # after n rounds both move at 0.9^n: energy 10 0.81^n / 2
        np.testing.assert_allclose(before_end, -5.0 * (1 - 0.81**rounds), rtol=1e-9)
        np.testing.assert_allclose(stopped.velocity_change[:, 1], [1.0, 1.0], atol=1e-9)


def colliding(seed, **options):
    """A random instant with random velocities of the bodies, and these."""
    state = random_state(seed, **options)
    rows, joints, inverse = dense_rows(state)
    v = np.random.default_rng(seed + 1).normal(size=rows.shape[1])
    if state.nj:  # velocities that the joints allow
        W = joints @ inverse @ joints.T
        v -= inverse @ joints.T @ np.linalg.lstsq(W, joints @ v, rcond=None)[0]
    u = (rows @ v).reshape(state.nc, state.d)
    return replace(state, u=u), v, rows, joints, inverse


SIZES = st.tuples(st.integers(0, 10**6), st.integers(1, 3), st.integers(1, 5), st.integers(0, 2))


def measured(v, dv, inverse):
    w = v + dv.ravel()
    return 0.5 * (w @ np.linalg.solve(inverse, w) - v @ np.linalg.solve(inverse, v))


@FEW
@given(SIZES, st.sampled_from([2, 3]), st.sampled_from([0.0, 0.5, 1.0]), st.booleans())
def test_what_every_law_keeps(size, dim, eps, propagates):
    """No contact approaches, joints hold, impulses make the motion, energy is booked."""
    seed, bodies, contacts, joints = size
    options = {"dim": dim, "bodies": bodies, "contacts": contacts, "joints": joints, "mu": 0.4}
    state, v, rows, ties, inverse = colliding(seed, **options)
    state = replace(state, restitution=eps)
    laws = ["frictionless", "newton"] if not propagates else ["frictionless", "keller"]
    for law in laws:
        order = "propagation" if propagates else "simultaneous"
        hit = collide(state, law=law, order=order, max_impacts=300)
        assert hit.status is Status.SOLVED
        assert hit.u[:, 0].min() >= -2e-8
        assert (hit.impulse[:, 0] >= -1e-12).all()
        dv = inverse @ (rows.T @ hit.impulse.ravel() + ties.T @ hit.joint)
        np.testing.assert_allclose(hit.velocity_change.ravel(), dv, atol=1e-8)
        np.testing.assert_allclose(hit.u.ravel(), rows @ (v + dv), atol=1e-8)
        np.testing.assert_allclose(ties @ (v + dv), 0.0, atol=1e-8)
        energy = measured(v, hit.velocity_change, inverse)
        np.testing.assert_allclose(hit.energy, energy, atol=1e-8 * max(1.0, v @ v))
        if law == "frictionless":
            assert energy <= 1e-8 * max(1.0, v @ v)
        over = np.linalg.norm(hit.impulse[:, 1:], axis=1) - 0.4 * hit.impulse[:, 0]
        assert over.max() <= 1e-8 * max(1.0, np.abs(hit.impulse).max())


@FEW
@given(SIZES, st.sampled_from([2, 3]))
def test_elastic_impacts_keep_the_energy(size, dim):
    """With all eps = 1 and no friction, round after round."""
    seed, bodies, contacts, joints = size
    options = {"dim": dim, "bodies": bodies, "contacts": contacts, "joints": joints}
    state, v, _, _, inverse = colliding(seed, **options)
    hit = collide(replace(state, restitution=1.0), law="frictionless")
    if hit.log:  # caught between contacts that throw it to and fro
        assert "without rebound" in hit.log[0]
        return
    np.testing.assert_allclose(measured(v, hit.velocity_change, inverse), 0.0, atol=1e-9 * (v @ v))


def test_simultaneous_conditions():
    """Baraff 1989, (28), (29): v+ >= -eps v-, and no impulse where it rebounds faster."""
    for seed in range(20):
        state, *_ = colliding(seed, bodies=3, contacts=5)
        state = replace(state, restitution=np.linspace(0.0, 1.0, 5))
        hit = collide(state, law="frictionless")
        if len(hit.impacts) > 1:
            continue
        part = state.u[:, 0] <= state.tolerances.normal
        excess = (hit.u[:, 0] + state.restitution * state.u[:, 0])[part]
        assert (excess >= -1e-9).all()
        np.testing.assert_allclose(excess * hit.impulse[part, 0], 0.0, atol=1e-9)
        assert not hit.impulse[~part].any()


@pytest.mark.parametrize("order", ["simultaneous", "propagation"])
def test_a_pendulum_is_struck(order):
    """A rod on a pivot (m l^2 / 3) hit at distance x: angular momentum about the pivot."""
    mass, length, x, eps, speed = 2.0, 1.5, 1.1, 0.6, 3.0
    # body 0: the rod, centre at (l / 2, 0), pivot at its left end; body 1: a particle from below
    J = np.zeros((1, 2, 2, 3))
    J[0, :, 0] = planar_rows((x - length / 2, 0.0), (0.0, 1.0))
    J[0, :, 1] = -planar_rows((0.0, 0.0), (0.0, 1.0))
    pin = np.zeros((2, 2, 3))
    pin[0, 0] = [1.0, 0.0, 0.0]
    pin[1, 0] = [0.0, 1.0, -length / 2]
    small = 0.5
    state = ContactState(
        body=[[0, 1]], J=J, u=[[-speed, 0.0]], mu=0.0, restitution=eps,
        inverse_mass=[1 / mass, 1 / small], inverse_inertia=[12 / (mass * length**2), 0.0],
        joint_body=[[0, -1]] * 2, joint_J=pin,
    )  # fmt: skip
    hit = collide(state, order=order)
    inertia = mass * length**2 / 3
    impulse = (1 + eps) * speed / (x**2 / inertia + 1 / small)
    np.testing.assert_allclose(hit.impulse[0, 0], impulse, rtol=1e-12)
    np.testing.assert_allclose(hit.velocity_change[0, 2], x * impulse / inertia, rtol=1e-12)
    np.testing.assert_allclose(hit.velocity_change[1, 1], -impulse / small, rtol=1e-12)
    np.testing.assert_allclose(hit.joint_u, 0.0, atol=1e-12)


def test_newtons_law_with_friction_may_gain_energy_and_says_so():
    gains = []
    for ut in np.linspace(-3.0, 3.0, 61):
        J = np.zeros((1, 2, 2, 3))
        J[0, :, 0] = planar_rows((-np.cos(0.7), -np.sin(0.7)), (0.0, 1.0))
        state = ContactState(
            body=[[0, -1]], J=J, u=[[-1.0, ut]], mu=0.8, restitution=1.0, inverse_mass=[1.0],
            inverse_inertia=[3.0],
        )  # fmt: skip
        newton = collide(state, law="newton")
        assert (newton.energy > 1e-9) == any("newton gained" in line for line in newton.log)
        gains.append(newton.energy)
        # Stronge's law never gains energy, whatever slip does
        stronge = collide(state, law="routh", restitution="stronge")
        assert stronge.energy <= 1e-12
        assert stronge.log == []
    assert max(gains) > 1e-3


def test_separating_contacts_take_no_part():
    state = row_of_balls([1.0, 1.0], [0.0, 1.0], 1.0)
    hit = collide(state)
    assert hit.impacts == []
    assert not hit.velocity_change.any()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"law": "hertz"}, "law = 'hertz'"),
        ({"order": "random"}, "order = 'random'"),
        ({"law": "routh", "order": "simultaneous"}, "routh resolves one contact at a time"),
        ({"law": "newton", "restitution": "stronge"}, "only routh and keller"),
        ({"max_impacts": 0}, "max_impacts = 0"),
    ],
)
def test_options_that_make_no_sense(options, words):
    with pytest.raises(ds.OptionError, match=words):
        CollisionLaw(**options)


def test_routh_is_planar():
    state, *_ = colliding(0, dim=3)
    with pytest.raises(ds.OptionError, match="use keller"):
        collide(state, law="routh")


def test_a_body_caught_between_two_walls_ends_without_rebound():
    """Elastic, it would be thrown to and fro at one instant for ever (two faces at once)."""
    J = np.zeros((2, 2, 2, 3))
    J[0, :, 0] = [[1.0, 0.0, 0.0], [0.0, -1.0, 0.0]]
    J[1, :, 0] = [[-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    state = ContactState(
        body=[[0, -1]] * 2, J=J, u=[[-1.0, 0.0], [1.0, 0.0]], mu=0.3, restitution=1.0,
        inverse_mass=[1.0], inverse_inertia=[1.0],
    )  # fmt: skip
    for order in ("simultaneous", "propagation"):
        hit = collide(state, order=order, max_impacts=100)
        assert hit.status is Status.SOLVED
        np.testing.assert_allclose(hit.u, 0.0, atol=1e-12)
        assert "without rebound" in hit.log[0]
        np.testing.assert_allclose(hit.energy, -0.5, rtol=1e-12)


def test_rebound_that_contradicts_friction_is_given_up():
    """A slider on an inclined guide: u_n and u_t are one; sticking holds it, rebounding cannot."""
    w = np.array([0.3, 1.0])
    J = np.zeros((1, 2, 2, 3))
    J[0, :, 0, 0] = w
    state = ContactState(
        body=[[0, -1]], J=J, u=[-w], mu=5.0, restitution=0.5, inverse_mass=[1.0],
        inverse_inertia=[0.0],
    )  # fmt: skip
    for order in ("simultaneous", "propagation"):
        hit = collide(state, order=order)
        assert hit.status is Status.SOLVED
        np.testing.assert_allclose(hit.u, 0.0, atol=1e-12)
        assert "no impulse" in hit.log[0]


def test_joints_that_drifted_close_in_the_same_impact():
    """A pin whose velocity is not zero: one impact closes it and stops the contact."""
    state, v, rows, ties, _ = colliding(4, bodies=2, contacts=1, joints=2)
    v = v + np.random.default_rng(9).normal(size=v.size)
    u = (rows @ v).reshape(1, 2)
    u[0, 0] = -3.0
    drifted = replace(state, u=u, joint_u=ties @ v)
    for order in ("simultaneous", "propagation"):
        hit = collide(drifted, order=order)
        assert len(hit.impacts) == 1
        np.testing.assert_allclose(hit.joint_u, 0.0, atol=1e-12)
        np.testing.assert_allclose(hit.u[0, 0], 0.0, atol=1e-12)
