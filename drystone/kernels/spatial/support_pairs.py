"""Contacts of any two bounded kinds by their support maps.

Parts call each other by address: they are large, and are not optimised together.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from drystone.kernels._calls import address, call
from drystone.kernels._jit import kernel
from drystone.kernels.kinds import POLYHEDRON
from drystone.kernels.pairs import LEAN, FoundContacts, Pairs, PosedGeoms
from drystone.kernels.profiles import is_revolved, profile_of
from drystone.kernels.spatial.directions import (
    CAP,
    GUESS,
    PAIR_APART,
    PROVEN,
    UNKNOWN,
    UNSURE,
    Directions,
    refine,
    search,
)
from drystone.kernels.spatial.frames import tangents
from drystone.kernels.spatial.polyhedra_region import SEEN_ALONG
from drystone.kernels.spatial.polyhedra_shape import THIN_SIDE
from drystone.kernels.spatial.support import ORIGIN, Cores, cores_of, set_pair, support

# ---- Support features: the face, edge or point of a body that faces a direction, as a polygon.
#
# A cap is a ring of CAP_RING points fixed in the body's frame; the side of a cylinder or capsule
# and the slant of a cone are segments. Everything within an angle of being flat counts as flat:
# points of a face that is a little tilted have their own gaps.

CAP_RING = 12  # points of a cap
ROOM = 64  # points of a feature; a face with more is thinned out evenly


class Feature(NamedTuple):
    """Points (ROOM, 3) and their names (ROOM,); across (ROOM,): radius of curvature across a
    segment at its ends [m]."""

    points: Any
    names: Any
    across: Any


@kernel
def ring(r, z, out: Feature):
    """The rim of radius r at height z, counter-clockwise about +z."""
    points, names, across = out
    for k in range(CAP_RING):
        angle = 2.0 * np.pi * k / CAP_RING
        points[k, 0], points[k, 1], points[k, 2] = r * np.cos(angle), r * np.sin(angle), z
        names[k], across[k] = k, 0.0
    return CAP_RING


@kernel
def flattest(numbers, f0, ints, i0, v, d, sine):
    """The face at vertex v that is flattest along d (3 numbers), and its flattest edge; -1 if none
    is flat."""
    dx, dy, dz = d
    nv, nf, ne = ints[i0], ints[i0 + 1], ints[i0 + 2]
    edges = i0 + 3 + nf + 1 + ints[i0 + 3 + nf]
    face, most = -1, np.sqrt(1.0 - sine * sine)
    edge, least = -1, sine
    for e in range(ne):
        k = edges + 4 * e
        if ints[k] != v and ints[k + 1] != v:
            continue
        for side in range(2):
            f = ints[k + 2 + side]
            p = f0 + 3 * nv + 4 * f
            cosine = dx * numbers[p] + dy * numbers[p + 1] + dz * numbers[p + 2]
            if cosine > most:
                face, most = f, cosine
        i, j = f0 + 3 * ints[k], f0 + 3 * ints[k + 1]
        e0, e1 = numbers[j] - numbers[i], numbers[j + 1] - numbers[i + 1]
        e2 = numbers[j + 2] - numbers[i + 2]
        slope = abs(dx * e0 + dy * e1 + dz * e2) / np.sqrt(e0 * e0 + e1 * e1 + e2 * e2)
        if slope < least:
            edge, least = e, slope
    return face, edge


@kernel
def face_or_edge(numbers, f0, ints, i0, face, edge, out: Feature):
    """Corners of a face, else of an edge, else none: how many."""
    points, names, across = out
    nf, n = ints[i0 + 1], 0
    loop = i0 + 3 + nf + 1
    if face >= 0:
        first, last = ints[i0 + 3 + face], ints[i0 + 3 + face + 1]
        stride = 1 + (last - first - 1) // ROOM
        n = (last - first + stride - 1) // stride
        for k in range(n):
            names[k] = ints[loop + first + stride * k]
    elif edge >= 0:
        k = loop + ints[i0 + 3 + nf] + 4 * edge
        names[0], names[1] = ints[k], ints[k + 1]
        n = 2
    for k in range(n):
        p = f0 + 3 * names[k]
        points[k, 0], points[k, 1], points[k, 2] = numbers[p], numbers[p + 1], numbers[p + 2]
        across[k] = 0.0
    return n


@kernel
def outline(numbers, f0, ints, i0, face, thick, out: Feature):
    """Corners of the side that `face` belongs to: the hull of those of all faces that lean less
    than LEAN from it. 0 if there are no others, if the side is not flat to `thick`, or if it has
    more corners than there is room for."""
    points, names, across = out
    nf = ints[i0 + 1]
    loop, planes = i0 + 3 + nf + 1, f0 + 3 * ints[i0]
    m, lean = planes + 4 * face, 1.0 - 0.5 * LEAN * LEAN
    nx, ny, nz = numbers[m], numbers[m + 1], numbers[m + 2]
    faces, n, low, high = 0, 0, np.inf, -np.inf
    for f in range(nf):
        p = planes + 4 * f
        faces += nx * numbers[p] + ny * numbers[p + 1] + nz * numbers[p + 2] >= lean
    if faces == 1:
        return 0
    for f in range(nf):
        p = planes + 4 * f
        if nx * numbers[p] + ny * numbers[p + 1] + nz * numbers[p + 2] < lean:
            continue
        for e in range(loop + ints[i0 + 3 + f], loop + ints[i0 + 3 + f + 1]):
            known = False
            for k in range(n):
                known = known or names[k] == ints[e]
            if known:
                continue
            p = f0 + 3 * ints[e]
            h = nx * numbers[p] + ny * numbers[p + 1] + nz * numbers[p + 2]
            low, high = min(low, h), max(high, h)
            if n == ROOM or high - low > thick:
                return 0
            names[n], across[n] = ints[e], 0.0
            points[n, 0], points[n, 1], points[n, 2] = numbers[p], numbers[p + 1], numbers[p + 2]
            n += 1
    # the corner farthest from another is of the hull; the next ones have all others on their left
    count, best, most = 0, 0, -1.0
    for k in range(n):
        d = 0.0
        for c in range(3):
            d += (points[k, c] - points[0, c]) ** 2
        if d > most:
            best, most = k, d
    while True:
        for c in range(3):
            points[count, c], points[best, c] = points[best, c], points[count, c]
        names[count], names[best] = names[best], names[count]
        x, y, z = points[count, 0], points[count, 1], points[count, 2]
        count += 1
        best = 0  # back to the first, unless another corner lies on the right of that line
        for k in range(count, n):
            a, b, c = points[best, 0] - x, points[best, 1] - y, points[best, 2] - z
            u, v, w = points[k, 0] - x, points[k, 1] - y, points[k, 2] - z
            left = nx * (b * w - c * v) + ny * (c * u - a * w) + nz * (a * v - b * u)
            if left < 0.0 or (count == 1 and best == 0):
                best = k
        if best == 0:
            return count


@kernel
def surface_height(cores: Cores, s, n, T, u, v):
    """Height along n of polyhedron s (0: A, its lower side, 1: B, its upper) over the place (u, v)
    of the plane across n: the least of its faces' planes."""
    numbers, ints, F = cores.numbers, cores.ints, cores.frame[s]
    f0, i0, sign = cores.spec[s, 1], cores.spec[s, 2], 2.0 * s - 1.0
    height = np.inf
    for f in range(ints[i0 + 1]):
        p = f0 + 3 * ints[i0] + 4 * f
        slope, rest = 0.0, numbers[p + 3]
        for c in range(3):
            m = (
                F[3 * c] * numbers[p]
                + F[3 * c + 1] * numbers[p + 1]
                + F[3 * c + 2] * numbers[p + 2]
            )
            slope += sign * m * n[c]
            rest -= m * (u * T[0, c] + v * T[1, c] - F[ORIGIN + c])
        if slope > SEEN_ALONG:
            height = min(height, rest / slope)
    return sign * height


