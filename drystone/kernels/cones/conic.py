"""Products of circular cones: projection, slip shift, natural map, distances.

Blocks are (nb, d), unit-free, with the normal first; mu < 0 marks a bilateral block (u = 0).
K = {|x_t| <= mu x_n}; s is the shift of the first rows, mu |u_t| for exact Coulomb friction.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.blocks import COULOMB, STATIC, SUM_ROUNDING
from drystone.kernels.contact.residual import project_cone


@kernel
def project_row(shape, x, mu, i):
    """x_i := P_K(x_i) in place."""
    if mu[i] < 0.0:
        return
    t = 0.0
    for a in range(1, len(shape)):
        t += x[i, a] ** 2
    top, factor = project_cone(x[i, 0], np.sqrt(t), mu[i])
    x[i, 0] = top
    for a in range(1, len(shape)):
        x[i, a] *= factor


@kernel
def project(shape, x, mu):
    """x := P_K(x) in place."""
    for i in range(x.shape[0]):
        project_row(shape, x, mu, i)


@kernel
def slip_shift(shape, u, mu, s):
    """s_i = mu |u_t|, 0 for bilateral blocks; returns |s_new - s|^2."""
    change = 0.0
    for i in range(u.shape[0]):
        new = 0.0
        if mu[i] > 0.0:
            t = 0.0
            for a in range(1, len(shape)):
                t += u[i, a] ** 2
            new = mu[i] * np.sqrt(t)
        change += (new - s[i]) ** 2
        s[i] = new
    return change


@kernel
def convex_error(shape, r, u, s, mu, x):
    """|r - P_K(r - u - s n)|: how far r is from solving the convex problem with shift s.

    x: (nb, d) work.
    """
    total = 0.0
    for i in range(r.shape[0]):
        for a in range(len(shape)):
            x[i, a] = r[i, a] - u[i, a]
        if mu[i] >= 0.0:
            x[i, 0] -= s[i]
        project_row(shape, x, mu, i)
        for a in range(len(shape)):
            total += (r[i, a] - x[i, a]) ** 2
    return np.sqrt(total)


@kernel
def gather(shape, G, nu, q, u):
    """u = G nu + q; G: Factor."""
    d = len(shape)
    for i in range(G.indptr.size - 1):
        for a in range(d):
            u[i, a] = q[i, a]
        for k in range(G.indptr[i], G.indptr[i + 1]):
            x = nu[G.columns[k]]
            for a in range(d):
                u[i, a] += G.blocks[k, a] * x


@kernel
def scatter(shape, G, r, nu):
    """nu = G' r."""
    d = len(shape)
    for j in range(nu.size):
        nu[j] = 0.0
    for i in range(G.indptr.size - 1):
        for k in range(G.indptr[i], G.indptr[i + 1]):
            total = 0.0
            for a in range(d):
                total += G.blocks[k, a] * r[i, a]
            nu[G.columns[k]] += total


@kernel
def contact_optimality(shape, r, u, q, mu, unit, law):
    """(primal, gap): how far velocities and energies are from those of a solution, which a residual
    relative to large impulses cannot see (``problems.residual``). r, u, q (nb, d): in units, with
    scales unit (nb,)."""
    d = len(shape)
    primal, gap, energy = 0.0, 0.0, 0.0
    for i in range(r.shape[0]):
        s = unit[i]
        rt, ut, rr, qq, work = 0.0, 0.0, 0.0, 0.0, 0.0
        for a in range(d):
            rr += (r[i, a] * s) ** 2
            qq += (q[i, a] / s) ** 2
            work += r[i, a] * u[i, a]
            if a > 0:
                rt += (r[i, a] * s) ** 2
                ut += (u[i, a] / s) ** 2
        energy += qq
        rn, un = r[i, 0] * s, u[i, 0] / s
        rt, ut, rr = np.sqrt(rt), np.sqrt(ut), np.sqrt(rr)
        noise = SUM_ROUNDING * (rr + np.sqrt(qq))
        if mu[i] < 0.0:
            primal += max(0.0, np.hypot(un, ut) - noise) ** 2
            continue
        if law == STATIC:
            push = work - rn * un  # friction that drives, and slip below the limit
            work = abs(rn * un) + max(push, 0.0) + ut * max(0.0, mu[i] * rn - rt)
            away = max(0.0, -un)
        else:
            away = dual_distance(un, ut, mu[i])
            if law == COULOMB:
                away = max(0.0, -un)
                work += mu[i] * ut * rn
        primal += max(0.0, away - noise) ** 2
        primal += max(0.0, cone_distance(rn, rt, mu[i]) - SUM_ROUNDING * rr) ** 2
        gap += max(0.0, abs(work) - noise * rr)
    if energy < 4.9e-32:  # squares of machine epsilon: not divided, as the residual
        return np.sqrt(primal), gap
    return np.sqrt(primal / energy), gap / energy


@kernel
def cone_distance(n, t, mu):
    """Distance of (n, t), t >= 0, from the cone t <= mu n."""
    if t <= mu * n:
        return 0.0
    if mu * t <= -n:
        return np.hypot(n, t)
    return (t - mu * n) / np.hypot(1.0, mu)


@kernel
def dual_distance(n, t, mu):
    """Distance of (n, t), t >= 0, from the dual cone n >= mu t."""
    if n >= mu * t:
        return 0.0
    if t <= -mu * n:
        return np.hypot(n, t)
    return (mu * t - n) / np.hypot(1.0, mu)
