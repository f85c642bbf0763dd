"""Bodies as things to draw: outlines in the plane, triangles in space, from a model's geoms.

Figures, the viewer, pages, films and exports take all their triangles from here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from drystone.dynamics.frames import rotations
from drystone.geometry.shapes import BALLS, HOLLOW, KINDS, UNBOUNDED
from drystone.model import Geoms, Model, State
from drystone.types import Bools, Floats, Ints

# cosine between a corner's own normal and the mean below which an edge is sharp; -1: all are
CREASES = {"none": 0.0, "some": 0.8, "all": -1.0}
Key = tuple[int, bytes, bytes]
# half-spaces whose normal has a smaller cosine with the vertical are walls: drawn, they would hide
# what they hold
WALL_COSINE = 0.35


@dataclass(frozen=True)
class GeomFrames:
    """Where geoms stand in the world: origin (ng, dim), axes (ng, dim, dim) as columns."""

    origin: Floats
    axes: Floats

    def world(self, g: int | np.integer, local: Floats) -> Floats:
        out: Floats = self.origin[g] + local @ self.axes[g].T
        return out


def frames(model: Model, state: State) -> GeomFrames:
    geoms = model.geoms
    R = rotations(state.orientation)[geoms.body]
    origin = state.position[geoms.body] + np.einsum("gij,gj->gi", R, geoms.offset)
    return GeomFrames(origin, R @ geoms.turn)


def moving(model: Model) -> Bools:
    """Which bodies (nb,) obey forces: neither fixed nor moved as prescribed."""
    out: Bools = model.inverse_mass > 0
    return out


def numbers(geoms: Geoms, g: int | np.integer) -> Floats:
    return geoms.numbers[geoms.first[g] : geoms.first[g + 1]]


def picture(geoms: Geoms, g: int | np.integer, n: int) -> Any:
    """What the kind of a bounded geom draws: an outline, or vertices and triangles."""
    ints = geoms.ints[geoms.first_int[g] : geoms.first_int[g + 1]]
    return KINDS[int(geoms.kind[g])].picture(numbers(geoms, g), ints, n)


def outline(geoms: Geoms, g: int | np.integer, n: int = 96) -> Floats:
    """(k, 2) boundary of a bounded planar geom in its own frame."""
    out: Floats = picture(geoms, g, n)
    return out


@dataclass(frozen=True)
class Mesh:
    """Triangles in space: corners (nt, 3, 3); normal (nt, 3, 3) at the corners; body (nt,)."""

    corners: Floats
    normal: Floats
    body: Ints


@dataclass
class Solid:
    """vertices (nv, 3), faces (nt, 3), normals (nv, 3); geoms: its instances, or a body
    whose own single pieces it is made of. ball: of radius one, instances have their own."""

    vertices: Floats
    faces: Ints
    normals: Floats
    geoms: list[int]
    body: int = -1
    ball: bool = False


def key_of(geoms: Geoms, g: int | np.integer) -> Key:
    """The same for geoms of one shape; balls differ in size only, which instances have."""
    kind = int(geoms.kind[g])
    if KINDS[kind].ball:
        return kind, b"", b""
    ints = geoms.ints[geoms.first_int[g] : geoms.first_int[g + 1]]
    return kind, numbers(geoms, g).tobytes(), ints.tobytes()


def groups(geoms: Geoms) -> dict[Key, list[int]]:
    """Bounded geoms by their shapes."""
    out: dict[Key, list[int]] = {}
    for g in np.flatnonzero(np.isfinite(geoms.radius)):
        out.setdefault(key_of(geoms, g), []).append(int(g))
    return out


def instances(geoms: Geoms, solid: Solid) -> list[tuple[int, Floats, Floats, float]]:
    """Body, offset (3,), quaternion (x, y, z, w) and size of each instance of a mesh, in its body's
    frame; of planar geoms in the plane z = 0."""
    if not solid.geoms:
        return [(solid.body, np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]), 1.0)]
    g = np.array(solid.geoms)
    offset, axes = np.zeros((g.size, 3)), np.tile(np.eye(3), (g.size, 1, 1))
    offset[:, : geoms.dim], axes[:, : geoms.dim, : geoms.dim] = geoms.offset[g], geoms.turn[g]
    turn = Rotation.from_matrix(axes).as_quat()
    size = geoms.numbers[geoms.first[g]] if solid.ball else np.ones(g.size)
    body = geoms.body[g].tolist()
    return list(zip(body, offset, turn, size.tolist(), strict=True))


def solids(geoms: Geoms, n: int | None = None) -> list[Solid]:
    """Meshes of a spatial model's geoms; n: segments of a full turn, by default fewer the more
    shapes there are. Shapes that occur once are joined body by body: a ground of ten thousand
    triangles is one mesh."""
    found = groups(geoms)
    n = n or (48 if len(found) < 20 else 24)
    out: list[Solid] = []
    single: dict[int, list[tuple[Floats, Ints, Floats]]] = {}
    for (kind, *_), members in found.items():
        vertices, faces, normals = geom_mesh(geoms, members[0], n)
        if KINDS[kind].ball:
            out.append(Solid(normals, faces, normals, members, ball=True))
        elif len(members) > 1:
            out.append(Solid(vertices, faces, normals, members))
        else:
            g = members[0]
            turn, offset = geoms.turn[g], geoms.offset[g]
            part = vertices @ turn.T + offset, faces, normals @ turn.T
            single.setdefault(int(geoms.body[g]), []).append(part)
    for body, parts in single.items():
        first = np.cumsum([0] + [len(p[0]) for p in parts])
        faces = np.concatenate([p[1] + start for p, start in zip(parts, first, strict=False)])
        vertices, normals = (np.concatenate([p[i] for p in parts]) for i in (0, 2))
        out.append(Solid(vertices, faces, normals, [], body))
    return out


class Scenery:
    """The solids of a spatial model, made once and moved to where a state has them."""

    def __init__(self, model: Model, n: int | None = None) -> None:
        self.model, self.segments = model, n

    @cached_property
    def _instanced(self) -> list[tuple[Solid, Ints, Floats, Floats]]:
        """Each mesh but balls, with bodies, offsets and axes of its instances."""
        out = []
        for solid in solids(self.model.geoms, self.segments):
            if solid.ball:
                continue
            placed = instances(self.model.geoms, solid)
            if self._hollow(solid):
                solid = _both_sides(solid)
            body = np.array([b for b, *_ in placed])
            turn = np.array([q for _, _, q, _ in placed])[:, [3, 0, 1, 2]]
            out.append((solid, body, np.array([o for _, o, _, _ in placed]), rotations(turn)))
        return out

    def _hollow(self, solid: Solid) -> bool:
        """Whether its inside can be seen."""
        geoms = self.model.geoms
        parts = solid.geoms or np.flatnonzero(geoms.body == solid.body)
        return bool(np.isin(geoms.kind[parts], HOLLOW).any())

    def triangles(self, state: State) -> Mesh:
        """All bounded geoms but spheres, in the world."""
        R = rotations(state.orientation)
        corners, normals = [np.empty((0, 3, 3))], [np.empty((0, 3, 3))]
        bodies = [np.empty(0, np.int64)]
        for solid, body, offset, axes in self._instanced:
            turn = R[body] @ axes
            origin = state.position[body] + np.einsum("nij,nj->ni", R[body], offset)
            points = np.einsum("nij,vj->nvi", turn, solid.vertices) + origin[:, None]
            ways = np.einsum("nij,vj->nvi", turn, solid.normals)
            corners.append(points[:, solid.faces].reshape(-1, 3, 3))
            normals.append(ways[:, solid.faces].reshape(-1, 3, 3))
            bodies.append(np.repeat(body, len(solid.faces)))
        return Mesh(np.concatenate(corners), np.concatenate(normals), np.concatenate(bodies))

    @cached_property
    def _balls(self) -> Ints:
        return np.flatnonzero(np.isin(self.model.geoms.kind, BALLS))

    def balls(self, state: State) -> tuple[Floats, Floats, Floats, Ints]:
        """Centres (n, 3), radii (n,), axes (n, 3, 3) and bodies (n,) of the spheres."""
        geoms, at, ball = self.model.geoms, frames(self.model, state), self._balls
        radius = geoms.numbers[geoms.first[ball]]
        return at.origin[ball], radius, at.axes[ball], geoms.body[ball]

    def planes(self, state: State) -> tuple[Floats, Floats]:
        """Points (n, 3) and outer normals (n, 3) of the half-spaces."""
        return half_spaces(self.model, state)


def _both_sides(solid: Solid) -> Solid:
    """The same with its back: what draws leaves out triangles that face away."""
    vertices, back = np.tile(solid.vertices, (2, 1)), solid.faces[:, ::-1] + len(solid.vertices)
    normals = np.concatenate([solid.normals, -solid.normals])
    return replace(
        solid, vertices=vertices, normals=normals, faces=np.concatenate([solid.faces, back])
    )


def geom_mesh(geoms: Geoms, g: int | np.integer, n: int = 24) -> tuple[Floats, Ints, Floats]:
    """Vertices (nv, 3), triangles (nt, 3) and normals (nv, 3) of a bounded geom in its own frame.

    Vertices on a sharp edge come once for each side of it. n: segments of a full turn. Planar
    geoms are flat, at z = 0, and face +z.
    """
    if geoms.dim == 2:
        return flat_mesh(outline(geoms, g, n))
    vertices, faces = picture(geoms, g, n)
    crease = CREASES[KINDS[int(geoms.kind[g])].edges]
    corners, normal = vertices[faces], _normals(vertices, faces, crease)
    rows = np.round(np.concatenate([corners, normal], axis=2).reshape(-1, 6), 12)
    unique, at = np.unique(rows, axis=0, return_inverse=True)
    return unique[:, :3], at.reshape(-1, 3).astype(np.int64), unique[:, 3:]


def flat_mesh(boundary: Floats) -> tuple[Floats, Ints, Floats]:
    """A convex outline (k, 2) as triangles at z = 0."""
    k = len(boundary)
    vertices = np.column_stack([boundary, np.zeros(k)])
    fan = np.arange(1, k - 1)
    faces = np.column_stack([np.zeros_like(fan), fan, fan + 1])
    return vertices, faces, np.tile([0.0, 0.0, 1.0], (k, 1))


def typical_radius(geoms: Geoms, otherwise: float = 1.0) -> float:
    """Median radius of the bounded geoms [m]; `otherwise` without any."""
    radii = geoms.radius[np.isfinite(geoms.radius)]
    return float(np.median(radii)) if radii.size else otherwise


def boxes(model: Model, state: State, n: int = 24) -> tuple[Ints, Floats, Floats]:
    """Bodies (n,), lowest and highest corners (n, dim) of all bounded geoms in the world."""
    geoms, at = model.geoms, frames(model, state)
    low, high = np.empty((len(geoms), model.dim)), np.empty((len(geoms), model.dim))
    for (kind, *_), members in groups(geoms).items():
        g = np.array(members)
        if KINDS[kind].ball:
            reach = geoms.numbers[geoms.first[g]][:, None]
            low[g], high[g] = at.origin[g] - reach, at.origin[g] + reach
            continue
        drawn = picture(geoms, members[0], n)
        points = drawn if model.dim == 2 else drawn[0]
        turned = np.einsum("gij,vj->gvi", at.axes[g], points)
        low[g], high[g] = at.origin[g] + turned.min(axis=1), at.origin[g] + turned.max(axis=1)
    bounded = np.isfinite(geoms.radius)
    return geoms.body[bounded], low[bounded], high[bounded]


def bounds(model: Model, state: State, which: Bools | None = None) -> tuple[Floats, Floats]:
    """Lowest and highest corner (dim,) of all bounded geoms, or of those of the bodies `which`
    (nb,), if there are any."""
    body, low, high = boxes(model, state)
    if which is not None and which[body].any():
        low, high = low[which[body]], high[which[body]]
    if not len(low):
        return -np.ones(model.dim), np.ones(model.dim)
    return low.min(axis=0), high.max(axis=0)


def half_spaces(model: Model, state: State) -> tuple[Floats, Floats]:
    """Points (n, dim) and outer normals (n, dim) of the unbounded geoms."""
    which = np.flatnonzero(np.isin(model.geoms.kind, UNBOUNDED))
    at = frames(model, state)
    return at.origin[which], at.axes[which][:, :, -1]


def _normals(vertices: Floats, faces: Ints, crease: float) -> Floats:
    """At the corners of each triangle: its own, or the mean at the vertex where that is smooth.

    crease: cosine below which a corner's own normal differs too much from the mean to take it; -1
    keeps all faces flat.
    """
    p = vertices[faces]
    area = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
    length = np.linalg.norm(area, axis=1, keepdims=True)
    own = np.repeat((area / np.maximum(length, 1e-300))[:, None], 3, axis=1)
    if crease < 0:
        return own
    mean = np.zeros_like(vertices)
    np.add.at(mean, faces, np.repeat(area[:, None], 3, axis=1))
    mean /= np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), 1e-300)
    shared: Floats = mean[faces]
    smooth = np.einsum("tci,tci->tc", shared, own) > crease
    out: Floats = np.where(smooth[:, :, None], shared, own)
    return out
