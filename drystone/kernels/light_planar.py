"""Contacts in the plane, light: 160 bytes a contact, in scalars, without J and P.

As ``light_spatial``: n and the levers of n and t about both bodies stand for J and P; the tangent
is n turned by +90 degrees. D with its normal eliminated: c = D_nn, f = D_tn / c, T = D_tt - c f^2.

One line of ``contact`` (nc, CONTACT): 0 n, 2 levers of n and t about a, 4 about b, 6 bias, 8 c,
9 1/c, 10 f, 11 1/T, 12 mu, 13 unit^2, 14 r, 16 r after the sweep before, 18 1 / (1 + mu f) and
1 / (1 - mu f). One line of ``motion`` (nb, MOTION): 0 v, 3 1/m, 4 1/I, 5 whether the body moves,
6 v after the sweep before.
"""

import numpy as np

from drystone.kernels._ahead import AHEAD, FAR, fetch_line
from drystone.kernels._jit import stage

CONTACT, MOTION = 20, 9
CONVEX = 1  # as in ``blocks``


@stage
def pack_planar(body, frame, point, position, inverse_mass, inverse_inertia, contact, motion, D):
    """Normals, levers and diagonal blocks of contacts, and the masses of bodies; returns 0.

    body (nc, 2); frame (nc, 2, 2); point (nc, 2); position (nb, 2); inverse_inertia (nb,);
    bodies that do not move have zeros. D (nc, 2, 2) is written.
    """
    for b in range(inverse_mass.size):
        m, k = inverse_mass[b], inverse_inertia[b]
        motion[b, 3], motion[b, 4] = m, k
        motion[b, 5] = 1.0 if m > 0.0 or k > 0.0 else 0.0
    for i in range(body.shape[0]):
        n0, n1 = frame[i, 0, 0], frame[i, 0, 1]
        contact[i, 0], contact[i, 1] = n0, n1
        d00, d01, d11 = 0.0, 0.0, 0.0
        for s in range(2):
            b = body[i, s]
            x, y = point[i, 0] - position[b, 0], point[i, 1] - position[b, 1]
            m, k, ln, lt = motion[b, 3], motion[b, 4], x * n1 - y * n0, x * n0 + y * n1
            contact[i, 2 + 2 * s], contact[i, 3 + 2 * s] = ln, lt
            d00, d01, d11 = d00 + m + k * ln * ln, d01 + k * ln * lt, d11 + m + k * lt * lt
        D[i, 0, 0], D[i, 0, 1], D[i, 1, 0], D[i, 1, 1] = d00, d01, d01, d11
        f = d01 / d00
        T = d11 - f * d01
        contact[i, 8], contact[i, 9], contact[i, 10] = d00, 1.0 / d00, f
        contact[i, 11] = 1.0 / T if T > 0.0 else np.nan  # never passes for stick
        contact[i, 13] = 0.5 * (d00 + d11)
    return 0


@stage
def set_friction(i, mu, contact):
    """mu of contact i, and what slip divides by."""
    f = contact[i, 10]
    contact[i, 12] = mu
    contact[i, 18], contact[i, 19] = 1.0 / (1.0 + mu * f), 1.0 / (1.0 - mu * f)


@stage
def sweep_planar(awake, body, contact, motion, law, beta):
    """One pass over the contacts whose numbers are in awake (n,), each solved exactly with the
    others fixed.

    Before its turn, a contact takes its part of the step beyond the last sweep: r goes on by
    beta times what it changed. Returns the sum of |change|^2 unit^2, and how many contacts carry
    something or did so before: awake then begins with these.

    A contact waits for the velocities that the one before it changed, so what depends on them is
    kept short: g = -q_n / c is o_n + f o_t - u_n / c, and no division is left.
    """
    total, kept, n = 0.0, 0, awake.size
    for j in range(n):
        if n > FAR:
            ahead = awake[min(j + AHEAD, n - 1)]
            fetch_line(ahead, body, contact, CONTACT, motion, MOTION)
        i = awake[j]
        a, b = body[i, 0], body[i, 1]
        n0, n1 = contact[i, 0], contact[i, 1]
        an, at, bn, bt = contact[i, 2], contact[i, 3], contact[i, 4], contact[i, 5]
        f, part, mu = contact[i, 10], contact[i, 11], contact[i, 12]
        on, ot, rn, rt = contact[i, 14], contact[i, 15], contact[i, 16], contact[i, 17]
        contact[i, 16], contact[i, 17] = on, ot
        on, ot = on + beta * (on - rn), ot + beta * (ot - rt)
        x, y = motion[a, 0] - motion[b, 0], motion[a, 1] - motion[b, 1]
        un = (contact[i, 6] + (an * motion[a, 2] - bn * motion[b, 2])) + (n0 * x + n1 * y)
        ut = (contact[i, 7] + (at * motion[a, 2] - bt * motion[b, 2])) + (n0 * y - n1 * x)
        g = (on + f * ot) - un * contact[i, 9]
        z = ut - f * un
        if law == CONVEX:
            rn, rt = _solve_convex(contact[i, 8], f, part, un, z, on, ot, mu)
        elif g <= 0.0:
            rn, rt = 0.0, 0.0
        else:
            rt = ot - z * part
            rn = g - f * rt
            if not (rn > 0.0 and abs(rt) <= mu * rn):
                rn, rt = _slip(g, rt, mu, contact[i, 18], contact[i, 19])
        contact[i, 14], contact[i, 15] = rn, rt
        if rn == 0.0 and on == 0.0:
            continue
        awake[kept] = i
        kept += 1
        rn, rt = rn - on, rt - ot
        size = rn * rn + rt * rt
        total += size * contact[i, 13]
        x, y = n0 * rn - n1 * rt, n1 * rn + n0 * rt
        # a body that does not move is left alone: other threads may sweep islands that share it
        if motion[a, 5] != 0.0:
            motion[a, 0] += motion[a, 3] * x
            motion[a, 1] += motion[a, 3] * y
            motion[a, 2] += motion[a, 4] * (an * rn + at * rt)
        if motion[b, 5] != 0.0:
            motion[b, 0] -= motion[b, 3] * x
            motion[b, 1] -= motion[b, 3] * y
            motion[b, 2] -= motion[b, 4] * (bn * rn + bt * rt)
    return total, kept


