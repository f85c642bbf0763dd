"""A segment and a convex polyhedron: distance apart, least penetration when they overlap.

The segment has centre t, unit axis d and half length h in the polyhedron's frame. An answer is
written to best (6,): place p on the axis, distance (negative: depth), normal towards the segment,
and a feature: 1 or 2 an end, 16 + edge, 16 + ne + vertex.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.spatial.sphere_polyhedron import nearest_feature

EDGE = 16
PARALLEL = 1e-20


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
def nearest_apart(numbers, o, ints, q, t, d, h, ends, best):
    """Nearest points of a segment outside the polyhedron: its ends, then edges and vertices."""
    nv, nf, ne = ints[q], ints[q + 1], ints[q + 2]
    f = 1 if ends[1, 0] < ends[0, 0] else 0
    _keep(best, (2 * f - 1) * h, ends[f, 0], ends[f, 1], ends[f, 2], ends[f, 3], 1.0 + f)
    for v in range(nv):
        j = o + 3 * v
        e0, e1, e2 = t[0] - numbers[j], t[1] - numbers[j + 1], t[2] - numbers[j + 2]
        p = -(e0 * d[0] + e1 * d[1] + e2 * d[2])
        e0, e1, e2 = e0 + p * d[0], e1 + p * d[1], e2 + p * d[2]
        s = np.sqrt(e0 * e0 + e1 * e1 + e2 * e2)
        if abs(p) < h and 0.0 < s < best[1]:
            _keep(best, p, s, e0 / s, e1 / s, e2 / s, 1.0 * (EDGE + ne + v))
    for e in range(ne):
        k = q + 4 + nf + 2 * ne + 4 * e
        p, s, nx, ny, nz, on_both = cross_edge(
            numbers, o + 3 * ints[k], o + 3 * ints[k + 1], t, d, h
        )
        if s < 0.0:
            s, nx, ny, nz = -s, -nx, -ny, -nz
        if on_both and 0.0 < s < best[1]:
            _keep(best, p, s, nx, ny, nz, 1.0 * (EDGE + e))


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
    if nn <= PARALLEL * rr:
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
                _keep(best, min(max(p, -h), h), s, nx, ny, nz, 1.0 * (EDGE + e))


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