@kernel
def end_or_side(p, d, sine, out: Feature):
    """The flat end of a profile that faces d (3 numbers), or the line of its side that does."""
    dx, dy, dz = d
    flat = np.sqrt(dx * dx + dy * dy)  # sine of the angle to the axis
    z, wide = (p.high, p.wide_high) if dz > 0.0 else (p.low, p.wide_low)
    if flat < sine and wide > 0.0:
        return ring(wide, z, out)
    taper = p.wide_low - p.wide_high
    slope, inner, outer = dz, p.wide_low + p.around, p.wide_high + p.around
    if taper != 0.0:
        slant = np.sqrt(p.height * p.height + taper * taper)
        slope = (p.height * dz - taper * flat) / slant
        inner, outer = p.wide_low * slant / p.height, p.wide_high * slant / p.height
    if not abs(slope) < sine or flat == 0.0:
        return 0
    c, s = dx / flat, dy / flat
    points, names, across = out
    points[0, 0], points[0, 1], points[0, 2] = p.wide_low * c, p.wide_low * s, p.low
    points[1, 0], points[1, 1], points[1, 2] = p.wide_high * c, p.wide_high * s, p.high
    names[0], names[1], across[0], across[1] = 0, 1, inner, outer
    return 2


@kernel
def feature_of(cores: Cores, s, n, sine, out: Feature):
    """Feature of body s (0: A along -n, 1: B along n) in the axes of its frame: its points, and
    whether it is a side of several faces, whose points are not of one plane.

    The single furthest point of the core has the name 0 and counts as one point.
    """
    points, names, across = out
    spec, numbers, ab = cores.spec, cores.numbers, cores.ab
    F, sign = cores.frame[s], (-1.0 if s == 0 else 1.0)
    dx = sign * (F[0] * n[0] + F[3] * n[1] + F[6] * n[2])
    dy = sign * (F[1] * n[0] + F[4] * n[1] + F[7] * n[2])
    dz = sign * (F[2] * n[0] + F[5] * n[1] + F[8] * n[2])
    names[0] = -1
    v = support(cores, s, names[0], n[0], n[1], n[2])
    kind, f0, k, several = spec[s, 0], spec[s, 1], 0, False
    if kind == POLYHEDRON:
        ints, i0, size = cores.ints, spec[s, 2], cores.size
        face, edge = flattest(numbers, f0, ints, i0, v, (dx, dy, dz), sine)
        if face >= 0:
            k = outline(numbers, f0, ints, i0, face, THIN_SIDE * min(size[0], size[1]), out)
            several = k > 0
        if not several:
            k = face_or_edge(numbers, f0, ints, i0, face, edge, out)
    elif is_revolved(kind):
        k = end_or_side(profile_of(kind, numbers, f0), (dx, dy, dz), sine, out)
    for i in range(k):
        p0, p1, p2 = points[i, 0], points[i, 1], points[i, 2]
        for c in range(3):
            points[i, c] = F[ORIGIN + c] + F[3 * c] * p0 + F[3 * c + 1] * p1 + F[3 * c + 2] * p2
    if k == 0:
        names[0], across[0] = 0, 0.0
        for c in range(3):
            points[0, c] = ab[s, c]
        return 1, False
    return k, several


