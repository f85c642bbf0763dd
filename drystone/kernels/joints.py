"""Joints in space: scalar functions of two bodies' poses, with their Jacobians, in one batch.

A joint has a frame on either body: an origin p and axes A_0, A_1, A_2 on a, B_0, B_1, B_2 on b
(world directions). d = p_a - p_b, w = w_a - w_b, R = B'A. The rows C = 0 of a joint and its free
coordinates are functions of these kinds, each minus a target; the kind comes with up to three
numbers i, j, k that choose axes.

    POINT i     B_i . d                       rate: B_i . (v_a + w_a x r_a) - (same of b at p_a)
    LENGTH      |d|                           rate along d / |d|
    SWING i     sqrt(2 / (1 + c)) B_i . A_2   c = B_2 . A_2, i = 0, 1: 2 sin(angle / 2) large, in
                                              the direction of the tilt; no root but A_2 = B_2
    TURN i      2 v_i                         (w, v) = quaternion of R, w >= 0
    DOT i j     A_i . B_j                     rate: w . (A_i x B_j)
    ANGLE_A ijk atan2(A_i . B_k, A_i . B_j)   of a's axis in a plane of b
    ANGLE_B ijk atan2(B_i . A_k, B_i . A_j)   of b's axis in a plane of a
    TWIST       2 atan2(v_2, w)               about B_2, whatever the tilt
    TILT        angle between A_2 and B_2     rate 0 at angle 0, where it has a kink
    SPIN i      0                             rate: w . B_i; no function of the pose
    COUPLED     0                             a sum of coordinates, see ``joints_coupled``

Every rate has the form f.(v_a - v_b) + t_a.w_a - t_b.w_b: J (n, 2, dof) as in ``kernels.rows``.
Body -1 is the world: its frame is given in world coordinates and its part of J is zero.
"""

from typing import NamedTuple

import numpy as np

from drystone.kernels._jit import kernel

POINT, LENGTH, SWING, TURN, DOT, ANGLE_A, ANGLE_B, TWIST, TILT, SPIN, COUPLED = range(11)
OPPOSITE = 1e-12  # 1 + cos of a tilt below which its direction is unknown


class JointFrames(NamedTuple):
    """Of nj joints: body (nj, 2); anchor (nj, dim) and frame (nj, dim, dim), columns are axes, in
    centre-of-mass frames."""

    body: np.ndarray
    anchor_a: np.ndarray
    anchor_b: np.ndarray
    frame_a: np.ndarray
    frame_b: np.ndarray


class JointFunctions(NamedTuple):
    """n functions, first[j]:first[j + 1] of joint j: code (n, 4): kind, i, j, k; target (n,)."""

    first: np.ndarray
    code: np.ndarray
    target: np.ndarray


@kernel
def joint_rows_spatial(joints, functions, position, orientation, value, J):
    """value (n,) and J (n, 2, 6) of the functions of all joints at these poses of the bodies."""
    body, anchor_a, anchor_b, frame_a, frame_b = joints
    first, code, target = functions
    A, B = np.empty((3, 3)), np.empty((3, 3))
    r_a, r_b, d, g = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    work = np.empty((4, 4))
    for j in range(body.shape[0]):
        if first[j] == first[j + 1]:
            continue
        a, b = body[j, 0], body[j, 1]
        _place(j, a, anchor_a, frame_a, orientation, A, r_a)
        _place(j, b, anchor_b, frame_b, orientation, B, r_b)
        for e in range(3):
            d[e] = r_a[e] - r_b[e]
            if a >= 0:
                d[e] += position[a, e]
            if b >= 0:
                d[e] -= position[b, e]
        for n in range(first[j], first[j + 1]):
            kind = code[n, 0]
            if kind in (POINT, LENGTH):
                value[n] = _linear(kind, code[n, 1], B, d, g) - target[n]
                _write_linear(n, a, b, r_a, r_b, d, g, J)
            else:
                i, k, m = code[n, 1], code[n, 2], code[n, 3]
                value[n] = _angular(kind, i, k, m, A, B, work, g) - target[n]
                for e in range(3):
                    J[n, 0, e], J[n, 1, e] = 0.0, 0.0
                    J[n, 0, 3 + e] = g[e] if a >= 0 else 0.0
                    J[n, 1, 3 + e] = -g[e] if b >= 0 else 0.0


