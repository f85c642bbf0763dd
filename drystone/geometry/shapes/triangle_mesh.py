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
from drystone.geometry.shapes.prisms import corner_lean, drifts, edge_leans
from drystone.geometry.shapes.topology import layout, plane_of
from drystone.types import Bools, Floats, Ints, MatrixLike, Real, VectorLike

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

        first_hits(start.reshape(-1, 3), path.reshape(-1, 3), corners.reshape(-1, 9), least, hits)
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
