"""The ground in the plane."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from drystone.geometry.kinds import Kind
from drystone.geometry.shapes.base import SIGNED, Ground, PlanarShape, number
from drystone.kernels import kinds
from drystone.types import Floats, Real, VectorLike

KIND = Kind(
    code=kinds.HALF_PLANE,
    name="half-plane",
    dim=2,
    numbers="none: the points y <= 0",
    fits=0,
    picture=lambda a, ints, n: HalfPlane().outline(n),
    half_width=lambda a, ints: math.inf,
    bounded=False,
)


@dataclass(frozen=True, eq=False)
class HalfPlane(Ground, PlanarShape):
    """The points p with normal . p <= offset [m]; the normal points out of the ground."""

    normal: Floats = (0.0, 1.0)  # type: ignore[assignment]  # an array once the shape is made
    offset: float = field(default=0.0, metadata=SIGNED)
    kind: ClassVar[str] = "half-plane"
    geom: ClassVar[Kind] = KIND

    if TYPE_CHECKING:  # arrays are made of what is given

        def __init__(self, normal: VectorLike = (0.0, 1.0), offset: Real = 0.0) -> None: ...

    def _frame(self) -> tuple[Floats, Floats]:
        nx, ny = self.normal
        return self.offset * self.normal + 0.0, np.array([[ny, nx], [-nx, ny]]) + 0.0

    def outline(self, n: int = 64, extent: float = 10.0) -> Floats:
        """A rectangle of width 2 `extent` and depth `extent` below the surface."""
        x, R = self._frame()
        half = number("HalfPlane", "extent", extent)
        box = half * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 0.0], [-1.0, 0.0]])
        return x + box @ R.T
