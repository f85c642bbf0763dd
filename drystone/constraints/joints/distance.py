"""Distance: a rod, or a rope, between two points.

C = |d| - length      1 row, left: 5 freedoms (planar 2)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np

from drystone.constraints.joints.actions import Action
from drystone.constraints.joints.base import Joint, Pose
from drystone.constraints.joints.functions import LENGTH, Free, JointFunction, Rows
from drystone.dynamics import check
from drystone.errors import ModelError
from drystone.types import Floats, Real


@dataclass(frozen=True, slots=True)
class Distance(Joint):
    """A rod between two points, anchor_a and anchor_b (dim,) in their bodies' own frames.

    length [m]: that of the description by default. With limits, a motor, friction or a spring on
    it the length is free instead: limits=(0, 2) is a rope of 2 m.
    """

    _: KW_ONLY
    length: Real | None = None
    kind: ClassVar[str] = "distance"
    keeps: ClassVar[str] = "the distance of two points"
    rows: ClassVar[Rows] = {2: (LENGTH,), 3: (LENGTH,)}
    free: ClassVar[Free] = {2: {"length": LENGTH}, 3: {"length": LENGTH}}
    sometimes: ClassVar[Mapping[str, str]] = {"length": "if something acts on it: then no row"}

    def functions(
        self, owner: str, dim: int
    ) -> tuple[tuple[JointFunction, ...], Mapping[str, JointFunction]]:
        if not self.act(owner, ()):
            return self.rows[dim], {}
        if self.length is not None:
            raise ModelError(f"{owner}: length = {self.length!r}: what acts on it sets it free")
        return (), self.free[dim]

    def act(self, owner: str, names: Sequence[str]) -> list[Action]:
        return Joint.act(self, owner, ("length",))

    def target(
        self, owner: str, function: JointFunction, poses: tuple[Pose, Pose], anchors: Floats
    ) -> float:
        if self.act(owner, ()):
            return 0.0
        if self.length is not None:
            return check.positive(owner, "length", self.length)
        ends = [pose.point(anchor) for pose, anchor in zip(poses, anchors, strict=True)]
        length = float(np.linalg.norm(ends[0] - ends[1]))
        if length == 0.0:
            raise ModelError(f"{owner}: its ends are in one place: give length, or use a Ball")
        return length

    def default_anchors(self, owner: str, dim: int, poses: tuple[Pose, Pose]) -> Floats:
        return np.zeros((2, dim))

    def find_anchors(self, owner: str, dim: int, poses: tuple[Pose, Pose]) -> Floats:
        if self.anchor is not None:
            raise ModelError(f"{owner}: anchor = {self.anchor!r}: give its ends anchor_a, anchor_b")
        return Joint.find_anchors(self, owner, dim, poses)
