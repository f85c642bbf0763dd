"""What joints bear, against statics; joints that break; joints of edited worlds."""

import numpy as np
import pytest

from drystone.constraints.joints import Ball, Fixed, Gear, Hinge, Motor, Pin, Screw, Slider
from drystone.constraints.joints.edit import carry_values, without
from drystone.constraints.joints.forces import broken, joint_forces
from drystone.constraints.joints.rows import free_coordinates, joint_extra_rows, joint_rows
from drystone.world import World
from tests.constraints.joints.joint_worlds import dense

G, H = 9.81, 0.01


def held(model, state):
    """Impulses that keep all bodies at rest against gravity for a step, by dense algebra."""
    rows = joint_rows(model.joints, state)
    J = dense(rows.body, rows.J, model.nb)
    weight = np.zeros((model.nb, model.dof))
    weight[:, : model.dim] = model.mass[:, None] * model.gravity
    impulse, *_ = np.linalg.lstsq(J.T, -H * weight.ravel(), rcond=None)
    assert np.allclose(J.T @ impulse, -H * weight.ravel(), atol=1e-12), "statics"
    return rows, impulse


@pytest.mark.parametrize("flipped", [False, True])
def test_a_cantilever(flipped):
    """Weight m g at a distance: force m g up, torque m g x arm at the wall, on a."""
    ends = ("world", "beam") if flipped else ("beam", "world")
    world = World()
    world.add_body(name="beam", mass=3, inertia=(1, 1, 1), position=(2, 0, 1))
    world.add_joint(Fixed(*ends, anchor=(0.5, 0, 1)))
    model, state = world.build()
    force, torque = joint_forces(model.joints, state, *held(model, state), H)
    sign = -1 if flipped else 1
    assert np.allclose(force, [(0, 0, sign * 3 * G)])
    assert np.allclose(torque, [(0, -sign * 3 * G * 1.5, 0)])


def test_a_hanging_chain_and_a_planar_one():
    for planar in (False, True):
        world = World(planar=planar)
        inertia = 1 if planar else (1, 1, 1)
        zero = (0,) if planar else (0, 0)
        kind = Pin if planar else Ball
        above = "world"
        for k in range(4):
            world.add_body(name=f"{k}", mass=k + 1, inertia=inertia, position=(*zero, -0.5 - k))
            world.add_joint(kind(f"{k}", above, anchor=(*zero, -k)))
            above = f"{k}"
        model, state = world.build()
        force, torque = joint_forces(model.joints, state, *held(model, state), H)
        assert np.allclose(force[:, -1], G * np.array([10, 9, 7, 4]))
        assert np.allclose(force[:, :-1], 0)
        assert np.allclose(torque, 0)


def test_a_motor_is_part_of_its_joint():
    world = World(planar=True)
    world.add_body(name="arm", mass=2, inertia=1, position=(1, 0))
    world.add_joint(Pin("arm", anchor=(0, 0), motor=Motor(speed=0)))
    model, state = world.build()
    rows, actions = joint_rows(model.joints, state), joint_extra_rows(model, state, H)
    both = np.concatenate([rows.J, actions.J])[:, 0]
    r = np.linalg.solve(both.T, [0, 2 * G * H, 0])
    force, torque = joint_forces(model.joints, state, rows, r[:2], H, actions, r[2:])
    assert np.allclose(force, [(0, 2 * G)])
    assert np.allclose(torque, [[2 * G]])


def test_joints_break_by_force_or_torque():
    world = World()
    world.add_body(name="beam", mass=3, inertia=(1, 1, 1), position=(2, 0, 1))
    for bearing in (None, 20.0, 40.0, (None, 40.0), (40.0, 50.0)):
        world.add_joint(Fixed("beam", anchor=(0.5, 0, 1), breaks_at=bearing))
    joints = world.build()[0].joints
    force, torque = np.tile((0, 0, 3 * G), (5, 1)), np.tile((0, -3 * G * 1.5, 0), (5, 1))
    assert broken(joints, force, torque).tolist() == [False, True, False, True, False]


def mixed_world():
    world = World()
    for k in range(4):
        world.add_body(name=f"{k}", mass=1, inertia=(1, 1, 1), position=(k, 0, 0))
    hinge = {"axis": (0, 1, 0), "limits": (-1, 2)}
    world.add_joint(Ball("0", "1", anchor=(0.5, 0, 0), breaks_at=3.0, name="ball"))
    world.add_joint(Hinge("1", anchor=(1, 0, 1), name="hinge", **hinge))
    screw = {"axis": (0, 0, 1), "pitch": 0.1, "friction": {"turn": 0.3}}
    world.add_joint(Screw("2", anchor=(2, 0, 0), name="screw", **screw))
    world.add_joint(Gear("hinge", ("screw", "turn"), ratio=2, name="gear"))
    world.add_joint(Slider("3", "2", axis=(1, 0, 0), spring=(5, 1), name="slider"))
    return world


@pytest.mark.parametrize("name", ["ball", "hinge", "screw", "gear", "slider"])
def test_without_a_joint_is_the_world_without_it(name):
    world = mixed_world()
    model, state = world.build()
    gone = np.array([n == name for n in model.joints.names])
    left, kept = without(model.joints, gone)
    if name in ("hinge", "screw"):
        world.remove_joint("gear")  # goes with either
    world.remove_joint(name)
    expected = world.build()[0].joints
    for field in expected.__slots__:
        assert np.array_equal(getattr(left, field), getattr(expected, field)), field
    values = free_coordinates(model.joints, state).value
    assert np.array_equal(values[kept], free_coordinates(left, state).value)


def test_values_are_carried_over_by_uid():
    world = mixed_world()
    old = world.build()[0].joints
    value = np.arange(old.nq, dtype=float) + 10
    world.remove_joint("ball")
    world.remove_joint("slider")
    world.add_joint(Hinge("3", anchor=(1, 0, 1), axis=(0, 1, 0), limits=(1, 3), name="slider"))
    new = world.build()[0].joints
    assert carry_values(old, value, new).tolist() == [10, 11, 12, 2]
    assert carry_values(None, value, new).tolist() == new.start.tolist()
