"""Free motion of rigid bodies: inertia in world axes, kicks by forces, drift over a step.

A step is a kick (velocities change at fixed positions: forces, impulses) and a drift (positions
move by the new velocities). In space the drift is the torque-free rotation itself: the angular
momentum L stays, and the body turns as Euler's equations say. So a spinning body loses
neither L nor energy, whatever its inertia.
"""

import numpy as np

from drystone.kernels._jit import kernel

# [rad] of a substep of the torque-free rotation: fourth order, the error is about its fifth power
SUBSTEP_TURN = 0.02
MOST_SUBSTEPS = 4096  # substeps of one drift
RUNAWAY = 1e12  # [m/s], [rad/s]: what is faster would soon be no number


@kernel
def rows_of(quaternion):
    """The rows of R, of one unit quaternion (w, x, y, z)."""
    w, x, y, z = quaternion[0], quaternion[1], quaternion[2], quaternion[3]
    return (
        (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)),
        (2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)),
        (2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)),
    )


@kernel
def rotation_of(quaternion, R):
    """R (3, 3) of one unit quaternion (w, x, y, z)."""
    rows = rows_of(quaternion)
    for a in range(3):
        R[a, 0], R[a, 1], R[a, 2] = rows[a]


@kernel
def to_world(inertia, orientation, out):
    """out (nb, 3, 3) = R inertia R' for inertia (nb, 3, 3) in body axes, quaternions (nb, 4)."""
    for i in range(out.shape[0]):
        Ic = inertia[i]
        if _isotropic(Ic):  # has no orientation: exact, and free of rounding
            for a in range(3):
                for b in range(3):
                    out[i, a, b] = Ic[a, b]
            continue
        R = rows_of(orientation[i])
        for a in range(3):
            x, y, z = R[a]
            RI0 = x * Ic[0, 0] + y * Ic[1, 0] + z * Ic[2, 0]
            RI1 = x * Ic[0, 1] + y * Ic[1, 1] + z * Ic[2, 1]
            RI2 = x * Ic[0, 2] + y * Ic[1, 2] + z * Ic[2, 2]
            for b in range(a + 1):
                s = RI0 * R[b][0] + RI1 * R[b][1] + RI2 * R[b][2]
                out[i, a, b] = s
                out[i, b, a] = s


@kernel
def _isotropic(Ic):
    return (
        Ic[0, 0] == Ic[1, 1] == Ic[2, 2] and Ic[0, 1] == 0.0 and Ic[0, 2] == 0.0 and Ic[1, 2] == 0.0
    )


@kernel
def kick(inverse_mass, inverse_inertia, gravity, force, velocity, h, out):
    """out (nb, dof) = v + h M^-1 (force + m g), in the plane or in space."""
    if inverse_inertia.ndim == 1:  # a constant for the compiler: only one of them is compiled
        kick_planar(inverse_mass, inverse_inertia, gravity, force, velocity, h, out)
    else:
        kick_spatial(inverse_mass, inverse_inertia, gravity, force, velocity, h, out)


@kernel
def kick_planar(inverse_mass, inverse_inertia, gravity, force, velocity, h, out):
    """out (nb, 3) = v + h M^-1 (force + m g); bodies without inverse mass keep their velocity."""
    for i in range(inverse_mass.size):
        for a in range(3):
            out[i, a] = velocity[i, a]
        if inverse_mass[i] > 0.0:
            for a in range(2):
                out[i, a] += h * (gravity[a] + inverse_mass[i] * force[i, a])
            out[i, 2] += h * inverse_inertia[i] * force[i, 2]


@kernel
def kick_spatial(inverse_mass, inverse_inertia, gravity, force, velocity, h, out):
    """The same in space; inverse_inertia (nb, 3, 3) in world axes."""
    for i in range(inverse_mass.size):
        for a in range(6):
            out[i, a] = velocity[i, a]
        if inverse_mass[i] > 0.0:
            for a in range(3):
                out[i, a] += h * (gravity[a] + inverse_mass[i] * force[i, a])
                for b in range(3):
                    out[i, 3 + a] += h * inverse_inertia[i, a, b] * force[i, 3 + b]


@kernel
def gyroscopic(inertia, velocity, force):
    """Subtract omega x I omega from the torques, inertia (nb, 3, 3) in world axes."""
    for i in range(velocity.shape[0]):
        w = velocity[i, 3:]
        l0 = inertia[i, 0, 0] * w[0] + inertia[i, 0, 1] * w[1] + inertia[i, 0, 2] * w[2]
        l1 = inertia[i, 1, 0] * w[0] + inertia[i, 1, 1] * w[1] + inertia[i, 1, 2] * w[2]
        l2 = inertia[i, 2, 0] * w[0] + inertia[i, 2, 1] * w[1] + inertia[i, 2, 2] * w[2]
        force[i, 3] -= w[1] * l2 - w[2] * l1
        force[i, 4] -= w[2] * l0 - w[0] * l2
        force[i, 5] -= w[0] * l1 - w[1] * l0


