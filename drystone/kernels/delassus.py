"""W = J M^-1 J' in block compressed rows, from the rows of contacts lo:hi (an island)."""

import numpy as np

from drystone.kernels._jit import kernel


@kernel
def delassus(shape, lo, hi, body, moves, J, P, first):
    """indptr, indices, blocks of W; first (nb,): work.

    Contacts couple through the moving bodies they share; columns ascend in each row. A row with
    one body on both sides (a joint to the world) acts on it by the first side alone.
    """
    d, n = len(shape), hi - lo
    for i in range(lo, hi):
        for s in range(2):
            first[body[i, s]] = 0
    total = 0
    for i in range(lo, hi):
        for s in range(2):
            if moves[body[i, s]] and (s == 0 or body[i, 0] != body[i, 1]):
                first[body[i, s]] += 1  # contacts of each body
    for i in range(lo, hi):  # where each body's list begins, in order of first contact
        for s in range(2):
            b = body[i, s]
            if moves[b] and first[b] > 0:
                count = first[b]
                first[b] = -1 - total
                total += count
    lists, size = np.empty(total, np.int64), np.zeros(n * 2, np.int64)
    fill = np.zeros(total, np.int64)
    for i in range(lo, hi):
        for s in range(2):
            b = body[i, s]
            if moves[b] and (s == 0 or body[i, 0] != b):
                at = -1 - first[b]
                lists[at + fill[at]] = i
                fill[at] += 1
    indptr = np.zeros(n + 1, np.int32)
    for i in range(lo, hi):
        indptr[i - lo + 1] = indptr[i - lo] + _merge(
            i, body, moves, first, lists, fill, size, False
        )
    indices = np.empty(indptr[n], np.int32)
    blocks = np.zeros((indptr[n], d, d))
    neighbours = np.empty(total + 1, np.int64)
    left, right = np.empty((n, d), np.bool_), np.empty((n, d), np.bool_)
    for i in range(lo, hi):
        for a in range(d):
            left[i - lo, a], right[i - lo, a] = _any(J, i, a), _any(P, i, a)
    for i in range(lo, hi):
        count = _merge(i, body, moves, first, lists, fill, neighbours, True)
        for k in range(count):
            j = neighbours[k]
            at = indptr[i - lo] + k
            indices[at] = j - lo
            _couple(shape, i, j, body, moves, J, P, left[i - lo], right[j - lo], blocks, at)
    return indptr, indices, blocks


@kernel
def _merge(i, body, moves, first, lists, fill, out, write):
    """Contacts that share a moving body with i, ascending, once; only counted without `write`."""
    a, a_end, b, b_end = 0, 0, 0, 0
    if moves[body[i, 0]]:
        a = -1 - first[body[i, 0]]
        a_end = a + fill[a]
    if moves[body[i, 1]] and body[i, 0] != body[i, 1]:
        b = -1 - first[body[i, 1]]
        b_end = b + fill[b]
    count = 0
    while a < a_end or b < b_end:
        if b >= b_end or (a < a_end and lists[a] <= lists[b]):
            j = lists[a]
            if b < b_end and lists[b] == j:
                b += 1
            a += 1
        else:
            j = lists[b]
            b += 1
        if write:
            out[count] = j
        count += 1
    return count


@kernel
def _any(rows, i, a):
    """Whether row a of block i is more than padding."""
    found = False
    for s in range(2):
        for e in range(rows.shape[3]):
            found = found or rows[i, a, s, e] != 0.0
    return found


@kernel
def _couple(shape, i, j, body, moves, J, P, left, right, blocks, at):
    """Block (i, j): sum over the shared moving bodies of J_i M^-1 J_j'; left, right (d,): rows that
    are not zero."""
    d = len(shape)
    dof = 3 if d == 2 else J.shape[3] if d == 1 else 6  # a constant for the compiler, mostly
    for s in range(2):
        for t in range(2):
            if body[i, s] == body[j, t] and moves[body[i, s]]:
                for a in range(d):
                    for b in range(d):
                        if not (left[a] and right[b]):
                            continue
                        total = 0.0
                        for e in range(dof):
                            total += J[i, a, s, e] * P[j, b, t, e]
                        blocks[at, a, b] += total
