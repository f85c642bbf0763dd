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

import numpy as np

from drystone.kernels._jit import kernel

POINT, LENGTH, SWING, TURN, DOT, ANGLE_A, ANGLE_B, TWIST, TILT, SPIN, COUPLED = range(11)
OPPOSITE = 1e-12  # 1 + cos of a tilt below which its direction is unknown


@kernel
def joint_rows_spatial(
    body,
    anchor_a,
    anchor_b,
    frame_a,
    frame_b,
    first,
    code,
    target,
    position,
    orientation,
    value,
    J,
):
    """value (n,) and J (n, 2, 6) of functions first[j]:first[j + 1] of every joint j.

    body (nj, 2); anchor (nj, 3) and frame (nj, 3, 3), columns are axes, in centre-of-mass frames;
    code (n, 4): kind, i, j, k; target (n,).
    """
    A, B = np.empty((3, 3)), np.empty((3, 3))
    r_a, r_b, d, g = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    work = np.empty((4, 4))
    for j in range(body.shape[0]):
        if first[j] == first[j + 1]:
            continue
        a, b = body[j, 0], body[j, 1]
        _place(a, anchor_a[j], frame_a[j], orientation, A, r_a)
        _place(b, anchor_b[j], frame_b[j], orientation, B, r_b)
        for e in range(3):
            d[e] = r_a[e] - r_b[e]
            if a >= 0:
                d[e] += position[a, e]
            if b >= 0:
                d[e] -= position[b, e]
        for n in range(first[j], first[j + 1]):
            if code[n, 0] == POINT or code[n, 0] == LENGTH:
                value[n] = _linear(code[n], B, d, g) - target[n]
                _write_linear(a, b, r_a, r_b, d, g, J[n])
            else:
                value[n] = _angular(code[n], A, B, work, g) - target[n]
                _write_angular(a, b, g, J[n])


@kernel
def _place(b, anchor, frame, orientation, F, r):
    """Rows of F: the frame's axes; r: the anchor from the centre of mass; in world directions."""
    if b < 0:
        for e in range(3):
            r[e] = anchor[e]
            for k in range(3):
                F[k, e] = frame[e, k]
        return
    w, x, y, z = orientation[b, 0], orientation[b, 1], orientation[b, 2], orientation[b, 3]
    for k in range(4):
        if k < 3:
            v0, v1, v2 = frame[0, k], frame[1, k], frame[2, k]
        else:
            v0, v1, v2 = anchor[0], anchor[1], anchor[2]
        t0, t1, t2 = 2.0 * (y * v2 - z * v1), 2.0 * (z * v0 - x * v2), 2.0 * (x * v1 - y * v0)
        v0 += w * t0 + y * t2 - z * t1
        v1 += w * t1 + z * t0 - x * t2
        v2 += w * t2 + x * t1 - y * t0
        if k < 3:
            F[k, 0], F[k, 1], F[k, 2] = v0, v1, v2
        else:
            r[0], r[1], r[2] = v0, v1, v2


@kernel
def _linear(code, B, d, g):
    """Value, and g: the direction f of the rate."""
    if code[0] == POINT:
        for e in range(3):
            g[e] = B[code[1], e]
        return g[0] * d[0] + g[1] * d[1] + g[2] * d[2]
    length = np.sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
    for e in range(3):
        g[e] = d[e] / length if length > 0.0 else B[0, e]  # two ends in one place: any direction
    return length


@kernel
def _angular(code, A, B, work, g):
    """Value, and g: the axis t of the rate t . (w_a - w_b)."""
    kind = code[0]
    if kind == SWING:
        return _swing(code[1], A[2], B, g)
    if kind == DOT:
        return _dot_cross(A[code[1]], B[code[2]], 1.0, g)
    if kind == ANGLE_A:
        return _angle(A[code[1]], B[code[2]], B[code[3]], 1.0, g)
    if kind == ANGLE_B:
        return _angle(B[code[1]], A[code[2]], A[code[3]], -1.0, g)
    if kind in (TURN, TWIST):
        return _turn(kind, code[1], A, B, work, g)
    if kind == TILT:
        c = _dot_cross(A[2], B[2], -1.0, g)
        s = np.sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2])
        for e in range(3):
            g[e] = g[e] / s if s > 0.0 else 0.0
        return np.arctan2(s, c)
    for e in range(3):
        g[e] = B[code[1], e] if kind == SPIN else 0.0
    return 0.0


