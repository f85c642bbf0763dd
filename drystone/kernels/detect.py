"""Collision detection in one call without Python: from the poses of geoms to their contacts.

Boxes -> pairs of boxes that overlap -> geoms near half-spaces -> rules -> caches -> one kernel
for each pair of kinds, called by address. Where something is missing (room, a kernel that is not
loaded, candidates that must be found anew) ``detect`` returns a code; the caller lets
``Detector.serve`` serve the request and calls again with the same poses: it resumes there.
"""

import math

from drystone.kernels._calls import call
from drystone.kernels._jit import stage
from drystone.kernels.broad import all_pairs, overlapping
from drystone.kernels.pairs import FoundContacts, Pairs, PosedGeoms
from drystone.kernels.radix import lower_bound

# Codes of ``detect``
DONE, NOT_FINITE, BROAD, ROOM_PAIRS, ROOM_CACHE, ROOM_CONTACTS, NO_KERNEL = range(7)
BOXES, RENEW, TEST, FLAT, SORT, RUN = range(6)  # values of stage: what is done next
# Values of method: each box with each; candidates that are kept; whatever BROAD's answer is
EACH, KEPT, ASK = range(3)
TESTED, CONTACTS_FOUND = 8, 9  # columns of Scan.tally behind the eight counters of a pair kernel


@stage
def detect(scan, x, R, margin):
    """Contacts with a gap of at most margin[a] + margin[b]: scan.n_contacts of them.

    x (ng, dim), R (ng, dim, dim): poses of the geoms; margin (ng,) [m]. Ordered by pair of kinds,
    then by geoms (a, b), then as the pair's kernel orders them.
    -> DONE, or a code that ``Detector.serve`` serves before the call is repeated.
    """
    lower, upper = scan.lower, scan.upper
    if scan.stage == BOXES:
        scan.bad = call(
            scan.at_bound,
            (scan.order[: lower.shape[0]], posed(scan, x, R), margin, lower, upper),
        )
        if scan.bad >= 0:
            return NOT_FINITE
        if scan.method == ASK:
            return BROAD
        scan.stage = TEST
        if scan.method == KEPT and call(scan.at_hold, (scan.keep, lower, upper)) == 0:
            scan.stage = RENEW
    if scan.stage == RENEW:
        if call(scan.at_anew, (scan.keep, lower, upper)) != 0:
            return BROAD
        scan.stage = TEST
    if scan.stage == TEST:
        if call(scan.at_meet, (scan,)) > scan.found.size:
            return ROOM_PAIRS
        scan.stage = FLAT
    if scan.stage == FLAT:
        rest = scan.found[scan.n_overlaps :]
        flat = call(scan.at_reach, (scan.order, scan.radius, x, R, margin, lower, upper, rest))
        scan.n_found = scan.wanted = scan.n_overlaps + flat
        if flat > rest.size:
            return ROOM_PAIRS
        scan.stage = SORT
    if scan.stage == SORT:
        now = scan.now
        start, offset, keys = scan.start[1 - now], scan.offset[1 - now], scan.keys[1 - now]
        code = call(scan.at_split, (scan, margin))
        if code != DONE:
            return code
        new = (start, offset, keys, scan.cache[1 - now])
        old = (scan.start[now], scan.offset[now], scan.keys[now], scan.cache[now])
        same = call(scan.at_carry, (scan.width, *old, *new))
        scan.now = now if same == 1 else 1 - now
        scan.batch, scan.before, scan.stage = 0, 0, RUN
    return call(scan.at_run_all, (scan, x, R))


@stage
def posed(s, x, R):
    """The geoms at these poses."""
    return PosedGeoms(x, R, s.kind, s.first, s.numbers, s.first_int, s.ints)


@stage
def rows_of(s, at, end):
    """The rows at:end of the contacts."""
    return FoundContacts(
        s.which[at:end], s.point[at:end], s.normal[at:end], s.gap[at:end], s.feature[at:end]
    )


@stage
def meet_boxes(s):
    """Keys of the boxes that overlap into s.found; -> how much room that needs."""
    if s.method == EACH:
        n = s.lower.shape[0]
        s.wanted = n * (n - 1) // 2
        if s.wanted <= s.found.size:
            s.n_overlaps = all_pairs(s.lower, s.upper, s.found)
    else:
        candidates = s.keep.candidates[: s.keep.n_candidates]
        s.n_overlaps = overlapping(candidates, s.lower, s.upper, s.found)
        s.wanted = s.n_overlaps + 1
    return s.wanted


@stage
def sort_pairs(s, margin):
    """``split``, and whether there is what its batches need: the code of what is missing."""
    new = 1 - s.now
    start, offset, batches = s.start[new], s.offset[new], s.width.size
    split(
        s.geom, s.n_bodies, s.ignored, s.width, margin, s.found[: s.n_found], s.work, start, offset,
        s.keys[new], s.pairs, s.pair_margin,
    )  # fmt: skip
    contacts = 0
    for c in range(batches):
        if start[c] < start[c + 1] and s.pair_kernel[c] < 0:
            s.batch = c
            return NO_KERNEL
        contacts += (start[c + 1] - start[c]) * s.points[c]
    s.n_pairs, s.wanted = start[batches], offset[batches]
    if offset[batches] > s.cache.shape[1]:
        return ROOM_CACHE
    s.wanted = contacts
    return ROOM_CONTACTS if contacts > s.gap.size else DONE


@stage
def run_batches(scan, x, R):
    """The kernel of each pair of kinds, from batch scan.batch on; then the filter of meshes."""
    width, geoms = scan.width, posed(scan, x, R)
    start, offset, cache = scan.start[scan.now], scan.offset[scan.now], scan.cache[scan.now]
    for c in range(scan.batch, width.size):
        begin, end, at = start[c], start[c + 1], scan.before
        for m in range(10):
            scan.tally[c, m] = 0
        if begin == end:
            continue
        pairs = Pairs(
            scan.pairs[begin:end],
            scan.pair_margin[begin:end],
            cache[offset[c] : offset[c + 1]].reshape((end - begin, width[c])),
            scan.tally[c][:TESTED],
            scan.kernel_calls[c],
        )
        room = rows_of(scan, at, scan.gap.size)
        made = call(scan.pair_kernel[c], (pairs, geoms, room))
        if made < 0:
            scan.batch, scan.wanted = c, 2 * scan.gap.size
            return ROOM_CONTACTS
        scan.tally[c, TESTED], scan.tally[c, CONTACTS_FOUND] = end - begin, made
        for p in range(at, at + made):
            row = begin + scan.which[p]
            scan.geom_a[p], scan.geom_b[p] = scan.pairs[row, 0], scan.pairs[row, 1]
        scan.before = at + made
    made = scan.before
    if scan.tile.size > 0:
        geom_a, geom_b = scan.geom_a[:made], scan.geom_b[:made]
        all_made = rows_of(scan, 0, made)
        made = call(scan.at_mesh, (scan.tile, scan.bend, geoms, geom_a, geom_b, all_made))
    for c in range(width.size):
        for m in range(10):
            scan.total[c, m] += scan.tally[c, m]
    scan.n_contacts, scan.stage = made, BOXES
    scan.calls += 1
    return DONE


# ---- From boxes to batches of pairs: half-spaces, rules that drop pairs, and caches carried over.
#
# Geoms are counted here by their rank: sorted by kind, then by index; `order` gives the index of
# each rank. Kinds ascend with the rank and half-spaces come last, so of a pair i < j the first is
# A, and pairs in the order of their keys i << 32 | j are in the order of (a, b) in each batch.


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
