"""PlanarJoint: a plane of a in a plane of b.

C = (B_2.d, s B_0.A_2, s B_1.A_2)      3 rows, left: x = B_0.d, y = B_1.d, turn about B_2
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from drystone.constraints.joints.base import AlignedJoint
from drystone.constraints.joints.functions import ABOUT_Z, UPRIGHT, Free, Rows, X, Y, Z


@dataclass(frozen=True, slots=True)
class PlanarJoint(AlignedJoint):
    """a moves in a plane of b and turns about its normal, the axis."""

    kind: ClassVar[str] = "planar"
    keeps: ClassVar[str] = "a plane of a in a plane of b"
    rows: ClassVar[Rows] = {3: (Z, *UPRIGHT)}
    free: ClassVar[Free] = {3: {"x": X, "y": Y, "turn": ABOUT_Z}}
