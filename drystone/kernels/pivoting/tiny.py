"""LCPs of a handful of rows: every basis in turn, in one call that costs microseconds."""

import numpy as np

from drystone.kernels._jit import kernel


@kernel
def first_basis(M, q, tol, z, basis):
    """The first of the 2^n bases (fewest leading rows first) that solves w = M z + q.

    Fills z (n,) and basis (n,) bool; False if no basis does, or only singular ones would.
    tol: largest violation of a sign, relative to the largest |q|.
    """
    n = q.size
    top = 0.0
    for i in range(n):
        top = max(top, abs(q[i]))
    A, rows = np.empty((n, n + 1)), np.empty(n, np.int64)
    for mask in range(1 << n):
        m = 0
        for i in range(n):
            basis[i] = (mask >> i) & 1 == 1
            if basis[i]:
                rows[m] = i
                m += 1
        if _solve(M, q, rows, m, A, z) and _signs(M, q, basis, tol * top, z):
            return True
    return False


@kernel
def _solve(M, q, rows, m, A, z):
    """z_L = -M_LL^-1 q_L for L = rows[:m], zero elsewhere; False if M_LL is singular."""
    z[:] = 0.0
    size = 0.0
    for a in range(m):
        A[a, m] = -q[rows[a]]
        for b in range(m):
            A[a, b] = M[rows[a], rows[b]]
            size = max(size, abs(A[a, b]))
    for c in range(m):
        p = c
        for a in range(c + 1, m):
            if abs(A[a, c]) > abs(A[p, c]):
                p = a
        if not abs(A[p, c]) > 1e-12 * size:
            return False
        for b in range(c, m + 1):
            A[c, b], A[p, b] = A[p, b], A[c, b]
        for a in range(c + 1, m):
            f = A[a, c] / A[c, c]
            for b in range(c, m + 1):
                A[a, b] -= f * A[c, b]
    for c in range(m - 1, -1, -1):
        total = A[c, m]
        for b in range(c + 1, m):
            total -= A[c, b] * z[rows[b]]
        z[rows[c]] = total / A[c, c]
    return True


@kernel
def _signs(M, q, basis, slack, z):
    """Whether z >= 0 and w = M z + q >= 0 off the basis; rounding below zero is cut off z."""
    largest = 0.0
    for i in range(q.size):
        largest = max(largest, z[i])
    for i in range(q.size):
        if z[i] < 0.0:
            if z[i] < -1e-14 * largest:
                return False
            z[i] = 0.0
    for i in range(q.size):
        if not basis[i]:
            w = q[i]
            for j in range(q.size):
                w += M[i, j] * z[j]
            if w < -slack:
                return False
    return True
