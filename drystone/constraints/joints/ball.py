"""Ball: a point of a stays on a point of b.

    C = (B_0.d, B_1.d, B_2.d)        3 rows, left: 3 rotations

With an axis it has coordinates to limit: swing, the angle between a's axis and b's, and twist about
the axis.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from drystone.constraints.joints.base import AxisJoint, Pose
from drystone.constraints.joints.functions import Free, JointFunction, Rows, X, Y, Z
from drystone.errors import ModelError
from drystone.types import Floats

MEASURED = {"swing": JointFunction.tilt(), "twist": JointFunction.twist()}
SPINS = {f"spin_{'xyz'[i]}": JointFunction.spin(i) for i in range(3)}


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
