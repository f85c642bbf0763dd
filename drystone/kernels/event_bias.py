"""What joints add to accelerations by velocities alone: d(J v)/dt with v held, by differences.

A central difference of fourth order over poses moved on by +- step, +- 2 step seconds.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.event_joints import add_along, move_on
from drystone.kernels.joints import joint_rows_spatial
from drystone.kernels.joints_planar import joint_rows_planar


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
