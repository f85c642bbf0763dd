"""How well light contacts meet the law: the residuals of ``blocks`` for Coulomb's cone.

Scales come as sums of squares, plain and unit-free (impulses times s, velocities over s, with
s^2 the mean diagonal of D): what is said of the free velocity q never changes during a solve.
"""

import numpy as np

from drystone.kernels._ahead import AHEAD, fetch_line
from drystone.kernels._jit import stage
from drystone.kernels.light_spatial import CONTACT, MOTION

SMALLEST = 2.220446049250313e-16**2


@stage
def free_scales(lo, hi, q, contact, square):
    """Sums of |q|^2 and |q|^2 / s^2; square: where contacts keep s^2."""
    plain, free = 0.0, 0.0
    for i in range(lo, hi):
        total = 0.0
        for a in range(q.shape[1]):
            total += q[i, a] * q[i, a]
        plain += total
        free += total / contact[i, square]
    return plain, free


@stage
def ratios(sums, plain_q, free_q):
    """Both residuals from sums of squares; infinite where impulses ran away (see ``blocks``)."""
    plain_f, plain_r, plain_u, free_f, free_r, free_u = sums
    scale = max(free_q, free_u)
    if scale > 0.0 and (
        (free_r > 1e10 * scale and free_f > 1e-2 * scale)
        or (free_q > 0.0 and free_r > 1e24 * free_q)
    ):
        return np.inf, np.inf
    return _ratio(plain_f, max(plain_q, plain_r, plain_u)), _ratio(free_f, max(scale, free_r))


@stage
def _ratio(error, scale):
    return np.sqrt(error / scale if scale >= SMALLEST else error)


@stage
def error_spatial(rn, rs, rt, un, us, ut, slip, mu):
    """|r - its projection after a step against (u_n + mu |u_t|, u_t)|^2; slip = |u_t|."""
    n, x, y = rn - un - mu * slip, rs - us, rt - ut
    t = np.sqrt(x * x + y * y)
    if mu * t <= -n:  # first: without friction the axis below the apex passes the other test
        return rn * rn + rs * rs + rt * rt
    if t <= mu * n:
        n, x, y = rn - n, us, ut
        return n * n + x * x + y * y
    top = (n + mu * t) / (1.0 + mu * mu)
    part = mu * top / t
    n, x, y = rn - top, rs - part * x, rt - part * y
    return n * n + x * x + y * y


@stage
def judge_spatial(lo, hi, body, contact, motion, u):
    """Sums of squares over the contacts lo:hi, of the error, r and u, plain and then unit-free;
    u (nc, 3) gets their velocities."""
    plain_f, plain_r, plain_u, free_f, free_r, free_u = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(lo, hi):
        fetch_line(min(i + AHEAD, hi - 1), body, contact, CONTACT, motion, MOTION)
        a, b = body[i, 0], body[i, 1]
        x, y, z = contact[i, 9], contact[i, 10], contact[i, 11]
        k0, k1, k2 = motion[a, 3], motion[a, 4], motion[a, 5]
        w0 = motion[a, 0] - motion[b, 0] + (k1 * z - k2 * y)
        w1 = motion[a, 1] - motion[b, 1] + (k2 * x - k0 * z)
        w2 = motion[a, 2] - motion[b, 2] + (k0 * y - k1 * x)
        x, y, z = contact[i, 12], contact[i, 13], contact[i, 14]
        k0, k1, k2 = motion[b, 3], motion[b, 4], motion[b, 5]
        w0, w1, w2 = w0 - (k1 * z - k2 * y), w1 - (k2 * x - k0 * z), w2 - (k0 * y - k1 * x)
        un, us, ut = (
            contact[i, 15] + (contact[i, 0] * w0 + contact[i, 1] * w1 + contact[i, 2] * w2),
            contact[i, 16] + (contact[i, 3] * w0 + contact[i, 4] * w1 + contact[i, 5] * w2),
            contact[i, 17] + (contact[i, 6] * w0 + contact[i, 7] * w1 + contact[i, 8] * w2),
        )
        u[i, 0], u[i, 1], u[i, 2] = un, us, ut
        rn, rs, rt, mu = contact[i, 29], contact[i, 30], contact[i, 31], contact[i, 26]
        slip = np.sqrt(us * us + ut * ut)
        plain_f += error_spatial(rn, rs, rt, un, us, ut, slip, mu)
        # scaled to velocities: |F|^2 with (r s, u / s) is that with (r s^2, u) over s^2
        s = contact[i, 27]
        part = 1.0 / s
        free_f += part * error_spatial(rn * s, rs * s, rt * s, un, us, ut, slip, mu)
        size = rn * rn + rs * rs + rt * rt
        plain_r += size
        free_r += s * size
        size = un * un + slip * slip
        plain_u += size
        free_u += part * size
    return plain_f, plain_r, plain_u, free_f, free_r, free_u
