"""Spheres and capsules with polyhedra, and capsules with each other: points and segments with a
radius.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.pairs import LEAN, FoundContacts, Pairs, PosedGeoms
from drystone.kernels.spatial.frames import local, put, put_ball, turned

# ---- Spheres with convex polyhedra (boxes too): nearest face, edge or vertex of a point, exactly.
#
# Inside, the nearest face plane is the answer. Outside, it is the face of greatest height if the
# foot of the perpendicular lies in it; else the nearest point of the edges of faces that look at
# the point. The last step's feature is tried first: a point in its Voronoi region needs no search.
# Features are numbered 1 + face, then edges, then vertices; 0 means none.


@kernel
def _foot_in_face(numbers, o, ints, q, nv, nf, f, u, v, w):
    """Whether the point's projection to the plane of face f lies in the face."""
    p = o + 3 * nv + 4 * f
    nx, ny, nz = numbers[p], numbers[p + 1], numbers[p + 2]
    start, end = ints[q + 3 + f], ints[q + 4 + f]
    loop = q + 4 + nf
    i = o + 3 * ints[loop + end - 1]
    for m in range(start, end):
        j = o + 3 * ints[loop + m]
        rx = numbers[j] - numbers[i]
        ry = numbers[j + 1] - numbers[i + 1]
        rz = numbers[j + 2] - numbers[i + 2]
        side = (
            (ry * nz - rz * ny) * (u - numbers[i])
            + (rz * nx - rx * nz) * (v - numbers[i + 1])
            + (rx * ny - ry * nx) * (w - numbers[i + 2])
        )
        if side > 0.0:
            return False
        i = j
    return True


@kernel
def _on_edge(numbers, i, j, u, v, w):
    """Nearest point of the edge between vertices at offsets i, j: vector to (u, v, w), place."""
    rx = numbers[j] - numbers[i]
    ry = numbers[j + 1] - numbers[i + 1]
    rz = numbers[j + 2] - numbers[i + 2]
    dx, dy, dz = u - numbers[i], v - numbers[i + 1], w - numbers[i + 2]
    c = (dx * rx + dy * ry + dz * rz) / (rx * rx + ry * ry + rz * rz)
    t = min(max(c, 0.0), 1.0)
    dx, dy, dz = dx - t * rx, dy - t * ry, dz - t * rz
    if t == c:  # once more: rounding of a place on a long edge tilts a short vector
        t = (dx * rx + dy * ry + dz * rz) / (rx * rx + ry * ry + rz * rz)
        dx, dy, dz = dx - t * rx, dy - t * ry, dz - t * rz
    return dx, dy, dz, c


@kernel
def _in_region(numbers, o, ints, q, nv, nf, ne, known, u, v, w):
    """Whether edge or vertex `known` is the nearest feature; the vector to the point."""
    edges = q + 4 + nf + 2 * ne
    if known <= nf + ne:
        e = edges + 4 * (known - nf - 1)
        dx, dy, dz, c = _on_edge(numbers, o + 3 * ints[e], o + 3 * ints[e + 1], u, v, w)
        if c < 0.0 or c > 1.0:
            return False, dx, dy, dz
        for side in range(2):  # beyond the edge as seen from both faces
            p = o + 3 * nv + 4 * ints[e + 2 + side]
            nx, ny, nz = numbers[p], numbers[p + 1], numbers[p + 2]
            i, j = o + 3 * ints[e + side], o + 3 * ints[e + 1 - side]
            rx = numbers[j] - numbers[i]
            ry = numbers[j + 1] - numbers[i + 1]
            rz = numbers[j + 2] - numbers[i + 2]
            out = (ry * nz - rz * ny) * dx + (rz * nx - rx * nz) * dy + (rx * ny - ry * nx) * dz
            if out < 0.0:
                return False, dx, dy, dz
        return True, dx, dy, dz
    k = known - nf - ne - 1
    i = o + 3 * k
    dx, dy, dz = u - numbers[i], v - numbers[i + 1], w - numbers[i + 2]
    stars = edges + 4 * ne
    for m in range(ints[stars + k], ints[stars + k + 1]):
        j = o + 3 * ints[stars + nv + 1 + m]
        rx, ry = numbers[j] - numbers[i], numbers[j + 1] - numbers[i + 1]
        if rx * dx + ry * dy + (numbers[j + 2] - numbers[i + 2]) * dz > 0.0:
            return False, dx, dy, dz
    return True, dx, dy, dz


