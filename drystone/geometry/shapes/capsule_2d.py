"""The capsule in the plane."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from drystone.geometry.kinds import Kind, PairKernel
from drystone.geometry.mass_properties import MassProperties
from drystone.geometry.shapes.base import ORIGIN, Piece, PlanarShape, corners, query, simple
from drystone.geometry.shapes.polygon import CORE_CORE, DISK_CORE
from drystone.kernels import kinds
from drystone.types import Bools, Floats, MatrixLike, VectorLike

KIND = Kind(
    code=kinds.CAPSULE_2D,
    name="planar capsule",
    dim=2,
    numbers="half length h along x, radius r: points within r of the segment",
    fits=2,
    picture=lambda a, ints, n: Capsule2D(2 * float(a[0]), float(a[1])).outline(n),
    half_width=lambda a, ints: float(a[1]),
    pieced=True,
    pairs={
        "disk": DISK_CORE,
        "planar capsule": CORE_CORE,
        "polygon": CORE_CORE,
        "half-plane": PairKernel(
            "drystone.kernels.planar.half_plane", "contact_capsule_half_plane", 2
        ),
    },
)


@dataclass(frozen=True, eq=False)
class Capsule2D(PlanarShape):
    """The points within `radius` of a segment of `length` along x, centred; both [m]."""

    length: float
    radius: float
    kind: ClassVar[str] = "capsule-2d"
    geom: ClassVar[Kind] = KIND

    def pieces(self) -> list[Piece]:
        half = 0.5 * self.length
        return simple(KIND, [half, self.radius], half + self.radius)

    def contains(self, points: MatrixLike | VectorLike) -> Bools:
        p = query(points, 2)
        past = np.maximum(np.abs(p[..., 0]) - 0.5 * self.length, 0.0)
        return np.hypot(past, p[..., 1]) <= self.radius

    def _mass_properties(self, density: float) -> MassProperties:
        r, length = self.radius, self.length
        box, ends = density * 2.0 * r * length, density * math.pi * r**2
        inertia = box * (length**2 + 4.0 * r**2) / 12.0
        # two half disks: about the middle of their flat sides r^2/2, whose distance is length/2,
        # and the first moment about it, 4r/(3 pi) per mass, counts twice
        inertia += ends * (0.5 * r**2 + 0.25 * length**2 + length * 4.0 * r / (3.0 * math.pi))
        return MassProperties(box + ends, ORIGIN[2], inertia)

    def outline(self, n: int = 64) -> Floats:
        angle = np.linspace(-0.5 * math.pi, 0.5 * math.pi, corners(n) // 2 + 1)
        arc = self.radius * np.column_stack((np.cos(angle), np.sin(angle)))
        arc[:, 0] += 0.5 * self.length
        return np.vstack((arc, -arc))
