"""Slider: a moves along an axis of b without turning.

space  C = (B_0.d, B_1.d, 2 v)                      5 rows, left: slide = B_2.d
plane  C = (B_1.d, angle_a - angle_b - target)      2 rows, left: slide = B_0.d
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from drystone.constraints.joints.base import AxisJoint, Pose
from drystone.constraints.joints.functions import TURNS, Free, Rows, X, Y, Z
from drystone.types import Floats


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