@kernel
def _nearest_edge(numbers, o, ints, q, nv, nf, ne, u, v, w):
    """Nearest point of the edges next to a face below the point: vector to it, feature.

    Next to a vertex distances differ by less than rounding: the vertex is the answer only if no
    edge leads from it towards the point.
    """
    edges, planes = q + 4 + nf + 2 * ne, o + 3 * nv
    best, bx, by, bz, known, vertex = np.inf, 0.0, 0.0, 1.0, 0, np.int64(-1)
    for again in range(2):
        if again == 1 and vertex < 0:
            break
        for m in range(ne):
            e = edges + 4 * m
            if again == 1 and ints[e] != vertex and ints[e + 1] != vertex:
                continue
            p, r = planes + 4 * ints[e + 2], planes + 4 * ints[e + 3]
            left = numbers[p] * u + numbers[p + 1] * v + numbers[p + 2] * w - numbers[p + 3]
            right = numbers[r] * u + numbers[r + 1] * v + numbers[r + 2] * w - numbers[r + 3]
            if left <= 0.0 and right <= 0.0:
                continue
            dx, dy, dz, c = _on_edge(numbers, o + 3 * ints[e], o + 3 * ints[e + 1], u, v, w)
            square, within = dx * dx + dy * dy + dz * dz, 0.0 < c < 1.0
            if within if again == 1 else square < best:
                best, bx, by, bz = square, dx, dy, dz
                known, vertex = 1 + nf + m, -1
                if not within:
                    vertex = ints[e + (1 if c >= 1.0 else 0)]
                    known = 1 + nf + ne + vertex
    return bx, by, bz, known


@kernel
def nearest_feature(numbers, o, ints, q, u, v, w, far, known):
    """Signed distance of a point in the polyhedron's frame, its gradient, and the feature.

    Distances above `far` come back as inf; `known` is a feature to try first, or 0. o, q: where
    the polyhedron's numbers and ints begin.
    """
    nv, nf, ne = ints[q], ints[q + 1], ints[q + 2]
    planes = o + 3 * nv
    if known > nf:
        holds, dx, dy, dz = _in_region(numbers, o, ints, q, nv, nf, ne, known, u, v, w)
        d = np.sqrt(dx * dx + dy * dy + dz * dz)
        if holds and d > 0.0:
            return d, dx / d, dy / d, dz / d, known
    elif known > 0:
        p = planes + 4 * (known - 1)
        s = numbers[p] * u + numbers[p + 1] * v + numbers[p + 2] * w - numbers[p + 3]
        if s > far:
            return np.inf, 0.0, 0.0, 0.0, known
        if s >= 0.0 and _foot_in_face(numbers, o, ints, q, nv, nf, known - 1, u, v, w):
            return s, numbers[p], numbers[p + 1], numbers[p + 2], known
    best, f = -np.inf, np.int64(0)
    for m in range(nf):
        p = planes + 4 * m
        s = numbers[p] * u + numbers[p + 1] * v + numbers[p + 2] * w - numbers[p + 3]
        if s > far:
            return np.inf, 0.0, 0.0, 0.0, known
        if s > best:
            best, f = s, m
    p = planes + 4 * f
    if best <= 0.0 or _foot_in_face(numbers, o, ints, q, nv, nf, f, u, v, w):
        return best, numbers[p], numbers[p + 1], numbers[p + 2], 1 + f
    dx, dy, dz, known = _nearest_edge(numbers, o, ints, q, nv, nf, ne, u, v, w)
    d = np.sqrt(dx * dx + dy * dy + dz * dz)
    return d, dx / d, dy / d, dz / d, known


