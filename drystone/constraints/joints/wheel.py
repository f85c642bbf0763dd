"""Wheel: a wheel on a suspension.

space  C = (B_0.d, B_1.d, A_0.B_2[, steer])      4 rows, left: slide = B_2.d, turn[, steer]
plane  C = B_1.d                                 1 row,  left: slide = B_0.d, turn
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

from drystone.constraints.joints.actions import ACTS
from drystone.constraints.joints.base import AxisJoint, Pose, crossed
from drystone.constraints.joints.functions import (
    ABOUT_X,
    ABOUT_Z,
    CROSS,
    Free,
    JointFunction,
    Rows,
    X,
    Y,
    Z,
)
from drystone.errors import ModelError
from drystone.types import Floats, VectorLike


@dataclass(frozen=True, slots=True)
class Wheel(AxisJoint):
    """a is a wheel, b what it carries: the axis is that of the suspension, along which a slides.

    spring and limits are those of the slide, motor and friction those of the turn, unless a dict
    says otherwise. axle (3,), in space only: the world direction the wheel turns about, across the
    axis; steering about the axis is locked unless something acts on it: limits={"steer": ...}.
    """

    _: KW_ONLY
    axle: VectorLike | None = None
    kind: ClassVar[str] = "wheel"
    keeps: ClassVar[str] = "the wheel a on a suspension along `axis` of b"
    rows: ClassVar[Rows] = {2: (Y,), 3: (X, Y, CROSS)}
    free: ClassVar[Free] = {
        2: {"slide": X, "turn": ABOUT_Z},
        3: {"slide": Z, "turn": ABOUT_X, "steer": ABOUT_Z},
    }
    sometimes: ClassVar[Mapping[str, str]] = {"steer": "if something acts on it, else one row more"}
    meant: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "limits": ("slide",),
        "motor": ("turn",),
        "friction": ("turn",),
        "spring": ("slide",),
    }

    def find_frames(self, owner: str, dim: int, poses: tuple[Pose, Pose]) -> tuple[Floats, Floats]:
        if dim == 3:
            return crossed(self, owner, dim, poses, "axle", self.axle)
        if self.axle is not None:
            raise ModelError(f"{owner}: axle = {self.axle!r}: in the plane it has no direction")
        return AxisJoint.find_frames(self, owner, dim, poses)

    def functions(
        self, owner: str, dim: int
    ) -> tuple[tuple[JointFunction, ...], Mapping[str, JointFunction]]:
        rows, free = self.rows[dim], dict(self.free[dim])
        given = (getattr(self, field) for field in ACTS)
        if dim == 3 and not any(isinstance(g, dict) and "steer" in g for g in given):
            rows = (*rows, free.pop("steer"))
        return rows, free
