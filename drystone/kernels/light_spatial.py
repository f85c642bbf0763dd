"""Contacts in space, light: 320 bytes a contact, in scalars, without J and P.

A contact's velocity is that of its point: w = v_a + omega_a x r_a - v_b - omega_b x r_b, and
u = (n.w, t_1.w, t_2.w) + bias; an impulse r is the force F = r_n n + r_1 t_1 + r_2 t_2 at the
arms r_a, r_b. So nine numbers of a frame and six of two arms stand for 36 of J and 36 of P.

The diagonal block D is kept with its normal eliminated: c = D_nn, f = D_tn / c and
T = D_tt - c f f'. Then, for the impulse r before and the velocity u there,
    q_n = u_n - c (r_n + f.r_t)          what is left without r: open where q_n >= 0,
    r_t' = r_t - T^-1 (u_t - f u_n)      stick, without a division,
    r_n' = -q_n / c - f.r_t',
and slip has p = q_t - f q_n = (u_t - f u_n) - T r_t and adj(T) p = -det(T) r_t' at hand.

One line of ``contact`` (nc, CONTACT): 0 frame, 9 arm of a, 12 arm of b, 15 bias, 18 c, 19 1/c,
20 f, 22 T_11, T_12, T_22, 25 1/det(T), 26 mu, 27 unit^2, 28 lam, 29 r, 32 r after the sweep
before. One line of ``motion`` (nb, MOTION): 0 v, 6 1/m, 7 the inverse inertia in world axes
(xx, yy, zz, xy, xz, yz), 13 whether the body moves, 14 v after the sweep before.
"""

import numpy as np

from drystone.kernels._ahead import AHEAD, fetch_bodies, fetch_line
from drystone.kernels._jit import stage
from drystone.kernels.light_slip import slip

CONTACT, MOTION = 35, 20
FRICTIONLESS = 1e-15  # a smaller coefficient changes nothing that rounding does not


@stage
def pack_spatial(body, frame, point, position, inverse_mass, inverse_inertia, contact, motion, D):
    """Frames, arms and diagonal blocks of contacts, and the masses of bodies; returns 0.

    body (nc, 2); frame (nc, 3, 3); point (nc, 3); position (nb, 3); inverse_inertia (nb, 3, 3)
    in world axes; bodies that do not move have zeros. D (nc, 3, 3) is written.
    """
    for b in range(inverse_mass.size):
        motion[b, 6] = inverse_mass[b]
        motion[b, 7], motion[b, 8] = inverse_inertia[b, 0, 0], inverse_inertia[b, 1, 1]
        motion[b, 9], motion[b, 10] = inverse_inertia[b, 2, 2], inverse_inertia[b, 0, 1]
        motion[b, 11], motion[b, 12] = inverse_inertia[b, 0, 2], inverse_inertia[b, 1, 2]
        moves = inverse_mass[b] > 0.0
        for e in range(7, 10):
            moves = moves or motion[b, e] > 0.0
        motion[b, 13] = 1.0 if moves else 0.0
    for i in range(body.shape[0]):
        fetch_bodies(i, body, motion, position)
        for k in range(3):
            for e in range(3):
                contact[i, 3 * k + e] = frame[i, k, e]
                D[i, k, e] = 0.0
        for s in range(2):
            for e in range(3):
                contact[i, 9 + 3 * s + e] = point[i, e] - position[body[i, s], e]
            _add_diagonal(contact, motion, i, 9 + 3 * s, body[i, s], D)
        c = D[i, 0, 0]
        f1, f2 = D[i, 0, 1] / c, D[i, 0, 2] / c
        t11, t12, t22 = D[i, 1, 1] - f1 * D[i, 0, 1], D[i, 1, 2] - f1 * D[i, 0, 2], D[i, 2, 2]
        t22 -= f2 * D[i, 0, 2]
        det = t11 * t22 - t12 * t12
        contact[i, 18], contact[i, 19], contact[i, 20], contact[i, 21] = c, 1.0 / c, f1, f2
        contact[i, 22], contact[i, 23], contact[i, 24] = t11, t12, t22
        # not a number: it never passes for stick
        contact[i, 25] = 1.0 / det if det > 0.0 and t11 > 0.0 else np.nan
        contact[i, 27] = (D[i, 0, 0] + D[i, 1, 1] + D[i, 2, 2]) / 3.0
    return 0


@stage
def _add_diagonal(contact, motion, i, at, b, D):
    """The part of body b in D[i]: J M^-1 J' with the arm at contact[i, at:]."""
    x, y, z = contact[i, at], contact[i, at + 1], contact[i, at + 2]
    m, xx, yy, zz = motion[b, 6], motion[b, 7], motion[b, 8], motion[b, 9]
    xy, xz, yz = motion[b, 10], motion[b, 11], motion[b, 12]
    for k in range(3):
        f0, f1, f2 = contact[i, 3 * k], contact[i, 3 * k + 1], contact[i, 3 * k + 2]
        t0, t1, t2 = y * f2 - z * f1, z * f0 - x * f2, x * f1 - y * f0
        w0, w1, w2 = (
            xx * t0 + xy * t1 + xz * t2,
            xy * t0 + yy * t1 + yz * t2,
            xz * t0 + yz * t1 + zz * t2,
        )
        # velocity of the point after a unit impulse along axis k
        w0, w1, w2 = m * f0 + w1 * z - w2 * y, m * f1 + w2 * x - w0 * z, m * f2 + w0 * y - w1 * x
        for e in range(k + 1):
            add = contact[i, 3 * e] * w0 + contact[i, 3 * e + 1] * w1 + contact[i, 3 * e + 2] * w2
            D[i, k, e] += add
            if e < k:
                D[i, e, k] += add


