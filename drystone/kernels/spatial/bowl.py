"""Contacts inside an ellipsoidal bowl: a concave surface, where extremal points are local."""

import numpy as np

from drystone.kernels._calls import call
from drystone.kernels._jit import kernel
from drystone.kernels.kinds import CAPSULE, POLYHEDRON, SPHERE, SURFACE
from drystone.kernels.pairs import FoundContacts, Pairs, PosedGeoms
from drystone.kernels.profiles import profile_of
from drystone.kernels.spatial.frames import local, put, tangents, turned
from drystone.kernels.spatial.smooth_surface import read_surface
from drystone.kernels.spatial.smooth_surface import support as gauge_support

# ---- Round bodies: all local minima of the distance to the wall.
#
# With support functions h of the hollow W and of the body X, a direction m outwards gives the gap
# g(m) = h_W(m) - h_X(m), with gradient p_W - p_X across m and second derivative rho_W - rho_X - g,
# rho the radii of curvature: a contact is a local minimum, where X is more curved than W. There may
# be several (both ends of an egg), so the search starts in several directions.

STARTS = 15  # directions from which maxima are looked for
SEARCH_STEPS = 40  # from each
DIRECTION_DIFFERENCE = 1e-6  # difference of directions
SAME_DIRECTION = 1e-5  # directions closer than this are one contact


@kernel
def _both(body, S, at, R, numbers, m, P):
    """Support points P (2, 3) along m (3,) of the hollow and of the body, from the bowl's origin
    in world axes; -> g of the cores.

    body (3,) int: kind, first number, end of a capsule; S (2, 5): semi-axes and exponents of
    both; at (2, 3), R (2, 3, 3): their poses. Spheres and ends of capsules are points.
    """
    g = 0.0
    for o in range(2):
        Q, out = R[o], P[o]
        u = Q[0, 0] * m[0] + Q[1, 0] * m[1] + Q[2, 0] * m[2]
        v = Q[0, 1] * m[0] + Q[1, 1] * m[1] + Q[2, 1] * m[2]
        w = Q[0, 2] * m[0] + Q[1, 2] * m[1] + Q[2, 2] * m[2]
        if o == 1 and body[0] == SURFACE:
            call(np.int64(numbers[body[1]]), (numbers, body[1], u, v, w, out))
            u, v, w = out[0], out[1], out[2]
        elif o == 1 and body[0] in (SPHERE, CAPSULE):
            u, v, w = 0.0, 0.0, 0.0
            if body[0] == CAPSULE:
                w = (2.0 * body[2] - 1.0) * numbers[body[1]]
        else:
            u, v, w = gauge_support(S[o], u, v, w)
        for k in range(3):
            out[k] = at[o, k] + Q[k, 0] * u + Q[k, 1] * v + Q[k, 2] * w
            g += (1.0 - 2.0 * o) * m[k] * out[k]
    return g


@kernel
def _slope(T, P, out):
    """out (2,): p_W - p_X along T."""
    for j in range(2):
        out[j] = 0.0
        for k in range(3):
            out[j] += T[j, k] * (P[0, k] - P[1, k])


