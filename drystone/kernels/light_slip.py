"""Coulomb slip of one contact in space, the normal eliminated, all in scalars.

``one_contact`` has the derivation: with p = q_t - f q_n and T as there, x = r_t solves
(T + lam I) x = -p, x = -N / chi with N = lam p + adj(T) p, chi = det(T + lam I), and the law
|x| = mu r_n reads L = R with L = |N| and R = mu r_n chi = mu (f.N - q_n / c chi).
Newton runs on R / L - 1, inside a bracket of L - R: 1 / |x| is almost linear in lam, as known from
trust regions, and exactly so for balls, where T is a multiple of I and f = 0. It starts from the
last sweep's lam; a relative step of LAST leaves LAST^2 after it, and less in the next sweep.
"""

import numpy as np

from drystone.kernels._jit import stage

STEPS = 60  # a warm start needs about two; bisection would end the rest
LAST = 1e-4
TINY = 4e-16


@stage
def slip(qn, p1, p2, inverse, f1, f2, t11, t12, t22, mu, lam):
    """(r_n, r_1, r_2, lam); inverse = 1 / c; lam: the guess, 0 if there is none."""
    trace, det = t11 + t22, t11 * t22 - t12 * t12
    a1, a2 = t22 * p1 - t12 * p2, t11 * p2 - t12 * p1
    n0, n1, n2 = a1 * a1 + a2 * a2, a1 * p1 + a2 * p2, p1 * p1 + p2 * p2
    g = qn * inverse
    g0, g1, g2 = (
        mu * (f1 * a1 + f2 * a2 - g * det),
        mu * (f1 * p1 + f2 * p2 - g * trace),
        -mu * g,
    )
    low, high = 0.0, np.inf
    if not lam > 1e-6 * trace:  # none, or one from the border to stick: a poor guess
        lam = 0.1 * trace
    for _ in range(STEPS):
        square = max(n0 + lam * (2.0 * n1 + lam * n2), 0.0)
        length, R = np.sqrt(square), g0 + lam * (g1 + lam * g2)
        h = length - R
        if h > 0.0:
            low = lam
        else:
            high = lam
        if abs(h) <= TINY * length:
            break
        move = h * square / (square * (g1 + 2.0 * lam * g2) - R * (n1 + lam * n2))
        step = lam + move
        if low < step < high:
            lam = step
            if abs(move) <= LAST * step:
                break
        elif high < np.inf:
            lam = 0.5 * (low + high)
            if high - low <= TINY * high:
                break
        else:
            lam *= 4.0
    part = -1.0 / (det + lam * (trace + lam))
    x1, x2 = (a1 + lam * p1) * part, (a2 + lam * p2) * part
    rn = -g - (f1 * x1 + f2 * x2)
    size = np.sqrt(x1 * x1 + x2 * x2)
    if size > 0.0:  # exactly mu r_n: the normal impulse is the accurate part
        part = mu * rn / size
        x1, x2 = x1 * part, x2 * part
    return rn, x1, x2, lam
