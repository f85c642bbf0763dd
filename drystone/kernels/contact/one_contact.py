"""One contact, solved exactly: find r with u = W r + q and the friction law.

W (d, d) is a diagonal block, q (d,) the velocity that all other contacts leave here. Cases: open
(r = 0), stick (u = 0 inside the cone), slip (r on the cone). In slip, with lam > 0,
    Coulomb: u_n = 0,            u_t = -lam r_t;
    convex:  u_n = lam mu^2 r_n, u_t = -lam r_t.

The normal is eliminated: c = W_nn, f = W_tn / c, e = W_nt / c (the same where W is symmetric; it
may be slightly unsymmetric) and T = W_tt - c f e'. With p = q_t - f q_n, stick is x = -T^-1 p and
r_n = -q_n / c - e.x. Slip reads (A + lam I) x = -p for a small matrix A (T for Coulomb, scaled rows
of W for the convex law), so x = -N(lam) / chi(lam) with polynomials N = adj(A + lam I) p and
chi = det(A + lam I). The law |r_t| = mu r_n leaves one scalar equation in lam without a
denominator, solved by Newton inside a bracket.

``solve_contact`` is what sweeps over rows and over blocks of W call. ``coulomb_planar``,
``convex_planar`` and ``coulomb_spatial`` are its laws in scalars, with what a contact's block is
reduced to: packed contacts keep that from sweep to sweep and call these.
"""

import numpy as np

from drystone.kernels._jit import kernel, stage
from drystone.kernels.blocks import CONVEX
from drystone.kernels.contact.polyhedral import fastest, inside, slip_polyhedral

SLIP_STEPS = 100  # bisection alone needs about 60; Newton about 5, from a warm start two
ANGLE_STEPS = 12  # Newton needs 3 to 6 from the direction of stick; else the general search
NO_CHANGE = 4e-16  # two roundings: a relative step or bracket that changes nothing any more
FRICTIONLESS = 1e-15  # a smaller coefficient changes nothing that rounding does not


@kernel
def solve_contact(shape, W, k, q, mu, law, lam, work, r, i, corners=None):
    """Write the impulse of contact i into r[i]; return lam, the warm start of its next solve.

    W (nnz, d, d): the block used is W[k]; q (d,) local free velocity; mu < 0: bilateral block.
    work (d + 2, d): scratch. corners (m, 2): of a polyhedral cone in space, or None.
    """
    d = len(shape)
    if mu < 0.0:
        _stick(shape, W, k, q, work, r, i)
        return 0.0
    if q[0] >= _lift(shape, q, mu, law, corners):  # first: rows without a direction have W_nn = 0
        for a in range(d):
            r[i, a] = 0.0
        return 0.0
    if mu <= FRICTIONLESS:
        r[i, 0] = -q[0] / W[k, 0, 0]
        for a in range(1, d):
            r[i, a] = 0.0
        return 0.0
    if d == 2:
        r[i, 0], r[i, 1] = _planar(W[k], q[0], q[1], mu, law)
        return 0.0
    if d == 3 and law != CONVEX and corners is None:
        r[i, 0], r[i, 1], r[i, 2], lam = _spatial(W[k], q, mu, lam)
        return lam
    if _stick(shape, W, k, q, work, r, i) and r[i, 0] > 0.0 and _in_cone(shape, r[i], mu, corners):
        return 0.0
    if corners is not None:
        slip_polyhedral(W[k], q, mu, law == CONVEX, corners, r[i])
        return 0.0
    if d == 3 and _slip_convex(W, k, q, mu, r, i):
        return 0.0
    return _slip_general(shape, W, k, q, mu, law, lam, work, r, i)


@kernel
def _lift(shape, q, mu, law, corners):
    """The normal velocity at and above which a contact is open: of the dual cone, or 0."""
    if law != CONVEX:
        return 0.0
    if corners is not None:
        return mu * fastest(q[1], q[2], corners)
    slip = 0.0
    for a in range(1, len(shape)):
        slip += q[a] * q[a]
    return mu * np.sqrt(slip)


