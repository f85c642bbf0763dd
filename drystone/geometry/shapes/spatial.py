"""Round shapes of spatial worlds, and the half-space."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from drystone.errors import ShapeError
from drystone.geometry import kinds
from drystone.geometry.mass_properties import MassProperties, inertia_matrix
from drystone.geometry.shapes.base import (
    NO_FLOATS,
    NO_INTS,
    ORIGIN,
    FixedOnly,
    Piece,
    SpatialShape,
    corners,
    number,
    query,
    simple,
    size,
    unit,
)
from drystone.geometry.shapes.surfaces import revolved, superquadric_surface
from drystone.types import Bools, Floats, Ints, MatrixLike, Real, VectorLike

UP: Any = (0.0, 0.0, 1.0)  # as users may write it: an array once a shape is made


@dataclass(frozen=True, eq=False)
class Sphere(SpatialShape):
    """The points within `radius` [m] of the origin."""

    radius: float

    def __post_init__(self) -> None:
        size(self, "radius")

    def pieces(self) -> list[Piece]:
        return simple(kinds.SPHERE, 3, [self.radius], self.radius)

    def contains(self, points: MatrixLike | VectorLike) -> Bools:
        return np.linalg.norm(query(points, 3), axis=-1) <= self.radius

    def _mass_properties(self, density: float) -> MassProperties:
        mass = density * 4.0 / 3.0 * math.pi * self.radius**3
        return MassProperties(mass, ORIGIN[3], 0.4 * mass * self.radius**2 * np.eye(3))

    def mesh(self, n: int = 24) -> tuple[Floats, Ints]:
        return superquadric_surface((self.radius,) * 3, 1.0, 1.0, n)


@dataclass(frozen=True, eq=False)
class Ellipsoid(SpatialShape):
    """Semi-axes a, b, c [m] along x, y, z."""

    a: float
    b: float
    c: float
    takes_sizes: ClassVar[bool] = True

    def __post_init__(self) -> None:
        size(self, "a", "b", "c")

    def pieces(self) -> list[Piece]:
        axes = [self.a, self.b, self.c]
        return simple(kinds.ELLIPSOID, 3, axes, max(axes))

    def contains(self, points: MatrixLike | VectorLike) -> Bools:
        return np.linalg.norm(query(points, 3) / (self.a, self.b, self.c), axis=-1) <= 1.0

    def _mass_properties(self, density: float) -> MassProperties:
        mass = density * 4.0 / 3.0 * math.pi * self.a * self.b * self.c
        second = 0.2 * mass * np.diag([self.a**2, self.b**2, self.c**2])
        return MassProperties(mass, ORIGIN[3], inertia_matrix(second))

    def mesh(self, n: int = 24) -> tuple[Floats, Ints]:
        return superquadric_surface((self.a, self.b, self.c), 1.0, 1.0, n)


@dataclass(frozen=True, eq=False)
class Superquadric(SpatialShape):
    """(|x/a|^(2/e2) + |y/b|^(2/e2))^(e2/e1) + |z/c|^(2/e1) <= 1; a, b, c in [m].

    e1 shapes the meridians and e2 the equator: 1 is round, towards 0 square. Exponents from 0.1
    to 1 are taken: above 1 the surface is not smooth, and far below it is a box or a cylinder.
    """

    a: float
    b: float
    c: float
    e1: float
    e2: float

    def __post_init__(self) -> None:
        size(self, "a", "b", "c", "e1", "e2")
        for name in ("e1", "e2"):
            value = getattr(self, name)
            if not 0.1 <= value <= 1.0:
                raise ShapeError(f"Superquadric: {name} must be from 0.1 to 1, got {value!r}")

    def pieces(self) -> list[Piece]:
        floats = [self.a, self.b, self.c, self.e1, self.e2]
        return simple(kinds.SUPERQUADRIC, 3, floats, self.bounding_radius)

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


@dataclass(frozen=True, eq=False)
class Capsule(SpatialShape):
    """The points within `radius` of a segment of `length` along z, centred; both [m]."""

    length: float
    radius: float

    def __post_init__(self) -> None:
        size(self, "length", "radius")

    def pieces(self) -> list[Piece]:
        half = 0.5 * self.length
        return simple(kinds.CAPSULE, 3, [half, self.radius], half + self.radius)

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


@dataclass(frozen=True, eq=False)
class Cylinder(SpatialShape):
    """`length` along z, centred, and `radius`; both [m]."""

    length: float
    radius: float

    def __post_init__(self) -> None:
        size(self, "length", "radius")

    def pieces(self) -> list[Piece]:
        half = 0.5 * self.length
        floats = [half, self.radius]
        return simple(kinds.CYLINDER, 3, floats, math.hypot(half, self.radius))

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


@dataclass(frozen=True, eq=False)
class Cone(SpatialShape):
    """`height` along z and base `radius` [m]; the origin is the centroid, so that the base lies
    at z = -height/4 and the apex at z = 3/4 height."""

    height: float
    radius: float

    def __post_init__(self) -> None:
        size(self, "height", "radius")

    def pieces(self) -> list[Piece]:
        radius = max(0.75 * self.height, math.hypot(0.25 * self.height, self.radius))
        return simple(kinds.CONE, 3, [self.height, self.radius], radius)

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


@dataclass(frozen=True, eq=False)
class HalfSpace(FixedOnly, SpatialShape):
    """The points p with normal . p <= offset [m]; the normal points out of the ground."""

    normal: Floats = UP
    offset: float = 0.0

    if TYPE_CHECKING:  # arrays are made of what is given

        def __init__(self, normal: VectorLike = (0.0, 0.0, 1.0), offset: Real = 0.0) -> None: ...

    def __post_init__(self) -> None:
        said, way = self.normal, unit("HalfSpace", "normal", self.normal, 3)
        # made a unit vector twice, it may change in a bit: written down as it was said
        self.__dict__["said"] = tuple(np.asarray(said, float).tolist())
        object.__setattr__(self, "normal", way)
        object.__setattr__(self, "offset", number("HalfSpace", "offset", self.offset))

    def pieces(self) -> list[Piece]:
        return [Piece(kinds.HALF_SPACE, NO_FLOATS, NO_INTS, *self._frame(), math.inf)]

    def _frame(self) -> tuple[Floats, Floats]:
        # z axis = normal; the branch-free completion of Duff et al. (2017), the identity for z
        x, y, z = self.normal
        sign = math.copysign(1.0, z)
        a = -1.0 / (sign + z)
        b = x * y * a
        turn = np.array(
            [[1.0 + sign * x * x * a, b, x], [sign * b, sign + y * y * a, y], [-sign * x, -y, z]]
        )
        return self.offset * self.normal + 0.0, turn + 0.0  # + 0.0: no negative zeros

    def contains(self, points: MatrixLike | VectorLike) -> Bools:
        return query(points, 3) @ self.normal <= self.offset

    def mesh(self, n: int = 24, extent: float = 10.0) -> tuple[Floats, Ints]:
        """A square of the surface, 2 `extent` wide."""
        x, R = self._frame()
        half = number("HalfSpace", "extent", extent)
        square = half * np.array([[-1.0, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
        return x + square @ R.T, np.array([[0, 1, 2], [0, 2, 3]])
