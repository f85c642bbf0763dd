"""Boxes and convex polyhedra."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from drystone.errors import ShapeError
from drystone.geometry.kinds import Kind, PairKernel
from drystone.geometry.mass_properties import MassProperties, inertia_matrix, of_mesh
from drystone.geometry.shapes.base import (
    AXES,
    ORIGIN,
    Piece,
    SpatialShape,
    half_width,
    points_of,
    query,
)
from drystone.geometry.shapes.bowl import IN_BOWL_CORNERS
from drystone.geometry.shapes.topology import Topology, laid_out, layout, topology
from drystone.kernels import kinds
from drystone.types import Bools, Floats, Ints, MatrixLike, VectorLike

# ---- Convex hulls with true polygonal faces.

# Triangles of one face may be this far out of its plane, over the size of the body: what is left
# of a plane after turning and moving its corners in float64, with room to spare.
COPLANAR_TOL = 1e-10


@dataclass(frozen=True, eq=False)
class Hull:
    """corners (nc,): numbers of the points that are corners, ascending; topology over them;
    size: largest extent of the points [m]."""

    corners: Ints
    topology: Topology
    size: float


def convex_hull(kind: str, points: Floats) -> Hull:
    """Of points (k, 3); raises ShapeError if they lie in a plane or two of them coincide."""
    size = float(np.ptp(points, axis=0).max())
    _check_distinct(kind, points, size)
    corners = np.arange(len(points))
    while True:
        triangles, normals = _triangles(kind, points[corners], size)
        loops = _faces(points[corners], triangles, normals, COPLANAR_TOL * size)
        # a corner of a face or two only lies on an edge or in a face, but for rounding
        faces_at = np.bincount([v for loop in loops for v in loop], minlength=len(corners))
        if (faces_at >= 3).all():
            return Hull(corners, topology(points[corners], loops), size)
        corners = corners[faces_at >= 3]
        if len(corners) < 4:
            raise ShapeError(
                f"{kind}: the points lie in a plane, within {COPLANAR_TOL:g} of their extent"
            )


def _check_distinct(kind: str, points: Floats, size: float) -> None:
    order = np.lexsort(points.T)
    near = np.abs(np.diff(points[order], axis=0)).max(axis=1) <= 1e-12 * size
    if near.any():
        i = int(np.argmax(near))
        a, b = sorted((int(order[i]), int(order[i + 1])))
        raise ShapeError(f"{kind}: points {a} and {b} coincide, at {points[a].tolist()}")


def _triangles(kind: str, points: Floats, size: float) -> tuple[Ints, Floats]:
    """Qhull's triangles (nt, 3), counter-clockwise seen from outside, and planes (nt, 4)."""
    from scipy.spatial import ConvexHull, QhullError  # 60 ms to import: only for who needs it

    centre = points.mean(axis=0)
    thickness = np.linalg.svd((points - centre) / (size or 1.0), compute_uv=False)[-1]
    if thickness < COPLANAR_TOL * np.sqrt(len(points)):
        raise ShapeError(
            f"{kind}: the points lie in a plane, within {COPLANAR_TOL:g} of their extent"
        )
    try:
        hull = ConvexHull(points)
    except QhullError as error:
        raise ShapeError(f"{kind}: no convex hull: {str(error).splitlines()[0]}") from None
    triangles = hull.simplices.astype(np.int64)
    a, b, c = (points[triangles[:, i]] for i in range(3))
    inward = np.einsum("ti,ti->t", np.cross(b - a, c - a), hull.equations[:, :3]) < 0.0
    triangles[inward] = triangles[inward][:, ::-1]
    # in an order of their own, so that the numbering does not hang on Qhull's
    first = np.argmin(triangles, axis=1)
    triangles = np.take_along_axis(triangles, (first[:, None] + np.arange(3)) % 3, axis=1)
    order = np.lexsort(triangles.T[::-1])
    return triangles[order], hull.equations[order]


