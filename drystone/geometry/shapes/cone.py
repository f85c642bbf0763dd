"""The cone."""

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
    code=kinds.CONE,
    name="cone",
    dim=3,
    numbers="height H, radius r: base at z = -H/4, apex at z = 3H/4 (origin = centroid)",
    fits=2,
    picture=lambda a, ints, n: Cone(*a.tolist()).mesh(n),
    half_width=lambda a, ints: 0.5 * float(a[0] * a[1] / np.hypot(a[0], a[1])),
    local="revolved",
    about_z=True,
    pieced=True,
    edges="some",
    ends=(-0.25,),
    pairs={
        "sphere": PairKernel(AT + "spheres", "contact_sphere_revolved"),
        "half-space": PairKernel(AT + "halfspace", "contact_revolved_halfspace", points=10),
        "bowl": IN_BOWL_CORNERS,
    },
)


@dataclass(frozen=True, eq=False)
class Cone(SpatialShape):
    """`height` along z and base `radius` [m]; the origin is the centroid, so that the base lies
    at z = -height/4 and the apex at z = 3/4 height."""

    height: float
    radius: float
    kind: ClassVar[str] = "cone"
    geom: ClassVar[Kind] = KIND

    def pieces(self) -> list[Piece]:
        radius = max(0.75 * self.height, math.hypot(0.25 * self.height, self.radius))
        return simple(KIND, [self.height, self.radius], radius)

    def contains(self, points: MatrixLike | VectorLike) -> Bools:
        p = query(points, 3)
        up = 0.75 - p[..., 2] / self.height  # 0 at the apex, 1 at the base
        return (np.hypot(p[..., 0], p[..., 1]) <= self.radius * up) & (up <= 1.0)

    def _mass_properties(self, density: float) -> MassProperties:
        r, h = self.radius, self.height
        mass = density * math.pi * r**2 * h / 3.0
        across = mass * (3.0 * r**2 / 20.0 + 3.0 * h**2 / 80.0)
        return MassProperties(mass, ORIGIN[3], np.diag([across, across, 0.3 * mass * r**2]))

    def mesh(self, n: int = 24) -> tuple[Floats, Ints]:
        h = self.height
        return revolved(np.array([[self.radius, -0.25 * h]]), n, -0.25 * h, 0.75 * h)
