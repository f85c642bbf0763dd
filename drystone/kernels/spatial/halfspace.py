"""Capsules, cylinders and cones on a half-space: points of the body, each with its own gap.

Every point is a true point of the body's surface, so none can hold it up where it does not
touch. The deepest point is always among them: a tilted cylinder or cone rolls on its exact rim,
without the bumps of a polygon. On top of that, a cap that faces the plane has a ring of eight
points fixed in the body, so that an upright body stands on features that persist.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.spatial.smooth_write import put

RING = 8
Q = 0.7071067811865476
COS = (1.0, Q, 0.0, -Q, -1.0, -Q, 0.0, Q)  # of the ring's angles; the sine is two places before
FACING = 0.5  # cosine between cap and plane below which the ring is of no use
UPRIGHT = 1e-14  # sine of the tilt below which no point of the rim is deepest


@kernel
def _try(k, i, xa, Ra, u, v, w, xb, Rb, r, f, far, which, point, normal, gap, feature):
    """Contact at local point (u, v, w) of A, moved by r against the normal, if within `far`."""
    if k < 0:
        return k
    nx, ny, nz = Rb[0, 2], Rb[1, 2], Rb[2, 2]
    px = xa[0] + Ra[0, 0] * u + Ra[0, 1] * v + Ra[0, 2] * w - r * nx
    py = xa[1] + Ra[1, 0] * u + Ra[1, 1] * v + Ra[1, 2] * w - r * ny
    pz = xa[2] + Ra[2, 0] * u + Ra[2, 1] * v + Ra[2, 2] * w - r * nz
    g = nx * (px - xb[0]) + ny * (py - xb[1]) + nz * (pz - xb[2])
    if g > far:
        return k
    if k == which.size:
        return -1
    return put(k, i, px, py, pz, nx, ny, nz, g, f, which, point, normal, gap, feature)


@kernel
def _rim(k, i, xa, Ra, r, z, facing, f, xb, Rb, far, which, point, normal, gap, feature):
    """The deepest point of a rim at height z (feature f + 8) and its ring (f ... f + 7).

    facing: cosine between the cap's outer normal and the direction into the half-space.
    """
    tx = Ra[0, 0] * Rb[0, 2] + Ra[1, 0] * Rb[1, 2] + Ra[2, 0] * Rb[2, 2]
    ty = Ra[0, 1] * Rb[0, 2] + Ra[1, 1] * Rb[1, 2] + Ra[2, 1] * Rb[2, 2]
    t = np.sqrt(tx * tx + ty * ty)
    if facing > FACING:
        for j in range(RING):
            k = _try(
                k, i, xa, Ra, r * COS[j], r * COS[(j + 6) % 8], z, xb, Rb, 0.0, f + j, far,
                which, point, normal, gap, feature,
            )  # fmt: skip
    if t > UPRIGHT:
        k = _try(
            k, i, xa, Ra, -r * tx / t, -r * ty / t, z, xb, Rb, 0.0, f + RING, far,
            which, point, normal, gap, feature,
        )  # fmt: skip
    return k


@kernel
def contact_capsule_halfspace(
    pairs, margin, x, R, first, numbers, first_int, ints, cache,
    which, point, normal, gap, feature, stats,
):  # fmt: skip
    """Both end balls, features 0 (z = -h) and 1 (z = h)."""
    k = np.int64(0)
    for i in range(pairs.shape[0]):
        a, b = pairs[i, 0], pairs[i, 1]
        h, r = numbers[first[a]], numbers[first[a] + 1]
        for f in range(2):
            k = _try(
                k, i, x[a], R[a], 0.0, 0.0, (2 * f - 1) * h, x[b], R[b], r, f, margin[i],
                which, point, normal, gap, feature,
            )  # fmt: skip
        if k < 0:
            return -1
    return k


@kernel
def contact_cylinder_halfspace(
    pairs, margin, x, R, first, numbers, first_int, ints, cache,
    which, point, normal, gap, feature, stats,
):  # fmt: skip
    """Both rims: features 0-8 at z = -h, 16-24 at z = h; on its side, two points."""
    k = np.int64(0)
    for i in range(pairs.shape[0]):
        a, b = pairs[i, 0], pairs[i, 1]
        h, r = numbers[first[a]], numbers[first[a] + 1]
        up = R[a, 0, 2] * R[b, 0, 2] + R[a, 1, 2] * R[b, 1, 2] + R[a, 2, 2] * R[b, 2, 2]
        for f in range(2):
            sign = 2.0 * f - 1.0
            k = _rim(
                k, i, x[a], R[a], r, sign * h, -sign * up, 16 * f, x[b], R[b], margin[i],
                which, point, normal, gap, feature,
            )  # fmt: skip
        if k < 0:
            return -1
    return k


@kernel
def contact_cone_halfspace(
    pairs, margin, x, R, first, numbers, first_int, ints, cache,
    which, point, normal, gap, feature, stats,
):  # fmt: skip
    """The base's rim (features 0-8) and the apex (16); on its side, one point of each."""
    k = np.int64(0)
    for i in range(pairs.shape[0]):
        a, b = pairs[i, 0], pairs[i, 1]
        height, r = numbers[first[a]], numbers[first[a] + 1]
        up = R[a, 0, 2] * R[b, 0, 2] + R[a, 1, 2] * R[b, 1, 2] + R[a, 2, 2] * R[b, 2, 2]
        k = _rim(
            k, i, x[a], R[a], r, -0.25 * height, up, 0, x[b], R[b], margin[i],
            which, point, normal, gap, feature,
        )  # fmt: skip
        k = _try(
            k, i, x[a], R[a], 0.0, 0.0, 0.75 * height, x[b], R[b], 0.0, 16, margin[i],
            which, point, normal, gap, feature,
        )  # fmt: skip
        if k < 0:
            return -1
    return k
