"""Gear: couples coordinates of two other joints, or the turns of two bodies.

C = q_a - ratio q_b - (q_a - ratio q_b at the described poses)      1 row

dC/dt = dq_a/dt - ratio dq_b/dt
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

from drystone.constraints.joints.actions import ACTS
from drystone.constraints.joints.base import Joint
from drystone.constraints.joints.functions import COUPLED, Free, Rows
from drystone.dynamics import check
from drystone.errors import ModelError
from drystone.types import Real, VectorLike


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
    kind: ClassVar[str] = "gear"
    keeps: ClassVar[str] = "a `ratio` of two coordinates, or of two bodies' turns"
    rows: ClassVar[Rows] = {2: (COUPLED,), 3: (COUPLED,)}
    free: ClassVar[Free] = {2: {}, 3: {}}
    takes: ClassVar[tuple[str, ...]] = ()
    couples: ClassVar[bool] = True

    def rate(self, owner: str) -> float:
        """The checked ratio."""
        if self.ratio is None:
            raise ModelError(f"{owner}: has no ratio")
        ratio = check.number(owner, "ratio", self.ratio)
        if ratio == 0:
            raise ModelError(f"{owner}: ratio = 0: expected another number")
        for field in ("anchor", "anchor_a", "anchor_b", *ACTS):
            if getattr(self, field) is not None:
                raise ModelError(f"{owner}: {field} = {getattr(self, field)!r}: a Gear has none")
        return ratio
