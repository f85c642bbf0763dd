"""The cylinder."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from drystone.geometry.kinds import Kind, PairKernel
from drystone.geometry.mass_properties import MassProperties
from drystone.geometry.shapes.base import ORIGIN, Piece, SpatialShape, query, simple
from drystone.geometry.shapes.bowl import IN_BOWL_CORNERS
from drystone.geometry.shapes.curved_meshes import revolved
from drystone.kernels import kinds
from drystone.types import Bools, Floats, Ints, MatrixLike, VectorLike

AT = "drystone.kernels.spatial."

KIND = Kind(
    code=kinds.CYLINDER,
    name="cylinder",
    dim=3,
    numbers="half height h along z, radius r",
    fits=2,
    picture=lambda a, ints, n: Cylinder(2 * float(a[0]), float(a[1])).mesh(n),
    half_width=lambda a, ints: float(a.min()),
    local="revolved",
    about_z=True,
    pieced=True,
    edges="some",
    ends=(-1.0, 1.0),
    pairs={
        "sphere": PairKernel(AT + "spheres", "contact_sphere_revolved"),
        "half-space": PairKernel(AT + "halfspace", "contact_revolved_halfspace", points=10),
        "bowl": IN_BOWL_CORNERS,
    },
)


@dataclass(frozen=True, eq=False)
class Cylinder(SpatialShape):
    """`length` along z, centred, and `radius`; both [m]."""

    length: float
    radius: float
    kind: ClassVar[str] = "cylinder"
    geom: ClassVar[Kind] = KIND

    def pieces(self) -> list[Piece]:
        half = 0.5 * self.length
        floats = [half, self.radius]
        return simple(KIND, floats, math.hypot(half, self.radius))

    def contains(self, points: MatrixLike | VectorLike) -> Bools:
        p = query(points, 3)
        within = np.hypot(p[..., 0], p[..., 1]) <= self.radius
        return within & (np.abs(p[..., 2]) <= 0.5 * self.length)

    def _mass_properties(self, density: float) -> MassProperties:
        r, length = self.radius, self.length
        mass = density * math.pi * r**2 * length
        across = mass * (0.25 * r**2 + length**2 / 12.0)
        return MassProperties(mass, ORIGIN[3], np.diag([across, across, 0.5 * mass * r**2]))

    def mesh(self, n: int = 24) -> tuple[Floats, Ints]:
        half, r = 0.5 * self.length, self.radius
        return revolved(np.array([[r, -half], [r, half]]), n, -half, half)
