"""Elimination order of a sparse symmetric pattern by minimum degree, in time near its own size.

The graph that elimination leaves is kept as a quotient graph (George, Liu 1981): a pivot becomes
an element, whose list L_p of variables is the structure of its column of the factor; a variable
holds the variables it still meets directly and the elements it belongs to. A pivot's own elements
lie in L_p and are absorbed, so lists only shrink: all of it fits where the pattern was. Degrees are
the bounds of Amestoy, Davis and Duff (1996): |A_i| + |L_p - i| + sum |L_e - L_p|.
Chains and trees have no fill and cost O(n).
"""

import numpy as np

from drystone.kernels._jit import kernel, stage


@kernel
def minimum_degree(indptr, indices, keep, back, start, room):
    """Order the kept blocks by minimum degree and give the structure of each column of L.

    indptr, indices: block pattern, symmetric; keep (nb,) bool. Fills back (n,): block eliminated
    j-th, and start (n + 1,). Returns (n, rows); n = -1 if the factors need more than `room` blocks.
    """
    nb = keep.size
    work = np.empty((12, nb + 1), np.int64)
    begin, nv, ne, size, end, degree = work[0], work[1], work[2], work[3], work[4], work[5]
    head, after, last = work[6], work[7], work[8]
    seen, met, outside = work[9], work[10], work[11]
    for i in range(nb + 1):
        nv[i], ne[i], degree[i] = 0, 0, 0
        head[i], after[i], last[i], seen[i], met[i] = -1, -1, -1, -1, -1
    held = np.empty(indices.size, np.int32)  # variables, then elements, of each variable
    n, at = 0, 0
    for i in range(nb):
        begin[i] = at
        if keep[i]:
            n += 1
            for k in range(indptr[i], indptr[i + 1]):
                j = indices[k]
                if j != i and keep[j]:
                    held[at] = j
                    at += 1
            nv[i] = at - begin[i]
    for i in range(nb - 1, -1, -1):  # of equal degrees, the first comes first
        if keep[i]:
            degree[i] = nv[i]
            _link(i, degree[i], head, after, last)
    rows = np.empty(room, np.int32)
    total, least = 0, 0
    for step in range(n):
        while head[least] < 0:
            least += 1
        p = head[least]
        _unlink(p, least, head, after, last)
        back[step], start[step] = p, total
        total = _gather(p, step, begin, nv, ne, held, seen, size, end, rows, total)
        if total < 0:
            return -1, rows
        size[p], end[p] = total - start[step], total
        for k in range(start[step], total):
            i = rows[k]
            for m in range(begin[i] + nv[i], begin[i] + nv[i] + ne[i]):
                e = held[m]
                if met[e] != step:
                    met[e] = step
                    outside[e] = size[e]
                outside[e] -= 1
        for k in range(start[step], total):
            i = rows[k]
            _unlink(i, degree[i], head, after, last)
            bound = min(degree[i] + size[p] - 1, n - step - 2)
            found = _absorb(i, p, step, begin, nv, ne, held, seen, outside) + size[p] - 1
            degree[i] = min(found, bound)
            least = min(least, degree[i])
            _link(i, degree[i], head, after, last)
    start[n] = total
    return n, _renumbered(nb, n, back, start, rows[:total])


@stage
def _gather(p, step, begin, nv, ne, held, seen, size, end, rows, total):
    """Write L_p into rows from `total` on; returns its end, -1 if there is no room."""
    seen[p] = step
    middle = begin[p] + nv[p]
    for k in range(begin[p], middle):
        if total == rows.size:
            return -1
        rows[total] = held[k]
        seen[held[k]] = step
        total += 1
    for k in range(middle, middle + ne[p]):
        e = held[k]
        for m in range(end[e] - size[e], end[e]):
            j = rows[m]
            if seen[j] != step:
                if total == rows.size:
                    return -1
                rows[total] = j
                seen[j] = step
                total += 1
        size[e] = 0  # absorbed
    return total


@stage
def _absorb(i, p, step, begin, nv, ne, held, seen, outside):
    """Bring the lists of variable i up to date after pivot p; returns |A_i| + sum |L_e - L_p|."""
    at, middle = begin[i], begin[i] + nv[i]
    for k in range(at, middle):
        if seen[held[k]] != step:  # what p's element holds need not be held twice
            held[at] = held[k]
            at += 1
    stop = middle + ne[i]
    nv[i] = at - begin[i]
    total = nv[i]
    for k in range(middle, stop):
        e = held[k]
        if outside[e] > 0:  # else it is absorbed, or lies in L_p
            held[at] = e
            total += outside[e]
            at += 1
    held[at] = p
    ne[i] = at + 1 - begin[i] - nv[i]
    return total


@stage
def _link(i, degree, head, after, last):
    """Put i at the head of the list of its degree."""
    other = head[degree]
    after[i], last[i], head[degree] = other, -1, i
    if other >= 0:
        last[other] = i


@stage
def _unlink(i, degree, head, after, last):
    if last[i] >= 0:
        after[last[i]] = after[i]
    else:
        head[degree] = after[i]
    if after[i] >= 0:
        last[after[i]] = last[i]


@kernel
def _renumbered(nb, n, back, start, rows):
    """Rows of each column in elimination numbers and ascending: sorted by two transpositions."""
    place, fill, at = np.empty(nb, np.int32), np.empty(n + 1, np.int64), np.empty(n, np.int64)
    fill[n] = 0
    for j in range(n):
        place[back[j]], fill[j], at[j] = j, 0, start[j]
    for k in range(rows.size):
        fill[place[rows[k]] + 1] += 1
    for i in range(n):
        fill[i + 1] += fill[i]
    columns = np.empty(rows.size, np.int32)
    for j in range(n):
        for k in range(start[j], start[j + 1]):
            i = place[rows[k]]
            columns[fill[i]] = j
            fill[i] += 1
    out = np.empty(rows.size, np.int32)
    begin = 0
    for i in range(n):
        for k in range(begin, fill[i]):
            out[at[columns[k]]] = i
            at[columns[k]] += 1
        begin = fill[i]
    return out
