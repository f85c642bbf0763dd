"""Ellipsoids and superquadrics with each other: extremal points, cached and predicted.

Cache of a pair: 0 how much is known (0 nothing, 1 points, 2 points and rates), 1-3 the point of
A, 4-6 that of B, 7-12 their changes in the last step, all in world axes. The next guess is
p + p' of (5-3), with the last step's difference as rate. Counters: 0 Newton iterations, 1 solves
that began with a prediction, 2 fallbacks, 3 solves, 4 pairs that one separating plane settled.
"""

import numpy as np

from drystone.kernels._calls import call
from drystone.kernels._jit import kernel
from drystone.kernels.pairs import GAP_TOL, FoundContacts, Pairs, PosedGeoms
from drystone.kernels.spatial.frames import put
from drystone.kernels.spatial.smooth_surface import (
    derivatives,
    gauge,
    read_surface,
    rolling_ball,
    support,
)

# ---- Extremal points of two smooth bodies: Newton on the eight equations (5-2) of Baraff (1992).
#
#     E1: grad F(a) + l2 grad G(b) = 0     E2: F(a) = 0
#     E4: (b - a) + l1 grad G(b) = 0       E3: G(b) = 0
#
# a, b are points of A and B. Apart they are the nearest points (l1 > 0), in penetration the deepest
# ones (l1 < 0); normals oppose when l2 > 0. Three things make plain Newton quick and safe:
# - E4 gives da = E4 + (I + l1 Hess G) db + grad G dl1, which leaves five unknowns; same step;
# - after each step the points return to their surfaces by one division (E2 = E3 = 0), and l1, l2
#   are the least-squares ones, so only points need to be cached;
# - where both surfaces are flat the matrix is singular and the points slide freely: a small
#   multiple of the identity added to the Hessians makes a and b meet halfway.
#
# A pair is held in arrays of two rows, A and B: S (2, 5) surfaces, C (2, 3) centres, R (2, 3, 3)
# frames, P (2, 3) points, in axes of the world. (One call site for both keeps compiling short.)

EXTREMAL_STEPS = 30  # more means that the guess was hopeless: the caller falls back
EXTREMAL_TOL = 1e-11  # of normals [1] and points [sizes]; the gap's error is its square
RAISED_BY = 1e-7  # Hessians are raised by this share of |gradient| / size


@kernel
def _evaluate(S, C, R, P, G, H, g, K):
    """Put P on the surfaces; gradients G (2, 3), Hessians H (2, 3, 3). g (3,), K (3, 3) scratch."""
    for o in range(2):
        d0, d1, d2 = P[o, 0] - C[o, 0], P[o, 1] - C[o, 1], P[o, 2] - C[o, 2]
        phi = derivatives(
            S[o],
            R[o, 0, 0] * d0 + R[o, 1, 0] * d1 + R[o, 2, 0] * d2,
            R[o, 0, 1] * d0 + R[o, 1, 1] * d1 + R[o, 2, 1] * d2,
            R[o, 0, 2] * d0 + R[o, 1, 2] * d1 + R[o, 2, 2] * d2,
            g,
            K,
        )
        P[o, 0], P[o, 1], P[o, 2] = C[o, 0] + d0 / phi, C[o, 1] + d1 / phi, C[o, 2] + d2 / phi
        for i in range(3):
            r0, r1, r2 = R[o, i, 0], R[o, i, 1], R[o, i, 2]
            G[o, i] = (r0 * g[0] + r1 * g[1] + r2 * g[2]) / phi
            c0 = r0 * K[0, 0] + r1 * K[1, 0] + r2 * K[2, 0]
            c1 = r0 * K[0, 1] + r1 * K[1, 1] + r2 * K[2, 1]
            c2 = r0 * K[0, 2] + r1 * K[1, 2] + r2 * K[2, 2]
            for j in range(3):
                H[o, i, j] = c0 * R[o, j, 0] + c1 * R[o, j, 1] + c2 * R[o, j, 2]