@kernel
def _in_cone(shape, r, mu, corners):
    """Whether |r_t| <= mu r_n, or r_t is in the polygon of these corners."""
    if corners is not None:
        return inside(r[1], r[2], mu * r[0], corners)
    t = 0.0
    for a in range(1, len(shape)):
        t += r[a] * r[a]
    return t <= (mu * r[0]) ** 2


@stage
def _planar(W, qn, qt, mu, law):
    """Impulse (r_n, r_t) of one contact in the plane."""
    c, f, e = W[0, 0], W[1, 0] / W[0, 0], W[0, 1] / W[0, 0]
    T = W[1, 1] - f * W[0, 1]
    x = -(qt - f * qn) / T if T > 0.0 else np.nan  # not a number: it never passes for stick
    if law == CONVEX:
        return convex_planar(c, f, e, W[1, 1], qn, qt, x, mu)
    return coulomb_planar(-qn / c, x, e, mu, 1.0 / (1.0 + mu * e), 1.0 / (1.0 - mu * e))


@stage
def coulomb_planar(g, x, e, mu, plus, minus):
    """(r_n, r_t) by Coulomb's law; g = -q_n / c, x: r_t of stick, plus, minus: 1 / (1 +- mu e).

    In slip friction opposes the velocity, whose sign is that of -x; where the lever makes that
    impossible (1 +- mu e <= 0) the other side is the only one left.
    """
    if g <= 0.0:
        return 0.0, 0.0
    rn = g - e * x
    if rn > 0.0 and abs(x) <= mu * rn:
        return rn, x
    m, part = (mu, plus) if x > 0.0 else (-mu, minus)
    if not 0.0 < part < np.inf:
        m, part = (-mu, minus) if x > 0.0 else (mu, plus)
    rn = g * part
    return rn, m * rn


@stage
def convex_planar(c, f, e, w, qn, qt, x, mu):
    """(r_n, r_t) by the relaxed law; w = W_tt, x: r_t of stick.

    In slip u is orthogonal to the ray (1, s mu) of the cone.
    """
    rn = -qn / c - e * x
    if qn >= mu * abs(qt):
        return 0.0, 0.0
    if rn > 0.0 and abs(x) <= mu * rn:
        return rn, x
    best, n, t = -np.inf, 0.0, 0.0
    for k in range(2):
        s = 1.0 - 2.0 * k
        m = s * mu
        num, den = -qn - m * qt, c + m * (c * e + c * f + m * w)
        if num > 0.0 and den > 0.0:
            # friction must oppose the slip: of two candidates keep the one that does so more
            opposing = -s * (qt + (c * f + m * w) * num / den)
            if opposing > best:
                best, n, t = opposing, num / den, m * num / den
    return n, t


@kernel
def _stick(shape, W, k, q, work, r, i):
    """r = -W^-1 q; False if a pivot says that W is not positive definite."""
    d = len(shape)
    if d == 2:
        det = W[k, 0, 0] * W[k, 1, 1] - W[k, 0, 1] * W[k, 1, 0]
        r[i, 0] = (W[k, 0, 1] * q[1] - W[k, 1, 1] * q[0]) / det
        r[i, 1] = (W[k, 1, 0] * q[0] - W[k, 0, 0] * q[1]) / det
        return det > 0.0
    if d == 3:
        T, p = _eliminate_normal(W[k], q)
        r[i, 0], r[i, 1], r[i, 2] = _stick_spatial(W[k], q, T, p)
        return T[0] > 0.0 and T[0] * T[3] - T[1] * T[2] > 0.0
    return _eliminate(shape, W, k, q, work, r, i)


@kernel
def _eliminate(shape, W, k, q, work, r, i):
    d = len(shape)
    for a in range(d):
        work[d, a] = -q[a]
        for b in range(d):
            work[a, b] = W[k, a, b]
    ok = True
    for c in range(d):
        ok = ok and work[c, c] > 0.0
        for a in range(c + 1, d):
            f = work[a, c] / work[c, c]
            for b in range(c, d):
                work[a, b] -= f * work[c, b]
            work[d, a] -= f * work[d, c]
    for c in range(d - 1, -1, -1):
        total = work[d, c]
        for b in range(c + 1, d):
            total -= work[c, b] * r[i, b]
        r[i, c] = total / work[c, c]
    return ok


