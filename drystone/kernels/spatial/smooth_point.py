"""The nearest point of a smooth surface to a given point: (5-5) of Baraff (1992), by Newton.

    p + lam grad F(p) = c,  F(p) = 0,   in the frame of the body; lam > 0 outside, < 0 inside.

Outside, K = I + lam Hess F is positive definite, so flat places do no harm. Inside, the answer is
the nearest point as long as K is positive definite along the surface, which is checked. Where
Newton fails, c is approached in steps from the surface point on its ray, where lam = 0: outside
that cannot fail for short steps; deep inside, where the nearest point is no longer distinct, the
tangent plane last reached is the answer.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.spatial.smooth_surface import derivatives

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
