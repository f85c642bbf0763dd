"""Universal: two axes across each other, one on either body.

    C = (B_0.d, B_1.d, B_2.d, A_0.B_2)      4 rows, left: two turns

B'A = Rz(first) Rx(second): b carries the first axis, a the second, and the cross between them keeps
them at a right angle.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

from drystone.constraints.joints.base import AxisJoint, Pose, crossed
from drystone.constraints.joints.functions import ABOUT_X, ABOUT_Z, CROSS, Free, Rows, X, Y, Z
from drystone.types import Floats, VectorLike


@dataclass(frozen=True, slots=True)
class Universal(AxisJoint):
    """Cardan joint: axis (3,) is carried by b, second_axis (3,) by a, at a right angle, both in
    the world. Its turns [rad] are "first", about b's axis, and "second", about a's."""

    _: KW_ONLY
    second_axis: VectorLike | None = None
    kind: ClassVar[str] = "universal"
    keeps: ClassVar[str] = "a point, and `axis` of b across `second_axis` of a"
    rows: ClassVar[Rows] = {3: (X, Y, Z, CROSS)}
    free: ClassVar[Free] = {3: {"first": ABOUT_Z, "second": ABOUT_X}}

    def find_frames(self, owner: str, dim: int, poses: tuple[Pose, Pose]) -> tuple[Floats, Floats]:
        return crossed(self, owner, dim, poses, "second_axis", self.second_axis)