@kernel
def drift(inertia, inverse_inertia, flow, velocity, h, position, orientation, work):
    """Positions and orientations move over h, in place, in the plane or in space; work (5, 3)."""
    if orientation.ndim == 1:  # a constant for the compiler: only one of them is compiled
        drift_planar(velocity, h, position, orientation)
    else:
        _drift_spatial(inertia, inverse_inertia, flow, velocity, h, position, orientation, work)


@kernel
def drift_planar(velocity, h, position, orientation):
    """Positions (nb, 2) and angles (nb,) move by h velocity, in place."""
    for i in range(velocity.shape[0]):
        position[i, 0] += h * velocity[i, 0]
        position[i, 1] += h * velocity[i, 1]
        orientation[i] += h * velocity[i, 2]


@kernel
def turn(quaternion, w0, w1, w2):
    """q <- exp(w) q for a rotation vector w in world axes, norm kept."""
    angle = np.sqrt(w0 * w0 + w1 * w1 + w2 * w2)
    if angle == 0.0:
        return
    c, s = np.cos(0.5 * angle), np.sin(0.5 * angle) / angle
    if angle < 1e-5:  # the series is exact there, sin / angle is not for denormals
        s = 0.5 - angle * angle / 48.0
    x, y, z = s * w0, s * w1, s * w2
    q0, q1, q2, q3 = quaternion[0], quaternion[1], quaternion[2], quaternion[3]
    p0, p1 = c * q0 - x * q1 - y * q2 - z * q3, c * q1 + x * q0 + y * q3 - z * q2
    p2, p3 = c * q2 + y * q0 + z * q1 - x * q3, c * q3 + z * q0 + x * q2 - y * q1
    n = 1.0 / np.sqrt(p0 * p0 + p1 * p1 + p2 * p2 + p3 * p3)
    quaternion[0], quaternion[1], quaternion[2], quaternion[3] = n * p0, n * p1, n * p2, n * p3


@kernel
def drift_spatial(inertia, inverse_inertia, flow, velocity, h, position, orientation):
    """Positions and quaternions move over h, in place; inertia in body axes.

    flow: turn by the torque-free rotation, which also moves the angular velocity (L stays);
    otherwise, and for isotropic and immovable bodies, by the exponential of h omega.
    """
    work = np.empty((5, 3))
    _drift_spatial(inertia, inverse_inertia, flow, velocity, h, position, orientation, work)


@kernel
def _drift_spatial(inertia, inverse_inertia, flow, velocity, h, position, orientation, work):
    for i in range(velocity.shape[0]):
        for a in range(3):
            position[i, a] += h * velocity[i, a]
        w = velocity[i, 3:]
        if w[0] == 0.0 and w[1] == 0.0 and w[2] == 0.0:
            continue
        if _isotropic(inertia[i]) or not flow:
            turn(orientation[i], h * w[0], h * w[1], h * w[2])
        else:
            _free_rotation(inertia[i], inverse_inertia[i], h, orientation[i], w, work)


@kernel
def _free_rotation(Ic, J, h, quaternion, w, work):
    """Torque-free rotation over h in substeps, with the angular momentum L kept exactly.

    Euler's equations in body axes, W' = J (Ic W x W) with J = Ic^-1, give W(t) as a Taylor series;
    a fourth-order Magnus step turns the quaternion by it; afterwards w = R J R' L. work (5, 3).
    """
    W, k, S, A, L = work[0], work[1], work[2], work[3], work[4]
    q = quaternion
    _to_body(q[0], q[1], q[2], q[3], w, W)
    _times(Ic, W, S)
    _to_body(q[0], -q[1], -q[2], -q[3], S, L)
    speed = np.sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2])
    steps = int(min(max(1.0, np.ceil(speed * h / SUBSTEP_TURN)), MOST_SUBSTEPS))
    for _ in range(steps):
        _to_body(q[0], q[1], q[2], q[3], L, S)
        _times(J, S, W)
        _magnus(Ic, J, W, h / steps, k, S, A)
        _turn_body(q, A)
    _to_body(q[0], q[1], q[2], q[3], L, S)
    _times(J, S, A)
    _to_body(q[0], -q[1], -q[2], -q[3], A, w)


