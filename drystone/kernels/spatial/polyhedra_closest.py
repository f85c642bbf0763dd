"""Nearest features of two polyhedra that are apart: the Gilbert-Johnson-Keerthi iteration.

Called only when the separating axes of faces and edges fall short of the distance, that is when a
vertex is nearest to a vertex or to an edge. A separation is known then, so the origin never lies
inside the simplex and triangles suffice.
"""

import math

from drystone.kernels._jit import kernel
from drystone.kernels.spatial.polyhedra_shape import (
    FIRST,
    FOURTH,
    KIND,
    NB,
    NEAR_A,
    NEAR_B,
    POINTS,
    SECOND,
    THIRD,
    TOL,
    N,
    climb,
    place,
    set_normal,
)

ROUNDS = 100


@kernel
def triangle_point(X, i, j, k, lam):
    """Weights of the point of triangle X[i], X[j], X[k] nearest to the origin (Ericson, 5.1.5)."""
    ax, ay, az = X[i, 0], X[i, 1], X[i, 2]
    bx, by, bz = X[j, 0] - ax, X[j, 1] - ay, X[j, 2] - az
    cx, cy, cz = X[k, 0] - ax, X[k, 1] - ay, X[k, 2] - az
    d1, d2 = -(bx * ax + by * ay + bz * az), -(cx * ax + cy * ay + cz * az)
    bb, bc, cc = (
        bx * bx + by * by + bz * bz,
        bx * cx + by * cy + bz * cz,
        cx * cx + cy * cy + cz * cz,
    )
    d3, d4, d5, d6 = d1 - bb, d2 - bc, d1 - bc, d2 - cc
    lam[i], lam[j], lam[k] = 1.0, 0.0, 0.0
    if d1 <= 0.0 and d2 <= 0.0:
        return
    if d3 >= 0.0 and d4 <= d3:
        lam[i], lam[j] = 0.0, 1.0
        return
    if d6 >= 0.0 and d5 <= d6:
        lam[i], lam[k] = 0.0, 1.0
        return
    vc = d1 * d4 - d3 * d2
    if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        w = d1 / (d1 - d3)
        lam[i], lam[j] = 1.0 - w, w
        return
    vb = d5 * d2 - d1 * d6
    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        w = d2 / (d2 - d6)
        lam[i], lam[k] = 1.0 - w, w
        return
    va = d3 * d6 - d5 * d4
    if va <= 0.0 and d4 >= d3 and d5 >= d6:
        w = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        lam[i], lam[j], lam[k] = 0.0, 1.0 - w, w
        return
    d = 1.0 / (va + vb + vc)
    lam[i], lam[j], lam[k] = va * d, vb * d, vc * d


@kernel
def simplex_point(X, count, lam, best, v):
    """Nearest point v to the origin of the triangles through the newest of `count` points.

    best holds its weights; returns its squared length.
    """
    new = count - 1
    least = math.inf
    for j in range(max(count - 1, 1)):
        for k in range(j + 1, max(count - 1, j + 2)):
            for c in range(4):
                lam[c] = 0.0
            # fewer points: triangles that repeat one
            triangle_point(X, new, min(j, new), min(k, new), lam)
            if count == 2:
                segment_point(X, lam)
            if count == 1:
                lam[0] = 1.0
            x = y = z = 0.0
            for c in range(count):
                x += lam[c] * X[c, 0]
                y += lam[c] * X[c, 1]
                z += lam[c] * X[c, 2]
            d = x * x + y * y + z * z
            if d < least:
                least = d
                v[0], v[1], v[2] = x, y, z
                for c in range(4):
                    best[c] = lam[c]
    return least


@kernel
def segment_point(X, lam):
    """Weights of the point of the segment X[0], X[1] nearest to the origin."""
    up = length = 0.0
    for c in range(3):
        e = X[1, c] - X[0, c]
        up -= e * X[0, c]
        length += e * e
    w = min(max(up / length, 0.0), 1.0) if length > 0.0 else 0.0
    lam[0], lam[1] = 1.0 - w, w


@kernel
def nearest_features(numbers, ints, lay, pose, row, geo, X, pair, w):
    """Vertices that span the nearest points, as a POINTS witness in row; the distance.

    Starts along geo's normal. X (4, 3), pair (4, 2) and w (3, 4) are work arrays. Returns -1 if
    the bodies touch within the tolerance, or a side needs three vertices (a face: not our case).
    """
    lam, best, v = w[0], w[1], w[2]
    count, d2 = 0, math.inf
    v[0], v[1], v[2] = geo[N], geo[N + 1], geo[N + 2]
    va, vb = int(row[NEAR_A]), int(row[NEAR_B])
    for _ in range(ROUNDS):
        set_normal(geo, pose, v[0], v[1], v[2])
        va = climb(numbers, ints, lay, 0, -geo[N], -geo[N + 1], -geo[N + 2], va)
        vb = climb(numbers, ints, lay, 1, geo[NB], geo[NB + 1], geo[NB + 2], vb)
        x, y, z = place(numbers, lay, pose, 0, va)
        p, q, s = place(numbers, lay, pose, 1, vb)
        x, y, z = x - p, y - q, z - s
        known = d2 - (v[0] * x + v[1] * y + v[2] * z) <= 1e-14 * d2 if count > 0 else False
        for c in range(count):
            known = known or (pair[c, 0] == va and pair[c, 1] == vb)
        if known:
            break
        X[count, 0], X[count, 1], X[count, 2] = x, y, z
        pair[count, 0], pair[count, 1] = va, vb
        count += 1
        before = d2
        d2 = simplex_point(X, count, lam, best, v)
        kept = 0
        for c in range(count):
            if best[c] > 0.0:
                for k in range(3):
                    X[kept, k] = X[c, k]
                pair[kept, 0], pair[kept, 1] = pair[c, 0], pair[c, 1]
                kept += 1
        count = kept
        if d2 <= row[TOL] ** 2 or (d2 >= before and count > 1):
            break
    row[NEAR_A], row[NEAR_B] = va, vb
    row[KIND] = POINTS
    row[FIRST] = row[SECOND] = pair[0, 0]
    row[THIRD] = row[FOURTH] = pair[0, 1]
    wide = d2 <= row[TOL] ** 2
    for c in range(1, count):
        wide = gather(row, FIRST, pair[c, 0]) or wide
        wide = gather(row, THIRD, pair[c, 1]) or wide
    return -1.0 if wide else math.sqrt(d2)


@kernel
def gather(row, k, v):
    """Add vertex v to the one or two in row[k], row[k + 1]; whether there was no place."""
    if row[k] == v or row[k + 1] == v:
        return False
    if row[k] != row[k + 1]:
        return True
    row[k + 1] = v
    return False
