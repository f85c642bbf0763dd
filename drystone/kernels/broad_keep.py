"""Candidates found anew, or brought up to date: what ``still_good`` asked for, without Python."""

import math
from typing import Any, NamedTuple

from drystone.kernels._calls import call
from drystone.kernels._jit import stage
from drystone.kernels.broad_fat import (
    AGE,
    CANDIDATES,
    FEW,
    LEFT,
    REBUILDS,
    SPAN,
    SPENT,
    WANTED,
    measure_motion,
)

SAMPLE = 1001  # boxes whose medians say what is typical; only speed depends on them
PART = 0.01  # of its width that a box is enlarged by even if it does not move
FIRST, LAST = 8, 128  # steps after which candidates are found anew, if nothing else asks for it
AHEAD = 1.5  # boxes may move faster than they did
MIDDLE = 10  # the level on which the typical box lies
TYPICAL, REACH, MOTION = range(3)  # places of Keep.real
# Places of Keep.address: kernels of broad_fat and broad_grid, and the ones below
ENLARGE, MEET, REPLACE, SORT, PLACE, BY_CELL, COPY, LEVEL, LARGER, REBUILD, UPDATE = range(11)


# Rows of Keep.boxes (5, n, dim): the larger boxes; where boxes were when motion was last measured;
# the larger ones sorted by cell
FAT_LOWER, FAT_UPPER, WAS_LOWER, SORTED_LOWER, SORTED_UPPER = range(5)
# Rows of Keep.rows (8, n + 1): boxes that left, all boxes, and those of ``broad_grid``
LEFT_ONES, EVERYONE, LEVELS, CELL_KEYS, ORDER, SPARE_KEYS, SPARE_ORDER, PAIR_COUNT = range(8)


class Keep(NamedTuple):
    """Boxes made larger, and the work arrays of n boxes on grids of nl levels.

    count (8,): see ``broad_fat``. real (3,): typical width [m], steps that boxes are enlarged for,
    mean of what they move in a step over the typical width. address (11,): see above.
    boxes, rows: see above; speed (n,) [m a step]; marked (n,) bool. candidates, spare (room,):
    ascending keys, and work. cell (n, 3), start (nl + 1,), reach (2, nl, 3): of ``broad_grid``;
    digits (radix.PLACES,), numbers (nl + 3 + SAMPLE,): work.
    """

    count: Any
    real: Any
    address: Any
    boxes: Any
    rows: Any
    speed: Any
    marked: Any
    candidates: Any
    spare: Any
    cell: Any
    start: Any
    reach: Any
    digits: Any
    numbers: Any


@stage
def renew(keep, lower, upper):
    """Candidates for boxes (n, dim) that ``still_good`` said no to.

    -> 0, or 1 if candidates and spare need room for count[WANTED]; then call again.
    """
    count, real, at, n = keep.count, keep.real, keep.address, lower.shape[0]
    was_lower = keep.boxes[WAS_LOWER]
    due = count[SPENT] > count[FEW] or count[AGE] >= count[SPAN]
    if count[AGE] > 0 and not due:
        return call(at[UPDATE], (keep, lower, upper))
    if count[AGE] > 0:  # else there was no room for the candidates of these larger boxes
        if count[SPAN] == 0:
            # how boxes move is not known yet: room for 5 % of a width, and a look soon
            real[TYPICAL] = typical_width(lower, upper, keep.numbers)
            measure_motion(lower, count[AGE], real[TYPICAL], was_lower, keep.speed)
            for i in range(keep.speed.size):
                keep.speed[i] = 0.05 * real[TYPICAL] / FIRST
            count[SPAN], real[REACH], real[MOTION] = FIRST, FIRST, math.inf
        else:
            r = measure_motion(lower, count[AGE], real[TYPICAL], was_lower, keep.speed)
            real[MOTION] = r
            count[SPAN] = best_span(r)
            real[REACH] = AHEAD * count[SPAN] if count[SPAN] > 1 else 0.0
        count[AGE], count[SPENT] = 0, count[FEW] + 1  # not good until there are candidates
        count[REBUILDS] += 1
        everyone = keep.rows[EVERYONE][:n]
        fat = (keep.speed, keep.boxes[FAT_LOWER], keep.boxes[FAT_UPPER])
        call(at[ENLARGE], (lower, upper, everyone, PART, real[TYPICAL], real[REACH], *fat))
    return call(at[REBUILD], (keep,))


@stage
def best_span(r):
    """As many steps t as cost least, if boxes move r widths per step.

    Boxes enlarged for AHEAD t steps have about (1 + 2 AHEAD r t)^3 times as many candidates;
    finding one costs five times as much as testing it, so a step costs
    (1 + 3 r t)^3 (1 + 5 / t), least where 9 r t^2 + 30 r t = 5. Boxes that are not enlarged at
    all, and found anew at every step, cost 6.
    """
    t = (math.sqrt(900.0 + 180.0 / max(r, 1e-9)) - 30.0) / 18.0
    t = math.floor(min(max(t, 1.0), float(LAST)) + 0.5)
    cost = (1.0 + 2.0 * AHEAD * r * t) ** 3 * (1.0 + 5.0 / t)
    return int(t) if cost < 6.0 else 1


