"""World poses of geoms from the poses of their bodies' centres of mass."""

import math

from drystone.kernels._jit import stage


@stage
def geom_poses(body, offset, turn, position, orientation, x, R):
    """Fill x and R of every geom, in the plane or in space."""
    if orientation.ndim == 1:  # a constant for the compiler: only one of them is compiled
        geom_poses_planar(body, offset, turn, position, orientation, x, R)
    else:
        geom_poses_spatial(body, offset, turn, position, orientation, x, R)


@stage
def geom_poses_planar(body, offset, turn, position, orientation, x, R):
    """Fill x (ng, 2) and R (ng, 2, 2), world point = x + R local, for every geom.

    body (ng,), offset (ng, 2), turn (ng, 2, 2) of ``Geoms``; position (nb, 2), orientation (nb,)
    angles of ``State``.
    """
    for g in range(body.size):
        b = body[g]
        c, s = math.cos(orientation[b]), math.sin(orientation[b])
        x[g, 0] = position[b, 0] + c * offset[g, 0] - s * offset[g, 1]
        x[g, 1] = position[b, 1] + s * offset[g, 0] + c * offset[g, 1]
        for j in range(2):
            R[g, 0, j] = c * turn[g, 0, j] - s * turn[g, 1, j]
            R[g, 1, j] = s * turn[g, 0, j] + c * turn[g, 1, j]


@stage
def geom_poses_spatial(body, offset, turn, position, orientation, x, R):
    """Fill x (ng, 3) and R (ng, 3, 3), world point = x + R local, for every geom.

    body (ng,), offset (ng, 3), turn (ng, 3, 3) of ``Geoms``; position (nb, 3), orientation
    (nb, 4) unit quaternions of ``State``.
    """
    for g in range(body.size):
        b = body[g]
        w, i, j, k = orientation[b, 0], orientation[b, 1], orientation[b, 2], orientation[b, 3]
        # diagonal as 1 - 2(...), so that (1, 0, 0, 0) gives the identity to the bit
        q00, q11 = 1.0 - 2.0 * (j * j + k * k), 1.0 - 2.0 * (i * i + k * k)
        q22 = 1.0 - 2.0 * (i * i + j * j)
        q01, q02, q12 = 2.0 * (i * j - w * k), 2.0 * (i * k + w * j), 2.0 * (j * k - w * i)
        q10, q20, q21 = 2.0 * (i * j + w * k), 2.0 * (i * k - w * j), 2.0 * (j * k + w * i)
        a0, a1, a2 = offset[g, 0], offset[g, 1], offset[g, 2]
        x[g, 0] = position[b, 0] + q00 * a0 + q01 * a1 + q02 * a2
        x[g, 1] = position[b, 1] + q10 * a0 + q11 * a1 + q12 * a2
        x[g, 2] = position[b, 2] + q20 * a0 + q21 * a1 + q22 * a2
        for m in range(3):
            a0, a1, a2 = turn[g, 0, m], turn[g, 1, m], turn[g, 2, m]
            R[g, 0, m] = q00 * a0 + q01 * a1 + q02 * a2
            R[g, 1, m] = q10 * a0 + q11 * a1 + q12 * a2
            R[g, 2, m] = q20 * a0 + q21 * a1 + q22 * a2
