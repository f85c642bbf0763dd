"""The ellipsoid."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from drystone.geometry.kinds import Kind, PairKernel
from drystone.geometry.mass_properties import MassProperties, inertia_matrix
from drystone.geometry.shapes.base import ORIGIN, Piece, SpatialShape, query, simple
from drystone.geometry.shapes.bowl import IN_BOWL_ROUND
from drystone.geometry.shapes.curved_meshes import superquadric_surface
from drystone.kernels import kinds
from drystone.types import Bools, Floats, Ints, MatrixLike, VectorLike

AT = "drystone.kernels.spatial."
COUNTERS = ("iterations", "predicted", "fallbacks", "solves", "culled")
# with an ellipsoid or a superquadric, a sphere, a polyhedron, a half-space
CUTTING = AT + "cutting_planes"
EXTREMAL = PairKernel(
    AT + "smooth_smooth", "contact_smooth_smooth", width=13, counters=COUNTERS, calls_of=CUTTING
)
NEAREST = PairKernel(
    AT + "sphere_smooth", "contact_sphere_smooth", width=7, counters=COUNTERS, calls_of=CUTTING
)
FEATURES = PairKernel(
    AT + "smooth_polyhedron",
    "contact_smooth_polyhedron",
    width=7,
    counters=(*COUNTERS, "visits", "kept"),
    calls_of=CUTTING,
)
PLANE = PairKernel(AT + "halfspace", "contact_smooth_halfspace")

KIND = Kind(
    code=kinds.ELLIPSOID,
    name="ellipsoid",
    dim=3,
    numbers="semi-axes a, b, c",
    fits=3,
    picture=lambda a, ints, n: Ellipsoid(*a.tolist()).mesh(n),
    half_width=lambda a, ints: float(a.min()),
    local="smooth",
    stretched=True,
    pairs={
        "ellipsoid": EXTREMAL,
        "sphere": NEAREST,
        "polyhedron": FEATURES,
        "half-space": PLANE,
        "bowl": IN_BOWL_ROUND,
    },
)


@dataclass(frozen=True, eq=False)
class Ellipsoid(SpatialShape):
    """Semi-axes a, b, c [m] along x, y, z."""

    a: float
    b: float
    c: float
    takes_sizes: ClassVar[bool] = True
    kind: ClassVar[str] = "ellipsoid"
    geom: ClassVar[Kind] = KIND

    def pieces(self) -> list[Piece]:
        axes = [self.a, self.b, self.c]
        return simple(KIND, axes, max(axes))

    def contains(self, points: MatrixLike | VectorLike) -> Bools:
        return np.linalg.norm(query(points, 3) / (self.a, self.b, self.c), axis=-1) <= 1.0

    def _mass_properties(self, density: float) -> MassProperties:
        mass = density * 4.0 / 3.0 * math.pi * self.a * self.b * self.c
        second = 0.2 * mass * np.diag([self.a**2, self.b**2, self.c**2])
        return MassProperties(mass, ORIGIN[3], inertia_matrix(second))

    def mesh(self, n: int = 24) -> tuple[Floats, Ints]:
        return superquadric_surface((self.a, self.b, self.c), 1.0, 1.0, n)
