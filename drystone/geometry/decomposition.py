"""Concave solids as unions of convex ones, when a user asks for it."""

from __future__ import annotations

from typing import Any

import numpy as np

from drystone.errors import MissingExtraError, OptionError, ShapeError
from drystone.geometry.mass_properties import of_mesh
from drystone.geometry.shapes.base import points_of
from drystone.geometry.shapes.compound import Compound
from drystone.geometry.shapes.mesh_edges import (
    components,
    mesh_arrays,
    neighbours,
    unit_normals,
    welded,
)
from drystone.geometry.shapes.polygon import (
    COLLINEAR_TOL,
    Polygon,
    check_distinct,
    first_crossing,
    signed_area,
    turns,
)
from drystone.geometry.shapes.polyhedron import ConvexPolyhedron
from drystone.types import Floats, Ints, MatrixLike
from drystone.values import among, real, text, whole

# ---- Closed meshes cut by planes until the hulls of the parts are nearly the solid.
#
# The part whose hull holds most of what is not solid is cut next. Planes worth a try go through
# its reflex edges: in the middle of their angle, or along one of their faces; those that many
# edges share come first, and the one that leaves least, and few parts, is taken (after approximate
# convex decomposition, Lien and Amato 2008; Wei, Liu, Ling and Su 2022). Cuts are exact, without
# voxels: a solid that planes can cut into few convex parts is cut into those.

REFLEX_TOL = 1e-6  # [rad] reflex angles that count as none
TRIED = 12  # planes through reflex edges, and three across the axes of inertia
WORTH = 0.01  # of the volume that a part more must save
LEAST_PART = 1e-9  # of the volume: smaller parts are left out
VOLUME_TOL = 1e-7  # of the volume: what rounding, and cuts beside faces, leave
CUT_OFFSET = 1e-9  # of the size: how far in front of a face a cut along it is made


def cut(points: Floats, triangles: Ints, parts: int, tolerance: float) -> list[Floats]:
    """Corners of parts, at most `parts` of them unless the solid has more already, whose hulls
    have a volume of at most 1 + tolerance times the solid's together, if so many are enough."""
    whole = _solid(points, triangles)
    volume = whole.volume()
    found = [(_excess(part), part) for part in _connected(whole)]
    enough = max(tolerance, VOLUME_TOL) * volume
    while len(found) < parts and sum(excess for excess, _ in found) > enough:
        worst = max(range(len(found)), key=lambda k: found[k][0])
        better = _best(found[worst][1], volume)
        if better is None:
            break
        found[worst : worst + 1] = better
    clouds = [_arrays(part)[0] for _, part in found if part.volume() > LEAST_PART * volume]
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
        if min(side.volume() for side in sides) <= LEAST_PART * volume:
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
            normals, length, (0.0, CUT_OFFSET * size, CUT_OFFSET * size), strict=True
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
    turned = np.flatnonzero(angle < -REFLEX_TOL)
    weight = -angle[turned] * length[turned]
    return p[edges[once[turned], 0]], along[turned], weight, [one[turned], two[turned]]


_STARTS = 8  # corners to start from, evenly spread; the fewest parts are kept
METHODS = ("auto", "components", "cuts")


