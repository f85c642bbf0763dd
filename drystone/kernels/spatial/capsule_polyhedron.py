"""Capsules with convex polyhedra: the nearest points, and both ends of a line of contact.

The exact contact comes first. Beside it stand, where they are within the margin: the end balls
with nearly the same normal, and the places where the axis leaves the prism over the face that
looks along the normal. Each is a true contact of a ball of the capsule, so a capsule that lies on
a face has two points, whether the face or the capsule is the longer one.
Features: 1, 2 ends z = -h, h; 16 + edge; 16 + number of edges + vertex.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.pairs import FoundContacts, Pairs, PosedGeoms
from drystone.kernels.spatial.capsule_capsule import on_capsule
from drystone.kernels.spatial.capsule_segment import (
    EDGE,
    end_distances,
    face_separation,
    least_overlap,
    nearest_apart,
    overlaps,
)
from drystone.kernels.spatial.smooth_write import local, put, turned

ALIKE = 0.9  # cosine between normals of contacts of one line
CLOSE = 1e-6  # places on the axis nearer than this share of its length are one contact


@kernel
def _like_face(numbers, o, ints, q, best):
    """The face whose normal is nearest to the contact's; -1 if none is near."""
    found, top = -1, ALIKE
    for f in range(ints[q + 1]):
        j = o + 3 * ints[q] + 4 * f
        c = numbers[j] * best[2] + numbers[j + 1] * best[3] + numbers[j + 2] * best[4]
        if c > top:
            found, top = f, c
    return found


@kernel
def _clip(numbers, o, ints, q, f, t, d, h):
    """Part [low, high] of the axis over face f, and the edges that end it (-1: its own end)."""
    nv, nf, ne = ints[q], ints[q + 1], ints[q + 2]
    k = o + 3 * nv + 4 * f
    n0, n1, n2 = numbers[k], numbers[k + 1], numbers[k + 2]
    low, high, from_edge, to_edge = -h, h, -1, -1
    for e in range(ne):
        m = q + 4 + nf + 2 * ne + 4 * e
        if ints[m + 2] != f and ints[m + 3] != f:
            continue
        side = 1.0 if ints[m + 2] == f else -1.0
        i, j = o + 3 * ints[m], o + 3 * ints[m + 1]
        r0 = side * (numbers[j] - numbers[i])
        r1 = side * (numbers[j + 1] - numbers[i + 1])
        r2 = side * (numbers[j + 2] - numbers[i + 2])
        c0, c1, c2 = r1 * n2 - r2 * n1, r2 * n0 - r0 * n2, r0 * n1 - r1 * n0  # out of the face
        slope = c0 * d[0] + c1 * d[1] + c2 * d[2]
        s = c0 * (t[0] - numbers[i]) + c1 * (t[1] - numbers[i + 1]) + c2 * (t[2] - numbers[i + 2])
        if slope > 0.0 and -s < high * slope:
            high, to_edge = -s / slope, e
        elif slope < 0.0 and -s < low * slope:
            low, from_edge = -s / slope, e
        elif slope == 0.0 and s > 0.0:
            return 1.0, -1.0, -1, -1
    return low, high, from_edge, to_edge


@kernel
def _more(numbers, o, ints, q, t, d, h, far, ends, best, rows):
    """Fill rows (5, 6) with the contact `best` and those that go with it; -> their count."""
    for j in range(6):
        rows[0, j] = best[j]
    c = 1
    for f in range(2):
        alike = ends[f, 1] * best[2] + ends[f, 2] * best[3] + ends[f, 3] * best[4]
        if f + 1.0 == best[5] or ends[f, 0] > far or alike <= ALIKE:
            continue
        rows[c, 0], rows[c, 5] = (2 * f - 1) * h, f + 1.0
        for j in range(4):
            rows[c, 1 + j] = ends[f, j]
        c += 1
    face = _like_face(numbers, o, ints, q, best)
    if face < 0:
        return c
    low, high, from_edge, to_edge = _clip(numbers, o, ints, q, face, t, d, h)
    k = o + 3 * ints[q] + 4 * face
    for end in range(2):
        p, e = (low, from_edge) if end == 0 else (high, to_edge)
        if low > high or e < 0 or (end == 1 and high - low <= CLOSE * h):
            continue
        s = -numbers[k + 3]
        for j in range(3):
            s += numbers[k + j] * (t[j] + p * d[j])
        near = False
        for j in range(c):
            near = near or abs(rows[j, 0] - p) <= CLOSE * h or rows[j, 5] == EDGE + e
        if s <= far and not near:
            rows[c, 0], rows[c, 1], rows[c, 5] = p, s, EDGE + e
            for j in range(3):
                rows[c, 2 + j] = numbers[k + j]
            c += 1
    return c


@kernel
def contact_capsule_polyhedron(pairs: Pairs, geoms: PosedGeoms, contacts: FoundContacts):
    """Up to five contacts. Cache: 0 the face farthest off, plus one. Counters: 0 culled, 1 deep."""
    geom, margin, cache, stats = pairs.geom, pairs.margin, pairs.cache, pairs.stats
    x, R, first, numbers, first_int, ints = (
        geoms.x,
        geoms.R,
        geoms.first,
        geoms.numbers,
        geoms.first_int,
        geoms.ints,
    )
    t, d, best, rows = np.empty(3), np.empty(3), np.empty(6), np.empty((5, 6))
    ends = np.empty((2, 4))
    k = np.int64(0)
    for i in range(margin.size):
        a, b = geom[i, 0], geom[i, 1]
        h, r = numbers[first[a]], numbers[first[a] + 1]
        o, q, far = first[b], first_int[b], r + margin[i]
        t[0], t[1], t[2] = local(x[b], R[b], x[a])
        for j in range(3):
            d[j] = R[b, 0, j] * R[a, 0, 2] + R[b, 1, j] * R[a, 1, 2] + R[b, 2, j] * R[a, 2, 2]
        face = face_separation(
            numbers, o, ints, q, t, d, h, far, max(int(cache[i, 0]) - 1, 0), best
        )
        if face < 0:
            stats[0] += 1
            continue
        cache[i, 0] = face + 1.0
        end_distances(numbers, o, ints, q, t, d, h, ends)
        if best[1] <= 0.0 and overlaps(numbers, o, ints, q, t, d, h):
            stats[1] += 1
            least_overlap(numbers, o, ints, q, t, d, h, best)
        else:
            nearest_apart(numbers, o, ints, q, t, d, h, ends, best)
        if best[1] > far:
            continue
        count = _more(numbers, o, ints, q, t, d, h, far, ends, best, rows)
        if k + count > contacts.gap.size:
            return -1
        for j in range(count):
            g, p = rows[j, 1] - r, rows[j, 0]
            n = turned(R[b], rows[j, 2], rows[j, 3], rows[j, 4])
            k = put(contacts, k, i, on_capsule(x[a], R[a], p, r, n), n, g, int(rows[j, 5]))
    return k
