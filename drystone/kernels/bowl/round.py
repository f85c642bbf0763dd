"""Round bodies in a bowl: all local minima of the distance to its wall.

With support functions h of the hollow W and of the body X, a direction m outwards gives the gap
g(m) = h_W(m) - h_X(m), with gradient p_W - p_X across m and second derivative
rho_W - rho_X - g, rho the radii of curvature: a contact is a local minimum, where X is more curved
than W. There may be several (both ends of an egg), so the search starts in several directions.
"""

import numpy as np

from drystone.kernels._calls import call
from drystone.kernels._jit import kernel
from drystone.kernels.kinds import CAPSULE, SPHERE, SURFACE
from drystone.kernels.pairs import FoundContacts, Pairs, PosedGeoms
from drystone.kernels.spatial.smooth_surface import read_surface
from drystone.kernels.spatial.smooth_surface import support as gauge_support
from drystone.kernels.spatial.smooth_write import put

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
def _across(m, T):
    """Unit vectors T (2, 3) across m."""
    s = 1.0 if m[2] >= 0.0 else -1.0
    a = -1.0 / (s + m[2])
    T[0, 0], T[0, 1], T[0, 2] = 1.0 + s * m[0] * m[0] * a, s * m[0] * m[1] * a, -s * m[0]
    T[1, 0], T[1, 1], T[1, 2] = m[0] * m[1] * a, s + m[1] * m[1] * a, -m[1]


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
        _across(m, T)
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
