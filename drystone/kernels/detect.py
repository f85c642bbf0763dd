"""Collision detection in one call without Python: from the poses of geoms to their contacts.

Boxes -> pairs of boxes that overlap -> geoms near half-spaces -> rules -> caches -> one kernel
for each pair of kinds, called by address. Where something is missing (room, a kernel that is not
loaded, candidates that must be found anew) ``detect`` returns a code; who called it lets
``Detector.help`` see to it, and calls again with the same poses: it goes on where it stopped.
"""

from typing import Any, NamedTuple

from drystone.kernels._calls import call
from drystone.kernels._jit import stage
from drystone.kernels.broad_fat import CANDIDATES, overlapping
from drystone.kernels.broad_keep import FAT_LOWER, FAT_UPPER, LEFT_ONES
from drystone.kernels.broad_pairs import all_pairs, split

# Codes of ``detect``
DONE, NOT_FINITE, BROAD, ROOM_PAIRS, ROOM_CACHE, ROOM_CONTACTS, NO_KERNEL = range(7)
# Places of Scan.count: contacts found, where to go on, pairs after the rules, keys of boxes that
# overlap, those with half-spaces too, the cache in use, the batch that is due and the contacts
# before it, what there is no room for, a geom that is not finite, calls so far, how pairs of
# boxes are found, bodies
(
    CONTACTS, STAGE, PAIRS, OVERLAPS, FOUND, NOW, BATCH, BEFORE, WANTED, BAD, CALLS, METHOD, BODIES,
) = range(13)  # fmt: skip
BOXES, RENEW, TEST, FLAT, SORT, RUN = range(6)  # values of STAGE: what is done next
# Values of METHOD: each box with each; candidates that are kept; whatever BROAD's answer is
EACH, KEPT, ASK = range(3)
TESTED, MADE = 8, 9  # columns of Scan.tally behind the eight counters of a pair kernel
# Places of Scan.address: the parts below; from PAIR on, the kernel of each pair of kinds
BOUND, HOLD, ANEW, MEET, REACH, SPLIT, CARRY, RUN_ALL, MESH, PAIR = range(10)


class Scan(NamedTuple):
    """What detection reads, remembers and writes. Arrays of ng geoms, n of them bounded, nk
    kinds, np pairs and nc contacts at most (``Detector`` makes room). Names as in ``Ranking``,
    ``Geoms`` and the contract of pair kernels; keep: of ``broad_keep``.

    count (13,): see above. address (PAIR + nk^2,): of the parts, and of the kernels of pairs (-1:
    not loaded); points (nk^2,): contacts for which a pair needs room at first; general (nk^2, 2):
    the kinds of a pair that support maps answer for, else -1; parts (3,): addresses that these
    need; width (nk^2,): columns of each cache.
    start, offset (2, nk^2 + 1), keys (2, np), cache (2, room): rows of pairs and their caches, of
    this step and of the last one, see ``carry``. tally, total (nk^2, 10): counters of the last
    call and of all. geom_a, geom_b, point, normal, gap, feature (nc, ...): the contacts.
    x (ng, dim), R (ng, dim, dim), margin (ng,): a place for poses and margins, for who wants one.
    """

    count: Any
    kind: Any
    first: Any
    numbers: Any
    first_int: Any
    ints: Any
    radius: Any
    tile: Any
    bend: Any
    order: Any
    geom: Any
    ignored: Any
    lower: Any
    upper: Any
    keep: Any
    found: Any
    work: Any
    pairs: Any
    pair_margin: Any
    address: Any
    points: Any
    general: Any
    parts: Any
    width: Any
    start: Any
    offset: Any
    keys: Any
    cache: Any
    tally: Any
    total: Any
    which: Any
    geom_a: Any
    geom_b: Any
    point: Any
    normal: Any
    gap: Any
    feature: Any
    x: Any
    R: Any
    margin: Any