@kernel
def contact_sphere_polyhedron(pairs: Pairs, geoms: PosedGeoms, contacts: FoundContacts):
    """One contact. Cache: 0 the nearest feature. Counters: 0 features kept, 1 pairs."""
    geom, margin, cache, stats = pairs.geom, pairs.margin, pairs.cache, pairs.stats
    x, R, _kind, first, numbers, first_int, ints = geoms
    k = np.int64(0)
    for i in range(margin.size):
        a, b = geom[i, 0], geom[i, 1]
        r, known = numbers[first[a]], int(cache[i, 0])
        u, v, w = local(x[b], R[b], x[a])
        far = r + margin[i]
        d, gx, gy, gz, found = nearest_feature(
            numbers, first[b], ints, first_int[b], u, v, w, far, known
        )
        stats[0] += 1 if found == known else 0
        stats[1] += 1
        cache[i, 0] = found
        if d > far:
            continue
        if k == contacts.gap.size:
            return -1
        k = put_ball(contacts, k, i, x[a], r, turned(R[b], gx, gy, gz), d - r, 0)
    return k


# ---- Two capsules: a line of contact has two ends, and each is a contact of its own.
#
# A capsule is a row of balls, so an end ball against the other capsule is a true contact with its
# own gap and normal. Kept are those ends that stand over the other segment (the ends of the
# overlap when the axes are parallel), and the nearest points if none of these is as near: of
# crossing axes, or of an end and an end. Features: 0 crossing axes, 1 and 2 ends z = -h, h of A,
# 3 and 4 of B, 5 an end to an end.

PARALLEL_AXES = 1e-20  # square of the sine below which axes do not cross
# of the smaller capsule: how much less the separation along a contact's direction may be than its
# distance; of A's length: how near to an end of A an end of B belongs to that
LEAST_GAIN = 1e-9
MEET = 1e-13  # axes nearer than this share of the radii have no direction between them
CROSSING_AXES, END_TO_END = 0.0, 5.0  # features


@kernel
def _row(rows, c, p, e0, e1, e2, f):
    """Row c of a table: height p on A, vector from B's point to A's, distance, feature."""
    rows[c, 0], rows[c, 1], rows[c, 2], rows[c, 3] = p, e0, e1, e2
    rows[c, 4] = np.sqrt(e0 * e0 + e1 * e1 + e2 * e2)
    rows[c, 5] = f
    return c + 1


@kernel
def across(e0, e1, e2, d):
    """The part of e across d (3,): rounding of a place on a long axis tilts a short e."""
    along = e0 * d[0] + e1 * d[1] + e2 * d[2]
    return e0 - along * d[0], e1 - along * d[1], e2 - along * d[2]


