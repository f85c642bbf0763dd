"""Where rays first meet a mesh of triangles."""

import math

from drystone.kernels._jit import kernel


@kernel
def first_hits(start, direction, corners, least, out):
    """Fill out (m,) with the least t > least at which start + t direction (m, 3) meets one of the
    triangles, corners (nt, 3, 3); inf if none. All triangles are tried."""
    for k in range(start.shape[0]):
        d0, d1, d2 = direction[k, 0], direction[k, 1], direction[k, 2]
        best = math.inf
        for f in range(corners.shape[0]):
            a, b, c = corners[f, 0], corners[f, 1], corners[f, 2]
            a0, a1, a2 = a[0], a[1], a[2]
            u0, u1, u2 = b[0] - a0, b[1] - a1, b[2] - a2
            v0, v1, v2 = c[0] - a0, c[1] - a1, c[2] - a2
            # Moeller and Trumbore: barycentric coordinates y of corner 1 and z of corner 2
            p0, p1, p2 = d1 * v2 - d2 * v1, d2 * v0 - d0 * v2, d0 * v1 - d1 * v0
            det = u0 * p0 + u1 * p1 + u2 * p2
            if det == 0.0:
                continue
            s0, s1, s2 = start[k, 0] - a0, start[k, 1] - a1, start[k, 2] - a2
            y = (s0 * p0 + s1 * p1 + s2 * p2) / det
            if not 0.0 <= y <= 1.0:
                continue
            q0, q1, q2 = s1 * u2 - s2 * u1, s2 * u0 - s0 * u2, s0 * u1 - s1 * u0
            z = (q0 * d0 + q1 * d1 + q2 * d2) / det
            if z < 0.0 or y + z > 1.0:
                continue
            t = (v0 * q0 + v1 * q1 + v2 * q2) / det
            if least < t < best:
                best = t
        out[k] = best
