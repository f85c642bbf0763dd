"""Planar geoms at contact points: curvature of disks, ellipses, capsules; sides and vertices.

As in space with one tangent: E (m' - omega x m) = D s, E and D numbers. A vertex has E = 0, a
side D = 0, a curve E = 1 and D its curvature.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.kinds import CAPSULE_2D, DISK, ELLIPSE, HALF_PLANE
from drystone.kernels.kinematics.codes import (
    AT_BORDER,
    FACE,
    FEATURE_TOL,
    OFF,
    ON_FACE,
    ROUND,
    SMOOTH,
    STEEP,
    VERTEX,
)


@kernel
def _polygon(numbers, f0, f1, qx, qy, mx, my, near):
    """Feature, bits and piece (sides, then vertices) of the point q with outer normal m."""
    nv = (f1 - f0) // 2
    found, mark, number, vertex = VERTEX, OFF, 0, -1
    for k in range(nv):
        i, j = f0 + 2 * k, f0 + 2 * ((k + 1) % nv)
        ex, ey = numbers[j] - numbers[i], numbers[j + 1] - numbers[i + 1]
        length = np.sqrt(ex * ex + ey * ey)
        ex, ey = ex / length, ey / length
        dx, dy = qx - numbers[i], qy - numbers[i + 1]
        along, off = ex * dx + ey * dy, ey * dx - ex * dy
        if abs(off) > near or along < -near or along > length + near:
            continue
        if along <= near:
            vertex = k
        elif along >= length - near:
            vertex = (k + 1) % nv
        flat = abs(ex * mx + ey * my) <= STEEP and ey * mx - ex * my > 0.0
        if flat:
            found, mark, number = FACE, ON_FACE, k
        elif found == VERTEX:
            number = k
    if vertex >= 0:
        mark = (ON_FACE | AT_BORDER) if found == FACE else 0
        return VERTEX, mark, nv + vertex
    return found, mark, number


@kernel
def features_planar(geoms, geom, x, R, p, frame, out):
    """Fill out, LocalShapes. geoms: GeomNumbers; geom (nc, 2); x, R: poses of geoms; p (nc, 2, 2)
    surface points; frame (nc, 2, 2)."""
    kind, radius, first, numbers, _, _ = geoms
    feature, bits, piece, E, D = out
    for i in range(geom.shape[0]):
        for side in range(2):
            o = geom[i, side]
            f0, f1, sign = first[o], first[o + 1], 2.0 * side - 1.0
            dx, dy = p[i, side, 0] - x[o, 0], p[i, side, 1] - x[o, 1]
            nx, ny = sign * frame[i, 0, 0], sign * frame[i, 0, 1]
            qx, qy = R[o, 0, 0] * dx + R[o, 1, 0] * dy, R[o, 0, 1] * dx + R[o, 1, 1] * dy
            mx, my = R[o, 0, 0] * nx + R[o, 1, 0] * ny, R[o, 0, 1] * nx + R[o, 1, 1] * ny
            found, mark, number, curvature = SMOOTH, 0, 0, 0.0
            if kind[o] == DISK:
                curvature = 1.0 / numbers[f0]
            elif kind[o] == ELLIPSE:
                a, b = numbers[f0], numbers[f0 + 1]
                gx, gy = qx / (a * a), qy / (b * b)
                g = np.sqrt(gx * gx + gy * gy)
                curvature = ((gy / a) ** 2 + (gx / b) ** 2) / (g * g * g)
            elif kind[o] == CAPSULE_2D:
                near = FEATURE_TOL * radius[o]
                mark = AT_BORDER if abs(abs(qx) - numbers[f0]) <= near else 0
                if abs(qx) < numbers[f0] - ROUND * radius[o]:
                    found, mark, number = FACE, ON_FACE, 0 if qy > 0.0 else 1
                else:
                    number, curvature = 2 if qx > 0.0 else 3, 1.0 / numbers[f0 + 1]
            elif kind[o] == HALF_PLANE:
                found, mark = FACE, ON_FACE
            else:
                near = FEATURE_TOL * radius[o]
                found, mark, number = _polygon(numbers, f0, f1, qx, qy, mx, my, near)
            feature[i, side], bits[i, side], piece[i, side] = found, mark, number
            E[i, side, 0] = 0.0 if found == VERTEX else 1.0
            D[i, side, 0] = 1.0 / radius[o] if found == VERTEX else curvature
