"""Cylindrical: a slides along an axis of b and turns about it.

C = (B_0.d, B_1.d, s B_0.A_2, s B_1.A_2)     4 rows, left: slide = B_2.d, turn about B_2
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from drystone.constraints.joints.base import AlignedJoint
from drystone.constraints.joints.functions import ABOUT_Z, UPRIGHT, Free, Rows, X, Y, Z


@dataclass(frozen=True, slots=True)
class Cylindrical(AlignedJoint):
    """a slides along an axis of b and turns about it."""

    kind: ClassVar[str] = "cylindrical"
    keeps: ClassVar[str] = "two axes on one line"
    rows: ClassVar[Rows] = {3: (X, Y, *UPRIGHT)}
    free: ClassVar[Free] = {3: {"slide": Z, "turn": ABOUT_Z}}
