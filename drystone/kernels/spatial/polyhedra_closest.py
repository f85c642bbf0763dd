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
    NEAREST,
    PAIRS,
    POINTS,
    SIDE,
    SIMPLEX,
    TOL,
    V1,
    V2,
    VERTEX,
    N,
    climb,
    dot,
    set_normal,
    turned,
)

ROUNDS = 100
LAM, KEPT = SIMPLEX + 12, SIMPLEX + 16


@kernel
def triangle_point(w, new, j, k):
    """Weights of the point of a triangle of the simplex nearest to the origin (Ericson, 5.1.5).

    new, j, k may coincide: then it is a segment or a point.
    """
    p = SIMPLEX + 3 * new
    for c in range(3):
        w[V1 + c] = w[SIMPLEX + 3 * j + c] - w[p + c]
        w[V2 + c] = w[SIMPLEX + 3 * k + c] - w[p + c]
    d1, d2 = -dot(w, V1, w, p), -dot(w, V2, w, p)
    bb, bc, cc = dot(w, V1, w, V1), dot(w, V1, w, V2), dot(w, V2, w, V2)
    d3, d4, d5, d6 = d1 - bb, d2 - bc, d1 - bc, d2 - cc
    va, vb, vc = d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2
    b, c = 0.0, 0.0
    if d1 <= 0.0 and d2 <= 0.0:
        pass
    elif d3 >= 0.0 and d4 <= d3:
        b = 1.0
    elif d6 >= 0.0 and d5 <= d6:
        c = 1.0
    elif vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        b = d1 / (d1 - d3)
    elif vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        c = d2 / (d2 - d6)
    elif va <= 0.0 and d4 >= d3 and d5 >= d6:
        c = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        b = 1.0 - c
    else:
        d = 1.0 / (va + vb + vc)
        b, c = vb * d, vc * d
    for i in range(4):
        w[LAM + i] = 0.0
    w[LAM + k] = c
    w[LAM + j] += b
    w[LAM + new] += max(1.0 - b - c, 0.0)


@kernel
def reduce_simplex(at, w, count):
    """Keep the points that span the simplex's nearest point, w[NEAREST:]; their number."""
    new, least = count - 1, math.inf
    for j in range(max(new, 1)):
        for k in range(j, max(new, 1)):
            if k == j and new > 1:
                continue  # the newest point is always a corner; the others differ
            triangle_point(w, new, j, k)
            for i in range(3):
                w[V1 + i] = 0.0
                for c in range(count):
                    w[V1 + i] += w[LAM + c] * w[SIMPLEX + 3 * c + i]
            d = dot(w, V1, w, V1)
            if d < least:
                least = d
                for c in range(4):
                    w[KEPT + c] = w[LAM + c]
                for i in range(3):
                    w[NEAREST + i] = w[V1 + i]
    kept = 0
    for c in range(count):
        if w[KEPT + c] > 0.0:
            for i in range(3):
                w[SIMPLEX + 3 * kept + i] = w[SIMPLEX + 3 * c + i]
            for i in range(2):
                at[PAIRS + 2 * kept + i] = at[PAIRS + 2 * c + i]
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
        o = SIMPLEX + 3 * count
        for k in range(2):
            v = climb(numbers, ints, at, w, k, 2.0 * k - 1.0, int(w[NEAR_A + k]))
            w[NEAR_A + k] = v
            at[PAIRS + 2 * count + k] = v
            turned(numbers, w, k, at[SIDE * k + VERTEX] + 3 * v, 1.0, V1 + 3 * k)
        for c in range(3):
            w[o + c] = w[V1 + c] - w[V2 + c]
        known = count > 0 and d2 - dot(w, N, w, o) <= 1e-14 * d2
        for c in range(count):
            same = at[PAIRS + 2 * c] == w[NEAR_A] and at[PAIRS + 2 * c + 1] == w[NEAR_B]
            known = known or same
        if known:
            break
        count = reduce_simplex(at, w, count + 1)
        before = d2
        d2 = dot(w, NEAREST, w, NEAREST)
        if d2 <= w[TOL] * w[TOL]:
            return -1.0
        set_normal(w, NEAREST, 1.0)
        if d2 >= before and count > 1:
            break
    w[KIND] = POINTS
    for k in range(2):  # one or two different vertices of each body
        i = FIRST + 2 * k
        w[i] = w[i + 1] = at[PAIRS + k]
        for c in range(1, count):
            v = at[PAIRS + 2 * c + k]
            if v in (w[i], w[i + 1]):
                continue
            if w[i] != w[i + 1]:
                return -1.0
            w[i + 1] = v
    return math.sqrt(d2)
