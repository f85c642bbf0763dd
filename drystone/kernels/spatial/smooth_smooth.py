"""Ellipsoids, superquadrics and spheres with each other: extremal points, cached and predicted.

Cache of a pair: 0 how much is known (0 nothing, 1 points, 2 points and rates), 1-3 the point of
A, 4-6 that of B, 7-12 their changes in the last step, all in world axes. The next guess is
p + p' of (5-3), with the last step's difference as rate. Counters: 0 Newton iterations, 1 solves
that began with a prediction, 2 fallbacks, 3 solves, 4 pairs that one separating plane settled.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.spatial.smooth_extremal import extremal_points
from drystone.kernels.spatial.smooth_surface import gauge, read_surface
from drystone.kernels.spatial.smooth_widest import CUTS, separation, widest
from drystone.kernels.spatial.smooth_write import local, put, turned


@kernel
def _relative(xa, Ra, xb, Rb, Q, t):
    """Pose of B in A's frame: Q = R_A' R_B, t = R_A' (x_B - x_A)."""
    t[0], t[1], t[2] = local(xa, Ra, xb)
    for i in range(3):
        for j in range(3):
            Q[i, j] = Ra[0, i] * Rb[0, j] + Ra[1, i] * Rb[1, j] + Ra[2, i] * Rb[2, j]


@kernel
def _centre_line(sa, sb, Q, t, a, b):
    """First guess: where the line of the centres leaves A and B (the gauge cuts it exactly)."""
    d0, d1, d2 = t[0], t[1], t[2]
    if d0 == 0.0 and d1 == 0.0 and d2 == 0.0:
        d2 = -1.0
    phi = gauge(sa, d0, d1, d2)
    u = Q[0, 0] * d0 + Q[1, 0] * d1 + Q[2, 0] * d2
    v = Q[0, 1] * d0 + Q[1, 1] * d1 + Q[2, 1] * d2
    w = Q[0, 2] * d0 + Q[1, 2] * d1 + Q[2, 2] * d2
    psi = gauge(sb, u, v, w)
    a[0], a[1], a[2] = d0 / phi, d1 / phi, d2 / phi
    b[0], b[1], b[2] = t[0] - d0 / psi, t[1] - d1 / psi, t[2] - d2 / psi


@kernel
def _guess(row, xa, Ra, sa, sb, Q, t, a, b):
    """Points to start from, in A's frame; -> 1 if predicted from rates."""
    if row[0] == 0.0:
        _centre_line(sa, sb, Q, t, a, b)
        return 0
    for p in range(2):
        d0 = row[1 + 3 * p] + row[7 + 3 * p] - xa[0]
        d1 = row[2 + 3 * p] + row[8 + 3 * p] - xa[1]
        d2 = row[3 + 3 * p] + row[9 + 3 * p] - xa[2]
        q = a if p == 0 else b
        for k in range(3):
            q[k] = Ra[0, k] * d0 + Ra[1, k] * d1 + Ra[2, k] * d2
    return 1 if row[0] == 2.0 else 0


@kernel
def _beyond(sa, sb, Q, t, a, b, far, n, p, q):
    """Whether the plane normal to a - b proves a gap above `far`, without any iteration."""
    d = 0.0
    for k in range(3):
        n[k] = a[k] - b[k]
        d += n[k] * n[k]
    d = np.sqrt(d)
    if d <= far:
        return False
    for k in range(3):
        n[k] /= d
    return separation(sa, sb, Q, t, n, p, q) > far


@kernel
def _remember(row, xa, Ra, a, b, known):
    """Store world points and their change since the last step in the pair's cache."""
    for p in range(2):
        q = a if p == 0 else b
        for k in range(3):
            new = xa[k] + Ra[k, 0] * q[0] + Ra[k, 1] * q[1] + Ra[k, 2] * q[2]
            row[7 + 3 * p + k] = new - row[1 + 3 * p + k] if known > 0.0 else 0.0
            row[1 + 3 * p + k] = new
    row[0] = 2.0 if known > 0.0 else 1.0


