"""Joints of a world: handles, names, what they switch off, and errors that name the culprit."""

import numpy as np
import pytest

from drystone.constraints.joints import (
    Ball,
    Cylindrical,
    Distance,
    Fixed,
    Gear,
    Hinge,
    Motor,
    Pin,
    PlanarJoint,
    Screw,
    Slider,
    Slot,
    Universal,
    Weld,
    Wheel,
)
from drystone.constraints.joints.rows import free_coordinates, joint_rows
from drystone.dynamics.motions import ConstantVelocity, Oscillation
from drystone.errors import ModelError
from drystone.geometry.shapes import Box, Disk
from drystone.world import World

NAN, INF = float("nan"), float("inf")
P, Z, X = (0, 0, 1), (0, 0, 1), (1, 0, 0)


@pytest.fixture
def world():
    out = World()
    out.add_body(Box(1, 1, 1), name="crank")
    out.add_body(Box(1, 1, 1), name="rod", position=(2, 0, 0))
    out.add_body(Box(1, 1, 1), name="wall", fixed=True, position=(0, 5, 0))
    out.add_body(Box(1, 1, 1), name="table", motion=Oscillation(Z, 0.1, 1), position=(0, 0, -5))
    return out


@pytest.fixture
def plane():
    out = World(planar=True)
    out.add_body(Disk(0.5), name="crank")
    out.add_body(Disk(0.5), name="rod", position=(2, 0))
    return out


def test_handles_names_and_removal(world):
    before = world.version
    first = world.add_joint(Hinge("crank", "world", anchor=P, axis=X))
    second = world.add_joint(Ball("crank", "rod", anchor=P, name="elbow"))
    assert world.joints == ("joint0", "elbow")
    assert (first.name, first.uid, second.uid) == ("joint0", 0, 1)
    assert world.version > before
    assert "2 joints" in repr(world)
    model, _ = world.build()
    assert model.joints.names == world.joints
    assert model.joints.uid.tolist() == [0, 1]
    assert model.joints.body.tolist() == [[0, -1], [0, 1]]
    assert model.joints.kind == ("hinge", "ball")
    other = world.copy()
    world.remove_joint(first)
    world.remove_joint("elbow")
    assert world.joints == ()
    assert world.build()[0].joints is None
    assert other.joints == ("joint0", "elbow")
    again = world.add_joint(Ball("crank", "rod", anchor=P, name="elbow"))
    assert again.uid == 2
    with pytest.raises(ModelError, match="no joint is named 'elbow'"):
        world.remove_joint(second)


def test_bodies_by_handle_and_name_clashes(world):
    arm = world.add_body(Box(1, 1, 1), position=(9, 0, 0))
    world.add_body(Box(1, 1, 1), name="late", position=(9, 5, 0))
    world.add_joint(Ball(arm, "late", anchor=P, name="joint1"))
    assert world.add_joint(Ball("rod", anchor=P)).name == "joint2"
    world.remove_joint("joint1")
    world.remove_body(arm)
    with pytest.raises(ModelError, match=r"joint 'joint3' \(Ball\): no body is named 'body0'"):
        world.add_joint(Ball(arm, "late", anchor=P))


def test_joined_bodies_do_not_collide_unless_asked(world):
    world.add_joint(Ball("crank", "rod", anchor=P, name="elbow"))
    world.add_joint(Ball("rod", "wall", anchor=P, collide=True))
    world.add_joint(Ball("table", "rod", anchor=P))
    world.ignore("crank", "wall")
    nb = len(world)
    assert world.build()[0].rules.ignored.tolist() == [0 * nb + 1, 0 * nb + 2, 1 * nb + 3]
    world.remove_joint("elbow")
    assert world.build()[0].rules.ignored.tolist() == [0 * nb + 2, 1 * nb + 3]


def test_a_held_body_stays(world):
    world.add_joint(Ball("crank", "rod", anchor=P, name="elbow"))
    with pytest.raises(ModelError, match="body 'rod': joint 'elbow' holds it: remove the joint"):
        world.remove_body("rod")
    world.add_joint(Hinge("crank", anchor=P, axis=X, name="pivot"))
    world.add_joint(Hinge("rod", anchor=P, axis=X, name="second"))
    world.add_joint(Gear("pivot", "second", ratio=2, name="gears"))
    with pytest.raises(ModelError, match="joint 'pivot': gear 'gears' couples it"):
        world.remove_joint("pivot")


