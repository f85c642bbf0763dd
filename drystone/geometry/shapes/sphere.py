"""The sphere."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from drystone.geometry.kinds import Kind, PairKernel
from drystone.geometry.mass_properties import MassProperties
from drystone.geometry.shapes.base import ORIGIN, Piece, SpatialShape, query, simple
from drystone.geometry.shapes.bowl import IN_BOWL_ROUND
from drystone.geometry.shapes.curved_meshes import superquadric_surface
from drystone.kernels import kinds
from drystone.types import Bools, Floats, Ints, MatrixLike, VectorLike

AT = "drystone.kernels.spatial.spheres"

KIND = Kind(
    code=kinds.SPHERE,
    name="sphere",
    dim=3,
    numbers="radius",
    fits=1,
    picture=lambda a, ints, n: Sphere(float(a[0])).mesh(n),
    half_width=lambda a, ints: float(a[0]),
    local="smooth",
    ball=True,
    stretched=True,
    pairs={
        "sphere": PairKernel(AT, "contact_sphere_sphere"),
        "half-space": PairKernel(AT, "contact_sphere_halfspace"),
        "bowl": IN_BOWL_ROUND,
    },
)


@dataclass(frozen=True, eq=False)
class Sphere(SpatialShape):
    """The points within `radius` [m] of the origin."""

    radius: float
    kind: ClassVar[str] = "sphere"
    geom: ClassVar[Kind] = KIND

    def pieces(self) -> list[Piece]:
        return simple(KIND, [self.radius], self.radius)

    def contains(self, points: MatrixLike | VectorLike) -> Bools:
        return np.linalg.norm(query(points, 3), axis=-1) <= self.radius

    def _mass_properties(self, density: float) -> MassProperties:
        mass = density * 4.0 / 3.0 * math.pi * self.radius**3
        return MassProperties(mass, ORIGIN[3], 0.4 * mass * self.radius**2 * np.eye(3))

    def mesh(self, n: int = 24) -> tuple[Floats, Ints]:
        return superquadric_surface((self.radius,) * 3, 1.0, 1.0, n)
