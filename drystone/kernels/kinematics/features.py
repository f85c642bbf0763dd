"""What geoms are like at contact points: feature, piece and curvature (Baraff 1992, 6.4).

Each side of a contact is a row (contact, side) of `which`. Its surface has, near the point, the
outer normal m = -n (side 0, body A) or n (side 1, body B); m' = omega x m + K s when the point
slides by s along the surface, K the curvature (positive for convex bodies). What is written are
the tensors of E (m' - omega x m) = D s in the tangent plane: E = 1, D = K on smooth surfaces,
D = 0 on faces, E = 0 at vertices, both singular on edges and rims. Both are (xx, xy, yy) along the
rows 1 and 2 of the contact's frame.

All kernels of geoms take which (m, 2): contact, side; geoms: GeomNumbers; geom (nc, 2); x, R: poses
of geoms; p (nc, 2, 3) surface points; frame (nc, 3, 3); and fill out, LocalShapes. The record of a
kind names its own (``geometry.kinds.Kind.local``).
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.kinds import CAPSULE_2D, DISK, ELLIPSE, HALF_PLANE
from drystone.kernels.kinematics.codes import (
    AT_BORDER,
    EDGE,
    FACE,
    FEATURE_TOL,
    OFF,
    ON_FACE,
    RIM,
    ROUND,
    SMOOTH,
    STEEP,
    VERTEX,
)
from drystone.kernels.profiles import profile_of
from drystone.kernels.spatial.smooth_surface import derivatives, read_surface
from drystone.kernels.surfaces.evaluate import implicit_curvature, jets, parametric_curvature
from drystone.kernels.surfaces.layout import (
    D1,
    D2,
    D3,
    FORM,
    LENGTH,
    NJ,
    PARAMETRIC,
    RADIUS,
    SUPPORT,
)
from drystone.kernels.surfaces.support import support_state

# ---- In the plane: disks, ellipses, capsules; sides and vertices of polygons.
#
# As in space with one tangent: E (m' - omega x m) = D s, E and D numbers. A vertex has E = 0, a
# side D = 0, a curve E = 1 and D its curvature.


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
def planar(geoms, geom, x, R, p, frame, out):
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


# ---- In space.

LEVEL = 1e-12  # sine of a tilt: an end that is tilted by less has no lowest point
DIGITS = 1e-14  # rounding of a direction across the axis


@kernel
def in_geom(i, side, o, x, R, p, frame, q, m, T):
    """Point q (3,), outer normal m (3,) and tangents T (2, 3) of a side in the axes of geom o."""
    sign = 2.0 * side - 1.0
    for a in range(3):
        q[a] = m[a] = T[0, a] = T[1, a] = 0.0
        for b in range(3):
            q[a] += R[o, b, a] * (p[i, side, b] - x[o, b])
            m[a] += sign * R[o, b, a] * frame[i, 0, b]
            T[0, a] += R[o, b, a] * frame[i, 1, b]
            T[1, a] += R[o, b, a] * frame[i, 2, b]


@kernel
def flat(which, geoms, geom, x, R, p, frame, out):
    """A plane."""
    for k in range(which.shape[0]):
        i, side = which[k, 0], which[k, 1]
        out.feature[i, side], out.bits[i, side] = FACE, ON_FACE
        out.E[i, side, 0] = out.E[i, side, 2] = 1.0
        out.E[i, side, 1] = 0.0


# ---- Spheres, ellipsoids, superquadrics: by semi-axes and exponents.


@kernel
def smooth(which, geoms, geom, x, R, p, frame, out):
    """Curvature by the gradient and Hessian of their formula."""
    first, numbers, E, D = geoms.first, geoms.numbers, out.E, out.D
    s, g, H, q, T = np.empty(5), np.empty(3), np.empty((3, 3)), np.empty(3), np.empty((2, 3))
    way = np.empty(3)
    for k in range(which.shape[0]):
        i, side = which[k, 0], which[k, 1]
        o = geom[i, side]
        read_surface(first, numbers, o, s)
        in_geom(i, side, o, x, R, p, frame, q, way, T)
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


@kernel
def hollow(which, geoms, geom, x, R, p, frame, out):
    """The same wall seen from the other side."""
    smooth(which, geoms, geom, x, R, p, frame, out)
    for k in range(which.shape[0]):
        for a in range(3):
            out.D[which[k, 0], which[k, 1], a] *= -1.0


# ---- Capsules, cylinders and cones: caps, sides, rims, apex.
#
# All are surfaces of revolution about z: along the circle through the point (direction c) the
# normal curvature is m_rho / rho. Along the meridian a side is straight, a rim is a corner: the
# point stays there (s = 0) however the normal turns, which E = 0, D = 1/size says.


@kernel
def _place(p, q, m, size):
    """Feature, bits and piece of the point q (3,) with outer normal m (3,); p: the profile."""
    rho = np.sqrt(q[0] * q[0] + q[1] * q[1])
    near = FEATURE_TOL * size
    flat = m[0] * m[0] + m[1] * m[1] <= STEEP * STEEP
    if p.around > 0.0:
        bits = AT_BORDER if abs(abs(q[2]) - p.high) <= near else 0
        if abs(q[2]) < p.high - ROUND * size:
            return SMOOTH, bits, 0
        return VERTEX, bits, 1 if q[2] > 0.0 else 2  # a ball about the end, made round below
    flat = flat and (p.wide_high > 0.0 or m[2] < 0.0)
    if p.high - q[2] <= near and p.wide_high == 0.0:
        return VERTEX, 0, 3
    at_end = (p.high - q[2] <= near) or (q[2] - p.low <= near)
    wide = p.wide_high if p.high - q[2] <= near else p.wide_low
    piece = 1 if q[2] > 0.0 else 2
    if at_end and rho < wide - near:
        return (FACE, ON_FACE, piece) if flat else (VERTEX, OFF, piece)
    if at_end:
        flat = flat and m[0] * m[0] + m[1] * m[1] <= LEVEL * LEVEL
        return RIM, (ON_FACE | AT_BORDER if flat else 0), 3 + piece
    return SMOOTH, 0, 0


@kernel
def _write(feature, p, q, m, c, d, size, E, D):
    """E, D (3,) from the directions c round the axis and d along the meridian, both (2,) in
    tangent coordinates."""
    rho = np.sqrt(q[0] * q[0] + q[1] * q[1])
    e_c, d_c, e_d, d_d = 1.0, 0.0, 1.0, 0.0
    if feature == VERTEX:
        e_c, d_c, e_d, d_d = 0.0, 1.0 / size, 0.0, 1.0 / size
        if p.around > 0.0:
            e_c, d_c, e_d, d_d = 1.0, 1.0 / p.around, 1.0, 1.0 / p.around
    elif feature != FACE and rho > 0.0:
        d_c = (m[0] * q[0] + m[1] * q[1]) / (rho * rho)
        if feature == RIM:
            e_d, d_d = 0.0, 1.0 / size
    E[0] = e_c * c[0] * c[0] + e_d * d[0] * d[0]
    E[1] = e_c * c[0] * c[1] + e_d * d[0] * d[1]
    E[2] = e_c * c[1] * c[1] + e_d * d[1] * d[1]
    D[0] = d_c * c[0] * c[0] + d_d * d[0] * d[0]
    D[1] = d_c * c[0] * c[1] + d_d * d[0] * d[1]
    D[2] = d_c * c[1] * c[1] + d_d * d[1] * d[1]


@kernel
def revolved(which, geoms, geom, x, R, p, frame, out):
    """Place of the point on the profile, then the tensors."""
    kind, _, first, numbers, _, _ = geoms
    feature, bits, piece, E, D = out
    q, m, T = np.empty(3), np.empty(3), np.empty((2, 3))
    c, d = np.empty(2), np.empty(2)
    for k in range(which.shape[0]):
        i, side = which[k, 0], which[k, 1]
        o = geom[i, side]
        profile = profile_of(kind[o], numbers, first[o])
        size = numbers[first[o]] + numbers[first[o] + 1]
        in_geom(i, side, o, x, R, p, frame, q, m, T)
        rho = np.sqrt(q[0] * q[0] + q[1] * q[1])
        found, mark, number = _place(profile, q, m, size)
        off = abs(q[0] * m[1] - q[1] * m[0]) / rho if rho > FEATURE_TOL * size else 0.0
        tilt = np.sqrt(m[0] * m[0] + m[1] * m[1])
        if found == RIM and off > STEEP * tilt + DIGITS:
            found, mark = VERTEX, mark | OFF  # a point of a ring, not the lowest of the rim
        c[0], c[1] = 1.0, 0.0
        if rho > FEATURE_TOL * size:
            c[0] = (q[0] * T[0, 1] - q[1] * T[0, 0]) / rho
            c[1] = (q[0] * T[1, 1] - q[1] * T[1, 0]) / rho
            norm = np.sqrt(c[0] * c[0] + c[1] * c[1])
            c[0], c[1] = c[0] / norm, c[1] / norm
        d[0], d[1] = -c[1], c[0]
        _write(found, profile, q, m, c, d, size, E[i, side], D[i, side])
        if profile.around > 0.0:
            found = SMOOTH
        feature[i, side], bits[i, side], piece[i, side] = found, mark, number


# ---- Convex polyhedra: the face, edge or vertex that the point lies on.
#
# A vertex stays where it is however the normal turns (E = 0); on an edge along e the normal can
# turn about e only (E = e e'), and the point slides along e only; a face fixes the normal (D = 0).


@kernel
def _flat_face(numbers, f0, ints, i0, q, m, near):
    """Face through q whose normal is m, or -1; whether q lies on any face at all."""
    nv, found, touched = ints[i0], -1, -1
    for f in range(ints[i0 + 1]):
        j = f0 + 3 * nv + 4 * f
        a, b, c = numbers[j], numbers[j + 1], numbers[j + 2]
        if abs(a * q[0] + b * q[1] + c * q[2] - numbers[j + 3]) > near:
            continue
        touched = f
        x, y, z = b * m[2] - c * m[1], c * m[0] - a * m[2], a * m[1] - b * m[0]
        if x * x + y * y + z * z <= STEEP * STEEP and a * m[0] + b * m[1] + c * m[2] > 0.0:
            found = f
    return found, touched


@kernel
def _edge_at(numbers, f0, ints, i0, q, near, e):
    """Edge through q, its direction into e (3,); -1 if there is none; -2 - vertex at a vertex."""
    nf, ne = ints[i0 + 1], ints[i0 + 2]
    edges = i0 + 3 + nf + 1 + ints[i0 + 3 + nf]
    for k in range(ne):
        a, b = ints[edges + 4 * k], ints[edges + 4 * k + 1]
        i, j = f0 + 3 * a, f0 + 3 * b
        length, along = 0.0, 0.0
        for c in range(3):
            e[c] = numbers[j + c] - numbers[i + c]
            length += e[c] * e[c]
        length = np.sqrt(length)
        for c in range(3):
            e[c] /= length
            along += e[c] * (q[c] - numbers[i + c])
        if along < -near or along > length + near:
            continue
        off = 0.0
        for c in range(3):
            off += (q[c] - numbers[i + c] - along * e[c]) ** 2
        if off > near * near:
            continue
        if along <= near:
            return -2 - a
        if along >= length - near:
            return -2 - b
        return k
    return -1


@kernel
def polyhedral(which, geoms, geom, x, R, p, frame, out):
    """Pieces: faces, then edges, then vertices."""
    _, radius, first, numbers, first_int, ints = geoms
    feature, bits, piece, E, D = out
    q, m, e, T = np.empty(3), np.empty(3), np.empty(3), np.empty((2, 3))
    for k in range(which.shape[0]):
        i, side = which[k, 0], which[k, 1]
        o = geom[i, side]
        f0, i0, near = first[o], first_int[o], FEATURE_TOL * radius[o]
        nf, ne = ints[i0 + 1], ints[i0 + 2]
        in_geom(i, side, o, x, R, p, frame, q, m, T)
        level, touched = _flat_face(numbers, f0, ints, i0, q, m, near)
        edge = _edge_at(numbers, f0, ints, i0, q, near, e)
        mark, u, v, vertex = ON_FACE if level >= 0 else 0, 0.0, 0.0, 1.0 / radius[o]
        if edge <= -2:
            found, number = VERTEX, nf + ne - 2 - edge
            mark |= AT_BORDER if level >= 0 else 0
        elif edge >= 0:
            found, number = EDGE, nf + edge
            mark |= AT_BORDER if level >= 0 else 0
            if abs(e[0] * m[0] + e[1] * m[1] + e[2] * m[2]) > STEEP:
                found, mark = VERTEX, mark | OFF
            for b in range(3):
                turned = R[o, b, 0] * e[0] + R[o, b, 1] * e[1] + R[o, b, 2] * e[2]
                u += turned * frame[i, 1, b]
                v += turned * frame[i, 2, b]
        elif level >= 0:
            found, number = FACE, level
        else:
            found, number, mark = VERTEX, max(touched, 0), OFF
        feature[i, side], bits[i, side], piece[i, side] = found, mark, number
        if found != EDGE:
            face = 1.0 if found == FACE else 0.0
            E[i, side, 0], E[i, side, 1], E[i, side, 2] = face, 0.0, face
            D[i, side, 0] = D[i, side, 2] = (1.0 - face) * vertex
            D[i, side, 1] = 0.0
            continue
        E[i, side, 0], E[i, side, 1], E[i, side, 2] = u * u, u * v, v * v
        D[i, side, 0], D[i, side, 1], D[i, side, 2] = (
            v * v * vertex,
            -u * v * vertex,
            u * u * vertex,
        )


# ---- Surfaces given by formulas: implicit, parametric, support functions.


@kernel
def formula(which, geoms, geom, x, R, p, frame, out):
    """AT_BORDER at a pole of a chart, where the curvature is that of points
    nearby; ON_FACE where a support function says that the surface is flat."""
    first, numbers, E, D, bits = geoms.first, geoms.numbers, out.E, out.D, out.bits
    q, m, T = np.empty(3), np.empty(3), np.empty((2, 3))
    J, uv = np.empty((3, NJ)), np.empty(3)
    for k in range(which.shape[0]):
        i, side = which[k, 0], which[k, 1]
        o = geom[i, side]
        f0 = first[o]
        in_geom(i, side, o, x, R, p, frame, q, m, T)
        W = np.empty((int(numbers[f0 + LENGTH]), NJ))
        E[i, side, 0] = E[i, side, 2] = 1.0
        E[i, side, 1] = 0.0
        if numbers[f0 + FORM] == SUPPORT:
            # dp = H dm, H the Hessian of h: E = H / size, D = 1 / size, at corners too (H = 0)
            size, off, c = numbers[f0 + RADIUS], 0.0, q.copy()
            support_state(numbers, f0, m, q, uv, W, J)
            implicit_curvature(J[0], T, D[i, side])  # T' H T over the gradient's length
            length = np.sqrt(J[0, D1] ** 2 + J[0, D2] ** 2 + J[0, D3] ** 2)
            for a in range(3):
                off += (c[a] - q[a]) ** 2
            level = off > (FEATURE_TOL * size) ** 2 or not np.isfinite(
                D[i, side, 0] + D[i, side, 2]
            )
            bits[i, side] = ON_FACE if level else 0
            for a in range(3):
                E[i, side, a] = D[i, side, a] * length / size
                if level:
                    E[i, side, a] = 1.0 if a != 1 else 0.0
                D[i, side, a] = 0.0 if level or a == 1 else 1.0 / size
        elif numbers[f0 + FORM] == PARAMETRIC:
            support_state(numbers, f0, m, q, uv, W, J)
            if not parametric_curvature(numbers, f0, uv, T, W, J, D[i, side]):
                bits[i, side] = AT_BORDER
        else:
            jets(numbers, f0, q, W, J)
            implicit_curvature(J[0], T, D[i, side])
