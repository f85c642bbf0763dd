"""Concave ground: a mesh of triangles, each the top of a convex prism."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from drystone.geometry.kinds import Kind
from drystone.geometry.shapes.base import AXES, FixedOnly, Piece, SpatialShape, query, size
from drystone.geometry.shapes.mesh_edges import mesh_arrays, neighbours, unit_normals, welded
from drystone.geometry.shapes.polyhedron import KIND
from drystone.geometry.shapes.topology import layout, plane_of
from drystone.types import Bools, Floats, Ints, MatrixLike, Real, VectorLike

# ---- How far the sides of a mesh's prisms lean, so that they fill valleys and stay inside ridges.
#
# A prism is the hull of a triangle and of a smaller or larger, similar triangle below it: per unit
# of depth, each edge moves inwards by its lean. Leans of half the angle between neighbours make
# their prisms meet in one plane. At a corner, triangles that share no edge with the prism's own
# matter too: all three leans then grow by the same amount until the corner stays below them.

# Limits of leans inwards, tan(178.9/2 degrees), and outwards, tan(90/2 degrees).
STEEPEST_INWARDS, WIDEST_OUTWARDS = 100.0, 1.0
# How fast, per unit of depth, a corner leaves the planes of the other triangles that meet there.
CORNER_CLEARANCE = 0.05


def edge_leans(bends: Floats) -> Floats:
    """(nt, 3) leans by the angles (nt, 3) [rad] at the edges, positive at ridges."""
    half = 0.5 * np.clip(bends, 1e-6 - np.pi, np.pi - 1e-6)
    return np.clip(np.tan(half), -WIDEST_OUTWARDS, STEEPEST_INWARDS)


def corner_lean(corners: Floats, normals: Floats, leans: Floats, vertex: Ints) -> Floats:
    """(nt,) what to add to all leans of each triangle for the sake of its corners' other fans.

    corners (nt, 3, 3), normals (nt, 3), leans (nt, 3) of the edges from corner i to i + 1,
    vertex (nt, 3) vertex numbers.
    """
    f, i, g = _fans(vertex)
    down = drifts(corners, normals, leans)[f, i]
    inner, radius = _incentres(corners)
    towards = (corners[f, i] - inner[f]) / radius[f][:, None]
    above = np.einsum("pki,pi->pk", corners[g] - corners[f, i][:, None], normals[f])
    flat = 1e-9 * np.abs(corners[g] - corners[f, i][:, None]).max(axis=(1, 2))
    valley = (above >= -flat[:, None]).all(axis=1)  # all of g over f: f's prism may lie over g
    out_of_g = np.einsum("pi,pi->p", down, normals[g]) + CORNER_CLEARANCE
    back = np.einsum("pi,pi->p", towards, normals[g])
    need = np.where(
        out_of_g < back * STEEPEST_INWARDS, out_of_g / np.maximum(back, 1e-300), STEEPEST_INWARDS
    )
    need[valley | (out_of_g <= 0.0)] = 0.0
    out = np.zeros(len(corners))
    np.maximum.at(out, f, need)
    return out


def drifts(corners: Floats, normals: Floats, leans: Floats) -> Floats:
    """(nt, 3, 3) path of each corner per unit of depth, when the edges move in by their leans."""
    edge = np.roll(corners, -1, axis=1) - corners
    along = edge / np.linalg.norm(edge, axis=2, keepdims=True)
    before = np.roll(along, 1, axis=1)
    # sine of the turn at a corner; the corner stays leans[i] off edge i and leans[i-1] off i-1
    sine = np.einsum("tki,ti->tk", np.cross(before, along), normals)
    shift = np.roll(leans, 1, axis=1)[..., None] * along - leans[..., None] * before
    out: Floats = shift / sine[..., None] - normals[:, None]
    return out


def _incentres(corners: Floats) -> tuple[Floats, Floats]:
    """Centres (nt, 3) and radii (nt,) of the inscribed circles."""
    opposite = np.linalg.norm(np.roll(corners, -2, axis=1) - np.roll(corners, -1, axis=1), axis=2)
    perimeter = opposite.sum(axis=1)
    centre = np.einsum("tk,tki->ti", opposite, corners) / perimeter[:, None]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return centre, np.linalg.norm(normal, axis=1) / perimeter


def _fans(vertex: Ints) -> tuple[Ints, Ints, Ints]:
    """All (triangle f, its corner i, another triangle g at that vertex)."""
    flat = vertex.ravel()
    order = np.argsort(flat, kind="stable")
    start = np.searchsorted(flat[order], flat, side="left")
    count = np.searchsorted(flat[order], flat, side="right") - start
    corner = np.repeat(np.arange(flat.size), count)
    step = np.arange(corner.size) - np.repeat(np.cumsum(count) - count, count)
    g = order[start[corner] + step] // 3
    f, i = corner // 3, corner % 3
    other = g != f
    return f[other], i[other], g[other]


# Corners 0, 1, 2 are the triangle's and 3, 4, 5 lie below them; face 0 is the triangle, face 1
# the bottom, face 2 + i the side below the edge from corner i to corner i + 1.
_LOOPS = [[0, 1, 2], [3, 5, 4], [1, 0, 3, 4], [2, 1, 4, 5], [0, 2, 5, 3]]
_PRISM_INTS = layout(6, _LOOPS)
_PRISM_INTS.setflags(write=False)


@dataclass(frozen=True, eq=False)
class TriangleMesh(FixedOnly, SpatialShape):
    """A fixed, possibly concave surface: `vertices` (nv, 3) [m], `faces` (nt, 3) triangles,
    counter-clockwise seen from outside (from above, for ground); closed or not.

    Each triangle becomes one convex geom, in the order of `faces`: a prism of `thickness` [m]
    below it, whose sides lean inwards at ridges, where it must stay under its neighbours, and
    outwards in valleys, where it meets them. Small triangles at sharp ridges, and by default
    closed meshes where they are thin, have thinner prisms. Default: half the median edge.
    A mesh has no mass: fixed bodies only.
    """

    vertices: Floats
    faces: Ints
    thickness: float | None = None
    kind: ClassVar[str] = "triangle-mesh"
    geom: ClassVar[Kind] = KIND

    if TYPE_CHECKING:  # arrays are made of what is given

        def __init__(
            self, vertices: MatrixLike, faces: MatrixLike, thickness: Real | None = None
        ) -> None: ...

    def __post_init__(self) -> None:
        vertices, faces = mesh_arrays("TriangleMesh", self.vertices, self.faces)
        object.__setattr__(self, "vertices", vertices)
        object.__setattr__(self, "faces", faces)
        if self.thickness is not None:
            size(self, "thickness")
        self.__dict__["neighbours"] = neighbours("TriangleMesh", welded(vertices, faces))

    @cached_property
    def neighbours(self) -> Ints:
        """(nt, 3): the triangle across the edge from corner i to corner i + 1, or -1."""
        return neighbours("TriangleMesh", welded(self.vertices, self.faces))

    @cached_property
    def normals(self) -> Floats:
        """(nt, 3) outer unit normals."""
        return unit_normals(self.vertices, self.faces)

    @cached_property
    def bends(self) -> Floats:
        """(nt, 3) angles [rad] by which the surface turns at each edge: positive at ridges,
        negative in valleys, zero where it is flat or ends."""
        out = np.zeros(self.neighbours.shape)
        for i in range(3):
            here = np.flatnonzero(self.neighbours[:, i] >= 0)
            there = self.neighbours[here, i]
            n, m = self.normals[here], self.normals[there]
            a = self.vertices[self.faces[here, i]]
            along = self.vertices[self.faces[here, (i + 1) % 3]] - a
            cross = np.cross(n, m)
            sine = np.einsum("ti,ti->t", cross, along) / np.linalg.norm(along, axis=1)
            bend = np.arctan2(sine, np.einsum("ti,ti->t", n, m))
            bend[np.abs(bend) < 1e-9] = 0.0
            out[here, i] = np.where(bend < 1e-9 - math.pi, math.pi, bend)  # a sheet folded back
        return out

    @cached_property
    def depths(self) -> Floats:
        """(nt,) thickness of each prism [m]."""
        corners = self.vertices[self.faces]
        edges = np.linalg.norm(np.roll(corners, -1, axis=1) - corners, axis=2)
        area = 0.5 * np.linalg.norm(
            np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1
        )
        if self.thickness is not None:
            depth = np.full(len(corners), self.thickness)
        else:
            depth = np.full(len(corners), 0.5 * float(np.median(edges)))
            if (self.neighbours >= 0).all():
                depth = np.minimum(depth, 0.5 * self._below())
        # the bottom is the triangle made smaller by a factor of at least one half
        shrink = np.maximum((self._leans * edges).sum(axis=1), 0.0)
        with np.errstate(divide="ignore"):
            return np.minimum(depth, area / shrink)

    @cached_property
    def _leans(self) -> Floats:
        """(nt, 3): how far the side below each edge moves inwards per depth."""
        leans = edge_leans(self.bends)
        corners, vertex = self.vertices[self.faces], welded(self.vertices, self.faces)
        return leans + corner_lean(corners, self.normals, leans, vertex)[:, None]

    def _below(self) -> Floats:
        """(nt,) depth at which a corner or the middle of each prism's bottom meets the mesh."""
        corners = self.vertices[self.faces]
        path = drifts(corners, self.normals, self._leans)
        start = np.concatenate((corners, corners.mean(axis=1, keepdims=True)), axis=1)
        path = np.concatenate((path, path.mean(axis=1, keepdims=True)), axis=1)
        hits = np.empty(4 * len(corners))
        least = 1e-9 * float(np.ptp(self.vertices, axis=0).max())  # not where the ray starts
        from drystone.kernels.mesh_rays import first_hits  # not before: drawing needs no compiler

        first_hits(start.reshape(-1, 3), path.reshape(-1, 3), corners, least, hits)
        return np.min(hits.reshape(-1, 4), axis=1)

    def pieces(self) -> list[Piece]:
        corners = self.vertices[self.faces]
        path = drifts(corners, self.normals, self._leans)
        points = np.concatenate((corners, corners + self.depths[:, None, None] * path), axis=1)
        middle = points.mean(axis=1)
        points -= middle[:, None]
        radius = np.sqrt((points * points).sum(axis=2).max(axis=1)).tolist()
        planes = np.stack([plane_of(points[:, loop]) for loop in _LOOPS], axis=1)
        floats = np.concatenate((points.reshape(-1, 18), planes.reshape(-1, 20)), axis=1)
        bends = np.where(self.neighbours >= 0, self.bends, np.inf)
        return [
            Piece(KIND.code, numbers, _PRISM_INTS, x, AXES[3], r, bend)
            for numbers, x, r, bend in zip(floats, middle, radius, bends, strict=True)
        ]

    def contains(self, points: MatrixLike | VectorLike) -> Bools:
        """Which points lie in one of the prisms."""
        p = query(points, 3)
        inside = np.zeros(p.shape[:-1], dtype=np.bool_)
        for piece in self.pieces():
            planes = piece.floats[18:].reshape(5, 4)
            inside |= np.all((p - piece.offset) @ planes[:, :3].T <= planes[:, 3], axis=-1)
        return inside

    def mesh(self, n: int = 24) -> tuple[Floats, Ints]:
        return self.vertices.copy(), self.faces.copy()

    def __repr__(self) -> str:
        return f"TriangleMesh({len(self.vertices)} vertices, {len(self.faces)} faces)"
