"""Prescribed motions: where a kinematic body is at a time, and how it gets to the next one.

A motion as the user writes it says how a body moves; bound to a body it has

    pose(t) -> position (dim,) [m], orientation: angle [rad] or quaternion (4,)
    velocity(t, h) -> (dof,) average over [t, t + h]: pose(t + h) = pose(t) moved by h velocity,
        position by addition and orientation by exp(h omega); h = 0 gives the rate at t

of the body's own frame. Steppers move the body by that average, so that it never drifts away
from its motion, and contacts see the velocity that the body really has over the step.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from drystone.dynamics import check
from drystone.dynamics.frames import conjugate, exponential, logarithm, product
from drystone.errors import ModelError, SimulationError
from drystone.functions import WithFunctions
from drystone.types import Floats, Real, VectorLike
from drystone.values import refused_call

RATE_STEP = 1e-6  # [s] of the central difference that stands in for a derivative
Pose = tuple[Floats, Any]
Given = tuple[VectorLike, Real | VectorLike]  # place and turn, or their rates


class BoundMotion(Protocol):
    """What a stepper asks of the motion of one body."""

    def pose(self, t: float) -> Pose: ...

    def velocity(self, t: float, h: float) -> Floats: ...


class Motion(Protocol):
    """What ``add_body(motion=...)`` takes; `start` is the pose the body was added with.

    One that says where the body is names "position" or "orientation" in ``prescribes``.
    """

    def bind(self, owner: str, dim: int, start: tuple[Any, Any]) -> BoundMotion: ...


@dataclass(frozen=True, slots=True)
class ConstantVelocity:
    """The body's frame moves with a constant velocity and turns with a constant spin.

    velocity (dim,) [m/s]; angular_velocity [rad/s]: a number in the plane, (3,) in space.
    """

    velocity: VectorLike | None = None
    angular_velocity: Real | VectorLike | None = None

    def bind(self, owner: str, dim: int, start: tuple[Any, Any]) -> BoundMotion:
        still = (0.0,) * dim
        linear = check.vector(owner, "motion.velocity", _or(self.velocity, still), dim)
        rest = 0.0 if dim == 2 else still
        spin = _or(self.angular_velocity, rest)
        angular = check.spin(owner, "motion.angular_velocity", spin, dim)
        return _Uniform(np.array(start[0]), _array(start[1]), np.array(linear), np.array(angular))


@dataclass(frozen=True, slots=True)
class Oscillation:
    """x(t) = start + direction amplitude sin(2 pi frequency t + phase): the shaken box.

    direction (dim,), of any length; amplitude [m]; frequency [Hz]; phase [rad].
    """

    direction: VectorLike
    amplitude: float
    frequency: float
    phase: float = 0.0

    def bind(self, owner: str, dim: int, start: tuple[Any, Any]) -> BoundMotion:
        way = check.direction(owner, "motion.direction", self.direction, dim)
        amplitude = check.number(owner, "motion.amplitude", self.amplitude)
        frequency = check.not_negative(owner, "motion.frequency", self.frequency)
        phase = check.number(owner, "motion.phase", self.phase)
        swing = amplitude * np.array(way)
        return _Swinging(np.array(start[0]), _array(start[1]), swing, 2 * np.pi * frequency, phase)


@dataclass(frozen=True, slots=True)
class MotionFunction(WithFunctions):
    """Any motion: function(t) -> (position, orientation) of the body's frame in the world.

    derivative(t) -> (velocity, angular_velocity) is asked for rates; without it they are
    differences over 2 microseconds, and never of times before 0. A planar angle must be
    continuous (no jumps by 2 pi); a quaternion may change sign. The body must turn by less than
    half a turn in a step.
    """

    function: Callable[[float], Given]
    derivative: Callable[[float], Given] | None = None
    prescribes: ClassVar[tuple[str, ...]] = ("position", "orientation")

    def bind(self, owner: str, dim: int, start: tuple[Any, Any]) -> BoundMotion:
        for field in ("function", "derivative"):
            value = getattr(self, field)
            if not callable(value) and (field == "function" or value is not None):
                raise ModelError(f"{owner}: motion.{field} = {value!r}: expected a function of t")
            refused = None if value is None else refused_call(value, "t")
            if refused is not None:
                raise ModelError(f"{owner}: motion.{field}: {refused}")
        return _Prescribed(owner, dim, self.function, self.derivative)


@dataclass(frozen=True, slots=True)
class _Uniform:
    position: Floats
    orientation: Floats
    linear: Floats
    angular: Floats

    def pose(self, t: float) -> Pose:
        position = self.position + t * self.linear
        if position.size == 2:
            return position, float(self.orientation + t * self.angular[0])
        return position, product(exponential(t * self.angular), self.orientation)

    def velocity(self, t: float, h: float) -> Floats:
        return np.concatenate([self.linear, self.angular])


def mean_rate(omega: float, phase: float, t: float, h: float) -> float:
    """Average rate of sin(omega t + phase) over [t, t + h]."""
    half = 0.5 * omega * h
    # sin a - sin b = 2 cos((a + b) / 2) sin((a - b) / 2): no cancellation for small h
    return omega * math.cos(omega * t + phase + half) * float(np.sinc(half / np.pi))


@dataclass(frozen=True, slots=True)
class _Swinging:
    position: Floats
    orientation: Floats
    swing: Floats
    omega: float
    phase: float

    def pose(self, t: float) -> Pose:
        position = self.position + math.sin(self.omega * t + self.phase) * self.swing
        return position, _value(self.orientation)

    def velocity(self, t: float, h: float) -> Floats:
        rate = mean_rate(self.omega, self.phase, t, h)
        out = np.zeros(3 * (self.swing.size - 1))
        out[: self.swing.size] = rate * self.swing
        return out


@dataclass(frozen=True, slots=True)
class _Prescribed(WithFunctions):
    owner: str
    dim: int
    function: Callable[[float], Given]
    derivative: Callable[[float], Given] | None

    def pose(self, t: float) -> Pose:
        owner = f"{self.owner}, motion at t = {t:.9g} s"
        position, orientation = _pair(owner, self.function(t), "(position, orientation)")
        try:
            place = check.vector(owner, "position", position, self.dim)
            turn = check.orientation(owner, "orientation", orientation, self.dim)
        except ModelError as error:
            raise SimulationError(str(error)) from None
        return np.array(place), _value(_array(turn))

    def velocity(self, t: float, h: float) -> Floats:
        if h == 0.0 and self.derivative is not None:
            return self._rate(self.derivative, t)
        before, after = (t, t + h) if h != 0.0 else (_earlier(t), t + RATE_STEP)
        (p, q), (p_next, q_next) = self.pose(before), self.pose(after)
        angular = [q_next - q] if self.dim == 2 else logarithm(product(q_next, conjugate(q)))
        step = h if h != 0.0 else after - before
        return np.concatenate([p_next - p, angular]) / step

    def _rate(self, derivative: Callable[[float], Given], t: float) -> Floats:
        owner = f"{self.owner}, derivative of the motion at t = {t:.9g} s"
        linear, angular = _pair(owner, derivative(t), "(velocity, angular_velocity)")
        try:
            rate = check.vector(owner, "velocity", linear, self.dim)
            return np.array(rate + check.spin(owner, "angular_velocity", angular, self.dim))
        except ModelError as error:
            raise SimulationError(str(error)) from None


def _pair(owner: str, value: Any, expected: str) -> tuple[Any, Any]:
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise SimulationError(f"{owner}: got {value!r}: expected {expected}")
    return value[0], value[1]


def _earlier(t: float) -> float:
    """Start of the difference for a rate at t: a motion may not be defined before time 0."""
    return t if 0.0 <= t < RATE_STEP else t - RATE_STEP


def _or(value: Any, default: Any) -> Any:
    return default if value is None else value


def _array(orientation: Any) -> Floats:
    return np.array(orientation, float)


def _value(orientation: Floats) -> Any:
    return orientation.copy() if orientation.ndim else float(orientation)