@kernel
def segment_rows(h, k, t, d, near, rows):
    """Contacts of the segment |z| <= h on the z axis with that of centre t, unit axis d, half k.

    t, d (3,). Writes rows (6, 6): height on the first, vector from the second segment to it,
    distance, feature; -> their count, at most 5. An end that stands over the other segment is
    nearest of all, but for `near`, if the segments are as far apart along the line to it: else
    the nearest points are a contact too.
    """
    c, last = np.int64(0), np.int64(5)  # the last row holds the nearest clamped pair of an end
    rows[last, 4] = np.inf
    for f in range(1, 3):
        p = (2 * f - 3) * h
        q = -(t[0] * d[0] + t[1] * d[1] + (t[2] - p) * d[2])
        inside = abs(q) <= k
        q = min(max(q, -k), k)
        e0, e1, e2 = -t[0] - q * d[0], -t[1] - q * d[1], p - t[2] - q * d[2]
        if inside:
            e0, e1, e2 = across(e0, e1, e2, d)
            c = _row(rows, c, p, e0, e1, e2, 1.0 * f)
        elif e0 * e0 + e1 * e1 + e2 * e2 < rows[last, 4] ** 2:
            _row(rows, last, p, e0, e1, e2, END_TO_END)
    for f in range(3, 5):
        q = (2 * f - 7) * k
        p = t[2] + q * d[2]
        if abs(p) < h * (1.0 - LEAST_GAIN):  # ends face to face belong to A
            c = _row(rows, c, p, -t[0] - q * d[0], -t[1] - q * d[1], 0.0, 1.0 * f)
    sine = d[0] * d[0] + d[1] * d[1]
    if sine > PARALLEL_AXES:
        q = -(t[0] * d[0] + t[1] * d[1]) / sine
        p = t[2] + q * d[2]
        e0, e1 = -t[0] - q * d[0], -t[1] - q * d[1]
        if abs(p) < h and abs(q) < k and e0 * e0 + e1 * e1 < rows[last, 4] ** 2:
            _row(rows, last, p, e0, e1, 0.0, CROSSING_AXES)
    best, falls_short = np.inf, np.inf
    for j in range(c):
        if rows[j, 4] < best:
            best, f = rows[j, 4], int(rows[j, 5])
            inward, length = (3.0 - 2.0 * f) * rows[j, 3], 2.0 * h
            if f > 2:
                along = rows[j, 1] * d[0] + rows[j, 2] * d[1] + rows[j, 3] * d[2]
                inward, length = (2.0 * f - 7.0) * along, 2.0 * k
            falls_short = max(-inward * length, 0.0)
    if c == 0 or (rows[last, 4] < best and falls_short > near * best):
        for j in range(6):
            rows[c, j] = rows[last, j]
        c += 1
    return c


@kernel
def _direction(e0, e1, e2, length, d, tiny):
    """Unit vector of e; where the axes meet, across both of them (x if they are parallel)."""
    if length > tiny:
        return e0 / length, e1 / length, e2 / length
    sine = np.sqrt(d[0] * d[0] + d[1] * d[1])
    if sine * sine > PARALLEL_AXES:
        return -d[1] / sine, d[0] / sine, 0.0
    return 1.0, 0.0, 0.0


@kernel
def on_capsule(x, R, p, r, n):
    """Its surface point with the outer normal -n (3 numbers) over the place p of its axis."""
    return (
        x[0] + R[0, 2] * p - r * n[0],
        x[1] + R[1, 2] * p - r * n[1],
        x[2] + R[2, 2] * p - r * n[2],
    )


@kernel
def contact_capsule_capsule(pairs: Pairs, geoms: PosedGeoms, contacts: FoundContacts):
    """One contact where axes cross, two where they are parallel."""
    geom, margin = pairs.geom, pairs.margin
    x, R, first, numbers = geoms.x, geoms.R, geoms.first, geoms.numbers
    t, d, rows = np.empty(3), np.empty(3), np.empty((6, 6))
    k = np.int64(0)
    for i in range(margin.size):
        a, b = geom[i, 0], geom[i, 1]
        ha, ra = numbers[first[a]], numbers[first[a] + 1]
        hb, rb = numbers[first[b]], numbers[first[b] + 1]
        t[0], t[1], t[2] = local(x[a], R[a], x[b])
        for j in range(3):
            d[j] = R[a, 0, j] * R[b, 0, 2] + R[a, 1, j] * R[b, 1, 2] + R[a, 2, j] * R[b, 2, 2]
        count = segment_rows(ha, hb, t, d, LEAST_GAIN * min(ha + ra, hb + rb), rows)
        for j in range(count):
            g = rows[j, 4] - ra - rb
            if g > margin[i]:
                continue
            if k == contacts.gap.size:
                return -1
            e0, e1, e2 = _direction(
                rows[j, 1], rows[j, 2], rows[j, 3], rows[j, 4], d, MEET * (ra + rb)
            )
            n = turned(R[a], e0, e1, e2)
            p = on_capsule(x[a], R[a], rows[j, 0], ra, n)
            k = put(contacts, k, i, p, n, g, int(rows[j, 5]))
    return k