@kernel
def _dot_cross(u, v, scale, g):
    """u . v, and g = scale u x v: the rate of u . v if u turns with a and v with b."""
    g[0] = scale * (u[1] * v[2] - u[2] * v[1])
    g[1] = scale * (u[2] * v[0] - u[0] * v[2])
    g[2] = scale * (u[0] * v[1] - u[1] * v[0])
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2]


@kernel
def _angle(u, v, w, scale, g):
    """atan2(u . w, u . v), and g = scale u x (c w - s v) / (s^2 + c^2)."""
    s = u[0] * w[0] + u[1] * w[1] + u[2] * w[2]
    c = u[0] * v[0] + u[1] * v[1] + u[2] * v[2]
    size = s * s + c * c
    if size > 0.0:
        s1, c1 = scale * s / size, scale * c / size
        m0, m1, m2 = c1 * w[0] - s1 * v[0], c1 * w[1] - s1 * v[1], c1 * w[2] - s1 * v[2]
        g[0], g[1], g[2] = u[1] * m2 - u[2] * m1, u[2] * m0 - u[0] * m2, u[0] * m1 - u[1] * m0
    else:
        g[0], g[1], g[2] = 0.0, 0.0, 0.0
    return np.arctan2(s, c)


@kernel
def _swing(i, z, B, g):
    """s B_i . z with s = sqrt(2 / (1 + c)), c = B_2 . z; ds = -s dc / (2 (1 + c))."""
    c = _dot_cross(z, B[2], 1.0, g)
    u = z[0] * B[i, 0] + z[1] * B[i, 1] + z[2] * B[i, 2]
    s, m = 1.0, 0.0
    if 1.0 + c > OPPOSITE:
        s = np.sqrt(2.0 / (1.0 + c))
        m = -0.5 * s * u / (1.0 + c)
        u *= s
    else:  # turned over: back by any axis across
        u = 2.0 - 2.0 * i
    v = B[i]
    g[0] = m * g[0] + s * (z[1] * v[2] - z[2] * v[1])
    g[1] = m * g[1] + s * (z[2] * v[0] - z[0] * v[2])
    g[2] = m * g[2] + s * (z[0] * v[1] - z[1] * v[0])
    return u


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
    q, R, best = work[3], work[:3], 0
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
def _write_linear(a, b, r_a, r_b, d, f, J):
    """Rows of a rate along f at p_a, which moves with a, and as a point of b."""
    for e in range(6):
        J[0, e], J[1, e] = 0.0, 0.0
    if a >= 0:
        x, y, z = r_a[0], r_a[1], r_a[2]
        J[0, 0], J[0, 1], J[0, 2] = f[0], f[1], f[2]
        J[0, 3], J[0, 4] = y * f[2] - z * f[1], z * f[0] - x * f[2]
        J[0, 5] = x * f[1] - y * f[0]
    if b >= 0:
        x, y, z = r_b[0] + d[0], r_b[1] + d[1], r_b[2] + d[2]
        J[1, 0], J[1, 1], J[1, 2] = -f[0], -f[1], -f[2]
        J[1, 3], J[1, 4] = z * f[1] - y * f[2], x * f[2] - z * f[0]
        J[1, 5] = y * f[0] - x * f[1]


@kernel
def _write_angular(a, b, t, J):
    for e in range(3):
        J[0, e], J[1, e] = 0.0, 0.0
        J[0, 3 + e] = t[e] if a >= 0 else 0.0
        J[1, 3 + e] = -t[e] if b >= 0 else 0.0
