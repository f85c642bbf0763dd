"""Round shapes of planar worlds, and the half-plane."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from drystone.geometry import kinds
from drystone.geometry.mass_properties import MassProperties
from drystone.geometry.shapes.base import (
    NO_FLOATS,
    NO_INTS,
    ORIGIN,
    FixedOnly,
    Piece,
    PlanarShape,
    corners,
    number,
    query,
    simple,
    size,
    unit,
)
from drystone.types import Bools, Floats, MatrixLike, Real, VectorLike


def _circle(n: int) -> Floats:
    angle = np.linspace(0.0, 2.0 * math.pi, corners(n), endpoint=False)
    return np.column_stack((np.cos(angle), np.sin(angle)))


UP: Any = (0.0, 1.0)  # as users may write it: an array once a shape is made


@dataclass(frozen=True, eq=False)
class Disk(PlanarShape):
    """The points within `radius` [m] of the origin."""

    radius: float

    def __post_init__(self) -> None:
        size(self, "radius")

    def pieces(self) -> list[Piece]:
        return simple(kinds.DISK, 2, [self.radius], self.radius)

    def contains(self, points: MatrixLike | VectorLike) -> Bools:
        p = query(points, 2)
        return np.hypot(p[..., 0], p[..., 1]) <= self.radius

    def _mass_properties(self, density: float) -> MassProperties:
        mass = density * math.pi * self.radius**2
        return MassProperties(mass, ORIGIN[2], 0.5 * mass * self.radius**2)

    def outline(self, n: int = 64) -> Floats:
        return self.radius * _circle(n)


@dataclass(frozen=True, eq=False)
class Ellipse(PlanarShape):
    """Semi-axes a and b [m] along x and y."""

    a: float
    b: float
    takes_sizes: ClassVar[bool] = True

    def __post_init__(self) -> None:
        size(self, "a", "b")

    def pieces(self) -> list[Piece]:
        return simple(kinds.ELLIPSE, 2, [self.a, self.b], max(self.a, self.b))

    def contains(self, points: MatrixLike | VectorLike) -> Bools:
        p = query(points, 2) / (self.a, self.b)
        return np.hypot(p[..., 0], p[..., 1]) <= 1.0

    def _mass_properties(self, density: float) -> MassProperties:
        mass = density * math.pi * self.a * self.b
        return MassProperties(mass, ORIGIN[2], 0.25 * mass * (self.a**2 + self.b**2))

    def outline(self, n: int = 64) -> Floats:
        return _circle(n) * (self.a, self.b)


@dataclass(frozen=True, eq=False)
class Capsule2D(PlanarShape):
    """The points within `radius` of a segment of `length` along x, centred; both [m]."""

    length: float
    radius: float

    def __post_init__(self) -> None:
        size(self, "length", "radius")

    def pieces(self) -> list[Piece]:
        half = 0.5 * self.length
        return simple(kinds.CAPSULE_2D, 2, [half, self.radius], half + self.radius)

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


@dataclass(frozen=True, eq=False)
class HalfPlane(FixedOnly, PlanarShape):
    """The points p with normal . p <= offset [m]; the normal points out of the ground."""

    normal: Floats = UP
    offset: float = 0.0

    if TYPE_CHECKING:  # arrays are made of what is given

        def __init__(self, normal: VectorLike = (0.0, 1.0), offset: Real = 0.0) -> None: ...

    def __post_init__(self) -> None:
        said, way = self.normal, unit("HalfPlane", "normal", self.normal, 2)
        # made a unit vector twice, it may change in a bit: written down as it was said
        self.__dict__["said"] = tuple(np.asarray(said, float).tolist())
        object.__setattr__(self, "normal", way)
        object.__setattr__(self, "offset", number("HalfPlane", "offset", self.offset))

    def pieces(self) -> list[Piece]:
        return [Piece(kinds.HALF_PLANE, NO_FLOATS, NO_INTS, *self._frame(), math.inf)]

    def _frame(self) -> tuple[Floats, Floats]:
        nx, ny = self.normal
        return self.offset * self.normal + 0.0, np.array([[ny, nx], [-nx, ny]]) + 0.0

    def contains(self, points: MatrixLike | VectorLike) -> Bools:
        return query(points, 2) @ self.normal <= self.offset

    def outline(self, n: int = 64, extent: float = 10.0) -> Floats:
        """A rectangle of width 2 `extent` and depth `extent` below the surface."""
        x, R = self._frame()
        half = number("HalfPlane", "extent", extent)
        box = half * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 0.0], [-1.0, 0.0]])
        return x + box @ R.T