@kernel
def _place(j, b, anchor, frame, orientation, F, r):
    """Rows of F: the frame's axes; r: the anchor from the centre of mass; in world directions."""
    w, x, y, z = 1.0, 0.0, 0.0, 0.0
    if b >= 0:
        w, x, y, z = orientation[b, 0], orientation[b, 1], orientation[b, 2], orientation[b, 3]
    for k in range(4):
        if k < 3:
            v0, v1, v2 = frame[j, 0, k], frame[j, 1, k], frame[j, 2, k]
        else:
            v0, v1, v2 = anchor[j, 0], anchor[j, 1], anchor[j, 2]
        t0, t1, t2 = 2.0 * (y * v2 - z * v1), 2.0 * (z * v0 - x * v2), 2.0 * (x * v1 - y * v0)
        v0 += w * t0 + y * t2 - z * t1
        v1 += w * t1 + z * t0 - x * t2
        v2 += w * t2 + x * t1 - y * t0
        if k < 3:
            F[k, 0], F[k, 1], F[k, 2] = v0, v1, v2
        else:
            r[0], r[1], r[2] = v0, v1, v2


@kernel
def _linear(kind, i, B, d, g):
    """Value, and g: the direction f of the rate."""
    if kind == POINT:
        g[0], g[1], g[2] = B[i, 0], B[i, 1], B[i, 2]
        return g[0] * d[0] + g[1] * d[1] + g[2] * d[2]
    length = np.sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
    for e in range(3):
        g[e] = d[e] / length if length > 0.0 else B[0, e]  # two ends in one place: any direction
    return length


@kernel
def _angular(kind, i, j, k, A, B, work, g):
    """Value, and g: the axis t of the rate t . (w_a - w_b)."""
    if kind == SWING:
        return _swing(i, A, B, g)
    if kind == ANGLE_A:
        return _angle(A, i, B, j, k, 1.0, g)
    if kind == ANGLE_B:
        return _angle(B, i, A, j, k, -1.0, g)
    if kind in (TURN, TWIST):
        return _turn(kind, i, A, B, work, g)
    if kind in (DOT, TILT):
        if kind == TILT:
            i, j = 2, 2
        g[0] = A[i, 1] * B[j, 2] - A[i, 2] * B[j, 1]
        g[1] = A[i, 2] * B[j, 0] - A[i, 0] * B[j, 2]
        g[2] = A[i, 0] * B[j, 1] - A[i, 1] * B[j, 0]
        c = A[i, 0] * B[j, 0] + A[i, 1] * B[j, 1] + A[i, 2] * B[j, 2]
        if kind == DOT:
            return c
        s = np.sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2])
        for e in range(3):
            g[e] = -g[e] / s if s > 0.0 else 0.0
        return np.arctan2(s, c)
    for e in range(3):
        g[e] = B[i, e] if kind == SPIN else 0.0
    return 0.0


@kernel
def _angle(U, i, V, j, k, scale, g):
    """atan2(s, c), s = u.V_k, c = u.V_j, u = U_i; g = scale u x (c V_k - s V_j) / (s^2 + c^2)."""
    u0, u1, u2 = U[i, 0], U[i, 1], U[i, 2]
    c = u0 * V[j, 0] + u1 * V[j, 1] + u2 * V[j, 2]
    s = u0 * V[k, 0] + u1 * V[k, 1] + u2 * V[k, 2]
    m = scale / (s * s + c * c) if s != 0.0 or c != 0.0 else 0.0
    m0 = m * (c * V[k, 0] - s * V[j, 0])
    m1 = m * (c * V[k, 1] - s * V[j, 1])
    m2 = m * (c * V[k, 2] - s * V[j, 2])
    g[0], g[1], g[2] = u1 * m2 - u2 * m1, u2 * m0 - u0 * m2, u0 * m1 - u1 * m0
    return np.arctan2(s, c)