@stage
def _eliminate_normal(W, q):
    """T by rows and p of a contact in space."""
    f1, f2 = W[1, 0] / W[0, 0], W[2, 0] / W[0, 0]
    t11, t12 = W[1, 1] - f1 * W[0, 1], W[1, 2] - f1 * W[0, 2]
    t21, t22 = W[2, 1] - f2 * W[0, 1], W[2, 2] - f2 * W[0, 2]
    return (t11, t12, t21, t22), (q[1] - f1 * q[0], q[2] - f2 * q[0])


@stage
def _stick_spatial(W, q, T, p):
    """r = -W^-1 q."""
    (t11, t12, t21, t22), (p1, p2) = T, p
    det = t11 * t22 - t12 * t21
    x1, x2 = (t12 * p2 - t22 * p1) / det, (t21 * p1 - t11 * p2) / det
    return -(q[0] + W[0, 1] * x1 + W[0, 2] * x2) / W[0, 0], x1, x2


@stage
def _spatial(W, q, mu, lam):
    """(r_n, r_1, r_2, lam) of Coulomb's law in space; lam to rounding."""
    T, p = _eliminate_normal(W, q)
    rn, x1, x2 = _stick_spatial(W, q, T, p)
    if not (T[0] > 0.0 and T[0] * T[3] - T[1] * T[2] > 0.0):
        rn = np.nan  # it never passes for stick
    c = W[0, 0]
    e = W[0, 1] / c, W[0, 2] / c
    return coulomb_spatial(q[0], (rn, x1, x2), p, 1.0 / c, e, T, mu, lam, NO_CHANGE)


@stage
def coulomb_spatial(qn, stick, p, inverse, e, T, mu, lam, last):
    """(r_n, r_1, r_2, lam) by Coulomb's law; stick: r of u = 0; the others as in ``slip``."""
    if qn >= 0.0:
        return 0.0, 0.0, 0.0, 0.0
    if mu <= FRICTIONLESS:
        return -qn * inverse, 0.0, 0.0, 0.0
    rn, x1, x2 = stick
    if rn > 0.0 and x1 * x1 + x2 * x2 <= (mu * rn) * (mu * rn):
        return rn, x1, x2, 0.0
    return slip(qn, p, inverse, e, T, mu, lam, last)


@stage
def slip(qn, p, inverse, e, T, mu, lam, last):
    """(r_n, r_1, r_2, lam) of Coulomb slip with two tangents; p, e: pairs; inverse = 1 / c; T: its
    rows; lam: the guess, 0 if there is none; last: relative step of lam after which it is good
    enough.

    x = -N / chi with N = lam p + adj(T) p, and |x| = mu r_n reads L = R with L = |N| and
    R = mu r_n chi = mu (e.N - q_n / c chi). Newton runs on R / L - 1, inside a bracket of L - R:
    1 / |x| is almost linear in lam, as known from trust regions, and exactly so for balls, where T
    is a multiple of I and e = 0.
    """
    (p1, p2), (e1, e2), (t11, t12, t21, t22) = p, e, T
    trace, det = t11 + t22, t11 * t22 - t12 * t21
    a1, a2 = t22 * p1 - t12 * p2, t11 * p2 - t21 * p1
    n0, n1, n2 = a1 * a1 + a2 * a2, a1 * p1 + a2 * p2, p1 * p1 + p2 * p2
    g = qn * inverse
    g0, g1, g2 = (
        mu * (e1 * a1 + e2 * a2 - g * det),
        mu * (e1 * p1 + e2 * p2 - g * trace),
        -mu * g,
    )
    low, high = 0.0, np.inf
    if not lam > 1e-6 * trace:  # none, or one from the border to stick: a poor guess
        lam = 0.1 * trace
    for _ in range(SLIP_STEPS):
        square = max(n0 + lam * (2.0 * n1 + lam * n2), 0.0)
        length, R = np.sqrt(square), g0 + lam * (g1 + lam * g2)
        h = length - R
        if h > 0.0:
            low = lam
        else:
            high = lam
        if abs(h) <= NO_CHANGE * length:
            break
        move = h * square / (square * (g1 + 2.0 * lam * g2) - R * (n1 + lam * n2))
        step = lam + move
        if low < step < high:
            lam = step
            if abs(move) <= last * step:
                break
        elif high < np.inf:
            lam = 0.5 * (low + high)
            if high - low <= NO_CHANGE * high:
                break
        else:
            lam *= 4.0
    part = -1.0 / (det + lam * (trace + lam))
    x1, x2 = (a1 + lam * p1) * part, (a2 + lam * p2) * part
    rn = -g - (e1 * x1 + e2 * x2)
    size = np.sqrt(x1 * x1 + x2 * x2)
    if size > 0.0:  # exactly mu r_n: the normal impulse is the accurate part
        part = mu * rn / size
        x1, x2 = x1 * part, x2 * part
    return rn, x1, x2, lam


