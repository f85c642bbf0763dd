r"""Joints that slide: Slider, Cylindrical, PlanarJoint in space; Slider, Slot in the plane; Wheel.

d = p_a - p_b; A_i, B_i: axes of the frames on a and b; w = w_a - w_b; (q, v): quaternion of B'A.
In space the axis of sliding is B_2, in the plane B_0.

    Slider       C = (B_0.d, B_1.d, 2 v)                      5 rows, left: slide
    Cylindrical  C = (B_0.d, B_1.d, s B_0.A_2, s B_1.A_2)     4 rows, left: slide, turn
    PlanarJoint  C = (B_2.d, s B_0.A_2, s B_1.A_2)            3 rows, left: x, y, turn
    Wheel        C = (B_0.d, B_1.d, A_0.B_2[, steer])         4 rows, left: slide, turn[, steer]
  planar:
    Slider       C = (B_1.d, angle_a - angle_b - target)      2 rows, left: slide
    Slot, Wheel  C = B_1.d                                    1 row,  left: slide, turn

    d(B_i.d)/dt as in ``points``, d(A_i.B_j)/dt and the rows of s as in ``turning``
    d(2 v_i)/dt = B (q e_i + v x e_i) . w
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from drystone.constraints.joints.actions import Action, actions_of
from drystone.constraints.joints.base import AlignedJoint, AxisJoint, Function, Placed, Pose
from drystone.constraints.joints.points import X, Y, Z
from drystone.constraints.joints.turning import ABOUT_X, ABOUT_Z, CROSS, UPRIGHT, crossed
from drystone.errors import ModelError
from drystone.kernels.joints import TURN
from drystone.types import Floats, VectorLike

TURNS = ((TURN, 0, 0, 0), (TURN, 1, 0, 0), (TURN, 2, 0, 0))


@dataclass(frozen=True, slots=True)
class Slider(AxisJoint):
    """Prismatic joint: a moves along an axis of b and does not turn relative to it.

    anchor: a's origin by default. The slide [m] is that of a's anchor from b's.
    """

    dims: ClassVar[tuple[int, ...]] = (2, 3)
    rows: ClassVar[dict[int, tuple[Function, ...]]] = {2: (Y, TURNS[0]), 3: (X, Y, *TURNS)}
    free: ClassVar[dict[int, tuple[Function, ...]]] = {2: (X,), 3: (Z,)}
    coordinates: ClassVar[tuple[str, ...]] = ("slide",)

    def default_anchors(self, owner: str, dim: int, poses: tuple[Pose, Pose]) -> Floats:
        return np.array([pose.local(poses[0].position) for pose in poses])


@dataclass(frozen=True, slots=True)
class Cylindrical(AlignedJoint):
    """a slides along an axis of b and turns about it."""

    rows: ClassVar[dict[int, tuple[Function, ...]]] = {3: (X, Y, *UPRIGHT)}
    free: ClassVar[dict[int, tuple[Function, ...]]] = {3: (Z, ABOUT_Z)}
    coordinates: ClassVar[tuple[str, ...]] = ("slide", "turn")


@dataclass(frozen=True, slots=True)
class PlanarJoint(AlignedJoint):
    """a moves in a plane of b and turns about its normal, the axis."""

    rows: ClassVar[dict[int, tuple[Function, ...]]] = {3: (Z, *UPRIGHT)}
    free: ClassVar[dict[int, tuple[Function, ...]]] = {3: (X, Y, ABOUT_Z)}
    coordinates: ClassVar[tuple[str, ...]] = ("x", "y", "turn")


@dataclass(frozen=True, slots=True)
class Slot(AxisJoint):
    """A pin of a in a straight slot of b, along the axis (2,): slides and turns."""

    dims: ClassVar[tuple[int, ...]] = (2,)
    rows: ClassVar[dict[int, tuple[Function, ...]]] = {2: (Y,)}
    free: ClassVar[dict[int, tuple[Function, ...]]] = {2: (X, ABOUT_Z)}
    coordinates: ClassVar[tuple[str, ...]] = ("slide", "turn")


@dataclass(frozen=True, slots=True)
class Wheel(AxisJoint):
    """a is a wheel, b what it carries: the axis is that of the suspension, along which a slides.

    spring and limits are those of the slide, motor and friction those of the turn, unless a dict
    says otherwise. axle (3,), in space only: the world direction the wheel turns about, across the
    axis; steering about the axis is locked unless something acts on it: limits={"steer": ...}.
    """

    _: KW_ONLY
    axle: VectorLike | None = None
    dims: ClassVar[tuple[int, ...]] = (2, 3)
    rows: ClassVar[dict[int, tuple[Function, ...]]] = {2: (Y,), 3: (X, Y, CROSS)}
    free: ClassVar[dict[int, tuple[Function, ...]]] = {2: (X, ABOUT_Z), 3: (Z, ABOUT_X, ABOUT_Z)}
    coordinates: ClassVar[tuple[str, ...]] = ("slide", "turn", "steer")

    def find_frames(self, owner: str, dim: int, poses: tuple[Pose, Pose]) -> tuple[Floats, Floats]:
        if dim == 3:
            return crossed(self, owner, dim, poses, "axle", self.axle)
        if self.axle is not None:
            raise ModelError(f"{owner}: axle = {self.axle!r}: in the plane it has no direction")
        return AxisJoint.find_frames(self, owner, dim, poses)

    def place(self, owner: str, dim: int, poses: tuple[Pose, Pose]) -> Placed:
        placed = AxisJoint.place(self, owner, dim, poses)
        given = (self.limits, self.motor, self.friction, self.spring)
        if dim == 3 and not any(isinstance(g, dict) and "steer" in g for g in given):
            placed.rows.append(placed.coordinates.pop())
            placed.names = placed.names[:2]
        return placed

    def act(self, owner: str, names: Any) -> list[Action]:
        said: list[Any] = []
        for coordinate, value in (
            ("slide", self.limits),
            ("turn", self.motor),
            ("turn", self.friction),
            ("slide", self.spring),
        ):
            plain = value is not None and not isinstance(value, dict)
            said.append({coordinate: value} if plain else value)
        return actions_of(owner, names, *said)
