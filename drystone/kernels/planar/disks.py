"""Disks with disks, capsules and polygons."""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.pairs import FoundContacts, Pairs, PosedGeoms
from drystone.kernels.planar.cores import wrap


@kernel
def contact_disk_disk(pairs: Pairs, geoms: PosedGeoms, contacts: FoundContacts):
    """gap = |x_A - x_B| - r_A - r_B; concentric disks are pushed apart along y."""
    geom, margin = pairs.geom, pairs.margin
    x, first, numbers = geoms.x, geoms.first, geoms.numbers
    which, point, normal, gap, feature = contacts
    count = 0
    for k in range(margin.size):
        a, b = geom[k, 0], geom[k, 1]
        ra, rb = numbers[first[a]], numbers[first[b]]
        dx, dy = x[a, 0] - x[b, 0], x[a, 1] - x[b, 1]
        reach = ra + rb + margin[k]
        square = dx * dx + dy * dy
        if square > reach * reach:
            continue
        if count == which.shape[0]:
            return -1
        d = np.sqrt(square)
        if d > 0.0:
            nx, ny = dx / d, dy / d
        else:
            nx, ny = 0.0, 1.0
        middle = 0.5 * (d + rb - ra)  # from the centre of B
        which[count], feature[count], gap[count] = k, 0, d - ra - rb
        normal[count, 0], normal[count, 1] = nx, ny
        point[count, 0], point[count, 1] = x[b, 0] + middle * nx, x[b, 1] + middle * ny
        count += 1
    return count


# ---- A point against a core.
#
# The core of a capsule is its segment, seen as a polygon of two vertices and two opposite edges;
# a polygon is its own core. Of the edges of a convex polygon the one with the greatest signed
# distance s_j = m_j.(c - v_j) to a point c outside holds the closest point, or ends in it; inside,
# it is the edge of least penetration.


@kernel
def contact_disk_core(pairs: Pairs, geoms: PosedGeoms, contacts: FoundContacts):
    """B: a capsule (two floats) or a polygon (more).

    cache: 0 = the edge of last time + 1. stats: hits, neighbours, searches.
    """
    geom, margin, cache, stats = pairs.geom, pairs.margin, pairs.cache, pairs.stats
    x, R, first, numbers = geoms.x, geoms.R, geoms.first, geoms.numbers
    which, point, normal, gap, feature = contacts
    count = 0
    for k in range(margin.size):
        a, b = geom[k, 0], geom[k, 1]
        ra, start, nv, rb = numbers[first[a]], first[b], (first[b + 1] - first[b]) // 2, 0.0
        if nv == 1:
            nv, rb = 2, numbers[start + 1]
        dx, dy = x[a, 0] - x[b, 0], x[a, 1] - x[b, 1]
        cx, cy = R[b, 0, 0] * dx + R[b, 1, 0] * dy, R[b, 0, 1] * dx + R[b, 1, 1] * dy
        reach = ra + rb + margin[k]
        j = int(cache[k, 0]) - 1
        found, s, along, length, mx, my = False, 0.0, 0.0, 0.0, 0.0, 1.0
        if j >= 0:
            for turn in (0, 1, nv - 1):
                e = wrap(j + turn, nv)
                s, along, length, mx, my = _edge(numbers, start, nv, e, cx, cy)
                if s > reach or (
                    s > 0.0 and _closest(numbers, start, nv, e, cx, cy, along, length)
                ):
                    found, j = True, e
                    stats[0 if turn == 0 else 1] += 1
                    break
        if not found:
            stats[2] += 1
            j = _search(numbers, start, nv, cx, cy)
            s, along, length, mx, my = _edge(numbers, start, nv, j, cx, cy)
        cache[k, 0] = j + 1
        if s > reach:
            continue
        d, nx, ny = s, mx, my
        if (s > 0.0 or nv == 2) and (along < 0.0 or along > length):  # an end is closest
            out = along if along < 0.0 else along - length
            d = np.sqrt(s * s + out * out)
            nx, ny = (s * mx - out * my) / d, (s * my + out * mx) / d
        if d > reach:
            continue
        if count == which.shape[0]:
            return -1
        wx, wy = R[b, 0, 0] * nx + R[b, 0, 1] * ny, R[b, 1, 0] * nx + R[b, 1, 1] * ny
        middle = 0.5 * (d + ra - rb)  # from the centre of A
        which[count], feature[count], gap[count] = k, 0, d - ra - rb
        normal[count, 0], normal[count, 1] = wx, wy
        point[count, 0], point[count, 1] = x[a, 0] - middle * wx, x[a, 1] - middle * wy
        count += 1
    return count


@kernel
def _edge(numbers, start, nv, j, cx, cy):
    """Of edge j: distance of (cx, cy), its place along the edge, length, and outer normal m.

    The tangent is (-m_y, m_x).
    """
    i = wrap(j + 1, nv)
    if nv == 2:
        px, py = numbers[start] * (2 * j - 1), 0.0
        ex, ey = -2.0 * px, 0.0
    else:
        px, py = numbers[start + 2 * j], numbers[start + 2 * j + 1]
        ex, ey = numbers[start + 2 * i] - px, numbers[start + 2 * i + 1] - py
    length = np.sqrt(ex * ex + ey * ey)
    mx, my = ey / length, -ex / length
    return (
        mx * (cx - px) + my * (cy - py),
        -my * (cx - px) + mx * (cy - py),
        length,
        mx,
        my,
    )


@kernel
def _closest(numbers, start, nv, j, cx, cy, along, length):
    """Whether edge j, or an end of it, is proven closest without a look at all the others."""
    if along < 0.0:
        _, before, whole, _, _ = _edge(numbers, start, nv, wrap(j + nv - 1, nv), cx, cy)
        return before >= whole
    if along > length:
        return _edge(numbers, start, nv, wrap(j + 1, nv), cx, cy)[1] <= 0.0
    return True


@kernel
def _search(numbers, start, nv, cx, cy):
    best, at = -np.inf, 0
    for j in range(nv):
        s = _edge(numbers, start, nv, j, cx, cy)[0]
        if s > best:
            best, at = s, j
    return at
