"""Packed contacts in space: 280 bytes a contact, in scalars, without J and P.

A contact's velocity is that of its point: w = v_a + omega_a x r_a - v_b - omega_b x r_b, and
u = (n.w, t_1.w, t_2.w) + bias; an impulse r is the force F = r_n n + r_1 t_1 + r_2 t_2 at the
arms r_a, r_b. So nine numbers of a frame and six of two arms stand for 36 of J and 36 of P.

The diagonal block D is kept with its normal eliminated: c = D_nn, f = D_tn / c and
T = D_tt - c f f'. Then, for the impulse r before and the velocity u there,
    q_n = u_n - c (r_n + f.r_t)          what is left without r: open where q_n >= 0,
    r_t' = r_t - T^-1 (u_t - f u_n)      stick, without a division,
    r_n' = -q_n / c - f.r_t',
and slip has p = q_t - f q_n = (u_t - f u_n) - T r_t and adj(T) p = -det(T) r_t' at hand.

Lines of ``contact`` and ``motion`` are declared in ``layout``: CONTACT_3, BODY_3.
"""

import numpy as np

from drystone.kernels._jit import stage
from drystone.kernels._prefetch import AHEAD, fetch_bodies, fetch_line
from drystone.kernels.contact.one_contact import coulomb_spatial
from drystone.kernels.contact.residual import error_spatial
from drystone.kernels.layout import BODY_3 as B
from drystone.kernels.layout import CONTACT_3 as C

LAST = 1e-4  # a relative step of lam leaves LAST^2 after it, and less in the next sweep


@stage
def pack_spatial(body, frame, point, position, inverse_mass, inverse_inertia, contact, motion, D):
    """Frames, arms and diagonal blocks of contacts, and the masses of bodies; returns 0.

    body (nc, 2); frame (nc, 3, 3); point (nc, 3); position (nb, 3); inverse_inertia (nb, 3, 3)
    in world axes; bodies that do not move have zeros. D (nc, 3, 3) is written.
    """
    for b in range(inverse_mass.size):
        own, inverse = motion[b], inverse_inertia[b]
        own[B.INV_M], moves = inverse_mass[b], inverse_mass[b] > 0.0
        for e in range(3):
            own[B.INV_I + e] = inverse[e, e]
            moves = moves or inverse[e, e] > 0.0
        own[B.INV_I + 3], own[B.INV_I + 4] = inverse[0, 1], inverse[0, 2]
        own[B.INV_I + 5] = inverse[1, 2]
        own[B.MOVES] = 1.0 if moves else 0.0
    for i in range(body.shape[0]):
        fetch_bodies(i, body, motion, position)
        line = contact[i]
        for k in range(3):
            for e in range(3):
                line[C.FRAME + 3 * k + e] = frame[i, k, e]
                D[i, k, e] = 0.0
        for s in range(2):
            for e in range(3):
                line[C.ARM_A + 3 * s + e] = point[i, e] - position[body[i, s], e]
            _add_diagonal(line, C.ARM_A + 3 * s, motion[body[i, s]], D[i])
        c = D[i, 0, 0]
        f1, f2 = D[i, 0, 1] / c, D[i, 0, 2] / c
        t11, t12, t22 = D[i, 1, 1] - f1 * D[i, 0, 1], D[i, 1, 2] - f1 * D[i, 0, 2], D[i, 2, 2]
        t22 -= f2 * D[i, 0, 2]
        det = t11 * t22 - t12 * t12
        line[C.C], line[C.INV_C], line[C.F], line[C.F + 1] = c, 1.0 / c, f1, f2
        line[C.T], line[C.T + 1], line[C.T + 2] = t11, t12, t22
        # not a number: it never passes for stick
        line[C.INV_DET] = 1.0 / det if det > 0.0 and t11 > 0.0 else np.nan
        line[C.UNIT2] = (D[i, 0, 0] + D[i, 1, 1] + D[i, 2, 2]) / 3.0
    return 0


@stage
def _add_diagonal(line, at, own, D):
    """The part of a body in D (3, 3): J M^-1 J' with its arm at line[at:]."""
    x, y, z = line[at], line[at + 1], line[at + 2]
    m, xx, yy, zz = own[B.INV_M], own[B.INV_I], own[B.INV_I + 1], own[B.INV_I + 2]
    xy, xz, yz = own[B.INV_I + 3], own[B.INV_I + 4], own[B.INV_I + 5]
    for k in range(3):
        row = C.FRAME + 3 * k
        f0, f1, f2 = line[row], line[row + 1], line[row + 2]
        t0, t1, t2 = y * f2 - z * f1, z * f0 - x * f2, x * f1 - y * f0
        w0, w1, w2 = (
            xx * t0 + xy * t1 + xz * t2,
            xy * t0 + yy * t1 + yz * t2,
            xz * t0 + yz * t1 + zz * t2,
        )
        # velocity of the point after a unit impulse along axis k
        w0, w1, w2 = m * f0 + w1 * z - w2 * y, m * f1 + w2 * x - w0 * z, m * f2 + w0 * y - w1 * x
        for e in range(k + 1):
            row = C.FRAME + 3 * e
            add = line[row] * w0 + line[row + 1] * w1 + line[row + 2] * w2
            D[k, e] += add
            if e < k:
                D[e, k] += add


