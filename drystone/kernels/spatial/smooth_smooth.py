"""Ellipsoids and superquadrics with each other: extremal points, cached and predicted.

Cache of a pair: 0 how much is known (0 nothing, 1 points, 2 points and rates), 1-3 the point of
A, 4-6 that of B, 7-12 their changes in the last step, all in world axes. The next guess is
p + p' of (5-3), with the last step's difference as rate. Counters: 0 Newton iterations, 1 solves
that began with a prediction, 2 fallbacks, 3 solves, 4 pairs that one separating plane settled.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.pairs import FoundContacts, Pairs, PosedGeoms
from drystone.kernels.spatial.smooth_extremal import extremal_points
from drystone.kernels.spatial.smooth_surface import gauge, read_surface
from drystone.kernels.spatial.smooth_widest import CUTS, separation, widest
from drystone.kernels.spatial.smooth_write import put

TRUST = 1e-9  # relative: a polished fallback must keep the separation that the planes found


@kernel
def _guess(row, S, C, R, P):
    """Points to start from: predicted, or where the line of the centres leaves both bodies.

    The gauge cuts that line exactly, so no bisection is needed.
    """
    for o in range(2):
        d0, d1, d2 = C[1 - o, 0] - C[o, 0], C[1 - o, 1] - C[o, 1], C[1 - o, 2] - C[o, 2]
        if d0 == 0.0 and d1 == 0.0 and d2 == 0.0:
            d2 = 2.0 * o - 1.0
        phi = gauge(
            S[o],
            R[o, 0, 0] * d0 + R[o, 1, 0] * d1 + R[o, 2, 0] * d2,
            R[o, 0, 1] * d0 + R[o, 1, 1] * d1 + R[o, 2, 1] * d2,
            R[o, 0, 2] * d0 + R[o, 1, 2] * d1 + R[o, 2, 2] * d2,
        )
        P[o, 0], P[o, 1], P[o, 2] = C[o, 0] + d0 / phi, C[o, 1] + d1 / phi, C[o, 2] + d2 / phi
        if row[0] > 0.0:
            for k in range(3):
                P[o, k] = row[1 + 3 * o + k] + row[7 + 3 * o + k]


@kernel
def _beyond(S, C, R, P, far, n, other):
    """Whether the plane normal to a - b proves a gap above `far`, without any iteration."""
    d = 0.0
    for k in range(3):
        n[k] = P[0, k] - P[1, k]
        d += n[k] * n[k]
    d = np.sqrt(d)
    if d <= far:
        return False
    for k in range(3):
        n[k] /= d
    return separation(S, C, R, n, other) > far


@kernel
def _remember(row, P, rates):
    """Store the points and, where the last ones were extremal too, their change."""
    for o in range(2):
        for k in range(3):
            row[7 + 3 * o + k] = P[o, k] - row[1 + 3 * o + k] if rates else 0.0
            row[1 + 3 * o + k] = P[o, k]
    row[0] = 2.0 if rates else 1.0


@kernel
def _normal(P, G, n):
    """Unit normal n (3,) from B to A, the mean of both surfaces' (so it does not matter which
    body is called A); -> the gap along it."""
    ff, gg, norm, gap = 0.0, 0.0, 0.0, 0.0
    for k in range(3):
        ff += G[0, k] * G[0, k]
        gg += G[1, k] * G[1, k]
    for k in range(3):
        n[k] = G[1, k] / np.sqrt(gg) - G[0, k] / np.sqrt(ff)
        norm += n[k] * n[k]
    for k in range(3):
        n[k] /= np.sqrt(norm)
        gap += n[k] * (P[0, k] - P[1, k])
    return gap


@kernel
def contact_smooth_smooth(pairs: Pairs, geoms: PosedGeoms, contacts: FoundContacts):
    """One contact per pair, halfway between the extremal points."""
    geom, margin, cache, stats = pairs.geom, pairs.margin, pairs.cache, pairs.stats
    x, R, first, numbers = geoms.x, geoms.R, geoms.first, geoms.numbers
    S, C, P, G = np.empty((2, 5)), np.empty((2, 3)), np.empty((2, 3)), np.empty((2, 3))
    T, H, e, M = np.empty((2, 3, 3)), np.empty((3, 3, 3)), np.empty((4, 3)), np.empty((5, 6))
    n, polygons, k = np.empty(3), np.empty((2, CUTS + 8, 2)), np.int64(0)
    for i in range(margin.size):
        for o in range(2):
            read_surface(first, numbers, geom[i, o], S[o])
            for j in range(3):
                C[o, j] = x[geom[i, o], j]
                for m in range(3):
                    T[o, j, m] = R[geom[i, o], j, m]
        row = cache[i]
        known = row[0]
        _guess(row, S, C, T, P)
        if _beyond(S, C, T, P, margin[i], n, G):
            stats[4] += 1
            known = 0.0
            _remember(row, P, known > 0.0)
            continue
        if k == contacts.gap.size:
            return -1
        fallen, s, g = False, 0.0, 0.0
        for _ in range(2):  # again, to polish what the fallback found
            steps = extremal_points(S, C, T, P, G, H[:2], n, H[2], M)
            if steps >= 0:
                g = _normal(P, G, n)
                if not fallen or abs(g - s) <= TRUST * (abs(s) + S[0, 0] + S[1, 0]):
                    break
            s = widest(S, C, T, P, n, e, polygons)
            g = s
            if fallen:
                break
            fallen = True
        stats[0] += max(steps, 0)
        stats[1] += 1 if known == 2.0 else 0
        stats[2] += 1 if fallen else 0
        stats[3] += 1
        _remember(row, P, known > 0.0)
        if g <= margin[i]:
            p = (
                0.5 * (P[0, 0] + P[1, 0] + g * n[0]),
                0.5 * (P[0, 1] + P[1, 1] + g * n[1]),
                0.5 * (P[0, 2] + P[1, 2] + g * n[2]),
            )
            k = put(contacts, k, i, p, (n[0], n[1], n[2]), g, 0)
    return k
