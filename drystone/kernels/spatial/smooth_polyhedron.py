"""Ellipsoids and superquadrics with convex polyhedra: a walk over features to the extremal one.

The walk begins at the last step's feature, else at the face that stands farthest off A, and goes
where the separation grows (see below); apart, the first feature that holds is the answer, as the
separation is concave, and in penetration it is if a ball of that depth can roll inside A. Deeper,
or should the walk not arrive, ``cutting_planes`` answer. A direction that separates by
more than the margin ends it at once.

Cache: 0 feature, 1-3 A's point and 4-6 its change in the last step, in world axes.
Counters: 0 Newton iterations at vertices, 1 predicted, 2 fallbacks (slow Newton or cutting planes),
3 vertex solves, 4 culled, 5 features visited, 6 pairs whose feature was kept.
"""

from typing import Any, NamedTuple

import numpy as np

from drystone.kernels._calls import call
from drystone.kernels._jit import kernel
from drystone.kernels.pairs import FoundContacts, Pairs, PosedGeoms
from drystone.kernels.spatial.frames import local, put, turned
from drystone.kernels.spatial.smooth_surface import (
    derivatives,
    nearest_point,
    read_surface,
    rolling_ball,
    support,
)

# ---- A smooth body against one face, edge or vertex of a convex polyhedron (Baraff 1992, 5.2).
#
# The signed distance is the maximum over unit n of n.(A's lowest point along n) - h_B(n). On the
# sphere of directions a face of B is a point, an edge an arc between its two faces, a vertex the
# region in between. So a face is the answer if the foot of A's lowest point lies in it; else s
# grows across the side that it lies beyond. On an arc one angle is left, found by bracketing as
# the support point is a closed form (instead of Newton on (5-4)); if the foot lies beyond an end
# of the edge, s grows towards that vertex. At a vertex the nearest surface point (5-5) answers, if
# its normal does not lean over an edge. Each visit returns s and the feature to look at next: the
# same one if it is the answer. Features: 1 + face, 1 + nf + edge, 1 + nf + ne + vertex.
#
# n, p (3,): direction from B to A, A's point, in B's frame.

# relative to a length: a foot on the border belongs to the feature; more than rounding would move
# the contact of a needle's tip, whose radius may be less than that part of a large polyhedron
ON_BORDER = 4e-15
ROOT_STEPS = 80  # halvings of a bracket that leave nothing but rounding
# slope of the separation, per reach, that counts as none: its square is the error
FLAT_SLOPE = 1e-12
ANGLE_ROUNDING = 4e-16  # of angles
VALLEY = 1e4  # times the slope that counts as none
WIDE_ARC = 1.6  # more than a right angle between the normals of two faces


class SmoothPair(NamedTuple):
    """A smooth body A and a polyhedron B, in B's frame.

    s (5,): A's surface; Q (3, 3): its axes, in columns; t (3,): its centre; numbers, ints: of all
    geoms, those of B from o and from q on.
    """

    s: Any
    Q: Any
    t: Any
    numbers: Any
    o: Any
    ints: Any
    q: Any


@kernel
def lowest(pair: SmoothPair, n, p):
    """The point p (3,) of A that is lowest along n (3,)."""
    Q, t = pair.Q, pair.t
    u = Q[0, 0] * n[0] + Q[1, 0] * n[1] + Q[2, 0] * n[2]
    v = Q[0, 1] * n[0] + Q[1, 1] * n[1] + Q[2, 1] * n[2]
    w = Q[0, 2] * n[0] + Q[1, 2] * n[1] + Q[2, 2] * n[2]
    u, v, w = support(pair.s, u, v, w)
    for k in range(3):
        p[k] = t[k] - Q[k, 0] * u - Q[k, 1] * v - Q[k, 2] * w


@kernel
def face_height(pair: SmoothPair, j, n, p):
    """s of the face whose plane is at numbers[j]; fills n and p."""
    numbers = pair.numbers
    n[0], n[1], n[2] = numbers[j], numbers[j + 1], numbers[j + 2]
    lowest(pair, n, p)
    return n[0] * p[0] + n[1] * p[1] + n[2] * p[2] - numbers[j + 3]


