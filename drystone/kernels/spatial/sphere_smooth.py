"""Spheres with ellipsoids and superquadrics: the surface point nearest to the centre.

Cache: 0 how much is known (1 the point, 2 its rate too), 1-3 the point of B and 4-6 its change in
the last step, in B's frame. Counters as in ``smooth_smooth``.
"""

import numpy as np

from drystone.kernels._calls import call
from drystone.kernels._jit import kernel
from drystone.kernels.pairs import FoundContacts, Pairs, PosedGeoms
from drystone.kernels.spatial.frames import local, put_ball, turned
from drystone.kernels.spatial.smooth_surface import (
    nearest_point,
    read_surface,
    rolling_ball,
    support,
)


@kernel
def _beyond(s, c, p, far):
    """Whether the plane normal to c - p proves that c is farther than `far` from the body."""
    u, v, w = c[0] - p[0], c[1] - p[1], c[2] - p[2]
    d = np.sqrt(u * u + v * v + w * w)
    if d <= far:
        return False
    q0, q1, q2 = support(s, u, v, w)
    return u * (c[0] - q0) + v * (c[1] - q1) + w * (c[2] - q2) > far * d


@kernel
def contact_sphere_smooth(pairs: Pairs, geoms: PosedGeoms, contacts: FoundContacts):
    """One contact per pair."""
    geom, margin, cache, stats = pairs.geom, pairs.margin, pairs.cache, pairs.stats
    x, R, first, numbers = geoms.x, geoms.R, geoms.first, geoms.numbers
    s, c, p, n = np.empty(5), np.empty(3), np.empty(3), np.empty(3)
    work, H, P = np.empty((5, 3)), np.empty((2, 3, 3)), np.empty((2, 3))
    gap, origin = np.empty(1), np.zeros(3)
    k = np.int64(0)
    for i in range(margin.size):
        a, b = geom[i, 0], geom[i, 1]
        r, far = numbers[first[a]], numbers[first[a]] + margin[i]
        read_surface(first, numbers, b, s)
        c[0], c[1], c[2] = local(x[b], R[b], x[a])
        known = cache[i, 0]
        for j in range(3):
            p[j] = cache[i, 1 + j] + cache[i, 4 + j]
        if _beyond(s, c, p, far):
            stats[4] += 1
            cache[i, 0] = min(known, 1.0)
            for j in range(3):
                cache[i, 4 + j] = 0.0
            continue
        if k == contacts.gap.size:
            return -1
        stats[1] += 1 if known == 2.0 else 0
        g = nearest_point(s, c, p, n, work, H, stats) - r
        if g + r <= -rolling_ball(s):
            call(pairs.calls[0], (geoms, a, b, n, P, gap))
            g = gap[0]
            p[0], p[1], p[2] = local(x[b], R[b], P[1])
            n[0], n[1], n[2] = local(origin, R[b], n)
            stats[2] += 1
        for j in range(3):
            cache[i, 4 + j] = p[j] - cache[i, 1 + j] if known > 0.0 else 0.0
            cache[i, 1 + j] = p[j]
        cache[i, 0] = 2.0 if known > 0.0 else 1.0
        if g > margin[i]:
            continue
        k = put_ball(contacts, k, i, x[a], r, turned(R[b], n[0], n[1], n[2]), g, 0)
    return k
