"""How bodies roll on each other: how fast they turn, and how fast that moves the contact point."""

import numpy as np

from drystone.kernels._jit import kernel


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
