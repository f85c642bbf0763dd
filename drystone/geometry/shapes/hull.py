"""Convex hulls with true polygonal faces."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drystone.errors import ShapeError
from drystone.geometry.shapes.topology import Topology, topology
from drystone.types import Floats, Ints

# Triangles of one face may be this far out of its plane, over the size of the body: what is left
# of a plane after turning and moving its corners in float64, with room to spare.
FLAT = 1e-10


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
        loops = _faces(points[corners], triangles, normals, FLAT * size)
        # a corner of a face or two only lies on an edge or in a face, but for rounding
        faces_at = np.bincount([v for loop in loops for v in loop], minlength=len(corners))
        if (faces_at >= 3).all():
            return Hull(corners, topology(points[corners], loops), size)
        corners = corners[faces_at >= 3]
        if len(corners) < 4:
            raise ShapeError(f"{kind}: the points lie in a plane, within {FLAT:g} of their extent")


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
    if thickness < FLAT * np.sqrt(len(points)):
        raise ShapeError(f"{kind}: the points lie in a plane, within {FLAT:g} of their extent")
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
    side = {}
    for t, (a, b, c) in enumerate(triangles.tolist()):
        side[a, b], side[b, c], side[c, a] = t, t, t
    leader = list(range(len(triangles)))

    def find(t: int) -> int:
        while leader[t] != t:
            leader[t] = leader[leader[t]]
            t = leader[t]
        return t

    far = np.abs(np.einsum("tki,ti->tk", points[triangles], planes[:, :3]) + planes[:, 3:])
    flat = max(flat, 2.0 * float(far.max()))  # Qhull's own facets are only so thin
    for (v, w), t in sorted(side.items()):
        other = side[w, v]
        if v < w and find(t) != find(other):
            off = points[triangles[other]] @ planes[t, :3] + planes[t, 3]
            back = points[triangles[t]] @ planes[other, :3] + planes[other, 3]
            if max(np.abs(off).max(), np.abs(back).max()) <= flat:
                a, b = sorted((find(t), find(other)))
                leader[b] = a
    ahead: dict[int, dict[int, int]] = {}
    for (v, w), t in side.items():
        if find(side[w, v]) != find(t):
            ahead.setdefault(find(t), {})[v] = w
    return [_loop(ahead[face]) for face in sorted(ahead)]


def _loop(ahead: dict[int, int]) -> list[int]:
    first = min(ahead)
    out = [first]
    while (v := ahead[out[-1]]) != first:
        out.append(v)
    return out
