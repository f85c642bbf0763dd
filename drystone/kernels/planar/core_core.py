"""Capsules and polygons with each other: cores with radii.

The witness of last time is proven first, then its neighbours, then all edges are searched;
a pair whose witness shows more than the margin between the bodies costs one proof.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.pairs import FoundContacts, Pairs, PosedGeoms
from drystone.kernels.planar.core import TwoCores, load, most_vertices
from drystone.kernels.planar.core_region import between, region
from drystone.kernels.planar.core_search import search
from drystone.kernels.planar.core_sides import POINTS, spread
from drystone.kernels.planar.core_witness import BEYOND, EDGE_B, NO, VERTICES, neighbour, prove

NEIGHBOURS = 6
SLACK = 1e-14  # of the bodies' size: differences of heights below it are rounding


@kernel
def contact_core_core(pairs: Pairs, geoms: PosedGeoms, contacts: FoundContacts):
    """Contract in ``drystone.geometry.narrow``; capsules (two floats) and polygons (more).

    cache: the witness (code, j, i). stats: hits, neighbours, searches.
    features: the vertex that ends the region, its body, and the edge of the other body.
    """
    geom, margin, cache, stats = pairs.geom, pairs.margin, pairs.cache, pairs.stats
    x, R, first, numbers = geoms.x, geoms.R, geoms.first, geoms.numbers
    which, point, normal, gap, feature = contacts
    if which.shape[0] < 2 * margin.size:
        return -1  # at once, while the cache is untouched
    V = np.empty((most_vertices(geom, first), 2))
    ends, names = np.empty((POINTS, 3)), np.empty(POINTS, np.int64)
    count, zero = 0, np.int64(0)  # a literal would have `load` compiled for it alone
    for k in range(margin.size):
        a, b = geom[k, 0], geom[k, 1]
        dx, dy = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1]
        na, ra = load(numbers, first[a], first[a + 1], 0.0, 0.0, R[a, 0, 0], R[a, 1, 0], zero, V)
        nb, rb = load(numbers, first[b], first[b + 1], dx, dy, R[b, 0, 0], R[b, 1, 0], na, V)
        slack = SLACK * (abs(V[0, 0]) + abs(V[0, 1]) + abs(V[na, 0]) + abs(V[na, 1]))
        found, code, j, i = _witness(V, na, nb, margin[k] + ra + rb, slack, cache, k, stats)
        cache[k, 0], cache[k, 1], cache[k, 2] = code, j, i
        if found == BEYOND:
            continue
        if code == VERTICES:
            n, nx, ny = between(V, na, nb, j, i, ra, rb, margin[k], ends, names)
        else:
            n, nx, ny = region(V, na, nb, code - 1, j, i, ra, rb, margin[k], ends, names)
        va, vb = (i, j) if code == EDGE_B else (j, i)
        n = spread(TwoCores(V, na, nb, ra, rb), va, vb, nx, ny, margin[k], n, ends, names)
        if count + n > which.shape[0]:
            return -1
        for e in range(n):
            which[count], feature[count], gap[count] = k, names[e], ends[e, 2]
            normal[count, 0], normal[count, 1] = nx, ny
            point[count, 0], point[count, 1] = x[a, 0] + ends[e, 0], x[a, 1] + ends[e, 1]
            count += 1
    return count


@kernel
def _witness(V, na, nb, reach, slack, cache, k, stats):
    """The cached witness, one next to it, or one searched for: (CONTACT or BEYOND, code, j, i)."""
    old, oj, oi = int(cache[k, 0]), int(cache[k, 1]), int(cache[k, 2])
    for c in range(-1, NEIGHBOURS if old != 0 else -1):
        code, j, i = old, oj, oi
        if c >= 0:
            code, j, i = neighbour(na, nb, old, oj, oi, c)
        if code == 0:
            break
        found, i = prove(V, na, nb, code, j, i, reach, slack)
        if found != NO:
            stats[0 if c < 0 else 1] += 1
            return found, code, j, i
    stats[2] += 1
    return search(V, na, nb, reach, slack)