@stage
def sweep_spatial(lo, hi, body, contact, motion, beta):
    """One pass over the contacts lo:hi, each solved exactly with the others fixed.

    Before its turn, a contact takes its part of the step beyond the last sweep: r goes on by
    beta times what it changed. Returns the sum of |change|^2 unit^2.
    """
    total = 0.0
    for i in range(lo, hi):
        fetch_line(min(i + AHEAD, hi - 1), body, contact, C.WIDTH, motion, B.WIDTH)
        line, first, second = contact[i], motion[body[i, 0]], motion[body[i, 1]]
        ax, ay, az = line[C.ARM_A], line[C.ARM_A + 1], line[C.ARM_A + 2]
        bx, by, bz = line[C.ARM_B], line[C.ARM_B + 1], line[C.ARM_B + 2]
        k0, k1, k2 = first[B.V + 3], first[B.V + 4], first[B.V + 5]
        l0, l1, l2 = second[B.V + 3], second[B.V + 4], second[B.V + 5]
        w0 = first[B.V] - second[B.V] + (k1 * az - k2 * ay) - (l1 * bz - l2 * by)
        w1 = first[B.V + 1] - second[B.V + 1] + (k2 * ax - k0 * az) - (l2 * bx - l0 * bz)
        w2 = first[B.V + 2] - second[B.V + 2] + (k0 * ay - k1 * ax) - (l0 * by - l1 * bx)
        n0, n1, n2 = line[C.FRAME], line[C.FRAME + 1], line[C.FRAME + 2]
        s0, s1, s2 = line[C.FRAME + 3], line[C.FRAME + 4], line[C.FRAME + 5]
        t0, t1, t2 = line[C.FRAME + 6], line[C.FRAME + 7], line[C.FRAME + 8]
        un = line[C.BIAS] + (n0 * w0 + n1 * w1 + n2 * w2)
        us = line[C.BIAS + 1] + (s0 * w0 + s1 * w1 + s2 * w2)
        ut = line[C.BIAS + 2] + (t0 * w0 + t1 * w1 + t2 * w2)
        on, os, ot = line[C.R], line[C.R + 1], line[C.R + 2]
        rn, rs, rt = line[C.R_OLD], line[C.R_OLD + 1], line[C.R_OLD + 2]
        line[C.R_OLD], line[C.R_OLD + 1], line[C.R_OLD + 2] = on, os, ot
        on, os, ot = on + beta * (on - rn), os + beta * (os - rs), ot + beta * (ot - rt)
        rn, rs, rt, lam = solve_line(line, un, us, ut, on, os, ot)
        line[C.LAM], line[C.R], line[C.R + 1], line[C.R + 2] = lam, rn, rs, rt
        rn, rs, rt = rn - on, rs - os, rt - ot
        size = rn * rn + rs * rs + rt * rt
        if size == 0.0:
            continue
        total += size * line[C.UNIT2]
        f0, f1, f2 = (
            n0 * rn + s0 * rs + t0 * rt,
            n1 * rn + s1 * rs + t1 * rt,
            n2 * rn + s2 * rs + t2 * rt,
        )
        _push(first, f0, f1, f2, ay * f2 - az * f1, az * f0 - ax * f2, ax * f1 - ay * f0)
        _push(second, -f0, -f1, -f2, bz * f1 - by * f2, bx * f2 - bz * f0, by * f0 - bx * f1)
    return total


@stage
def _push(own, f0, f1, f2, t0, t1, t2):
    """Impulse f and its moment t on a body; one that does not move is left alone: it may be
    shared with islands that other threads sweep."""
    if own[B.MOVES] == 0.0:
        return
    m, xy, xz, yz = own[B.INV_M], own[B.INV_I + 3], own[B.INV_I + 4], own[B.INV_I + 5]
    own[B.V] += m * f0
    own[B.V + 1] += m * f1
    own[B.V + 2] += m * f2
    own[B.V + 3] += own[B.INV_I] * t0 + xy * t1 + xz * t2
    own[B.V + 4] += xy * t0 + own[B.INV_I + 1] * t1 + yz * t2
    own[B.V + 5] += xz * t0 + yz * t1 + own[B.INV_I + 2] * t2


@stage
def solve_line(line, un, us, ut, on, os, ot):
    """r and lam by ``coulomb_spatial``, with velocity u at the impulse o."""
    c, inverse, f1, f2 = line[C.C], line[C.INV_C], line[C.F], line[C.F + 1]
    qn = un - c * (on + f1 * os + f2 * ot)
    t11, t12, t22, part = line[C.T], line[C.T + 1], line[C.T + 2], line[C.INV_DET]
    z1, z2 = us - f1 * un, ut - f2 * un
    x1, x2 = os - (t22 * z1 - t12 * z2) * part, ot - (t11 * z2 - t12 * z1) * part
    stick = -qn * inverse - (f1 * x1 + f2 * x2), x1, x2
    p = z1 - (t11 * os + t12 * ot), z2 - (t12 * os + t22 * ot)
    T = t11, t12, t12, t22
    return coulomb_spatial(qn, stick, p, inverse, (f1, f2), T, line[C.MU], line[C.LAM], LAST)


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