@kernel
def visit_face(pair: SmoothPair, f, n, p):
    """Face f; next the edge that the foot lies farthest beyond."""
    numbers, o, ints, q = pair.numbers, pair.o, pair.ints, pair.q
    nv, nf, ne = ints[q], ints[q + 1], ints[q + 2]
    height = face_height(pair, o + 3 * nv + 4 * f, n, p)
    worst, follow = 0.0, 1 + f
    for e in range(ne):
        m = q + 4 + nf + 2 * ne + 4 * e
        if ints[m + 2] != f and ints[m + 3] != f:
            continue
        side = 1.0 if ints[m + 2] == f else -1.0
        i, j = o + 3 * ints[m], o + 3 * ints[m + 1]
        r0 = numbers[j] - numbers[i]
        r1 = numbers[j + 1] - numbers[i + 1]
        r2 = numbers[j + 2] - numbers[i + 2]
        out = (
            (r1 * n[2] - r2 * n[1]) * (p[0] - numbers[i])
            + (r2 * n[0] - r0 * n[2]) * (p[1] - numbers[i + 1])
            + (r0 * n[1] - r1 * n[0]) * (p[2] - numbers[i + 2])
        )
        rr = r0 * r0 + r1 * r1 + r2 * r2
        if side * out > ON_BORDER * rr and side * out > worst * np.sqrt(rr):
            worst, follow = side * out / np.sqrt(rr), 1 + nf + e
    return height, follow


@kernel
def _along(pair: SmoothPair, i, m, w, angle, n, p):
    """Direction n at `angle` from m (3,) towards w (3,), A's point p; -> separation, its slope.

    i: a vertex of the edge.
    """
    numbers = pair.numbers
    c, d, height, slope = np.cos(angle), np.sin(angle), 0.0, 0.0
    for k in range(3):
        n[k] = c * m[k] + d * w[k]
    lowest(pair, n, p)
    for k in range(3):
        height += n[k] * (p[k] - numbers[i + k])
        slope += (c * w[k] - d * m[k]) * (p[k] - numbers[i + k])
    return height, slope


@kernel
def _summit(pair: SmoothPair, i, m, w, high, guess, n, p, ends):
    """Direction n and point p of the greatest separation over the arc of angles 0 to `high`.

    -> -1 or 1 if it is at 0 or at `high`, else 0. Both ends are looked at, and places between on
    the wide arc of a sharp edge, where a second maximum may stand at the far end. ends (2, 3):
    A's points at both ends of a bracket next to the best. Then secants on the slope, with halving.
    """
    s, numbers, parts = pair.s, pair.numbers, 1 if high < WIDE_ARC else 8
    best, top, tilt, small = 0, -np.inf, 0.0, max(s[0], s[1], s[2])
    for step in range(parts + 1):
        height, slope = _along(pair, i, m, w, high * step / parts, n, p)
        if height > top:
            best, top, tilt = step, height, slope
    if (best == 0 and tilt <= 0.0) or (best == parts and tilt >= 0.0):
        _along(pair, i, m, w, high * best / parts, n, p)
        return -1 if best == 0 else 1
    for k in range(3):
        small += abs(p[k] - numbers[i + k])
    small *= FLAT_SLOPE
    low, end = high * best / parts, high * (best + 1) / parts
    if tilt < 0.0:
        low, end = high * (best - 1) / parts, low
    up, down, last, before = 0.0, 0.0, high * best / parts, tilt
    angle = guess
    for step in range(ROOT_STEPS):
        if step % 4 == 3 or not low < angle < end:
            angle = 0.5 * (low + end)
        height, slope = _along(pair, i, m, w, angle, n, p)
        if abs(slope) <= small:
            return 0
        # well below the best: behind a valley, so the summit is on the best one's side
        left = slope > 0.0 if height > top - VALLEY * small else tilt < 0.0
        for k in range(3):
            ends[0 if left else 1, k] = p[k]
        if left:
            low, up = angle, abs(slope)
        else:
            end, down = angle, abs(slope)
        if end - low <= ANGLE_ROUNDING:
            break
        turn = slope - before
        turn = slope * (angle - last) / turn if turn != 0.0 else np.inf
        angle, last, before = angle - turn, angle, slope
    if up > 0.0 and down > 0.0:
        for k in range(3):
            # a flat: A's point jumps within the last digit of the angle; in between is as low
            p[k] = (up * ends[1, k] + down * ends[0, k]) / (up + down)
    return 0


