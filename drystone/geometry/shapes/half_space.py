"""The ground in space."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from drystone.geometry.kinds import Kind
from drystone.geometry.shapes.base import SIGNED, Ground, SpatialShape, number
from drystone.kernels import kinds
from drystone.types import Floats, Ints, Real, VectorLike

KIND = Kind(
    code=kinds.HALF_SPACE,
    name="half-space",
    dim=3,
    numbers="none: the points z <= 0",
    fits=0,
    picture=lambda a, ints, n: HalfSpace().mesh(n),
    half_width=lambda a, ints: math.inf,
    local="flat",
    bounded=False,
)


@dataclass(frozen=True, eq=False)
class HalfSpace(Ground, SpatialShape):
    """The points p with normal . p <= offset [m]; the normal points out of the ground."""

    normal: Floats = (0.0, 0.0, 1.0)  # type: ignore[assignment]  # an array once the shape is made
    offset: float = field(default=0.0, metadata=SIGNED)
    kind: ClassVar[str] = "half-space"
    geom: ClassVar[Kind] = KIND

    if TYPE_CHECKING:  # arrays are made of what is given

        def __init__(self, normal: VectorLike = (0.0, 0.0, 1.0), offset: Real = 0.0) -> None: ...

    def _frame(self) -> tuple[Floats, Floats]:
        # z axis = normal; the branch-free completion of Duff et al. (2017), the identity for z
        x, y, z = self.normal
        sign = math.copysign(1.0, z)
        a = -1.0 / (sign + z)
        b = x * y * a
        turn = np.array(
            [[1.0 + sign * x * x * a, b, x], [sign * b, sign + y * y * a, y], [-sign * x, -y, z]]
        )
        return self.offset * self.normal + 0.0, turn + 0.0  # + 0.0: no negative zeros

    def mesh(self, n: int = 24, extent: float = 10.0) -> tuple[Floats, Ints]:
        """A square of the surface, 2 `extent` wide."""
        x, R = self._frame()
        half = number("HalfSpace", "extent", extent)
        square = half * np.array([[-1.0, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
        return x + square @ R.T, np.array([[0, 1, 2], [0, 2, 3]])
