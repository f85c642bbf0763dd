"""Capsules, cylinders, cones and half-spaces at contact points: caps, sides, rims, apex.

All are surfaces of revolution about z: along the circle through the point (direction c) the
normal curvature is m_rho / rho. Along the meridian a side is straight, a rim is a corner: the
point stays there (s = 0) however the normal turns, which E = 0, D = 1/size says.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.kinematics.codes import (
    AT_BORDER,
    FACE,
    NEAR,
    OFF,
    ON_FACE,
    RIM,
    ROUND,
    SMOOTH,
    STEEP,
    VERTEX,
)
from drystone.kernels.profiles import profile_of

LEVEL = 1e-12  # sine of a tilt: an end that is tilted by less has no lowest point
DIGITS = 1e-14  # rounding of a direction across the axis


@kernel
def _place(p, q, m, size):
    """Feature, bits and piece of the point q (3,) with outer normal m (3,); p: the profile."""
    rho = np.sqrt(q[0] * q[0] + q[1] * q[1])
    near = NEAR * size
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
def features_round(which, geoms, geom, x, R, p, frame, out):
    """As ``features_smooth``."""
    kind, _, first, numbers, _, _ = geoms
    feature, bits, piece, E, D = out
    q, m, T = np.empty(3), np.empty(3), np.empty((2, 3))
    c, d = np.empty(2), np.empty(2)
    for k in range(which.shape[0]):
        i, side = which[k, 0], which[k, 1]
        o = geom[i, side]
        profile = profile_of(kind[o], numbers, first[o])
        size, sign = numbers[first[o]] + numbers[first[o] + 1], 2.0 * side - 1.0
        for a in range(3):
            q[a] = m[a] = T[0, a] = T[1, a] = 0.0
            for b in range(3):
                q[a] += R[o, b, a] * (p[i, side, b] - x[o, b])
                m[a] += sign * R[o, b, a] * frame[i, 0, b]
                T[0, a] += R[o, b, a] * frame[i, 1, b]
                T[1, a] += R[o, b, a] * frame[i, 2, b]
        rho = np.sqrt(q[0] * q[0] + q[1] * q[1])
        found, mark, number = _place(profile, q, m, size)
        off = abs(q[0] * m[1] - q[1] * m[0]) / rho if rho > NEAR * size else 0.0
        tilt = np.sqrt(m[0] * m[0] + m[1] * m[1])
        if found == RIM and off > STEEP * tilt + DIGITS:
            found, mark = VERTEX, mark | OFF  # a point of a ring, not the lowest of the rim
        c[0], c[1] = 1.0, 0.0
        if rho > NEAR * size:
            c[0] = (q[0] * T[0, 1] - q[1] * T[0, 0]) / rho
            c[1] = (q[0] * T[1, 1] - q[1] * T[1, 0]) / rho
            norm = np.sqrt(c[0] * c[0] + c[1] * c[1])
            c[0], c[1] = c[0] / norm, c[1] / norm
        d[0], d[1] = -c[1], c[0]
        _write(found, profile, q, m, c, d, size, E[i, side], D[i, side])
        if profile.around > 0.0:
            found = SMOOTH
        feature[i, side], bits[i, side], piece[i, side] = found, mark, number
