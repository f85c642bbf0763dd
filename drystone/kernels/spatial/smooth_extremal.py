"""Extremal points of two smooth bodies: Newton on the eight equations (5-2) of Baraff (1992).

    E1: grad F(a) + l2 grad G(b) = 0     E2: F(a) = 0
    E4: (b - a) + l1 grad G(b) = 0       E3: G(b) = 0

a, b are points of A and B, here in the frame of A; B's frame is turned by Q and moved by t. Apart
they are the nearest points (l1 > 0), in penetration the deepest ones (l1 < 0); normals oppose
when l2 > 0. Three things make plain Newton quick and safe:
- E4 gives da = E4 + (I + l1 Hess G) db + grad G dl1, which leaves five unknowns; same step;
- after each step the points return to their surfaces by one division (E2 = E3 = 0), and l1, l2
  are the least-squares ones, so only points need to be cached;
- where both surfaces are flat the matrix is singular and the points slide freely: a small
  multiple of the identity added to the Hessians makes a and b meet halfway.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.spatial.smooth_surface import derivatives, gauge

STEPS = 30  # more means that the guess was hopeless: the caller falls back
TOL = 1e-11  # of normals [1] and points [sizes]; the gap's error is its square
LEVEL = 1e-7  # Hessians are raised by this, relative to their size, where they are singular
INSIDE = 1e-9  # slack of "the deepest points lie inside the other body"


@kernel
def on_surface(s, p):
    """Move p (3,), in the body's frame, to the surface along the ray from the centre."""
    phi = gauge(s, p[0], p[1], p[2])
    for k in range(3):
        p[k] /= phi


@kernel
def to_body(Q, t, p, y):
    """y (3,) = Q' (p - t): from A's frame to B's."""
    dx, dy, dz = p[0] - t[0], p[1] - t[1], p[2] - t[2]
    for k in range(3):
        y[k] = Q[0, k] * dx + Q[1, k] * dy + Q[2, k] * dz


@kernel
def _turn_derivatives(Q, gl, Hl, g, H):
    """g = Q gl, H = Q Hl Q' for symmetric Hl."""
    for i in range(3):
        g[i] = Q[i, 0] * gl[0] + Q[i, 1] * gl[1] + Q[i, 2] * gl[2]
        c0 = Q[i, 0] * Hl[0, 0] + Q[i, 1] * Hl[1, 0] + Q[i, 2] * Hl[2, 0]
        c1 = Q[i, 0] * Hl[0, 1] + Q[i, 1] * Hl[1, 1] + Q[i, 2] * Hl[2, 1]
        c2 = Q[i, 0] * Hl[0, 2] + Q[i, 1] * Hl[1, 2] + Q[i, 2] * Hl[2, 2]
        for j in range(3):
            H[i, j] = c0 * Q[j, 0] + c1 * Q[j, 1] + c2 * Q[j, 2]


@kernel
def _solve5(M):
    """Gauss with row pivoting on M (5, 6) in place, answer in the last column."""
    for k in range(5):
        best = k
        for i in range(k + 1, 5):
            if abs(M[i, k]) > abs(M[best, k]):
                best = i
        if best != k:
            for j in range(k, 6):
                M[k, j], M[best, j] = M[best, j], M[k, j]
        inverse = 1.0 / M[k, k]
        for i in range(k + 1, 5):
            f = M[i, k] * inverse
            for j in range(k + 1, 6):
                M[i, j] -= f * M[k, j]
    for k in range(4, -1, -1):
        for j in range(k + 1, 5):
            M[k, 5] -= M[k, j] * M[j, 5]
        M[k, 5] /= M[k, k]


@kernel
def _fill5(a, b, gF, HF, gG, HG, l1, l2, f, g, M):
    """The Newton system in (db, g dl1, g/f dl2), with f = |grad F|, g = |grad G|."""
    for i in range(3):
        c1, e4 = 0.0, 0.0
        for j in range(3):
            c = HF[i, j] + l2 * HG[i, j]
            for k in range(3):
                c += l1 * HF[i, k] * HG[k, j]
            M[i, j] = c / f
            c1 += HF[i, j] * gG[j]
            e4 += HF[i, j] * (b[j] - a[j] + l1 * gG[j])
        M[i, 3] = c1 / (f * g)
        M[i, 4] = gG[i] / g
        M[i, 5] = -(gF[i] + l2 * gG[i] + e4) / f
    c1, e4 = 0.0, 0.0
    for j in range(3):
        c = gF[j]
        for k in range(3):
            c += l1 * gF[k] * HG[k, j]
        M[3, j] = c / f
        M[4, j] = gG[j] / g
        c1 += gF[j] * gG[j]
        e4 += gF[j] * (b[j] - a[j] + l1 * gG[j])
    M[3, 3], M[3, 4], M[3, 5] = c1 / (f * g), 0.0, -e4 / f
    M[4, 3], M[4, 4], M[4, 5] = 0.0, 0.0, 0.0


