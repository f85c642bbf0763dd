"""The ellipse."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from drystone.geometry.kinds import Kind, PairKernel
from drystone.geometry.mass_properties import MassProperties
from drystone.geometry.shapes.base import ORIGIN, Piece, PlanarShape, circle, query, simple
from drystone.kernels import kinds
from drystone.types import Bools, Floats, MatrixLike, VectorLike

AT = "drystone.kernels.planar."
COUNTERS = ("iterations", "predicted", "fallbacks", "separated")
ELLIPSES = PairKernel(AT + "ellipses", "contact_ellipse_ellipse", 1, 5, COUNTERS)
# with a polygon or a planar capsule
CORE = PairKernel(
    AT + "ellipses", "contact_ellipse_core", 1, 5, ("hits", "neighbours", "searches", *COUNTERS)
)

KIND = Kind(
    code=kinds.ELLIPSE,
    name="ellipse",
    dim=2,
    numbers="semi-axes a, b along x, y",
    fits=2,
    picture=lambda a, ints, n: Ellipse(*a.tolist()).outline(n),
    half_width=lambda a, ints: float(a.min()),
    stretched=True,
    pairs={
        "disk": ELLIPSES,
        "ellipse": ELLIPSES,
        "planar capsule": CORE,
        "polygon": CORE,
        "half-plane": PairKernel(AT + "half_plane", "contact_ellipse_half_plane"),
    },
)


@dataclass(frozen=True, eq=False)
class Ellipse(PlanarShape):
    """Semi-axes a and b [m] along x and y."""

    a: float
    b: float
    takes_sizes: ClassVar[bool] = True
    kind: ClassVar[str] = "ellipse"
    geom: ClassVar[Kind] = KIND

    def pieces(self) -> list[Piece]:
        return simple(KIND, [self.a, self.b], max(self.a, self.b))

    def contains(self, points: MatrixLike | VectorLike) -> Bools:
        p = query(points, 2) / (self.a, self.b)
        return np.hypot(p[..., 0], p[..., 1]) <= 1.0

    def _mass_properties(self, density: float) -> MassProperties:
        mass = density * math.pi * self.a * self.b
        return MassProperties(mass, ORIGIN[2], 0.25 * mass * (self.a**2 + self.b**2))

    def outline(self, n: int = 64) -> Floats:
        return circle(n) * (self.a, self.b)