@kernel
def descend(body, S, at, R, numbers, m, P, T, work):
    """Local minimum of g from the unit vector m (3,), in place; P (2, 3): points there.

    T (2, 3), work (4, 3): scratch. -> g, whether it is a minimum to rounding.
    """
    trial, r, q = work[0], work[1], work[2]
    size = max(S[0, 0], S[0, 1], S[0, 2])
    g, good, done, e, f, h = 0.0, False, False, 0.0, 0.0, 0.0
    for step in range(SEARCH_STEPS + 1):
        tangents(m, T)
        e = f = h = 0.0
        for j in range(4, -1, -1):  # m itself comes last: its points are left in P
            off = 0.0 if j == 0 else (DIRECTION_DIFFERENCE if j % 2 == 0 else -DIRECTION_DIFFERENCE)
            for k in range(3):
                trial[k] = m[k] + off * T[(j - 1) // 2, k]
            g = _both(body, S, at, R, numbers, trial, P)
            _slope(T, P, r if j == 0 else q)
            if j > 2:
                h += 0.5 * q[1] / off
            elif j > 0:
                e, f = e + 0.5 * q[0] / off, f + 0.5 * q[1] / off
        e, h = e - g, h - g
        half = 0.5 * (e - h)
        least = 0.5 * (e + h) - np.sqrt(half * half + f * f)
        good = least > 0.0
        if done or step == SEARCH_STEPS:
            break
        more = max(0.0, 1e-3 * size - least)
        e, h = e + more, h + more
        det = e * h - f * f
        du, dv = -(h * r[0] - f * r[1]) / det, -(e * r[1] - f * r[0]) / det
        length = np.sqrt(du * du + dv * dv)
        cut, done = (min(1.0, 0.5 / length) if length > 0.0 else 1.0), True
        for _ in range(30):
            norm = 0.0
            for k in range(3):
                trial[k] = m[k] + cut * (du * T[0, k] + dv * T[1, k])
                norm += trial[k] * trial[k]
            for k in range(3):
                trial[k] /= np.sqrt(norm)
            if _both(body, S, at, R, numbers, trial, P) <= g + 1e-15 * size:
                done = cut * length <= 1e-13
                for k in range(3):
                    m[k] = trial[k]
                break
            cut *= 0.4
    return g, good and r[0] * r[0] + r[1] * r[1] <= (1e-8 * size) ** 2


@kernel
def _first(j, s, Ro, Rb, centre, m):
    """Start j of the search: the body's centre seen from the bowl's, then fixed directions."""
    if j == 0:
        for k in range(3):
            m[k] = 0.0
            for c in range(3):
                along = centre[0] * Ro[0, c] + centre[1] * Ro[1, c] + centre[2] * Ro[2, c]
                m[k] += Ro[k, c] * along / (s[c] * s[c])
    elif j < 7:
        sign = 1.0 if j % 2 == 1 else -1.0
        for k in range(3):
            m[k] = sign * Rb[k, (j - 1) // 2]
    else:
        for k in range(3):
            m[k] = 0.0
            for c in range(3):
                m[k] += Ro[k, c] * (1.0 if ((j - 7) >> c) & 1 else -1.0)
    norm = np.sqrt(m[0] * m[0] + m[1] * m[1] + m[2] * m[2])
    if norm == 0.0:
        for k in range(3):
            m[k] = -Ro[k, 2]
        norm = 1.0
    for k in range(3):
        m[k] /= norm


@kernel
def contact_bowl_round(pairs: Pairs, geoms: PosedGeoms, contacts: FoundContacts):
    """Contacts below the rim; feature: 16 times the end of a capsule, and the first start of the
    search that led there."""
    geom, margin, normal = pairs.geom, pairs.margin, contacts.normal
    x, R, first, numbers = geoms.x, geoms.R, geoms.first, geoms.numbers
    body, S, at, Q = np.empty(3, np.int64), np.ones((2, 5)), np.zeros((2, 3)), np.empty((2, 3, 3))
    m, P, T, work = np.empty(3), np.empty((2, 3)), np.empty((2, 3)), np.empty((4, 3))
    count = np.int64(0)
    for i in range(margin.size):
        a, b = geom[i, 0], geom[i, 1]
        kind = geoms.kind[b]
        body[0], body[1] = kind, first[b]
        round_by = 0.0
        if kind in (SPHERE, CAPSULE):
            round_by = numbers[first[b]] if kind == SPHERE else numbers[first[b] + 1]
        elif kind != SURFACE:
            read_surface(first, numbers, b, S[1])
        for k in range(3):
            S[0, k] = numbers[first[a] + k]
            at[1, k] = x[b, k] - x[a, k]
            for c in range(3):
                Q[0, k, c], Q[1, k, c] = R[a, k, c], R[b, k, c]
        for end in range(2 if kind == CAPSULE else 1):
            since, body[2] = count, end
            for j in range(STARTS):
                _first(j, S[0], R[a], R[b], at[1], m)
                g, good = descend(body, S, at, Q, numbers, m, P, T, work)
                g -= round_by
                height = R[a, 0, 2] * P[0, 0] + R[a, 1, 2] * P[0, 1] + R[a, 2, 2] * P[0, 2]
                if not good or g > margin[i] or height > numbers[first[a] + 5]:
                    continue
                new = True
                for c in range(since, count):
                    off = 0.0
                    for k in range(3):
                        off += (normal[c, k] - m[k]) ** 2
                    new = new and off > SAME_DIRECTION * SAME_DIRECTION
                if not new:
                    continue
                if count == contacts.gap.size:
                    return -1
                p = (x[a, 0] + P[0, 0], x[a, 1] + P[0, 1], x[a, 2] + P[0, 2])
                count = put(contacts, count, i, p, (m[0], m[1], m[2]), g, 16 * end + j)
    return count


# ---- Corners of polyhedra, rims of cylinders and cones: the nearest point of the wall.
#
# A convex body inside a convex hollow touches with its corners only. The point of an ellipsoid
# nearest to a point y inside is x_i = a_i^2 y_i / (a_i^2 + t), where t in (-min a^2, 0] is the only
# root there of sum (a_i y_i / (a_i^2 + t))^2 = 1 (Eberly): found by bisection, it cannot fail.

RIM_POINTS = 12  # points of a rim


@kernel
def wall_point(a, y, x, n):
    """Nearest point x (3,) of the ellipsoid with semi-axes a (3,) to y (3,), and the outer normal
    n (3,) there; -> n.(x - y), positive inside. On the medial axis the lower point is taken."""
    thin = 0
    for k in range(3):
        if a[k] < a[thin]:
            thin = k
    low, high = -a[thin] * a[thin], 0.0
    for k in range(3):
        high += (a[k] * y[k]) ** 2
    high = max(np.sqrt(high), 0.0)
    for _ in range(200):
        t = 0.5 * (low + high)
        if t <= low or t >= high:
            break
        total = 0.0
        for k in range(3):
            total += (a[k] * y[k] / (a[k] * a[k] + t)) ** 2
        if total > 1.0:
            low = t
        else:
            high = t
    rest = 1.0
    for k in range(3):
        if k != thin:
            x[k] = a[k] * a[k] * y[k] / (a[k] * a[k] + high)
            rest -= (x[k] / a[k]) ** 2
    # the thin axis by what is left: y may be zero there
    x[thin] = a[thin] * np.sqrt(max(rest, 0.0)) * (1.0 if y[thin] > 0.0 else -1.0)
    length = 0.0
    for k in range(3):
        n[k] = x[k] / (a[k] * a[k])
        length += n[k] * n[k]
    gap = 0.0
    for k in range(3):
        n[k] /= np.sqrt(length)
        gap += n[k] * (x[k] - y[k])
    return gap


@kernel
def corner(geoms, b, k, q):
    """Corner k of geom b, in its frame: vertices, ring points of both ends, apex."""
    kind, numbers, f0 = geoms.kind[b], geoms.numbers, geoms.first[b]
    if kind == POLYHEDRON:
        for c in range(3):
            q[c] = numbers[f0 + 3 * k + c]
        return
    p = profile_of(kind, numbers, f0)
    r, q[2] = (p.wide_low, p.low) if k < RIM_POINTS else (p.wide_high, p.high)
    angle = 2.0 * np.pi * k / RIM_POINTS
    q[0], q[1] = r * np.cos(angle), r * np.sin(angle)


@kernel
def corners(geoms, b):
    """How many there are."""
    if geoms.kind[b] == POLYHEDRON:
        return geoms.ints[geoms.first_int[b]]
    pointed = profile_of(geoms.kind[b], geoms.numbers, geoms.first[b]).wide_high == 0.0
    return RIM_POINTS + 1 if pointed else 2 * RIM_POINTS


@kernel
def contact_bowl_corners(pairs: Pairs, geoms: PosedGeoms, contacts: FoundContacts):
    """One contact for each corner near the wall below the rim; feature: its number."""
    geom, margin, x, R = pairs.geom, pairs.margin, geoms.x, geoms.R
    a, y, w, n, q = np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    count = np.int64(0)
    for i in range(margin.size):
        o, b = geom[i, 0], geom[i, 1]
        for k in range(3):
            a[k] = geoms.numbers[geoms.first[o] + k]
        rim = geoms.numbers[geoms.first[o] + 5]
        for k in range(corners(geoms, b)):
            corner(geoms, b, k, q)
            q[0], q[1], q[2] = turned(R[b], q[0], q[1], q[2])
            for c in range(3):
                q[c] += x[b, c]
            y[0], y[1], y[2] = local(x[o], R[o], q)
            g = wall_point(a, y, w, n)
            if not g <= margin[i] or w[2] > rim:
                continue
            if count == contacts.gap.size:
                return -1
            px, py, pz = turned(R[o], w[0], w[1], w[2])
            p = (x[o, 0] + px, x[o, 1] + py, x[o, 2] + pz)
            count = put(contacts, count, i, p, turned(R[o], n[0], n[1], n[2]), g, k)
    return count