# ---- Contact points of two support features: they are clipped against each other across the
# normal.
#
# Every point lies on both features at one place of the plane across n and has its own gap along n,
# which is never less than the signed distance. Numbers of points tell their features: a corner of
# A inside B's feature, a corner of B inside A's, two edges crossing, ends of parallel segments; 0
# is the deepest point itself, given whenever none of the others is as deep.

DOUBT = -2  # instead of a count: contacts of faces that may be none
SINE = 0.1  # faces and edges within this angle of facing the other body are features
SAME_CONTACT = 1e-9  # points nearer than this, in sizes of the smaller body, are one
AS_DEEP = 0.5  # of that: a contact this much less deep than the deepest stands for it
# kinds of points, above the numbers of corners and edges
CORNER_A, CORNER_B, CROSSING_EDGES = 1 << 40, 2 << 40, 3 << 40


@kernel
def flatten(k, n, T, P, Q):
    """Features P (k, 3) seen along n: Q (k, 3) = two coordinates across n, and the height."""
    for i in range(k):
        Q[i, 0] = T[0, 0] * P[i, 0] + T[0, 1] * P[i, 1] + T[0, 2] * P[i, 2]
        Q[i, 1] = T[1, 0] * P[i, 0] + T[1, 1] * P[i, 1] + T[1, 2] * P[i, 2]
        Q[i, 2] = n[0] * P[i, 0] + n[1] * P[i, 1] + n[2] * P[i, 2]