@kernel
def _solve5(M):
    """Gauss with row pivoting on M (5, 6) in place, answer in the last column."""
    for k in range(5):
        best = k
        for i in range(k + 1, 5):
            if abs(M[i, k]) > abs(M[best, k]):
                best = i
        for j in range(k, 6):
            M[k, j], M[best, j] = M[best, j], M[k, j]
        inverse = 1.0 / M[k, k]
        for j in range(k + 1, 6):
            M[k, j] *= inverse
            for i in range(k + 1, 5):
                M[i, j] -= M[i, k] * M[k, j]
    for k in range(3, -1, -1):
        for j in range(k + 1, 5):
            M[k, 5] -= M[k, j] * M[j, 5]


@kernel
def _newton(P, G, H, l1, l2, f, g, limit, M):
    """One step of P, at most `limit` long: M (5, 6) in (db, g dl1, g/f dl2); f, g = |gradients|."""
    for i in range(4):
        for j in range(6):
            M[i, j] = 0.0
    for i in range(3):
        M[i, 4] = G[1, i] / g
        M[i, 5] = -(G[0, i] + l2 * G[1, i]) / f
        for j in range(3):
            M[i, j] += l2 * H[1, i, j] / f
            # rows of E1 and E2 through da: Hess F or grad F times (I + l1 Hess G, grad G, E4)
            e4 = P[1, j] - P[0, j] + l1 * G[1, j]
            M[i, 3] += H[0, i, j] * G[1, j] / (f * g)
            M[i, 5] -= H[0, i, j] * e4 / f
            for k in range(3):
                M[i, k] += H[0, i, j] * ((1.0 if j == k else 0.0) + l1 * H[1, j, k]) / f
        e4 = P[1, i] - P[0, i] + l1 * G[1, i]
        M[3, i] += G[0, i] / f
        M[3, 3] += G[0, i] * G[1, i] / (f * g)
        M[3, 5] -= G[0, i] * e4 / f
        for k in range(3):
            M[3, k] += l1 * G[0, i] * H[1, i, k] / f
        M[4, i] = G[1, i] / g
        M[4, 3 + i] = 0.0
    _solve5(M)
    longest = 0.0
    for o in range(2):
        length = 0.0
        for i in range(3):
            d = M[i, 5]
            if o == 0:
                d += P[1, i] - P[0, i] + (l1 + M[3, 5] / g) * G[1, i]
                for j in range(3):
                    d += l1 * H[1, i, j] * M[j, 5]
            M[o, i] = d
            length += d * d
        longest = max(longest, length)
    cut = min(1.0, limit / np.sqrt(longest))
    for o in range(2):
        for i in range(3):
            P[o, i] += cut * M[o, i]


@kernel
def extremal_points(S, C, R, P, G, H, g, K, M):
    """Improve the guesses P (2, 3) to extremal points; -> Newton steps, or -1: failed.

    G (2, 3) out: grad F, grad G there; H (2, 3, 3), g (3,), K (3, 3), M (5, 6): scratch. A
    solution is refused if normals do not oppose.
    """
    size = min(max(S[0, 0], S[0, 1], S[0, 2]), max(S[1, 0], S[1, 1], S[1, 2]))
    for step in range(EXTREMAL_STEPS + 1):
        _evaluate(S, C, R, P, G, H, g, K)
        ff, gg, fg, dg = 0.0, 0.0, 0.0, 0.0
        for k in range(3):
            ff += G[0, k] * G[0, k]
            gg += G[1, k] * G[1, k]
            fg += G[0, k] * G[1, k]
            dg += G[1, k] * (P[0, k] - P[1, k])
        l1, l2, e1, e4 = dg / gg, -fg / gg, 0.0, 0.0
        for k in range(3):
            e1 += (G[0, k] + l2 * G[1, k]) ** 2
            e4 += (P[1, k] - P[0, k] + l1 * G[1, k]) ** 2
        if e1 <= EXTREMAL_TOL * EXTREMAL_TOL * ff and e4 <= (EXTREMAL_TOL * size) ** 2:
            return step if l2 > 0.0 else -1
        if step == EXTREMAL_STEPS or not e1 + e4 < np.inf:
            break
        f, h = np.sqrt(ff), np.sqrt(gg)
        for k in range(3):
            H[0, k, k] += RAISED_BY * f / size
            H[1, k, k] += RAISED_BY * h / size
        _newton(P, G, H, l1, l2, f, h, 0.5 * size, M)
    return -1


