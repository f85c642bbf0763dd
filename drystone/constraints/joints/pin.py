"""Pin: the hinge of the plane.

C = (B_0.d, B_1.d)      2 rows, left: turn = angle_a - angle_b - target
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from drystone.constraints.joints.base import Joint
from drystone.constraints.joints.functions import ABOUT_Z, Free, Rows, X, Y


@dataclass(frozen=True, slots=True)
class Pin(Joint):
    """Revolute joint of the plane: a turns about a point of b, with all turns counted."""

    kind: ClassVar[str] = "pin"
    keeps: ClassVar[str] = "a point of a on a point of b"
    rows: ClassVar[Rows] = {2: (X, Y)}
    free: ClassVar[Free] = {2: {"turn": ABOUT_Z}}
