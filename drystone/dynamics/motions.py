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
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Protocol

import numpy as np

from drystone.dynamics import check
from drystone.dynamics.frames import conjugate, exponential, logarithm, product
from drystone.errors import ModelError, SimulationError
from drystone.functions import WithFunctions
from drystone.types import Floats, MatrixLike, Real, VectorLike
from drystone.values import refused_call, text

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
        swing = amplitude * np.array((*way, *(2 * dim - 3) * (0.0,)))
        return _Swinging(np.array(start[0]), _array(start[1]), swing, 2 * np.pi * frequency, phase)


@dataclass(frozen=True, slots=True)
class Rocking:
    """The body turns to and fro about the origin of its frame: by amplitude sin(2 pi t / period +
    phase) from the orientation it was added with.

    amplitude [rad]; period [s]; phase [rad]; axis (3,) in the world, of any length: in space only.
    """

    amplitude: float
    period: float
    phase: float = 0.0
    axis: VectorLike | None = None

    def bind(self, owner: str, dim: int, start: tuple[Any, Any]) -> BoundMotion:
        amplitude = check.number(owner, "motion.amplitude", self.amplitude)
        period = check.positive(owner, "motion.period", self.period)
        phase = check.number(owner, "motion.phase", self.phase)
        if dim == 2:
            if self.axis is not None:
                raise ModelError(f"{owner}: motion.axis = {self.axis!r}: a plane has one axis")
            way: tuple[float, ...] = (1.0,)
        elif self.axis is None:
            raise ModelError(f"{owner}: motion has no axis to rock about")
        else:
            way = check.direction(owner, "motion.axis", self.axis, dim)
        swing, rate = amplitude * np.array((*dim * (0.0,), *way)), 2 * math.pi / period
        return _Swinging(np.array(start[0]), _array(start[1]), swing, rate, phase)


@dataclass(frozen=True, slots=True)
class Waypoints:
    """From pose to pose, with a rest at each: the way between two is s^3 (10 - 15 s + 6 s^2), so
    that velocity and acceleration vanish at both.

    times (n,) [s], ascending, two or more; positions (n, dim) [m] of the body's frame: where it
    was added by default; orientations (n,) [rad] or quaternions (n, 4): as it was added by
    default. Before the first time the body is at the first pose and after the last at the last,
    or goes round again if `repeat`: then the last pose must be the first.
    """

    times: VectorLike
    positions: MatrixLike | None = None
    orientations: VectorLike | MatrixLike | None = None
    repeat: bool = False

    @property
    def prescribes(self) -> tuple[str, ...]:
        """What a body with this motion must not say by itself."""
        said = {"position": self.positions, "orientation": self.orientations}
        return tuple(field for field, value in said.items() if value is not None)

    def bind(self, owner: str, dim: int, start: tuple[Any, Any]) -> BoundMotion:
        times = self._times(owner)
        n = times.size
        places = _rows(owner, "motion.positions", self.positions, n, start[0])
        points = np.array([check.vector(owner, "motion.positions", p, dim) for p in places])
        turns = _rows(owner, "motion.orientations", self.orientations, n, start[1])
        angles = np.array([check.orientation(owner, "motion.orientations", q, dim) for q in turns])
        if not isinstance(self.repeat, bool):
            raise ModelError(f"{owner}: motion.repeat = {self.repeat!r}: expected True or False")
        if self.repeat and (np.any(points[0] != points[-1]) or np.any(angles[0] != angles[-1])):
            raise ModelError(f"{owner}: motion repeats, but its last pose is not its first")
        steps = [_turn(a, b) for a, b in pairwise(angles)]
        return _Waypoints(times, points, angles, np.array(steps), self.repeat)

    def _times(self, owner: str) -> Floats:
        if not _sequence(self.times):
            raise ModelError(f"{owner}: motion.times = {text(self.times)}: expected seconds")
        times = np.array([check.number(owner, "motion.times", t) for t in self.times])
        if times.size < 2 or not (np.diff(times) > 0).all():
            said = f"motion.times = {times.tolist()}"
            raise ModelError(f"{owner}: {said}: expected two or more, ascending")
        return times


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


@dataclass(frozen=True, slots=True)
class _Swinging:
    """position and orientation, moved to and fro by sin(omega t + phase) swing (dof,)."""

    position: Floats
    orientation: Floats
    swing: Floats
    omega: float
    phase: float

    def pose(self, t: float) -> Pose:
        way, dim = math.sin(self.omega * t + self.phase), self.position.size
        position, turn = self.position + way * self.swing[:dim], way * self.swing[dim:]
        if dim == 2:
            return position, float(self.orientation + turn[0])
        if not turn.any():
            return position, self.orientation.copy()
        return position, product(exponential(turn), self.orientation)

    def velocity(self, t: float, h: float) -> Floats:
        half = 0.5 * self.omega * h
        # sin a - sin b = 2 cos((a + b) / 2) sin((a - b) / 2): no cancellation for small h
        mean = self.omega * math.cos(self.omega * t + self.phase + half)
        return mean * float(np.sinc(half / np.pi)) * self.swing


def _sequence(value: Any) -> bool:
    return isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim > 0)


def _rows(owner: str, field: str, value: Any, n: int, start: Any) -> Sequence[Any]:
    """n poses, all where the body starts if none are given."""
    if value is None:
        return [start] * n
    if not _sequence(value) or len(value) != n:
        raise ModelError(
            f"{owner}: {field} = {text(value)}: expected one for each of the {n} times"
        )
    return list(value)


def _turn(a: Any, b: Any) -> Any:
    """Angle, or rotation vector (3,), that leads from one orientation to the next."""
    return b - a if np.ndim(a) == 0 else logarithm(product(b, conjugate(a)))


@dataclass(frozen=True, slots=True)
class _Waypoints:
    """turns: (n - 1,) or (n - 1, 3), from each orientation to the next."""

    times: Floats
    points: Floats
    angles: Floats
    turns: Floats
    repeat: bool

    def _at(self, t: float) -> tuple[int, float, float]:
        """The stretch that holds t, how far through it, and its length [s]."""
        first, last = float(self.times[0]), float(self.times[-1])
        if self.repeat and not first <= t < last:
            t = first + (t - first) % (last - first)
        k = int(np.searchsorted(self.times, t, side="right")) - 1
        k = min(max(k, 0), self.times.size - 2)
        length = float(self.times[k + 1] - self.times[k])
        return k, min(max((t - float(self.times[k])) / length, 0.0), 1.0), length

    def pose(self, t: float) -> Pose:
        k, s, _ = self._at(t)
        way = s**3 * (10 - 15 * s + 6 * s**2)
        position = self.points[k] + way * (self.points[k + 1] - self.points[k])
        if self.angles.ndim == 1:
            return position, float(self.angles[k] + way * self.turns[k])
        if not self.turns[k].any():  # the same bits, and a run asks for three poses a step
            return position, self.angles[k].copy()
        return position, product(exponential(way * self.turns[k]), self.angles[k])

    def velocity(self, t: float, h: float) -> Floats:
        if h == 0.0:
            k, s, length = self._at(t)
            rate = 30 * s**2 * (1 - s) ** 2 / length
            turn = np.atleast_1d(self.turns[k])
            return rate * np.concatenate([self.points[k + 1] - self.points[k], turn])
        (p, q), (p_next, q_next) = self.pose(t), self.pose(t + h)
        turned = np.ndim(q) == 0 or bool((q != q_next).any())
        turn = np.atleast_1d(_turn(q, q_next)) if turned else np.zeros(3)
        return np.concatenate([p_next - p, turn]) / h


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
