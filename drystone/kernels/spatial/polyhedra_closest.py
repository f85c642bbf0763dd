"""Nearest features of two polyhedra that are apart: the Gilbert-Johnson-Keerthi iteration.

Called only when the separating axes of faces and edges fall short of the distance, that is when a
vertex is nearest to a vertex or to an edge. A separation is known then, so the origin never lies
inside the simplex and triangles suffice.
"""

import math

from drystone.kernels._jit import kernel
from drystone.kernels.spatial.polyhedra_shape import (
    FIRST,
    KIND,
    NEAR_A,
    NEAR_B,
    PAIRS,
    POINTS,
    SIDE,
    SIMPLEX,
    TOL,
    VERTEX,
    N,
    climb,
    set_normal,
    turned,
)

ROUNDS = 100
LAM, KEPT, NEAREST = SIMPLEX + 12, SIMPLEX + 16, SIMPLEX + 20


@kernel
def triangle_point(w, i, j, k):
    """Weights of the point of a triangle of the simplex nearest to the origin (Ericson, 5.1.5).

    i, j, k may coincide: then it is a segment or a point.
    """
    p, q, r = SIMPLEX + 3 * i, SIMPLEX + 3 * j, SIMPLEX + 3 * k
    d1 = d2 = bb = bc = cc = 0.0
    for c in range(3):
        a, b = w[p + c], w[q + c] - w[p + c]
        e = w[r + c] - a
        d1, d2 = d1 - b * a, d2 - e * a
        bb, bc, cc = bb + b * b, bc + b * e, cc + e * e
    d3, d4, d5, d6 = d1 - bb, d2 - bc, d1 - bc, d2 - cc
    va, vb, vc = d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2
    a, b, c = 1.0, 0.0, 0.0
    if d1 <= 0.0 and d2 <= 0.0:
        pass
    elif d3 >= 0.0 and d4 <= d3:
        a, b = 0.0, 1.0
    elif d6 >= 0.0 and d5 <= d6:
        a, c = 0.0, 1.0
    elif vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        b = d1 / (d1 - d3)
        a = 1.0 - b
    elif vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        c = d2 / (d2 - d6)
        a = 1.0 - c
    elif va <= 0.0 and d4 >= d3 and d5 >= d6:
        c = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        a, b = 0.0, 1.0 - c
    else:
        d = 1.0 / (va + vb + vc)
        a, b, c = va * d, vb * d, vc * d
    w[LAM], w[LAM + 1], w[LAM + 2], w[LAM + 3] = 0.0, 0.0, 0.0, 0.0
    w[LAM + k] = c
    w[LAM + j] += b
    w[LAM + i] += a


@kernel
def reduce_simplex(at, w, count):
    """Keep the points that span the simplex's nearest point, w[NEAREST:]; their number."""
    new, least = count - 1, math.inf
    for j in range(max(new, 1)):
        for k in range(j, max(new, 1)):
            if k == j and new > 1:
                continue  # the newest point is always a corner; the others differ
            triangle_point(w, new, j, k)
            x = y = z = 0.0
            for c in range(count):
                x += w[LAM + c] * w[SIMPLEX + 3 * c]
                y += w[LAM + c] * w[SIMPLEX + 3 * c + 1]
                z += w[LAM + c] * w[SIMPLEX + 3 * c + 2]
            if x * x + y * y + z * z < least:
                least = x * x + y * y + z * z
                w[NEAREST], w[NEAREST + 1], w[NEAREST + 2] = x, y, z
                for c in range(4):
                    w[KEPT + c] = w[LAM + c]
    kept = 0
    for c in range(count):
        if w[KEPT + c] > 0.0:
            for i in range(3):
                w[SIMPLEX + 3 * kept + i] = w[SIMPLEX + 3 * c + i]
            at[PAIRS + 2 * kept], at[PAIRS + 2 * kept + 1] = (
                at[PAIRS + 2 * c],
                at[PAIRS + 2 * c + 1],
            )
            kept += 1
    return kept


@kernel
def nearest_features(numbers, ints, at, w):
    """Vertices that span the nearest points become a POINTS witness; returns the distance.

    Starts along w's normal. Returns -1 if the bodies touch within the tolerance, or a side needs
    three vertices (a face: not our case).
    """
    count, d2 = 0, math.inf
    for _ in range(ROUNDS):
        x = y = z = 0.0
        for k in range(2):
            sign = 1.0 - 2.0 * k
            v = climb(numbers, ints, at, w, k, -sign, int(w[NEAR_A + k]))
            w[NEAR_A + k] = v
            p, q, r = turned(numbers, w, k, at[SIDE * k + VERTEX] + 3 * v, 1.0)
            x, y, z = x + sign * p, y + sign * q, z + sign * r
        va, vb = int(w[NEAR_A]), int(w[NEAR_B])
        known = False
        for c in range(count):
            known = known or (at[PAIRS + 2 * c] == va and at[PAIRS + 2 * c + 1] == vb)
        if known or (count > 0 and d2 - (w[N] * x + w[N + 1] * y + w[N + 2] * z) <= 1e-14 * d2):
            break
        i = SIMPLEX + 3 * count
        w[i], w[i + 1], w[i + 2] = x, y, z
        at[PAIRS + 2 * count], at[PAIRS + 2 * count + 1] = va, vb
        count = reduce_simplex(at, w, count + 1)
        before = d2
        x, y, z = w[NEAREST], w[NEAREST + 1], w[NEAREST + 2]
        d2 = x * x + y * y + z * z
        if d2 <= w[TOL] * w[TOL]:
            return -1.0
        set_normal(w, x, y, z)
        if d2 >= before and count > 1:
            break
    w[KIND] = POINTS
    for k in range(2):  # one or two different vertices of each body
        w[FIRST + 2 * k] = w[FIRST + 2 * k + 1] = at[PAIRS + k]
        for c in range(1, count):
            v, i = at[PAIRS + 2 * c + k], FIRST + 2 * k
            if v == w[i] or v == w[i + 1]:
                continue
            if w[i] != w[i + 1]:
                return -1.0
            w[i + 1] = v
    return math.sqrt(d2)
