"""Lower pairs (Reuleaux 1875): two surfaces of one form that slide on each other.

d: from b's anchor to a's; A_i, B_i: axes of the frames on a and b; s = sqrt(2 / (1 + B_2.A_2)), so
that (s B_0.A_2, s B_1.A_2) is the tilt as a vector of length 2 sin(angle / 2); 2 v: the turn of a
from b as a vector of length 2 sin(angle / 2).

    Hinge        C = (B_0.d, B_1.d, B_2.d, s B_0.A_2, s B_1.A_2)
                 left: turn = atan2(A_0.B_1, A_0.B_0)
    Pin          C = (B_0.d, B_1.d), in the plane
                 left: turn = angle_a - angle_b - target
    Slider       C = (B_0.d, B_1.d, 2 v); in the plane (B_1.d, angle_a - angle_b - target)
                 left: slide = B_2.d; in the plane B_0.d
    Cylindrical  C = (B_0.d, B_1.d, s B_0.A_2, s B_1.A_2)
                 left: slide = B_2.d, turn as of a hinge
    Screw        C = those and slide - pitch turn / 2 pi, with turns counted
                 left: one freedom
    PlanarJoint  C = (B_2.d, s B_0.A_2, s B_1.A_2)
                 left: x = B_0.d, y = B_1.d, turn about B_2
    Ball         C = (B_0.d, B_1.d, B_2.d)
                 left: three rotations
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np

from drystone.constraints.joints.base import AlignedJoint, AxisJoint, Joint, Pose
from drystone.constraints.joints.functions import (
    ABOUT_Z,
    TURNS,
    UPRIGHT,
    Free,
    JointFunction,
    Rows,
    X,
    Y,
    Z,
)
from drystone.dynamics import check
from drystone.errors import ModelError
from drystone.types import Floats, Real

# coordinates of a ball: with an axis, and with friction
MEASURED = {"swing": JointFunction.tilt(), "twist": JointFunction.twist()}
SPINS = {f"spin_{'xyz'[i]}": JointFunction.spin(i) for i in range(3)}


@dataclass(frozen=True, slots=True)
class Hinge(AlignedJoint):
    """Revolute joint: a turns about an axis of b. The turn [rad] is right-handed about the axis."""

    kind: ClassVar[str] = "hinge"
    keeps: ClassVar[str] = "a point and an axis"
    rows: ClassVar[Rows] = {3: (X, Y, Z, *UPRIGHT)}
    free: ClassVar[Free] = {3: {"turn": ABOUT_Z}}


@dataclass(frozen=True, slots=True)
class Pin(Joint):
    """Revolute joint of the plane: a turns about a point of b, with all turns counted."""

    kind: ClassVar[str] = "pin"
    keeps: ClassVar[str] = "a point of a on a point of b"
    rows: ClassVar[Rows] = {2: (X, Y)}
    free: ClassVar[Free] = {2: {"turn": ABOUT_Z}}


@dataclass(frozen=True, slots=True)
class Slider(AxisJoint):
    """Prismatic joint: a moves along an axis of b and does not turn relative to it.

    anchor: a's origin by default. The slide [m] is that of a's anchor from b's.
    """

    kind: ClassVar[str] = "slider"
    keeps: ClassVar[str] = "orientation, and the anchor on a line along `axis`"
    rows: ClassVar[Rows] = {2: (Y, TURNS[0]), 3: (X, Y, *TURNS)}
    free: ClassVar[Free] = {2: {"slide": X}, 3: {"slide": Z}}

    def default_anchors(self, owner: str, dim: int, poses: tuple[Pose, Pose]) -> Floats:
        return np.array([pose.local(poses[0].position) for pose in poses])


@dataclass(frozen=True, slots=True)
class Cylindrical(AlignedJoint):
    """a slides along an axis of b and turns about it."""

    kind: ClassVar[str] = "cylindrical"
    keeps: ClassVar[str] = "two axes on one line"
    rows: ClassVar[Rows] = {3: (X, Y, *UPRIGHT)}
    free: ClassVar[Free] = {3: {"slide": Z, "turn": ABOUT_Z}}


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


@dataclass(frozen=True, slots=True)
class PlanarJoint(AlignedJoint):
    """a moves in a plane of b and turns about its normal, the axis."""

    kind: ClassVar[str] = "planar"
    keeps: ClassVar[str] = "a plane of a in a plane of b"
    rows: ClassVar[Rows] = {3: (Z, *UPRIGHT)}
    free: ClassVar[Free] = {3: {"x": X, "y": Y, "turn": ABOUT_Z}}


@dataclass(frozen=True, slots=True)
class Ball(AxisJoint):
    """Ball and socket: a point of a stays on a point of b.

    axis: optional; with it limits={"swing": (0, 0.6), "twist": (-0.5, 0.5)} [rad] make sense.
    friction: largest torque [N m] about each of b's axes.
    """

    kind: ClassVar[str] = "ball"
    keeps: ClassVar[str] = "a point of a on a point of b"
    rows: ClassVar[Rows] = {3: (X, Y, Z)}
    free: ClassVar[Free] = {3: {**MEASURED, **SPINS}}
    sometimes: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(MEASURED, "with an `axis`"),
        **dict.fromkeys(SPINS, "with `friction`"),
    }
    takes: ClassVar[tuple[str, ...]] = ("limits", "friction")
    meant: ClassVar[Mapping[str, tuple[str, ...]]] = {"friction": tuple(SPINS)}

    def find_frames(self, owner: str, dim: int, poses: tuple[Pose, Pose]) -> tuple[Floats, Floats]:
        if self.axis is None and self.axis_b is None:
            return np.eye(3), np.eye(3)
        return AxisJoint.find_frames(self, owner, dim, poses)

    def functions(
        self, owner: str, dim: int
    ) -> tuple[tuple[JointFunction, ...], Mapping[str, JointFunction]]:
        free: dict[str, JointFunction] = {}
        if self.axis is not None or self.axis_b is not None:
            free |= MEASURED
        elif self.limits is not None and self.motor is None and self.spring is None:
            raise ModelError(f"{owner}: limits = {self.limits!r} need an axis to measure from")
        return self.rows[dim], free | (SPINS if self.friction is not None else {})