@stage
def detect(scan, x, R, margin):
    """Contacts with a gap of at most margin[a] + margin[b]: scan.count[CONTACTS] of them.

    x (ng, dim), R (ng, dim, dim): poses of the geoms; margin (ng,) [m]. Ordered by pair of kinds,
    then by geoms (a, b), then as the pair's kernel orders them.
    -> DONE, or a code that ``Detector.help`` sees to before the call is repeated.
    """
    s, count, at, lower, upper = scan, scan.count, scan.address, scan.lower, scan.upper
    if count[STAGE] == BOXES:
        count[BAD] = call(
            at[BOUND],
            (s.order[: lower.shape[0]], s.kind, x, R, s.first, s.numbers, s.first_int, s.ints,
             margin, lower, upper),
        )  # fmt: skip
        if count[BAD] >= 0:
            return NOT_FINITE
        if count[METHOD] == ASK:
            return BROAD
        count[STAGE] = TEST
        k = s.keep
        fat = (k.boxes[FAT_LOWER], k.boxes[FAT_UPPER], k.rows[LEFT_ONES], k.count)
        if count[METHOD] == KEPT and call(at[HOLD], (lower, upper, *fat)) == 0:
            count[STAGE] = RENEW
    if count[STAGE] == RENEW:
        if call(at[ANEW], (s.keep, lower, upper)) != 0:
            return BROAD
        count[STAGE] = TEST
    if count[STAGE] == TEST:
        if (
            call(at[MEET], (count, s.keep.count, s.keep.candidates, lower, upper, s.found))
            > s.found.size
        ):
            return ROOM_PAIRS
        count[STAGE] = FLAT
    if count[STAGE] == FLAT:
        rest = s.found[count[OVERLAPS] :]
        flat = call(at[REACH], (s.order, s.radius, x, R, margin, lower, upper, rest))
        count[FOUND] = count[WANTED] = count[OVERLAPS] + flat
        if flat > rest.size:
            return ROOM_PAIRS
        count[STAGE] = SORT
    if count[STAGE] == SORT:
        now = count[NOW]
        start, offset, keys = s.start[1 - now], s.offset[1 - now], s.keys[1 - now]
        code = call(
            at[SPLIT],
            (s.geom, s.ignored, s.width, s.points, margin, s.found, s.work, start, offset, keys,
             s.pairs, s.pair_margin, at[PAIR:], s.cache.shape[1], s.gap.size, count),
        )  # fmt: skip
        if code != DONE:
            return code
        new = (start, offset, keys, s.cache[1 - now])
        old = (s.start[now], s.offset[now], s.keys[now], s.cache[now])
        same = call(at[CARRY], (s.width, *old, *new))
        count[NOW] = now if same == 1 else 1 - now
        count[BATCH], count[BEFORE], count[STAGE] = 0, 0, RUN
    return call(at[RUN_ALL], (scan, x, R))


@stage
def meet_boxes(count, kept, candidates, lower, upper, found):
    """Keys of the boxes that overlap into found; -> how much room that needs."""
    if count[METHOD] == EACH:
        n = lower.shape[0]
        count[WANTED] = n * (n - 1) // 2
        if count[WANTED] <= found.size:
            count[OVERLAPS] = all_pairs(lower, upper, found)
    else:
        count[OVERLAPS] = overlapping(candidates[: kept[CANDIDATES]], lower, upper, found)
        count[WANTED] = count[OVERLAPS] + 1
    return count[WANTED]


@stage
def sort_pairs(
    geom, ignored, width, points, margin, found, work, start, offset, keys, pairs, pair_margin,
    address, cache_room, contact_room, count,
):  # fmt: skip
    """``split``, and whether there is what its batches need: the code of what is missing."""
    found = found[: count[FOUND]]
    split(
        geom, count[BODIES], ignored, width, margin, found, work, start, offset, keys, pairs,
        pair_margin,
    )  # fmt: skip
    contacts = 0
    for c in range(width.size):
        if start[c] < start[c + 1] and address[c] < 0:
            count[BATCH] = c
            return NO_KERNEL
        contacts += (start[c + 1] - start[c]) * points[c]
    count[PAIRS], count[WANTED] = start[width.size], offset[width.size]
    if offset[width.size] > cache_room:
        return ROOM_CACHE
    count[WANTED] = contacts
    return ROOM_CONTACTS if contacts > contact_room else DONE


@stage
def run_batches(scan, x, R):
    """The kernel of each pair of kinds, from batch count[BATCH] on; then the filter of meshes."""
    s, count, width = scan, scan.count, scan.width
    start, offset, cache = s.start[count[NOW]], s.offset[count[NOW]], s.cache[count[NOW]]
    for c in range(count[BATCH], width.size):
        begin, end, at = start[c], start[c + 1], count[BEFORE]
        for m in range(10):
            s.tally[c, m] = 0
        if begin == end:
            continue
        args = (
            s.pairs[begin:end], s.pair_margin[begin:end], x, R, s.first, s.numbers, s.first_int,
            s.ints, cache[offset[c] : offset[c + 1]].reshape((end - begin, width[c])),
            s.which[at:], s.point[at:], s.normal[at:], s.gap[at:], s.feature[at:],
            s.tally[c][:TESTED],
        )  # fmt: skip
        if s.general[c, 0] < 0:
            made = call(s.address[PAIR + c], args)
        else:
            made = call(s.address[PAIR + c], (s.parts, s.general[c, 0], s.general[c, 1], *args))
        if made < 0:
            count[BATCH], count[WANTED] = c, 2 * s.gap.size
            return ROOM_CONTACTS
        s.tally[c, TESTED], s.tally[c, MADE] = end - begin, made
        for p in range(at, at + made):
            row = begin + s.which[p]
            s.geom_a[p], s.geom_b[p] = s.pairs[row, 0], s.pairs[row, 1]
        count[BEFORE] = at + made
    made = count[BEFORE]
    if s.tile.size > 0:
        made = call(
            s.address[MESH],
            (s.tile, s.bend, x, R, s.first, s.numbers, s.geom_a[:made], s.geom_b[:made],
             s.point[:made], s.normal[:made], s.gap[:made], s.feature[:made]),
        )  # fmt: skip
    for c in range(width.size):
        for m in range(10):
            s.total[c, m] += s.tally[c, m]
    count[CONTACTS], count[STAGE] = made, BOXES
    count[CALLS] += 1
    return DONE
