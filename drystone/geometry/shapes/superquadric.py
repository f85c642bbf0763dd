"""The superquadric."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from drystone.geometry.kinds import Kind
from drystone.geometry.mass_properties import MassProperties, inertia_matrix
from drystone.geometry.shapes.base import ORIGIN, Piece, SpatialShape, query, simple
from drystone.geometry.shapes.bowl import IN_BOWL_ROUND
from drystone.geometry.shapes.curved_meshes import superquadric_surface
from drystone.geometry.shapes.ellipsoid import EXTREMAL, FEATURES, NEAREST, PLANE
from drystone.kernels import kinds
from drystone.types import Bools, Floats, Ints, MatrixLike, VectorLike

EXPONENT = {"unit": "", "range": (0.1, 1.0)}  # from a box or a cylinder to round

KIND = Kind(
    code=kinds.SUPERQUADRIC,
    name="superquadric",
    dim=3,
    numbers="a, b, c, e1, e2: (|x/a|^(2/e2) + |y/b|^(2/e2))^(e2/e1) + |z/c|^(2/e1) <= 1",
    fits=5,
    picture=lambda a, ints, n: Superquadric(*a.tolist()).mesh(n),
    half_width=lambda a, ints: float(a[:3].min()),
    local="smooth",
    pairs={
        "superquadric": EXTREMAL,
        "ellipsoid": EXTREMAL,
        "sphere": NEAREST,
        "polyhedron": FEATURES,
        "half-space": PLANE,
        "bowl": IN_BOWL_ROUND,
    },
)


@dataclass(frozen=True, eq=False)
class Superquadric(SpatialShape):
    """(|x/a|^(2/e2) + |y/b|^(2/e2))^(e2/e1) + |z/c|^(2/e1) <= 1; a, b, c in [m].

    e1 shapes the meridians and e2 the equator: 1 is round, towards 0 square. Exponents from 0.1
    to 1 are taken: above 1 the surface is not smooth, and far below it is a box or a cylinder.
    """

    a: float
    b: float
    c: float
    e1: float = field(metadata=EXPONENT)
    e2: float = field(metadata=EXPONENT)
    kind: ClassVar[str] = "superquadric"
    geom: ClassVar[Kind] = KIND

    def pieces(self) -> list[Piece]:
        floats = [self.a, self.b, self.c, self.e1, self.e2]
        return simple(KIND, floats, self.bounding_radius)

    @property
    def bounding_radius(self) -> float:
        """Greatest distance of the surface from the origin [m]."""

        # max x^2 + y^2 + z^2 is max A X + B Y + C Z with X = (x/a)^2, ...: a dual norm again,
        # with exponents p/2 = 1/e
        def longest(u: float, v: float, e: float) -> float:
            if e == 1.0:
                return max(u, v)
            q = 1.0 / (1.0 - e)
            most = max(u, v)
            return most * float(((u / most) ** q + (v / most) ** q) ** (1.0 / q))

        equator = longest(self.a**2, self.b**2, self.e2)
        return math.sqrt(longest(equator, self.c**2, self.e1))

    def contains(self, points: MatrixLike | VectorLike) -> Bools:
        # far outside is outside: powers up to 20 stay numbers
        p = np.minimum(np.abs(query(points, 3) / (self.a, self.b, self.c)), 1e15)
        equator = p[..., 0] ** (2.0 / self.e2) + p[..., 1] ** (2.0 / self.e2)
        return equator ** (self.e2 / self.e1) + p[..., 2] ** (2.0 / self.e1) <= 1.0

    def _mass_properties(self, density: float) -> MassProperties:
        # volume and second moments by beta functions (Jaklic, Leonardis, Solina 2000)
        a, b, c, e1, e2 = self.a, self.b, self.c, self.e1, self.e2
        m = density * a * b * c * e1 * e2
        mass = 2.0 * m * _beta(0.5 * e1 + 1.0, e1) * _beta(0.5 * e2, 0.5 * e2)
        across = 0.5 * m * _beta(1.5 * e2, 0.5 * e2) * _beta(0.5 * e1, 2.0 * e1 + 1.0)
        along = 2.0 * m * _beta(0.5 * e2, 0.5 * e2 + 1.0) * _beta(1.5 * e1, e1 + 1.0)
        second = np.diag([across * a**2, across * b**2, along * c**2])
        return MassProperties(mass, ORIGIN[3], inertia_matrix(second))

    def mesh(self, n: int = 24) -> tuple[Floats, Ints]:
        return superquadric_surface((self.a, self.b, self.c), self.e1, self.e2, n)


def _beta(x: float, y: float) -> float:
    return math.exp(math.lgamma(x) + math.lgamma(y) - math.lgamma(x + y))
