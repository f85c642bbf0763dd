"""Ellipsoids and superquadrics on a half-space: the support point, in closed form."""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.pairs import FoundContacts, Pairs, PosedGeoms
from drystone.kernels.spatial.smooth_surface import read_surface, support
from drystone.kernels.spatial.smooth_write import put, turned


@kernel
def contact_smooth_halfspace(pairs: Pairs, geoms: PosedGeoms, contacts: FoundContacts):
    """One contact: the lowest point of A over the plane, n the z axis of B."""
    geom, margin = pairs.geom, pairs.margin
    x, R, first, numbers = geoms.x, geoms.R, geoms.first, geoms.numbers
    s = np.empty(5)
    k = np.int64(0)
    for i in range(margin.size):
        a, b = geom[i, 0], geom[i, 1]
        nx, ny, nz = R[b, 0, 2], R[b, 1, 2], R[b, 2, 2]
        read_surface(first, numbers, a, s)
        u = R[a, 0, 0] * nx + R[a, 1, 0] * ny + R[a, 2, 0] * nz
        v = R[a, 0, 1] * nx + R[a, 1, 1] * ny + R[a, 2, 1] * nz
        w = R[a, 0, 2] * nx + R[a, 1, 2] * ny + R[a, 2, 2] * nz
        u, v, w = support(s, -u, -v, -w)
        px, py, pz = turned(R[a], u, v, w)
        px, py, pz = x[a, 0] + px, x[a, 1] + py, x[a, 2] + pz
        g = nx * (px - x[b, 0]) + ny * (py - x[b, 1]) + nz * (pz - x[b, 2])
        if g > margin[i]:
            continue
        if k == contacts.gap.size:
            return -1
        k = put(contacts, k, i, (px, py, pz), (nx, ny, nz), g, 0)
    return k
