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


# ---- The nearest point of a smooth surface to a given point: (5-5) of Baraff (1992), by Newton.
#
#     p + lam grad F(p) = c,  F(p) = 0,   in the frame of the body; lam > 0 outside, < 0 inside.
#
# Outside, K = I + lam Hess F is positive definite, so flat places do no harm. Inside, the answer is
# the nearest point as long as K is positive definite along the surface, which is checked. Where
# Newton fails, c is approached in steps from the surface point on its ray, where lam = 0: outside
# that cannot fail for short steps; deep inside, where the nearest point is no longer distinct, the
# tangent plane last reached is the answer.

POINT_STEPS = 30  # of Newton's method
ATTEMPTS = 60  # whole and partial ways to c
FIRST_STEP = 0.125  # part of the way to c
# of the distance between p + lam grad F and c, in sizes, or distances of c where that is larger:
# K turns it into an error of p that is a size's share in either case
POINT_TOL = 1e-12


@kernel
def _adjoint(H, lam, K):
    """K (3, 3) = adjoint of I + lam H for symmetric H; -> the determinant."""
    a, b, c = 1.0 + lam * H[0, 0], 1.0 + lam * H[1, 1], 1.0 + lam * H[2, 2]
    d, e, f = lam * H[1, 2], lam * H[0, 2], lam * H[0, 1]
    K[0, 0], K[1, 1], K[2, 2] = b * c - d * d, a * c - e * e, a * b - f * f
    K[0, 1], K[0, 2], K[1, 2] = d * e - f * c, f * d - e * b, f * e - d * a
    K[1, 0], K[2, 0], K[2, 1] = K[0, 1], K[0, 2], K[1, 2]
    return a * K[0, 0] + f * K[0, 1] + e * K[0, 2]


@kernel
def _newton(s, c, p, g, d, H, K):
    """Improve p (3,) to the surface point nearest to c (3,); -> steps, or -1: failed.

    g (3,) out: grad F at p; d (3,), H (3, 3), K (3, 3): scratch.
    """
    size = max(s[0], s[1], s[2])
    for step in range(POINT_STEPS + 1):
        phi = derivatives(s, p[0], p[1], p[2], g, H)
        gg, lam, ee = 0.0, 0.0, 0.0
        for k in range(3):
            p[k] /= phi
            g[k] /= phi
            gg += g[k] * g[k]
            lam += g[k] * (c[k] - p[k])
        lam /= gg
        det = _adjoint(H, lam, K)
        gkg, gke, ghg, trace = 0.0, 0.0, 0.0, 2.0
        for i in range(3):
            d[i] = p[i] + lam * g[i] - c[i]
            ee += d[i] * d[i]
            trace += lam * H[i, i]
        for i in range(3):
            for j in range(3):
                gkg += g[i] * K[i, j] * g[j]
                gke += g[i] * K[i, j] * d[j]
                ghg += g[i] * H[i, j] * g[j]
        if ee <= POINT_TOL * POINT_TOL * max(size * size, lam * lam * gg):
            # K positive along the surface: determinant and trace there
            return step if gkg > 0.0 and trace - lam * ghg / gg > 0.0 else -1
        if step == POINT_STEPS or not ee < np.inf:
            break
        length = 0.0
        for i in range(3):
            d[i] -= gke / gkg * g[i]
        for i in range(3):
            ee = (K[i, 0] * d[0] + K[i, 1] * d[1] + K[i, 2] * d[2]) / det
            H[0, i] = ee
            length += ee * ee
        cut = min(1.0, 0.5 * size / np.sqrt(length))
        for i in range(3):
            p[i] -= cut * H[0, i]
    return -1


@kernel
def nearest_point(s, c, p, n, work, H, stats):
    """Signed distance of c (3,) from the body s (5,).

    p (3,) in: guess, all zeros if there is none; out: the surface point; n (3,) out: the unit
    outer normal there. work (5, 3), H (2, 3, 3): scratch. Counts as the pairs do.
    """
    g, goal, good, origin = work[0], work[2], work[3], work[4]
    stats[3] += 1
    none = p[0] == 0.0 and p[1] == 0.0 and p[2] == 0.0
    share, step = 0.0, 1.0  # of the way from the origin to c; the first attempt takes all of it
    for attempt in range(ATTEMPTS):
        if attempt == 1:
            stats[2] += 1
            none, step = True, FIRST_STEP
        if none:
            for k in range(3):
                p[k] = c[k]
            if c[0] == 0.0 and c[1] == 0.0 and c[2] == 0.0:
                p[2] = 1.0
        if attempt == 1:
            phi = derivatives(s, p[0], p[1], p[2], g, H[0])
            for k in range(3):
                p[k] /= phi
                origin[k], good[k] = p[k], p[k]
        none = False
        for k in range(3):
            goal[k] = (
                c[k] if share + step >= 1.0 else origin[k] + (share + step) * (c[k] - origin[k])
            )
        found = _newton(s, goal, p, g, work[1], H[0], H[1])
        stats[0] += max(found, 0)
        if found >= 0 and share + step >= 1.0:
            break
        if found >= 0:
            share += step
            step = min(2.0 * step, 1.0 - share)
        elif attempt > 0:
            step *= 0.25
        for k in range(3):
            if found >= 0:
                good[k] = p[k]
            elif attempt > 0:
                p[k] = good[k]
    derivatives(s, p[0], p[1], p[2], g, H[0])
    gg, distance = 0.0, 0.0
    for k in range(3):
        gg += g[k] * g[k]
    for k in range(3):
        n[k] = g[k] / np.sqrt(gg)
        distance += n[k] * (c[k] - p[k])
    return distance
