"""Complementary bases: an LCP seen from another basis, and the solution that a basis stands for.

A mixed LCP is (M, q, free): rows with free[i] are equalities w_i = 0 with z_i of any sign.
"""

import numpy as np

from drystone.kernels import status as code
from drystone.kernels._jit import kernel
from drystone.kernels.linalg.dense_lu import back_substitute, factorise

SPENT = -1  # a free row or column that pivoting has used up
DROPPED = -2  # one that is zero: the equation holds by itself, the variable does not matter


@kernel
def exchange(T, row, c):
    """Solve row `row` for the variable of column c and insert it in the other rows."""
    n, width = T.shape
    p = 1.0 / T[row, c]
    for k in range(width):
        T[row, k] *= -p
    T[row, c] = p
    for i in range(n):
        f = T[i, c]
        if i == row or f == 0.0:
            continue
        T[i, c] = 0.0
        for k in range(width):
            T[i, k] += f * T[row, k]


@kernel
def transform(T, free, mask, tol, rows, columns, row_of, column_of, scale):
    """Exchange z and w on the free indices and on `mask`, in place; T = [M | q], (n, n + 1).

    Free rows and columns are spent by it. Where the free block is singular, complementary
    indices join it and are added to `mask`. On return `row_of[i]`, `column_of[i]` say where the
    equation and the variable of complementary index i stand: M'_ij = T[row_of[i], column_of[j]],
    and index i has the roles of z and w exchanged if mask[i].
    rows, columns, row_of, column_of, scale: (n,) int64, int64, int64, int64, float scratch.

    SOLVED; SINGULAR: the block of mask is singular; STALLED: no pivot left for a free row;
    INFEASIBLE: an equation 0 = c with c != 0.
    """
    n = free.size
    for i in range(n):
        rows[i] = columns[i] = 1 if free[i] else 0
        row_of[i] = column_of[i] = SPENT if free[i] else i
        scale[i] = 0.0
        for j in range(n):
            scale[i] = max(scale[i], abs(T[i, j]))
    _pivot_block(T, rows, columns, free, row_of, column_of, tol, scale)
    result = _pivot_pairs(T, rows, columns, free, mask, row_of, column_of, tol, scale)
    if result != code.SOLVED:
        return result
    for i in range(n):
        rows[i] = columns[i] = 1 if mask[i] and row_of[i] == i and column_of[i] == i else 0
    left = _pivot_block(T, rows, columns, free, row_of, column_of, tol, scale)
    return code.SINGULAR if left > 0 else code.SOLVED


@kernel
def _pivot_block(T, rows, columns, free, row_of, column_of, tol, scale):
    """Exchange the marked rows with the marked columns, largest pivot first; how many are left."""
    n = free.size
    left = 0
    for i in range(n):
        left += rows[i]
    while left > 0:
        best, row, c = tol, -1, -1
        for i in range(n):
            if rows[i] == 1 and scale[i] > 0.0:
                for j in range(n):
                    if columns[j] == 1 and abs(T[i, j]) > best * scale[i]:
                        best, row, c = abs(T[i, j]) / scale[i], i, j
        if row < 0:
            return left
        exchange(T, row, c)
        left -= 1
        rows[row] = columns[c] = 0
        if free[c]:
            _clear_row(T, row)
        else:
            row_of[c] = row
        if free[row]:
            _clear_column(T, c)
        else:
            column_of[row] = c
    return 0


@kernel
def _pivot_pairs(T, rows, columns, free, mask, row_of, column_of, tol, scale):
    """Free rows f and columns g whose block is singular: pivot (f, j) and (j, g) for some
    complementary j, which leaves z_j basic. Rows and columns of zeros are dropped."""
    n = free.size
    while True:
        f, g = -1, -1
        for i in range(n):
            if rows[i] == 1 and not _is_zero_row(T, i, row_of, column_of, columns, tol, scale):
                f = i
            if columns[i] == 1 and not _is_zero_column(T, i, row_of, rows, tol, scale):
                g = i
        for i in range(n):
            if rows[i] == 1 and f < 0 and abs(T[i, n]) > tol * (scale[i] + _largest_q(T)):
                return code.INFEASIBLE
        if f < 0 and g < 0:
            for i in range(n):
                if rows[i] == 1:
                    row_of[i] = DROPPED
                if columns[i] == 1:
                    column_of[i] = DROPPED
            return code.SOLVED
        if f < 0 or g < 0:
            return code.STALLED
        best, pick = tol * tol, -1
        for j in range(n):
            if row_of[j] >= 0 and column_of[j] >= 0 and not mask[j]:
                size = abs(T[f, column_of[j]]) * abs(T[row_of[j], g])
                size /= max(scale[f], 1e-300) * max(scale[j], 1e-300)
                if size > best:
                    best, pick = size, j
        if pick < 0:
            return code.STALLED
        c, row = column_of[pick], row_of[pick]
        exchange(T, f, c)
        _clear_column(T, c)
        if abs(T[row, g]) <= tol * scale[pick]:
            return code.STALLED
        exchange(T, row, g)
        _clear_row(T, row)
        rows[f] = columns[g] = 0
        row_of[pick], column_of[pick], mask[pick] = f, g, True
        _pivot_block(T, rows, columns, free, row_of, column_of, tol, scale)


