"""Screw: a turns about an axis of b and moves along it.

    C = (B_0.d, B_1.d, s B_0.A_2, s B_1.A_2, slide - pitch turn / 2 pi)      5 rows, left: 1

slide = B_2.d, turn = atan2(A_0.B_1, A_0.B_0) with turns counted (``kernels.joints_coupled``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

from drystone.constraints.joints.base import AlignedJoint
from drystone.constraints.joints.functions import ABOUT_Z, UPRIGHT, Free, Rows, X, Y, Z
from drystone.dynamics import check
from drystone.errors import ModelError
from drystone.types import Real


@dataclass(frozen=True, slots=True)
class Screw(AlignedJoint):
    """a turns about an axis of b and moves along it by `pitch` [m] per turn (right-handed if
    positive). Coordinates: "slide" [m] and "turn" [rad]; one of them is enough to act on."""

    _: KW_ONLY
    pitch: Real | None = None
    kind: ClassVar[str] = "screw"
    keeps: ClassVar[str] = "`Cylindrical`, with `pitch` metres per turn: one row more"
    rows: ClassVar[Rows] = {3: (X, Y, *UPRIGHT)}
    free: ClassVar[Free] = {3: {"slide": Z, "turn": ABOUT_Z}}

    def couplings(self, owner: str) -> Sequence[Mapping[str, float]]:
        if self.pitch is None:
            raise ModelError(f"{owner}: has no pitch")
        pitch = check.number(owner, "pitch", self.pitch)
        if pitch == 0:
            raise ModelError(f"{owner}: pitch = 0: use a Hinge")
        return ({"slide": 1.0, "turn": -pitch / (2.0 * math.pi)},)
