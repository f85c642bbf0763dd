"""The disk."""

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

KIND = Kind(
    code=kinds.DISK,
    name="disk",
    dim=2,
    numbers="radius",
    fits=1,
    picture=lambda a, ints, n: Disk(float(a[0])).outline(n),
    half_width=lambda a, ints: float(a[0]),
    ball=True,
    stretched=True,
    pairs={
        "disk": PairKernel(AT + "disks", "contact_disk_disk"),
        "half-plane": PairKernel(AT + "half_plane", "contact_disk_half_plane"),
    },
)


@dataclass(frozen=True, eq=False)
class Disk(PlanarShape):
    """The points within `radius` [m] of the origin."""

    radius: float
    kind: ClassVar[str] = "disk"
    geom: ClassVar[Kind] = KIND

    def pieces(self) -> list[Piece]:
        return simple(KIND, [self.radius], self.radius)

    def contains(self, points: MatrixLike | VectorLike) -> Bools:
        p = query(points, 2)
        return np.hypot(p[..., 0], p[..., 1]) <= self.radius

    def _mass_properties(self, density: float) -> MassProperties:
        mass = density * math.pi * self.radius**2
        return MassProperties(mass, ORIGIN[2], 0.5 * mass * self.radius**2)

    def outline(self, n: int = 64) -> Floats:
        return self.radius * circle(n)