@kernel
def visit_edge(pair: SmoothPair, e, n, p, work):
    """Edge e, n in: a guess of the direction; next a face or a vertex of it. work (4, 3)."""
    numbers, o, ints, q = pair.numbers, pair.o, pair.ints, pair.q
    nv, nf, ne = ints[q], ints[q + 1], ints[q + 2]
    k = q + 4 + nf + 2 * ne + 4 * e
    i, j = o + 3 * ints[k], o + 3 * ints[k + 1]
    left, right = o + 3 * nv + 4 * ints[k + 2], o + 3 * nv + 4 * ints[k + 3]
    m, w = work[0], work[1]
    r0 = numbers[j] - numbers[i]
    r1 = numbers[j + 1] - numbers[i + 1]
    r2 = numbers[j + 2] - numbers[i + 2]
    rr = r0 * r0 + r1 * r1 + r2 * r2
    length = np.sqrt(rr)
    m[0], m[1], m[2] = numbers[left], numbers[left + 1], numbers[left + 2]
    w[0] = (r1 * m[2] - r2 * m[1]) / length
    w[1] = (r2 * m[0] - r0 * m[2]) / length
    w[2] = (r0 * m[1] - r1 * m[0]) / length
    cn, dn, cr, dr = 0.0, 0.0, 0.0, 0.0
    for a in range(3):
        cn += n[a] * m[a]
        dn += n[a] * w[a]
        cr += numbers[right + a] * m[a]
        dr += numbers[right + a] * w[a]
    end = _summit(pair, i, m, w, np.arctan2(dr, cr), np.arctan2(dn, cn), n, p, work[2:])
    d0, d1, d2 = p[0] - numbers[i], p[1] - numbers[i + 1], p[2] - numbers[i + 2]
    height, c = n[0] * d0 + n[1] * d1 + n[2] * d2, (r0 * d0 + r1 * d1 + r2 * d2) / rr
    follow = 1 + nf + e
    if end != 0:
        follow = 1 + ints[k + 2 + (1 if end > 0 else 0)]
    elif c < -ON_BORDER:
        follow = 1 + nf + ne + ints[k]
    elif c > 1.0 + ON_BORDER:
        follow = 1 + nf + ne + ints[k + 1]
    return height, follow


WALK = 40  # visits; a walk on a box takes one to four
OVER_AN_EDGE = 1e-12  # a vertex normal may lean over an edge by this much


@kernel
def _visit_vertex(pair: SmoothPair, v, n, p, work, H, stats):
    """Vertex v, p in: a guess; next the edge that the normal leans over most."""
    s, Q, t, numbers, o, ints, q = pair
    nf, ne = ints[q + 1], ints[q + 2]
    i, c, a, m = o + 3 * v, work[5], work[6], work[7]
    for k in range(3):
        c[k], a[k] = 0.0, 0.0
        for j in range(3):
            c[k] += Q[j, k] * (numbers[i + j] - t[j])
            a[k] += Q[j, k] * (p[j] - t[j])
    d = nearest_point(s, c, a, m, work, H, stats)
    for k in range(3):
        n[k] = -(Q[k, 0] * m[0] + Q[k, 1] * m[1] + Q[k, 2] * m[2])
        p[k] = t[k] + Q[k, 0] * a[0] + Q[k, 1] * a[1] + Q[k, 2] * a[2]
    worst, follow = OVER_AN_EDGE, 1 + nf + ne + v
    for f in range(ne):
        k = q + 4 + nf + 2 * ne + 4 * f
        if ints[k] != v and ints[k + 1] != v:
            continue
        j = o + 3 * (ints[k] + ints[k + 1] - v)
        r0, r1 = numbers[j] - numbers[i], numbers[j + 1] - numbers[i + 1]
        r2 = numbers[j + 2] - numbers[i + 2]
        lean = (r0 * n[0] + r1 * n[1] + r2 * n[2]) / np.sqrt(r0 * r0 + r1 * r1 + r2 * r2)
        if lean > worst:
            worst, follow = lean, 1 + nf + f
    return d, follow


@kernel
def _first_face(pair: SmoothPair, far, n, p):
    """The face of greatest separation, plus one. Faces that point away are not looked at."""
    s, _, t, numbers, o, ints, q = pair
    nv, thin, best, found = ints[q], min(s[0], s[1], s[2]), -np.inf, 0
    for f in range(ints[q + 1]):
        j = o + 3 * nv + 4 * f
        centre = numbers[j] * t[0] + numbers[j + 1] * t[1] + numbers[j + 2] * t[2] - numbers[j + 3]
        if centre - thin <= best:
            continue
        height = face_height(pair, j, n, p)
        if height > best:
            best, found = height, 1 + f
        if height > far:
            break
    return found