@kernel
def _is_zero_row(T, i, row_of, column_of, columns, tol, scale):
    for j in range(row_of.size):
        if column_of[j] >= 0 and abs(T[i, column_of[j]]) > tol * scale[i]:
            return False
        if columns[j] == 1 and abs(T[i, j]) > tol * scale[i]:
            return False
    return True


@kernel
def _is_zero_column(T, c, row_of, rows, tol, scale):
    for j in range(row_of.size):
        if row_of[j] >= 0 and abs(T[row_of[j], c]) > tol * scale[j]:
            return False
        if rows[j] == 1 and abs(T[j, c]) > tol * scale[j]:
            return False
    return True


@kernel
def _largest_q(T):
    n = T.shape[0]
    top = 0.0
    for i in range(n):
        top = max(top, abs(T[i, n]))
    return top


@kernel
def _clear_row(T, i):
    for k in range(T.shape[1]):
        T[i, k] = 0.0


@kernel
def _clear_column(T, c):
    for i in range(T.shape[0]):
        T[i, c] = 0.0


@kernel
def condense(T, free, row_of, column_of, labels, M, q):
    """Copy the transformed LCP to M (m, m), q (m,); labels (m,) are its original indices."""
    n = free.size
    m = 0
    for i in range(n):
        if not free[i]:
            labels[m] = i
            m += 1
    for a in range(m):
        row = row_of[labels[a]]
        q[a] = T[row, n]
        for b in range(m):
            M[a, b] = T[row, column_of[labels[b]]]
    return m


@kernel
def basic_solution(M, q, use_row, use_column, B, index, x, r, z, w):
    """z with w = M z + q zero on the rows used, z zero off the columns used: one LU, refined.

    As many rows as columns. B (n, n), index (3 n,) int64, x, r (n,) are scratch.
    SINGULAR if that block of M is; else SOLVED, with w (n,) = M z + q.
    """
    n = q.size
    k, kc = 0, 0
    down, across, order = index[:n], index[n : 2 * n], index[2 * n :]
    for i in range(n):
        z[i] = 0.0
        if use_row[i]:
            down[k] = i
            k += 1
        if use_column[i]:
            across[kc] = i
            kc += 1
    for i in range(k):
        for j in range(k):
            B[i, j] = M[down[i], across[j]]
    if k != kc or factorise(B, k, order) != code.SOLVED:
        return code.SINGULAR
    for sweep in range(3):
        for i in range(k):
            total = q[down[i]]
            if sweep > 0:
                for j in range(k):
                    total += M[down[i], across[j]] * z[across[j]]
            r[i] = -total
        back_substitute(B, k, order, r, x)
        for i in range(k):
            z[across[i]] += x[i]
    for i in range(n):
        total = q[i]
        for j in range(k):
            total += M[i, across[j]] * z[across[j]]
        w[i] = total
    return code.SOLVED


@kernel
def balance(M, q, r, c, T):
    """T = [R M C | R q] with R, C diagonal powers of two: largest entries near one (Ruiz).

    It changes the units of w and z only: pivoting takes the same path as on (M, q) with the
    covering vector R^-1 d, so every property of M that matters is kept.
    """
    n = q.size
    for i in range(n):
        for j in range(n):
            T[i, j] = abs(M[i, j])
        r[i] = c[i] = 1.0
    top = T[:, n]
    for _ in range(3):
        for j in range(n):
            top[j] = 0.0
        for i in range(n):
            largest, f = 0.0, r[i]
            for j in range(n):
                size = f * T[i, j] * c[j]
                largest = size if size > largest else largest
                top[j] = size if size > top[j] else top[j]
            r[i] *= _inverse_root(largest)
        for j in range(n):
            c[j] *= _inverse_root(top[j])
    for i in range(n):
        for j in range(n):
            T[i, j] = r[i] * M[i, j] * c[j]
        T[i, n] = r[i] * q[i]


@kernel
def _inverse_root(size):
    """2^k near 1 / sqrt(size): rounding to a power of two keeps the products exact."""
    if not 1e-250 < size < 1e250:
        return 1.0
    return 2.0 ** np.round(-0.5 * np.log2(size))


@kernel
def natural_error(z, w, free):
    """|min(z, w)|, with w in place of it on free rows."""
    total = 0.0
    for i in range(z.size):
        e = w[i] if free[i] else min(z[i], w[i])
        total += e * e
    return np.sqrt(total)


@kernel
def dual_of(M, q, z, w):
    """w = M z + q."""
    for i in range(q.size):
        total = q[i]
        for j in range(q.size):
            total += M[i, j] * z[j]
        w[i] = total


@kernel
def clip(z, free, most):
    """Set tiny negative z to zero; whether any was."""
    changed = False
    for i in range(z.size):
        if not free[i] and -most <= z[i] < 0.0:
            z[i] = 0.0
            changed = True
    return changed