# ---- Capsules with convex polyhedra: the nearest points, and both ends of a line of contact.
#
# The exact contact comes first. Beside it stand, where they are within the margin: the end balls
# with nearly the same normal, and the places where the axis leaves the prism over the side that
# looks along the normal: a face, with all faces that lean less than LEAN from it. Each is a true
# contact of a ball of the capsule, so a capsule that lies on a side has two points, whether the
# side or the capsule is the longer one.
# Features: 1, 2 ends z = -h, h; 16 + edge; 16 + number of edges + vertex.

# ---- A segment and a convex polyhedron: distance apart, least penetration when they overlap.
#
# The segment has centre t, unit axis d and half length h in the polyhedron's frame. An answer is
# written to best (6,): place p on the axis, distance (negative: depth), normal towards the
# segment, and a feature: 1 or 2 an end, 16 + edge, 16 + ne + vertex.

FIRST_EDGE = 16  # feature of edge 0
PARALLEL_TO_EDGE = 1e-20  # square of the sine below which the axis is
SAME_DISTANCE = 1e-15  # of coordinates: rounding of a distance


@kernel
def _keep(best, p, s, nx, ny, nz, f):
    best[0], best[1], best[2], best[3], best[4], best[5] = p, s, nx, ny, nz, f


@kernel
def face_separation(numbers, o, ints, q, t, d, h, far, guess, best):
    """Keep the face that stands farthest off the segment; -> face, or -1 beyond `far`."""
    nv, nf = ints[q], ints[q + 1]
    top, found = -np.inf, 0
    for m in range(-1, nf):
        f = guess if m < 0 else m
        j = o + 3 * nv + 4 * f
        nx, ny, nz = numbers[j], numbers[j + 1], numbers[j + 2]
        slope = nx * d[0] + ny * d[1] + nz * d[2]
        s = nx * t[0] + ny * t[1] + nz * t[2] - numbers[j + 3] - h * abs(slope)
        if s > far:
            _keep(best, 0.0, s, nx, ny, nz, 0.0)
            return -1
        if s > top:
            top, found = s, f
            low = -h if slope > 0.0 else h
            _keep(best, low, s, nx, ny, nz, 1.0 if low < 0.0 else 2.0)
    return found


@kernel
def overlaps(numbers, o, ints, q, t, d, h):
    """Whether the segment has a point inside the polyhedron (clipped by all face planes)."""
    low, high = -h, h
    for f in range(ints[q + 1]):
        j = o + 3 * ints[q] + 4 * f
        slope = numbers[j] * d[0] + numbers[j + 1] * d[1] + numbers[j + 2] * d[2]
        s = numbers[j] * t[0] + numbers[j + 1] * t[1] + numbers[j + 2] * t[2] - numbers[j + 3]
        if slope > 0.0:
            high = min(high, -s / slope)
        elif slope < 0.0:
            low = max(low, -s / slope)
        elif s > 0.0:
            return False
    return low <= high


@kernel
def end_distances(numbers, o, ints, q, t, d, h, ends):
    """Signed distances and normals of both end points, in rows of ends (2, 4)."""
    for f in range(2):
        p = (2 * f - 1) * h
        ends[f, 0], ends[f, 1], ends[f, 2], ends[f, 3], _ = nearest_feature(
            numbers, o, ints, q, t[0] + p * d[0], t[1] + p * d[1], t[2] + p * d[2], np.inf, f * 0
        )


@kernel
def separation(numbers, o, nv, t, d, h, nx, ny, nz):
    """How far the direction (nx, ny, nz) separates the segment from the polyhedron."""
    most = -np.inf
    for v in range(nv):
        j = o + 3 * v
        most = max(most, nx * numbers[j] + ny * numbers[j + 1] + nz * numbers[j + 2])
    slope = nx * d[0] + ny * d[1] + nz * d[2]
    return nx * t[0] + ny * t[1] + nz * t[2] - h * abs(slope) - most


