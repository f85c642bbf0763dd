"""How far the sides of a mesh's prisms lean, so that they fill valleys and stay inside ridges.

A prism is the hull of a triangle and of a smaller or larger, similar triangle below it: per unit
of depth, each edge moves inwards by its lean. Leans of half the angle between neighbours make
their prisms meet in one plane. At a corner, triangles that share no edge with the prism's own
matter too: all three leans then grow by the same amount until the corner stays below them.
"""

from __future__ import annotations

import numpy as np

from drystone.types import Floats, Ints

# Limits of leans inwards, tan(178.9/2 degrees), and outwards, tan(90/2 degrees).
STEEPEST, WIDEST = 100.0, 1.0
# How fast, per unit of depth, a corner leaves the planes of the other triangles that meet there.
CLEAR = 0.05


def edge_leans(bends: Floats) -> Floats:
    """(nt, 3) leans by the angles (nt, 3) [rad] at the edges, positive at ridges."""
    half = 0.5 * np.clip(bends, 1e-6 - np.pi, np.pi - 1e-6)
    return np.clip(np.tan(half), -WIDEST, STEEPEST)


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
    out_of_g = np.einsum("pi,pi->p", down, normals[g]) + CLEAR
    back = np.einsum("pi,pi->p", towards, normals[g])
    need = np.where(out_of_g < back * STEEPEST, out_of_g / np.maximum(back, 1e-300), STEEPEST)
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