@kernel
def plane_of(k, Q, plane):
    """plane (3,): height = plane[0] + plane[1] u + plane[2] v of a polygon (Newell's normal).

    The sign of its area comes back: +1 counter-clockwise seen along n.
    """
    a = b = c = u = v = h = 0.0
    for i in range(k):
        j = (i + 1) % k
        # coordinates from the first corner keep the digits of small faces
        u0, v0, h0 = Q[i, 0] - Q[0, 0], Q[i, 1] - Q[0, 1], Q[i, 2] - Q[0, 2]
        u1, v1, h1 = Q[j, 0] - Q[0, 0], Q[j, 1] - Q[0, 1], Q[j, 2] - Q[0, 2]
        a += v0 * h1 - h0 * v1
        b += h0 * u1 - u0 * h1
        c += u0 * v1 - v0 * u1
        u, v, h = u + u0 / k, v + v0 / k, h + h0 / k
    plane[1] = -a / c if c != 0.0 else 0.0
    plane[2] = -b / c if c != 0.0 else 0.0
    plane[0] = Q[0, 2] + h - plane[1] * (Q[0, 0] + u) - plane[2] * (Q[0, 1] + v)
    return 1.0 if c >= 0.0 else -1.0


@kernel
def is_inside(k, turn, Q, u, v, slack):
    """Whether (u, v) is in the polygon Q[:k], or within `slack` of its border."""
    for i in range(k):
        j = (i + 1) % k
        e0, e1 = Q[j, 0] - Q[i, 0], Q[j, 1] - Q[i, 1]
        length = np.sqrt(e0 * e0 + e1 * e1)
        if turn * (e0 * (v - Q[i, 1]) - e1 * (u - Q[i, 0])) < -slack * length:
            return False
    return True


@kernel
def add_point(m, u, v, ha, hb, name, same, found, names):
    """Append (u, v, heights on A and B) unless one is there already; the number of points."""
    for i in range(m):
        if abs(found[i, 0] - u) <= same and abs(found[i, 1] - v) <= same:
            return m
    if m < found.shape[0]:
        found[m, 0], found[m, 1], found[m, 2], found[m, 3] = u, v, ha, hb
        names[m] = name
        m += 1
    return m


@kernel
def crossings(m, ka, kb, A, B, ida, idb, same, found, names):
    """Edges of A (a polygon, or one segment) that cross edges of B."""
    for i in range(ka if ka > 2 else 1):
        p = (i + 1) % ka
        e0, e1 = A[p, 0] - A[i, 0], A[p, 1] - A[i, 1]
        for j in range(kb if kb > 2 else 1):
            q = (j + 1) % kb
            f0, f1 = B[q, 0] - B[j, 0], B[q, 1] - B[j, 1]
            d0, d1 = B[j, 0] - A[i, 0], B[j, 1] - A[i, 1]
            det = e0 * f1 - e1 * f0
            s, t = d0 * f1 - d1 * f0, d0 * e1 - d1 * e0
            if det < 0.0:
                det, s, t = -det, -s, -t
            if det > 0.0 and 0.0 <= s <= det and 0.0 <= t <= det:
                s, t = s / det, t / det
                ha = A[i, 2] + s * (A[p, 2] - A[i, 2])
                hb = B[j, 2] + t * (B[q, 2] - B[j, 2])
                name = CROSSING_EDGES + (ida[i] << 20) + idb[j]
                m = add_point(
                    m, A[i, 0] + s * e0, A[i, 1] + s * e1, ha, hb, name, same, found, names
                )
    return m


@kernel
def along_segments(m, A, B, ca, cb, same, found, names):
    """Ends of two nearly parallel segments over each other; off each other sideways by y, round
    bodies meet between their lines, as their radii r_A, r_B divide y, and are further apart there
    by y^2 / 2 (r_A + r_B); sharp edges do not meet at all."""
    for s in range(2):
        for end in range(2):
            # P's end over segment Q
            P, Q = (A, B) if s == 0 else (B, A)
            e0, e1 = Q[1, 0] - Q[0, 0], Q[1, 1] - Q[0, 1]
            square = e0 * e0 + e1 * e1
            d0, d1 = P[end, 0] - Q[0, 0], P[end, 1] - Q[0, 1]
            t = (d0 * e0 + d1 * e1) / square if square > 0.0 else -1.0
            if t < 0.0 or t > 1.0:
                continue
            y = abs(d0 * e1 - d1 * e0) / np.sqrt(square)
            cp, cq = (ca[end], (1.0 - t) * cb[0] + t * cb[1])
            if s == 1:
                cp, cq = (cb[end], (1.0 - t) * ca[0] + t * ca[1])
            relief, part = 0.0, 0.5  # part: of the way from P's line to Q's
            if y > same:
                if cp + cq <= y:
                    continue
                relief, part = 0.5 * y * y / (cp + cq), cp / (cp + cq)
            hq = Q[0, 2] + t * (Q[1, 2] - Q[0, 2])
            ha, hb = (P[end, 2], hq) if s == 0 else (hq, P[end, 2])
            own = part if s == 0 else 1.0 - part  # A's part of the relief
            u = P[end, 0] - part * (d0 - t * e0)
            v = P[end, 1] - part * (d1 - t * e1)
            name = (CORNER_A if s == 0 else CORNER_B) + end
            ha, hb = ha + own * relief, hb - (1.0 - own) * relief
            m = add_point(m, u, v, ha, hb, name, same, found, names)
    return m