@kernel
def separation(S, C, R, n, P):
    """The separation along unit n (3,); writes the support points P (2, 3)."""
    s = 0.0
    for o in range(2):
        sign = 2.0 * o - 1.0  # A is lowest, B highest along n
        n0, n1, n2 = sign * n[0], sign * n[1], sign * n[2]
        u, v, w = support(
            S[o],
            R[o, 0, 0] * n0 + R[o, 1, 0] * n1 + R[o, 2, 0] * n2,
            R[o, 0, 1] * n0 + R[o, 1, 1] * n1 + R[o, 2, 1] * n2,
            R[o, 0, 2] * n0 + R[o, 1, 2] * n1 + R[o, 2, 2] * n2,
        )
        for k in range(3):
            P[o, k] = C[o, k] + R[o, k, 0] * u + R[o, k, 1] * v + R[o, k, 2] * w
            s -= sign * n[k] * P[o, k]
    return s


@kernel
def _guess(row, S, C, R, P):
    """Points to start from: predicted, or where the line of the centres leaves both bodies.

    The gauge cuts that line exactly, so no bisection is needed.
    """
    for o in range(2):
        d0, d1, d2 = C[1 - o, 0] - C[o, 0], C[1 - o, 1] - C[o, 1], C[1 - o, 2] - C[o, 2]
        if d0 == 0.0 and d1 == 0.0 and d2 == 0.0:
            d2 = 2.0 * o - 1.0
        phi = gauge(
            S[o],
            R[o, 0, 0] * d0 + R[o, 1, 0] * d1 + R[o, 2, 0] * d2,
            R[o, 0, 1] * d0 + R[o, 1, 1] * d1 + R[o, 2, 1] * d2,
            R[o, 0, 2] * d0 + R[o, 1, 2] * d1 + R[o, 2, 2] * d2,
        )
        P[o, 0], P[o, 1], P[o, 2] = C[o, 0] + d0 / phi, C[o, 1] + d1 / phi, C[o, 2] + d2 / phi
        if row[0] > 0.0:
            for k in range(3):
                P[o, k] = row[1 + 3 * o + k] + row[7 + 3 * o + k]


@kernel
def _beyond(S, C, R, P, far, n, other):
    """Whether the plane normal to a - b proves a gap above `far`, without any iteration."""
    d = 0.0
    for k in range(3):
        n[k] = P[0, k] - P[1, k]
        d += n[k] * n[k]
    d = np.sqrt(d)
    if d <= far:
        return False
    for k in range(3):
        n[k] /= d
    return separation(S, C, R, n, other) > far


@kernel
def _remember(row, P, rates):
    """Store the points and, where the last ones were extremal too, their change."""
    for o in range(2):
        for k in range(3):
            row[7 + 3 * o + k] = P[o, k] - row[1 + 3 * o + k] if rates else 0.0
            row[1 + 3 * o + k] = P[o, k]
    row[0] = 2.0 if rates else 1.0


