"""Newton's linear system of a small island as one full matrix of the rows that need it.

A row is alone where its equation names no other unknown: impulses of open contacts, tangential ones
without friction, and rows that no other row of W meets: the padding of joints' blocks, given loads.
Alone rows are solved first. In a mechanism they are more than half, and elimination of the others
as one matrix, with full rows to pivot on, is done before an order for a sparse one would be found.

places (nb + 1, d + 1) holds what belongs to the factors: number of each row, -1 if it is alone; in
the last column the number of each block's diagonal block; in the last row how many rows there are.
"""

import numpy as np

from drystone.kernels import status
from drystone.kernels._jit import kernel
from drystone.kernels.dense_lu import back_substitute, factorise

LARGEST = 64  # rows up to which this is cheaper than ``block_lu``


@kernel
def coupled_size(shape, indptr, indices, W, mu, own, places):
    """How many rows may not be alone, which is the size of M; -1 if they are too many. Finds own
    (nb, d): rows of W that are zero but for their diagonal, and the diagonal blocks. Friction
    couples the rows of a block."""
    d, count, nb = len(shape), 0, own.shape[0]
    if nb > LARGEST:
        return -1
    for i in range(nb):
        for a in range(d):
            own[i, a] = True
        for k in range(indptr[i], indptr[i + 1]):
            same = indices[k] == i
            if same:
                places[i, d] = k
            for a in range(d):
                for b in range(d):
                    if W[k, a, b] != 0.0 and not (same and a == b):
                        own[i, a] = False
        for a in range(d):
            count += 0 if own[i, a] and mu[i] <= 0.0 else 1
    return count if count <= LARGEST else -1


@kernel
def direction_dense(shape, indptr, indices, W, shift, phi, A, B, fresh, own, places, M, pivots, dr):
    """dr with (A + B (W + shift)) dr = -phi; fresh: factorise, else by the factors in M. False if
    there is none."""
    d, nb, total = len(shape), shift.size, 0.0
    if fresh:
        _number(shape, A, B, own, places)
        m = places[nb, d]
        for i in range(nb):
            for a in range(d):
                if places[i, a] >= 0:
                    _fill(shape, i, a, indptr, indices, W, shift, A, B, places, M, m)
        if factorise(M, m, pivots) != status.SOLVED:
            return False
    m = places[nb, d]
    y, x = np.empty(m), np.empty(m)
    for i in range(nb):
        for a in range(d):
            dr[i, a] = 0.0
            if places[i, a] < 0:
                w = W[places[i, d], a, a] + shift[i]
                dr[i, a] = -phi[i, a] / (A[i, a, a] + B[i, a, a] * w)
    for i in range(nb):
        for a in range(d):
            if places[i, a] >= 0:
                y[places[i, a]] = -phi[i, a] - _known(
                    shape, i, a, indptr, indices, W, shift, A, B, places, dr
                )
    back_substitute(M, m, pivots, y, x)
    for i in range(nb):
        for a in range(d):
            if places[i, a] >= 0:
                dr[i, a] = x[places[i, a]]
            total += abs(dr[i, a])
    return total < np.inf


@kernel
def _number(shape, A, B, own, places):
    """Which rows are alone, and numbers for the others."""
    d, m = len(shape), 0
    for i in range(own.shape[0]):
        for a in range(d):
            alone = own[i, a] or B[i, a, a] == 0.0
            for b in range(d):
                if b != a and (A[i, a, b] != 0.0 or B[i, a, b] != 0.0):
                    alone = False
            places[i, a] = -1 if alone else m
            m += 0 if alone else 1
    places[own.shape[0], d] = m


@kernel
def _fill(shape, i, a, indptr, indices, W, shift, A, B, places, M, m):
    """Row a of block i of A + B (W + shift)."""
    d, row = len(shape), places[i, a]
    for j in range(m):
        M[row, j] = 0.0
    for e in range(d):
        f = B[i, a, e]
        if f != 0.0:
            for k in range(indptr[i], indptr[i + 1]):
                j = indices[k]
                for b in range(d):
                    if places[j, b] >= 0:
                        M[row, places[j, b]] += f * W[k, e, b]
    for b in range(d):
        if places[i, b] >= 0:
            M[row, places[i, b]] += A[i, a, b] + shift[i] * B[i, a, b]


@kernel
def _known(shape, i, a, indptr, indices, W, shift, A, B, places, dr):
    """What the changes of alone rows add to row a of block i."""
    total = 0.0
    for k in range(indptr[i], indptr[i + 1]):
        j = indices[k]
        for b in range(len(shape)):
            if places[j, b] < 0 and dr[j, b] != 0.0:
                for e in range(len(shape)):
                    total += B[i, a, e] * W[k, e, b] * dr[j, b]
                if j == i:
                    total += (A[i, a, b] + shift[i] * B[i, a, b]) * dr[j, b]
    return total