@kernel
def clip(ka, kb, A, B, ida, idb, ca, cb, same, found, names):
    """Points of both features, found (room, 4): coordinates across n, heights on A and on B."""
    pa, pb = np.zeros(3), np.zeros(3)
    m = np.int64(0)  # a plain 0 would build the callees twice
    if ka == 1 or kb == 1:
        return 0
    if ka == 2 and kb == 2:
        e0, e1 = A[1, 0] - A[0, 0], A[1, 1] - A[0, 1]
        f0, f1 = B[1, 0] - B[0, 0], B[1, 1] - B[0, 1]
        det, dot = e0 * f1 - e1 * f0, e0 * f0 + e1 * f1
        if abs(det) <= SINE * np.sqrt(det * det + dot * dot):
            return along_segments(m, A, B, ca, cb, same, found, names)
        return 0
    ta, tb = plane_of(ka, A, pa), plane_of(kb, B, pb)
    if kb > 2:
        for i in range(ka):
            u, v = A[i, 0], A[i, 1]
            if is_inside(kb, tb, B, u, v, same):
                h = pb[0] + pb[1] * u + pb[2] * v
                m = add_point(m, u, v, A[i, 2], h, CORNER_A + ida[i], same, found, names)
    if ka > 2:
        for i in range(kb):
            u, v = B[i, 0], B[i, 1]
            if is_inside(ka, ta, A, u, v, same):
                h = pa[0] + pa[1] * u + pa[2] * v
                m = add_point(m, u, v, h, B[i, 2], CORNER_B + idb[i], same, found, names)
    return crossings(m, ka, kb, A, B, ida, idb, same, found, names)


@kernel
def put(contacts: FoundContacts, k, i, m, limits, place, found, names):
    """Write the m points of pair i that are within its margin, and the deepest; contacts so far.

    limits: the signed distance g, the margin, and the difference from g that counts as none;
    place: radii around the cores, origin, n, tangents, and the deepest point.
    """
    which, point, normal, gap, feature = contacts
    g, margin, same = limits
    ra, rb, origin, n, T, mid = place
    deep = False
    for j in range(m + 1):
        if j == m and deep:
            break
        h, name = g, 0
        if j < m:
            h, name = found[j, 2] - found[j, 3] - ra - rb, names[j]
            if not h <= margin:
                continue
            deep = deep or h <= g + AS_DEEP * same
        for c in range(3):
            point[k, c] = mid[c]
            if j < m:
                middle = 0.5 * (found[j, 2] + found[j, 3] + rb - ra)
                point[k, c] = origin[c] + middle * n[c]
                point[k, c] += found[j, 0] * T[0, c] + found[j, 1] * T[1, c]
            normal[k, c] = n[c]
        which[k], gap[k], feature[k] = i, h, name
        k += 1
    return k


