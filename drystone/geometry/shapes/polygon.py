"""Convex polygons."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from drystone.errors import ShapeError
from drystone.geometry.kinds import Kind, PairKernel
from drystone.geometry.mass_properties import MassProperties, of_polygon
from drystone.geometry.shapes.base import (
    AXES,
    NO_INTS,
    ORIGIN,
    Piece,
    PlanarShape,
    half_width,
    points_of,
    query,
)
from drystone.kernels import kinds
from drystone.types import Bools, Floats, Ints, MatrixLike, VectorLike

# Least sine of the angle by which a boundary must turn at a vertex: below, the vertex is one of
# the rounding of coordinates rather than of the shape.
COLLINEAR_TOL = 1e-10

AT = "drystone.kernels.planar."
WITNESS = ("hits", "neighbours", "searches")
# of polygons and planar capsules, with disks and with each other
DISK_CORE = PairKernel(AT + "disks", "contact_disk_core", 1, 1, WITNESS)
CORE_CORE = PairKernel(AT + "cores", "contact_core_core", 2, 3, WITNESS)


def _half_width(numbers: Floats, ints: Ints) -> float:
    corners = numbers.reshape(-1, 2)
    side = np.roll(corners, -1, axis=0) - corners
    return half_width(
        corners, np.stack([side[:, 1], -side[:, 0]], axis=1) / np.hypot(*side.T)[:, None]
    )


KIND = Kind(
    code=kinds.POLYGON,
    name="polygon",
    dim=2,
    numbers="k vertices (x, y), counter-clockwise, strictly convex",
    fits=lambda a, ints: a.size >= 6 and a.size % 2 == 0 and not ints.size,
    picture=lambda a, ints, n: np.array(a).reshape(-1, 2),
    half_width=_half_width,
    edges="all",
    pairs={
        "disk": DISK_CORE,
        "polygon": CORE_CORE,
        "half-plane": PairKernel(
            AT + "half_plane", "contact_polygon_half_plane", 2, 1, ("hits", "climbs")
        ),
    },
)


class _ConvexPolygon(PlanarShape):
    """What polygons share; `vertices` (k, 2) are counter-clockwise and strictly convex."""

    geom: ClassVar[Kind] = KIND

    @property
    def vertices(self) -> Floats:
        raise NotImplementedError

    @cached_property
    def _unit_density(self) -> MassProperties:
        return of_polygon(self.vertices, 1.0)

    def pieces(self) -> list[Piece]:
        # the geom's frame stands at the centroid: a small radius, and nothing cancels
        centre = self._unit_density.centre
        local = self.vertices - centre
        radius = float(np.sqrt((local * local).sum(axis=1).max()))
        return [Piece(KIND.code, local.ravel(), NO_INTS, centre, AXES[2], radius)]

    def contains(self, points: MatrixLike | VectorLike) -> Bools:
        p = query(points, 2)
        inside = np.ones(p.shape[:-1], dtype=np.bool_)
        v = self.vertices
        for a, b in zip(v, np.roll(v, -1, axis=0), strict=True):
            d = p - a
            inside &= (b[0] - a[0]) * d[..., 1] - (b[1] - a[1]) * d[..., 0] >= 0.0
        return inside

    def _mass_properties(self, density: float) -> MassProperties:
        one = self._unit_density
        return MassProperties(density * one.mass, one.centre, density * one.inertia)

    def outline(self, n: int = 64) -> Floats:
        return self.vertices.copy()


@dataclass(frozen=True, eq=False)
class Polygon(_ConvexPolygon):
    """A strictly convex polygon of `points` (k, 2) [m] in order round it, either way.

    Points that are not convex, or a boundary that crosses itself, are refused: cut the polygon
    into convex ones with ``decompose_polygon``.
    """

    points: Floats
    kind: ClassVar[str] = "polygon"

    if TYPE_CHECKING:  # arrays are made of what is given

        def __init__(self, points: MatrixLike) -> None: ...

    def __post_init__(self) -> None:
        points = points_of("Polygon", "points", self.points, 2, 3)
        check_distinct("Polygon", points)
        check_convex(points)
        if signed_area(points) < 0.0:
            points = points[::-1].copy()
            points.setflags(write=False)
        object.__setattr__(self, "points", points)

    @property
    def vertices(self) -> Floats:
        """(k, 2), counter-clockwise."""
        out: Floats = self.points
        return out

    def __repr__(self) -> str:
        return f"Polygon({len(self.points)} points)"


@dataclass(frozen=True, eq=False)
class Rectangle(_ConvexPolygon):
    """Full `width` along x and `height` along y [m], centred."""

    width: float
    height: float
    kind: ClassVar[str] = "rectangle"
    takes_sizes: ClassVar[bool] = True

    @cached_property
    def vertices(self) -> Floats:
        """(4, 2), counter-clockwise from the lower left."""
        x, y = 0.5 * self.width, 0.5 * self.height
        return np.array([[-x, -y], [x, -y], [x, y], [-x, y]])

    @cached_property
    def _unit_density(self) -> MassProperties:
        area = self.width * self.height
        inertia = area * (self.width**2 + self.height**2) / 12.0
        return MassProperties(area, ORIGIN[2], inertia)


@dataclass(frozen=True, eq=False)
class RegularPolygon(_ConvexPolygon):
    """`n` corners at `radius` [m] from the centre, the first on the x axis."""

    n: int
    radius: float
    kind: ClassVar[str] = "regular-polygon"

    def __post_init__(self) -> None:
        try:
            n = operator.index(self.n)
        except TypeError:
            raise ShapeError(f"RegularPolygon: n must be an integer, got {self.n!r}") from None
        if not 3 <= n <= 10_000:
            raise ShapeError(f"RegularPolygon: n must be from 3 to 10000, got {n}")
        object.__setattr__(self, "n", n)
        super().__post_init__()

    @cached_property
    def vertices(self) -> Floats:
        """(n, 2), counter-clockwise."""
        angle = 2.0 * np.pi * np.arange(self.n) / self.n
        return self.radius * np.column_stack((np.cos(angle), np.sin(angle)))


def signed_area(points: Floats) -> float:
    """Area (k, 2) of a polygon [m^2], negative if its points go round clockwise."""
    p = points - points[0]
    q = np.roll(p, -1, axis=0)
    return 0.5 * float((p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0]).sum())


def turns(points: Floats) -> Floats:
    """(k,) sine of the angle by which the boundary turns left at each vertex."""
    ahead = np.roll(points, -1, axis=0) - points
    behind = points - np.roll(points, 1, axis=0)
    cross = behind[:, 0] * ahead[:, 1] - behind[:, 1] * ahead[:, 0]
    return cross / (np.linalg.norm(ahead, axis=1) * np.linalg.norm(behind, axis=1))


def _total_turn(points: Floats) -> float:
    step = np.roll(points, -1, axis=0) - points
    heading = np.arctan2(step[:, 1], step[:, 0])
    turn = np.roll(heading, -1) - heading
    return float((np.mod(turn + np.pi, 2.0 * np.pi) - np.pi).sum())


def check_distinct(kind: str, points: Floats) -> None:
    """Refuse neighbours that coincide."""
    step = np.abs(np.roll(points, -1, axis=0) - points).max(axis=1)
    extent = float(np.ptp(points, axis=0).max())
    if (step <= 1e-12 * extent).any() or extent == 0.0:
        i = int(np.argmin(step))
        j = (i + 1) % len(points)
        raise ShapeError(f"{kind}: vertices {i} and {j} coincide, at {points[i].tolist()}")


def check_convex(points: Floats) -> None:
    """Refuse points (k, 2) that are not a strictly convex polygon's, and name the vertex."""
    sign = 1.0 if signed_area(points) > 0.0 else -1.0
    turn = sign * turns(points)
    worst = int(np.argmin(turn))
    # turning left everywhere, and round once: a star turns left too, but more than once round
    if turn[worst] >= COLLINEAR_TOL and abs(_total_turn(points)) < 3.0 * np.pi:
        return
    crossing = first_crossing(points)
    if crossing is not None:
        raise ShapeError("Polygon: " + crossing)
    where = f"vertex {worst} at {points[worst].tolist()}"
    if turn[worst] > -COLLINEAR_TOL:
        raise ShapeError(f"Polygon: {where} lies on the line through its neighbours; leave it out")
    raise ShapeError(
        f"Polygon: not convex at {where}; cut it into convex polygons with ds.decompose_polygon"
    )


