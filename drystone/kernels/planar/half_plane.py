"""Disks, ellipses, capsules and polygons on a half-plane: closed forms.

The half-plane is B: the points below the line through x[b] with the normal n = second column of
R[b]. Every end or vertex within the margin is a contact of its own.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.pairs import FoundContacts, Pairs, PosedGeoms
from drystone.kernels.planar.cores import wrap


@kernel
def contact_disk_half_plane(pairs: Pairs, geoms: PosedGeoms, contacts: FoundContacts):
    """gap = n.(x_A - x_B) - r."""
    geom, margin = pairs.geom, pairs.margin
    x, R, first, numbers = geoms.x, geoms.R, geoms.first, geoms.numbers
    which, point, normal, gap, feature = contacts
    count = 0
    for k in range(margin.size):
        a, b = geom[k, 0], geom[k, 1]
        r = numbers[first[a]]
        nx, ny = R[b, 0, 1], R[b, 1, 1]
        d = nx * (x[a, 0] - x[b, 0]) + ny * (x[a, 1] - x[b, 1])
        if d - r > margin[k]:
            continue
        if count == which.shape[0]:
            return -1
        middle = 0.5 * (d + r)  # from the centre of A to halfway between its lowest point and B
        which[count], feature[count], gap[count] = k, 0, d - r
        normal[count, 0], normal[count, 1] = nx, ny
        point[count, 0], point[count, 1] = x[a, 0] - middle * nx, x[a, 1] - middle * ny
        count += 1
    return count


@kernel
def contact_ellipse_half_plane(pairs: Pairs, geoms: PosedGeoms, contacts: FoundContacts):
    """The extremal point is c - Q n / sqrt(n.Q n)."""
    geom, margin = pairs.geom, pairs.margin
    x, R, first, numbers = geoms.x, geoms.R, geoms.first, geoms.numbers
    which, point, normal, gap, feature = contacts
    count = 0
    for k in range(margin.size):
        a, b = geom[k, 0], geom[k, 1]
        nx, ny = R[b, 0, 1], R[b, 1, 1]
        d = nx * (x[a, 0] - x[b, 0]) + ny * (x[a, 1] - x[b, 1])
        a1, a2 = numbers[first[a]], numbers[first[a] + 1]
        u = nx * R[a, 0, 0] + ny * R[a, 1, 0]
        v = nx * R[a, 0, 1] + ny * R[a, 1, 1]
        h = np.sqrt(a1 * a1 * u * u + a2 * a2 * v * v)
        if d - h > margin[k]:
            continue
        if count == which.shape[0]:
            return -1
        px, py = a1 * a1 * u / h, a2 * a2 * v / h  # in the axes of A, from p_a to the centre
        half = 0.5 * (d - h)
        which[count], feature[count], gap[count] = k, 0, d - h
        normal[count, 0], normal[count, 1] = nx, ny
        point[count, 0] = x[a, 0] - R[a, 0, 0] * px - R[a, 0, 1] * py - half * nx
        point[count, 1] = x[a, 1] - R[a, 1, 0] * px - R[a, 1, 1] * py - half * ny
        count += 1
    return count


@kernel
def contact_capsule_half_plane(pairs: Pairs, geoms: PosedGeoms, contacts: FoundContacts):
    """Features: 0 and 1, the ends at -h and h."""
    geom, margin = pairs.geom, pairs.margin
    x, R, first, numbers = geoms.x, geoms.R, geoms.first, geoms.numbers
    which, point, normal, gap, feature = contacts
    count = 0
    for k in range(margin.size):
        a, b = geom[k, 0], geom[k, 1]
        nx, ny = R[b, 0, 1], R[b, 1, 1]
        r = numbers[first[a] + 1]
        for end in range(2):
            s = numbers[first[a]] * (2 * end - 1)
            cx, cy = x[a, 0] + R[a, 0, 0] * s, x[a, 1] + R[a, 1, 0] * s
            d = nx * (cx - x[b, 0]) + ny * (cy - x[b, 1])
            if d - r > margin[k]:
                continue
            if count == which.shape[0]:
                return -1
            middle = 0.5 * (d + r)
            which[count], feature[count], gap[count] = k, end, d - r
            normal[count, 0], normal[count, 1] = nx, ny
            point[count, 0], point[count, 1] = cx - middle * nx, cy - middle * ny
            count += 1
    return count


@kernel
def contact_polygon_half_plane(pairs: Pairs, geoms: PosedGeoms, contacts: FoundContacts):
    """Features: vertex numbers, ascending.

    The lowest vertex is climbed to from the cached one (column 0: its number + 1), and the others
    within the margin are its neighbours. stats: hits, climbs.
    """
    geom, margin, cache, stats = pairs.geom, pairs.margin, pairs.cache, pairs.stats
    x, R, first, numbers = geoms.x, geoms.R, geoms.first, geoms.numbers
    which, point, normal, gap, feature = contacts
    count = 0
    for k in range(margin.size):
        a, b = geom[k, 0], geom[k, 1]
        nv = (first[a + 1] - first[a]) // 2
        nx, ny = R[b, 0, 1], R[b, 1, 1]
        # height of a vertex: h0 + u x + v y, with the normal in the axes of A
        h0 = nx * (x[a, 0] - x[b, 0]) + ny * (x[a, 1] - x[b, 1])
        u = nx * R[a, 0, 0] + ny * R[a, 1, 0]
        v = nx * R[a, 0, 1] + ny * R[a, 1, 1]
        start = max(int(cache[k, 0]) - 1, 0)
        low = _lowest(numbers, first[a], nv, u, v, start)
        stats[0 if cache[k, 0] == low + 1 else 1] += 1
        cache[k, 0] = low + 1
        if h0 + _height(numbers, first[a], low, u, v) > margin[k]:
            continue
        i, n = _row_below(numbers, first[a], nv, u, v, low, margin[k] - h0)
        if count + n > which.shape[0]:
            return -1
        wrapped = max(i + n - nv, 0)  # of them come before vertex i: in ascending order
        for c in range(n):
            j = c if c < wrapped else i + c - wrapped
            vx, vy = numbers[first[a] + 2 * j], numbers[first[a] + 2 * j + 1]
            d = h0 + u * vx + v * vy
            which[count], feature[count], gap[count] = k, j, d
            normal[count, 0], normal[count, 1] = nx, ny
            point[count, 0] = x[a, 0] + R[a, 0, 0] * vx + R[a, 0, 1] * vy - 0.5 * d * nx
            point[count, 1] = x[a, 1] + R[a, 1, 0] * vx + R[a, 1, 1] * vy - 0.5 * d * ny
            count += 1
    return count


@kernel
def _height(numbers, start, i, u, v):
    return u * numbers[start + 2 * i] + v * numbers[start + 2 * i + 1]


@kernel
def _lowest(numbers, start, nv, u, v, i):
    """Vertex that no neighbour is lower than: the lowest, because the polygon is convex."""
    h = _height(numbers, start, i, u, v)
    for step in (1, nv - 1):
        while True:
            j = wrap(i + step, nv)
            lower = _height(numbers, start, j, u, v)
            if not lower < h:
                break
            i, h = j, lower
    return i


@kernel
def _row_below(numbers, start, nv, u, v, low, height):
    """(first, number) of the run of vertices about `low` that are not above `height`."""
    n, i = 1, low
    while n < nv and _height(numbers, start, wrap(i + nv - 1, nv), u, v) <= height:
        i = wrap(i + nv - 1, nv)
        n += 1
    j = low
    while n < nv and _height(numbers, start, wrap(j + 1, nv), u, v) <= height:
        j = wrap(j + 1, nv)
        n += 1
    return i, n