@kernel
def _settle(sa, sb, Q, t, a, b, n, e, vectors, hessians, system, polygons, stats):
    """Extremal points, the unit normal n (3,) from B to A, and the gap."""
    steps = extremal_points(sa, sb, Q, t, a, b, vectors, hessians, system)
    stats[3] += 1
    if steps < 0:
        stats[2] += 1
        s = widest(sa, sb, Q, t, n, a, b, e, polygons[0], polygons[1])
        for k in range(3):
            e[0, k], e[1, k] = a[k], b[k]
        steps = extremal_points(sa, sb, Q, t, e[0], e[1], vectors, hessians, system)
        g = 0.0
        for k in range(3):
            g += n[k] * (e[0, k] - e[1, k])
        if steps < 0 or abs(g - s) > 1e-9 * (abs(s) + sa[0] + sb[0]):
            return s  # the cutting planes' own answer
        for k in range(3):
            a[k], b[k] = e[0, k], e[1, k]
    stats[0] += steps
    gF, gG, ff, gg, norm, g = vectors[0], vectors[1], 0.0, 0.0, 0.0, 0.0
    for k in range(3):
        ff += gF[k] * gF[k]
        gg += gG[k] * gG[k]
    for k in range(3):
        n[k] = gG[k] / np.sqrt(gg) - gF[k] / np.sqrt(ff)  # the mean: the same from both sides
        norm += n[k] * n[k]
    for k in range(3):
        n[k] /= np.sqrt(norm)
        g += n[k] * (a[k] - b[k])
    return g


@kernel
def contact_smooth_smooth(
    pairs, margin, x, R, first, numbers, first_int, ints, cache,
    which, point, normal, gap, feature, stats,
):  # fmt: skip
    """One contact per pair, halfway between the extremal points."""
    sa, sb, Q, t, n = np.empty(5), np.empty(5), np.empty((3, 3)), np.empty(3), np.empty(3)
    a, b, e, vectors = np.empty(3), np.empty(3), np.empty((4, 3)), np.empty((4, 3))
    hessians, system, polygons = np.empty((3, 3, 3)), np.empty((5, 6)), np.empty((2, CUTS + 8, 2))
    k = 0
    for i in range(pairs.shape[0]):
        ga, gb = pairs[i, 0], pairs[i, 1]
        read_surface(first, numbers, ga, sa)
        read_surface(first, numbers, gb, sb)
        _relative(x[ga], R[ga], x[gb], R[gb], Q, t)
        known = cache[i, 0]
        predicted = _guess(cache[i], x[ga], R[ga], sa, sb, Q, t, a, b)
        if _beyond(sa, sb, Q, t, a, b, margin[i], n, e[0], e[1]):
            stats[4] += 1
            _remember(cache[i], x[ga], R[ga], a, b, 0.0)
            continue
        if k == which.size:
            return -1
        stats[1] += predicted
        g = _settle(sa, sb, Q, t, a, b, n, e, vectors, hessians, system, polygons, stats)
        _remember(cache[i], x[ga], R[ga], a, b, known)
        if g > margin[i]:
            continue
        nx, ny, nz = turned(R[ga], n[0], n[1], n[2])
        px, py, pz = turned(R[ga], *_middle(a, b, n, g))
        px, py, pz = x[ga, 0] + px, x[ga, 1] + py, x[ga, 2] + pz
        k = put(k, i, px, py, pz, nx, ny, nz, g, 0, which, point, normal, gap, feature)
    return k


@kernel
def _middle(a, b, n, g):
    """Half a gap from halfway between a and b, on A's side (where ``put`` expects it)."""
    return (
        0.5 * (a[0] + b[0] + g * n[0]),
        0.5 * (a[1] + b[1] + g * n[1]),
        0.5 * (a[2] + b[2] + g * n[2]),
    )