@stage
def _slip(g, x, mu, plus, minus):
    """Friction opposes the slip, which has the sign of p = z - T r_t, or of -x; where the lever
    makes that impossible (1 + s mu f <= 0) the other side is the only one left."""
    m, part = (mu, plus) if x > 0.0 else (-mu, minus)
    if not 0.0 < part < np.inf:
        m, part = (-mu, minus) if x > 0.0 else (mu, plus)
    rn = g * part
    return rn, m * rn


@stage
def _solve_convex(c, f, part, un, z, on, ot, mu):
    """Impulse of one contact by the relaxed law, with velocities un, z = u_t - f u_n at o."""
    qn = un - c * (on + f * ot)
    x = ot - z * part
    rn = -qn / c - f * x
    qt = z - ot / part + f * qn
    if qn >= mu * abs(qt):
        return 0.0, 0.0
    if rn > 0.0 and abs(x) <= mu * rn:
        return rn, x
    return _slip_convex(c, f, part, qn, qt, mu)


@stage
def _slip_convex(c, f, part, qn, qt, mu):
    """Slip of the relaxed law: u is orthogonal to the ray (1, s mu) of the cone."""
    best, n, t = -np.inf, 0.0, 0.0
    w01, w11 = c * f, 1.0 / part + c * f * f
    for k in range(2):
        s = 1.0 - 2.0 * k
        m = s * mu
        num, den = -qn - m * qt, c + m * (2.0 * w01 + m * w11)
        if num > 0.0 and den > 0.0:
            # friction must oppose the slip: of two candidates keep the one that does so more
            opposing = -s * (qt + (w01 + m * w11) * num / den)
            if opposing > best:
                best, n, t = opposing, num / den, m * num / den
    return n, t


@stage
def _error(rn, rt, un, ut, lift, mu):
    """|r - its projection after a step against (u_n + lift, u_t)|^2."""
    n, x = rn - un - lift, rt - ut
    t = abs(x)
    if mu * t <= -n:
        return rn * rn + rt * rt
    if t <= mu * n:
        return (rn - n) * (rn - n) + ut * ut
    top = (n + mu * t) / (1.0 + mu * mu)
    side = rt - (mu * top if x > 0.0 else -mu * top)
    return (rn - top) * (rn - top) + side * side


@stage
def judge_planar(lo, hi, body, contact, motion, law, u):
    """Sums of squares over the contacts lo:hi, of the error, r and u, plain and then unit-free;
    u (nc, 2) gets their velocities."""
    plain_f, plain_r, plain_u, free_f, free_r, free_u = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(lo, hi):
        if hi - lo > FAR:
            fetch_line(min(i + AHEAD, hi - 1), body, contact, CONTACT, motion, MOTION)
        a, b = body[i, 0], body[i, 1]
        n0, n1, wa, wb = contact[i, 0], contact[i, 1], motion[a, 2], motion[b, 2]
        x, y = motion[a, 0] - motion[b, 0], motion[a, 1] - motion[b, 1]
        un = contact[i, 6] + (n0 * x + n1 * y) + (contact[i, 2] * wa - contact[i, 4] * wb)
        ut = contact[i, 7] + (n0 * y - n1 * x) + (contact[i, 3] * wa - contact[i, 5] * wb)
        u[i, 0], u[i, 1] = un, ut
        rn, rt, mu, s = contact[i, 14], contact[i, 15], contact[i, 12], contact[i, 13]
        part, size = 1.0 / s, un * un + ut * ut
        plain_u, free_u = plain_u + size, free_u + part * size
        if law != CONVEX and rn == 0.0 and un >= 0.0:  # open, and no error, as most of them are
            continue
        lift = 0.0 if law == CONVEX else mu * abs(ut)
        plain_f += _error(rn, rt, un, ut, lift, mu)
        free_f += part * _error(rn * s, rt * s, un, ut, lift, mu)
        size = rn * rn + rt * rt
        plain_r, free_r = plain_r + size, free_r + s * size
    return plain_f, plain_r, plain_u, free_f, free_r, free_u
