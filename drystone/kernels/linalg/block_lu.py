"""Sparse LU of a matrix of small blocks with a symmetric pattern.

Newton's matrix on a contact problem has the pattern of the contact graph. With a fill-reducing
order its factors stay sparse, and contacts that touch the same bodies have the same neighbours:
runs of columns with one structure (supernodes) are kept as dense panels, so that most of the work
is the product of dense matrices. Pivoting is partial within a panel, none across.

Columns are numbered in elimination order. Supernode s has columns first[s]..first[s + 1] - 1 and
the sorted rows below[s] : below[s + 1] of `rows`. With m columns and k rows below, its panels are
    A = [D; L]  ((m + k) d, m d) at lower[s] of the flat buffer,   U  (m d, k d) at upper[s].
"""

import numpy as np

from drystone.kernels._jit import kernel, stage
from drystone.kernels.radix import lower_bound

SUPERNODE_COLUMNS = 8  # columns of a supernode; wider ones are split, so that D stays small


@kernel
def supernodes(d, n, start, rows, node, first, below, lower, upper):
    """Group columns of equal structure into panels; returns (count, rows below, buffer size).

    node (n,): supernode of each column; first, below, lower, upper (n + 1,).
    """
    count, total, size = 0, 0, 0
    below_rows = np.empty(rows.size, rows.dtype)
    j = 0
    while j < n:
        last = j
        while (
            last + 1 < n
            and last + 1 - j < SUPERNODE_COLUMNS
            and start[last + 1] > start[last]
            and rows[start[last]] == last + 1
            and start[last + 1] - start[last] == start[last + 2] - start[last + 1] + 1
        ):
            last += 1
        m, k = last - j + 1, start[last + 1] - start[last]
        first[count], below[count] = j, total
        lower[count], upper[count] = size, size + (m + k) * m * d * d
        size = upper[count] + m * k * d * d
        for e in range(start[last], start[last + 1]):
            below_rows[total] = rows[e]
            total += 1
        for c in range(j, last + 1):
            node[c] = count
        count += 1
        j = last + 1
    first[count], below[count] = n, total
    return count, below_rows[:total], size


@stage
def slot(d, i, j, node, first, below, rows, lower, upper):
    """(offset, row length) in the buffer of block (i, j), which must be in the structure."""
    s = node[j]
    if i >= first[s]:
        m = first[s + 1] - first[s]
        at = i - first[s]
        if i >= first[s + 1]:
            at = m - below[s] + lower_bound(rows, below[s], below[s + 1], i)
        return lower[s] + at * d * m * d + (j - first[s]) * d, m * d
    s = node[i]
    k = below[s + 1] - below[s]
    at = lower_bound(rows, below[s], below[s + 1], j) - below[s]
    return upper[s] + (i - first[s]) * d * k * d + at * d, k * d


@kernel
def factorise(shape, count, node, first, below, rows, lower, upper, buffer):
    """Factorise in place: D becomes its inverse, L the multipliers. False if singular."""
    d = len(shape)
    at = np.zeros(node.size, np.int64)
    widest, longest = 0, 0
    for s in range(count):
        widest = max(widest, first[s + 1] - first[s])
        longest = max(longest, below[s + 1] - below[s])
    work = np.empty((widest * d, 2 * widest * d))
    row = np.empty(widest * d)
    schur = np.empty(longest * d * longest * d)
    for s in range(count):
        m, k = (first[s + 1] - first[s]) * d, (below[s + 1] - below[s]) * d
        A = buffer[lower[s] : lower[s] + (m + k) * m].reshape(m + k, m)
        if not _invert(A, m, work):
            return False
        if k == 0:
            continue
        for i in range(m, m + k):  # L <- L D^-1
            for c in range(m):
                row[c] = A[i, c]
            _combine(row, A, m, m, A[i])
        U = buffer[upper[s] : upper[s] + m * k].reshape(m, k)
        C = schur[: k * k].reshape(k, k)
        _product(A, U, m, k, C)
        _scatter(shape, s, C, node, first, below, rows, lower, upper, at, buffer)
    return True


@stage
def _invert(A, m, work):
    """The leading (m, m) of A is replaced by its inverse: Gauss-Jordan, partial pivoting."""
    for i in range(m):
        for j in range(m):
            work[i, j] = A[i, j]
            work[i, m + j] = 1.0 if i == j else 0.0
    for c in range(m):
        p = c
        for i in range(c + 1, m):
            if abs(work[i, c]) > abs(work[p, c]):
                p = i
        pivot = work[p, c]
        if not abs(pivot) > 1e-300:
            return False
        if p != c:
            for j in range(2 * m):
                work[c, j], work[p, j] = work[p, j], work[c, j]
        f = 1.0 / pivot
        for j in range(c, 2 * m):
            work[c, j] *= f
        for i in range(m):
            g = work[i, c]
            if i != c and g != 0.0:
                for j in range(c, 2 * m):
                    work[i, j] -= g * work[c, j]
    for i in range(m):
        for j in range(m):
            A[i, j] = work[i, m + j]
    return True


@stage
def _product(A, U, m, k, C):
    """C = L U for the rows L of A below the first m."""
    for i in range(k):
        _combine(A[m + i], U, m, k, C[i])


