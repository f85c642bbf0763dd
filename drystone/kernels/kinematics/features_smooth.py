"""Curvature of spheres, ellipsoids and superquadrics at contact points (Baraff 1992, 6.4).

Each side of a contact is a row (contact, side) of `which`. Its surface has, near the point, the
outer normal m = -n (side 0, body A) or n (side 1, body B); m' = omega x m + K s when the point
slides by s along the surface, K the curvature (positive for convex bodies). What is written are
the tensors of E (m' - omega x m) = D s in the tangent plane: E = 1, D = K here. Both are
(xx, xy, yy) along the rows 1 and 2 of the contact's frame.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.spatial.smooth_surface import derivatives, read_surface


@kernel
def features_smooth(which, geoms, geom, x, R, p, frame, out):
    """Fill out, LocalShapes. which (m, 2): contact, side; geoms: GeomNumbers; geom (nc, 2); x, R:
    poses of geoms; p (nc, 2, 3) surface points; frame (nc, 3, 3)."""
    first, numbers, E, D = geoms.first, geoms.numbers, out.E, out.D
    s, g, H, q, T = np.empty(5), np.empty(3), np.empty((3, 3)), np.empty(3), np.empty((2, 3))
    for k in range(which.shape[0]):
        i, side = which[k, 0], which[k, 1]
        o = geom[i, side]
        read_surface(first, numbers, o, s)
        for a in range(3):
            q[a] = T[0, a] = T[1, a] = 0.0
            for b in range(3):
                q[a] += R[o, b, a] * (p[i, side, b] - x[o, b])
                T[0, a] += R[o, b, a] * frame[i, 1, b]
                T[1, a] += R[o, b, a] * frame[i, 2, b]
        derivatives(s, q[0], q[1], q[2], g, H)
        length = np.sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2])
        E[i, side, 0] = E[i, side, 2] = 1.0
        E[i, side, 1] = 0.0
        for m in range(3):
            u, v, total = T[m // 2], T[(m + 1) // 2], 0.0
            for a in range(3):
                for b in range(3):
                    total += u[a] * H[a, b] * v[b]
            D[i, side, m] = total / length
