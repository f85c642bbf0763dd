"""Joints between states: poses moved on with constant velocities, sums of J v over them, and what
joints add to accelerations by velocities alone: d(J v)/dt with v held, by a central difference of
fourth order over poses moved on by +- step, +- 2 step seconds.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.joints import joint_rows_spatial
from drystone.kernels.joints_planar import joint_rows_planar


@kernel
def move_on(position, orientation, velocity, h, to_position, to_orientation):
    """Poses after h seconds; orientation (nb,) as (nb, 1), or (nb, 4)."""
    dim = position.shape[1]
    for b in range(position.shape[0]):
        for e in range(dim):
            to_position[b, e] = position[b, e] + h * velocity[b, e]
        if dim == 2:
            to_orientation[b, 0] = orientation[b, 0] + h * velocity[b, 2]
            continue
        x, y, z = 0.5 * h * velocity[b, 3], 0.5 * h * velocity[b, 4], 0.5 * h * velocity[b, 5]
        angle = np.sqrt(x * x + y * y + z * z)
        s = np.sin(angle) / angle if angle > 0.0 else 1.0
        w, x, y, z = np.cos(angle), s * x, s * y, s * z
        q0, q1, q2, q3 = (
            orientation[b, 0],
            orientation[b, 1],
            orientation[b, 2],
            orientation[b, 3],
        )
        to_orientation[b, 0] = w * q0 - x * q1 - y * q2 - z * q3
        to_orientation[b, 1] = w * q1 + x * q0 + y * q3 - z * q2
        to_orientation[b, 2] = w * q2 + y * q0 + z * q1 - x * q3
        to_orientation[b, 3] = w * q3 + z * q0 + x * q2 - y * q1


@kernel
def add_along(body, J, v, weight, out):
    """out (n,) += weight J v; body (n, 2), -1 the world; J (n, 2, dof)."""
    for k in range(J.shape[0]):
        total = 0.0
        for s in range(2):
            b = body[k, s]
            if b >= 0:
                for e in range(v.shape[1]):
                    total += J[k, s, e] * v[b, e]
        out[k] += weight * total


@kernel
def joint_bias(joints, functions, rows_body, position, orientation, velocity, step, out):
    """out (n,) += d(J v)/dt of the functions of joints; rows_body (n, 2): whose they are.

    orientation: angles (nb,) in the plane, quaternions (nb, 4) in space.
    """
    n, nb, dof = functions.target.size, position.shape[0], velocity.shape[1]
    value, J = np.empty(n), np.empty((n, 2, dof))
    x, turn = np.empty_like(position), np.empty_like(orientation)
    k = 1 if dof == 3 else 4
    here, there = orientation.reshape(nb, k), turn.reshape(nb, k)
    for i in range(4):
        ahead, weight = _term(i)
        move_on(position, here, velocity, ahead * step, x, there)
        if orientation.ndim == 1:  # known as it is compiled: the other branch is not
            joint_rows_planar(joints, functions, x, turn, value, J)
        else:
            joint_rows_spatial(joints, functions, x, turn, value, J)
        add_along(rows_body, J, velocity, weight / step, out)


@kernel
def _term(k):
    """(how many steps ahead, weight) of the difference's terms."""
    if k == 0:
        return -2.0, 1.0 / 12.0
    if k == 1:
        return -1.0, -2.0 / 3.0
    if k == 2:
        return 1.0, 2.0 / 3.0
    return 2.0, -1.0 / 12.0
