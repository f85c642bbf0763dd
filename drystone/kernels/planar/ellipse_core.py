"""Ellipses with capsules and polygons: faces, then vertices, the cached feature first.

In the axes of the ellipse, with the separation g(n) and its slope g' = t.(p_a - p_b) as in
``ellipse``: g' jumps down by the length L_j of an edge at its normal m_j, and between two such
normals the support of the core is one vertex. With s_j = g' just before m_j, a local maximum is
    on face j    if 0 <= s_j <= L_j,
    on vertex j  if the maximum for that vertex alone lies between m_(j-1) and m_j.
It is the only one while g > -(least radius of curvature), see ``ellipse``.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.pairs import FoundContacts, Pairs, PosedGeoms
from drystone.kernels.planar.ellipse_features import search, walk


@kernel
def contact_ellipse_core(pairs: Pairs, geoms: PosedGeoms, contacts: FoundContacts):
    """Contract in ``drystone.geometry.narrow``; B: a capsule (two floats) or a polygon (more).

    cache: 0 = face j as j + 1, vertex j as -(j + 1); the normal in world axes (2); its turn since
    the time before (2). stats: hits, neighbours, searches, iterations, predicted, fallbacks,
    separated.
    """
    geom, margin, cache, stats = pairs.geom, pairs.margin, pairs.cache, pairs.stats
    x, R, first, numbers = geoms.x, geoms.R, geoms.first, geoms.numbers
    which, point, normal, gap, feature = contacts
    if which.shape[0] < margin.size:
        return -1  # at once, while the cache is untouched
    frame, guess, best, pair = np.empty(10), np.empty(3), np.empty(3), np.zeros(10)
    pair[4], pair[8] = 1.0, 1.0
    count = 0
    for k in range(margin.size):
        a, b = geom[k, 0], geom[k, 1]
        start, nv, rb = first[b], (first[b + 1] - first[b]) // 2, 0.0
        if nv == 1:
            nv, rb = 2, numbers[start + 1]
        _load(numbers, first, x, R, a, b, frame)
        pair[2], pair[3] = frame[0], frame[1]
        _predict(cache, k, frame, guess)
        reach = margin[k] + rb
        old, found = int(cache[k, 0]), 0
        if old != 0:
            found = walk(numbers, start, nv, frame, old, guess, reach, pair, best, stats)
            if found != 0:
                stats[0 if found == old else 1] += 1
        if found == 0:
            stats[2] += 1
            found = search(numbers, start, nv, frame, guess, reach, pair, best, stats)
        g, nx, ny = best[0], best[1], best[2]
        c, s = frame[8], frame[9]
        _remember(cache, k, found, c * nx - s * ny, s * nx + c * ny)
        if g > reach:
            stats[6] += 1
            continue
        h = np.sqrt(frame[0] * frame[0] * nx * nx + frame[1] * frame[1] * ny * ny)
        half = 0.5 * (g - rb)
        px, py = -(frame[0] * frame[0] / h + half) * nx, -(frame[1] * frame[1] / h + half) * ny
        which[count], feature[count], gap[count] = k, 0, g - rb
        normal[count, 0], normal[count, 1] = c * nx - s * ny, s * nx + c * ny
        point[count, 0], point[count, 1] = x[a, 0] + c * px - s * py, x[a, 1] + s * px + c * py
        count += 1
    return count


@kernel
def _load(numbers, first, x, R, a, b, frame):
    """frame (10,): semi-axes of A; B's axes (4, by rows) and origin (2) in those of A; A's own
    first axis (2)."""
    c, s = R[a, 0, 0], R[a, 1, 0]
    dx, dy = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1]
    frame[0], frame[1] = numbers[first[a]], numbers[first[a] + 1]
    for i in range(2):
        frame[2 + i] = c * R[b, 0, i] + s * R[b, 1, i]
        frame[4 + i] = c * R[b, 1, i] - s * R[b, 0, i]
    frame[6], frame[7] = c * dx + s * dy, c * dy - s * dx
    frame[8], frame[9] = c, s


@kernel
def _predict(cache, k, frame, guess):
    """guess (3,): the cached normal turned on, in the axes of A; whether there is one."""
    x = cache[k, 1] * cache[k, 3] - cache[k, 2] * cache[k, 4]
    y = cache[k, 1] * cache[k, 4] + cache[k, 2] * cache[k, 3]
    guess[0], guess[1] = frame[8] * x + frame[9] * y, frame[8] * y - frame[9] * x
    guess[2] = 1.0 if cache[k, 0] != 0.0 else 0.0


@kernel
def _remember(cache, k, found, nx, ny):
    """Keep feature, normal and its turn; a turn of more than a right angle is a new start."""
    c, s = 1.0, 0.0
    if cache[k, 0] != 0.0:
        c, s = cache[k, 1] * nx + cache[k, 2] * ny, cache[k, 1] * ny - cache[k, 2] * nx
        if c < 0.0:
            c, s = 1.0, 0.0
    cache[k, 0], cache[k, 1], cache[k, 2], cache[k, 3], cache[k, 4] = found, nx, ny, c, s
