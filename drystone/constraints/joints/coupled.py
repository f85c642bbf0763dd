r"""Joints that couple free coordinates: Screw, Gear.

    Screw   C = (B_0.d, B_1.d, s B_0.A_2, s B_1.A_2, slide - pitch turn / 2 pi)   5 rows, left: 1
    Gear    C = q_a - ratio q_b - (q_a - ratio q_b at the described poses)        1 row

slide = B_2.d, turn = atan2(A_0.B_1, A_0.B_0) with turns counted (``kernels.joints_coupled``);
q_a, q_b: coordinates of two other joints, or turns of two bodies about world axes.

    dC/dt = d(slide)/dt - pitch / 2 pi d(turn)/dt;   dC/dt = dq_a/dt - ratio dq_b/dt
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

from drystone.constraints.joints.base import AlignedJoint, Function, Joint, Placed, Pose
from drystone.constraints.joints.points import X, Y, Z
from drystone.constraints.joints.turning import ABOUT_Z, UPRIGHT
from drystone.dynamics import check
from drystone.errors import ModelError
from drystone.kernels.joints import COUPLED
from drystone.types import Real, VectorLike


@dataclass(frozen=True, slots=True)
class Screw(AlignedJoint):
    """a turns about an axis of b and moves along it by `pitch` [m] per turn (right-handed if
    positive). Coordinates: "slide" [m] and "turn" [rad]; one of them is enough to act on."""

    _: KW_ONLY
    pitch: Real | None = None
    rows: ClassVar[dict[int, tuple[Function, ...]]] = {3: (X, Y, *UPRIGHT, (COUPLED, 0, 0, 0))}
    free: ClassVar[dict[int, tuple[Function, ...]]] = {3: (Z, ABOUT_Z)}
    coordinates: ClassVar[tuple[str, ...]] = ("slide", "turn")

    def place(self, owner: str, dim: int, poses: tuple[Pose, Pose]) -> Placed:
        if self.pitch is None:
            raise ModelError(f"{owner}: has no pitch")
        pitch = check.number(owner, "pitch", self.pitch)
        if pitch == 0:
            raise ModelError(f"{owner}: pitch = 0: use a Hinge")
        placed = AlignedJoint.place(self, owner, dim, poses)
        placed.screw = -pitch / (2.0 * math.pi)
        return placed


@dataclass(frozen=True, slots=True)
class Gear(Joint):
    """Keeps dq_a = ratio dq_b, ratio negative for wheels with outside teeth.

    a, b: two joints by name or handle, with the coordinate's name if it has several:
    ("bearing", "turn"); a turn coupled to a slide is a rack, with a ratio in m per rad. Or two
    bodies: then q is a body's turn about `axis` (3,) (b's about axis_of_b, the same by default), a
    direction of the world; in the plane its angle. At most two bodies may move in all.
    """

    _: KW_ONLY
    ratio: Real | None = None
    axis: VectorLike | None = None
    axis_of_b: VectorLike | None = None
    dims: ClassVar[tuple[int, ...]] = (2, 3)
    free: ClassVar[dict[int, tuple[Function, ...]]] = {2: (), 3: ()}

    def rate(self, owner: str) -> float:
        """The checked ratio."""
        if self.ratio is None:
            raise ModelError(f"{owner}: has no ratio")
        ratio = check.number(owner, "ratio", self.ratio)
        if ratio == 0:
            raise ModelError(f"{owner}: ratio = 0: expected another number")
        given = {"anchor": self.anchor, "anchor_a": self.anchor_a, "anchor_b": self.anchor_b}
        acting = {"limits": self.limits, "motor": self.motor, "friction": self.friction}
        for field, value in (given | acting | {"spring": self.spring}).items():
            if value is not None:
                raise ModelError(f"{owner}: {field} = {value!r}: a Gear has none")
        return ratio
