"""Rates of a contact, in space and in the plane: of the normal, of the points, and C''.

The extremal points p_A, p_B lie on a common normal, p_A - p_B = C n. With u the velocities of
the bodies' material at these points, s those of the points along their surfaces, w = omega x n:

    E_A (n' - w_A) = -D_A s_A,   E_B (n' - w_B) = D_B s_B,   s_A - s_B - C n' = -(u_A - u_B)_t

where E, D are the tensors of ``features``. Without s_B these are four equations for n'
and s_A (6-22). As p_A - p_B stays along n, C' = n.(u_A - u_B), and once more

    C'' = n.(a_A - a_B) + n'.(u_A - u_B) - w_A.s_A + w_B.s_B,

a the accelerations of the bodies' material, omega x (omega x r) included: linear in them (6-29).
The slip at c, halfway, is u_A(c) - u_B(c); its rate needs c' (6-33).
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.kinematics.codes import (
    AT_BORDER,
    BORDER,
    DEGENERATE,
    EDGE,
    FACE,
    ILL,
    INFINITE_RATE,
    NOT_EXTREMAL,
    OFF,
    ON_FACE,
    RIM,
    VERTEX,
)
from drystone.kernels.linalg.dense_lu import solve_ranked

# ---- Two local features into one contact: what is vertex against face, and what degenerates.
#
# Two polyhedral features determine the normal if their dimensions add up to dim - 1: a vertex and
# a face, two edges that cross. With less, a body whose face has the contact's normal is taken as
# that face; else, at zero gap, B is extended to the plane across the normal. With more (an
# edge or a face flat on a face), A's point is held fixed in A, or B's in B if only A has the face.

TRUE_DISTANCE = 1e-6  # of the size: vertices and edges farther apart than this have a true distance
PARALLEL = 1e-6  # sine of the angle of two edges


@kernel
def _dimension(feature):
    """Of the set of points a feature is: 2 a face, 1 an edge, 0 a vertex; -1 if it is curved."""
    if feature == FACE:
        return 2
    if feature in (EDGE, RIM):
        return 1
    return 0 if feature == VERTEX else -1


@kernel
def _rolls(feature, bits, other):
    """Whether a rim rolls on a face: its curvature does what an edge's direction cannot."""
    return feature == RIM and not bits & ON_FACE and other == 2


@kernel
def _set(size, flat, E, D):
    """E, D (k,) of a face or of a fixed point; k is 3 in space and 1 in the plane."""
    for k in range(E.size):
        E[k] = D[k] = 0.0
        if k != 1 and flat:
            E[k] = 1.0
        elif k != 1:
            D[k] = 1.0 / size
    return FACE if flat else VERTEX


@kernel
def resolve(dim, gap, size, feature, bits, E, D, flag):
    """feature, bits (nc, 2), E, D (nc, 2, k): in and out; flag (nc,): out. size (nc,) [m]."""
    for i in range(gap.size):
        a, b = _dimension(feature[i, 0]), _dimension(feature[i, 1])
        mark = bits[i, 0] | bits[i, 1]
        flag[i] = (BORDER if mark & AT_BORDER else 0) | (NOT_EXTREMAL if mark & OFF else 0)
        if dim == 2:
            a, b = (1 if a == 2 else a), (1 if b == 2 else b)
        if a < 0 or b < 0:
            continue
        if _rolls(feature[i, 0], bits[i, 0], b) or _rolls(feature[i, 1], bits[i, 1], a):
            continue
        crossing = False
        if dim == 3 and a == 1 and b == 1:
            P, Q = E[i, 0], E[i, 1]  # e e' and f f': trace of the product is cos^2
            cosine = P[0] * Q[0] + 2.0 * P[1] * Q[1] + P[2] * Q[2]
            crossing = cosine < 1.0 - PARALLEL * PARALLEL
        if crossing or (a + b == dim - 1 and not (a == 1 and b == 1 and dim == 3)):
            continue
        at_a, at_b = bits[i, 0] & ON_FACE != 0, bits[i, 1] & ON_FACE != 0
        if not (at_a or at_b):
            if gap[i] > TRUE_DISTANCE * size[i]:
                continue  # a true distance: of two points, of a point and a line
            flag[i] |= DEGENERATE
        elif a + b >= dim - 1:
            flag[i] |= NOT_EXTREMAL
        on_b = at_b or not at_a
        feature[i, 0] = _set(size[i], not on_b, E[i, 0], D[i, 0])
        feature[i, 1] = _set(size[i], on_b, E[i, 1], D[i, 1])


