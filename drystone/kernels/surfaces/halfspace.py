"""A surface given by a formula on a half-space: its lowest point, and what is flat around it.

Solids of support functions may have faces and edges. Around the direction into the half-space lies
a ring of directions. Where the support point jumps along it, instead of moving evenly as on a
smooth surface, it is a corner of a face or an edge, and bears too.
"""

import numpy as np

from drystone.kernels._calls import call
from drystone.kernels._jit import kernel
from drystone.kernels.pairs import FoundContacts, Pairs, PosedGeoms
from drystone.kernels.spatial.smooth_write import put, turned
from drystone.kernels.surfaces.layout import ADDRESS, FORM, RADIUS, SUPPORT

TILTED_DIRECTIONS = 8  # directions
BEARING_TILT = 0.1  # [rad] of a face that bears
EVEN = 0.25  # of a move: what is left of it when half the turn has made half the move
ONE_POINT = 1e-6  # of the radius: points that are one


@kernel
def _ring(numbers, f0, d, q, found):
    """found (TILTED_DIRECTIONS, 3): corners of the face or edge that q (3,), farthest along the
    unit vector d (3,), belongs to; whether each is one: found[k, 0] is finite."""
    far, half, t, u = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    s = 1.0 if d[2] >= 0.0 else -1.0
    a = -1.0 / (s + d[2])
    t[0], t[1], t[2] = 1.0 + s * d[0] * d[0] * a, s * d[0] * d[1] * a, -s * d[0]
    u[0], u[1], u[2] = d[0] * d[1] * a, s + d[1] * d[1] * a, -d[1]
    at, radius = np.int64(numbers[f0 + ADDRESS]), numbers[f0 + RADIUS]
    for k in range(TILTED_DIRECTIONS):
        angle = 2.0 * np.pi * k / TILTED_DIRECTIONS
        x, y = BEARING_TILT * np.cos(angle), BEARING_TILT * np.sin(angle)
        e0, e1, e2 = x * t[0] + y * u[0], x * t[1] + y * u[1], x * t[2] + y * u[2]
        call(at, (numbers, f0, d[0] + e0, d[1] + e1, d[2] + e2, far))
        call(at, (numbers, f0, d[0] + 0.5 * e0, d[1] + 0.5 * e1, d[2] + 0.5 * e2, half))
        moved = left = 0.0
        for c in range(3):
            moved += (far[c] - q[c]) ** 2
            left += (far[c] - 2.0 * half[c] + q[c]) ** 2
        new = moved > (ONE_POINT * radius) ** 2 and left > EVEN * EVEN * moved
        for j in range(k):
            off = 0.0
            for c in range(3):
                off += (far[c] - found[j, c]) ** 2
            new = new and not off <= (ONE_POINT * radius) ** 2  # also if that one is none
        for c in range(3):
            found[k, c] = far[c] if new else np.nan


@kernel
def contact_surface_halfspace(pairs: Pairs, geoms: PosedGeoms, contacts: FoundContacts):
    """The lowest point of A over the plane, feature 0, and the corners of a face or an edge that
    it belongs to, 1 to TILTED_DIRECTIONS; n the z axis of B."""
    geom, margin = pairs.geom, pairs.margin
    x, R, first, numbers = geoms.x, geoms.R, geoms.first, geoms.numbers
    k, q, d, found = np.int64(0), np.empty(3), np.empty(3), np.empty((TILTED_DIRECTIONS, 3))
    for i in range(margin.size):
        a, b = geom[i, 0], geom[i, 1]
        nx, ny, nz = R[b, 0, 2], R[b, 1, 2], R[b, 2, 2]
        up = nx * (x[a, 0] - x[b, 0]) + ny * (x[a, 1] - x[b, 1]) + nz * (x[a, 2] - x[b, 2])
        f0 = first[a]
        if up - numbers[f0 + 1] > margin[i]:
            continue
        u = -(R[a, 0, 0] * nx + R[a, 1, 0] * ny + R[a, 2, 0] * nz)
        v = -(R[a, 0, 1] * nx + R[a, 1, 1] * ny + R[a, 2, 1] * nz)
        w = -(R[a, 0, 2] * nx + R[a, 1, 2] * ny + R[a, 2, 2] * nz)
        call(np.int64(numbers[f0]), (numbers, f0, u, v, w, q))
        rest = 0
        if numbers[f0 + FORM] == SUPPORT:
            rest, d[0], d[1], d[2] = TILTED_DIRECTIONS, u, v, w
            _ring(numbers, f0, d, q, found)
        for j in range(1 + rest):
            if j > 0:
                q[0], q[1], q[2] = found[j - 1, 0], found[j - 1, 1], found[j - 1, 2]
            px, py, pz = turned(R[a], q[0], q[1], q[2])
            px, py, pz = x[a, 0] + px, x[a, 1] + py, x[a, 2] + pz
            g = nx * (px - x[b, 0]) + ny * (py - x[b, 1]) + nz * (pz - x[b, 2])
            if not g <= margin[i]:
                continue
            if k == contacts.gap.size:
                return -1
            k = put(contacts, k, i, (px, py, pz), (nx, ny, nz), g, j)
    return k
