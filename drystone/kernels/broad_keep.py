"""Candidates found anew, or brought up to date: what ``still_good`` asked for, without Python."""

import math
from typing import Any, NamedTuple

from drystone.kernels._calls import call
from drystone.kernels._jit import kernel, stage
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


class Keep(NamedTuple):
    """Boxes made larger, and the work arrays of n boxes on grids of nl levels.

    count (8,): see ``broad_fat``. real (3,): typical width [m], steps that boxes are enlarged for,
    mean of what they move in a step over the typical width. address (11,): see above.
    fat_lower, fat_upper, was_lower (n, dim): the larger boxes, and where boxes were when motion
    was last measured; speed (n,) [m a step]; left, everyone (n,); marked (n,) bool.
    candidates, spare (room,): ascending keys, and work. The others as in ``broad_grid``.
    """

    count: Any
    real: Any
    address: Any
    fat_lower: Any
    fat_upper: Any
    was_lower: Any
    speed: Any
    left: Any
    everyone: Any
    marked: Any
    candidates: Any
    spare: Any
    level: Any
    cell: Any
    start: Any
    least: Any
    size: Any
    inverse: Any
    origin: Any
    cell_keys: Any
    order: Any
    spare_keys: Any
    spare_order: Any
    digits: Any
    sorted_lower: Any
    sorted_upper: Any
    pair_count: Any
    sample: Any


@stage
def renew(keep, lower, upper):
    """Candidates for boxes (n, dim) that ``still_good`` said no to.

    -> 0, or 1 if candidates and spare need room for count[WANTED]; then call again.
    """
    count, real, at = keep.count, keep.real, keep.address
    due = count[SPENT] > count[FEW] or count[AGE] >= count[SPAN]
    if count[AGE] > 0 and not due:
        return call(at[UPDATE], (keep, lower, upper))
    if count[AGE] > 0:  # else there was no room for the candidates of these larger boxes
        if count[SPAN] == 0:
            # how boxes move is not known yet: room for 5 % of a width, and a look soon
            real[TYPICAL] = typical_width(lower, upper, keep.sample)
            measure_motion(lower, count[AGE], real[TYPICAL], keep.was_lower, keep.speed)
            for i in range(keep.speed.size):
                keep.speed[i] = 0.05 * real[TYPICAL] / FIRST
            count[SPAN], real[REACH], real[MOTION] = FIRST, FIRST, math.inf
        else:
            r = measure_motion(lower, count[AGE], real[TYPICAL], keep.was_lower, keep.speed)
            real[MOTION] = r
            count[SPAN] = best_span(r)
            real[REACH] = AHEAD * count[SPAN]
        count[AGE], count[SPENT] = 0, count[FEW] + 1  # not good until there are candidates
        count[REBUILDS] += 1
        fat = (keep.speed, keep.fat_lower, keep.fat_upper)
        call(at[ENLARGE], (lower, upper, keep.everyone, PART, real[TYPICAL], real[REACH], *fat))
    return call(at[REBUILD], (keep,))


@kernel
def best_span(r):
    """As many steps as cost least, if boxes move r widths per step.

    There are about (1 + 2 r t)^3 candidates for t steps; finding one costs ten times as much as
    testing it, so a step costs (1 + 2 r t)^3 (1 + 10 / t); where the derivative is zero,
    6 r t^2 + 40 r t = 10.
    """
    span = (math.sqrt(1600.0 + 240.0 / max(r, 1e-9)) - 40.0) / 12.0
    return int(min(max(span, 2.0), float(LAST)))


@stage
def update(keep, lower, upper):
    """The few boxes that left are compared with all; otherwise as ``renew``."""
    count, real, at, spare = keep.count, keep.real, keep.address, keep.spare
    which = keep.left[: count[LEFT]]
    for p in range(which.size):
        i = which[p]
        far = 0.0
        for k in range(lower.shape[1]):
            far = max(far, abs(lower[i, k] - keep.was_lower[i, k]))
        keep.speed[i] = max(keep.speed[i], far / count[AGE])
        keep.marked[i] = True
    fat = (keep.fat_lower, keep.fat_upper)
    call(at[ENLARGE], (lower, upper, which, PART, real[TYPICAL], real[REACH], keep.speed, *fat))
    known = count[CANDIDATES]
    found = call(at[MEET], (which, keep.marked, *fat, spare))
    enough = found + known + found <= spare.size and known + found <= keep.candidates.size
    if enough:
        work = spare[found : found + found]
        call(at[SORT], (spare[:found], work, keep.pair_count))
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
    lower, upper, inverse = keep.fat_lower, keep.fat_upper, keep.inverse
    n, dim = lower.shape
    width = typical_width(lower, upper, keep.sample) * (1.0 + 2e-6)
    for m in range(inverse.size):
        inverse[m] = 2.0 ** (MIDDLE - m) / width
    inverse[inverse.size - 1] = 0.0
    for k in range(dim):
        keep.origin[k] = typical_place(lower, k, keep.sample)
    levels = (keep.start, keep.least, keep.size)
    call(at[PLACE], (lower, upper, keep.origin, inverse, keep.level, keep.cell, *levels))
    cells = (keep.cell_keys, keep.order)
    work = (keep.spare_keys, keep.spare_order, keep.digits)
    call(at[BY_CELL], (keep.level, keep.cell, *levels, *cells, *work))
    boxes = (keep.sorted_lower, keep.sorted_upper)
    call(at[COPY], (keep.order, lower, upper, *boxes))
    total = 0
    for m in range(inverse.size):
        begin, end = keep.start[m], keep.start[m + 1]
        if begin == end:
            continue
        row, layer = keep.size[m, 0], keep.size[m, 0] * keep.size[m, 1] if dim == 3 else 0
        total = call(at[LEVEL], (begin, end, row, layer, *cells, *boxes, found, total))
        if end < n:
            total = call(
                at[LARGER], (m, keep.origin, inverse, *levels, *cells, *boxes, found, total)
            )
    count[WANTED] = total
    if total > found.size or total > keep.spare.size:
        return 1
    count[CANDIDATES], count[SPENT] = total, 0
    return call(at[SORT], (found[:total], keep.spare[:total], keep.pair_count))


@kernel
def typical_width(lower, upper, sample):
    """Median of the greatest widths of some boxes; sample (SAMPLE,): work."""
    n, dim = lower.shape
    size = 0
    for i in range(0, n, 1 + n // SAMPLE):
        width = 0.0
        for k in range(dim):
            width = max(width, upper[i, k] - lower[i, k])
        sample[size] = width
        size += 1
    return max(median(sample, size), 1e-300) if size > 0 else 1.0


@kernel
def typical_place(lower, k, sample):
    """Median of the lower ends of some boxes along axis k; sample (SAMPLE,): work."""
    n = lower.shape[0]
    size = 0
    for i in range(0, n, 1 + n // SAMPLE):
        sample[size] = lower[i, k]
        size += 1
    return median(sample, size) if size > 0 else 0.0


@kernel
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