@kernel
def _slip_convex(W, k, q, mu, r, i):
    """Convex slip with two tangents: r = s g, g = (1, mu e), e = (cos, sin) of one angle.

    u is orthogonal to the ray g (which gives s) and to its turn h = dg / dangle: Newton on u.h,
    from the direction in which stick left the cone (r[i] on entry). False if it did not arrive at
    the minimum, where u_t opposes r_t: the general search then takes over.
    """
    length = np.sqrt(r[i, 1] ** 2 + r[i, 2] ** 2)
    if not length > 0.0:
        return False
    x, y = r[i, 1] / length, r[i, 2] / length
    for _ in range(ANGLE_STEPS):
        g1, g2, h1, h2 = mu * x, mu * y, -mu * y, mu * x
        wg0 = W[k, 0, 0] + W[k, 0, 1] * g1 + W[k, 0, 2] * g2
        wg1 = W[k, 1, 0] + W[k, 1, 1] * g1 + W[k, 1, 2] * g2
        wg2 = W[k, 2, 0] + W[k, 2, 1] * g1 + W[k, 2, 2] * g2
        D = wg0 + g1 * wg1 + g2 * wg2
        s = -(q[0] + g1 * q[1] + g2 * q[2]) / D
        u1, u2 = q[1] + s * wg1, q[2] + s * wg2
        G = u1 * h1 + u2 * h2
        hwg = h1 * wg1 + h2 * wg2
        whh = h1 * (W[k, 1, 1] * h1 + W[k, 1, 2] * h2) + h2 * (W[k, 2, 1] * h1 + W[k, 2, 2] * h2)
        ds = -(h1 * q[1] + h2 * q[2] + 2.0 * s * hwg) / D
        slope = ds * hwg + s * whh - (u1 * g1 + u2 * g2)
        turn = -G / slope
        if s > 0.0 and u1 * x + u2 * y < 0.0 and abs(turn) <= NO_CHANGE:
            r[i, 0], r[i, 1], r[i, 2] = s, s * g1, s * g2
            return True
        if not abs(turn) < 0.5:
            return False
        x, y = x - turn * y, y + turn * x
        length = np.sqrt(x * x + y * y)
        x, y = x / length, y / length
    return False


@kernel
def _slip_general(shape, W, k, q, mu, law, lam, work, r, i):
    """Slip for any block size and both laws: polynomials by the Faddeev-LeVerrier recursion.

    work rows 0..m-1: coefficient vectors of N, highest power first; row m: of chi after lam^m.
    """
    d = len(shape)
    m = d if law == CONVEX else d - 1
    A = np.empty((d, d))
    _pencil(shape, W, k, q, mu, law, A, work)
    _faddeev(A, m, work)
    low, high = 0.0, np.inf
    sign = 1.0
    if law == CONVEX:
        # chi has one positive root; the law's root lies on the side where r_n > 0
        pole = _chi_root(work, m)
        if _component(work, m, 0, pole) > 0.0:
            high = pole
        else:
            low, sign = pole, -1.0
    if not (low < lam < high):
        lam = 0.5 * (low + high) if high < np.inf else 2.0 * low + 0.1 * W[k, 1, 1]
    for _ in range(SLIP_STEPS):
        h = _imbalance(shape, W, k, q, mu, law, sign, work, lam)
        if sign * h > 0.0:
            low = lam
        else:
            high = lam
        if h == 0.0 or (high < np.inf and high - low <= NO_CHANGE * high):
            break
        eps = 1e-7 * lam
        slope = (_imbalance(shape, W, k, q, mu, law, sign, work, lam + eps) - h) / eps
        step = lam - h / slope
        if not (low < step < high) or abs(step - lam) < NO_CHANGE * lam:
            step = 0.5 * (low + high) if high < np.inf else 4.0 * lam
        lam = step
    chi = _chi(work, m, lam)
    normal = q[0]
    for a in range(1, d):
        r[i, a] = -_component(work, m, a - (d - m), lam) / chi
        normal += W[k, 0, a] * r[i, a]
    r[i, 0] = -_component(work, m, 0, lam) / chi if law == CONVEX else -normal / W[k, 0, 0]
    _onto_cone(r, i, mu)
    return lam