@kernel
def _magnus(Ic, J, W, dt, k, S, A):
    """A: rotation vector in body axes over dt.

    A = int W + dt^3/12 W x W' + dt^4/24 W x W'' + O(dt^5): the sign is that of rotations
    multiplied from the right. W' = J (Ic W x W) and its derivatives by the product rule.
    """
    _cross_inertia(Ic, W, W, S)
    _times(J, S, k)
    d0, d1, d2 = k[0], k[1], k[2]
    _cross_inertia(Ic, k, W, A)
    _cross_inertia(Ic, W, k, S)
    A[0], A[1], A[2] = A[0] + S[0], A[1] + S[1], A[2] + S[2]
    _times(J, A, S)
    e0, e1, e2 = S[0], S[1], S[2]
    _cross_inertia(Ic, k, k, A)
    t0, t1, t2 = 2.0 * A[0], 2.0 * A[1], 2.0 * A[2]
    _cross_inertia(Ic, S, W, A)
    t0, t1, t2 = t0 + A[0], t1 + A[1], t2 + A[2]
    _cross_inertia(Ic, W, S, A)
    A[0], A[1], A[2] = t0 + A[0], t1 + A[1], t2 + A[2]
    _times(J, A, S)
    h2, h3, h4 = dt * dt / 2.0, dt**3 / 6.0, dt**4 / 24.0
    c, x0, x1, x2 = dt**3 / 12.0, d0 + 0.5 * dt * e0, d1 + 0.5 * dt * e1, d2 + 0.5 * dt * e2
    A[0] = dt * W[0] + h2 * d0 + h3 * e0 + h4 * S[0] + c * (W[1] * x2 - W[2] * x1)
    A[1] = dt * W[1] + h2 * d1 + h3 * e1 + h4 * S[1] + c * (W[2] * x0 - W[0] * x2)
    A[2] = dt * W[2] + h2 * d2 + h3 * e2 + h4 * S[2] + c * (W[0] * x1 - W[1] * x0)


@kernel
def _times(Ic, a, out):
    """out = Ic a; out is not a."""
    for i in range(3):
        out[i] = Ic[i, 0] * a[0] + Ic[i, 1] * a[1] + Ic[i, 2] * a[2]


@kernel
def _cross_inertia(Ic, a, b, out):
    """out = Ic a x b."""
    l0 = Ic[0, 0] * a[0] + Ic[0, 1] * a[1] + Ic[0, 2] * a[2]
    l1 = Ic[1, 0] * a[0] + Ic[1, 1] * a[1] + Ic[1, 2] * a[2]
    l2 = Ic[2, 0] * a[0] + Ic[2, 1] * a[1] + Ic[2, 2] * a[2]
    out[0], out[1], out[2] = l1 * b[2] - l2 * b[1], l2 * b[0] - l0 * b[2], l0 * b[1] - l1 * b[0]


@kernel
def _to_body(q0, q1, q2, q3, v, out):
    """out = R' v for the quaternion (q0, q1, q2, q3); out is not v."""
    t0 = 2.0 * (q3 * v[1] - q2 * v[2])
    t1 = 2.0 * (q1 * v[2] - q3 * v[0])
    t2 = 2.0 * (q2 * v[0] - q1 * v[1])
    out[0] = v[0] + q0 * t0 + q3 * t1 - q2 * t2
    out[1] = v[1] + q0 * t1 + q1 * t2 - q3 * t0
    out[2] = v[2] + q0 * t2 + q2 * t0 - q1 * t1


@kernel
def _turn_body(quaternion, A):
    """q <- q exp(A), A a rotation vector in body axes, norm kept."""
    angle = np.sqrt(A[0] * A[0] + A[1] * A[1] + A[2] * A[2])
    c = np.cos(0.5 * angle)
    s = 0.5 - angle * angle / 48.0 if angle < 1e-5 else np.sin(0.5 * angle) / angle
    x, y, z = s * A[0], s * A[1], s * A[2]
    q0, q1, q2, q3 = quaternion[0], quaternion[1], quaternion[2], quaternion[3]
    p0, p1 = c * q0 - x * q1 - y * q2 - z * q3, c * q1 + x * q0 - y * q3 + z * q2
    p2, p3 = c * q2 + y * q0 - z * q1 + x * q3, c * q3 + z * q0 + y * q1 - x * q2
    n = 1.0 / np.sqrt(p0 * p0 + p1 * p1 + p2 * p2 + p3 * p3)
    quaternion[0], quaternion[1], quaternion[2], quaternion[3] = n * p0, n * p1, n * p2, n * p3
