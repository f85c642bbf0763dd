"""Motions from a few numbers: they agree with their formulas and with differences of poses."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import drystone as ds
from drystone.dynamics.frames import conjugate, logarithm, product, rotation

AT_REST = ((0.0, 0.0), 0.0)
SPATIAL = ((1.0, 2.0, 3.0), (1.0, 0.0, 0.0, 0.0))
TURN = (math.cos(0.4), 0.0, math.sin(0.4), 0.0)  # 0.8 rad about y


def bound(motion, dim=2, start=None):
    return motion.bind("body 'x'", dim, start or (AT_REST if dim == 2 else SPATIAL))


def moved(motion, t, h):
    """Velocity from two poses alone."""
    (p, q), (r, s) = motion.pose(t), motion.pose(t + h)
    turn = [s - q] if np.ndim(q) == 0 else logarithm(product(s, conjugate(q)))
    return np.concatenate([r - p, turn]) / h


def test_rocking_is_a_sine_about_the_start():
    motion = bound(ds.Rocking(0.3, period=2.0, phase=0.1), start=((1.0, 2.0), 0.5))
    for t in (0.0, 0.3, 1.7):
        place, angle = motion.pose(t)
        assert place.tolist() == [1.0, 2.0]
        assert angle == pytest.approx(0.5 + 0.3 * math.sin(math.pi * t + 0.1), abs=1e-15)
    rate = 0.3 * math.pi * math.cos(math.pi * 0.3 + 0.1)
    assert motion.velocity(0.3, 0.0) == pytest.approx([0, 0, rate])


def test_rocking_in_space_turns_about_its_axis():
    motion = bound(ds.Rocking(0.5, 1.0, axis=(0, 0, 2)), 3)
    R = rotation(motion.pose(0.25)[1])
    c, s = math.cos(0.5), math.sin(0.5)
    assert pytest.approx(np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]), abs=1e-15) == R


def test_waypoints_pass_their_poses_at_rest():
    poses = [(0, 0, 0), (1, 0, 2), (1, 1, 2)]
    turns = [(1, 0, 0, 0), TURN, TURN]
    motion = bound(ds.Waypoints((1, 2, 4), poses, turns), 3)
    for t, p, q in zip((1, 2, 4), poses, turns, strict=True):
        place, turn = motion.pose(float(t))
        assert place == pytest.approx(np.array(p, float), abs=1e-15)
        assert abs(turn @ np.array(q, float)) == pytest.approx(1.0, abs=1e-15)
        assert np.abs(motion.velocity(float(t), 0.0)).max() == 0.0
    # halfway in time is halfway in space, and fastest there: 15/8 of the mean speed
    place, turn = motion.pose(1.5)
    assert place == pytest.approx([0.5, 0, 1.0])
    assert logarithm(turn) == pytest.approx([0, 0.4, 0])
    assert motion.velocity(1.5, 0.0) == pytest.approx(15 / 8 * np.array([1, 0, 2, 0, 0.8, 0]))
    assert motion.pose(-5.0)[0].tolist() == [0, 0, 0]
    assert motion.pose(9.0)[0].tolist() == [1, 1, 2]
    # no jerk of the velocity at a stop: its change vanishes with the square of the time
    assert np.abs(motion.velocity(2.0 + 1e-3, 0.0)).max() < 1e-4


def test_waypoints_repeat():
    motion = bound(ds.Waypoints((0, 1, 3), [(0, 0), (1, 0), (0, 0)], repeat=True))
    for t in (0.4, 2.2):
        assert motion.pose(t + 6.0)[0] == pytest.approx(motion.pose(t)[0], abs=1e-14)
    assert motion.pose(3.0)[0].tolist() == [0, 0]


MOTIONS = (
    (ds.Rocking(0.7, 1.3, 0.2), 2),
    (ds.Rocking(0.7, 1.3, 0.2, axis=(1, 2, -1)), 3),
    (ds.Waypoints((0, 1, 2), orientations=(0, 1, -1)), 2),
    (ds.Waypoints((0, 1, 2), [(0, 0, 0), (1, 2, 3), (0, 0, 1)], [(1, 0, 0, 0), TURN, TURN]), 3),
)


@settings(deadline=None, derandomize=True, max_examples=40)
@given(st.sampled_from(MOTIONS), st.floats(0, 3), st.floats(1e-3, 0.2))
def test_velocities_lead_from_pose_to_pose(case, t, h):
    motion = bound(*case)
    assert motion.velocity(t, h) == pytest.approx(moved(motion, t, h), rel=1e-9, abs=1e-9)
    centred = moved(motion, t - 1e-5, 2e-5)
    assert motion.velocity(t, 0.0) == pytest.approx(centred, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize(
    ("motion", "dim", "words"),
    [
        (ds.Rocking(0.1, 0.0), 2, "motion.period = 0"),
        (ds.Rocking(0.1, 1.0, axis=(0, 0, 1)), 2, "a plane has one axis"),
        (ds.Rocking(0.1, 1.0), 3, "no axis"),
        (ds.Waypoints((0,), [(0, 0)]), 2, "two or more"),
        (ds.Waypoints((0, 0), [(0, 0), (1, 1)]), 2, "ascending"),
        (ds.Waypoints("ab"), 2, "expected seconds"),
        (ds.Waypoints((0, 1), [(0, 0)]), 2, "one for each of the 2 times"),
        (ds.Waypoints((0, 1), [(0, 0), (1, 1)], repeat=True), 2, "last pose is not its first"),
        (ds.Waypoints((0, 1), [(0, 0), (1, 1)], repeat=1), 2, "True or False"),
        (ds.Waypoints((0, 1), [(0, 0), (1, "x")]), 2, "motion.positions"),
    ],
)
def test_what_makes_no_sense_is_refused(motion, dim, words):
    world = ds.World(planar=dim == 2)
    with pytest.raises(ds.ModelError, match=words) as caught:
        world.add_body(None, name="lever", motion=motion)
    assert "body 'lever'" in str(caught.value)


def test_a_body_does_not_say_what_its_waypoints_say():
    world = ds.World(planar=True)
    motion = ds.Waypoints((0, 1), [(0, 0), (1, 1)])
    with pytest.raises(ds.ModelError, match="its motion says that"):
        world.add_body(ds.Disk(1), position=(0, 0), motion=motion)
    world.add_body(ds.Disk(1), name="a", orientation=0.5, motion=motion)
    assert world.build()[1].orientation[0] == 0.5
