"""A surface given by a formula on a half-space: its lowest point."""

import numpy as np

from drystone.kernels._calls import call
from drystone.kernels._jit import kernel
from drystone.kernels.spatial.smooth_write import put, turned


@kernel
def contact_surface_halfspace(
    pairs, margin, x, R, first, numbers, first_int, ints, cache,
    which, point, normal, gap, feature, stats,
):  # fmt: skip
    """One contact: the lowest point of A over the plane, n the z axis of B."""
    k, q = np.int64(0), np.empty(3)
    for i in range(pairs.shape[0]):
        a, b = pairs[i, 0], pairs[i, 1]
        nx, ny, nz = R[b, 0, 2], R[b, 1, 2], R[b, 2, 2]
        up = nx * (x[a, 0] - x[b, 0]) + ny * (x[a, 1] - x[b, 1]) + nz * (x[a, 2] - x[b, 2])
        f0 = first[a]
        if up - numbers[f0 + 1] > margin[i]:
            continue
        u = -(R[a, 0, 0] * nx + R[a, 1, 0] * ny + R[a, 2, 0] * nz)
        v = -(R[a, 0, 1] * nx + R[a, 1, 1] * ny + R[a, 2, 1] * nz)
        w = -(R[a, 0, 2] * nx + R[a, 1, 2] * ny + R[a, 2, 2] * nz)
        call(np.int64(numbers[f0]), (numbers, f0, u, v, w, q))
        px, py, pz = turned(R[a], q[0], q[1], q[2])
        px, py, pz = x[a, 0] + px, x[a, 1] + py, x[a, 2] + pz
        g = nx * (px - x[b, 0]) + ny * (py - x[b, 1]) + nz * (pz - x[b, 2])
        if g > margin[i]:
            continue
        if k == which.size:
            return -1
        k = put(k, i, px, py, pz, nx, ny, nz, g, 0, which, point, normal, gap, feature)
    return k
