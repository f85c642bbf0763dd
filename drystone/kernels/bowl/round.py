"""Round bodies in a bowl: all local minima of the distance to its wall (K12).

With support functions h of the hollow W and of the body X, a direction m outwards gives the gap
g(m) = h_W(m) - h_X(m), with gradient p_W - p_X across m and second derivative
rho_W - rho_X - g, rho the radii of curvature: a contact is a local minimum, where X is more curved
than W. There may be several (both ends of an egg), so the search starts in several directions.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.spatial.smooth_surface import support as wall_support
from drystone.kernels.spatial.smooth_write import put
from drystone.kernels.spatial.support import (
    CAPSULE,
    ELLIPSOID,
    SPHERE,
    SUPERQUADRIC,
    SURFACE,
    set_pair,
    support,
)

STARTS = 15
STEPS = 40
FINE = 1e-6  # difference of directions
SAME = 1e-5  # directions closer than this are one contact


@kernel
def _both(s, Ro, end, spec, frame, numbers, ints, m, P):
    """Support points along m (3,) of the hollow (P[0]) and of the body (P[1]), from the bowl's
    origin in world axes; -> g of the cores."""
    one = 1
    support(one, end, spec, frame, numbers, ints, m[0], m[1], m[2], P)
    u, v, w = wall_support(
        s,
        Ro[0, 0] * m[0] + Ro[1, 0] * m[1] + Ro[2, 0] * m[2],
        Ro[0, 1] * m[0] + Ro[1, 1] * m[1] + Ro[2, 1] * m[2],
        Ro[0, 2] * m[0] + Ro[1, 2] * m[1] + Ro[2, 2] * m[2],
    )
    g = 0.0
    for k in range(3):
        P[0, k] = Ro[k, 0] * u + Ro[k, 1] * v + Ro[k, 2] * w
        g += m[k] * (P[0, k] - P[1, k])
    return g


@kernel
def _across(m, T):
    """Unit vectors T (2, 3) across m."""
    s = 1.0 if m[2] >= 0.0 else -1.0
    a = -1.0 / (s + m[2])
    T[0, 0], T[0, 1], T[0, 2] = 1.0 + s * m[0] * m[0] * a, s * m[0] * m[1] * a, -s * m[0]
    T[1, 0], T[1, 1], T[1, 2] = m[0] * m[1] * a, s + m[1] * m[1] * a, -m[1]


@kernel
def _slope(g, m, T, P, out):
    """out (2,): p_W - p_X along T."""
    for j in range(2):
        out[j] = 0.0
        for k in range(3):
            out[j] += T[j, k] * (P[0, k] - P[1, k])


@kernel
def descend(s, Ro, end, spec, frame, numbers, ints, m, P, T, work):
    """Local minimum of g from the unit vector m (3,), in place; P (2, 3): points there.

    T (2, 3), work (4, 3): scratch. -> g, whether it is a minimum to rounding.
    """
    trial, r, q = work[0], work[1], work[2]
    g = _both(s, Ro, end, spec, frame, numbers, ints, m, P)
    size = max(s[0], s[1], s[2])
    good, e, f, h = False, 0.0, 0.0, 0.0
    for _ in range(STEPS):
        _across(m, T)
        _both(s, Ro, end, spec, frame, numbers, ints, m, P)
        _slope(g, m, T, P, r)
        e = f = h = 0.0
        for j in range(4):
            step = FINE if j % 2 == 0 else -FINE
            for k in range(3):
                trial[k] = m[k] + step * T[j // 2, k]
            _both(s, Ro, end, spec, frame, numbers, ints, trial, P)
            _slope(g, m, T, P, q)
            if j < 2:
                e, f = e + 0.5 * q[0] / step, f + 0.5 * q[1] / step
            else:
                h += 0.5 * q[1] / step
        e, h = e - g, h - g
        half = 0.5 * (e - h)
        least = 0.5 * (e + h) - np.sqrt(half * half + f * f)
        good = least > 0.0
        more = max(0.0, 1e-3 * size - least)
        e, h = e + more, h + more
        det = e * h - f * f
        du, dv = -(h * r[0] - f * r[1]) / det, -(e * r[1] - f * r[0]) / det
        length = np.sqrt(du * du + dv * dv)
        cut = min(1.0, 0.5 / length) if length > 0.0 else 1.0
        found = False
        for _ in range(30):
            norm = 0.0
            for k in range(3):
                trial[k] = m[k] + cut * (du * T[0, k] + dv * T[1, k])
                norm += trial[k] * trial[k]
            for k in range(3):
                trial[k] /= np.sqrt(norm)
            low = _both(s, Ro, end, spec, frame, numbers, ints, trial, P)
            if low <= g + 1e-15 * size:
                found = True
                break
            cut *= 0.4
        if not found:
            break
        for k in range(3):
            m[k] = trial[k]
        g = low
        if cut * length <= 1e-13:
            break
    g = _both(s, Ro, end, spec, frame, numbers, ints, m, P)
    _slope(g, m, T, P, r)
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
def contact_bowl_round(
    kind, pairs, margin, x, R, first, numbers, first_int, ints,
    which, point, normal, gap, feature,
):  # fmt: skip
    """Contacts below the rim; feature: 16 times the end of a capsule, and the first start of the
    search that led there."""
    spec, frame, size = np.zeros((2, 4), np.int64), np.zeros((2, 12)), np.zeros(4)
    s, m, P, T, work = np.ones(5), np.empty(3), np.empty((2, 3)), np.empty((2, 3)), np.empty((4, 3))
    count = np.int64(0)
    spec[0, 0], spec[1, 0] = kind, kind
    for i in range(pairs.shape[0]):
        a, b = pairs[i, 0], pairs[i, 1]
        set_pair(a, b, x, R, first, numbers, first_int, ints, spec, frame, size)
        for k in range(3):
            s[k] = numbers[first[a] + k]
        for end in range(2 if kind == CAPSULE else 1):
            since = count
            for j in range(STARTS):
                _first(j, s, R[a], R[b], frame[1, 9:], m)
                g, good = descend(s, R[a], end, spec, frame, numbers, ints, m, P, T, work)
                g -= size[3]
                height = R[a, 0, 2] * P[0, 0] + R[a, 1, 2] * P[0, 1] + R[a, 2, 2] * P[0, 2]
                if not good or g > margin[i] or height > numbers[first[a] + 5]:
                    continue
                new = True
                for c in range(since, count):
                    off = 0.0
                    for k in range(3):
                        off += (normal[c, k] - m[k]) ** 2
                    new = new and off > SAME * SAME
                if not new:
                    continue
                if count == which.size:
                    return -1
                count = put(
                    count, i, x[a, 0] + P[0, 0], x[a, 1] + P[0, 1], x[a, 2] + P[0, 2],
                    m[0], m[1], m[2], g, 16 * end + j, which, point, normal, gap, feature,
                )  # fmt: skip
    return count


@kernel
def contact_bowl_surface(
    pairs, margin, x, R, first, numbers, first_int, ints, cache,
    which, point, normal, gap, feature, stats,
):  # fmt: skip
    """All local minima."""
    return contact_bowl_round(
        SURFACE, pairs, margin, x, R, first, numbers, first_int, ints,
        which, point, normal, gap, feature,
    )  # fmt: skip


@kernel
def contact_bowl_sphere(
    pairs, margin, x, R, first, numbers, first_int, ints, cache,
    which, point, normal, gap, feature, stats,
):  # fmt: skip
    """All local minima."""
    return contact_bowl_round(
        SPHERE, pairs, margin, x, R, first, numbers, first_int, ints,
        which, point, normal, gap, feature,
    )  # fmt: skip


@kernel
def contact_bowl_ellipsoid(
    pairs, margin, x, R, first, numbers, first_int, ints, cache,
    which, point, normal, gap, feature, stats,
):  # fmt: skip
    """All local minima."""
    return contact_bowl_round(
        ELLIPSOID, pairs, margin, x, R, first, numbers, first_int, ints,
        which, point, normal, gap, feature,
    )  # fmt: skip


@kernel
def contact_bowl_superquadric(
    pairs, margin, x, R, first, numbers, first_int, ints, cache,
    which, point, normal, gap, feature, stats,
):  # fmt: skip
    """All local minima."""
    return contact_bowl_round(
        SUPERQUADRIC, pairs, margin, x, R, first, numbers, first_int, ints,
        which, point, normal, gap, feature,
    )  # fmt: skip


@kernel
def contact_bowl_capsule(
    pairs, margin, x, R, first, numbers, first_int, ints, cache,
    which, point, normal, gap, feature, stats,
):  # fmt: skip
    """Two balls, the ends."""
    return contact_bowl_round(
        CAPSULE, pairs, margin, x, R, first, numbers, first_int, ints,
        which, point, normal, gap, feature,
    )  # fmt: skip
