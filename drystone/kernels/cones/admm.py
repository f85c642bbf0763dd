"""One step of ADMM (Douglas-Rachford form) on a product of cones, and conjugate gradients for it.

v is the only state: z = P_K(v) is the impulse in the cone, -rho (v - z) the velocity u~ in K*,
and with x = (W + rho)^-1 (rho (2 z - v) - q - s n) the step is v + alpha (x - z). For exact
Coulomb friction s = mu |u_t| follows u~ within the step.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.cones.conic import project_row


@kernel
def reflect(shape, v, q, mu, rho, exact, z, rhs):
    """z = P_K(v) and rhs = rho (2 z - v) - q - s n."""
    d = len(shape)
    for i in range(v.shape[0]):
        for a in range(d):
            z[i, a] = v[i, a]
        project_row(shape, z, mu, i)
        slip = 0.0
        for a in range(d):
            rhs[i, a] = rho * (2.0 * z[i, a] - v[i, a]) - q[i, a]
            if a:
                slip += (v[i, a] - z[i, a]) ** 2
        if exact and mu[i] > 0.0:
            rhs[i, 0] -= mu[i] * rho * np.sqrt(slip)


@kernel
def relax(shape, v, x, z, alpha, out):
    """out = v + alpha (x - z); returns |x - z|^2, |z|^2 and |v - z|^2."""
    gap, impulse, dual = 0.0, 0.0, 0.0
    for i in range(v.shape[0]):
        for a in range(len(shape)):
            gap += (x[i, a] - z[i, a]) ** 2
            impulse += z[i, a] ** 2
            dual += (v[i, a] - z[i, a]) ** 2
            out[i, a] = v[i, a] + alpha * (x[i, a] - z[i, a])
    return gap, impulse, dual


@kernel
def rescale(shape, v, mu, ratio):
    """v for another rho: z and u~ = -rho (v - z) stay; ratio = rho_old / rho_new."""
    for i in range(v.shape[0]):
        row = v[i : i + 1].copy()
        project_row(shape, row, mu[i : i + 1], 0)
        for a in range(len(shape)):
            v[i, a] = row[0, a] + ratio * (v[i, a] - row[0, a])


@kernel
def gradient_steps(shape, G, diagonal, rho, b, limit, steps, x, state, work):
    """Conjugate gradients on (rho + G'G) x = b, preconditioned by `diagonal`, up to `steps` more.

    G: Factor; state: (r'M^-1 r, or negative to begin from x); work: r, p, Ap (ndof,), u (nb, d).
    Returns |r| <= limit. One pass over the contacts for each step.
    """
    r, p, Ap, u = work
    if state[0] < 0.0:
        _apply(shape, G, rho, x, Ap, u)
        product = 0.0
        for j in range(x.size):
            r[j] = b[j] - Ap[j]
            p[j] = r[j] / diagonal[j]
            product += r[j] * p[j]
        state[0] = product
    for _ in range(steps):
        size = 0.0
        for j in range(x.size):
            size += r[j] ** 2
        if not np.sqrt(size) > limit:
            return True
        _apply(shape, G, rho, p, Ap, u)
        curvature = 0.0
        for j in range(x.size):
            curvature += p[j] * Ap[j]
        if not curvature > 0.0:
            return True
        step, product = state[0] / curvature, 0.0
        for j in range(x.size):
            x[j] += step * p[j]
            r[j] -= step * Ap[j]
            product += r[j] ** 2 / diagonal[j]
        ratio = product / state[0]
        state[0] = product
        for j in range(x.size):
            p[j] = r[j] / diagonal[j] + ratio * p[j]
    return False


@kernel
def _apply(shape, G, rho, x, out, u):
    """out = (rho + G'G) x."""
    indptr, columns, blocks = G.indptr, G.columns, G.blocks
    d = len(shape)
    for j in range(x.size):
        out[j] = rho * x[j]
    for i in range(indptr.size - 1):
        for a in range(d):
            u[i, a] = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            for a in range(d):
                u[i, a] += blocks[k, a] * x[columns[k]]
        for k in range(indptr[i], indptr[i + 1]):
            total = 0.0
            for a in range(d):
                total += blocks[k, a] * u[i, a]
            out[columns[k]] += total
