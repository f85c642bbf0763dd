"""A hanging chain by its equations of motion in link angles: the reference that no engine shares.

Links i = 1..n in a vertical plane, at angles a_i from the vertical; link i hangs from the end of
link i - 1, is l_i long, and its centre of mass is c_i below its upper end. With
S_i = m_i c_i + l_i (m_{i+1} + ... + m_n),

    sum_j P_ij (cos(a_i - a_j) a_j'' + sin(a_i - a_j) a_j'^2) = -g S_i sin a_i,

P_ij = l_i S_j for i < j, symmetric, and P_ii = I_i + m_i c_i^2 + l_i^2 (m_{i+1} + ... + m_n).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.integrate import solve_ivp
from scipy.linalg import cho_factor, cho_solve

from drystone.errors import UnsupportedProblemError
from drystone.model import Model, State
from drystone.types import Floats

RTOL, ATOL = 1e-10, 1e-12


def bob_path(model: Model, start: State, times: Floats) -> Floats:
    """Where the last body's centre of mass is at some times [s] after the start: (nt, dim).

    The model is a straight chain at rest whose body k hangs from body k - 1, the first from the
    world; gravity pulls along the last axis, the motion is in the plane of it and the first.
    """
    joints = model.joints
    if joints is None or (joints.body != [[k, k - 1] for k in range(model.nb)]).any():
        raise UnsupportedProblemError("the reference is for one chain of bodies, in order")
    c = np.linalg.norm(joints.anchor_a, axis=1)
    # from a link's upper end to its lower one, where the next hangs; the last one's does not matter
    lower = np.append(np.linalg.norm(joints.anchor_b[1:], axis=1), 0.0)
    inertia = model.inertia if model.dim == 2 else model.inertia[:, 1, 1]
    way = start.position[0] - joints.anchor_b[0]
    angle = float(np.arctan2(way[0], -way[-1]))
    key = tuple(tuple(float(x) for x in row) for row in (model.mass, inertia, c, c + lower, times))
    g = -float(model.gravity[-1])
    plane = np.array(_plane_path(key, angle, g))
    out = np.zeros((len(times), model.dim))
    out[:, 0], out[:, -1] = plane[:, 0], plane[:, 1]
    return joints.anchor_b[0] + out


@lru_cache(maxsize=8)
def _plane_path(
    key: tuple[tuple[float, ...], ...], angle: float, g: float
) -> tuple[tuple[float, float], ...]:
    """Kept, because every engine is compared with the same path."""
    m, inertia, c, length, times = (np.array(row) for row in key)
    n = m.size
    below = np.append(np.cumsum(m[::-1])[::-1][1:], 0.0)
    S = m * c + length * below
    P = np.empty((n, n))
    for i in range(n):
        P[i, i] = inertia[i] + m[i] * c[i] ** 2 + length[i] ** 2 * below[i]
        P[i, i + 1 :] = P[i + 1 :, i] = length[i] * S[i + 1 :]

    def rate(_: float, y: Floats) -> Floats:
        a, w = y[:n], y[n:]
        away = a[:, None] - a[None, :]
        load = -(P * np.sin(away)) @ (w * w) - g * S * np.sin(a)
        turned = cho_solve(cho_factor(P * np.cos(away), check_finite=False), load)
        return np.concatenate([w, turned])

    begin = np.concatenate([np.full(n, angle), np.zeros(n)])
    span = (0.0, float(times[-1]))
    done = solve_ivp(rate, span, begin, "DOP853", t_eval=times, rtol=RTOL, atol=ATOL)
    a = done.y[:n]
    arm = np.append(length[:-1], c[-1])[:, None]
    x, z = (arm * np.sin(a)).sum(axis=0), -(arm * np.cos(a)).sum(axis=0)
    return tuple(zip(x.tolist(), z.tolist(), strict=True))
