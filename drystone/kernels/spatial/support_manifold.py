"""Contact points of two support features: they are clipped against each other across the normal.

Every point lies on both features at one place of the plane across n and has its own gap along n,
which is never less than the signed distance. Numbers of points tell their features: a corner of A
inside B's feature, a corner of B inside A's, two edges crossing, ends of parallel segments; 0 is
the deepest point itself, given whenever none of the others is as deep.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.pairs import FoundContacts, Pairs, PosedGeoms
from drystone.kernels.spatial.gjk_polish import tangents
from drystone.kernels.spatial.gjk_refine import CAP, FAR, SURE, UNSURE, Directions
from drystone.kernels.spatial.support import cores_of, set_pair
from drystone.kernels.spatial.support_feature import ROOM, Feature, feature_of

DOUBT = -2
SINE = 0.1  # faces and edges within this angle of facing the other body are features
SAME = 1e-9  # points nearer than this, in sizes of the smaller body, are one
CORNER_A, CORNER_B, CROSSING = 1 << 40, 2 << 40, 3 << 40


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
                name = CROSSING + (ida[i] << 20) + idb[j]
                m = add_point(
                    m, A[i, 0] + s * e0, A[i, 1] + s * e1, ha, hb, name, same, found, names
                )
    return m


@kernel
def along_segments(m, A, B, ca, cb, same, found, names):
    """Ends of two nearly parallel segments over each other; off each other sideways by y, round
    bodies are further apart there by y^2 / 2 (r_A + r_B), and sharp edges do not meet at all."""
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
            relief = 0.0
            if y > same:
                if cp + cq <= y:
                    continue
                relief = 0.5 * y * y / (cp + cq)
            hq = Q[0, 2] + t * (Q[1, 2] - Q[0, 2])
            ha, hb = (P[end, 2], hq) if s == 0 else (hq, P[end, 2])
            u = P[end, 0] - 0.5 * (d0 - t * e0)
            v = P[end, 1] - 0.5 * (d1 - t * e1)
            name = (CORNER_A if s == 0 else CORNER_B) + end
            m = add_point(m, u, v, ha + relief, hb, name, same, found, names)
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
            deep = deep or h <= g + same
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
    T, count = np.empty((2, 3)), np.zeros(2, np.int64)
    P, Q = np.empty((ROOM, 3)), np.empty((2, ROOM, 3))
    ids, across = np.empty((2, ROOM), np.int64), np.empty((2, ROOM))
    found, names = np.empty((4 * ROOM, 4)), np.empty(4 * ROOM, np.int64)
    k, doubt = np.int64(0), False
    for i in range(margin.size):
        if state[i] == FAR or not g[i] <= margin[i]:
            continue
        a, n = geom[i, 0], normal[i]
        set_pair(cores, geoms, a, geom[i, 1])
        same = SAME * min(size[0], size[1])
        tangents(n, T)
        for s in range(2):
            count[s] = feature_of(cores, s, n, SINE, Feature(P, ids[s], across[s]))
            flatten(count[s], n, T, P, Q[s])
        m = clip(
            count[0], count[1], Q[0], Q[1], ids[0], ids[1], across[0], across[1], same, found, names
        )
        if state[i] == CAP:
            state[i] = UNSURE
            for j in range(m):
                if found[j, 2] - found[j, 3] <= g[i] + size[2] + size[3] + same:
                    state[i] = SURE
            doubt = doubt or state[i] == UNSURE
        if k + m + 1 > contacts.gap.size:
            return -1
        limits, place = (g[i], margin[i], same), (size[2], size[3], x[a], n, T, mid[i])
        k = put(contacts, k, i, m, limits, place, found, names)
    return DOUBT if doubt else k
