"""W + D in the factors' storage of ``block_lu``: where each block of W goes, and filling it in."""

from drystone.kernels._jit import kernel
from drystone.kernels.block_lu import numeric, substitute


@kernel
def locate(indptr, indices, place, start, rows, slot):
    """slot (nnz,): k for the entry L[k], -k - 1 for U[k], of each block off the diagonal."""
    for i in range(indptr.size - 1):
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            first, last = min(place[i], place[j]), max(place[i], place[j])
            if first == last:
                continue
            low, high = start[first], start[first + 1]
            while high - low > 1:  # rows of a column are sorted
                middle = (low + high) // 2
                if rows[middle] <= last:
                    low = middle
                else:
                    high = middle
            slot[e] = low if place[i] > place[j] else -low - 1


@kernel
def factorise(shape, indptr, indices, blocks, added, place, slot, start, rows, D, L, U):
    """Factorise W + added (nb, d, d); False if a pivot block is singular."""
    d, n = len(shape), place.size
    for k in range(rows.size):
        for a in range(d):
            for b in range(d):
                L[k, a, b], U[k, a, b] = 0.0, 0.0
    for i in range(n):
        p = place[i]
        for e in range(indptr[i], indptr[i + 1]):
            k = slot[e]
            for a in range(d):
                for b in range(d):
                    if indices[e] == i:
                        D[p, a, b] = blocks[e, a, b] + added[i, a, b]
                    elif k >= 0:
                        L[k, a, b] = blocks[e, a, b]
                    else:
                        U[-k - 1, a, b] = blocks[e, a, b]
    return numeric(shape, n, start, rows, D, L, U)


@kernel
def solve(shape, place, start, rows, D, L, U, b, x, work):
    """x = (W + D)^-1 b by the factors; b, x, work (nb, d)."""
    for i in range(place.size):
        for a in range(len(shape)):
            work[place[i], a] = b[i, a]
    substitute(shape, place.size, start, rows, D, L, U, work)
    for i in range(place.size):
        for a in range(len(shape)):
            x[i, a] = work[place[i], a]
