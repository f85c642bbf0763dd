"""Curvature of surfaces given by formulas at contact points: implicit, parametric."""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.kinematics.codes import AT_BORDER, NEAR, ON_FACE
from drystone.kernels.surfaces.evaluate import implicit_curvature, jets, parametric_curvature
from drystone.kernels.surfaces.layout import FORM, LENGTH, PARAMETRIC, RADIUS, SUPPORT
from drystone.kernels.surfaces.support import support_state


@kernel
def features_surface(which, geoms, geom, x, R, p, frame, out):
    """As ``features_smooth``; AT_BORDER at a pole of a chart, where the curvature is that of points
    nearby; ON_FACE where a support function says that the surface is flat."""
    first, numbers, E, D, bits = geoms.first, geoms.numbers, out.E, out.D, out.bits
    q, m, T = np.empty(3), np.empty(3), np.empty((2, 3))
    J, uv = np.empty((3, 10)), np.empty(3)
    for k in range(which.shape[0]):
        i, side = which[k, 0], which[k, 1]
        o = geom[i, side]
        f0, sign = first[o], 2.0 * side - 1.0
        for a in range(3):
            q[a] = m[a] = T[0, a] = T[1, a] = 0.0
            for b in range(3):
                q[a] += R[o, b, a] * (p[i, side, b] - x[o, b])
                m[a] += sign * R[o, b, a] * frame[i, 0, b]
                T[0, a] += R[o, b, a] * frame[i, 1, b]
                T[1, a] += R[o, b, a] * frame[i, 2, b]
        W = np.empty((int(numbers[f0 + LENGTH]), 10))
        E[i, side, 0] = E[i, side, 2] = 1.0
        E[i, side, 1] = 0.0
        if numbers[f0 + FORM] == SUPPORT:
            # dp = H dm, H the Hessian of h: E = H / size, D = 1 / size, at corners too (H = 0)
            size, off, c = numbers[f0 + RADIUS], 0.0, q.copy()
            support_state(numbers, f0, m, q, uv, W, J)
            implicit_curvature(J[0], T, D[i, side])  # T' H T over the gradient's length
            length = np.sqrt(J[0, 1] ** 2 + J[0, 2] ** 2 + J[0, 3] ** 2)
            for a in range(3):
                off += (c[a] - q[a]) ** 2
            flat = off > (NEAR * size) ** 2 or not np.isfinite(D[i, side, 0] + D[i, side, 2])
            bits[i, side] = ON_FACE if flat else 0
            for a in range(3):
                E[i, side, a] = D[i, side, a] * length / size
                if flat:
                    E[i, side, a] = 1.0 if a != 1 else 0.0
                D[i, side, a] = 0.0 if flat or a == 1 else 1.0 / size
        elif numbers[f0 + FORM] == PARAMETRIC:
            support_state(numbers, f0, m, q, uv, W, J)
            if not parametric_curvature(numbers, f0, uv, T, W, J, D[i, side]):
                bits[i, side] = AT_BORDER
        else:
            jets(numbers, f0, q, W, J)
            implicit_curvature(J[0], T, D[i, side])