def test_frames_are_those_of_the_centres_of_mass():
    """A joint to a kinematic body too, and of bodies whose centre is not their origin."""
    world = World()
    mass = {"mass": 1, "inertia": (1, 1, 1), "centre_of_mass": (0.1, 0.2, 0.3)}
    world.add_body(name="a", **mass, position=(1, 0, 0), orientation=(1, 1, 0, 0))
    world.add_body(Box(1, 1, 1), name="b", motion=ConstantVelocity((0, 0, 1), (0, 0, 2)))
    world.add_joint(Hinge("a", "b", anchor=(1, 2, 3), axis=(0, 1, 1)))
    model, state = world.build(time=0.0)
    assert np.abs(joint_rows(model.joints, state).error).max() < 1e-14
    # turned by 90 degrees about x: local = R' (anchor - position) = (0, 3, -2)
    assert np.allclose(model.joints.anchor_a[0], np.array([0, 3, -2]) - [0.1, 0.2, 0.3])
    assert np.allclose(model.joints.frame_a[0][:, 2], np.array([0, 1, -1]) / np.sqrt(2))
    later, _ = world.build(time=0.7)
    assert np.array_equal(later.joints.anchor_b, model.joints.anchor_b)


def test_angles_start_at_zero_and_slides_at_the_anchors(plane):
    plane.add_joint(Slot("crank", "rod", anchor_a=(0, 0), anchor_b=(0, 0), axis=(-1, 0)))
    model, state = plane.build()
    assert free_coordinates(model.joints, state).value.tolist() == [2, 0]
    assert model.joints.coordinate_name == ("slide", "turn")


def hinge(**said):
    return Hinge("crank", "rod", anchor=P, axis=X, **said)


def ball(**said):
    return Ball("crank", "rod", anchor=P, **said)


@pytest.mark.parametrize(
    ("joint", "message"),
    [
        (
            Ball("crnk", "rod", anchor=P),
            r"joint 'joint0' \(Ball\): no body is named 'crnk'; did you mean 'crank'",
        ),
        (Ball("crank", "rode", anchor=P), "no body is named 'rode'; did you mean 'rod'"),
        (Ball("crank", 7, anchor=P), "7 is not a body"),
        (
            Ball("crank", "crank", anchor=P),
            r"\(Ball from 'crank' to 'crank'\): expected two different",
        ),
        (Ball("world", "world", anchor=P), "expected two different"),
        (
            Ball("wall", "world", anchor=P, name="w"),
            r"'w' \(Ball from 'wall' to 'world'\): neither end can move: 'wall' is fixed, the",
        ),
        (
            Ball("wall", "table", anchor=P),
            "neither end can move: 'wall' is fixed, 'table' is kinematic",
        ),
        (Ball("crank", "rod"), r"Ball from 'crank' to 'rod'\): has no anchor"),
        (ball(anchor_a=P), "both anchor and anchor_a"),
        (Ball("crank", "rod", anchor=(0, NAN, 0)), r"anchor = \(0, nan, 0\): expected finite"),
        (Ball("crank", "rod", anchor=(0, 1)), r"anchor = \(0, 1\): expected 3 numbers"),
        (ball(limits={"swing": (0, 1)}), "limits.*need an axis"),
        (ball(motor=Motor(speed=1)), "a Ball has none"),
        (ball(friction=-1), "friction = -1: expected 0 or more"),
        (
            Hinge("crank", "rod", anchor=P, axis=(0, 0, 0)),
            r"axis = \(0.0, 0.0, 0.0\): expected a direction, not zero",
        ),
        (Hinge("crank", "rod", anchor=P), "has no axis: give axis, or axis_b"),
        (Hinge("crank", "rod", anchor=P, axis_b=X), "has no axis: give axis, or axis_a"),
        (hinge(axis_a=X), "both axis and axis_a"),
        (hinge(limits=(1, -1)), r"limits = \(1, -1\): the lowest is above"),
        (hinge(limits=3), "limits = 3: expected"),
        (hinge(limits=(NAN, 1)), "limits = nan: expected a finite"),
        (hinge(limits=(INF, 1)), "limits = inf: expected a finite"),
        (hinge(limits={"slide": (0, 1)}), "limits of 'slide': its free coordinates are 'turn'"),
        (hinge(motor=3), "motor = 3: expected Motor"),
        (hinge(motor=Motor()), "neither speed nor position"),
        (hinge(motor=Motor(speed=1, max_force=-2)), "motor.max_force = -2"),
        (hinge(motor=Motor(speed=NAN)), "motor.speed = nan"),
        (hinge(motor=Motor(position=1, gain=0)), "motor.gain = 0"),
        (hinge(spring=(-1, 0)), "spring stiffness = -1"),
        (hinge(spring=5), "spring = 5: expected"),
        (hinge(breaks_at=0), "breaks_at = 0: expected more than 0"),
        (hinge(breaks_at=(1, 2, 3)), "expected a force, or"),
        (hinge(name=""), "joint name ''"),
        (
            Cylindrical("crank", "rod", anchor=P, axis=X, friction=2),
            "friction = 2: say of which coordinate: {'slide': ..., 'turn': ...}",
        ),
        (Fixed("crank", "rod", limits=(0, 1)), "limits = .*no free coordinate"),
        (
            Fixed("crank", "rod", orientation=(0, 0, 0, 0)),
            "zero quaternion is not an orientation",
        ),
        (Universal("crank", "rod", anchor=P, axis=X), "has no second_axis"),
        (
            Universal("crank", "rod", anchor=P, axis=X, second_axis=(1, 1, 0)),
            "axis and second_axis are at 45 degrees",
        ),
        (Distance("crank", "rod", anchor=P), "give its ends"),
        (Distance("crank", "rod", length=-1), "length = -1: expected more than 0"),
        (Distance("crank", "rod", anchor_a=(2, 0, 0)), "its ends are in one place"),
        (Distance("crank", "rod", length=1, limits=(0, 1)), "length = 1: what acts on it"),
        (Screw("crank", "rod", anchor=P, axis=X), "has no pitch"),
        (Screw("crank", "rod", anchor=P, axis=X, pitch=0), "pitch = 0: use a Hinge"),
        (Pin("crank", "rod", anchor=P), "Pin is a planar joint, the world is spatial"),
        (Slot("crank", "rod", anchor=P, axis=X), "Slot is a planar joint, the world is spatial"),
        (Wheel("crank", "rod", anchor=P, axis=X), "has no axle"),
        (Gear("crank", "rod", ratio=2), "'crank' is a body: give the axis"),
        (Gear("crank", "rod", axis=X), "has no ratio"),
        (Gear("crank", "rod", axis=X, ratio=0), "ratio = 0"),
        (Gear("crank", "crank", axis=X, ratio=2), "expected two different coordinates"),
        (Gear("crank", "crunk", axis=X, ratio=2), "'crunk'; did you mean 'crank'"),
        (Gear("crank", "rod", axis=X, ratio=2, friction=1), "friction = 1: a Gear has none"),
        (Gear("crank", ("hinge", "turn"), axis=X, ratio=2), "no joint is named 'hinge'"),
        (Gear("wall", "table", axis=X, ratio=2), "none of its bodies can move"),
        ("hinge", "'hinge' is not a joint"),
    ],
)
def test_errors_name_joint_and_bodies(world, joint, message):
    version = world.version
    with pytest.raises(ModelError, match=message):
        world.add_joint(joint)
    assert world.joints == ()
    assert world.version == version


