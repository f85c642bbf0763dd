"""Slot: a pin of a in a straight slot of b, in the plane.

C = B_1.d      1 row, left: slide = B_0.d, turn
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from drystone.constraints.joints.base import AxisJoint
from drystone.constraints.joints.functions import ABOUT_Z, Free, Rows, X, Y


@dataclass(frozen=True, slots=True)
class Slot(AxisJoint):
    """A pin of a in a straight slot of b, along the axis (2,): slides and turns."""

    kind: ClassVar[str] = "slot"
    keeps: ClassVar[str] = "a point of a on a line of b"
    rows: ClassVar[Rows] = {2: (Y,)}
    free: ClassVar[Free] = {2: {"slide": X, "turn": ABOUT_Z}}
