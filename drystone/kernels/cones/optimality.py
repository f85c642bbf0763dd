"""How far velocities and energies are from those of a solution: what a residual relative to large
impulses cannot see (``problems.residual``)."""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.blocks import COULOMB, STATIC, SUM_ROUNDING


@kernel
def contact_optimality(shape, r, u, q, mu, unit, law):
    """(primal, gap) of circular cones; r, u, q: (nb, d), mu < 0 for bilateral blocks."""
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
