"""Bodies as things to draw: outlines in the plane, triangles in space, from a model's geoms.

Pictures, the viewer and exports take all their triangles from here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drystone.dynamics.frames import rotations
from drystone.geometry import kinds
from drystone.geometry.shapes import (
    Bowl,
    Capsule,
    Capsule2D,
    Cone,
    Cylinder,
    Disk,
    Ellipse,
    Ellipsoid,
    Sphere,
    Superquadric,
)
from drystone.geometry.shapes.surface import table_mesh
from drystone.model import Geoms, Model, State
from drystone.types import Bools, Floats, Ints

FLAT = (kinds.POLYHEDRON,)  # faces only
CREASED = (kinds.CYLINDER, kinds.CONE)  # round, with an edge; all other surfaces are smooth


@dataclass(frozen=True)
class Frames:
    """Where geoms stand in the world: origin (ng, dim), axes (ng, dim, dim) as columns."""

    origin: Floats
    axes: Floats

    def world(self, g: int | np.integer, local: Floats) -> Floats:
        out: Floats = self.origin[g] + local @ self.axes[g].T
        return out


def frames(model: Model, state: State) -> Frames:
    geoms = model.geoms
    R = rotations(state.orientation)[geoms.body]
    origin = state.position[geoms.body] + np.einsum("gij,gj->gi", R, geoms.offset)
    return Frames(origin, R @ geoms.turn)


def moving(model: Model) -> Bools:
    """Which bodies (nb,) obey forces: neither fixed nor moved as prescribed."""
    out: Bools = model.inverse_mass > 0
    return out


def numbers(geoms: Geoms, g: int | np.integer) -> Floats:
    return geoms.numbers[geoms.first[g] : geoms.first[g + 1]]


def outline(geoms: Geoms, g: int | np.integer, n: int = 96) -> Floats:
    """(k, 2) boundary of a bounded planar geom in its own frame."""
    a = [float(x) for x in numbers(geoms, g)]
    kind = int(geoms.kind[g])
    if kind == kinds.DISK:
        return Disk(a[0]).outline(n)
    if kind == kinds.ELLIPSE:
        return Ellipse(a[0], a[1]).outline(n)
    if kind == kinds.CAPSULE_2D:
        return Capsule2D(2 * a[0], a[1]).outline(n)
    return np.array(a).reshape(-1, 2)


@dataclass(frozen=True)
class Mesh:
    """Triangles in space: corners (nt, 3, 3); normal (nt, 3, 3) at the corners; body (nt,)."""

    corners: Floats
    normal: Floats
    body: Ints


def meshes(model: Model, state: State) -> Mesh:
    """All bounded geoms of a spatial model but spheres, in the world."""
    geoms, at = model.geoms, frames(model, state)
    n = 64 if len(geoms) < 50 else 24 if len(geoms) < 1000 else 12
    known: dict[tuple[int, bytes, bytes], tuple[Floats, Floats]] = {}
    corners, normals, body = [], [], []
    for g in np.flatnonzero(np.isin(geoms.kind, (kinds.SPHERE, kinds.HALF_SPACE), invert=True)):
        ints = geoms.ints[geoms.first_int[g] : geoms.first_int[g + 1]]
        key = int(geoms.kind[g]), numbers(geoms, g).tobytes(), ints.tobytes()
        if key not in known:
            known[key] = _surface(geoms, int(g), ints, n)
        local, normal = known[key]
        corners.append(at.origin[g] + local @ at.axes[g].T)
        normals.append(normal @ at.axes[g].T)
        body.append(np.full(len(local), geoms.body[g]))
    if not corners:
        none = np.empty((0, 3, 3))
        return Mesh(none, none, np.empty(0, np.int64))
    return Mesh(np.concatenate(corners), np.concatenate(normals), np.concatenate(body))


def geom_mesh(geoms: Geoms, g: int | np.integer, n: int = 24) -> tuple[Floats, Ints, Floats]:
    """Vertices (nv, 3), triangles (nt, 3) and normals (nv, 3) of a bounded geom in its own frame.

    Vertices on a sharp edge come once for each side of it. n: segments of a full turn. Planar
    geoms are flat, at z = 0, and face +z.
    """
    if geoms.dim == 2:
        return flat_mesh(outline(geoms, g, n))
    ints = geoms.ints[geoms.first_int[g] : geoms.first_int[g + 1]]
    corners, normal = _surface(geoms, int(g), ints, n)
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


def spheres(model: Model, state: State) -> tuple[Floats, Floats, Ints]:
    """Centres (n, 3), radii (n,) and bodies (n,) of the spheres of a spatial model."""
    geoms = model.geoms
    which = np.flatnonzero(geoms.kind == kinds.SPHERE)
    radius = geoms.numbers[geoms.first[which]]
    return frames(model, state).origin[which], radius, geoms.body[which]


def half_spaces(model: Model, state: State) -> tuple[Floats, Floats]:
    """Points (n, dim) and outer normals (n, dim) of the unbounded geoms."""
    which = np.flatnonzero(np.isin(model.geoms.kind, kinds.UNBOUNDED))
    at = frames(model, state)
    return at.origin[which], at.axes[which][:, :, -1]


def _surface(geoms: Geoms, g: int, ints: Ints, n: int) -> tuple[Floats, Floats]:
    """Corners and normals (nt, 3, 3) of a geom in its own frame."""
    a = [float(x) for x in numbers(geoms, g)]
    kind = int(geoms.kind[g])
    if kind == kinds.POLYHEDRON:
        vertices, faces = _polyhedron(np.array(a), ints)
    elif kind == kinds.SPHERE:
        vertices, faces = Sphere(a[0]).mesh(n)
    elif kind == kinds.ELLIPSOID:
        vertices, faces = Ellipsoid(*a).mesh(n)
    elif kind == kinds.SUPERQUADRIC:
        vertices, faces = Superquadric(*a).mesh(n)
    elif kind == kinds.CAPSULE:
        vertices, faces = Capsule(2 * a[0], a[1]).mesh(n)
    elif kind == kinds.CYLINDER:
        vertices, faces = Cylinder(2 * a[0], a[1]).mesh(n)
    elif kind == kinds.BOWL:
        vertices, faces = Bowl(a[0], a[1], a[2], a[5]).mesh(n)
    elif kind == kinds.SURFACE:
        vertices, faces = table_mesh(np.array(a))
    else:
        vertices, faces = Cone(*a).mesh(n)
    corners = vertices[faces]
    crease = 0.8 if kind in CREASED else 0.0
    return corners, _normals(vertices, faces, crease=-1.0 if kind in FLAT else crease)


def _polyhedron(a: Floats, ints: Ints) -> tuple[Floats, Ints]:
    nv, nf = int(ints[0]), int(ints[1])
    start = ints[3 : 4 + nf]
    loop = ints[4 + nf :]
    faces = [
        (loop[start[f]], loop[i], loop[i + 1])
        for f in range(nf)
        for i in range(start[f] + 1, start[f + 1] - 1)
    ]
    return a[: 3 * nv].reshape(nv, 3), np.array(faces, dtype=np.int64)


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