@kernel
def _move(a, b, gG, HG, l1, g, M, limit):
    """Add the step in M[:, 5] to b, and to a the one that E4 gives, both cut to `limit`."""
    da0, da1, da2, longest = 0.0, 0.0, 0.0, 0.0
    for i in range(3):
        d = b[i] - a[i] + (l1 + M[3, 5] / g) * gG[i] + M[i, 5]
        for j in range(3):
            d += l1 * HG[i, j] * M[j, 5]
        if i == 0:
            da0 = d
        elif i == 1:
            da1 = d
        else:
            da2 = d
        longest += M[i, 5] * M[i, 5]
    longest = np.sqrt(max(longest, da0 * da0 + da1 * da1 + da2 * da2))
    cut = min(1.0, limit / longest) if longest > 0.0 else 0.0
    a[0] += cut * da0
    a[1] += cut * da1
    a[2] += cut * da2
    for i in range(3):
        b[i] += cut * M[i, 5]


@kernel
def extremal_points(sa, sb, Q, t, a, b, vectors, hessians, system):
    """Improve a, b (3,), guesses in A's frame, to extremal points; -> Newton steps, -1: failed.

    vectors (4, 3), hessians (3, 3, 3), system (5, 6): scratch; vectors[0] and vectors[1] hold
    grad F and grad G in A's frame at the end. A solution is refused if normals do not oppose, or
    if the points of a penetration lie outside the other body (the root of greatest distance).
    """
    gF, gG, gl, y = vectors[0], vectors[1], vectors[2], vectors[3]
    HF, HG, Hl = hessians[0], hessians[1], hessians[2]
    size = min(max(sa[0], sa[1], sa[2]), max(sb[0], sb[1], sb[2]))
    for step in range(STEPS + 1):
        on_surface(sa, a)
        to_body(Q, t, b, y)
        on_surface(sb, y)
        for k in range(3):
            b[k] = t[k] + Q[k, 0] * y[0] + Q[k, 1] * y[1] + Q[k, 2] * y[2]
        derivatives(sa, a[0], a[1], a[2], gF, HF)
        derivatives(sb, y[0], y[1], y[2], gl, Hl)
        _turn_derivatives(Q, gl, Hl, gG, HG)
        ff, gg, fg, dg = 0.0, 0.0, 0.0, 0.0
        for k in range(3):
            ff += gF[k] * gF[k]
            gg += gG[k] * gG[k]
            fg += gF[k] * gG[k]
            dg += gG[k] * (a[k] - b[k])
        l1, l2, e1, e4 = dg / gg, -fg / gg, 0.0, 0.0
        for k in range(3):
            e1 += (gF[k] + l2 * gG[k]) ** 2
            e4 += (b[k] - a[k] + l1 * gG[k]) ** 2
        if e1 <= TOL * TOL * ff and e4 <= (TOL * size) ** 2:
            return step if _accepted(sa, sb, Q, t, a, b, l1, l2, y) else -1
        if step == STEPS or not e1 + e4 < np.inf:
            break
        f, g = np.sqrt(ff), np.sqrt(gg)
        for k in range(3):
            HF[k, k] += LEVEL * f / size
            HG[k, k] += LEVEL * g / size
        _fill5(a, b, gF, HF, gG, HG, l1, l2, f, g, system)
        _solve5(system)
        _move(a, b, gG, HG, l1, g, system, 0.5 * size)
    return -1


@kernel
def _accepted(sa, sb, Q, t, a, b, l1, l2, y):
    """Whether a root of (5-2) is the one of the signed distance."""
    if l2 <= 0.0:
        return False
    if l1 >= 0.0:
        return True
    to_body(Q, t, a, y)
    return gauge(sa, b[0], b[1], b[2]) < 1.0 + INSIDE and gauge(sb, y[0], y[1], y[2]) < 1.0 + INSIDE
