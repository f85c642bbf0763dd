"""Fixed, in the plane also called Weld: a moves with b as one body.

    space  C = (B_0.d, B_1.d, B_2.d, 2 v_0, 2 v_1, 2 v_2)        6 rows
    plane  C = (B_0.d, B_1.d, angle_a - angle_b - target)        3 rows

2 v is 2 sin(angle / 2) along the axis of the error: zero nowhere but at the right orientation.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np

from drystone.constraints.joints.base import Joint, Pose
from drystone.constraints.joints.functions import TURNS, Free, JointFunction, Rows, X, Y, Z
from drystone.dynamics import check
from drystone.dynamics.frames import rotation
from drystone.kernels.joints import TURN
from drystone.types import Floats, Real, VectorLike


@dataclass(frozen=True, slots=True)
class Fixed(Joint):
    """Weld. anchor: where its forces are read; a's origin by default.

    orientation: of a in b's frame (an angle [rad] or a quaternion); as described by default.
    """

    _: KW_ONLY
    orientation: Real | VectorLike | None = None
    kind: ClassVar[str] = "fixed"
    keeps: ClassVar[str] = "everything"
    rows: ClassVar[Rows] = {2: (X, Y, TURNS[0]), 3: (X, Y, Z, *TURNS)}
    free: ClassVar[Free] = {2: {}, 3: {}}

    def find_frames(self, owner: str, dim: int, poses: tuple[Pose, Pose]) -> tuple[Floats, Floats]:
        if self.orientation is None:
            return np.eye(dim), np.eye(dim)
        turn = check.orientation(owner, "orientation", self.orientation, dim)
        frame = poses[0].rotation @ rotation(np.array(turn)).T
        return frame, poses[1].rotation

    def target(
        self, owner: str, function: JointFunction, poses: tuple[Pose, Pose], anchors: Floats
    ) -> float:
        planar = poses[0].position.size == 2
        if planar and function.kind == TURN and self.orientation is not None:
            return check.number(owner, "orientation", self.orientation)
        return Joint.target(self, owner, function, poses, anchors)

    def default_anchors(self, owner: str, dim: int, poses: tuple[Pose, Pose]) -> Floats:
        return np.array([pose.local(poses[0].position) for pose in poses])


Weld = Fixed
