"""Packed contacts in the plane: 160 bytes a contact, in scalars, without J and P.

As ``packed_spatial``: n and the levers of n and t about both bodies stand for J and P; the tangent
is n turned by +90 degrees. D with its normal eliminated: c = D_nn, f = D_tn / c, T = D_tt - c f^2.

Lines of ``contact`` and ``motion`` are declared in ``layout``: CONTACT_2, BODY_2.
"""

import numpy as np

from drystone.kernels._jit import stage
from drystone.kernels._prefetch import AHEAD, PREFETCH_FROM, fetch_line
from drystone.kernels.blocks import CONVEX
from drystone.kernels.contact.one_contact import convex_planar, coulomb_planar
from drystone.kernels.contact.residual import error_planar
from drystone.kernels.layout import BODY_2 as B
from drystone.kernels.layout import CONTACT_2 as C


@stage
def pack_planar(body, frame, point, position, inverse_mass, inverse_inertia, contact, motion, D):
    """Normals, levers and diagonal blocks of contacts, and the masses of bodies; returns 0.

    body (nc, 2); frame (nc, 2, 2); point (nc, 2); position (nb, 2); inverse_inertia (nb,);
    bodies that do not move have zeros. D (nc, 2, 2) is written.
    """
    for b in range(inverse_mass.size):
        m, k, second = inverse_mass[b], inverse_inertia[b], motion[b]
        second[B.INV_M], second[B.INV_I] = m, k
        second[B.MOVES] = 1.0 if m > 0.0 or k > 0.0 else 0.0
    for i in range(body.shape[0]):
        n0, n1, line = frame[i, 0, 0], frame[i, 0, 1], contact[i]
        line[C.NORMAL], line[C.NORMAL + 1] = n0, n1
        d00, d01, d11 = 0.0, 0.0, 0.0
        for s in range(2):
            b = body[i, s]
            second = motion[b]
            x, y = point[i, 0] - position[b, 0], point[i, 1] - position[b, 1]
            m, k, ln, lt = second[B.INV_M], second[B.INV_I], x * n1 - y * n0, x * n0 + y * n1
            line[C.LEVER_A + 2 * s], line[C.LEVER_A + 1 + 2 * s] = ln, lt
            d00, d01, d11 = d00 + m + k * ln * ln, d01 + k * ln * lt, d11 + m + k * lt * lt
        D[i, 0, 0], D[i, 0, 1], D[i, 1, 0], D[i, 1, 1] = d00, d01, d01, d11
        f = d01 / d00
        T = d11 - f * d01
        line[C.C], line[C.INV_C], line[C.F] = d00, 1.0 / d00, f
        line[C.INV_T] = 1.0 / T if T > 0.0 else np.nan  # never passes for stick
        line[C.UNIT2] = 0.5 * (d00 + d11)
    return 0


