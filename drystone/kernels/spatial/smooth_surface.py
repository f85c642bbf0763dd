"""Surfaces of ellipsoids and superquadrics: implicit function, two derivatives, support points.

With u = |x|/a, v = |y|/b, w = |z|/c and exponents p = 2/e2, m = 2/e1 >= 2 the body is the unit
ball of a norm, its gauge,
    phi = (N^m + w^m)^(1/m),   N = (u^p + v^p)^(1/p),
and the implicit function is F = (phi^2 - 1)/2: negative inside, zero on the surface, as well
scaled for x^20 + ... as for an ellipsoid (where it is quadratic), and C2 for e <= 1 (C1,1 at the
poles when e1 = 1 > e2). As phi is homogeneous, q/phi(q) lies on the surface: a point is put back
on it by one division, and the line through the centre is cut without any search. The support
function is the dual norm, with exponents p/(p - 1) and m/(m - 1), so support points are closed
forms too. A surface is given by s (5,) = a, b, c, e1, e2.
"""

import numpy as np

from drystone.kernels._jit import kernel


@kernel
def read_surface(first, numbers, g, s):
    """Fill s (5,) from a sphere's, ellipsoid's or superquadric's 1, 3 or 5 numbers."""
    start, n = first[g], first[g + 1] - first[g]
    for k in range(3):
        s[k] = numbers[start + k] if n > 1 else numbers[start]
    s[3] = numbers[start + 3] if n > 3 else 1.0
    s[4] = numbers[start + 4] if n > 3 else 1.0


@kernel
def _norm(u, v, p):
    """(u^p + v^p)^(1/p) of u, v >= 0 without overflow; the ratios u/N, v/N (0 = 0/0)."""
    big = max(u, v)
    if big == 0.0:
        return 0.0, 0.0, 0.0
    if p == 2.0:
        n = np.sqrt(u * u + v * v)
    else:
        n = big * (1.0 + (min(u, v) / big) ** p) ** (1.0 / p)
    return n, u / n, v / n


@kernel
def gauge(s, x, y, z):
    """phi of a point in the body's frame: below 1 inside, 1 on the surface."""
    u, v, w = abs(x) / s[0], abs(y) / s[1], abs(z) / s[2]
    if s[3] == 1.0 and s[4] == 1.0:
        return np.sqrt(u * u + v * v + w * w)
    n, _, _ = _norm(u, v, 2.0 / s[4])
    phi, _, _ = _norm(n, w, 2.0 / s[3])
    return phi


@kernel
def derivatives(s, x, y, z, g, H):
    """Write grad F into g (3,) and Hess F into H (3, 3), in the body's frame; -> phi."""
    a, b, c = s[0], s[1], s[2]
    if s[3] == 1.0 and s[4] == 1.0:
        for i in range(3):
            for j in range(3):
                H[i, j] = 0.0
        H[0, 0], H[1, 1], H[2, 2] = 1.0 / (a * a), 1.0 / (b * b), 1.0 / (c * c)
        g[0], g[1], g[2] = H[0, 0] * x, H[1, 1] * y, H[2, 2] * z
        return np.sqrt(g[0] * x + g[1] * y + g[2] * z)
    p, m = 2.0 / s[4], 2.0 / s[3]
    n, ru, rv = _norm(abs(x) / a, abs(y) / b, p)
    phi, rn, rw = _norm(n, abs(z) / c, m)
    if n == 0.0:  # a pole: any direction of (u, v) is as good as another
        ru = 0.5 ** (1.0 / p)
        rv = ru
    pu, pv, pn, pw = ru ** (p - 2.0), rv ** (p - 2.0), rn ** (m - 2.0), rw ** (m - 2.0)
    gn, gw = pn * rn, pw * rw  # dphi/dN, dphi/dw
    sa, sb, sc = np.copysign(1.0 / a, x), np.copysign(1.0 / b, y), np.copysign(1.0 / c, z)
    d0, d1, d2 = gn * pu * ru * sa, gn * pv * rv * sb, gw * sc  # grad phi
    g[0], g[1], g[2] = phi * d0, phi * d1, phi * d2
    # phi Hess phi: the part through N and w, and the part of N itself
    nu, nv = pu * ru * sa, pv * rv * sb
    fnn, fnw, fww = (m - 1.0) * pn * gw * rw, -(m - 1.0) * gn * gw, (m - 1.0) * pw * gn * rn
    own = (p - 1.0) * pn
    H[0, 0] = d0 * d0 + fnn * nu * nu + own * pu * pv * rv * rv * sa * sa
    H[1, 1] = d1 * d1 + fnn * nv * nv + own * pv * pu * ru * ru * sb * sb
    H[0, 1] = d0 * d1 + fnn * nu * nv - own * pu * ru * pv * rv * sa * sb
    H[0, 2] = d0 * d2 + fnw * nu * sc
    H[1, 2] = d1 * d2 + fnw * nv * sc
    H[2, 2] = d2 * d2 + fww * sc * sc
    H[1, 0], H[2, 0], H[2, 1] = H[0, 1], H[0, 2], H[1, 2]
    return phi


@kernel
def support(s, x, y, z):
    """The point of the body farthest along (x, y, z), in the body's frame; 0 for a zero vector."""
    u, v, w = abs(x) * s[0], abs(y) * s[1], abs(z) * s[2]
    if s[3] == 1.0 and s[4] == 1.0:
        h = np.sqrt(u * u + v * v + w * w)
        if h == 0.0:
            return 0.0, 0.0, 0.0
        return s[0] * s[0] * x / h, s[1] * s[1] * y / h, s[2] * s[2] * z / h
    q, t = 2.0 / (2.0 - s[4]), 2.0 / (2.0 - s[3])
    n, ru, rv = _norm(u, v, q)
    _, rn, rw = _norm(n, w, t)
    ru, rv, rn, rw = ru ** (q - 1.0), rv ** (q - 1.0), rn ** (t - 1.0), rw ** (t - 1.0)
    return (
        np.copysign(s[0] * rn * ru, x),
        np.copysign(s[1] * rn * rv, y),
        np.copysign(s[2] * rw, z),
    )


@kernel
def rolling_ball(s):
    """Radius of the largest ball that can roll inside an ellipsoid: its least radius of curvature.
    Up to that depth the separation has one local maximum. Of a superquadric an estimate: edges and
    corners are the sharper the smaller its exponents are."""
    thin, wide = min(s[0], s[1], s[2]), max(s[0], s[1], s[2])
    return thin * thin / wide * s[3] / (2.0 - s[3]) * s[4] / (2.0 - s[4])
