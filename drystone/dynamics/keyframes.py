"""Prescribed motions from a few numbers: rocking about a point, and from pose to pose."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from drystone.dynamics import check
from drystone.dynamics.frames import conjugate, exponential, logarithm, product
from drystone.dynamics.motions import BoundMotion, Pose, mean_rate
from drystone.errors import ModelError
from drystone.types import Floats, MatrixLike, VectorLike
from drystone.values import text


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
        swing, rate = amplitude * np.array(way), 2 * math.pi / period
        return _Rocking(np.array(start[0]), np.array(start[1], float), swing, rate, phase)


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
class _Rocking:
    position: Floats
    orientation: Floats
    swing: Floats
    omega: float
    phase: float

    def pose(self, t: float) -> Pose:
        angle = math.sin(self.omega * t + self.phase) * self.swing
        if self.position.size == 2:
            return self.position.copy(), float(self.orientation + angle[0])
        return self.position.copy(), product(exponential(angle), self.orientation)

    def velocity(self, t: float, h: float) -> Floats:
        rate = mean_rate(self.omega, self.phase, t, h)
        return np.concatenate([np.zeros(self.position.size), rate * self.swing])


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
