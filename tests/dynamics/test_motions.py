"""Prescribed motions: the average velocity leads exactly from one pose to the next."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from drystone.dynamics.motions import ConstantVelocity, MotionFunction, Oscillation
from drystone.errors import ModelError, SimulationError

Q = (0.5, 0.5, -0.5, 0.5)
thorough = settings(deadline=None, derandomize=True, max_examples=80)
times = st.floats(0, 100)
steps = st.floats(1e-5, 0.2)


def tumbling(t):
    turn = Rotation.from_rotvec([0.3 * t, np.sin(t), 0.1]).as_quat(scalar_first=True)
    return (np.cos(t), t**2 / 50, 1.0), turn


def swinging(t):
    return [np.sin(3 * t), 0.1 * t], 2.0 * np.sin(t)


SPATIAL = {
    "constant": ConstantVelocity((1, -2, 0.5), (0.3, 0.7, -2.0)),
    "oscillation": Oscillation((1, 0, 2), 0.4, 1.5, phase=0.3),
    "function": MotionFunction(tumbling),
}
PLANAR = {
    "constant": ConstantVelocity((1, -2), 3.0),
    "oscillation": Oscillation((0, 2), 0.4, 1.5),
    "function": MotionFunction(swinging),
}


def bound(motion, dim):
    start = ((1.0, 2.0), 0.5) if dim == 2 else ((1.0, 2.0, 3.0), Q)
    return motion.bind("body 'box'", dim, start)


def matrix(q):
    return Rotation.from_quat(q, scalar_first=True).as_matrix()


@pytest.mark.parametrize("name", SPATIAL)
@thorough
@given(times, steps)
def test_spatial_average_leads_to_the_next_pose(name, t, h):
    motion = bound(SPATIAL[name], 3)
    (p, q), (p_next, q_next), v = motion.pose(t), motion.pose(t + h), motion.velocity(t, h)
    size = 1 + np.abs(p).max() + np.abs(p_next).max()
    rounding = 4e-15 * size * (1 + 10 * t)  # 2 pi f t is rounded before its sine is taken
    assert np.allclose(p + h * v[:3], p_next, rtol=0, atol=rounding)
    moved = Rotation.from_rotvec(h * v[3:]).as_matrix() @ matrix(q)
    assert np.allclose(moved, matrix(q_next), rtol=0, atol=1e-14 * (1 + 10 * t))


@pytest.mark.parametrize("name", PLANAR)
@thorough
@given(times, steps)
def test_planar_average_leads_to_the_next_pose(name, t, h):
    motion = bound(PLANAR[name], 2)
    (p, a), (p_next, a_next), v = motion.pose(t), motion.pose(t + h), motion.velocity(t, h)
    rounding = 4e-15 * (1 + np.abs(p).max() + abs(a)) * (1 + 10 * t)
    assert np.allclose(p + h * v[:2], p_next, rtol=0, atol=rounding)
    assert abs(a + h * v[2] - a_next) <= rounding
    assert isinstance(a, float)


@pytest.mark.parametrize(("motions", "dim"), [(SPATIAL, 3), (PLANAR, 2)], ids=["spatial", "planar"])
@pytest.mark.parametrize("name", SPATIAL)
def test_rate_is_the_limit_of_averages(motions, dim, name):
    motion = bound(motions[name], dim)
    for t in (0.0, 0.7, 12.0):
        average = motion.velocity(t, 1e-5)
        # one-sided, so the difference is half a step times the acceleration (below 100)
        assert np.allclose(motion.velocity(t, 0.0), average, atol=1e-3)


def test_a_motion_that_starts_at_zero_is_not_asked_before():
    motion = bound(MotionFunction(lambda t: ((t**1.5, 0.0), 0.0)), 2)
    assert np.allclose(motion.velocity(0.0, 0.0), 0, atol=1e-2)


def test_steps_do_not_drift():
    """A hundred periods in steps of 1/240 s, moved by averages: rounding only, no drift."""
    motion = bound(Oscillation((0, 0, 1), 0.05, 2.0), 3)
    h, n = 1 / 240, 12_000
    p = motion.pose(0.0)[0]
    for k in range(n):
        p = p + h * motion.velocity(k * h, h)[:3]
    assert np.allclose(p, motion.pose(n * h)[0], atol=1e-12)


def test_oscillation_by_hand():
    motion = bound(Oscillation((0, 3), 0.2, 0.5, phase=np.pi / 2), 2)
    assert np.allclose(motion.pose(0.0)[0], [1, 2.2])
    assert np.allclose(motion.pose(1.0)[0], [1, 1.8])
    assert np.allclose(motion.velocity(0.5, 0.0), [0, -0.2 * np.pi, 0])


def test_constant_velocity_by_hand():
    motion = ConstantVelocity(angular_velocity=(0, 0, np.pi / 2)).bind(
        "b", 3, ((1.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0))
    )
    position, orientation = motion.pose(1.0)
    assert np.allclose(position, [1, 0, 0])
    assert np.allclose(matrix(orientation) @ [1, 0, 0], [0, 1, 0])


def test_derivative_is_asked_for_rates():
    motion = MotionFunction(swinging, lambda t: ((3 * np.cos(3 * t), 0.1), 2 * np.cos(t)))
    assert np.array_equal(
        bound(motion, 2).velocity(1.0, 0.0), [3 * np.cos(3.0), 0.1, 2 * np.cos(1.0)]
    )


@pytest.mark.parametrize(
    ("motion", "text"),
    [
        (Oscillation((0, 0), 1, 1), "motion.direction"),
        (Oscillation((0, 1, 0), 1, 1), "motion.direction.*expected 2 numbers"),
        (Oscillation((0, 1), float("nan"), 1), "motion.amplitude = nan"),
        (Oscillation((0, 1), 1, -1), "motion.frequency = -1"),
        (ConstantVelocity((1, float("inf"))), "motion.velocity"),
        (ConstantVelocity((1, 0), (0, 0, 1)), "motion.angular_velocity"),
        (MotionFunction(3), "motion.function = 3"),
        (MotionFunction(swinging, 3), "motion.derivative = 3"),
    ],
)
def test_nonsense_is_refused(motion, text):
    with pytest.raises(ModelError, match=f"body 'box': {text}"):
        bound(motion, 2)


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda t: ((float("nan"), 0), 0), "position = .*nan"),
        (lambda t: ((0, 0, 0), 0), "position = .*expected 2 numbers"),
        (lambda t: ((0, 0), float("inf")), "orientation = inf"),
        (lambda t: (0, 0, 0), r"expected \(position, orientation\)"),
        (lambda t: None, r"expected \(position, orientation\)"),
    ],
)
def test_a_function_that_breaks_is_named_with_its_time(function, text):
    with pytest.raises(SimulationError, match=f"body 'box', motion at t = 2.5 s: .*{text}"):
        bound(MotionFunction(function), 2).pose(2.5)


def test_a_derivative_that_breaks_is_named():
    motion = bound(MotionFunction(swinging, lambda t: ((0, 0), float("nan"))), 2)
    with pytest.raises(SimulationError, match="derivative of the motion at t = 1 s"):
        motion.velocity(1.0, 0.0)
