"""Which points lie in a convex solid that is known by its support points."""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.surfaces.layout import LENGTH, RADIUS, TABLE
from drystone.kernels.surfaces.support import support_state

MARCH_STEPS = 500


@kernel
def inside(numbers, points, out):
    """out (n,) bool: whether points (n, 3) are in the solid, its surface included.

    A point x of the solid goes towards y (Frank and Wolfe); y is outside once a plane across
    y - x has the solid behind it. Points outside by less than about
    size / MARCH_STEPS may be missed.
    """
    W, J = np.empty((int(numbers[LENGTH]), 10)), np.empty((3, 10))
    d, p, uv, x = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    f0, small = np.int64(0), 1e-12 * numbers[RADIUS]
    for i in range(points.shape[0]):
        y = points[i]
        for k in range(3):
            x[k] = numbers[TABLE + k]
        out[i] = True
        for _ in range(MARCH_STEPS):
            length = 0.0
            for k in range(3):
                d[k] = y[k] - x[k]
                length += d[k] * d[k]
            length = np.sqrt(length)
            if length <= small:
                break
            beyond, ahead = 0.0, 0.0
            for k in range(3):
                d[k] /= length
            support_state(numbers, f0, d, p, uv, W, J)
            for k in range(3):
                beyond += d[k] * (y[k] - p[k])
            if beyond > 0.0:
                out[i] = False
                break
            square = 0.0
            for k in range(3):
                ahead += (p[k] - x[k]) * (y[k] - x[k])
                square += (p[k] - x[k]) ** 2
            share = min(1.0, ahead / square) if square > 0.0 else 1.0
            for k in range(3):
                x[k] += share * (p[k] - x[k])
