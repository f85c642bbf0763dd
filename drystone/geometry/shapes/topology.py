"""Faces, edges and vertex stars of convex polyhedra, in the layout of ``geometry.kinds``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from drystone.types import Floats, Ints

LAYOUTS_KNOWN = 64  # that were found right or wrong: triangles of a mesh, boxes share one each


@dataclass(frozen=True, eq=False)
class Topology:
    """vertices (nv, 3); planes (nf, 4): outer unit normal, offset; loops: vertex numbers of each
    face, counter-clockwise seen from outside; ints: everything as ``geometry.kinds`` has it."""

    vertices: Floats
    planes: Floats
    loops: tuple[tuple[int, ...], ...]
    ints: Ints

    @property
    def edges(self) -> Ints:
        """(ne, 4): v0 < v1, the face on the left and the face on the right of v0 -> v1."""
        nf, ne = self.ints[1:3]
        start = 3 + nf + 1 + self.ints[3 + nf]
        return self.ints[start : start + 4 * ne].reshape(-1, 4)

    def triangles(self) -> Ints:
        """(nt, 3) fans of the faces, outward."""
        fans = [
            (loop[0], loop[i], loop[i + 1]) for loop in self.loops for i in range(1, len(loop) - 1)
        ]
        return np.array(fans, dtype=np.int64)


def topology(vertices: Floats, loops: Sequence[Sequence[int]]) -> Topology:
    """Of vertices (nv, 3) and the loops of a closed convex surface."""
    planes = np.empty((len(loops), 4))
    for f, loop in enumerate(loops):
        planes[f] = plane_of(vertices[list(loop)])
    return Topology(
        vertices,
        planes,
        tuple(tuple(int(v) for v in loop) for loop in loops),
        layout(len(vertices), loops),
    )


def plane_of(corners: Floats) -> Floats:
    """Outer unit normals and offsets (..., 4) of faces' corners (..., k, 3), by Newell's method;
    no corner lies in front of its face."""
    p = corners - corners[..., :1, :]
    normal = np.cross(p, np.roll(p, -1, axis=-2)).sum(axis=-2)
    normal = normal / np.sqrt((normal * normal).sum(axis=-1, keepdims=True)) + 0.0
    offset = (corners @ normal[..., None]).max(axis=-2)
    return np.concatenate((normal, offset), axis=-1)


def layout(nv: int, loops: Sequence[Sequence[int]]) -> Ints:
    """The ints of a polyhedron, one after the other:

    nv, nf, ne
    face_start (nf + 1): loop of face f is face_vertex[face_start[f]:face_start[f + 1]]
    face_vertex (sum): vertex numbers, counter-clockwise seen from outside
    edge (ne, 4): vertex v0, vertex v1, face on the left and face on the right of v0 -> v1
    star_start (nv + 1), star (2 ne): neighbouring vertices of each vertex, ascending
    """
    left: dict[tuple[int, int], int] = {}
    for f, loop in enumerate(loops):
        for v, w in zip(loop, (*loop[1:], loop[0]), strict=True):
            left[int(v), int(w)] = f
    edges = sorted((v, w, left[v, w], left[w, v]) for v, w in left if v < w)
    star: list[list[int]] = [[] for _ in range(nv)]
    for v, w in sorted(left):
        star[v].append(w)
    out = [nv, len(loops), len(edges)]
    out += np.cumsum([0, *map(len, loops)]).tolist()
    out += [int(v) for loop in loops for v in loop]
    out += [number for edge in edges for number in edge]
    out += np.cumsum([0, *map(len, star)]).tolist()
    out += [w for neighbours in star for w in neighbours]
    return np.array(out, dtype=np.int64)


def laid_out(ints: Ints) -> bool:
    """Whether ints, of a file, are those of a polyhedron: each number within its table."""
    return ints.dtype.kind == "i" and _laid_out(ints.astype(np.int64).tobytes())


@lru_cache(LAYOUTS_KNOWN)
def _laid_out(data: bytes) -> bool:
    ints = np.frombuffer(data, np.int64)
    if ints.size < 3 or ints[:3].min() < 4:
        return False
    nv, nf, ne = ints[:3].tolist()
    sizes = (3, nf + 1, 2 * ne, 4 * ne, nv + 1, 2 * ne)  # each edge twice in loops and in stars
    if sum(sizes) != ints.size:
        return False
    _, face, vertex, edge, star, near = np.split(ints, np.cumsum(sizes)[:-1])
    sides = edge.reshape(-1, 4)
    return all(
        bool((part >= 0).all() and (part < most).all())
        for part, most in ((vertex, nv), (near, nv), (sides[:, :2], nv), (sides[:, 2:], nf))
    ) and all(
        bool(start[0] == 0 and start[-1] == 2 * ne and (np.diff(start) > least).all())
        for start, least in ((face, 2), (star, 0))
    )
