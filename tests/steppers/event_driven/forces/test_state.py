"""An instant checks what it is given, and says what its contacts do."""

from dataclasses import replace

import numpy as np
import pytest

import drystone as ds
from drystone.steppers.event_driven.forces import ContactForces, Kind, Tolerances
from drystone.steppers.event_driven.forces.system import System
from tests.steppers.event_driven.instants import dense_rows, random_state


def test_kinds_by_tolerance():
    state = random_state(0, contacts=5)
    u = [[0.0, 0.0], [2e-3, 1.0], [0.0, -2e-3], [-2e-3, 0.0], [5e-4, 5e-4]]
    state = replace(state, u=u, tolerances=Tolerances(normal=1e-3, slip=1e-3))
    expected = [Kind.STICKING, Kind.SEPARATING, Kind.SLIDING, Kind.COLLIDING, Kind.STICKING]
    assert list(state.kind) == expected
    result = ContactForces().solve(state)
    assert result.states[1] == Kind.SEPARATING
    assert not result.f[1].any()


@pytest.mark.parametrize("dim", [2, 3])
def test_system_is_j_m_j(dim):
    state = random_state(5, dim=dim, bodies=3, contacts=6, joints=2)
    rows, joints, inverse = dense_rows(state)
    J = np.vstack([rows, joints])
    system = System(state, np.arange(6), np.arange(2))
    np.testing.assert_allclose(system.W, J @ inverse @ J.T, atol=1e-12)
    np.testing.assert_allclose(system.q, J @ state.acceleration.ravel(), atol=1e-12)
    out = np.zeros((3, state.dof))
    r = np.random.default_rng(0).normal(size=system.m)
    system.add_motion(r, out)
    np.testing.assert_allclose(out.ravel(), inverse @ J.T @ r, atol=1e-12)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"J": np.zeros((2, 3, 2, 3))}, ds.ArrayError, r"J has shape \(2, 3, 2, 3\)"),
        ({"u": np.zeros((1, 2))}, ds.ArrayError, r"u has shape \(1, 2\): expected \(4, 2\)"),
        ({"u": np.full((4, 2), np.nan)}, ds.ArrayError, r"u\[0, 0\] is nan"),
        ({"body": np.full((4, 2), 9)}, ds.ArrayError, "body names body 9: there are 2"),
        ({"body": np.zeros((4, 2))}, ds.ArrayError, "expected .* integers"),
        ({"mu": [0.1, 0.2, -0.5, 0.1]}, ds.ModelError, "contact 2: friction -0.5"),
        ({"mu": [[0.1, 0.2]] * 4}, ds.ModelError, "static >= dynamic"),
        ({"restitution": 1.5}, ds.ModelError, "contact 0: restitution 1.5"),
        ({"inverse_mass": [1.0, -2.0]}, ds.ModelError, "body 1: inverse mass -2"),
        ({"key": ("a",)}, ds.ArrayError, "key has 1 entries: expected 4"),
        ({"bias": "none"}, ds.ArrayError, "bias is not an array of numbers"),
    ],
)
def test_wrong_input_is_named(change, error, words):
    with pytest.raises(error, match=words):
        replace(random_state(0), **change)


def test_tolerances_are_speeds():
    with pytest.raises(ds.OptionError, match="tolerance slip = -1"):
        Tolerances(slip=-1.0)


def test_contradictory_joints_are_reported():
    state = random_state(0, bodies=1, contacts=1)
    row = np.zeros((2, 2, 3))
    row[:, 0, 0] = 1.0
    both = replace(
        state, joint_body=[[0, -1]] * 2, joint_J=row, joint_bias=[0.0, 1.0], joint_u=[0.0, 0.0]
    )
    result = ContactForces().solve(both)
    assert not result.ok
    assert "no method gave forces" in result.log[0]


def test_islands_are_solved_apart():
    """Blocks that share only the ground: the set of one survives a change of the other."""
    one = random_state(3, bodies=1, contacts=2, lean=0.05)
    J = np.concatenate([one.J, one.J])
    body = np.array([[0, -1], [0, -1], [1, -1], [1, -1]])
    inertia = np.repeat(one.inverse_inertia, 2)
    both = replace(
        one, body=body, J=J, u=np.zeros((4, 2)), mu=np.zeros((4, 2)), restitution=np.zeros(4),
        bias=np.zeros((4, 2)), soft=np.zeros((4, 2)), key=None,
        inverse_mass=np.repeat(one.inverse_mass, 2), inverse_inertia=inertia,
        acceleration=[[0.0, -9.81, 0.0]] * 2,
    )  # fmt: skip
    forces = ContactForces()
    forces.commit(forces.solve(both))
    lifted = replace(both, acceleration=[[0.0, -9.81, 0.0], [0.0, 5.0, 0.0]])
    result = forces.solve(lifted)
    assert [part.reused for part in result.islands] == [True, False]
