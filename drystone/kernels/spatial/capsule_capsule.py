"""Two capsules: a line of contact has two ends, and each is a contact of its own.

A capsule is a row of balls, so an end ball against the other capsule is a true contact with its
own gap and normal. Kept are those ends that stand over the other segment (the ends of the
overlap when the axes are parallel), and the nearest points if none of these is as near: of
crossing axes, or of an end and an end. Features: 0 crossing axes, 1 and 2 ends z = -h, h of A,
3 and 4 of B, 5 an end to an end.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.pairs import FoundContacts, Pairs, PosedGeoms
from drystone.kernels.spatial.smooth_write import local, put, turned

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