@kernel
def is_nearer(numbers, o, nv, t, d, h, s, nx, ny, nz, best):
    """Whether points at distance s along (nx, ny, nz) are nearer than the best so far; of two that
    are as near to rounding, where an edge begins, those whose direction separates more."""
    slack = SAME_DISTANCE * (abs(t[0]) + abs(t[1]) + abs(t[2]) + h)
    if abs(s - best[1]) > slack:
        return s < best[1]
    other = separation(numbers, o, nv, t, d, h, best[2], best[3], best[4])
    return separation(numbers, o, nv, t, d, h, nx, ny, nz) > other


@kernel
def nearest_apart(numbers, o, ints, q, t, d, h, ends, best):
    """Nearest points of a segment outside the polyhedron: its ends, then edges and vertices."""
    nv, nf, ne = ints[q], ints[q + 1], ints[q + 2]
    f = 1 if ends[1, 0] < ends[0, 0] else 0
    _keep(best, (2 * f - 1) * h, ends[f, 0], ends[f, 1], ends[f, 2], ends[f, 3], 1.0 + f)
    for v in range(nv):
        j = o + 3 * v
        e0, e1, e2 = t[0] - numbers[j], t[1] - numbers[j + 1], t[2] - numbers[j + 2]
        p = -(e0 * d[0] + e1 * d[1] + e2 * d[2])
        e0, e1, e2 = across(e0 + p * d[0], e1 + p * d[1], e2 + p * d[2], d)
        s = np.sqrt(e0 * e0 + e1 * e1 + e2 * e2)
        if not (abs(p) < h and s > 0.0):
            continue
        nx, ny, nz = e0 / s, e1 / s, e2 / s
        if is_nearer(numbers, o, nv, t, d, h, s, nx, ny, nz, best):
            _keep(best, p, s, nx, ny, nz, 1.0 * (FIRST_EDGE + ne + v))
    for e in range(ne):
        k = q + 4 + nf + 2 * ne + 4 * e
        p, s, nx, ny, nz, on_both = cross_edge(
            numbers, o + 3 * ints[k], o + 3 * ints[k + 1], t, d, h
        )
        if s < 0.0:
            s, nx, ny, nz = -s, -nx, -ny, -nz
        if on_both and s > 0.0 and is_nearer(numbers, o, nv, t, d, h, s, nx, ny, nz, best):
            _keep(best, p, s, nx, ny, nz, 1.0 * (FIRST_EDGE + e))


@kernel
def cross_edge(numbers, i, j, t, d, h):
    """Nearest points of the axis and the edge of the vertices at i, j, as infinite lines.

    -> place p on the axis, signed distance along n = edge x axis (unit), whether both points
    lie within the segment and the edge (False for parallel lines).
    """
    r0 = numbers[j] - numbers[i]
    r1 = numbers[j + 1] - numbers[i + 1]
    r2 = numbers[j + 2] - numbers[i + 2]
    n0, n1, n2 = r1 * d[2] - r2 * d[1], r2 * d[0] - r0 * d[2], r0 * d[1] - r1 * d[0]
    nn, rr = n0 * n0 + n1 * n1 + n2 * n2, r0 * r0 + r1 * r1 + r2 * r2
    if nn <= PARALLEL_TO_EDGE * rr:
        return 0.0, np.inf, 0.0, 0.0, 1.0, False
    e0, e1, e2 = t[0] - numbers[i], t[1] - numbers[i + 1], t[2] - numbers[i + 2]
    er, ed = e0 * r0 + e1 * r1 + e2 * r2, e0 * d[0] + e1 * d[1] + e2 * d[2]
    rd = r0 * d[0] + r1 * d[1] + r2 * d[2]
    c = (er - ed * rd) / nn  # nn = rr - rd^2, as d has unit length
    p = c * rd - ed
    s = np.sqrt(nn)
    n0, n1, n2 = n0 / s, n1 / s, n2 / s
    s = e0 * n0 + e1 * n1 + e2 * n2
    return p, s, n0, n1, n2, abs(p) <= h and 0.0 <= c <= 1.0


