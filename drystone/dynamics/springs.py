"""Springs between two bodies, or a body and the world, with dampers in parallel.

All springs of a kind are bound together and evaluated as arrays. Both ends of a spring get
opposite forces and the torques that keep the angular momentum of the pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from drystone.dynamics import check
from drystone.dynamics.forces import BoundForce, Force, Names, index
from drystone.dynamics.frames import (
    conjugate,
    cross,
    logarithm,
    moment,
    product,
    rotations,
    spin_velocity,
    turned,
)
from drystone.errors import ModelError
from drystone.model import Model, State
from drystone.types import BodyLike, Bools, Floats, Ints, VectorLike


@dataclass(frozen=True, slots=True)
class Spring(Force):
    """A straight spring: tension stiffness (length - rest_length) + damping d(length)/dt.

    a, b: bodies; b may be ``"world"``. anchor_a, anchor_b (dim,) [m]: the ends, each in its
    body's own frame (world coordinates at the world's end); the frame's origin by default.
    stiffness [N/m], rest_length [m], damping [N s/m]: 0 or more. A spring of length zero has no
    direction: it pulls with nothing, whatever its rest length.
    """

    a: BodyLike
    b: BodyLike = check.WORLD
    anchor_a: VectorLike | None = None
    anchor_b: VectorLike | None = None
    stiffness: float = 0.0
    rest_length: float = 0.0
    damping: float = 0.0
    fields: ClassVar[tuple[str, ...]] = ("a", "b")

    @classmethod
    def bind(cls, forces: Sequence[Self], names: Names, dim: int) -> BoundForce:
        n, origin = len(forces), (0.0,) * dim
        ends, anchors = np.empty((2, n), np.int64), np.empty((2, n, dim))
        numbers = np.empty((3, n))
        for i, spring in enumerate(forces):
            owner, ends[:, i] = _ends("Spring", spring.a, spring.b, names)
            for k, field in enumerate(("anchor_a", "anchor_b")):
                anchor = getattr(spring, field)
                anchors[k, i] = check.vector(
                    owner, field, origin if anchor is None else anchor, dim
                )
            for k, field in enumerate(("stiffness", "rest_length", "damping")):
                numbers[k, i] = check.not_negative(owner, field, getattr(spring, field))
        return _Springs(ends, anchors, numbers)


class _Springs:
    """ends (2, n): body indices, -1 the world; anchors (2, n, dim); numbers (3, n): k, l0, c.

    Both ends of all springs are rows of one array. Rows of the world are rows of body 0 times 0,
    which is faster than to leave them out.
    """

    __slots__ = ("anchor", "body", "held", "numbers", "world")

    def __init__(self, ends: Ints, anchors: Floats, numbers: Floats) -> None:
        anchor = anchors.reshape(-1, anchors.shape[-1])
        self.held = (ends.reshape(-1, 1) >= 0).astype(float)
        self.body = np.maximum(ends.ravel(), 0)
        self.world, self.anchor = (1.0 - self.held) * anchor, self.held * anchor
        self.numbers = numbers

    def add(self, model: Model, state: State, out: Floats) -> None:
        k, rest, c = self.numbers
        arm, d, length = self._now(model, state)
        n, dim = d.shape
        way = np.divide(d, length, out=np.zeros_like(d), where=length > 0)
        velocity = state.velocity[self.body]
        speed = velocity[:, :dim] + spin_velocity(velocity[:, dim:], arm)
        speed *= self.held
        rate = np.sum(way * (speed[:n] - speed[n:]), axis=1)
        pull = -(k * (length[:, 0] - rest) + c * rate)[:, None] * way
        load = np.empty_like(velocity)
        load[:n, :dim], load[n:, :dim] = pull, -pull
        load[:, dim:] = moment(arm, load[:, :dim])
        load *= self.held
        np.add.at(out, self.body, load)

    def potential(self, model: Model, state: State) -> float:
        k, rest, _ = self.numbers
        _, _, length = self._now(model, state)
        return float(np.sum(0.5 * k * (length[:, 0] - rest) ** 2))

    def _now(self, model: Model, state: State) -> tuple[Floats, Floats, Floats]:
        """Arms (2 n, dim) from centres of mass to ends; from end b to end a (n, dim); lengths."""
        R = rotations(state.orientation[self.body])
        arm = turned(R, self.anchor - self.held * model.centre[self.body])
        place = self.world + self.held * state.position[self.body] + arm
        n = place.shape[0] // 2
        d = place[:n] - place[n:]
        return arm, d, np.sqrt(np.sum(d * d, axis=1, keepdims=True))


@dataclass(frozen=True, slots=True)
class TorsionSpring(Force):
    """A spring against the turn of `a` relative to `b`: torque stiffness (angle - rest_angle).

    stiffness [N m/rad], rest_angle [rad], damping [N m s/rad].
    In the plane the angle counts whole turns. In space it is the turn about `axis` (3,), which is
    fixed in b (world axes for the world): in (-pi, pi], and the spring pulls the shorter way to
    its rest. Without an axis a spatial spring resists every turn alike: its torque is along the
    rotation vector from b to a, and its rest is the aligned position.
    """

    a: BodyLike
    b: BodyLike = check.WORLD
    stiffness: float = 0.0
    rest_angle: float = 0.0
    damping: float = 0.0
    axis: VectorLike | None = None
    fields: ClassVar[tuple[str, ...]] = ("a", "b")

    @classmethod
    def bind(cls, forces: Sequence[Self], names: Names, dim: int) -> BoundForce:
        n = len(forces)
        ends, axes, numbers = np.empty((2, n), np.int64), np.zeros((n, 3)), np.empty((3, n))
        for i, spring in enumerate(forces):
            owner, ends[:, i] = _ends("TorsionSpring", spring.a, spring.b, names)
            rest = check.number(owner, "rest_angle", spring.rest_angle)
            numbers[0, i] = check.not_negative(owner, "stiffness", spring.stiffness)
            numbers[1, i] = rest
            numbers[2, i] = check.not_negative(owner, "damping", spring.damping)
            if spring.axis is not None:
                if dim == 2:
                    raise ModelError(f"{owner}: axis = {spring.axis}: a planar world has one axis")
                axes[i] = check.direction(owner, "axis", spring.axis, 3)
            elif dim == 3 and rest != 0:
                raise ModelError(f"{owner}: rest_angle = {rest:g} without an axis to turn about")
        return _Planar(ends, numbers) if dim == 2 else _Spatial(ends, axes, numbers)


@dataclass(frozen=True, slots=True)
class _Planar:
    ends: Ints
    numbers: Floats

    def add(self, model: Model, state: State, out: Floats) -> None:
        k, _, c = self.numbers
        rate = _of_bodies(self.ends, state.velocity[:, 2])
        torque = -k * self._stretch(state) - c * (rate[0] - rate[1])
        for end, sign in zip(self.ends, (1.0, -1.0), strict=True):
            held = end >= 0
            np.add.at(out[:, 2], end[held], sign * torque[held])

    def potential(self, model: Model, state: State) -> float:
        return float(np.sum(0.5 * self.numbers[0] * self._stretch(state) ** 2))

    def _stretch(self, state: State) -> Floats:
        angle = _of_bodies(self.ends, state.orientation)
        return angle[0] - angle[1] - self.numbers[1]


@dataclass(frozen=True, slots=True)
class _Spatial:
    """axes (n, 3) in b's axes; zero for springs against every turn."""

    ends: Ints
    axes: Floats
    numbers: Floats

    def add(self, model: Model, state: State, out: Floats) -> None:
        k, _, c = self.numbers
        q_b = _of_bodies(self.ends[1:], state.orientation, (1.0, 0.0, 0.0, 0.0))[0]
        R_b = rotations(q_b)
        spin = _of_bodies(self.ends, state.velocity[:, 3:], (0.0, 0.0, 0.0))
        stretch, gradient, whole = self._twist(state)
        rate = turned(R_b.transpose(0, 2, 1), spin[0] - spin[1])  # in b's axes
        about = -(k * stretch + c * np.sum(gradient * rate, axis=1))[:, None] * gradient
        every = -k[:, None] * self._vector(state) - c[:, None] * rate
        torque = turned(R_b, np.where(whole[:, None], every, about))
        for end, sign in zip(self.ends, (1.0, -1.0), strict=True):
            held = end >= 0
            np.add.at(out[:, 3:], end[held], sign * torque[held])

    def potential(self, model: Model, state: State) -> float:
        stretch, _, whole = self._twist(state)
        square = np.where(whole, np.sum(self._vector(state) ** 2, axis=1), stretch**2)
        return float(np.sum(0.5 * self.numbers[0] * square))

    def _relative(self, state: State) -> Floats:
        q = _of_bodies(self.ends, state.orientation, (1.0, 0.0, 0.0, 0.0))
        return product(conjugate(q[1]), q[0])

    def _vector(self, state: State) -> Floats:
        return logarithm(self._relative(state))

    def _twist(self, state: State) -> tuple[Floats, Floats, Bools]:
        """Angle past the rest and its gradient (n, 3) by turns of a in b's axes; no axis?

        With q = (w, v) of a relative to b and s = v.u, the angle about u is phi = 2 atan2(s, w).
        A small turn delta of a changes q by (0, delta) q / 2, so that
        d(phi) = delta . (w^2 u + w v x u + s v) / (w^2 + s^2): u itself if only u is turned about.
        """
        q, u = self._relative(state), self.axes
        w, v = q[:, :1], q[:, 1:]
        s = np.sum(v * u, axis=1, keepdims=True)
        size = w * w + s * s
        top = w * w * u + w * cross(v, u) + s * v
        gradient = np.divide(top, size, out=np.zeros_like(top), where=size > 1e-30)
        angle = 2.0 * np.arctan2(s[:, 0], w[:, 0]) - self.numbers[1]
        stretch = np.pi - np.mod(np.pi - angle, 2.0 * np.pi)  # into (-pi, pi]
        return stretch, gradient, np.all(u == 0.0, axis=1)


def _of_bodies(ends: Ints, values: Floats, of_world: Any = 0.0) -> Floats:
    """values[ends], with `of_world` where an end is the world."""
    out: Floats = values[ends]
    out[ends < 0] = of_world
    return out


def _ends(kind: str, a: Any, b: Any, names: Names) -> tuple[str, tuple[int, int]]:
    first, second = (check.body_name(kind, body, world=True) for body in (a, b))
    owner = f"{kind} from {first!r} to {second!r}"
    if first == second:
        raise ModelError(f"{owner}: expected two different ends")
    return owner, (index(owner, a, names, world=True), index(owner, b, names, world=True))
