"""Many points of a formula at once: jets, support points, curvature, and which lie in its solid."""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.spatial.frames import tangents
from drystone.kernels.surfaces.evaluate import chart_curvature, implicit_curvature, jets
from drystone.kernels.surfaces.layout import (
    FORM,
    LENGTH,
    NJ,
    PARAMETRIC,
    RADIUS,
    SIGN,
    TABLE,
    VALUE,
)
from drystone.kernels.surfaces.support import support_state

MARCH_STEPS = 500  # towards a point, after which it is taken to be inside


@kernel
def sample_jets(numbers, points, out):
    """out (n, 3, NJ): jets of a surface's numbers at points (n, 3): x, y, z or u, v, 0."""
    W, f0 = np.empty((int(numbers[LENGTH]), NJ)), np.int64(0)
    for i in range(points.shape[0]):
        jets(numbers, f0, points[i], W, out[i])


@kernel
def sample_support(numbers, directions, out):
    """out (n, 4): support points along unit directions (n, 3) of a support function h, and h."""
    W, J, f0 = np.empty((int(numbers[LENGTH]), NJ)), np.empty((3, NJ)), np.int64(0)
    uv = np.empty(3)
    for i in range(directions.shape[0]):
        support_state(numbers, f0, directions[i], out[i, :3], uv, W, J)
        out[i, 3] = J[0, VALUE]


@kernel
def sample_curvature(numbers, normals, J, least):
    """least (n,): smallest principal curvature [1/m] where the jets J (n, 3, NJ) were taken and
    the outer unit normals (n, 3) are; nan at poles of a chart."""
    T, D = np.empty((2, 3)), np.empty(3)
    for i in range(least.size):
        tangents(normals[i], T)
        if numbers[FORM] == PARAMETRIC:
            if chart_curvature(J[i], numbers[SIGN], T, D) < 1e-3:
                least[i] = np.nan
                continue
        else:
            implicit_curvature(J[i, 0], T, D)
        half = 0.5 * (D[0] - D[2])
        least[i] = 0.5 * (D[0] + D[2]) - np.sqrt(half * half + D[1] * D[1])


@kernel
def inside(numbers, points, out):
    """out (n,) bool: whether points (n, 3) are in the solid, its surface included.

    A point x of the solid goes towards y (Frank and Wolfe); y is outside once a plane across
    y - x has the solid behind it. Points outside by less than about
    size / MARCH_STEPS may be missed.
    """
    W, J = np.empty((int(numbers[LENGTH]), NJ)), np.empty((3, NJ))
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
