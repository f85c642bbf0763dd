"""Sparse LU of a matrix of small blocks with a symmetric pattern, without pivoting across blocks.

Newton's matrix on a contact problem has the pattern of the contact graph: about four neighbours
per contact. With a fill-reducing order its factors stay almost as sparse, so that a step costs
far less than a dense solve. The blocks on the diagonal are inverted with partial pivoting.

Columns are numbered in elimination order. `start` (n + 1,) and `rows` hold, for each column j,
the sorted rows i > j of L; by symmetry of the pattern they are also the columns of row j of U.
"""

import numpy as np

from drystone.kernels._jit import kernel


@kernel
def analyse(indptr, indices, keep, back, start, room):
    """Order the kept blocks by minimum degree and give the structure of their factors.

    indptr, indices: block pattern; keep (nb,) bool. Fills back (n,): block eliminated j-th, and
    start (n + 1,). Returns (n, rows); n = -1 if the factors need more than `room` blocks.
    The elimination graph is kept as one row of bits per block: a pivot's row is its structure.
    """
    nb = keep.size
    words = (nb + 63) // 64
    one = np.uint64(1)
    graph = np.zeros((nb, words), np.uint64)
    degree = np.full(nb, nb + 1, np.int32)
    n = 0
    for i in range(nb):
        if keep[i]:
            n += 1
            for k in range(indptr[i], indptr[i + 1]):
                j = indices[k]
                if j != i and keep[j]:
                    graph[i, j >> 6] |= one << np.uint64(j & 63)
                    graph[j, i >> 6] |= one << np.uint64(i & 63)
    for i in range(nb):
        if keep[i]:
            degree[i] = _count(graph[i])
    rows = np.empty(room, np.int32)
    total = 0
    for step in range(n):
        p = np.argmin(degree)
        back[step] = p
        start[step] = total
        if total + degree[p] > room:
            return -1, rows
        degree[p] = nb + 1
        for w in range(words):
            bits = graph[p, w]
            while bits:
                low = bits & (~bits + one)
                rows[total] = 64 * w + _place(low)
                total += 1
                bits ^= low
        for k in range(start[step], total):
            i = rows[k]
            for w in range(words):
                graph[i, w] |= graph[p, w]
            graph[i, i >> 6] &= ~(one << np.uint64(i & 63))
            graph[i, p >> 6] &= ~(one << np.uint64(p & 63))
            degree[i] = _count(graph[i])
    start[n] = total
    place = np.empty(nb, np.int32)
    for j in range(n):
        place[back[j]] = j
    for j in range(n):
        segment = rows[start[j] : start[j + 1]]
        for k in range(segment.size):
            segment[k] = place[segment[k]]
        segment.sort()
    return n, rows[:total]


@kernel
def _count(row):
    """Number of bits set in a row of 64-bit words."""
    total = 0
    for w in range(row.size):
        x = row[w]
        x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
        x = (x & np.uint64(0x3333333333333333)) + (
            (x >> np.uint64(2)) & np.uint64(0x3333333333333333)
        )
        x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
        total += np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))
    return total


@kernel
def _place(bit):
    """Index of the single bit set in a 64-bit word."""
    x = bit - np.uint64(1)
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@kernel
def invert(shape, A, out):
    """out = A^-1 of one (d, d) block by Gauss-Jordan with partial pivoting; False if singular."""
    d = len(shape)
    for a in range(d):
        for b in range(d):
            out[a, b] = 1.0 if a == b else 0.0
    for c in range(d):
        p = c
        for a in range(c + 1, d):
            if abs(A[a, c]) > abs(A[p, c]):
                p = a
        pivot = A[p, c]
        if not abs(pivot) > 1e-300:
            return False
        if p != c:
            for b in range(d):
                A[c, b], A[p, b] = A[p, b], A[c, b]
                out[c, b], out[p, b] = out[p, b], out[c, b]
        for b in range(d):
            A[c, b] /= pivot
            out[c, b] /= pivot
        for a in range(d):
            if a != c:
                f = A[a, c]
                for b in range(d):
                    A[a, b] -= f * A[c, b]
                    out[a, b] -= f * out[c, b]
    return True


@kernel
def numeric(shape, n, start, rows, D, L, U):
    """Factorise in place: D (n, d, d) becomes the inverse pivots, L and U (nnz, d, d) the factors.

    On entry L[k], U[k] hold the entries (i, j) and (j, i) for i = rows[k] in column j.
    """
    d = len(shape)
    work = np.empty((d, d))
    at = np.zeros(n, np.int64)
    for j in range(n):
        for a in range(d):
            for b in range(d):
                work[a, b] = D[j, a, b]
        if not invert(shape, work, D[j]):
            return False
        for k in range(start[j], start[j + 1]):  # L_ij <- A_ij D_j^-1
            for a in range(d):
                for b in range(d):
                    total = 0.0
                    for c in range(d):
                        total += L[k, a, c] * D[j, c, b]
                    work[a, b] = total
            for a in range(d):
                for b in range(d):
                    L[k, a, b] = work[a, b]
        for k in range(start[j], start[j + 1]):
            i = rows[k]
            _subtract(shape, L, k, U, k, D, i)
            if k + 1 == start[j + 1]:
                continue
            for e in range(start[i], start[i + 1]):
                at[rows[e]] = e
            for m in range(k + 1, start[j + 1]):
                e = at[rows[m]]
                _subtract(shape, L, m, U, k, L, e)
                _subtract(shape, L, k, U, m, U, e)
    return True


@kernel
def _subtract(shape, L, i, U, j, out, k):
    """out[k] -= L[i] U[j]."""
    d = len(shape)
    for a in range(d):
        for b in range(d):
            total = out[k, a, b]
            for c in range(d):
                total -= L[i, a, c] * U[j, c, b]
            out[k, a, b] = total


@kernel
def substitute(shape, n, start, rows, D, L, U, x):
    """Solve L U x = b in place, x (n, d)."""
    d = len(shape)
    work = np.empty(d)
    for j in range(n):
        for k in range(start[j], start[j + 1]):
            i = rows[k]
            for a in range(d):
                total = x[i, a]
                for b in range(d):
                    total -= L[k, a, b] * x[j, b]
                x[i, a] = total
    for j in range(n - 1, -1, -1):
        for k in range(start[j], start[j + 1]):
            i = rows[k]
            for a in range(d):
                total = x[j, a]
                for b in range(d):
                    total -= U[k, a, b] * x[i, b]
                x[j, a] = total
        for a in range(d):
            total = 0.0
            for b in range(d):
                total += D[j, a, b] * x[j, b]
            work[a] = total
        for a in range(d):
            x[j, a] = work[a]
