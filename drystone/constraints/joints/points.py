r"""Joints that hold one point of a: Ball, PointOnLine, PointOnPlane, Distance.

d = p_a - p_b: from b's anchor to a's; B_i: axes of b's frame, B_2 the axis; r: anchors from the
centres of mass; e = p_a - x_b.

    Ball          C = (B_0.d, B_1.d, B_2.d)    3 rows, left: 3 rotations
    PointOnLine   C = (B_0.d, B_1.d)           2 rows, left: slide B_2.d, 3 rotations
    PointOnPlane  C = B_2.d                    1 row,  left: x = B_0.d, y = B_1.d, 3 rotations
    Distance      C = |d| - length             1 row,  left: 5 (planar 2)

    dC/dt = f.v_a + (r_a x f).w_a - f.v_b - (e x f).w_b,  f = B_i, or d / |d| for Distance

Axes turn with b, hence the arm e: d(B_i.d)/dt has a term (w_b x B_i).d. A Ball with an axis also
has coordinates to limit: swing, the angle between a's axis and b's, and twist about the axis.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from drystone.constraints.joints.actions import Action, actions_of
from drystone.constraints.joints.base import AxisJoint, Function, Joint, Placed, Pose
from drystone.dynamics import check
from drystone.errors import ModelError
from drystone.kernels.joints import LENGTH, POINT, SPIN, TILT, TWIST
from drystone.types import Floats, Real

X, Y, Z = ((POINT, i, 0, 0) for i in range(3))
SPINS = ("spin_x", "spin_y", "spin_z")


@dataclass(frozen=True, slots=True)
class Ball(AxisJoint):
    """Ball and socket: a point of a stays on a point of b.

    axis: optional; with it limits={"swing": (0, 0.6), "twist": (-0.5, 0.5)} [rad] make sense.
    friction: largest torque [N m] about each of b's axes.
    """

    rows: ClassVar[dict[int, tuple[Function, ...]]] = {3: (X, Y, Z)}
    coordinates: ClassVar[tuple[str, ...]] = ("swing", "twist")

    def find_frames(self, owner: str, dim: int, poses: tuple[Pose, Pose]) -> tuple[Floats, Floats]:
        if self.axis is None and self.axis_b is None:
            return np.eye(3), np.eye(3)
        return AxisJoint.find_frames(self, owner, dim, poses)

    def place(self, owner: str, dim: int, poses: tuple[Pose, Pose]) -> Placed:
        self.check_dim(owner, dim)
        local = [p.rotation.T for p in poses]
        frames = np.array(
            [R @ f for R, f in zip(local, self.find_frames(owner, dim, poses), strict=True)]
        )
        anchors = self.find_anchors(owner, dim, poses)
        names: tuple[str, ...] = ()
        free: list[tuple[Function, float]] = []
        if self.axis is not None or self.axis_b is not None:
            names, free = self.coordinates, [((TILT, 0, 0, 0), 0.0), ((TWIST, 0, 0, 0), 0.0)]
        if self.friction is not None:
            names += SPINS
            free += [((SPIN, i, 0, 0), 0.0) for i in range(3)]
        placed = Placed(anchors, frames, [(f, 0.0) for f in self.rows[3]], free, names)
        placed.actions = self.act(owner, names)
        return placed

    def act(self, owner: str, names: Any) -> list[Action]:
        for field, value in (("motor", self.motor), ("spring", self.spring)):
            if value is not None:
                raise ModelError(f"{owner}: {field} = {value!r}: a Ball has none")
        if self.limits is not None and "swing" not in names:
            raise ModelError(f"{owner}: limits = {self.limits!r} need an axis to measure from")
        drag = None if self.friction is None else dict.fromkeys(SPINS, self.friction)
        return actions_of(owner, names, self.limits, None, drag, None)


@dataclass(frozen=True, slots=True)
class PointOnLine(AxisJoint):
    """A point of a (its anchor) stays on the line through b's anchor along b's axis."""

    rows: ClassVar[dict[int, tuple[Function, ...]]] = {3: (X, Y)}
    free: ClassVar[dict[int, tuple[Function, ...]]] = {3: (Z,)}
    coordinates: ClassVar[tuple[str, ...]] = ("slide",)


@dataclass(frozen=True, slots=True)
class PointOnPlane(AxisJoint):
    """A point of a stays in the plane through b's anchor across b's axis, on both its sides."""

    rows: ClassVar[dict[int, tuple[Function, ...]]] = {3: (Z,)}
    free: ClassVar[dict[int, tuple[Function, ...]]] = {3: (X, Y)}
    coordinates: ClassVar[tuple[str, ...]] = ("x", "y")


@dataclass(frozen=True, slots=True)
class Distance(Joint):
    """A rod between two points, anchor_a and anchor_b (dim,) in their bodies' own frames.

    length [m]: that of the description by default. With limits, a motor, friction or a spring on
    it the length is free instead: limits=(0, 2) is a rope of 2 m.
    """

    _: KW_ONLY
    length: Real | None = None
    dims: ClassVar[tuple[int, ...]] = (2, 3)
    coordinates: ClassVar[tuple[str, ...]] = ("length",)

    def place(self, owner: str, dim: int, poses: tuple[Pose, Pose]) -> Placed:
        anchors = self.find_anchors(owner, dim, poses)
        frames = np.array([pose.rotation.T for pose in poses])
        function: Function = (LENGTH, 0, 0, 0)
        actions = self.act(owner, self.coordinates)
        if actions:
            if self.length is not None:
                raise ModelError(f"{owner}: length = {self.length!r}: what acts on it sets it free")
            return Placed(anchors, frames, [], [(function, 0.0)], self.coordinates, actions)
        if self.length is not None:
            length = check.positive(owner, "length", self.length)
        else:
            ends = [pose.point(anchor) for pose, anchor in zip(poses, anchors, strict=True)]
            length = float(np.linalg.norm(ends[0] - ends[1]))
            if length == 0.0:
                raise ModelError(f"{owner}: its ends are in one place: give length, or use a Ball")
        return Placed(anchors, frames, [(function, length)], [], ())

    def default_anchors(self, owner: str, dim: int, poses: tuple[Pose, Pose]) -> Floats:
        return np.zeros((2, dim))

    def find_anchors(self, owner: str, dim: int, poses: tuple[Pose, Pose]) -> Floats:
        if self.anchor is not None:
            raise ModelError(f"{owner}: anchor = {self.anchor!r}: give its ends anchor_a, anchor_b")
        return Joint.find_anchors(self, owner, dim, poses)
