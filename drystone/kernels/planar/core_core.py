"""Capsules and polygons with each other: cores with radii.

The witness of last time is proven first, then its neighbours, then all edges are searched (G3);
a pair whose witness shows more than the margin between the bodies costs one proof.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.planar.core import load
from drystone.kernels.planar.core_region import between, region
from drystone.kernels.planar.core_search import search
from drystone.kernels.planar.core_witness import BEYOND, NO, VERTICES, neighbour, prove

NEIGHBOURS = 6


@kernel
def contact_core_core(
    pairs, margin, x, R, first, numbers, first_int, ints, cache,
    which, point, normal, gap, feature, stats,
):  # fmt: skip
    """Contract in ``drystone.geometry.narrow``; capsules (two floats) and polygons (more).

    cache: the witness (code, j, i). stats: hits, neighbours, searches.
    features: the vertex that ends the region, its body, and the edge of the other body.
    """
    if which.shape[0] < 2 * pairs.shape[0]:
        return -1  # at once, while the cache is untouched
    core, pose = np.empty((2, 2), np.int64), np.empty((2, 7))
    ends, names = np.empty((2, 3)), np.empty(2, np.int64)
    count = 0
    for k in range(pairs.shape[0]):
        a, b = pairs[k, 0], pairs[k, 1]
        ra, rb = load(numbers, first, x, R, a, b, core, pose)
        reach = margin[k] + ra + rb
        found, code, j, i = _witness(numbers, core, pose, reach, cache, k, stats)
        cache[k, 0], cache[k, 1], cache[k, 2] = code, j, i
        if found == BEYOND:
            continue
        if code == VERTICES:
            n, nx, ny = between(numbers, core, pose, j, i, ra, rb, ends, names)
        else:
            w = code - 1
            n, nx, ny = region(numbers, core, pose, w, j, i, ra, rb, margin[k], ends, names)
        for e in range(n):
            which[count], feature[count], gap[count] = k, names[e], ends[e, 2]
            normal[count, 0], normal[count, 1] = nx, ny
            point[count, 0], point[count, 1] = x[a, 0] + ends[e, 0], x[a, 1] + ends[e, 1]
            count += 1
    return count


@kernel
def _witness(numbers, core, pose, reach, cache, k, stats):
    """The cached witness, one next to it, or one searched for: (CONTACT or BEYOND, code, j, i)."""
    old, oj, oi = int(cache[k, 0]), int(cache[k, 1]), int(cache[k, 2])
    if old != 0:
        found, i = prove(numbers, core, pose, old, oj, oi, reach)
        if found != NO:
            stats[0] += 1
            return found, old, oj, i
        for c in range(NEIGHBOURS):
            code, j, i = neighbour(core, old, oj, oi, c)
            if code == 0:
                break
            found, i = prove(numbers, core, pose, code, j, i, reach)
            if found != NO:
                stats[1] += 1
                return found, code, j, i
    stats[2] += 1
    return search(numbers, core, pose, reach)
