"""PointOnPlane: a point of a in a plane of b.

C = B_2.d      1 row, left: x = B_0.d, y = B_1.d, 3 rotations
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from drystone.constraints.joints.base import AxisJoint
from drystone.constraints.joints.functions import Free, Rows, X, Y, Z


@dataclass(frozen=True, slots=True)
class PointOnPlane(AxisJoint):
    """A point of a stays in the plane through b's anchor across b's axis, on both its sides."""

    kind: ClassVar[str] = "point-on-plane"
    keeps: ClassVar[str] = "a point of a in a plane of b"
    rows: ClassVar[Rows] = {3: (Z,)}
    free: ClassVar[Free] = {3: {"x": X, "y": Y}}