# ---- Rates of the normal and of the points.

ILL_PIVOT = 1e-6  # pivots below this, relative to the largest, make a contact ill-conditioned
MET = 1e-9  # residual of an equation that counts as met, relative to the rates that enter


@kernel
def _cross(a, b, out):
    """out (3,) = a x b."""
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


@kernel
def _dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def _turning(C, L, E, D, u, w, M, y, out, order):
    """n' and s_A/L in tangent coordinates into out (4,); u (2,) = slip/L, w (2, 2) = omega x n."""
    for k in range(2):
        for j in range(2):
            M[k, j], M[k, 2 + j] = E[0, k + j], L * D[0, k + j]
            M[2 + k, j] = E[1, k + j] + C * D[1, k + j]
            M[2 + k, 2 + j] = -L * D[1, k + j]
        y[k] = E[0, k] * w[0, 0] + E[0, k + 1] * w[0, 1]
        y[2 + k] = E[1, k] * w[1, 0] + E[1, k + 1] * w[1, 1]
        y[2 + k] += L * (D[1, k] * u[0] + D[1, k + 1] * u[1])
    return solve_ranked(M, y, out, order)


@kernel
def rates_spatial(body, position, velocity, point, gap, size, frame, E, D, out):
    """Fill out, Rates. body (nc, 2); point, gap: of the contacts; size (nc,) [m]; E, D
    (nc, 2, 3)."""
    bias, normal_rate, point_rate, slide, rcond, flag = out
    r, v, z = np.empty((2, 3)), np.empty((2, 3)), np.empty((2, 3))
    u, w, turn, y = np.empty(2), np.empty((2, 2)), np.empty(4), np.empty(4)
    M, order = np.empty((4, 4)), np.empty(4, np.int64)
    for i in range(gap.size):
        F, C, L = frame[i], gap[i], size[i]
        for s in range(2):
            b = body[i, s]
            omega = velocity[b, 3:]
            for k in range(3):
                r[s, k] = point[i, k] + (0.5 - s) * C * F[0, k] - position[b, k]
            _cross(omega, r[s], z[s])
            for k in range(3):
                v[s, k] = velocity[b, k] + z[s, k]
            # omega x n along t1 is omega.(n x t1) = omega.t2
            w[s, 0], w[s, 1] = _dot(omega, F[2]), -_dot(omega, F[1])
        for k in range(2):
            u[k] = (_dot(F[1 + k], v[0]) - _dot(F[1 + k], v[1])) / L
        rcond[i], left = _turning(C, L, E[i], D[i], u, w, M, y, turn, order)
        scale = abs(u[0]) + abs(u[1])
        for s in range(2):
            scale += abs(w[s, 0]) + abs(w[s, 1])
        if rcond[i] == 0.0 and left > MET * scale:
            flag[i] |= INFINITE_RATE
        elif 0.0 < rcond[i] < ILL_PIVOT:
            flag[i] |= ILL
        total = 0.0
        for k in range(2):
            sa = L * turn[2 + k]
            sb = sa + L * u[k] - C * turn[k]
            total += turn[k] * L * u[k] - w[0, k] * sa + w[1, k] * sb
            y[k], y[2 + k] = sa, sb
        for k in range(3):
            normal_rate[i, k] = turn[0] * F[1, k] + turn[1] * F[2, k]
            slide[i, 0, k] = y[0] * F[1, k] + y[1] * F[2, k]
            slide[i, 1, k] = y[2] * F[1, k] + y[3] * F[2, k]
            point_rate[i, k] = 0.5 * (v[0, k] + slide[i, 0, k] + v[1, k] + slide[i, 1, k])
        _accelerations(i, body, velocity, F, z, point_rate[i], total, bias)


@kernel
def _accelerations(i, body, velocity, F, z, c, total, bias):
    """bias[i]: `total` and the centripetal part of C''; the rate of slip at fixed accelerations.

    z (2, 3) = omega x r; c (3,): velocity of the contact point.
    """
    t = np.empty((2, 3))
    bias[i, 0] = total
    bias[i, 1] = bias[i, 2] = 0.0
    for s in range(2):
        b, sign = body[i, s], 1.0 - 2.0 * s
        omega = velocity[b, 3:]
        _cross(omega, z[s], t[0])
        bias[i, 0] += sign * _dot(F[0], t[0])
        for k in range(3):
            t[0, k] = c[k] - velocity[b, k]
        _cross(omega, t[0], t[1])
        bias[i, 1] += sign * _dot(F[1], t[1])
        bias[i, 2] += sign * _dot(F[2], t[1])