@kernel
def _normal(P, G, n):
    """Unit normal n (3,) from B to A, the mean of both surfaces' (so it does not matter which
    body is called A); -> the gap along it."""
    ff, gg, norm, gap = 0.0, 0.0, 0.0, 0.0
    for k in range(3):
        ff += G[0, k] * G[0, k]
        gg += G[1, k] * G[1, k]
    for k in range(3):
        n[k] = G[1, k] / np.sqrt(gg) - G[0, k] / np.sqrt(ff)
        norm += n[k] * n[k]
    for k in range(3):
        n[k] /= np.sqrt(norm)
        gap += n[k] * (P[0, k] - P[1, k])
    return gap


@kernel
def _slack(S):
    """Error of a gap that counts as none [m]."""
    return GAP_TOL * min(max(S[0, 0], S[0, 1], S[0, 2]), max(S[1, 0], S[1, 1], S[1, 2]))


@kernel
def _is_tight(S, C, R, n, g, other):
    """Whether a gap g of two points, never less than the separation along n, is as much as that.
    other (2, 3): scratch."""
    return abs(g - separation(S, C, R, n, other)) <= _slack(S)


@kernel
def _is_only(S, g):
    """Whether no other maximum can be as great: balls of that depth, one in each body, can roll
    inside."""
    return g > -(rolling_ball(S[0]) + rolling_ball(S[1]))


@kernel
def contact_smooth_smooth(pairs: Pairs, geoms: PosedGeoms, contacts: FoundContacts):
    """One contact per pair, halfway between the extremal points."""
    geom, margin, cache, stats = pairs.geom, pairs.margin, pairs.cache, pairs.stats
    x, R, first, numbers = geoms.x, geoms.R, geoms.first, geoms.numbers
    S, C, P, G = np.empty((2, 5)), np.empty((2, 3)), np.empty((2, 3)), np.empty((2, 3))
    T, H, M = np.empty((2, 3, 3)), np.empty((3, 3, 3)), np.empty((5, 6))
    n, m, gap = np.empty(3), np.empty(3), np.empty(1)
    found, k = np.empty((2, 3)), np.int64(0)
    for i in range(margin.size):
        for o in range(2):
            read_surface(first, numbers, geom[i, o], S[o])
            for j in range(3):
                C[o, j] = x[geom[i, o], j]
                for c in range(3):
                    T[o, j, c] = R[geom[i, o], j, c]
        row = cache[i]
        known = row[0]
        _guess(row, S, C, T, P)
        if _beyond(S, C, T, P, margin[i], n, G):
            stats[4] += 1
            known = 0.0
            _remember(row, P, known > 0.0)
            continue
        if k == contacts.gap.size:
            return -1
        steps, g = extremal_points(S, C, T, P, G, H[:2], n, H[2], M), 0.0
        if steps >= 0:
            g = _normal(P, G, n)
        fallen = steps < 0 or not (_is_only(S, g) and _is_tight(S, C, T, n, g, G))
        if fallen:
            call(pairs.calls[0], (geoms, geom[i, 0], geom[i, 1], n, P, gap))
            g = gap[0]
            for o in range(2):
                for j in range(3):
                    found[o, j] = P[o, j]
            steps = extremal_points(S, C, T, found, G, H[:2], m, H[2], M)
            polished = _normal(found, G, m) if steps >= 0 else -np.inf
            if abs(polished - g) <= _slack(S) and _is_tight(S, C, T, m, polished, G):
                g = polished
                for o in range(2):
                    for j in range(3):
                        P[o, j] = found[o, j]
                for j in range(3):
                    n[j] = m[j]
        stats[0] += max(steps, 0)
        stats[1] += 1 if known == 2.0 else 0
        stats[2] += 1 if fallen else 0
        stats[3] += 1
        _remember(row, P, known > 0.0)
        if g <= margin[i]:
            p = (
                0.5 * (P[0, 0] + P[1, 0] + g * n[0]),
                0.5 * (P[0, 1] + P[1, 1] + g * n[1]),
                0.5 * (P[0, 2] + P[1, 2] + g * n[2]),
            )
            k = put(contacts, k, i, p, (n[0], n[1], n[2]), g, 0)
    return k
