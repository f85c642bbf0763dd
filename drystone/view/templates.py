"""Bodies of equal shape as copies of one mesh: the browser draws thousands of them at once.

Balls, ellipsoids, disks and ellipses of any size are copies of a round one, scaled.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drystone.draw import meshes as drawing
from drystone.geometry.shapes import BALLS, HOLLOW, codes
from drystone.model import Geoms, Model
from drystone.types import Floats, Ints

ROUND = codes(lambda kind: kind.stretched)
MARKED = 400  # balls up to which each carries a band
TRIANGLES = 150_000  # of all balls together: a processor draws a third of a million in a second
SHARP = 0.8  # cosine between faces below which their edge is drawn
MITRE = 1.5  # how far an outline's corner may stick out, about, in widths


@dataclass(frozen=True)
class Trim:
    """Lines that belong to a template: triangles of their own."""

    vertices: Floats
    faces: Ints


@dataclass(frozen=True)
class Template:
    """A mesh in the frame of a body's centre of mass, and the bodies that look like it.

    vertices (nv, 3) [m]; faces (nf, 3); bodies (k,); scale (k, 3); edges: None if it has none;
    marks: of round bodies, so that their turning is seen; open: its inside can be seen.
    """

    vertices: Floats
    faces: Ints
    bodies: Ints
    scale: Floats
    edges: Trim | None
    marks: Trim | None = None
    open: bool = False


def templates(model: Model, line: float) -> list[Template]:
    """All bodies with bounded shapes; line: width of edges [m]."""
    geoms = model.geoms
    n = sides(model)
    found: dict[tuple[object, ...], list[tuple[int, Floats]]] = {}
    order = np.argsort(geoms.body, kind="stable")
    order = order[np.isfinite(geoms.radius[order])]
    for part in np.split(order, np.flatnonzero(np.diff(geoms.body[order])) + 1):
        if part.size:
            key, scale = _key(geoms, part)
            found.setdefault(key, []).append((int(part[0]), scale))
    return [_template(model, entries, n, line) for entries in found.values()]


def sides(model: Model) -> int:
    """Of round shapes: as many as so many bodies can be drawn with, without a graphics card too."""
    if model.dim == 2:
        return 48 if model.nb < 100 else 28 if model.nb < 1000 else 16
    return next((n for n in (48, 28, 20, 16, 12) if model.nb * n * (n - 2) <= TRIANGLES), 10)


def _key(geoms: Geoms, part: Ints) -> tuple[tuple[object, ...], Floats]:
    """What bodies of one template have in common, and the scale of this one."""
    g, dim = int(part[0]), geoms.dim
    centred = not geoms.offset[g].any() and np.array_equal(geoms.turn[g], np.eye(dim))
    if part.size == 1 and centred and geoms.kind[g] in ROUND:
        size = np.array(drawing.numbers(geoms, g))
        scale = np.full(3, size[0])
        scale[: size.size] = size
        # bodies of very different size get their own template: edges scale with the body
        return ("round", dim, round(np.log2(size.max()))), scale
    pieces = [
        (
            int(geoms.kind[i]),
            drawing.numbers(geoms, i).tobytes(),
            geoms.ints[geoms.first_int[i] : geoms.first_int[i + 1]].tobytes(),
            geoms.offset[i].tobytes(),
            geoms.turn[i].tobytes(),
        )
        for i in part
    ]
    return tuple(pieces), np.ones(3)


def _template(model: Model, entries: list[tuple[int, Floats]], n: int, line: float) -> Template:
    geoms = model.geoms
    first, scale = entries[0][0], np.array([s for _, s in entries])
    bodies = geoms.body[[g for g, _ in entries]]
    mine = np.flatnonzero((geoms.body == geoms.body[first]) & np.isfinite(geoms.radius))
    vertices: list[Floats] = []
    faces: list[Ints] = []
    lines: list[Trim] = []
    for g in mine:
        points, triangles, _ = drawing.geom_mesh(geoms, g, n)
        points = points / scale[0]  # the first one's size is taken out, and given back by `scale`
        thin = line / float(scale[0].max())
        if geoms.dim == 2:
            lines.append(_flat_edges(points, thin))
        else:
            lines.append(_creases(points, triangles, thin))
        faces.append(triangles + sum(len(v) for v in vertices))
        vertices.append(_placed(geoms, int(g), points))
        lines[-1] = Trim(_placed(geoms, int(g), lines[-1].vertices), lines[-1].faces)
    mesh = np.concatenate(vertices), np.concatenate(faces)
    marks = _mark(geoms.dim, n, model.nb) if geoms.kind[first] in BALLS and len(mine) == 1 else None
    hollow = bool(np.isin(geoms.kind[mine], HOLLOW).any() or geoms.tile.size > 0)
    return Template(*mesh, bodies, scale, _joined(lines), marks, hollow)


def _mark(dim: int, n: int, count: int) -> Trim | None:
    """A short radius on a disk of radius 1; a band round the equator of a ball, slightly raised."""
    if dim == 2:
        corners = np.array([(0.5, -0.025), (0.93, -0.025), (0.93, 0.025), (0.5, 0.025)])
        vertices, faces, _ = drawing.flat_mesh(corners)
        return Trim(vertices, faces)
    if count > MARKED:
        return None
    angle = np.linspace(0.0, 2.0 * np.pi, 2 * n, endpoint=False)
    high = 0.06
    wide = 1.006 * np.sqrt(1.0 - high**2)
    ring = np.column_stack([wide * np.cos(angle), wide * np.sin(angle), np.full(2 * n, high)])
    middle = ring * [1.006 / wide, 1.006 / wide, 0.0]
    k, m = np.arange(2 * n), (np.arange(2 * n) + 1) % (2 * n)
    strip = [np.column_stack([k, m, m + 2 * n]), np.column_stack([k, m + 2 * n, k + 2 * n])]
    faces = np.concatenate([*strip, *(s + 2 * n for s in strip)])
    return Trim(np.concatenate([ring * [1, 1, -1], middle, ring]), faces)


def _placed(geoms: Geoms, g: int, points: Floats) -> Floats:
    """Points of a geom's frame in the body's."""
    out, dim = points.copy(), geoms.dim
    out[:, :dim] = geoms.offset[g] + points[:, :dim] @ geoms.turn[g].T
    return out


def _joined(parts: list[Trim]) -> Trim | None:
    starts = np.cumsum([0, *(len(t.vertices) for t in parts)])
    faces = [t.faces + s for t, s in zip(parts, starts[:-1], strict=True)]
    if not any(len(f) for f in faces):
        return None
    return Trim(np.concatenate([t.vertices for t in parts]), np.concatenate(faces))


def _flat_edges(points: Floats, width: float) -> Trim:
    """The same outline, wider by `width`: it lies below the body, so that of parts that overlap
    only the common outline is seen."""
    p = points[:, :2]
    along = np.roll(p, -1, axis=0) - p
    along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-300)
    out = np.column_stack([along[:, 1], -along[:, 0]])
    before = np.roll(out, 1, axis=0)
    wider: list[Floats] = []
    for corner, m, n in zip(p, before, out, strict=True):
        share = 1.0 + float(m @ n)  # small at a sharp corner, which is cut off
        ends = [(m + n) / share] if share > 1.0 / MITRE else [m, n]
        wider += [corner + width * end for end in ends]
    vertices, faces, _ = drawing.flat_mesh(np.array(wider))
    return Trim(vertices, faces)


def _creases(vertices: Floats, faces: Ints, width: float) -> Trim:
    """Thin bars along all sharp edges of a mesh."""
    rows, welded = np.unique(np.round(vertices, 9), axis=0, return_inverse=True)
    corner = welded.reshape(-1)[faces]
    p = rows[corner]
    normal = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
    sides: dict[tuple[int, int], list[int]] = {}
    for t, (a, b, c) in enumerate(corner.tolist()):
        for u, v in ((a, b), (b, c), (c, a)):
            if u != v:
                sides.setdefault((min(u, v), max(u, v)), []).append(t)
    ends = [
        edge
        for edge, at in sides.items()
        if len(at) != 2 or float(normal[at[0]] @ normal[at[1]]) < SHARP
    ]
    if not ends or len(ends) > 400:
        return Trim(np.empty((0, 3)), np.empty((0, 3), np.int64))
    return _bars(rows[np.array(ends)], width)


def _bars(ends: Floats, width: float) -> Trim:
    """Prisms (n) of a square section about segments (n, 2, 3)."""
    way = ends[:, 1] - ends[:, 0]
    way /= np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-300)
    helper = np.eye(3)[np.argmin(np.abs(way), axis=1)]
    u = np.cross(way, helper)
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    v = np.cross(way, u)
    ring = np.stack([u + v, v - u, -u - v, u - v], axis=1) * (0.5 * width)
    vertices = (ends[:, :, None, :] + ring[:, None]).reshape(-1, 3)
    walls = [(k, (k + 1) % 4, 4 + (k + 1) % 4, 4 + k) for k in range(4)]
    one = np.array([t for a, b, c, d in walls for t in ((a, b, c), (a, c, d))])
    faces = (one[None] + 8 * np.arange(len(ends))[:, None, None]).reshape(-1, 3)
    return Trim(vertices, faces)
