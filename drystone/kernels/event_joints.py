"""Joints between states: poses moved on with constant velocities, and sums of J v over them."""

import numpy as np

from drystone.kernels._jit import kernel


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