@kernel
def least_overlap(numbers, o, ints, q, t, d, h, best):
    """Improve the face kept in `best` by directions across the axis and an edge."""
    nv, nf, ne = ints[q], ints[q + 1], ints[q + 2]
    for e in range(ne):
        k = q + 4 + nf + 2 * ne + 4 * e
        i, j = o + 3 * ints[k], o + 3 * ints[k + 1]
        p, s, nx, ny, nz, _ = cross_edge(numbers, i, j, t, d, h)
        if not s < np.inf:
            continue
        for sign in range(2):
            if sign == 1:
                s, nx, ny, nz = -s, -nx, -ny, -nz
            if s > best[1] and supports(numbers, o, ints, k, nv, nx, ny, nz):
                _keep(best, min(max(p, -h), h), s, nx, ny, nz, 1.0 * (FIRST_EDGE + e))


@kernel
def supports(numbers, o, ints, k, nv, nx, ny, nz):
    """Whether normal (nx, ny, nz), across the edge at ints[k], lies between its two faces."""
    i, j = o + 3 * ints[k], o + 3 * ints[k + 1]
    r0 = numbers[j] - numbers[i]
    r1 = numbers[j + 1] - numbers[i + 1]
    r2 = numbers[j + 2] - numbers[i + 2]
    for side in range(2):
        f = o + 3 * nv + 4 * ints[k + 2 + side]
        m0, m1, m2 = numbers[f], numbers[f + 1], numbers[f + 2]
        out = (r1 * m2 - r2 * m1) * nx + (r2 * m0 - r0 * m2) * ny + (r0 * m1 - r1 * m0) * nz
        if (out if side == 0 else -out) < 0.0:
            return False
    return True


ALIKE = 0.9  # cosine between normals of contacts of one line
SAME_PLACE = 1e-6  # places on the axis nearer than this share of its length are one contact


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
def _over_side(numbers, o, ints, q, face, t, d, h):
    """Part [low, high] of the axis over the side that `face` belongs to; of both ends the edge,
    as ``_clip``, and the face that it ends over."""
    low, high, from_edge, to_edge, from_face, to_face = np.inf, -np.inf, -1, -1, face, face
    i = o + 3 * ints[q] + 4 * face
    for f in range(ints[q + 1]):
        j = o + 3 * ints[q] + 4 * f
        c = numbers[i] * numbers[j] + numbers[i + 1] * numbers[j + 1]
        if c + numbers[i + 2] * numbers[j + 2] < 1.0 - 0.5 * LEAN * LEAN:
            continue
        start, end, edge, last = _clip(numbers, o, ints, q, f, t, d, h)
        if start <= end and start < low:
            low, from_edge, from_face = start, edge, f
        if start <= end and end > high:
            high, to_edge, to_face = end, last, f
    return low, high, from_edge, to_edge, from_face, to_face


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
    low, high, from_edge, to_edge, from_face, to_face = _over_side(
        numbers, o, ints, q, face, t, d, h
    )
    for end in range(2):
        p, e, f = (low, from_edge, from_face) if end == 0 else (high, to_edge, to_face)
        k = o + 3 * ints[q] + 4 * f
        if low > high or e < 0 or (end == 1 and high - low <= SAME_PLACE * h):
            continue
        s = -numbers[k + 3]
        for j in range(3):
            s += numbers[k + j] * (t[j] + p * d[j])
        near = False
        for j in range(c):
            near = near or abs(rows[j, 0] - p) <= SAME_PLACE * h or rows[j, 5] == FIRST_EDGE + e
        if s <= far and not near:
            rows[c, 0], rows[c, 1], rows[c, 5] = p, s, FIRST_EDGE + e
            for j in range(3):
                rows[c, 2 + j] = numbers[k + j]
            c += 1
    return c


@kernel
def contact_capsule_polyhedron(pairs: Pairs, geoms: PosedGeoms, contacts: FoundContacts):
    """Up to five contacts. Cache: 0 the face farthest off, plus one. Counters: 0 culled, 1 deep."""
    geom, margin, cache, stats = pairs.geom, pairs.margin, pairs.cache, pairs.stats
    x, R, _kind, first, numbers, first_int, ints = geoms
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
