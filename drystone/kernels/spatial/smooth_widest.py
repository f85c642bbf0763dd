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
def separation(S, C, R, n, P):
    """s(n) for unit n (3,); writes the support points P (2, 3). Arrays as in extremal_points."""
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
    if area > 0.0:
        cx, cy = cx / area, cy / area
    return area, z[0, 0] + cx, z[0, 1] + cy


@kernel
def _cut(z, k, cx, cy, gx, gy, kept):
    """Write the part of z[:k] with g.(z - c) >= 0 to `kept`; -> its corners."""
    m, i = 0, k - 1
    r = gx * (z[i, 0] - cx) + gy * (z[i, 1] - cy)
    for j in range(k):
        s = gx * (z[j, 0] - cx) + gy * (z[j, 1] - cy)
        if s * r < 0.0:
            f = s / (s - r)
            kept[m, 0] = z[j, 0] + f * (z[i, 0] - z[j, 0])
            kept[m, 1] = z[j, 1] + f * (z[i, 1] - z[j, 1])
            m += 1
        if s >= 0.0:
            kept[m, 0], kept[m, 1] = z[j, 0], z[j, 1]
            m += 1
        i, r = j, s
    return m


@kernel
def _frame(C, e):
    """Rows of e (3, 3): two directions across d = C_A - C_B, and d made a unit vector."""
    x, y, z = C[0, 0] - C[1, 0], C[0, 1] - C[1, 1], C[0, 2] - C[1, 2]
    d = np.sqrt(x * x + y * y + z * z)
    if d > 0.0:
        x, y, z = x / d, y / d, z / d
    else:
        z = 1.0
    sign = np.copysign(1.0, z)
    a = -1.0 / (sign + z)
    e[0, 0], e[0, 1], e[0, 2] = 1.0 + sign * x * x * a, sign * x * y * a, -sign * x
    e[1, 0], e[1, 1], e[1, 2] = x * y * a, sign + y * y * a, -y
    e[2, 0], e[2, 1], e[2, 2] = x, y, z


@kernel
def widest(S, C, R, P, n, e, polygons):
    """Write the best direction n (3,) and points P (2, 3) of a common line along it; -> s(n).

    e (4, 3), polygons (2, CUTS + 8, 2): scratch.
    """
    _frame(C, e)
    m, z, size = e[3], polygons[0], 0.0
    for o in range(2):
        size = max(size, S[o, 0], S[o, 1], S[o, 2])
        sign = WIDE - 2.0 * WIDE * o  # the square, corner by corner
        z[2 * o, 0], z[2 * o, 1], z[2 * o + 1, 0], z[2 * o + 1, 1] = -sign, -sign, sign, -sign
    k, cx, cy, best, last = np.int64(4), 0.0, 0.0, -np.inf, False
    for step in range(CUTS + 1):
        norm = 1.0 / np.sqrt(1.0 + cx * cx + cy * cy)
        for i in range(3):
            m[i] = n[i] if last else (e[2, i] + cx * e[0, i] + cy * e[1, i]) * norm
        s = separation(S, C, R, m, P)
        if last:
            break
        gx, gy, slip = 0.0, 0.0, 0.0
        for i in range(3):
            if s > best:
                n[i] = m[i]
            q = P[0, i] - P[1, i] - s * m[i]
            gx += q * e[0, i]
            gy += q * e[1, i]
            slip += q * q
        best = max(best, s)
        k = _cut(polygons[step % 2], k, cx, cy, gx, gy, polygons[1 - step % 2])
        area, cx, cy = _centroid(polygons[1 - step % 2], k)
        small = SMALL * (1.0 + cx * cx + cy * cy)
        last = slip <= (SMALL * size) ** 2 or not area > small * small or step == CUTS - 1
    for i in range(3):
        # support points of flat faces jump with the last digit of n; between them is as extreme
        middle = 0.5 * (P[0, i] + P[1, i])
        P[0, i], P[1, i] = middle + 0.5 * s * n[i], middle - 0.5 * s * n[i]
    return s