@kernel
def _onto_cone(r, i, mu):
    """Scale the friction to exactly mu r_n; the normal impulse is the accurate part."""
    t = 0.0
    for a in range(1, r.shape[1]):
        t += r[i, a] ** 2
    if t > 0.0:
        f = mu * r[i, 0] / np.sqrt(t)
        for a in range(1, r.shape[1]):
            r[i, a] *= f


@kernel
def _pencil(shape, W, k, q, mu, law, A, work):
    """A and p (into work row 0) of (A + lam I) x = -p."""
    d = len(shape)
    if law == CONVEX:
        for a in range(d):
            s = -1.0 / (mu * mu) if a == 0 else 1.0
            work[0, a] = s * q[a]
            for b in range(d):
                A[a, b] = s * W[k, a, b]
        return
    for a in range(1, d):
        f = W[k, a, 0] / W[k, 0, 0]
        work[0, a - 1] = q[a] - f * q[0]
        for b in range(1, d):
            A[a - 1, b - 1] = W[k, a, b] - f * W[k, 0, b]


@kernel
def _faddeev(A, m, work):
    """adj(A + lam I) p = sum lam^(m-1-j) work[j], det = lam^m + sum lam^(m-1-j) work[m, j]."""
    M = np.eye(m)
    for j in range(m):
        AM = np.zeros((m, m))
        for a in range(m):
            for b in range(m):
                for e in range(m):
                    AM[a, b] += A[a, e] * M[e, b]
        c = 0.0
        for a in range(m):
            c += AM[a, a]
        c /= j + 1.0
        work[m, j] = c
        if j + 1 == m:
            break
        for a in range(m):
            for b in range(m):
                M[a, b] = -AM[a, b]
            M[a, a] += c
        for a in range(m):
            total = 0.0
            for b in range(m):
                total += M[a, b] * work[0, b]
            work[j + 1, a] = total


@kernel
def _component(work, m, a, lam):
    total = 0.0
    for j in range(m):
        total = total * lam + work[j, a]
    return total


@kernel
def _chi(work, m, lam):
    total = 1.0
    for j in range(m):
        total = total * lam + work[m, j]
    return total


@kernel
def _chi_root(work, m):
    """The positive root of chi, which is negative before it and positive after."""
    high = 1.0
    for _ in range(1100):
        if _chi(work, m, high) > 0.0:
            break
        high *= 2.0
    low = 0.0
    for _ in range(1200):
        middle = 0.5 * (low + high)
        if middle <= low or middle >= high:
            break
        if _chi(work, m, middle) > 0.0:
            high = middle
        else:
            low = middle
    return 0.5 * (low + high)


@kernel
def _imbalance(shape, W, k, q, mu, law, sign, work, lam):
    """h(lam), whose root is the slip solution; positive towards stick."""
    d = len(shape)
    if law == CONVEX:
        t = 0.0
        for a in range(1, d):
            t += _component(work, d, a, lam) ** 2
        return np.sqrt(t) - sign * mu * _component(work, d, 0, lam)
    m = d - 1
    t, coupling = 0.0, 0.0
    for a in range(m):
        x = _component(work, m, a, lam)
        t += x * x
        coupling += W[k, 0, a + 1] * x
    return np.sqrt(t) + mu / W[k, 0, 0] * (q[0] * _chi(work, m, lam) - coupling)
