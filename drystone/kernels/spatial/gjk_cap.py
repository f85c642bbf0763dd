"""Flat caps of cylinders and cones: the one place where a support function has a cone-like kink.

Next to the axis the rim is a piece of unbounded curvature, on which Newton's method would stall,
so the axis itself is tried: it is the direction sought if the disc and the feature of the other
body overlap, seen along it.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.spatial.gjk_polish import tangents
from drystone.kernels.spatial.support import CONE, CYLINDER
from drystone.kernels.spatial.support_feature import RING, feature_of

FLUSH = 1e-8  # sine of the angle within which the other body's face counts as parallel


@kernel
def cap_normal(s, spec, frame, n, out):
    """Whether body s turns a cap roughly to the other; the direction n it would give."""
    kind, F, sign = spec[s, 0], frame[s], (-1.0 if s == 0 else 1.0)
    if kind != CYLINDER and kind != CONE:
        return False
    along = sign * (F[2] * n[0] + F[5] * n[1] + F[8] * n[2])
    if abs(along) < 0.9 or (kind == CONE and along > 0.0):
        return False
    turn = np.copysign(sign, along * sign) if along * sign != 0.0 else sign
    for c in range(3):
        out[c] = turn * F[3 * c + 2]
    return True


@kernel
def nearest_in_feature(k, P, near):
    """Point of a planar convex feature P[:k] (its first two columns) nearest to the origin."""
    if k == 1:
        near[0], near[1] = P[0, 0], P[0, 1]
        return
    left = right = False
    best = np.inf
    for i in range(k if k > 2 else 1):
        j = (i + 1) % k
        e0, e1 = P[j, 0] - P[i, 0], P[j, 1] - P[i, 1]
        side = e1 * P[i, 0] - e0 * P[i, 1]
        left, right = left or side > 0.0, right or side < 0.0
        square = e0 * e0 + e1 * e1
        t = -(e0 * P[i, 0] + e1 * P[i, 1]) / square if square > 0.0 else 0.0
        t = min(max(t, 0.0), 1.0)
        x, y = P[i, 0] + t * e0, P[i, 1] + t * e1
        if x * x + y * y < best:
            best = x * x + y * y
            near[0], near[1] = x, y
    if k > 2 and not (left and right):
        near[0] = near[1] = 0.0


@kernel
def cap_overlaps(s, spec, frame, numbers, ints, n, gap, P, ids, across, ab, mid):
    """Whether the other body's feature lies over the disc of body s, seen along its axis n.

    gap: between the two surfaces along n; mid (3,): a point halfway between them.
    """
    F, o = frame[s], 1 - s
    T, near, centre = np.empty((2, 3)), np.zeros(2), np.empty(3)
    tangents(n, T)
    h, r = numbers[spec[s, 1]], numbers[spec[s, 1] + 1]
    sign = -1.0 if s == 0 else 1.0
    z = sign * (F[2] * n[0] + F[5] * n[1] + F[8] * n[2])  # +-1: which cap
    height = np.copysign(h, z) if spec[s, 0] == CYLINDER else -0.25 * h
    for c in range(3):
        centre[c] = F[9 + c] + height * F[3 * c + 2]
    k = feature_of(o, spec, frame, numbers, ints, n, FLUSH, P, ids, across, ab)
    disc = k == RING and (spec[o, 0] == CYLINDER or spec[o, 0] == CONE)
    x = y = 0.0
    for i in range(k):
        p0, p1, p2 = P[i, 0] - centre[0], P[i, 1] - centre[1], P[i, 2] - centre[2]
        P[i, 0] = T[0, 0] * p0 + T[0, 1] * p1 + T[0, 2] * p2
        P[i, 1] = T[1, 0] * p0 + T[1, 1] * p1 + T[1, 2] * p2
        x, y = x + P[i, 0] / k, y + P[i, 1] / k
    if disc:
        far = np.sqrt(x * x + y * y)
        if far > 0.0:
            left = max(0.0, far - numbers[spec[o, 1] + 1]) / far
            near[0], near[1] = left * x, left * y
    else:
        nearest_in_feature(k, P, near)
    shift = -0.5 * gap if s == 0 else 0.5 * gap
    for c in range(3):
        mid[c] = centre[c] + near[0] * T[0, c] + near[1] * T[1, c] + shift * n[c]
    return near[0] ** 2 + near[1] ** 2 <= r * r
