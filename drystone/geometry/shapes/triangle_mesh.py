"""Concave ground: a mesh of triangles, each the top of a convex prism."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from drystone.geometry.shapes.base import FixedOnly, Piece, SpatialShape, query, size
from drystone.geometry.shapes.mesh_edges import mesh_arrays, neighbours, unit_normals, welded
from drystone.geometry.shapes.polyhedron import polyhedron_piece
from drystone.geometry.shapes.topology import Topology, layout, plane_of
from drystone.types import Bools, Floats, Ints

# Corners 0, 1, 2 are the triangle's and 3, 4, 5 lie below them; face 0 is the triangle, face 1
# the bottom, face 2 + i the side below the edge from corner i to corner i + 1.
_LOOPS = ((0, 1, 2), (3, 5, 4), (1, 0, 3, 4), (2, 1, 4, 5), (0, 2, 5, 3))
_PRISM_INTS = layout(6, _LOOPS)
_PRISM_INTS.setflags(write=False)
# Sharpest edge that the prisms' sides follow to the half angle: tan(168 / 2 degrees).
_STEEPEST = 10.0


@dataclass(frozen=True, eq=False)
class TriangleMesh(FixedOnly, SpatialShape):
    """A fixed, possibly concave surface: `vertices` (nv, 3) [m], `faces` (nt, 3) triangles,
    counter-clockwise seen from outside (from above, for ground); closed or not.

    Each triangle becomes one convex geom, in the order of `faces`: a prism of `thickness` [m]
    below it, whose sides lean inwards at ridges so that it stays under its neighbours. Near
    ridges of small triangles, and where a closed mesh is thin, prisms are less thick. Default:
    half the median edge. The mesh itself has no mass: fixed bodies only.
    """

    vertices: Any
    faces: Any
    thickness: float | None = None

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
        shrink = (self._leans * edges).sum(axis=1)
        with np.errstate(divide="ignore"):
            return np.minimum(depth, area / shrink)

    @property
    def _leans(self) -> Floats:
        """(nt, 3): how far the side below each edge moves inwards per depth: the half angle of
        a ridge."""
        ridge = np.maximum(self.bends, 0.0)
        return np.minimum(np.tan(0.5 * np.minimum(ridge, math.pi - 1e-6)), _STEEPEST)

    def _below(self) -> Floats:
        """(nt,) distance from points of each triangle down its normal to the next triangle."""
        corners = self.vertices[self.faces]
        a = corners[:, 0]
        u, v = corners[:, 1] - a, corners[:, 2] - a
        out = np.full(len(corners), np.inf)
        weights = np.array([[1, 1, 1], [4, 1, 1], [1, 4, 1], [1, 1, 4]], dtype=np.float64)
        weights /= weights.sum(axis=1, keepdims=True)
        for f in range(len(corners)):
            d = -self.normals[f]
            p = np.cross(d, v)
            det = np.einsum("ti,ti->t", u, p)
            with np.errstate(divide="ignore", invalid="ignore"):
                for start in weights @ corners[f]:
                    s = start - a
                    x = np.einsum("ti,ti->t", s, p) / det
                    q = np.cross(s, u)
                    y = (q @ d) / det
                    t = np.einsum("ti,ti->t", v, q) / det
                    hit = (x >= 0) & (y >= 0) & (x + y <= 1) & (t > 0)
                    hit[f] = False
                    if hit.any():
                        out[f] = min(out[f], float(t[hit].min()))
        return out

    def pieces(self) -> list[Piece]:
        corners, depth, leans = self.vertices[self.faces], self.depths, self._leans
        out = []
        for f in range(len(corners)):
            top = corners[f]
            points = np.vstack((top, _bottom(top, self.normals[f], depth[f], leans[f] * depth[f])))
            middle = points.mean(axis=0)
            local = points - middle
            planes = np.array([plane_of(local[list(loop)]) for loop in _LOOPS])
            topology = Topology(local, planes, _LOOPS, _PRISM_INTS)
            piece = polyhedron_piece(topology, np.zeros(3))
            out.append(piece._replace(offset=middle))
        return out

    def contains(self, points: Any) -> Bools:
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


def _bottom(top: Floats, normal: Floats, depth: float, insets: Floats) -> Floats:
    """Corners (3, 3) below a triangle whose edges move inwards by `insets` (3,) on the way."""
    edge = np.roll(top, -1, axis=0) - top
    length = np.linalg.norm(edge, axis=1)
    inward = np.cross(normal, edge) / length[:, None]
    out = np.empty((3, 3))
    for i in range(3):
        # corner i moves so that it is insets[i] from the old edge i and insets[i - 1] from i - 1
        before = i - 1
        sine = float(inward[i] @ edge[before]) / length[before]  # of the angle between the edges
        shift = insets[before] * edge[i] / length[i] - insets[i] * edge[before] / length[before]
        out[i] = top[i] - depth * normal + shift / -sine
    return out