@kernel
def _swing(i, A, B, g):
    """s u, u = B_i . z, z = A_2, s = sqrt(2 / (1 + c)), c = B_2 . z; ds = -s dc / (2 (1 + c))."""
    z0, z1, z2 = A[2, 0], A[2, 1], A[2, 2]
    c = z0 * B[2, 0] + z1 * B[2, 1] + z2 * B[2, 2]
    u = z0 * B[i, 0] + z1 * B[i, 1] + z2 * B[i, 2]
    s, m, out = 1.0, 0.0, 2.0 - 2.0 * i  # turned over: back by any axis across
    if 1.0 + c > OPPOSITE:
        s = np.sqrt(2.0 / (1.0 + c))
        m, out = -0.5 * s * u / (1.0 + c), s * u
    v0, v1, v2 = s * B[i, 0] + m * B[2, 0], s * B[i, 1] + m * B[2, 1], s * B[i, 2] + m * B[2, 2]
    g[0], g[1], g[2] = z1 * v2 - z2 * v1, z2 * v0 - z0 * v2, z0 * v1 - z1 * v0
    return out


@kernel
def _turn(kind, i, A, B, work, g):
    """TURN: 2 v_i, g = B (w e_i + v x e_i). TWIST: 2 atan2(v_2, w) and, with u = e_2,
    g = B (w^2 u + w v x u + v_2 v) / (w^2 + v_2^2)."""
    w, x, y, z = _relative(A, B, work)
    if kind == TWIST:
        i = 2
    # v x e_i
    c0 = y if i == 2 else (-z if i == 1 else 0.0)
    c1 = -x if i == 2 else (z if i == 0 else 0.0)
    c2 = x if i == 1 else (-y if i == 0 else 0.0)
    # c0, c1, c2 += w e_i
    c0 += w if i == 0 else 0.0
    c1 += w if i == 1 else 0.0
    c2 += w if i == 2 else 0.0
    out = 2.0 * (x if i == 0 else (y if i == 1 else z))
    if kind == TWIST:
        size = w * w + z * z
        m = 1.0 / size if size > 0.0 else 0.0
        c0, c1, c2 = m * (w * c0 + z * x), m * (w * c1 + z * y), m * (w * c2 + z * z)
        out = 2.0 * np.arctan2(z, w)
    for e in range(3):
        g[e] = B[0, e] * c0 + B[1, e] * c1 + B[2, e] * c2
    return out


@kernel
def _relative(A, B, work):
    """Quaternion (w, x, y, z), w >= 0, of R = B'A, through its largest entry. work (4, 4)."""
    q, R, best = work[3], work, 0
    for a in range(3):
        for b in range(3):
            R[a, b] = B[a, 0] * A[b, 0] + B[a, 1] * A[b, 1] + B[a, 2] * A[b, 2]
    q[0] = 1.0 + R[0, 0] + R[1, 1] + R[2, 2]
    for k in range(3):
        q[k + 1] = 1.0 - R[0, 0] - R[1, 1] - R[2, 2] + 2.0 * R[k, k]
        if q[k + 1] > q[best]:
            best = k + 1
    if best == 0:
        q[1], q[2], q[3] = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    else:
        i = best - 1
        j, k = (i + 1) % 3, (i + 2) % 3
        q[0] = R[k, j] - R[j, k]
        q[j + 1], q[k + 1] = R[i, j] + R[j, i], R[i, k] + R[k, i]
    n = 1.0 / np.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    if q[0] < 0.0:
        n = -n
    return n * q[0], n * q[1], n * q[2], n * q[3]


@kernel
def _write_linear(n, a, b, r_a, r_b, d, f, J):
    """Row n of a rate along f at p_a, which moves with a, and as a point of b."""
    for s in range(2):
        m = 1.0 - 2.0 * s
        if (s == 0 and a < 0) or (s == 1 and b < 0):
            m = 0.0
        x, y, z = r_a[0], r_a[1], r_a[2]
        if s == 1:
            x, y, z = r_b[0] + d[0], r_b[1] + d[1], r_b[2] + d[2]
        f0, f1, f2 = m * f[0], m * f[1], m * f[2]
        J[n, s, 0], J[n, s, 1], J[n, s, 2] = f0, f1, f2
        J[n, s, 3], J[n, s, 4], J[n, s, 5] = y * f2 - z * f1, z * f0 - x * f2, x * f1 - y * f0
