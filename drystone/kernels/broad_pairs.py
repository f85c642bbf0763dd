"""From boxes to batches of pairs: half-spaces, rules that drop pairs, and caches carried over.

Geoms are counted here by their rank: sorted by kind, then by index; `order` gives the index of
each rank. Kinds ascend with the rank and half-spaces come last, so of a pair i < j the first is
A, and pairs in the order of their keys i << 32 | j are in the order of (a, b) in each batch.
"""

import math

from drystone.kernels._jit import stage
from drystone.kernels.radix import lower_bound


@stage
def all_pairs(lower, upper, keys):
    """Keys of the boxes (n, dim) that overlap, each tested with each; -> how many.

    keys (room,): out, n (n - 1) / 2 of them at most.
    """
    n, dim = lower.shape
    size = 0
    for i in range(n):
        for j in range(i + 1, n):
            together = True
            for k in range(dim):
                together = together and lower[i, k] <= upper[j, k] and lower[j, k] <= upper[i, k]
            if together:
                keys[size] = (i << 32) | j
                size += 1
    return size


@stage
def reach_below(order, radius, x, R, margin, lower, upper, keys):
    """Keys of the pairs of a bounded geom and a half-space that it may come near to.

    radius, x, R, margin of all geoms, by index; lower, upper (n, dim) boxes of the bounded ones,
    by rank and with their margin. The half-space of rank u is n.(p - x_u) <= 0, where n is the
    last column of R_u. A geom is above it by its box or by its ball, whichever shows more.
    -> how many: if more than the room of keys (room,), only the first of them were written.
    """
    n, dim = lower.shape
    size = 0
    for i in range(n):
        g = order[i]
        for r in range(n, order.size):
            u = order[r]
            box = 0.0
            centre = 0.0
            for k in range(dim):
                normal = R[u, k, dim - 1]
                end = lower[i, k] if normal > 0 else upper[i, k]
                box += normal * (end - x[u, k])
                centre += normal * (x[g, k] - x[u, k])
            if max(box, centre - radius[g] - margin[g]) <= margin[u]:
                if size < keys.size:
                    keys[size] = (i << 32) | r
                size += 1
    return size


@stage
def is_ignored(a, b, nb, ignored):
    """Whether the key a * nb + b, a < b, of two bodies is among the ascending ones `ignored`."""
    key = min(a, b) * nb + max(a, b)
    low = lower_bound(ignored, 0, ignored.size, key)
    return low < ignored.size and ignored[low] == key


@stage
def split(
    geom, nb, ignored, width, margin, found, batch, start, offset, keys, pairs, pair_margin
):  # fmt: skip
    """Drop the pairs that the rules forbid and sort the others into batches by pair of kinds.

    Two bodies may collide if they are different, one of them can move, they share a layer, and
    they are not ignored.
    geom (ng, 5) int64: by rank, index, number of the kind, body, layer, whether the body can move.
    nb, ignored: as above; the batch of kinds k, l of nk is k * nk + l; width (nk * nk,): columns
    of each batch's cache; margin (ng,): by index.
    found (nf,): keys of pairs, those of one batch ascending; batch (nf,): work.
    start (nk * nk + 1,): out, rows of each batch; offset: where its cache begins.
    keys (nf,), pairs (nf, 2) geoms by index, pair_margin (nf,): out.
    """
    batches = width.size
    nk = int(math.sqrt(batches) + 0.5)
    for c in range(batches + 1):
        start[c] = 0
    for p in range(found.size):
        i, j = found[p] >> 32, found[p] & 0xFFFFFFFF
        a, b = geom[i, 2], geom[j, 2]
        may = a != b and (geom[i, 3] & geom[j, 3]) != 0 and (geom[i, 4] | geom[j, 4]) != 0
        if may and ignored.size > 0:
            may = not is_ignored(a, b, nb, ignored)
        if may:
            batch[p] = geom[i, 1] * nk + geom[j, 1]
            start[batch[p] + 1] += 1
        else:
            batch[p] = -1
    offset[0] = 0
    for c in range(batches):
        offset[c + 1] = offset[c] + start[c + 1] * width[c]
        start[c + 1] += start[c]
    for p in range(found.size):
        c = batch[p]
        if c < 0:
            continue
        row = start[c]
        start[c] += 1  # start[c] ends as the end of batch c, the start of the next
        g, h = geom[found[p] >> 32, 0], geom[found[p] & 0xFFFFFFFF, 0]
        keys[row] = found[p]
        pairs[row, 0], pairs[row, 1] = g, h
        pair_margin[row] = margin[g] + margin[h]
    for c in range(batches, 0, -1):
        start[c] = start[c - 1]
    start[0] = 0


@stage
def carry(width, old_start, old_offset, old_keys, old_cache, start, offset, keys, cache):
    """Rows of the cache of pairs that were there before; zeros for new pairs.

    -> 1 and nothing written if the pairs are the same as before, so that the old cache will do.
    """
    batches = width.size
    same = True
    for c in range(batches + 1):
        same = same and start[c] == old_start[c]
    p = 0
    while same and p < start[batches]:
        same = keys[p] == old_keys[p]
        p += 1
    if same:
        return 1
    for c in range(batches):
        if width[c] == 0:
            continue
        q = old_start[c]
        for p in range(start[c], start[c + 1]):
            while q < old_start[c + 1] and old_keys[q] < keys[p]:
                q += 1
            to = offset[c] + (p - start[c]) * width[c]
            if q < old_start[c + 1] and old_keys[q] == keys[p]:
                at = old_offset[c] + (q - old_start[c]) * width[c]
                for m in range(width[c]):
                    cache[to + m] = old_cache[at + m]
            else:
                for m in range(width[c]):
                    cache[to + m] = 0.0
    return 0
