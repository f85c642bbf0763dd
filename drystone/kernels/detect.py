"""Collision detection in one call without Python: from the poses of geoms to their contacts.

Boxes -> pairs of boxes that overlap -> geoms near half-spaces -> rules -> caches -> one kernel
for each pair of kinds, called by address. Where something is missing (room, a kernel that is not
loaded, candidates that must be found anew) ``detect`` returns a code; who called it lets
``Detector.help`` see to it, and calls again with the same poses: it goes on where it stopped.
"""

from drystone.kernels._calls import call
from drystone.kernels._jit import stage
from drystone.kernels.broad_fat import overlapping
from drystone.kernels.broad_pairs import all_pairs, split
from drystone.kernels.pairs import FoundContacts, Pairs, PosedGeoms

# Codes of ``detect``
DONE, NOT_FINITE, BROAD, ROOM_PAIRS, ROOM_CACHE, ROOM_CONTACTS, NO_KERNEL = range(7)
BOXES, RENEW, TEST, FLAT, SORT, RUN = range(6)  # values of stage: what is done next
# Values of method: each box with each; candidates that are kept; whatever BROAD's answer is
EACH, KEPT, ASK = range(3)
TESTED, CONTACTS_FOUND = 8, 9  # columns of Scan.tally behind the eight counters of a pair kernel


@stage
def detect(scan, x, R, margin):
    """Contacts with a gap of at most margin[a] + margin[b]: scan.s.n_contacts of them.

    x (ng, dim), R (ng, dim, dim): poses of the geoms; margin (ng,) [m]. Ordered by pair of kinds,
    then by geoms (a, b), then as the pair's kernel orders them.
    -> DONE, or a code that ``Detector.help`` sees to before the call is repeated.
    """
    s, lower, upper = scan, scan.lower, scan.upper
    if s.stage == BOXES:
        s.bad = call(
            s.at_bound,
            (s.order[: lower.shape[0]], posed(s, x, R), margin, lower, upper),
        )
        if s.bad >= 0:
            return NOT_FINITE
        if s.method == ASK:
            return BROAD
        s.stage = TEST
        if s.method == KEPT and call(s.at_hold, (s.keep, lower, upper)) == 0:
            s.stage = RENEW
    if s.stage == RENEW:
        if call(s.at_anew, (s.keep, lower, upper)) != 0:
            return BROAD
        s.stage = TEST
    if s.stage == TEST:
        if call(s.at_meet, (s,)) > s.found.size:
            return ROOM_PAIRS
        s.stage = FLAT
    if s.stage == FLAT:
        rest = s.found[s.n_overlaps :]
        flat = call(s.at_reach, (s.order, s.radius, x, R, margin, lower, upper, rest))
        s.n_found = s.wanted = s.n_overlaps + flat
        if flat > rest.size:
            return ROOM_PAIRS
        s.stage = SORT
    if s.stage == SORT:
        now = s.now
        start, offset, keys = s.start[1 - now], s.offset[1 - now], s.keys[1 - now]
        code = call(s.at_split, (s, margin))
        if code != DONE:
            return code
        new = (start, offset, keys, s.cache[1 - now])
        old = (s.start[now], s.offset[now], s.keys[now], s.cache[now])
        same = call(s.at_carry, (s.width, *old, *new))
        s.now = now if same == 1 else 1 - now
        s.batch, s.before, s.stage = 0, 0, RUN
    return call(s.at_run_all, (scan, x, R))


@stage
def posed(s, x, R):
    """The geoms at these poses."""
    return PosedGeoms(x, R, s.kind, s.first, s.numbers, s.first_int, s.ints)


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
    """The kernel of each pair of kinds, from batch s.batch on; then the filter of meshes."""
    s, width, geoms = scan, scan.width, posed(scan, x, R)
    start, offset, cache = s.start[s.now], s.offset[s.now], s.cache[s.now]
    for c in range(s.batch, width.size):
        begin, end, at = start[c], start[c + 1], s.before
        for m in range(10):
            s.tally[c, m] = 0
        if begin == end:
            continue
        pairs = Pairs(
            s.pairs[begin:end],
            s.pair_margin[begin:end],
            cache[offset[c] : offset[c + 1]].reshape((end - begin, width[c])),
            s.tally[c][:TESTED],
            s.kernel_calls[c],
        )
        room = FoundContacts(s.which[at:], s.point[at:], s.normal[at:], s.gap[at:], s.feature[at:])
        made = call(s.pair_kernel[c], (pairs, geoms, room))
        if made < 0:
            s.batch, s.wanted = c, 2 * s.gap.size
            return ROOM_CONTACTS
        s.tally[c, TESTED], s.tally[c, CONTACTS_FOUND] = end - begin, made
        for p in range(at, at + made):
            row = begin + s.which[p]
            s.geom_a[p], s.geom_b[p] = s.pairs[row, 0], s.pairs[row, 1]
        s.before = at + made
    made = s.before
    if s.tile.size > 0:
        all_made = FoundContacts(
            s.which[:made], s.point[:made], s.normal[:made], s.gap[:made], s.feature[:made]
        )
        geom_a, geom_b = s.geom_a[:made], s.geom_b[:made]
        made = call(s.at_mesh, (s.tile, s.bend, geoms, geom_a, geom_b, all_made))
    for c in range(width.size):
        for m in range(10):
            s.total[c, m] += s.tally[c, m]
    s.n_contacts, s.stage = made, BOXES
    s.calls += 1
    return DONE