@kernel
def manifold(pairs: Pairs, geoms: PosedGeoms, known: Directions, contacts: FoundContacts):
    """Contacts of the pairs whose signed distance is within their margin.

    Of pairs in state CAP only contacts of faces as deep as that are believed; one that has none
    turns UNSURE, and the answer is DOUBT. -> contacts, -1 (no room) or DOUBT
    """
    geom, margin, x, cores = pairs.geom, pairs.margin, geoms.x, cores_of(geoms)
    state, normal, g, mid, size = known.state, known.normal, known.gap, known.mid, cores.size
    T, count, several = np.empty((2, 3)), np.zeros(2, np.int64), np.zeros(2, np.bool_)
    P, Q = np.empty((ROOM, 3)), np.empty((2, ROOM, 3))
    ids, across = np.empty((2, ROOM), np.int64), np.empty((2, ROOM))
    found, names = np.empty((4 * ROOM, 4)), np.empty(4 * ROOM, np.int64)
    k, doubt = np.int64(0), False
    for i in range(margin.size):
        if state[i] == PAIR_APART or not g[i] <= margin[i]:
            continue
        a, n = geom[i, 0], normal[i]
        set_pair(cores, geoms, a, geom[i, 1])
        same = SAME_CONTACT * min(size[0], size[1])
        tangents(n, T)
        for s in range(2):
            count[s], several[s] = feature_of(cores, s, n, SINE, Feature(P, ids[s], across[s]))
            flatten(count[s], n, T, P, Q[s])
        m = clip(
            count[0], count[1], Q[0], Q[1], ids[0], ids[1], across[0], across[1], same, found, names
        )
        for s in range(2):
            for j in range(m if several[s] else 0):
                found[j, 2 + s] = surface_height(cores, s, n, T, found[j, 0], found[j, 1])
        if state[i] == CAP:
            state[i] = UNSURE
            for j in range(m):
                if found[j, 2] - found[j, 3] <= g[i] + size[2] + size[3] + AS_DEEP * same:
                    state[i] = PROVEN
            doubt = doubt or state[i] == UNSURE
        if k + m + 1 > contacts.gap.size:
            return -1
        limits, place = (g[i], margin[i], same), (size[2], size[3], x[a], n, T, mid[i])
        k = put(contacts, k, i, m, limits, place, found, names)
    return DOUBT if doubt else k


@kernel
def contact_support_support(pairs: Pairs, geoms: PosedGeoms, contacts: FoundContacts):
    """Up to four contacts and more where faces meet. Cache: 0 set, 1-3 direction, 4 atoms, 5-12
    their labels. Counters: hits, searches, steps of GJK, evaluations of cutting planes, steps of
    Newton, uncertain pairs, pairs that Newton left to cutting planes. pairs.calls (3,): ``calls``.
    """
    cache, stats, calls = pairs.cache, pairs.stats, pairs.calls
    size, searched = pairs.margin.size, stats[1]
    state, atoms, labels = (
        np.empty(size, np.int64),
        np.empty(size, np.int64),
        np.empty((size, 4, 2), np.int64),
    )
    n, g, mid = np.empty((size, 3)), np.full(size, np.inf), np.empty((size, 3))
    for i in range(size):
        state[i] = GUESS if cache[i, 0] != 0.0 else UNKNOWN
        atoms[i] = np.int64(cache[i, 4])
        for c in range(3):
            n[i, c] = cache[i, 1 + c]
        for c in range(8):
            labels[i, c // 2, c % 2] = np.int64(cache[i, 5 + c])
    known = Directions(state, n, atoms, labels, g, mid)
    call(calls[0], (pairs, geoms, known, True))
    count = DOUBT
    for _ in range(2):  # again if a cap is not over the other body after all
        if count == DOUBT:
            if doubtful(state) > 0:
                call(calls[1], (pairs, geoms, known))
                call(calls[0], (pairs, geoms, known, False))
            count = call(calls[2], (pairs, geoms, known, contacts))
    stats[0] += size - (stats[1] - searched)
    for i in range(size):
        stats[5] += 1 if state[i] == UNSURE else 0
        cache[i, 0], cache[i, 4] = 1.0, atoms[i]
        for c in range(3):
            cache[i, 1 + c] = n[i, c]
        for c in range(8):
            cache[i, 5 + c] = labels[i, c // 2, c % 2]
    return count


@kernel
def doubtful(state):
    """How many pairs must be looked for the long way."""
    count = 0
    for i in range(state.size):
        count += 1 if state[i] == UNKNOWN or state[i] == UNSURE else 0
    return count


@cache
def calls():
    """Addresses (3,) of ``refine``, ``search`` and ``manifold``."""
    ints, floats, pairs = np.empty(1, np.int64), np.empty(1), np.empty((1, 2), np.int64)
    x, R = np.empty((1, 3)), np.empty((1, 3, 3))
    batch = Pairs(pairs, floats, x, ints, ints)
    geoms = PosedGeoms(x, R, ints, ints, floats, ints, ints)
    known = Directions(ints, x, ints, np.empty((1, 4, 2), np.int64), floats, x)
    contacts = FoundContacts(ints, x, x, floats, ints)
    return np.array([
        address(refine, batch, geoms, known, True),
        address(search, batch, geoms, known),
        address(manifold, batch, geoms, known, contacts),
    ])  # fmt: skip