def _faces(points: Floats, triangles: Ints, planes: Floats, flat: float) -> list[list[int]]:
    """Loops of the faces: neighbouring triangles within `flat` of each other's plane are one."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    side = {}
    for t, (a, b, c) in enumerate(triangles.tolist()):
        side[a, b], side[b, c], side[c, a] = t, t, t
    far = np.abs(np.einsum("tki,ti->tk", points[triangles], planes[:, :3]) + planes[:, 3:])
    flat = max(flat, 2.0 * float(far.max()))  # Qhull's own facets are only so thin
    here, there = np.array([(t, side[w, v]) for (v, w), t in side.items()]).T
    off = np.einsum("tki,ti->tk", points[triangles[there]], planes[here, :3]) + planes[here, 3:]
    flush = np.abs(off).max(axis=1) <= flat
    graph = coo_array((flush, (here, there)), shape=(len(triangles),) * 2).tocsr()
    face = connected_components(graph.minimum(graph.T), directed=False)[1].tolist()
    ahead: dict[int, dict[int, int]] = {}
    for (v, w), t in side.items():
        if face[side[w, v]] != face[t]:
            ahead.setdefault(face[t], {})[v] = w
    return [_loop(ahead[face]) for face in sorted(ahead)]


def _loop(ahead: dict[int, int]) -> list[int]:
    first = min(ahead)
    out = [first]
    while (v := ahead[out[-1]]) != first:
        out.append(v)
    return out


# Vertex i of a box has the signs of i's bits: bit 0 for x, 1 for y, 2 for z.
_BOX_SIGNS = np.array([[(i >> axis & 1) - 0.5 for axis in range(3)] for i in range(8)])
# Faces -x, +x, -y, +y, -z, +z.
_BOX_LOOPS = ((0, 4, 6, 2), (1, 3, 7, 5), (0, 1, 5, 4), (2, 6, 7, 3), (0, 2, 3, 1), (4, 5, 7, 6))
_BOX_NORMALS = np.kron(np.eye(3), [[-1.0], [1.0]]) + 0.0
_BOX_INTS = layout(8, _BOX_LOOPS)
_BOX_INTS.setflags(write=False)


def _picture(numbers: Floats, ints: Ints, n: int) -> tuple[Floats, Ints]:
    nv, nf = int(ints[0]), int(ints[1])
    start = ints[3 : 4 + nf]
    loop = ints[4 + nf :]
    faces = [
        (loop[start[f]], loop[i], loop[i + 1])
        for f in range(nf)
        for i in range(start[f] + 1, start[f + 1] - 1)
    ]
    return np.array(numbers)[: 3 * nv].reshape(nv, 3), np.array(faces, dtype=np.int64)


def _half_width(numbers: Floats, ints: Ints) -> float:
    nv = 3 * int(ints[0])
    return half_width(numbers[:nv].reshape(-1, 3), numbers[nv:].reshape(-1, 4)[:, :3])


AT = "drystone.kernels.spatial."

KIND = Kind(
    code=kinds.POLYHEDRON,
    name="polyhedron",
    dim=3,
    numbers="vertices (nv, 3), then face planes (nf, 4): outer unit normal n, offset n.x; "
    "ints: those of ``topology.layout``",
    fits=lambda a, ints: laid_out(ints) and a.size == 3 * ints[0] + 4 * ints[1],
    picture=_picture,
    half_width=_half_width,
    local="polyhedral",
    pieced=True,
    edges="all",
    pairs={
        "polyhedron": PairKernel(
            AT + "polyhedra",
            "contact_polyhedron_polyhedron",
            points=4,
            width=11,
            counters=("hits", "neighbours", "searches", "distances"),
        ),
        "sphere": PairKernel(
            AT + "capsules",
            "contact_sphere_polyhedron",
            width=1,
            counters=("kept", "pairs"),
        ),
        "half-space": PairKernel(
            AT + "halfspace",
            "contact_polyhedron_half_space",
            points=4,
            width=1,
            counters=("hits", "climbs"),
        ),
        "bowl": IN_BOWL_CORNERS,
    },
)


@dataclass(frozen=True, eq=False)
class Box(SpatialShape):
    """Full sizes lx, ly, lz [m] along x, y, z, centred."""

    lx: float
    ly: float
    lz: float
    kind: ClassVar[str] = "box"
    geom: ClassVar[Kind] = KIND
    takes_sizes: ClassVar[bool] = True

    def pieces(self) -> list[Piece]:
        sizes = np.array([self.lx, self.ly, self.lz])
        floats = np.empty(48)
        floats[:24] = (_BOX_SIGNS * sizes).ravel()
        planes = floats[24:].reshape(6, 4)
        planes[:, :3] = _BOX_NORMALS
        planes[:, 3] = np.repeat(0.5 * sizes, 2)
        radius = 0.5 * math.hypot(self.lx, self.ly, self.lz)
        return [Piece(KIND.code, floats, _BOX_INTS, ORIGIN[3], AXES[3], radius)]

    def contains(self, points: MatrixLike | VectorLike) -> Bools:
        half = 0.5 * np.array([self.lx, self.ly, self.lz])
        return np.asarray((np.abs(query(points, 3)) <= half).all(axis=-1))

    def _mass_properties(self, density: float) -> MassProperties:
        mass = density * self.lx * self.ly * self.lz
        second = mass / 12.0 * np.diag([self.lx**2, self.ly**2, self.lz**2])
        return MassProperties(mass, ORIGIN[3], inertia_matrix(second))

    def mesh(self, n: int = 24) -> tuple[Floats, Ints]:
        fans = [(a, b, c) for a, *rest in _BOX_LOOPS for b, c in pairwise(rest)]
        return _BOX_SIGNS * (self.lx, self.ly, self.lz), np.array(fans, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class ConvexPolyhedron(SpatialShape):
    """The convex polyhedron whose corners are `points` (k, 3) [m], in any order.

    Every point must be a corner: one inside the hull of the others is refused, as the shape meant
    may not be convex. ``ConvexPolyhedron.hull(points)`` takes the hull of any points.
    """

    points: Floats
    kind: ClassVar[str] = "convex-polyhedron"
    geom: ClassVar[Kind] = KIND

    if TYPE_CHECKING:  # arrays are made of what is given

        def __init__(self, points: MatrixLike) -> None: ...

    def __post_init__(self) -> None:
        points = points_of("ConvexPolyhedron", "points", self.points, 3, 4)
        hull = convex_hull("ConvexPolyhedron", points)
        if len(hull.corners) != len(points):
            raise ShapeError(_not_a_corner(points, hull))
        object.__setattr__(self, "points", points)
        self.__dict__["topology"] = hull.topology

    @staticmethod
    def hull(points: MatrixLike) -> ConvexPolyhedron:
        """The convex hull of any points (k, 3), which is then what collides."""
        points = points_of("ConvexPolyhedron", "points", points, 3, 4)
        return ConvexPolyhedron(points[convex_hull("ConvexPolyhedron", points).corners])

    @cached_property
    def topology(self) -> Topology:
        """Faces, edges and vertex stars; vertices are `points`, in their order."""
        return convex_hull("ConvexPolyhedron", self.points).topology

    @cached_property
    def _unit_density(self) -> MassProperties:
        return of_mesh(self.points, self.topology.triangles(), 1.0)

    def pieces(self) -> list[Piece]:
        return [polyhedron_piece(self.topology, self._unit_density.centre)]

    def contains(self, points: MatrixLike | VectorLike) -> Bools:
        planes = self.topology.planes
        return np.asarray((query(points, 3) @ planes[:, :3].T <= planes[:, 3]).all(axis=-1))

    def _mass_properties(self, density: float) -> MassProperties:
        one = self._unit_density
        return MassProperties(density * one.mass, one.centre, density * one.inertia)

    def mesh(self, n: int = 24) -> tuple[Floats, Ints]:
        return self.points.copy(), self.topology.triangles()

    def __repr__(self) -> str:
        return f"ConvexPolyhedron({len(self.points)} corners, {len(self.topology.loops)} faces)"


def polyhedron_piece(topology: Topology, centre: Floats) -> Piece:
    """The geom of a polyhedron, in a frame at `centre` (3,): least radius, nothing cancels."""
    local = topology.vertices - centre
    planes = topology.planes.copy()
    planes[:, 3] -= planes[:, :3] @ centre
    floats = np.concatenate((local.ravel(), planes.ravel()))
    radius = float(np.sqrt((local * local).sum(axis=1).max()))
    return Piece(KIND.code, floats, topology.ints, centre, AXES[3], radius)


def _not_a_corner(points: Floats, hull: Hull) -> str:
    rest = np.setdiff1d(np.arange(len(points)), hull.corners)
    planes = hull.topology.planes
    depth = (planes[:, 3] - points[rest] @ planes[:, :3].T).min(axis=1)
    i = int(np.argmax(depth))
    where = f"{depth[i]:.3g} inside the hull" if depth[i] > 1e-9 * hull.size else "on its surface"
    return (
        f"ConvexPolyhedron: not convex: point {rest[i]} at {points[rest[i]].tolist()} lies {where} "
        "and is no corner; use ds.ConvexPolyhedron.hull(points) if a hull is meant"
    )
