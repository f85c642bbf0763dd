"""Concave solids as unions of convex ones, when a user asks for it."""

from __future__ import annotations

import numpy as np

from drystone.errors import OptionError, ShapeError
from drystone.geometry.cutting import EXACT, cut
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
    STRAIGHT,
    Polygon,
    check_distinct,
    first_crossing,
    signed_area,
    turns,
)
from drystone.geometry.shapes.polyhedron import ConvexPolyhedron
from drystone.types import Floats, Ints, MatrixLike
from drystone.values import among, real, text, whole

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
    corners = corners[np.abs(turns(corners)) >= STRAIGHT]
    starts = range(0, len(corners), max(1, len(corners) // _STARTS))
    cuts = [_merged(corners, _ears(corners, start)) for start in starts]
    best = min(cuts, key=lambda cut: (len(cut), -min(_fatness(corners[part]) for part in cut)))
    outlines = [corners[part] for part in best]
    return Compound([Polygon(outline[turns(outline) >= STRAIGHT]) for outline in outlines])


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
    if not error <= max(allowed, EXACT):
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