def first_crossing(points: Floats) -> str | None:
    """What is wrong with a boundary that meets itself, or None."""
    k = len(points)
    a, b = points, np.roll(points, -1, axis=0)
    for i in range(k - 1):
        # edges that are not neighbours of edge i, each pair once
        last = k - 1 if i == 0 else k
        j = np.arange(i + 2, last)
        if j.size == 0:
            continue
        met = _meet(a[i], b[i], a[j], b[j])
        if met.any():
            m = int(j[np.argmax(met)])
            return (
                f"the boundary crosses itself: edge {i}-{(i + 1) % k} meets edge {m}-{(m + 1) % k}"
            )
    back = turns(points)
    ahead = np.einsum("ij,ij->i", b - a, a - np.roll(a, 1, axis=0))
    spike = (np.abs(back) < COLLINEAR_TOL) & (ahead < 0.0)
    if spike.any():
        i = int(np.argmax(spike))
        return f"the boundary turns back on itself at vertex {i}, {points[i].tolist()}"
    return None


def _side(a: Floats, b: Floats, p: Floats) -> Floats:
    out: Floats = (b[..., 0] - a[..., 0]) * (p[..., 1] - a[..., 1]) - (b[..., 1] - a[..., 1]) * (
        p[..., 0] - a[..., 0]
    )
    return out


def _meet(a: Floats, b: Floats, c: Floats, d: Floats) -> Bools:
    """Whether segment ab touches each of the segments cd (m, 2)."""
    s1, s2 = _side(a, b, c), _side(a, b, d)
    s3, s4 = _side(c, d, a), _side(c, d, b)
    low = np.maximum(np.minimum(a, b), np.minimum(c, d))
    high = np.minimum(np.maximum(a, b), np.maximum(c, d))
    boxes = (low <= high).all(axis=-1)
    return boxes & (s1 * s2 <= 0.0) & (s3 * s4 <= 0.0)