@kernel
def _visit(pair: SmoothPair, code, n, p, work, H, stats):
    """The feature `code`: its separation, and the feature to look at next."""
    nf, ne = pair.ints[pair.q + 1], pair.ints[pair.q + 2]
    stats[5] += 1
    if code <= nf:
        return visit_face(pair, code - 1, n, p)
    if code <= nf + ne:
        return visit_edge(pair, code - nf - 1, n, p, work)
    return _visit_vertex(pair, code - nf - ne - 1, n, p, work, H, stats)


@kernel
def _walk(pair: SmoothPair, code, far, n, p, work, H, stats):
    """From feature `code` to the first that holds; -> it (0: none does) and its separation."""
    edged = pair.ints[pair.q + 1] + pair.ints[pair.q + 2]
    for _ in range(WALK):
        d, follow = _visit(pair, code, n, p, work, H, stats)
        # a vertex's own direction separates only if it holds
        if follow == code or (d > far and code <= edged):
            return code, d
        code = follow
    return 0, 0.0


@kernel
def _guess(row, s, Q, t, xb, Rb, n, p, work, H):
    """Predicted point p of A and direction n in B's frame, from the cached world point."""
    for k in range(3):
        work[0, k] = row[1 + k] + row[4 + k]
    p[0], p[1], p[2] = local(xb, Rb, work[0])
    d0, d1, d2 = p[0] - t[0], p[1] - t[1], p[2] - t[2]
    derivatives(
        s,
        Q[0, 0] * d0 + Q[1, 0] * d1 + Q[2, 0] * d2,
        Q[0, 1] * d0 + Q[1, 1] * d1 + Q[2, 1] * d2,
        Q[0, 2] * d0 + Q[1, 2] * d1 + Q[2, 2] * d2,
        work[1],
        H[0],
    )
    n[0], n[1], n[2] = turned(Q, -work[1, 0], -work[1, 1], -work[1, 2])


@kernel
def contact_smooth_polyhedron(pairs: Pairs, geoms: PosedGeoms, contacts: FoundContacts):
    """One contact per pair."""
    geom, margin, cache, stats = pairs.geom, pairs.margin, pairs.cache, pairs.stats
    x, R, _kind, first, numbers, first_int, ints = geoms
    s, Q, t, n, p = np.empty(5), np.empty((3, 3)), np.empty(3), np.empty(3), np.empty(3)
    work, H, k = np.empty((8, 3)), np.empty((2, 3, 3)), np.int64(0)
    P, gap, origin = np.empty((2, 3)), np.empty(1), np.zeros(3)
    for i in range(margin.size):
        a, b = geom[i, 0], geom[i, 1]
        far = margin[i]
        read_surface(first, numbers, a, s)
        t[0], t[1], t[2] = local(x[b], R[b], x[a])
        for j in range(3):
            Q[0, j], Q[1, j], Q[2, j] = 0.0, 0.0, 0.0
            for m in range(3):
                for r in range(3):
                    Q[r, j] += R[b, m, r] * R[a, m, j]
        pair = SmoothPair(s, Q, t, numbers, first[b], ints, first_int[b])
        row, known = cache[i], int(cache[i, 0])
        if known > 0:
            _guess(row, s, Q, t, x[b], R[b], n, p, work, H)
            code = known
        else:
            code = _first_face(pair, far, n, p)
        code, g = _walk(pair, code, far, n, p, work, H, stats)
        if code == 0 or g <= -rolling_ball(s):
            call(pairs.calls[0], (geoms, a, b, n, P, gap))
            code, g = 0, gap[0]
            stats[2] += 1
            p[0], p[1], p[2] = local(x[b], R[b], P[0])
            n[0], n[1], n[2] = local(origin, R[b], n)
        stats[6] += 1 if code == known and code > 0 else 0
        _remember(row, code, x[b], R[b], p, known > 0)
        if g > far:
            stats[4] += 1
            continue
        if k == contacts.gap.size:
            return -1
        stats[1] += 1 if known > 0 else 0
        out = turned(R[b], n[0], n[1], n[2])
        k = put(contacts, k, i, (row[1], row[2], row[3]), out, g, 0)
    return k


@kernel
def _remember(row, found, xb, Rb, p, known):
    """Keep the feature, A's point in world axes and its change."""
    w0, w1, w2 = turned(Rb, p[0], p[1], p[2])
    w0, w1, w2 = w0 + xb[0], w1 + xb[1], w2 + xb[2]
    row[4] = w0 - row[1] if known else 0.0
    row[5] = w1 - row[2] if known else 0.0
    row[6] = w2 - row[3] if known else 0.0
    row[0], row[1], row[2], row[3] = found, w0, w1, w2
