"""Small full systems: LU with partial pivoting, in place."""

from drystone.kernels import status as code
from drystone.kernels._jit import stage


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