def decompose_polygon(points: MatrixLike) -> Compound:
    """A simple polygon (k, 2) [m], given in order round it, as convex polygons that tile it.

    Ears are cut off one by one, then diagonals that no corner needs are taken out again (Hertel
    and Mehlhorn): at most four times the least possible number of parts, and exactly the area.
    Several starting corners are tried, and the fewest and then fattest parts kept.
    """
    corners = points_of("decompose_polygon", "points", points, 2, 3)
    check_distinct("decompose_polygon", corners)
    crossing = first_crossing(corners)
    if crossing is not None:
        raise ShapeError(f"decompose_polygon: {crossing}")
    if signed_area(corners) < 0.0:
        corners = corners[::-1]
    corners = corners[np.abs(turns(corners)) >= COLLINEAR_TOL]
    starts = range(0, len(corners), max(1, len(corners) // _STARTS))
    cuts = [_merged(corners, _ears(corners, start)) for start in starts]
    best = min(cuts, key=lambda cut: (len(cut), -min(_fatness(corners[part]) for part in cut)))
    outlines = [corners[part] for part in best]
    return Compound([Polygon(outline[turns(outline) >= COLLINEAR_TOL]) for outline in outlines])


def _fatness(outline: Floats) -> float:
    sides = np.roll(outline, -1, axis=0) - outline
    return signed_area(outline) / float(np.linalg.norm(sides, axis=1).sum()) ** 2


def _cross(p: Floats, a: int, b: int, c: int) -> float:
    """Twice the area of the triangle abc; positive if it turns left."""
    u, v = p[b] - p[a], p[c] - p[b]
    return float(u[0] * v[1] - u[1] * v[0])


def _ears(p: Floats, start: int) -> list[list[int]]:
    """Triangles of a counter-clockwise polygon, by cutting ears while going round from `start`."""
    ring = list(range(len(p)))
    triangles: list[list[int]] = []
    at, misses = start, 0
    while len(ring) > 3:
        at %= len(ring)
        a, b, c = ring[at - 1], ring[at], ring[(at + 1) % len(ring)]
        if _cross(p, a, b, c) > 0.0 and not _holds_other(p, ring, a, b, c):
            triangles.append([a, b, c])
            del ring[at]
            misses = 0
        else:
            misses += 1
            if misses > len(ring):
                raise ShapeError(
                    f"decompose_polygon: the boundary nearly touches itself about {p[b].tolist()}"
                )
        at += 1
    return [*triangles, ring]


def _holds_other(p: Floats, ring: list[int], a: int, b: int, c: int) -> bool:
    """Whether a corner of the ring other than a, b, c lies in the triangle abc."""
    rest = np.array([v for v in ring if v not in (a, b, c)], dtype=np.int64)
    q = p[rest]
    inside = np.ones(len(rest), dtype=np.bool_)
    for s, e in ((a, b), (b, c), (c, a)):
        u, w = p[e] - p[s], q - p[s]
        inside &= u[0] * w[:, 1] - u[1] * w[:, 0] >= 0.0
    return bool(inside.any())


def _merged(p: Floats, parts: list[list[int]]) -> list[list[int]]:
    """Parts joined across every diagonal whose two ends stay convex without it."""
    alive: dict[int, list[int]] = dict(enumerate(parts))
    owner = {
        (v, w): i for i, part in alive.items() for v, w in zip(part, _ahead(part), strict=True)
    }
    for (v, w), _ in sorted(owner.items()):
        if v > w or (w, v) not in owner:
            continue
        i, j = owner[v, w], owner[w, v]
        # both from w round to v; the second's inner corners then go from v back to w
        first, second = _from(alive[i], w), _from(alive[j], v)
        joined = first + second[1:-1]
        if not all(_convex_at(p, joined, corner) for corner in (v, w)):
            continue
        alive[i] = joined
        del alive[j], owner[v, w], owner[w, v]
        for edge in zip(joined, _ahead(joined), strict=True):
            owner[edge] = i
    return [alive[i] for i in sorted(alive)]


def _ahead(part: list[int]) -> list[int]:
    return [*part[1:], part[0]]


def _from(part: list[int], corner: int) -> list[int]:
    at = part.index(corner)
    return part[at:] + part[:at]


def _convex_at(p: Floats, part: list[int], corner: int) -> bool:
    i = part.index(corner)
    return _cross(p, part[i - 1], corner, part[(i + 1) % len(part)]) >= 0.0


def decompose(
    vertices: MatrixLike,
    faces: MatrixLike,
    *,
    method: str = "auto",
    max_parts: int = 256,
    tolerance: float = 0.02,
) -> Compound:
    """A closed mesh of triangles as a compound of convex polyhedra.

    vertices (nv, 3) [m]; faces (nt, 3), counter-clockwise seen from outside. `method`:
    "components" takes the connected parts of the mesh, each of which must be convex (exact);
    "cuts" cuts it by planes, and takes the hulls of what is left (package manifold3d); "auto"
    takes the first if it applies, else the second.

    Hulls hold all of the solid. It is cut until their volumes add up to at most 1 + `tolerance`
    times the mesh's; if `max_parts` are too few for that, the answer is refused with the figure.
    """
    if not among(method, METHODS):
        known = ", ".join(METHODS)
        raise OptionError(f"decompose: method must be one of {known}, got {text(method)}")
    if (allowed := real(tolerance)) is None or not allowed >= 0:
        raise OptionError(f"decompose: tolerance must be 0 or more, got {text(tolerance)}")
    if (most := whole(max_parts)) is None or most < 1:
        raise OptionError(f"decompose: max_parts must be at least 1, got {text(max_parts)}")
    points, triangles = mesh_arrays("decompose", vertices, faces)
    triangles = welded(points, triangles)
    across = neighbours("decompose", triangles)
    if (across < 0).any():
        f, i = (int(k[0]) for k in np.nonzero(across < 0))
        a, b = triangles[f, i], triangles[f, (i + 1) % 3]
        raise ShapeError(f"decompose: the mesh is open at the edge {a}-{b} of face {f}")
    if method != "cuts":
        parts = [triangles[part] for part in components(across)]
        wrong = next(filter(None, (_not_convex(points, i, p) for i, p in enumerate(parts))), None)
        if wrong is None:
            return Compound([ConvexPolyhedron.hull(points[np.unique(part)]) for part in parts])
        if method == "components":
            raise ShapeError(f"decompose: {wrong}")
    hulls = [ConvexPolyhedron.hull(c) for c in cut(points, triangles, most, allowed)]
    volume = of_mesh(points, triangles, 1.0).mass
    error = sum(hull.mass_properties(1.0).mass for hull in hulls) / volume - 1.0
    if not error <= max(allowed, VOLUME_TOL):
        raise ShapeError(
            f"decompose: {len(hulls)} convex parts have {100 * error:.3g} % more volume than the "
            f"mesh, and {100 * allowed:g} % were allowed: raise max_parts ({most}) or "
            "tolerance"
        )
    return Compound(hulls)


def _not_convex(points: Floats, i: int, triangles: Ints) -> str | None:
    """What keeps a connected part from being convex, or None."""
    corners = np.unique(triangles)
    if of_mesh(points, triangles, 1.0).mass <= 0.0:
        return f"component {i} is inside out (a hollow, or faces in clockwise order)"
    normals = unit_normals(points, triangles)
    offsets = np.einsum("ti,ti->t", normals, points[triangles[:, 0]])
    size = float(np.ptp(points[corners], axis=0).max())
    for t, (n, offset) in enumerate(zip(normals, offsets, strict=True)):
        over = points[corners] @ n - offset
        if over.max() > 1e-9 * size:
            v = int(corners[np.argmax(over)])
            return (
                f"component {i} is not convex: vertex {v} lies {over.max():.3g} in front of the "
                f"face {triangles[t].tolist()}; method='cuts' cuts it"
            )
    return None
