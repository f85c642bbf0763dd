r"""Fixed, in the plane also called Weld: a moves with b as one body.

d = p_a - p_b; B_i: axes of b's frame; (q, v): quaternion of a's frame in b's, q >= 0.

    space  C = (B_0.d, B_1.d, B_2.d, 2 v_0, 2 v_1, 2 v_2)        6 rows
    plane  C = (B_0.d, B_1.d, angle_a - angle_b - target)        3 rows

    d(B_i.d)/dt as in ``points``;  d(2 v_i)/dt = B (q e_i + v x e_i) . (w_a - w_b)

2 v is 2 sin(angle / 2) along the axis of the error: zero nowhere but at the right orientation.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np

from drystone.constraints.joints.base import Function, Joint, Pose
from drystone.constraints.joints.points import X, Y, Z
from drystone.constraints.joints.sliding import TURNS
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
    dims: ClassVar[tuple[int, ...]] = (2, 3)
    rows: ClassVar[dict[int, tuple[Function, ...]]] = {2: (X, Y, TURNS[0]), 3: (X, Y, Z, *TURNS)}
    free: ClassVar[dict[int, tuple[Function, ...]]] = {2: (), 3: ()}

    def find_frames(self, owner: str, dim: int, poses: tuple[Pose, Pose]) -> tuple[Floats, Floats]:
        if self.orientation is None:
            return np.eye(dim), np.eye(dim)
        turn = check.orientation(owner, "orientation", self.orientation, dim)
        frame = poses[0].rotation @ rotation(np.array(turn)).T
        return frame, poses[1].rotation

    def target(self, function: Function, turn: float, dim: int) -> float:
        if dim == 2 and function[0] == TURN and self.orientation is not None:
            return check.number("Fixed", "orientation", self.orientation)
        return Joint.target(self, function, turn, dim)

    def default_anchors(self, owner: str, dim: int, poses: tuple[Pose, Pose]) -> Floats:
        return np.array([pose.local(poses[0].position) for pose in poses])


Weld = Fixed
