"""A point of a on a line or in a plane of b.

d: from b's anchor to a's; B_i: axes of the frame on b.

    PointOnLine   C = (B_0.d, B_1.d)    2 rows, left: slide = B_2.d, three rotations
    PointOnPlane  C = B_2.d             1 row, left: x = B_0.d, y = B_1.d, three rotations
    Slot          C = B_1.d             1 row, in the plane, left: slide = B_0.d, turn
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from drystone.constraints.joints.base import AxisJoint
from drystone.constraints.joints.functions import ABOUT_Z, Free, Rows, X, Y, Z


@dataclass(frozen=True, slots=True)
class PointOnLine(AxisJoint):
    """A point of a (its anchor) stays on the line through b's anchor along b's axis."""

    kind: ClassVar[str] = "point-on-line"
    keeps: ClassVar[str] = "a point of a on a line of b"
    rows: ClassVar[Rows] = {3: (X, Y)}
    free: ClassVar[Free] = {3: {"slide": Z}}


@dataclass(frozen=True, slots=True)
class PointOnPlane(AxisJoint):
    """A point of a stays in the plane through b's anchor across b's axis, on both its sides."""

    kind: ClassVar[str] = "point-on-plane"
    keeps: ClassVar[str] = "a point of a in a plane of b"
    rows: ClassVar[Rows] = {3: (Z,)}
    free: ClassVar[Free] = {3: {"x": X, "y": Y}}


@dataclass(frozen=True, slots=True)
class Slot(AxisJoint):
    """A pin of a in a straight slot of b, along the axis (2,): slides and turns."""

    kind: ClassVar[str] = "slot"
    keeps: ClassVar[str] = "a point of a on a line of b"
    rows: ClassVar[Rows] = {2: (Y,)}
    free: ClassVar[Free] = {2: {"slide": X, "turn": ABOUT_Z}}