@kernel
def rates_planar(body, position, velocity, point, gap, size, frame, E, D, out):
    """Fill out, Rates. body (nc, 2); point, gap: of the contacts; size (nc,) [m]; E, D
    (nc, 2, 1)."""
    bias, normal_rate, point_rate, slide, rcond, flag = out
    r, v, omega, turn, y = np.empty((2, 2)), np.empty((2, 2)), np.empty(2), np.empty(2), np.empty(2)
    M, order = np.empty((2, 2)), np.empty(2, np.int64)
    for i in range(gap.size):
        F, C, L = frame[i], gap[i], size[i]
        for s in range(2):
            b = body[i, s]
            omega[s] = velocity[b, 2]  # also omega x n along t, as t is n turned by +90 degrees
            for k in range(2):
                r[s, k] = point[i, k] + (0.5 - s) * C * F[0, k] - position[b, k]
            v[s, 0] = velocity[b, 0] - omega[s] * r[s, 1]
            v[s, 1] = velocity[b, 1] + omega[s] * r[s, 0]
        slip = F[1, 0] * (v[0, 0] - v[1, 0]) + F[1, 1] * (v[0, 1] - v[1, 1])
        M[0, 0], M[0, 1] = E[i, 0, 0], L * D[i, 0, 0]
        M[1, 0], M[1, 1] = E[i, 1, 0] + C * D[i, 1, 0], -L * D[i, 1, 0]
        y[0], y[1] = E[i, 0, 0] * omega[0], E[i, 1, 0] * omega[1] + D[i, 1, 0] * slip
        rcond[i], left = solve_ranked(M, y, turn, order)
        if rcond[i] == 0.0 and left > MET * (abs(omega[0]) + abs(omega[1]) + abs(slip) / L):
            flag[i] |= INFINITE_RATE
        elif 0.0 < rcond[i] < ILL_PIVOT:
            flag[i] |= ILL
        sa = L * turn[1]
        sb = sa + slip - C * turn[0]
        bias[i, 0] = turn[0] * slip - omega[0] * sa + omega[1] * sb
        bias[i, 1] = 0.0
        for k in range(2):
            normal_rate[i, k] = turn[0] * F[1, k]
            slide[i, 0, k], slide[i, 1, k] = sa * F[1, k], sb * F[1, k]
            point_rate[i, k] = 0.5 * (v[0, k] + slide[i, 0, k] + v[1, k] + slide[i, 1, k])
        for s in range(2):
            b, sign = body[i, s], 1.0 - 2.0 * s
            bias[i, 0] -= sign * omega[s] ** 2 * (F[0, 0] * r[s, 0] + F[0, 1] * r[s, 1])
            c0, c1 = point_rate[i, 0] - velocity[b, 0], point_rate[i, 1] - velocity[b, 1]
            bias[i, 1] += sign * omega[s] * (F[1, 1] * c0 - F[1, 0] * c1)


@kernel
def rolling_rates(body, velocity, normal, normal_rate, slide, turning, power):
    """Fill turning (nc,) [rad/s]: how fast the normal turns in both bodies, |n' - w_A| and
    |n' - w_B| as one length, w = omega x n; and power (nc,) [m/s^2]: what that contributes to C'',
    (w_A - n').s_A + (n' - w_B).s_B. On a plane they are |w| and w.K^-1.w.

    body (nc, 2); velocity (nb, dof); normal, normal_rate (nc, dim); slide (nc, 2, dim).
    """
    dim = normal.shape[1]
    w = np.empty((2, 3))
    for i in range(normal.shape[0]):
        n = normal[i]
        for s in range(2):
            v = velocity[body[i, s]]
            if dim == 2:
                w[s, 0], w[s, 1] = -v[2] * n[1], v[2] * n[0]
            else:
                w[s, 0] = v[4] * n[2] - v[5] * n[1]
                w[s, 1] = v[5] * n[0] - v[3] * n[2]
                w[s, 2] = v[3] * n[1] - v[4] * n[0]
        total, size = 0.0, 0.0
        for k in range(dim):
            total += (w[0, k] - normal_rate[i, k]) * slide[i, 0, k]
            total += (normal_rate[i, k] - w[1, k]) * slide[i, 1, k]
            size += (w[0, k] - normal_rate[i, k]) ** 2 + (w[1, k] - normal_rate[i, k]) ** 2
        turning[i], power[i] = np.sqrt(size), total
