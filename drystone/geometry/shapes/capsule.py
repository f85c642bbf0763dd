"""The capsule in space."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from drystone.geometry.kinds import Kind, PairKernel
from drystone.geometry.mass_properties import MassProperties
from drystone.geometry.shapes.base import ORIGIN, Piece, SpatialShape, corners, query, simple
from drystone.geometry.shapes.bowl import IN_BOWL_ROUND
from drystone.geometry.shapes.curved_meshes import revolved
from drystone.kernels import kinds
from drystone.types import Bools, Floats, Ints, MatrixLike, VectorLike

AT = "drystone.kernels.spatial."

KIND = Kind(
    code=kinds.CAPSULE,
    name="capsule",
    dim=3,
    numbers="half length h along z, radius r: points within r of the segment",
    fits=2,
    picture=lambda a, ints, n: Capsule(2 * float(a[0]), float(a[1])).mesh(n),
    half_width=lambda a, ints: float(a[1]),
    local="revolved",
    about_z=True,
    pieced=True,
    pairs={
        "capsule": PairKernel(AT + "capsules", "contact_capsule_capsule", points=3),
        "sphere": PairKernel(AT + "spheres", "contact_sphere_capsule"),
        "polyhedron": PairKernel(
            AT + "capsules",
            "contact_capsule_polyhedron",
            points=3,
            width=1,
            counters=("culled", "deep"),
        ),
        "half-space": PairKernel(AT + "halfspace", "contact_revolved_halfspace", points=2),
        "bowl": IN_BOWL_ROUND,
    },
)


@dataclass(frozen=True, eq=False)
class Capsule(SpatialShape):
    """The points within `radius` of a segment of `length` along z, centred; both [m]."""

    length: float
    radius: float
    kind: ClassVar[str] = "capsule"
    geom: ClassVar[Kind] = KIND

    def pieces(self) -> list[Piece]:
        half = 0.5 * self.length
        return simple(KIND, [half, self.radius], half + self.radius)

    def contains(self, points: MatrixLike | VectorLike) -> Bools:
        p = query(points, 3)
        past = np.maximum(np.abs(p[..., 2]) - 0.5 * self.length, 0.0)
        return np.hypot(np.hypot(p[..., 0], p[..., 1]), past) <= self.radius

    def _mass_properties(self, density: float) -> MassProperties:
        r, length = self.radius, self.length
        tube = density * math.pi * r**2 * length
        ends = density * 4.0 / 3.0 * math.pi * r**3
        along = tube * 0.5 * r**2 + ends * 0.4 * r**2
        # half balls: 2/5 r^2 about the middle of their flat sides, which are length/2 away; their
        # first moment about it is 3/8 r per mass
        across = tube * (0.25 * r**2 + length**2 / 12.0)
        across += ends * (0.4 * r**2 + 0.25 * length**2 + 0.375 * r * length)
        return MassProperties(tube + ends, ORIGIN[3], np.diag([across, across, along]))

    def mesh(self, n: int = 24) -> tuple[Floats, Ints]:
        angle = np.linspace(0.0, 0.5 * math.pi, corners(n, 4) // 4 + 1)[:-1]
        half = 0.5 * self.length
        upper = np.column_stack((np.cos(angle), np.sin(angle))) * self.radius + (0.0, half)
        lower = upper[::-1] * (1.0, -1.0)
        top = half + self.radius
        return revolved(np.vstack((lower, upper)), n, -top, top)
