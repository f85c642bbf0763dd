"""The nearest point of a smooth surface to a given point: (5-5) of Baraff (1992), by Newton.

    p + lam grad F(p) = c,  F(p) = 0,   in the frame of the body; lam > 0 outside, < 0 inside.

Outside, K = I + lam Hess F is positive definite, so flat places do no harm; inside, the answer is
the nearest point as long as K is positive definite along the surface, which is checked.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.spatial.smooth_surface import derivatives, gauge
from drystone.kernels.spatial.smooth_widest import widest

STEPS = 30
TOL = 1e-12  # of the distance between p + lam grad F and c, in sizes


@kernel
def _inverse(H, lam, K):
    """K (3, 3) = adjoint of I + lam H for symmetric H; -> its determinant."""
    a, b, c = 1.0 + lam * H[0, 0], 1.0 + lam * H[1, 1], 1.0 + lam * H[2, 2]
    d, e, f = lam * H[1, 2], lam * H[0, 2], lam * H[0, 1]
    K[0, 0], K[1, 1], K[2, 2] = b * c - d * d, a * c - e * e, a * b - f * f
    K[0, 1], K[0, 2], K[1, 2] = d * e - f * c, f * d - e * b, f * e - d * a
    K[1, 0], K[2, 0], K[2, 1] = K[0, 1], K[0, 2], K[1, 2]
    return a * K[0, 0] + f * K[0, 1] + e * K[0, 2]


@kernel
def surface_point(s, c, p, g, H, K):
    """Improve p (3,) to the surface point nearest to c (3,); -> Newton steps, or -1: failed.

    g (3,), H (3, 3), K (3, 3) scratch; g holds grad F at p at the end.
    """
    size = max(s[0], s[1], s[2])
    for step in range(STEPS + 1):
        phi = gauge(s, p[0], p[1], p[2])
        for k in range(3):
            p[k] /= phi
        derivatives(s, p[0], p[1], p[2], g, H)
        gg, lam, ee = 0.0, 0.0, 0.0
        for k in range(3):
            gg += g[k] * g[k]
            lam += g[k] * (c[k] - p[k])
        lam /= gg
        for k in range(3):
            ee += (p[k] + lam * g[k] - c[k]) ** 2
        det = _inverse(H, lam, K)
        gkg, gke, trace, ghg = 0.0, 0.0, 2.0, 0.0
        for i in range(3):
            trace += lam * H[i, i]
            for j in range(3):
                gkg += g[i] * K[i, j] * g[j]
                gke += g[i] * K[i, j] * (p[j] + lam * g[j] - c[j])
                ghg += g[i] * H[i, j] * g[j]
        if ee <= (TOL * size) ** 2:
            return step if gkg > 0.0 and trace - lam * ghg / gg > 0.0 else -1
        if step == STEPS or not ee < np.inf:
            break
        lam -= gke / gkg
        d0 = _move(0, p, g, lam, c, K, det)
        d1 = _move(1, p, g, lam, c, K, det)
        d2 = _move(2, p, g, lam, c, K, det)
        cut = min(1.0, 0.5 * size / np.sqrt(d0 * d0 + d1 * d1 + d2 * d2))
        p[0], p[1], p[2] = p[0] + cut * d0, p[1] + cut * d1, p[2] + cut * d2
    return -1


@kernel
def _move(i, p, g, lam, c, K, det):
    """Component i of -(I + lam H)^-1 (p + lam g - c)."""
    d = 0.0
    for j in range(3):
        d -= K[i, j] * (p[j] + lam * g[j] - c[j])
    return d / det


@kernel
def nearest_point(s, c, p, n, point, identity, e, H, polygons, stats):
    """Signed distance of c (3,) from the body s, safely: Newton, then cutting planes.

    p (3,) in: guess, all zeros if there is none; out: the surface point; n (3,) out: the unit
    outer normal there. Scratch: point (5,) zeros and ones of a body without extent,
    identity (3, 3), e (5, 3), H (2, 3, 3), polygons (2, CUTS + 8, 2). Counts as the pairs do.
    """
    if p[0] == 0.0 and p[1] == 0.0 and p[2] == 0.0:
        for k in range(3):
            p[k] = c[k]
        if c[0] == 0.0 and c[1] == 0.0 and c[2] == 0.0:
            p[2] = 1.0
    g = e[4]
    steps = surface_point(s, c, p, g, H[0], H[1])
    stats[3] += 1
    if steps < 0:
        stats[2] += 1
        distance = widest(s, point, identity, c, n, p, e[4], e, polygons[0], polygons[1])
        for k in range(3):
            n[k] = -n[k]
        return distance
    stats[0] += steps
    gg, distance = 0.0, 0.0
    for k in range(3):
        gg += g[k] * g[k]
    for k in range(3):
        n[k] = g[k] / np.sqrt(gg)
        distance += n[k] * (c[k] - p[k])
    return distance
