"""Rates of a contact in the plane: ``kinematics.spatial`` with one tangent."""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.kinematics.codes import ILL, SINGULAR
from drystone.kernels.kinematics.linear import solve_ranked

WEAK = 1e-6  # as in space
MET = 1e-9


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
            flag[i] |= SINGULAR
        elif 0.0 < rcond[i] < WEAK:
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
