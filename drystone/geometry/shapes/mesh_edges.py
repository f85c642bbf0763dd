"""Which triangles of a mesh share an edge, and checks of meshes that users give."""

from __future__ import annotations

from typing import Any

import numpy as np

from drystone.errors import ShapeError
from drystone.geometry.shapes.base import points_of
from drystone.types import Floats, Ints, own
from drystone.values import reals


def mesh_arrays(kind: str, vertices: Any, faces: Any) -> tuple[Floats, Ints]:
    """Checked, read-only vertices (nv, 3) and triangles (nt, 3)."""
    points = points_of(kind, "vertices", vertices, 3, 3)
    given = reals(faces)
    if given is None:
        raise ShapeError(f"{kind}: faces must be an array of vertex numbers")
    if given.ndim != 2 or given.shape[1] != 3 or len(given) == 0:
        raise ShapeError(f"{kind}: faces must have shape (k, 3), k > 0, got {given.shape}")
    if np.asarray(faces).dtype.kind not in "iu":
        raise ShapeError(f"{kind}: faces must be integers, got {np.asarray(faces).dtype}")
    triangles: Ints = own(faces, np.int64)
    bad = ((triangles < 0) | (triangles >= len(points))).any(axis=1)
    if bad.any():
        f = int(np.argmax(bad))
        raise ShapeError(
            f"{kind}: faces[{f}] = {triangles[f].tolist()} names a vertex that is not among the "
            f"{len(points)} given"
        )
    _check_area(kind, points, triangles)
    triangles.setflags(write=False)
    return points, triangles


def _check_area(kind: str, points: Floats, triangles: Ints) -> None:
    a, b, c = (points[triangles[:, i]] for i in range(3))
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    longest = np.maximum(np.abs(b - a).max(axis=1), np.abs(c - a).max(axis=1))
    bad = ~(area > 1e-12 * longest**2)
    if bad.any():
        f = int(np.argmax(bad))
        raise ShapeError(f"{kind}: faces[{f}] = {triangles[f].tolist()} has no area; leave it out")


def welded(vertices: Floats, triangles: Ints) -> Ints:
    """The triangles with one number for all vertices at the same place (files of type STL repeat
    them)."""
    _, first, inverse = np.unique(vertices, axis=0, return_index=True, return_inverse=True)
    return first[inverse.ravel()].astype(np.int64)[triangles]


def neighbours(kind: str, triangles: Ints) -> Ints:
    """(nt, 3): the triangle across the edge from corner i to corner i + 1, or -1.

    An edge that more than two triangles share, or two in the same direction, is a ShapeError:
    then it is not clear on which side the solid lies.
    """
    tail, head = triangles.ravel(), np.roll(triangles, -1, axis=1).ravel()
    count = int(triangles.max()) + 1
    key, twin = tail * count + head, head * count + tail
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    again = np.flatnonzero(ordered[1:] == ordered[:-1])
    if again.size:
        e, f = order[again[0]], order[again[0] + 1]
        raise ShapeError(
            f"{kind}: faces {e // 3} and {f // 3} both run along the edge from vertex {tail[e]} "
            f"to {head[e]}: neighbours must turn the same way, and at most two may share an edge"
        )
    at = np.minimum(np.searchsorted(ordered, twin), len(key) - 1)
    found = np.where(ordered[at] == twin, order[at] // 3, -1)
    return found.reshape(-1, 3).astype(np.int64)


def unit_normals(vertices: Floats, triangles: Ints) -> Floats:
    """(nt, 3) outer unit normals."""
    a, b, c = (vertices[triangles[:, i]] for i in range(3))
    normal = np.cross(b - a, c - a)
    out: Floats = normal / np.linalg.norm(normal, axis=1, keepdims=True)
    return out


def components(across: Ints) -> list[Ints]:
    """Triangles of each connected part of a mesh, from its ``neighbours``."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    here, corner = np.nonzero(across >= 0)
    links = np.ones(len(here)), (here, across[here, corner])
    count, label = connected_components(coo_array(links, shape=(len(across),) * 2), directed=False)
    return [np.flatnonzero(label == part) for part in range(count)]
