"""Cholesky's factor of some rows of a sparse symmetric matrix, within its envelope.

Row p of the factor begins at the first entry of row p of the matrix and ends at the diagonal.
"""

import numpy as np

from drystone.kernels._jit import kernel


@kernel
def entries(W, skew, start, index, value):
    """Entries that are not zero, by rows: start (n + 1,), index and value (room,).

    Returns their number, or -1 where there is no room for them, or W is unsymmetric by more than
    `skew`.
    """
    n, k, room = W.shape[0], 0, index.size
    for i in range(n):
        start[i] = k
        for j in range(n):
            if W[i, j] != 0.0:
                if k == room or not abs(W[i, j] - W[j, i]) <= skew:
                    return -1
                index[k], value[k] = j, W[i, j]
                k += 1
    start[n] = k
    return k


@kernel
def extent(start, index, order, m, place, first, begin):
    """Envelope of the rows order[:m]: first (m,) column of each, begin (m + 1,) of its entries.

    place (n,): where a row is in the order, -1 for the others. Returns the number of entries.
    """
    for i in range(place.size):
        place[i] = -1
    for p in range(m):
        place[order[p]] = p
    total = 0
    for p in range(m):
        least = p
        for k in range(start[order[p]], start[order[p] + 1]):
            c = place[index[k]]
            if 0 <= c < least:
                least = c
        first[p], begin[p] = least, total
        total += p - least + 1
    begin[m] = total
    return total


@kernel
def _inner(L, a, b, count):
    """L[a : a + count] . L[b : b + count], four sums at once."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    k = 0
    while k + 3 < count:
        s0 += L[a + k] * L[b + k]
        s1 += L[a + k + 1] * L[b + k + 1]
        s2 += L[a + k + 2] * L[b + k + 2]
        s3 += L[a + k + 3] * L[b + k + 3]
        k += 4
    while k < count:
        s0 += L[a + k] * L[b + k]
        k += 1
    return (s0 + s1) + (s2 + s3)


@kernel
def factorise(start, index, value, more, order, m, place, first, begin, L):
    """L (begin[m],) of the rows order[:m], with more[row] added to the diagonal.

    Returns 1, or 0 where a pivot is not positive.
    """
    for p in range(m):
        at, low = begin[p], first[p]
        for k in range(at, begin[p + 1]):
            L[k] = 0.0
        for k in range(start[order[p]], start[order[p] + 1]):
            c = place[index[k]]
            if low <= c <= p:
                L[at + c - low] = value[k]
        L[at + p - low] += more[order[p]]
    return 1 if eliminate(m, first, begin, L) else 0


@kernel
def eliminate(n, first, begin, L):
    """L L' = what L (begin[n],) holds, in place; False where a pivot is not positive."""
    for p in range(n):
        at, low = begin[p], first[p]
        for j in range(low, p):
            since = max(low, first[j])
            done = _inner(L, at + since - low, begin[j] + since - first[j], j - since)
            L[at + j - low] = (L[at + j - low] - done) / L[begin[j + 1] - 1]
        pivot = L[at + p - low] - _inner(L, at, at, p - low)
        if not pivot > 0.0:
            return False
        L[at + p - low] = np.sqrt(pivot)
    return True


@kernel
def substitute(m, first, begin, L, x):
    """Solve L L' y = x in place, x (m,)."""
    for p in range(m):
        at, low = begin[p], first[p]
        total = x[p]
        for j in range(low, p):
            total -= L[at + j - low] * x[j]
        x[p] = total / L[begin[p + 1] - 1]
    for p in range(m - 1, -1, -1):
        at, low = begin[p], first[p]
        x[p] /= L[begin[p + 1] - 1]
        for j in range(low, p):
            x[j] -= L[at + j - low] * x[p]
