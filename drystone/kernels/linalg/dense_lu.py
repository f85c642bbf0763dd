"""Small full systems, in place: LU with partial pivoting, or with complete pivoting, which shows
the rank and sets to zero what is left open."""

import numpy as np

from drystone.kernels import status as code
from drystone.kernels._jit import kernel, stage

DEPENDENT_PIVOT = 1e-12  # pivots below this, relative to the largest, count as none


@stage
def factorise(B, k, order):
    """LU of B[:k, :k] in place, rows permuted by `order`, partial pivoting on scaled rows."""
    for i in range(k):
        order[i] = i
    for c in range(k):
        best, pick = 0.0, c
        for i in range(c, k):
            if abs(B[i, c]) > best:
                best, pick = abs(B[i, c]), i
        if not best > 1e-300:
            return code.SINGULAR
        if pick != c:
            order[c], order[pick] = order[pick], order[c]
            for j in range(k):
                B[c, j], B[pick, j] = B[pick, j], B[c, j]
        for i in range(c + 1, k):
            if B[i, c] != 0.0:
                f = B[i, c] / B[c, c]
                B[i, c] = f
                for j in range(c + 1, k):
                    B[i, j] -= f * B[c, j]
    return code.SOLVED


@stage
def back_substitute(B, k, order, r, x):
    """x with B x = r, from ``factorise``."""
    for i in range(k):
        total = r[order[i]]
        for j in range(i):
            total -= B[i, j] * x[j]
        x[i] = total
    for i in range(k - 1, -1, -1):
        total = x[i]
        for j in range(i + 1, k):
            total -= B[i, j] * x[j]
        x[i] = total / B[i, i]


@kernel
def solve_ranked(M, y, out, order):
    """Solve M out = y (n, n), (n,), both overwritten; order (n,) int: work.

    Rows are scaled to one first. -> smallest pivot over the largest (0 if M is singular), and the
    largest residual of rows that a singular M cannot meet, in units of the scaled rows.
    """
    n = y.size
    for i in range(n):
        order[i] = i
        big = 0.0
        for j in range(n):
            big = max(big, abs(M[i, j]))
        if big > 0.0:
            for j in range(n):
                M[i, j] /= big
            y[i] /= big
    top, low, rank = 0.0, np.inf, n
    for k in range(n):
        r, c, best = k, k, -1.0
        for i in range(k, n):
            for j in range(k, n):
                if abs(M[i, j]) > best:
                    r, c, best = i, j, abs(M[i, j])
        top = max(top, best)
        if best <= DEPENDENT_PIVOT * top:
            rank, low = k, 0.0
            break
        low = min(low, best)
        for j in range(n):
            M[k, j], M[r, j] = M[r, j], M[k, j]
        y[k], y[r] = y[r], y[k]
        for i in range(n):
            M[i, k], M[i, c] = M[i, c], M[i, k]
        order[k], order[c] = order[c], order[k]
        for i in range(k + 1, n):
            f = M[i, k] / M[k, k]
            for j in range(k, n):
                M[i, j] -= f * M[k, j]
            y[i] -= f * y[k]
    left = 0.0
    for i in range(rank, n):
        left = max(left, abs(y[i]))
        out[order[i]] = 0.0
    for i in range(rank - 1, -1, -1):
        for j in range(i + 1, rank):
            y[i] -= M[i, j] * out[order[j]]
        out[order[i]] = y[i] / M[i, i]
    return (low / top if top > 0.0 else 0.0), left
