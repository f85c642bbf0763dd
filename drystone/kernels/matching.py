"""Which contact of the last step a contact is: by its pair of geoms and its feature.

The old contacts of a pair hang on a chain; chains are found by open addressing on the pair, so
that the cost is linear whatever the order of the contacts, and the result does not depend on it.
"""

import math

from drystone.kernels._jit import stage


@stage
def slot_of(a, b, old_a, old_b, head):
    """Place of the chain of pair (a, b) in head (a power of two of places, some of them empty)."""
    mask = head.size - 1
    # 31 bits at a time: products stay in 64, also where integers do not wrap silently
    mixed = ((a & 0x7FFFFFFF) * 73856093) ^ ((b & 0x7FFFFFFF) * 19349663)
    mixed = ((mixed ^ (mixed >> 31)) & 0x7FFFFFFF) * 83492791
    at = (mixed ^ (mixed >> 29)) & mask
    while head[at] >= 0 and not (old_a[head[at]] == a and old_b[head[at]] == b):
        at = (at + 1) & mask
    return at


@stage
def match_contacts(old_a, old_b, old_feature, a, b, feature, head, tail, source):
    """source (n,): the old contact of the same pair and feature, or -1; each is taken once.

    old_a, old_b, old_feature (m,); a, b, feature (n,): uids of the geoms, and features.
    head (places,): out, first old contact of each chain; tail (3, m): out, the next one of the
        chain, whether it is taken, and the last one of the chain (of its first).
    """
    m = old_a.size
    for at in range(head.size):
        head[at] = -1
    for i in range(m):
        tail[0, i], tail[1, i], tail[2, i] = -1, 0, i
        at = slot_of(old_a[i], old_b[i], old_a, old_b, head)
        if head[at] < 0:
            head[at] = i
        else:  # in the order of the contacts, so that the first of equals is taken first
            tail[0, tail[2, head[at]]] = i
            tail[2, head[at]] = i
    for j in range(a.size):
        source[j] = -1
        i = head[slot_of(a[j], b[j], old_a, old_b, head)]
        while i >= 0:
            if old_feature[i] == feature[j] and tail[1, i] == 0:
                source[j] = i
                tail[1, i] = 1
                break
            i = tail[0, i]


@stage
def match(m, old_a, old_b, old_feature, n, a, b, feature, head, tail, source):
    """``match_contacts`` of the first m old and n new contacts of arrays that may have more.

    head, tail (3, ...), source: room for at least ``places(m)``, m and n.
    -> how many of the new contacts continue an old one, or -1 if there is not enough room.
    """
    if places(m) > head.size or m > tail.shape[1] or n > source.size:
        return -1
    match_contacts(
        old_a[:m], old_b[:m], old_feature[:m], a[:n], b[:n], feature[:n], head[: places(m)], tail,
        source,
    )  # fmt: skip
    known = 0
    for j in range(n):
        known += 1 if source[j] >= 0 else 0
    return known


@stage
def places(m):
    """Length of `head` for m old contacts: a power of two, at least twice as many."""
    size = 1
    while size < 2 * m + 1:
        size *= 2
    return size


@stage
def match_nearest(old_a, old_b, old_local, a, b, local, reach, head, tail, source):
    """For contacts still without a source: the nearest old contact of the pair not yet taken.

    old_local (m, dim), local (n, dim) [m]: the points in a frame that moves with the pair;
    reach [m]: none farther than this. head, tail, source: as ``match_contacts`` left them.
    """
    for j in range(a.size):
        if source[j] >= 0:
            continue
        i = head[slot_of(a[j], b[j], old_a, old_b, head)]
        best = math.inf
        while i >= 0:
            far = 0.0
            for k in range(local.shape[1]):
                far += (old_local[i, k] - local[j, k]) ** 2
            if tail[1, i] == 0 and far < best and far <= reach * reach:
                best = far
                source[j] = i
            i = tail[0, i]
        if source[j] >= 0:
            tail[1, source[j]] = 1


@stage
def take_rows(source, old_rows, rows):
    """rows (n, d): those of old_rows that source names, 0 where it names none; -> how many."""
    found = 0
    for j in range(source.size):
        if source[j] >= 0:
            found += 1
        for k in range(rows.shape[1]):
            rows[j, k] = old_rows[source[j], k] if source[j] >= 0 else 0.0
    return found