@stage
def sweep_spatial(lo, hi, body, contact, motion, beta):
    """One pass over the contacts lo:hi, each solved exactly with the others fixed.

    Before its turn, a contact takes its part of the step beyond the last sweep: r goes on by
    beta times what it changed. Returns the sum of |change|^2 unit^2.
    """
    total = 0.0
    for i in range(lo, hi):
        fetch_line(min(i + AHEAD, hi - 1), body, contact, CONTACT, motion, MOTION)
        a, b = body[i, 0], body[i, 1]
        ax, ay, az = contact[i, 9], contact[i, 10], contact[i, 11]
        bx, by, bz = contact[i, 12], contact[i, 13], contact[i, 14]
        k0, k1, k2 = motion[a, 3], motion[a, 4], motion[a, 5]
        l0, l1, l2 = motion[b, 3], motion[b, 4], motion[b, 5]
        w0 = motion[a, 0] - motion[b, 0] + (k1 * az - k2 * ay) - (l1 * bz - l2 * by)
        w1 = motion[a, 1] - motion[b, 1] + (k2 * ax - k0 * az) - (l2 * bx - l0 * bz)
        w2 = motion[a, 2] - motion[b, 2] + (k0 * ay - k1 * ax) - (l0 * by - l1 * bx)
        n0, n1, n2 = contact[i, 0], contact[i, 1], contact[i, 2]
        s0, s1, s2 = contact[i, 3], contact[i, 4], contact[i, 5]
        t0, t1, t2 = contact[i, 6], contact[i, 7], contact[i, 8]
        un = contact[i, 15] + (n0 * w0 + n1 * w1 + n2 * w2)
        us = contact[i, 16] + (s0 * w0 + s1 * w1 + s2 * w2)
        ut = contact[i, 17] + (t0 * w0 + t1 * w1 + t2 * w2)
        on, os, ot = contact[i, 29], contact[i, 30], contact[i, 31]
        rn, rs, rt = contact[i, 32], contact[i, 33], contact[i, 34]
        contact[i, 32], contact[i, 33], contact[i, 34] = on, os, ot
        on, os, ot = on + beta * (on - rn), os + beta * (os - rs), ot + beta * (ot - rt)
        rn, rs, rt, lam = solve_spatial(contact, i, un, us, ut, on, os, ot)
        contact[i, 28], contact[i, 29], contact[i, 30], contact[i, 31] = lam, rn, rs, rt
        rn, rs, rt = rn - on, rs - os, rt - ot
        size = rn * rn + rs * rs + rt * rt
        if size == 0.0:
            continue
        total += size * contact[i, 27]
        f0, f1, f2 = (
            n0 * rn + s0 * rs + t0 * rt,
            n1 * rn + s1 * rs + t1 * rt,
            n2 * rn + s2 * rs + t2 * rt,
        )
        _push(motion, a, f0, f1, f2, ay * f2 - az * f1, az * f0 - ax * f2, ax * f1 - ay * f0)
        _push(motion, b, -f0, -f1, -f2, bz * f1 - by * f2, bx * f2 - bz * f0, by * f0 - bx * f1)
    return total


@stage
def _push(motion, b, f0, f1, f2, t0, t1, t2):
    """Impulse f and its moment t on body b; one that does not move is left alone: it may be
    shared with islands that other threads sweep."""
    if motion[b, 13] == 0.0:
        return
    m, xy, xz, yz = motion[b, 6], motion[b, 10], motion[b, 11], motion[b, 12]
    motion[b, 0] += m * f0
    motion[b, 1] += m * f1
    motion[b, 2] += m * f2
    motion[b, 3] += motion[b, 7] * t0 + xy * t1 + xz * t2
    motion[b, 4] += xy * t0 + motion[b, 8] * t1 + yz * t2
    motion[b, 5] += xz * t0 + yz * t1 + motion[b, 9] * t2


@stage
def solve_spatial(contact, i, un, us, ut, on, os, ot):
    """Impulse (r_n, r_1, r_2) and lam of one contact, with velocity u at the impulse o."""
    c, inverse, f1, f2 = contact[i, 18], contact[i, 19], contact[i, 20], contact[i, 21]
    qn = un - c * (on + f1 * os + f2 * ot)
    if qn >= 0.0:
        return 0.0, 0.0, 0.0, 0.0
    mu = contact[i, 26]
    if mu <= FRICTIONLESS:
        return -qn * inverse, 0.0, 0.0, 0.0
    t11, t12, t22, part = contact[i, 22], contact[i, 23], contact[i, 24], contact[i, 25]
    z1, z2 = us - f1 * un, ut - f2 * un
    x1, x2 = os - (t22 * z1 - t12 * z2) * part, ot - (t11 * z2 - t12 * z1) * part
    rn = -qn * inverse - (f1 * x1 + f2 * x2)
    if rn > 0.0 and x1 * x1 + x2 * x2 <= (mu * rn) * (mu * rn):
        return rn, x1, x2, 0.0
    p1, p2 = z1 - (t11 * os + t12 * ot), z2 - (t12 * os + t22 * ot)
    return slip(qn, p1, p2, inverse, f1, f2, t11, t12, t22, mu, contact[i, 28])
