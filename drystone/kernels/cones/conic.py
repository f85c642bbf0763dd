"""Products of circular cones in unit-free blocks: projection, slip shift, natural map.

Blocks are (nb, d) with the normal first; mu < 0 marks a bilateral block (no cone, u = 0).
K = {|x_t| <= mu x_n}; s is the shift of the first rows, mu |u_t| for exact Coulomb friction.
"""

import numpy as np

from drystone.kernels._jit import kernel
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
