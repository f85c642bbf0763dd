"""PointOnLine: a point of a on a line of b.

C = (B_0.d, B_1.d)      2 rows, left: slide = B_2.d, 3 rotations
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from drystone.constraints.joints.base import AxisJoint
from drystone.constraints.joints.functions import Free, Rows, X, Y, Z


@dataclass(frozen=True, slots=True)
class PointOnLine(AxisJoint):
    """A point of a (its anchor) stays on the line through b's anchor along b's axis."""

    kind: ClassVar[str] = "point-on-line"
    keeps: ClassVar[str] = "a point of a on a line of b"
    rows: ClassVar[Rows] = {3: (X, Y)}
    free: ClassVar[Free] = {3: {"slide": Z}}
