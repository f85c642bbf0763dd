r"""Joints about a point and axes: Hinge and Universal in space, Pin in the plane.

d = p_a - p_b; A_i, B_i: axes of the frames on a and b; w = w_a - w_b; R = B'A.

    Hinge      C = (B_0.d, B_1.d, B_2.d, s B_0.A_2, s B_1.A_2)    5 rows, left: turn about B_2
    Universal  C = (B_0.d, B_1.d, B_2.d, A_0.B_2)                 4 rows, left: two turns
    Pin        C = (B_0.d, B_1.d)                                 2 rows, left: turn

    s = sqrt(2 / (1 + B_2.A_2)): the tilt as a vector of length 2 sin(angle / 2)
    d(B_i.d)/dt   as in ``points``
    d(A_i.B_j)/dt = (A_i x B_j).w
    d(s u_i)/dt   = (s A_2 x B_i - s u_i / (2 (1 + c)) A_2 x B_2).w,  u_i = B_i.A_2, c = B_2.A_2

    Hinge: turn = atan2(A_0.B_1, A_0.B_0). Universal: R = Rz(first) Rx(second): b carries the first
    axis, a the second, and the cross between them keeps them at a right angle.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from drystone.constraints.joints.base import (
    AlignedJoint,
    AxisJoint,
    Function,
    Joint,
    Pose,
    frame_about,
)
from drystone.constraints.joints.points import X, Y, Z
from drystone.dynamics import check
from drystone.errors import ModelError
from drystone.kernels.joints import ANGLE_A, ANGLE_B, DOT, SWING
from drystone.types import Floats, VectorLike

UPRIGHT = ((SWING, 0, 0, 0), (SWING, 1, 0, 0))
ABOUT_Z = (ANGLE_A, 0, 0, 1)
CROSS = (DOT, 0, 2, 0)
ABOUT_X = (ANGLE_B, 2, 2, 1)
PERPENDICULAR = 1e-6  # cosine of what still counts as a right angle


@dataclass(frozen=True, slots=True)
class Hinge(AlignedJoint):
    """Revolute joint: a turns about an axis of b. The turn [rad] is right-handed about the axis."""

    rows: ClassVar[dict[int, tuple[Function, ...]]] = {3: (X, Y, Z, *UPRIGHT)}
    free: ClassVar[dict[int, tuple[Function, ...]]] = {3: (ABOUT_Z,)}
    coordinates: ClassVar[tuple[str, ...]] = ("turn",)


@dataclass(frozen=True, slots=True)
class Universal(AxisJoint):
    """Cardan joint: axis (3,) is carried by b, second_axis (3,) by a, at a right angle, both in
    the world. Its turns [rad] are "first", about b's axis, and "second", about a's."""

    _: KW_ONLY
    second_axis: VectorLike | None = None
    rows: ClassVar[dict[int, tuple[Function, ...]]] = {3: (X, Y, Z, CROSS)}
    free: ClassVar[dict[int, tuple[Function, ...]]] = {3: (ABOUT_Z, ABOUT_X)}
    coordinates: ClassVar[tuple[str, ...]] = ("first", "second")

    def find_frames(self, owner: str, dim: int, poses: tuple[Pose, Pose]) -> tuple[Floats, Floats]:
        return crossed(self, owner, dim, poses, "second_axis", self.second_axis)


def crossed(
    joint: AxisJoint, owner: str, dim: int, poses: tuple[Pose, Pose], field: str, second: Any
) -> tuple[Floats, Floats]:
    """Frames of a joint whose second axis is across its first."""
    axis = joint.find_axis(owner, dim, "axis_b", joint.axis_b, poses[1])
    if second is None:
        raise ModelError(f"{owner}: has no {field}")
    other = np.array(check.direction(owner, field, second, dim))
    if abs(axis @ other) > PERPENDICULAR:
        angle = np.degrees(np.arccos(abs(axis @ other)))
        raise ModelError(
            f"{owner}: axis and {field} are at {angle:.4g} degrees: expected a right angle"
        )
    frame = frame_about(axis, other)
    return frame, frame


@dataclass(frozen=True, slots=True)
class Pin(Joint):
    """Revolute joint of the plane: a turns about a point of b, with all turns counted."""

    dims: ClassVar[tuple[int, ...]] = (2,)
    rows: ClassVar[dict[int, tuple[Function, ...]]] = {2: (X, Y)}
    free: ClassVar[dict[int, tuple[Function, ...]]] = {2: (ABOUT_Z,)}
    coordinates: ClassVar[tuple[str, ...]] = ("turn",)
