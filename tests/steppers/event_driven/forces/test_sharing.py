"""Forces shared by contacts that are more than bodies need: the same motion, away from bounds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone.steppers.event_driven.forces import ContactForces, ContactState, Kind
from drystone.steppers.event_driven.forces.sharing import shared_forces
from tests.steppers.event_driven.forces.test_index_sets import bricks
from tests.steppers.event_driven.instants import spatial_rows

G = 9.81


def table(load, mu=0.5, pull=(0.0, 0.0)):
    """A body of 1 kg on four feet at (+-1, +-1), its weight acting at `load` (x, y)."""
    feet = [(x, y, 0.0) for x in (-1, 1) for y in (-1, 1)]
    J = np.zeros((4, 3, 2, 6))
    for i, foot in enumerate(feet):
        J[i, :, 0] = spatial_rows(foot, (0, 0, 1))
    x, y = load
    acceleration = [[*pull, -G, -G * y, G * x, 0.0]]  # inertia 1: moments are angular rates
    return ContactState(
        body=[[0, -1]] * 4, J=J, u=np.zeros((4, 3)), mu=mu, inverse_mass=[1.0],
        inverse_inertia=[np.eye(3)], acceleration=acceleration,
    )  # fmt: skip


@pytest.mark.parametrize("pull", [0.5, 3.0, 4.9])
def test_corners_of_bricks_reach_the_bound_of_friction_together(pull):
    state = bricks(3, pull)
    basic = ContactForces().solve(state)
    shared = shared_forces(state, basic)
    np.testing.assert_allclose(shared.f[:, 1] / shared.f[:, 0], -pull / G, rtol=1e-9)
    np.testing.assert_allclose(shared.acceleration, 0.0, atol=1e-9)
    for k in range(3):  # brick k bears itself and those above
        np.testing.assert_allclose(
            shared.f[2 * k : 2 * k + 2].sum(axis=0), (3 - k) * np.array([G, -pull])
        )


def test_four_feet_share_a_weight_by_its_place():
    """The least forces are linear in the feet's places: mg/4 (1 + x x_i + y y_i)."""
    state = table((0.3, -0.2))
    forces = shared_forces(state, ContactForces().solve(state))
    feet = np.array([(x, y) for x in (-1, 1) for y in (-1, 1)])
    np.testing.assert_allclose(forces.f[:, 0], G / 4 * (1 + feet @ [0.3, -0.2]), rtol=1e-9)


def test_no_foot_pulls_when_the_weight_is_near_another():
    state = table((0.7, 0.6))  # linear forces would be negative at (-1, -1)
    forces = shared_forces(state, ContactForces().solve(state))
    f = forces.f[:, 0]
    assert f.min() >= 0.0
    feet = np.array([(x, y) for x in (-1, 1) for y in (-1, 1)])
    np.testing.assert_allclose(f @ feet, G * np.array([0.7, 0.6]), rtol=1e-8)


@settings(deadline=None, derandomize=True, max_examples=40)
@given(
    st.tuples(st.floats(-0.9, 0.9), st.floats(-0.9, 0.9)),
    st.tuples(st.floats(-3.0, 3.0), st.floats(-3.0, 3.0)),
)
def test_sharing_changes_no_motion_and_obeys_the_law(load, pull):
    state = table(load, pull=pull)
    basic = ContactForces().solve(state)
    shared = shared_forces(state, basic)
    np.testing.assert_allclose(shared.acceleration, basic.acceleration, atol=1e-7)
    moves = [word for word, was in zip(shared.states, basic.states, strict=True) if word != was]
    assert set(moves) <= {Kind.STICKING}, "only contacts that had nothing to do help now"
    assert shared.f[:, 0].min() >= -1e-9
    friction = np.linalg.norm(shared.f[:, 1:], axis=1)
    assert (friction - 0.5 * shared.f[:, 0]).max() <= 1e-8


def test_a_shared_index_set_is_used_again():
    forces = ContactForces()
    forces.commit(shared_forces(bricks(3, 1.0), forces.solve(bricks(3, 1.0))))
    again = forces.solve(bricks(3, 1.1))
    assert again.islands[0].reused
    np.testing.assert_allclose(again.f[:, 1] / again.f[:, 0], -1.1 / G, rtol=1e-2)
    assert shared_forces(bricks(3, 1.1), again) is again
