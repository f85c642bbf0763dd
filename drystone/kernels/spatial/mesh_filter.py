"""Contacts against the prisms of a triangle mesh, freed from edges that are not there.

A mesh is one prism per triangle: POLYHEDRON geoms whose first three vertices and first face are
the triangle. Each prism knows nothing of its neighbours, so its rim and sides answer where the
surface goes on: a body that slides over a flat floor would trip. A contact belongs to a triangle
only if its normal points where that triangle's part of the surface can push:

- over the triangle itself, along its normal m;
- at an edge, between m and the neighbour's normal if the edge is a ridge, along m if the surface
  is flat or hollow there; freely where the surface ends.

What leans further comes from an edge that the neighbour covers, from a side or from the bottom.
If the other body's point lies over the triangle the contact is turned upright, with the gap to
the triangle's plane; else the neighbour has it, and it is dropped. So is what lies apart from the
prism below its bottom: it is on another side of the mesh.
"""

import math

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.pairs import FoundContacts, PosedGeoms

SAME_NORMAL = 1e-9  # 1 - cos of the angle within which a normal is the triangle's
EDGE_ALLOWANCE = 1e-6  # [rad] beyond what an edge allows that is still put up with
ON_EDGE = 1e-9  # of the triangle's size: points this close to an edge are on it


@kernel
def filter_mesh_contacts(tile, bend, geoms: PosedGeoms, geom_a, geom_b, contacts: FoundContacts):
    """Correct or drop contacts in place, keeping their order; returns how many are left.

    tile (ng,) int64: row of `bend` for a mesh's prism, -1 for other geoms
    bend (nt, 3) [rad]: angle by which the surface turns away at the edge from corner i to corner
        i + 1: positive at ridges, zero or less where it is flat or hollow, inf where it ends
    geom_a, geom_b (nc,): of the contacts; `which` of these is left alone
    """
    _, point, normal, gap, feature = contacts
    work = np.zeros(16)  # m, edges' outward directions (3, 3)
    left = 0
    for c in range(gap.size):
        keep = True
        for side in range(2):
            g = geom_b[c] if side == 0 else geom_a[c]
            if tile[g] >= 0 and keep:
                sign = 1.0 - 2.0 * side
                frame_of(geoms, g, work)
                keep = settle(
                    geoms, g, bend[tile[g]], sign, point[c], normal[c], gap[c : c + 1], work
                )
        if keep:
            geom_a[left], geom_b[left] = geom_a[c], geom_b[c]
            gap[left], feature[left] = gap[c], feature[c]
            for i in range(3):
                point[left, i], normal[left, i] = point[c, i], normal[c, i]
            left += 1
    return left


@kernel
def frame_of(geoms: PosedGeoms, g, work):
    """The triangle's normal and the outward directions of its edges in the world; its size."""
    R, numbers, o = geoms.R, geoms.numbers, geoms.first[g]
    size = 0.0
    for k in range(4):  # the normal, then the edges
        e0, e1, e2 = numbers[o + 18], numbers[o + 19], numbers[o + 20]
        if k > 0:
            p, q = o + 3 * (k - 1), o + 3 * (k % 3)
            x, y, z = (
                numbers[q] - numbers[p],
                numbers[q + 1] - numbers[p + 1],
                numbers[q + 2] - numbers[p + 2],
            )
            e0, e1, e2 = y * e2 - z * e1, z * e0 - x * e2, x * e1 - y * e0
            length = math.sqrt(x * x + y * y + z * z)
            size = max(size, length)
            e0, e1, e2 = e0 / length, e1 / length, e2 / length
        for i in range(3):
            work[3 * k + i] = R[g, i, 0] * e0 + R[g, i, 1] * e1 + R[g, i, 2] * e2
    work[12] = size


@kernel
def settle(geoms: PosedGeoms, g, bends, sign, point, normal, gap, work):
    """Judge one contact of prism g (sign = 1: it is B), of the gap gap[0]; False if it must go."""
    x, R, numbers, first = geoms.x, geoms.R, geoms.numbers, geoms.first[g]
    upright = 0.0
    for i in range(3):
        upright += sign * normal[i] * work[i]
    if upright >= 1.0 - SAME_NORMAL:
        return True
    # where the prism's point and the other body's are from each edge; how the normal leans
    near = ON_EDGE * work[12]
    over, allowed, touched = True, True, False
    for k in range(3):
        o = first + 3 * k
        own = other = lean = 0.0
        for i in range(3):
            corner = x[g, i]
            for j in range(3):
                corner += R[g, i, j] * numbers[o + j]
            t = work[3 + 3 * k + i]
            h = 0.5 * sign * gap[0] * normal[i]
            own += t * (point[i] - h - corner)
            other += t * (point[i] + h - corner)
            lean += sign * t * normal[i]
        over = over and other <= near
        if own >= -near and lean > 0.0:
            touched = True
            allowed = allowed and math.atan2(lean, upright) <= max(bends[k], 0.0) + EDGE_ALLOWANCE
    if touched and allowed:
        return True
    if not over:
        return False
    # the other body's point, seen from the triangle's plane
    h = -numbers[first + 21]
    for i in range(3):
        h += work[i] * (point[i] + 0.5 * sign * gap[0] * normal[i] - x[g, i])
    if gap[0] > 0.0 and h < -near:  # below the prism: on another side of the mesh
        return False
    for i in range(3):
        point[i] += 0.5 * sign * gap[0] * normal[i]
        point[i] -= 0.5 * h * work[i]
        normal[i] = sign * work[i]
    gap[0] = h
    return True
