"""Block compressed rows: products, and the residual of boxed problems.

`shape` is a tuple whose *length* is the block size d: a constant for the compiler, so that the
inner loops unroll and one source serves planar, spatial and soft-finger contacts.
A contact with mu < 0 is a bilateral block: r free, u = 0.
"""

import numpy as np

from drystone.kernels._jit import kernel, stage

EPS = 2.220446049250313e-16  # of float64
SUM_ROUNDING = 16.0 * EPS  # of u = W r + q, relative to the terms of its sum
COULOMB, CONVEX = 0, 1  # laws of friction
LINEAR = 2  # rows of an LCP, as blocks of size 1 with mu = 0: residual relative to |q| alone
STATIC = 3  # (14-1): friction need only partly oppose the tangential motion
BALANCINGS = 6  # passes: entries 2^54 apart are within a factor of two after them
ROUNDING_OF_Q = 1e-4  # of the largest q, balanced: a row with less holds nothing but rounding
LEAST_NORMAL = 2.2250738585072014e-308  # least normal number


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


@kernel
def componentwise_error(M, starts, columns, z, w, q, lower, upper):
    """The componentwise backward error of a boxed LCP, see ``problems.residual``; M (n, n), with
    starts and columns None, or its entries in compressed rows."""
    n = z.size
    r, c, terms, reach = np.ones(n), np.ones(n), np.empty(n), np.empty(n)
    for _ in range(BALANCINGS):
        terms[:] = 0.0
        reach[:] = 0.0
        for i in range(n):
            for k in range(*_span(M, starts, i)):
                j, entry = _entry(M, columns, i, k)
                size = r[i] * abs(entry) * c[j]
                terms[i], reach[j] = max(terms[i], size), max(reach[j], size)
        for i in range(n):
            r[i] /= np.sqrt(terms[i]) if terms[i] > 0.0 else 1.0
            c[i] /= np.sqrt(reach[i]) if reach[i] > 0.0 else 1.0
    top = 0.0
    for i in range(n):
        top = max(top, r[i] * abs(q[i]))
    for i in range(n):
        terms[i] = abs(q[i]) + ROUNDING_OF_Q * top / r[i]
        for k in range(*_span(M, starts, i)):
            j, entry = _entry(M, columns, i, k)
            terms[i] += abs(entry * z[j])
        if not np.isfinite(terms[i]):
            return np.inf
    reach[:] = LEAST_NORMAL  # of columns of zeros
    for i in range(n):
        for k in range(*_span(M, starts, i)):
            j, entry = _entry(M, columns, i, k)
            if entry != 0.0 and terms[i] > 0.0:  # a row of zeros asks nothing of z
                reach[j] = max(reach[j], abs(entry) / terms[i])
    error, load = 0.0, 0.0
    for i in range(n):
        if terms[i] > 0.0:
            above, below = (z[i] - upper[i]) * reach[i], (z[i] - lower[i]) * reach[i]
            error = max(error, abs(min(max(w[i] / terms[i], above), below)))
            load = max(load, abs(q[i]) / terms[i])
    return error / load if load > 0.0 else error


@stage
def _span(M, starts, i):
    """Where the entries of row i begin and end; see ``_entry``."""
    if M.ndim == 2:  # a constant for the compiler
        return 0, M.shape[1]
    else:
        return starts[i], starts[i + 1]


@stage
def _entry(M, columns, i, k):
    """(column, value) of entry k of row i of a dense M, or of all entries in compressed rows."""
    if M.ndim == 2:
        return k, M[i, k]
    else:
        return columns[k], M[k]


@stage
def ratio(error, scale):
    if scale < EPS**2:
        return np.sqrt(error)
    return np.sqrt(error / scale)