@stage
def update(keep, lower, upper):
    """The few boxes that left are compared with all; otherwise as ``renew``."""
    count, real, at, spare = keep.count, keep.real, keep.address, keep.spare
    which, was_lower = keep.rows[LEFT_ONES][: count[LEFT]], keep.boxes[WAS_LOWER]
    for p in range(which.size):
        i = which[p]
        far = 0.0
        for k in range(lower.shape[1]):
            far = max(far, abs(lower[i, k] - was_lower[i, k]))
        keep.speed[i] = max(keep.speed[i], far / count[AGE])
        keep.marked[i] = True
    fat = (keep.boxes[FAT_LOWER], keep.boxes[FAT_UPPER])
    call(at[ENLARGE], (lower, upper, which, PART, real[TYPICAL], real[REACH], keep.speed, *fat))
    known = count[CANDIDATES]
    found = call(at[MEET], (which, keep.marked, *fat, spare))
    enough = found + known + found <= spare.size and known + found <= keep.candidates.size
    if enough:
        work = spare[found : found + found]
        call(at[SORT], (spare[:found], work, keep.rows[PAIR_COUNT]))
        rest = spare[found:]
        old = keep.candidates[:known]
        size = call(at[REPLACE], (old, keep.marked, spare[:found], rest))
        for p in range(size):
            keep.candidates[p] = rest[p]
        count[CANDIDATES] = size
    for p in range(which.size):
        keep.marked[which[p]] = False
    count[WANTED] = known + 2 * found
    if not enough:
        count[SPENT] = count[FEW] + 1  # boxes are larger, candidates are not: find all anew
    return 0 if enough else 1


@stage
def rebuild(keep):
    """All pairs of larger boxes that overlap, ascending; otherwise as ``renew``."""
    count, at, found = keep.count, keep.address, keep.candidates
    lower, upper = keep.boxes[FAT_LOWER], keep.boxes[FAT_UPPER]
    n, dim = lower.shape
    levels = keep.start.size - 1
    inverse, origin = keep.numbers[:levels], keep.numbers[levels : levels + 3]
    sample = keep.numbers[levels + 3 :]
    width = typical_width(lower, upper, sample) * (1.0 + 2e-6)
    for m in range(levels):
        inverse[m] = 2.0 ** (MIDDLE - m) / width
    inverse[levels - 1] = 0.0
    for k in range(dim):
        origin[k] = typical_place(lower, k, sample)
    level, size = keep.rows[LEVELS][:n], keep.reach[1]
    spans = (keep.start, keep.reach[0], size)
    call(at[PLACE], (lower, upper, origin, inverse, level, keep.cell, *spans))
    cells = (keep.rows[CELL_KEYS][:n], keep.rows[ORDER][:n])
    work = (keep.rows[SPARE_KEYS][:n], keep.rows[SPARE_ORDER][:n], keep.digits)
    call(at[BY_CELL], (level, keep.cell, *spans, *cells, *work))
    boxes = (keep.boxes[SORTED_LOWER], keep.boxes[SORTED_UPPER])
    call(at[COPY], (cells[1], lower, upper, *boxes))
    total = 0
    for m in range(levels):
        begin, end = keep.start[m], keep.start[m + 1]
        if begin == end:
            continue
        row, layer = size[m, 0], size[m, 0] * size[m, 1] if dim == 3 else 0
        total = call(at[LEVEL], (begin, end, row, layer, *cells, *boxes, found, total))
        if end < n:
            total = call(at[LARGER], (m, origin, inverse, *spans, *cells, *boxes, found, total))
    count[WANTED] = total
    if total > found.size or total > keep.spare.size:
        return 1
    count[CANDIDATES], count[SPENT] = total, 0
    return call(at[SORT], (found[:total], keep.spare[:total], keep.rows[PAIR_COUNT]))


@stage
def typical_width(lower, upper, sample):
    """Median of the greatest widths of some boxes, or a little if most have none.

    sample (SAMPLE,): work.
    """
    n, dim = lower.shape
    size, widest = 0, 1e-300
    for i in range(0, n, 1 + n // SAMPLE):
        width = 0.0
        for k in range(dim):
            width = max(width, upper[i, k] - lower[i, k])
        sample[size] = width
        size += 1
        widest = max(widest, width)
    return max(median(sample, size), 1e-6 * widest, 1e-300) if size > 0 else 1.0


@stage
def typical_place(lower, k, sample):
    """Median of the lower ends of some boxes along axis k; sample (SAMPLE,): work."""
    n = lower.shape[0]
    size = 0
    for i in range(0, n, 1 + n // SAMPLE):
        sample[size] = lower[i, k]
        size += 1
    return median(sample, size) if size > 0 else 0.0


@stage
def median(sample, size):
    """Middle one of the first numbers, whose order is changed: Hoare's selection."""
    low, high, middle = 0, size - 1, size // 2
    while low < high:
        pivot = sample[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while sample[i] < pivot:
                i += 1
            while sample[j] > pivot:
                j -= 1
            if i <= j:
                sample[i], sample[j] = sample[j], sample[i]
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            break
    return sample[middle]
