"""Closed meshes cut by planes until the hulls of the parts are nearly the solid.

The part whose hull holds most of what is not solid is cut next. Planes worth a try go through its
reflex edges: in the middle of their angle, or along one of their faces; those that many edges share
come first, and the one that leaves least, and few parts, is taken (after approximate convex
decomposition, Lien and Amato 2008; Wei, Liu, Ling and Su 2022). Cuts are exact, without voxels: a
solid that planes can cut into few convex parts is cut into those.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from drystone.errors import MissingExtraError, ShapeError
from drystone.types import Floats, Ints

FLAT = 1e-6  # [rad] reflex angles that count as none
TRIED = 12  # planes through reflex edges, and three across the axes of inertia
WORTH = 0.01  # of the volume that a part more must save
CRUMB = 1e-9  # of the volume: no part
EXACT = 1e-7  # of the volume: what rounding, and cuts beside faces, leave
BESIDE = 1e-9  # of the size: how far in front of a face a cut along it is made


def cut(points: Floats, triangles: Ints, parts: int, tolerance: float) -> list[Floats]:
    """Corners of parts, at most `parts` of them unless the solid has more already, whose hulls
    have a volume of at most 1 + tolerance times the solid's together, if so many are enough."""
    whole = _solid(points, triangles)
    volume = whole.volume()
    found = [(_excess(part), part) for part in _connected(whole)]
    enough = max(tolerance, EXACT) * volume
    while len(found) < parts and sum(excess for excess, _ in found) > enough:
        worst = max(range(len(found)), key=lambda k: found[k][0])
        better = _best(found[worst][1], volume)
        if better is None:
            break
        found[worst : worst + 1] = better
    clouds = [_arrays(part)[0] for _, part in found if part.volume() > CRUMB * volume]
    return sorted(clouds, key=lambda cloud: cloud.mean(axis=0).tolist())


def _solid(points: Floats, triangles: Ints) -> Any:
    try:
        from manifold3d import Error, Manifold, Mesh64
    except ImportError:
        raise MissingExtraError(
            "decompose: a mesh that is not made of convex parts needs the package manifold3d: "
            "pip install drystone[mesh]"
        ) from None
    used, corners = np.unique(triangles, return_inverse=True)
    corners = corners.reshape(triangles.shape).astype(np.uint64)
    out = Manifold(Mesh64(points[used].copy(), corners))
    if out.status() != Error.NoError or not out.volume() > 0.0:
        raise ShapeError(
            f"decompose: the mesh bounds no solid ({out.status().name}, volume "
            f"{out.volume():.6g} m^3): are its faces counter-clockwise seen from outside?"
        )
    return out


def _arrays(part: Any) -> tuple[Floats, Ints]:
    mesh = part.to_mesh64()
    return np.array(mesh.vert_properties)[:, :3].copy(), np.array(mesh.tri_verts).astype(np.int64)


def _connected(part: Any) -> list[Any]:
    """The connected parts; a part with a hollow in it, whose surface is not connected, is one."""
    found = part.decompose()
    return [part] if any(piece.volume() <= 0.0 for piece in found) else list(found)


def _excess(part: Any) -> float:
    return float(part.hull().volume() - part.volume())


def _best(part: Any, volume: float) -> list[tuple[float, Any]] | None:
    """The parts that the best of all tried planes leaves of one."""
    best, least = None, np.inf
    for normal, offset in _planes(*_arrays(part)):
        sides = part.split_by_plane(normal.tolist(), float(offset))
        if min(side.volume() for side in sides) <= CRUMB * volume:
            continue
        pieces = [(_excess(p), p) for side in sides for p in _connected(side)]
        left = sum(excess for excess, _ in pieces) + WORTH * volume * len(pieces)
        if left < least:
            best, least = pieces, left
    return best


def _planes(p: Floats, triangles: Ints) -> list[tuple[Floats, float]]:
    """Unit normals and offsets of planes that are worth a try."""
    centre, size = p.mean(axis=0), float(np.ptp(p, axis=0).max())
    start, along, weight, sides = _reflex(p, triangles)
    normals = [np.cross(along, sides[0] + sides[1]), *sides]
    length = [np.linalg.norm(n, axis=1) for n in normals]
    offsets = [
        np.einsum("ij,ij->i", n, start - centre) / np.maximum(long, 1e-300) + beside
        for n, long, beside in zip(
            normals, length, (0.0, BESIDE * size, BESIDE * size), strict=True
        )
    ]
    good = np.concatenate(length) > 1e-9
    n = (np.concatenate(normals) / np.maximum(np.concatenate(length), 1e-300)[:, None])[good]
    d, weights = np.concatenate(offsets)[good], np.tile(weight, 3)[good]
    main = np.take_along_axis(n, np.abs(n).argmax(axis=1)[:, None], axis=1)
    n, d = n * np.sign(main), d * np.sign(main[:, 0])
    _, first, which = np.unique(
        np.round(np.column_stack((n, d / size)) * 1e6),
        axis=0,
        return_index=True,
        return_inverse=True,
    )
    total = np.bincount(which.ravel(), weights=weights, minlength=first.size)
    chosen = first[np.argsort(-total, kind="stable")[:TRIED]]
    axes = np.linalg.eigh(np.cov((p - centre).T))[1].T
    planes = [*zip(n[chosen], d[chosen], strict=True), *((axis, 0.0) for axis in axes)]
    return [(way, float(offset + way @ centre)) for way, offset in planes]


def _reflex(p: Floats, triangles: Ints) -> tuple[Floats, Floats, Floats, list[Floats]]:
    """Edges at which the surface turns inwards: a point, the unit direction, the length times the
    angle, and unit normals of both faces."""
    a, b, c = (p[triangles[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    normal /= np.maximum(np.linalg.norm(normal, axis=1), 1e-300)[:, None]
    edges = np.concatenate([triangles[:, [k, (k + 1) % 3]] for k in range(3)])
    face = np.tile(np.arange(len(triangles)), 3)
    key, back = edges @ (len(p), 1), edges[:, ::-1] @ (len(p), 1)
    order = np.argsort(key, kind="stable")
    place = np.minimum(np.searchsorted(key[order], back), len(order) - 1)
    other = order[place]
    once = np.flatnonzero((key[other] == back) & (edges[:, 0] < edges[:, 1]))
    one, two = normal[face[once]], normal[face[other[once]]]
    along = p[edges[once, 1]] - p[edges[once, 0]]
    length = np.linalg.norm(along, axis=1)
    along /= np.maximum(length, 1e-300)[:, None]
    sine = np.einsum("ij,ij->i", np.cross(one, two), along)
    angle = np.arctan2(sine, np.einsum("ij,ij->i", one, two))
    turned = np.flatnonzero(angle < -FLAT)
    weight = -angle[turned] * length[turned]
    return p[edges[once[turned], 0]], along[turned], weight, [one[turned], two[turned]]
