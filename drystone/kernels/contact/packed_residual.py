"""How well packed contacts meet the law: the residuals of ``residual`` for Coulomb's cone.

Scales come as sums of squares, plain and unit-free (impulses times s, velocities over s, with
s^2 the mean diagonal of D): what is said of the free velocity q never changes during a solve.
"""

import numpy as np

from drystone.kernels._jit import stage
from drystone.kernels._prefetch import AHEAD, fetch_line
from drystone.kernels.blocks import ratio
from drystone.kernels.contact.residual import error_spatial, ran_away
from drystone.kernels.layout import BODY_3 as B
from drystone.kernels.layout import CONTACT_3 as C


@stage
def free_scales(lo, hi, q, unit2):
    """Sums of |q|^2 and |q|^2 / s^2; unit2 (nc,): s^2."""
    plain, free = 0.0, 0.0
    for i in range(lo, hi):
        total = 0.0
        for a in range(q.shape[1]):
            total += q[i, a] * q[i, a]
        plain += total
        free += total / unit2[i]
    return plain, free


@stage
def ratios(sums, plain_q, free_q):
    """Both residuals from sums of squares; infinite where impulses ran away."""
    plain_f, plain_r, plain_u, free_f, free_r, free_u = sums
    if ran_away(free_f, free_q, free_r, free_u):
        return np.inf, np.inf
    return ratio(plain_f, max(plain_q, plain_r, plain_u)), ratio(
        free_f, max(free_q, free_r, free_u)
    )


@stage
def judge_spatial(lo, hi, body, contact, motion, u):
    """Sums of squares over the contacts lo:hi, of the error, r and u, plain and then unit-free;
    u (nc, 3) gets their velocities."""
    plain_f, plain_r, plain_u, free_f, free_r, free_u = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(lo, hi):
        fetch_line(min(i + AHEAD, hi - 1), body, contact, C.WIDTH, motion, B.WIDTH)
        line, first, second = contact[i], motion[body[i, 0]], motion[body[i, 1]]
        x, y, z = line[C.ARM_A], line[C.ARM_A + 1], line[C.ARM_A + 2]
        k0, k1, k2 = first[B.V + 3], first[B.V + 4], first[B.V + 5]
        w0 = first[B.V] - second[B.V] + (k1 * z - k2 * y)
        w1 = first[B.V + 1] - second[B.V + 1] + (k2 * x - k0 * z)
        w2 = first[B.V + 2] - second[B.V + 2] + (k0 * y - k1 * x)
        x, y, z = line[C.ARM_B], line[C.ARM_B + 1], line[C.ARM_B + 2]
        k0, k1, k2 = second[B.V + 3], second[B.V + 4], second[B.V + 5]
        w0, w1, w2 = w0 - (k1 * z - k2 * y), w1 - (k2 * x - k0 * z), w2 - (k0 * y - k1 * x)
        un, us, ut = (
            line[C.BIAS] + (line[C.FRAME] * w0 + line[C.FRAME + 1] * w1 + line[C.FRAME + 2] * w2),
            line[C.BIAS + 1]
            + (line[C.FRAME + 3] * w0 + line[C.FRAME + 4] * w1 + line[C.FRAME + 5] * w2),
            line[C.BIAS + 2]
            + (line[C.FRAME + 6] * w0 + line[C.FRAME + 7] * w1 + line[C.FRAME + 8] * w2),
        )
        u[i, 0], u[i, 1], u[i, 2] = un, us, ut
        rn, rs, rt, mu = line[C.R], line[C.R + 1], line[C.R + 2], line[C.MU]
        slip = np.sqrt(us * us + ut * ut)
        plain_f += error_spatial(rn, rs, rt, un, us, ut, mu * slip, mu)
        # scaled to velocities: |F|^2 with (r s, u / s) is that with (r s^2, u) over s^2
        s = line[C.UNIT2]
        part = 1.0 / s
        free_f += part * error_spatial(rn * s, rs * s, rt * s, un, us, ut, mu * slip, mu)
        size = rn * rn + rs * rs + rt * rt
        plain_r += size
        free_r += s * size
        size = un * un + slip * slip
        plain_u += size
        free_u += part * size
    return plain_f, plain_r, plain_u, free_f, free_r, free_u