@stage
def _combine(factor, rows, m, k, out):
    """out[:k] = sum of factor[c] rows[c, :k] over c < m, four rows at a time for the registers."""
    for j in range(k):
        out[j] = 0.0
    c = 0
    while c + 4 <= m:
        f0, f1, f2, f3 = factor[c], factor[c + 1], factor[c + 2], factor[c + 3]
        for j in range(k):
            out[j] += (
                f0 * rows[c, j] + f1 * rows[c + 1, j] + f2 * rows[c + 2, j] + f3 * rows[c + 3, j]
            )
        c += 4
    while c < m:
        f0 = factor[c]
        for j in range(k):
            out[j] += f0 * rows[c, j]
        c += 1


@stage
def _scatter(shape, s, C, node, first, below, rows, lower, upper, at, buffer):
    """Subtract the Schur complement C of supernode s from the panels of its ancestors."""
    d = len(shape)
    begin, end = below[s], below[s + 1]
    e = begin
    while e < end:
        t = node[rows[e]]
        m, k = first[t + 1] - first[t], below[t + 1] - below[t]
        for g in range(below[t], below[t + 1]):
            at[rows[g]] = m + g - below[t]
        until = e
        while until < end and rows[until] < first[t + 1]:
            at[rows[until]] = rows[until] - first[t]
            until += 1
        for i in range(e, end):  # rows of [D; L] of t
            to, stride = lower[t] + at[rows[i]] * d * m * d, m * d
            for j in range(e, until):
                place = to + (rows[j] - first[t]) * d
                _subtract(shape, C, (i - begin) * d, (j - begin) * d, buffer, place, stride)
        for i in range(e, until):  # rows of U of t
            to, stride = upper[t] + (rows[i] - first[t]) * d * k * d, k * d
            for j in range(until, end):
                place = to + (at[rows[j]] - m) * d
                _subtract(shape, C, (i - begin) * d, (j - begin) * d, buffer, place, stride)
        e = until


@stage
def _subtract(shape, C, i, j, buffer, place, stride):
    """One (d, d) block of C, at (i, j), off the buffer at `place`."""
    d = len(shape)
    for x in range(d):
        for y in range(d):
            buffer[place + x * stride + y] -= C[i + x, j + y]


@kernel
def substitute(shape, count, first, below, rows, lower, upper, buffer, x):
    """Solve L U x = b in place, x (n, d)."""
    d = len(shape)
    y = x.reshape(-1)
    work = np.empty(SUPERNODE_COLUMNS * d)
    for s in range(count):
        m, k, f = (first[s + 1] - first[s]) * d, below[s + 1] - below[s], first[s] * d
        for i in range(k):
            target = rows[below[s] + i] * d
            for a in range(d):
                offset = lower[s] + (m + i * d + a) * m
                total = y[target + a]
                for c in range(m):
                    total -= buffer[offset + c] * y[f + c]
                y[target + a] = total
    for s in range(count - 1, -1, -1):
        m, k, f = (first[s + 1] - first[s]) * d, below[s + 1] - below[s], first[s] * d
        for c in range(m):
            total = y[f + c]
            offset = upper[s] + c * k * d
            for j in range(k):
                source = rows[below[s] + j] * d
                for a in range(d):
                    total -= buffer[offset + j * d + a] * y[source + a]
            work[c] = total
        for c in range(m):
            total = 0.0
            offset = lower[s] + c * m
            for e in range(m):
                total += buffer[offset + e] * work[e]
            y[f + c] = total


# W + D in the panels of ``block_lu``: where each block of W goes, filling it in, solving.


@stage
def locate(d, indptr, indices, place, panels, offset, stride):
    """offset, stride (nnz,): place in the buffer of each block of W; place (nb,): its order;
    panels: count, node, first, below, rows, lower, upper."""
    _, node, first, below, rows, lower, upper = panels
    for i in range(indptr.size - 1):
        for e in range(indptr[i], indptr[i + 1]):
            offset[e], stride[e] = slot(
                d, place[i], place[indices[e]], node, first, below, rows, lower, upper
            )


@kernel
def factorise_sum(shape, indptr, indices, blocks, added, offset, stride, panels, buffer):
    """Factorise W + added (nb, d, d); False if singular. panels: as in ``locate``."""
    d = len(shape)
    count, node, first, below, rows, lower, upper = panels
    for k in range(buffer.size):
        buffer[k] = 0.0
    for i in range(indptr.size - 1):
        for e in range(indptr[i], indptr[i + 1]):
            for a in range(d):
                at = offset[e] + a * stride[e]
                for b in range(d):
                    buffer[at + b] = blocks[e, a, b]
                    if indices[e] == i:
                        buffer[at + b] += added[i, a, b]
    return factorise(shape, count, node, first, below, rows, lower, upper, buffer)


@kernel
def solve(shape, place, panels, buffer, b, x, work):
    """x = (W + D)^-1 b by the factors; b, x, work (nb, d)."""
    count, _node, first, below, rows, lower, upper = panels
    for i in range(place.size):
        for a in range(len(shape)):
            work[place[i], a] = b[i, a]
    substitute(shape, count, first, below, rows, lower, upper, buffer, work)
    for i in range(place.size):
        for a in range(len(shape)):
            x[i, a] = work[place[i], a]
