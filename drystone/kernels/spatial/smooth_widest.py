"""The direction of greatest separation of two smooth bodies, by cutting planes: the safe way.

The signed distance is the maximum over unit n of s(n) = n.d - h_A(-n) - h_B(n), with d from the
centre of B to that of A and h the support functions; its gradient there is a - b, the difference
of the support points. Both bodies are symmetric about their centres, so n.d >= 0. Central
projection of that half sphere to a plane keeps the sets {s >= c} convex (always for c >= 0, and
for c < 0 as long as a ball of radius |c| can roll inside both), so each gradient cuts away half
of the plane. A polygon that holds the answer, cut through its centroid, loses more than a third
of its area each time, whatever the curvature: flat faces and sharp ends do not matter.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.spatial.smooth_surface import support

CUTS = 250  # about 110 shrink the polygon to rounding; each cut adds at most one corner
WIDE = 1e3  # half width of the first square: directions up to 89.9 degrees from d
SMALL = 1e-14


@kernel
def separation(sa, sb, Q, t, n, a, b):
    """s(n) for unit n (3,) in A's frame; writes the support points a, b (3,), in A's frame too.

    B's frame is turned by Q and moved by t; zero semi-axes make a body a point.
    """
    a[0], a[1], a[2] = support(sa, -n[0], -n[1], -n[2])
    u = Q[0, 0] * n[0] + Q[1, 0] * n[1] + Q[2, 0] * n[2]
    v = Q[0, 1] * n[0] + Q[1, 1] * n[1] + Q[2, 1] * n[2]
    w = Q[0, 2] * n[0] + Q[1, 2] * n[1] + Q[2, 2] * n[2]
    u, v, w = support(sb, u, v, w)
    s = 0.0
    for k in range(3):
        b[k] = t[k] + Q[k, 0] * u + Q[k, 1] * v + Q[k, 2] * w
        s += n[k] * (a[k] - b[k])
    return s


@kernel
def _centroid(z, k):
    """Area and centroid of the convex polygon z[:k], summed from its first corner."""
    area, cx, cy = 0.0, 0.0, 0.0
    for j in range(1, k - 1):
        ux, uy = z[j, 0] - z[0, 0], z[j, 1] - z[0, 1]
        vx, vy = z[j + 1, 0] - z[0, 0], z[j + 1, 1] - z[0, 1]
        part = 0.5 * (ux * vy - uy * vx)
        area += part
        cx += part * (ux + vx) / 3.0
        cy += part * (uy + vy) / 3.0
    if area <= 0.0:
        return 0.0, z[0, 0], z[0, 1]
    return area, z[0, 0] + cx / area, z[0, 1] + cy / area


@kernel
def _cut(z, k, cx, cy, gx, gy, other):
    """Keep the part of z[:k] with g.(z - c) >= 0; -> corners left (`other` is scratch)."""
    m = 0
    for j in range(k):
        i = j + 1 if j + 1 < k else 0
        s = gx * (z[j, 0] - cx) + gy * (z[j, 1] - cy)
        r = gx * (z[i, 0] - cx) + gy * (z[i, 1] - cy)
        if s >= 0.0:
            other[m, 0], other[m, 1] = z[j, 0], z[j, 1]
            m += 1
        if (s > 0.0 and r < 0.0) or (s < 0.0 and r > 0.0):
            f = s / (s - r)
            other[m, 0] = z[j, 0] + f * (z[i, 0] - z[j, 0])
            other[m, 1] = z[j, 1] + f * (z[i, 1] - z[j, 1])
            m += 1
    for j in range(m):
        z[j, 0], z[j, 1] = other[j, 0], other[j, 1]
    return m


@kernel
def _frame(t, e):
    """Rows 0 to 2 of e (4, 3): two directions across, and the unit vector -t/|t| (z if t = 0)."""
    d = np.sqrt(t[0] * t[0] + t[1] * t[1] + t[2] * t[2])
    for k in range(3):
        e[2, k] = -t[k] / d if d > 0.0 else (1.0 if k == 2 else 0.0)
    least = 0
    for k in range(1, 3):
        if abs(e[2, k]) < abs(e[2, least]):
            least = k
    c = e[2, least]
    norm = np.sqrt(1.0 - c * c)
    for k in range(3):
        e[0, k] = ((1.0 if k == least else 0.0) - c * e[2, k]) / norm
    e[1, 0] = e[2, 1] * e[0, 2] - e[2, 2] * e[0, 1]
    e[1, 1] = e[2, 2] * e[0, 0] - e[2, 0] * e[0, 2]
    e[1, 2] = e[2, 0] * e[0, 1] - e[2, 1] * e[0, 0]


@kernel
def widest(sa, sb, Q, t, n, a, b, e, z, other):
    """Write the best direction n (3,) and points a, b of a common line along it; -> s(n).

    e (4, 3); z, other (CUTS + 8, 2): scratch.
    """
    _frame(t, e)
    m = e[3]
    for j in range(4):
        z[j, 0], z[j, 1] = (-WIDE if j in (0, 3) else WIDE), (-WIDE if j < 2 else WIDE)
    k, cx, cy, best = 4, 0.0, 0.0, -np.inf
    size = max(sa[0], sa[1], sa[2], sb[0], sb[1], sb[2])
    for _ in range(CUTS):
        norm = np.sqrt(1.0 + cx * cx + cy * cy)
        for i in range(3):
            m[i] = (e[2, i] + cx * e[0, i] + cy * e[1, i]) / norm
        s = separation(sa, sb, Q, t, m, a, b)
        if s > best:
            best = s
            for i in range(3):
                n[i] = m[i]
        gx, gy, slip = 0.0, 0.0, 0.0
        for i in range(3):
            q = a[i] - b[i] - s * m[i]
            gx += q * e[0, i]
            gy += q * e[1, i]
            slip += q * q
        if slip <= (SMALL * size) ** 2:
            break
        k = _cut(z, k, cx, cy, gx, gy, other)
        if k < 3:
            break
        area, cx, cy = _centroid(z, k)
        if area <= (SMALL * (1.0 + cx * cx + cy * cy)) ** 2:
            break
    best = separation(sa, sb, Q, t, n, a, b)
    for i in range(3):
        # support points of flat faces jump with the last digit of n; between them is as extreme
        middle = 0.5 * (a[i] + b[i])
        a[i], b[i] = middle + 0.5 * best * n[i], middle - 0.5 * best * n[i]
    return best
