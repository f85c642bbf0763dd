"""Ellipses with ellipses and with disks, by extremal points.

The cached normal, turned on by as much as it turned last time (the predictor of (5-3): points
follow from the normal), starts Newton. One look at it rejects pairs that are further apart than
the margin: any direction bounds the distance from below.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.pairs import FoundContacts, Pairs, PosedGeoms
from drystone.kernels.planar.ellipse import (
    everywhere,
    least_radius,
    line_of_centres,
    newton,
    separation,
    support,
)


@kernel
def contact_ellipse_ellipse(pairs: Pairs, geoms: PosedGeoms, contacts: FoundContacts):
    """Contract in ``drystone.geometry.narrow``; A: a disk (one float) or an ellipse (two).

    cache: 0 = set, the normal (2), its turn since the time before as cosine and sine (2).
    stats: iterations, predicted, fallbacks, separated.
    """
    geom, margin, cache, stats = pairs.geom, pairs.margin, pairs.cache, pairs.stats
    x, R, first, numbers = geoms.x, geoms.R, geoms.first, geoms.numbers
    which, point, normal, gap, feature = contacts
    if which.shape[0] < margin.size:
        return -1  # at once, while the cache is untouched
    pair = np.empty(10)
    count = 0
    for k in range(margin.size):
        a, b = geom[k, 0], geom[k, 1]
        _load(numbers, first, x, R, a, b, pair)
        warm = cache[k, 0] != 0.0
        if warm:
            nx = cache[k, 1] * cache[k, 3] - cache[k, 2] * cache[k, 4]
            ny = cache[k, 1] * cache[k, 4] + cache[k, 2] * cache[k, 3]
        else:
            nx, ny = line_of_centres(pair)
        g, _, _ = separation(pair, nx, ny)
        if g > margin[k]:
            stats[3] += 1
        else:
            arrived, mx, my, n = newton(pair, nx, ny)
            stats[0] += n
            g, _, _ = separation(pair, mx, my)
            least = least_radius(pair[2], pair[3]) + least_radius(pair[6], pair[7])
            if arrived and g > -least:
                stats[1] += 1 if warm else 0
                nx, ny = mx, my
            else:
                stats[2] += 1
                _, nx, ny = everywhere(pair, 0.0, 0.0, 0.0, 0.0)
                g, _, _ = separation(pair, nx, ny)
        _remember(cache, k, nx, ny)
        if g > margin[k]:
            continue
        ax, ay = _extremal(pair, 2, -nx, -ny)
        which[count], feature[count], gap[count] = k, 0, g
        normal[count, 0], normal[count, 1] = nx, ny
        point[count, 0], point[count, 1] = x[a, 0] + ax - 0.5 * g * nx, x[a, 1] + ay - 0.5 * g * ny
        count += 1
    return count


@kernel
def _load(numbers, first, x, R, a, b, pair):
    pair[0], pair[1] = x[a, 0] - x[b, 0], x[a, 1] - x[b, 1]
    pair[2] = numbers[first[a]]
    pair[3] = numbers[first[a + 1] - 1]  # a disk has both semi-axes in one float
    pair[4], pair[5] = R[a, 0, 0], R[a, 1, 0]
    pair[6], pair[7] = numbers[first[b]], numbers[first[b] + 1]
    pair[8], pair[9] = R[b, 0, 0], R[b, 1, 0]


@kernel
def _extremal(pair, at, nx, ny):
    """Point with the outer normal n, from the centre of the ellipse that starts at pair[at]."""
    a, b, c, s = pair[at], pair[at + 1], pair[at + 2], pair[at + 3]
    u, v = nx * c + ny * s, ny * c - nx * s
    h, _, _ = support(a, b, u, v)
    px, py = a * a * u / h, b * b * v / h
    return c * px - s * py, s * px + c * py


@kernel
def _remember(cache, k, nx, ny):
    """Keep the normal and its turn; a turn of more than a right angle is a new start."""
    c, s = 1.0, 0.0
    if cache[k, 0] != 0.0:
        c, s = cache[k, 1] * nx + cache[k, 2] * ny, cache[k, 1] * ny - cache[k, 2] * nx
        if c < 0.0:
            c, s = 1.0, 0.0
    cache[k, 0], cache[k, 1], cache[k, 2], cache[k, 3], cache[k, 4] = 1.0, nx, ny, c, s
