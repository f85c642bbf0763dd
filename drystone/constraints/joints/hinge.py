"""Hinge: a turns about an axis of b.

    C = (B_0.d, B_1.d, B_2.d, s B_0.A_2, s B_1.A_2)      5 rows, left: turn about B_2

s = sqrt(2 / (1 + B_2.A_2)): the tilt as a vector of length 2 sin(angle / 2);
turn = atan2(A_0.B_1, A_0.B_0).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from drystone.constraints.joints.base import AlignedJoint
from drystone.constraints.joints.functions import ABOUT_Z, UPRIGHT, Free, Rows, X, Y, Z


@dataclass(frozen=True, slots=True)
class Hinge(AlignedJoint):
    """Revolute joint: a turns about an axis of b. The turn [rad] is right-handed about the axis."""

    kind: ClassVar[str] = "hinge"
    keeps: ClassVar[str] = "a point and an axis"
    rows: ClassVar[Rows] = {3: (X, Y, Z, *UPRIGHT)}
    free: ClassVar[Free] = {3: {"turn": ABOUT_Z}}