@stage
def set_friction(i, mu, contact):
    """mu of contact i, and what slip divides by."""
    line = contact[i]
    f = line[C.F]
    line[C.MU] = mu
    line[C.INV_SLIP], line[C.INV_SLIP + 1] = 1.0 / (1.0 + mu * f), 1.0 / (1.0 - mu * f)


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
        if n > PREFETCH_FROM:
            ahead = awake[min(j + AHEAD, n - 1)]
            fetch_line(ahead, body, contact, C.WIDTH, motion, B.WIDTH)
        i = awake[j]
        line, first, second = contact[i], motion[body[i, 0]], motion[body[i, 1]]
        n0, n1 = line[C.NORMAL], line[C.NORMAL + 1]
        an, at, bn, bt = line[C.LEVER_A], line[C.LEVER_A + 1], line[C.LEVER_B], line[C.LEVER_B + 1]
        f, part, mu = line[C.F], line[C.INV_T], line[C.MU]
        on, ot, rn, rt = line[C.R], line[C.R + 1], line[C.R_OLD], line[C.R_OLD + 1]
        line[C.R_OLD], line[C.R_OLD + 1] = on, ot
        on, ot = on + beta * (on - rn), ot + beta * (ot - rt)
        x, y = first[B.V] - second[B.V], first[B.V + 1] - second[B.V + 1]
        un = (line[C.BIAS] + (an * first[B.V + 2] - bn * second[B.V + 2])) + (n0 * x + n1 * y)
        ut = (line[C.BIAS + 1] + (at * first[B.V + 2] - bt * second[B.V + 2])) + (n0 * y - n1 * x)
        g = (on + f * ot) - un * line[C.INV_C]
        z = ut - f * un
        if law == CONVEX:
            c = line[C.C]
            qn = un - c * (on + f * ot)
            qt, w = z - ot / part + f * qn, 1.0 / part + c * f * f
            rn, rt = convex_planar(c, f, f, w, qn, qt, ot - z * part, mu)
        else:
            plus, minus = line[C.INV_SLIP], line[C.INV_SLIP + 1]
            rn, rt = coulomb_planar(g, ot - z * part, f, mu, plus, minus)
        line[C.R], line[C.R + 1] = rn, rt
        if rn == 0.0 and on == 0.0:
            continue
        awake[kept] = i
        kept += 1
        rn, rt = rn - on, rt - ot
        size = rn * rn + rt * rt
        total += size * line[C.UNIT2]
        x, y = n0 * rn - n1 * rt, n1 * rn + n0 * rt
        # a body that does not move is left alone: other threads may sweep islands that share it
        if first[B.MOVES] != 0.0:
            first[B.V] += first[B.INV_M] * x
            first[B.V + 1] += first[B.INV_M] * y
            first[B.V + 2] += first[B.INV_I] * (an * rn + at * rt)
        if second[B.MOVES] != 0.0:
            second[B.V] -= second[B.INV_M] * x
            second[B.V + 1] -= second[B.INV_M] * y
            second[B.V + 2] -= second[B.INV_I] * (bn * rn + bt * rt)
    return total, kept


@stage
def judge_planar(lo, hi, body, contact, motion, law, u):
    """Sums of squares over the contacts lo:hi, of the error, r and u, plain and then unit-free;
    u (nc, 2) gets their velocities."""
    plain_f, plain_r, plain_u, free_f, free_r, free_u = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(lo, hi):
        if hi - lo > PREFETCH_FROM:
            fetch_line(min(i + AHEAD, hi - 1), body, contact, C.WIDTH, motion, B.WIDTH)
        line, first, second = contact[i], motion[body[i, 0]], motion[body[i, 1]]
        n0, n1, wa, wb = line[C.NORMAL], line[C.NORMAL + 1], first[B.V + 2], second[B.V + 2]
        x, y = first[B.V] - second[B.V], first[B.V + 1] - second[B.V + 1]
        un = line[C.BIAS] + (n0 * x + n1 * y) + (line[C.LEVER_A] * wa - line[C.LEVER_B] * wb)
        ut = (
            line[C.BIAS + 1]
            + (n0 * y - n1 * x)
            + (line[C.LEVER_A + 1] * wa - line[C.LEVER_B + 1] * wb)
        )
        u[i, 0], u[i, 1] = un, ut
        rn, rt, mu, s = line[C.R], line[C.R + 1], line[C.MU], line[C.UNIT2]
        part, size = 1.0 / s, un * un + ut * ut
        plain_u, free_u = plain_u + size, free_u + part * size
        if law != CONVEX and rn == 0.0 and un >= 0.0:  # open, and no error, as most of them are
            continue
        lift = 0.0 if law == CONVEX else mu * abs(ut)
        plain_f += error_planar(rn, rt, un, ut, lift, mu)
        free_f += part * error_planar(rn * s, rt * s, un, ut, lift, mu)
        size = rn * rn + rt * rt
        plain_r, free_r = plain_r + size, free_r + s * size
    return plain_f, plain_r, plain_u, free_f, free_r, free_u