@pytest.mark.parametrize("kind", [Ball, Hinge, Cylindrical, PlanarJoint, Universal, Screw])
def test_spatial_joints_in_a_planar_world(plane, kind):
    extra = {"pitch": 1} if kind is Screw else {}
    with pytest.raises(
        ModelError, match=f"{kind.__name__} is a spatial joint, the world is planar"
    ):
        plane.add_joint(kind("crank", "rod", anchor=(0, 0), axis=(1, 0), **extra))


def test_errors_in_the_plane(plane):
    with pytest.raises(ModelError, match=r"axle = \(1, 0\)"):
        plane.add_joint(Wheel("crank", "rod", anchor=(0, 0), axis=(0, 1), axle=(1, 0)))
    with pytest.raises(ModelError, match="a planar world has one axis"):
        plane.add_joint(Gear("crank", "rod", ratio=1, axis=(1, 0)))
    plane.add_joint(Pin("crank", anchor=(0, 0), name="pivot"))
    with pytest.raises(ModelError, match="joint 'pivot': another joint has this name"):
        plane.add_joint(Pin("rod", anchor=(0, 0), name="pivot"))
    plane.add_joint(Slot("rod", anchor=(0, 0), axis=(1, 0), name="guide"))
    with pytest.raises(ModelError, match="coordinates of 'guide' are 'slide', 'turn': say which"):
        plane.add_joint(Gear("pivot", "guide", ratio=1))
    with pytest.raises(ModelError, match="'spin' is none of them"):
        plane.add_joint(Gear("pivot", ("guide", "spin"), ratio=1))


def test_a_gear_on_a_moving_carrier_is_refused(plane):
    plane.add_body(Disk(1), name="carrier", position=(5, 0))
    plane.add_joint(Pin("crank", "carrier", anchor=(0, 0), name="one"))
    plane.add_joint(Pin("rod", "carrier", anchor=(2, 0), name="two"))
    with pytest.raises(ModelError, match=r"couples 3 bodies that move .*'carrier'.*: at most two"):
        plane.add_joint(Gear("one", "two", ratio=-1))


def test_anchors_far_away_are_fine(plane):
    plane.add_joint(Weld("crank", "rod", anchor=(1e6, -1e6)))
    model, state = plane.build()
    assert np.abs(joint_rows(model.joints, state).error).max() < 1e-9


def test_joints_are_frozen_and_kinds_are_all_there():
    assert Weld is Fixed
    hinge = Hinge("a", "b", anchor=P, axis=X)
    with pytest.raises(AttributeError):
        hinge.axis = Z
    assert Slider("a").collide is False
