"""Polyhedral cones in space: what the law of one contact asks of them, and of its residual.

The cone is spanned by g_j = (1, mu d_j), d_j the k corners of a regular polygon, in order.
Coulomb's law (Anitescu et al. 1998, (7)): u_n >= 0 complementary to r_n, and of all friction in the
polygon mu r_n conv(d_j) that which dissipates most. The relaxed one: u in the dual cone, r.u = 0.

Open and sticking contacts are as with the circular cone (``one_contact``). In slip r is on a ray
g_j, or on a facet between two rays, where u_t is at right angles to the edge between their corners.
Each is a linear system of at most two unknowns. Of those that are tried, the one that violates its
conditions least is taken.
"""

import numpy as np

from drystone.kernels._jit import stage
from drystone.kernels.blocks import COULOMB


@stage
def fastest(x, y, corners):
    """The greatest d_j.u_t; the polygon is symmetric, so the greatest -d_j.u_t, too."""
    most = 0.0
    for j in range(corners.shape[0]):
        most = max(most, corners[j, 0] * x + corners[j, 1] * y)
    return most


@stage
def inside(x, y, size, corners):
    """Whether (x, y) lies in the polygon of corners size d_j."""
    k = corners.shape[0]
    for j in range(k):
        i = j + 1 if j + 1 < k else 0
        m1, m2 = corners[j, 0] + corners[i, 0], corners[j, 1] + corners[i, 1]
        if m1 * x + m2 * y > size * (m1 * corners[j, 0] + m2 * corners[j, 1]):
            return False
    return True


@stage
def slip_polyhedral(W, q, mu, convex, corners, r):
    """Write r (3,) on the cone: by Coulomb's law or the relaxed one; W (3, 3), q (3,)."""
    k, best = corners.shape[0], np.inf
    r[0] = r[1] = r[2] = 0.0
    for j in range(k):
        i = j + 1 if j + 1 < k else 0
        g1, g2 = mu * corners[j, 0], mu * corners[j, 1]
        w1, w2 = mu * corners[i, 0] - g1, mu * corners[i, 1] - g2
        # W g and W (0, w)
        G0 = W[0, 0] + W[0, 1] * g1 + W[0, 2] * g2
        G1 = W[1, 0] + W[1, 1] * g1 + W[1, 2] * g2
        G2 = W[2, 0] + W[2, 1] * g1 + W[2, 2] * g2
        V0, V1, V2 = (
            W[0, 1] * w1 + W[0, 2] * w2,
            W[1, 1] * w1 + W[1, 2] * w2,
            W[2, 1] * w1 + W[2, 2] * w2,
        )
        # the first condition: u_n = 0, or u.g = 0; the second: u.w = 0
        h1, h2 = (g1, g2) if convex else (0.0, 0.0)
        a, b, p = G0 + h1 * G1 + h2 * G2, V0 + h1 * V1 + h2 * V2, q[0] + h1 * q[1] + h2 * q[2]
        c, d, s = w1 * G1 + w2 * G2, w1 * V1 + w2 * V2, w1 * q[1] + w2 * q[2]
        det = a * d - b * c
        for facet in range(2):
            n, x = (-p / a, 0.0) if facet == 0 else ((b * s - d * p) / det, (c * p - a * s) / det)
            if not n > 0.0:
                continue
            u1, u2 = q[1] + n * G1 + x * V1, q[2] + n * G2 + x * V2
            along = corners[j, 0] * u1 + corners[j, 1] * u2
            wrong = max(along, 0.0)  # friction opposes the slip
            if facet == 0:  # no other corner opposes it more
                wrong = max(wrong, along + fastest(u1, u2, corners))
            else:
                beyond = max(-x, x - n, 0.0)
                wrong = max(wrong, beyond * (abs(c) + abs(d)))
            if wrong < best:
                best = wrong
                r[0], r[1], r[2] = n, n * g1 + x * w1, n * g2 + x * w2


@stage
def polyhedral_error(r, u, mu, s, law, corners):
    """|F|^2 of a contact with impulses times s and velocities over s, see ``residual``."""
    n, x, y = r[0] * s, r[1] * s, r[2] * s
    lift = mu * fastest(u[1] / s, u[2] / s, corners) if law == COULOMB else 0.0
    pn, px, py = project(n - u[0] / s - lift, x - u[1] / s, y - u[2] / s, mu, corners.shape[0])
    return (n - pn) ** 2 + (x - px) ** 2 + (y - py) ** 2


@stage
def project(n, x, y, mu, k):
    """The nearest point of the cone over a regular k-gon with corners mu d_j.

    By symmetry it lies in the sector of the facet that the point looks to: a runs along the facet's
    mid direction, b across it.
    """
    half = np.pi / k
    middle = (np.floor(np.arctan2(y, x) / (2.0 * half)) + 0.5) * 2.0 * half
    cos, sin = np.cos(middle), np.sin(middle)
    a, b = cos * x + sin * y, cos * y - sin * x
    slope, edge = mu * np.cos(half), mu * np.sin(half)
    if a <= slope * n and n >= 0.0:
        return n, x, y
    face = (n + slope * a) / (1.0 + slope * slope)
    if face >= 0.0 and abs(b) <= edge * face:
        n, a = face, slope * face
    else:
        n = max((n + slope * a + edge * abs(b)) / (1.0 + mu * mu), 0.0)
        a, b = slope * n, np.copysign(edge * n, b)
    return n, cos * a - sin * b, sin * a + cos * b
