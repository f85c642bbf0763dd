"""Block compressed rows: products, and the residual of boxed problems.

`shape` is a tuple whose *length* is the block size d: a constant for the compiler, so that the
inner loops unroll and one source serves planar, spatial and soft-finger contacts.
A contact with mu < 0 is a bilateral block: r free, u = 0.
"""

import numpy as np

from drystone.kernels._jit import kernel, stage

COULOMB = 0
CONVEX = 1
STATIC = 3  # (14-1): friction need only partly oppose the tangential motion
LINEAR = 2  # rows of an LCP, as blocks of size 1 with mu = 0: residual relative to |q| alone


@kernel
def block_product(shape, indptr, indices, blocks, r, q, u):
    """u = W r + q; blocks (nnz, d, d), r, q, u (nc, d)."""
    d = len(shape)
    for i in range(indptr.size - 1):
        for a in range(d):
            u[i, a] = q[i, a]
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            for a in range(d):
                total = u[i, a]
                for b in range(d):
                    total += blocks[k, a, b] * r[j, b]
                u[i, a] = total


@kernel
def box_residuals(z, w, q, lower, upper, unit):
    """(scaled, unit-free) residual of a boxed LCP: |mid(z - upper, w, z - lower)| / |q|.

    The same as z - mid(lower, z - w, upper), but it does not lose w in a large z.
    """
    plain_f, plain_q, unit_f, unit_q = 0.0, 0.0, 0.0, 0.0
    for i in range(z.size):
        s = unit[i]
        above, below = z[i] - upper[i], z[i] - lower[i]
        plain_f += min(max(w[i], above), below) ** 2
        unit_f += min(max(w[i] / s, above * s), below * s) ** 2
        plain_q += q[i] ** 2
        unit_q += (q[i] / s) ** 2
        if np.isnan(z[i]) or np.isnan(w[i]):
            return np.nan, np.nan
    return ratio(plain_f, plain_q), ratio(unit_f, unit_q)


@stage
def ratio(error, scale):
    if scale < 2.220446049250313e-16**2:
        return np.sqrt(error)
    return np.sqrt(error / scale)
