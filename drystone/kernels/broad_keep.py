"""Candidates found anew, or brought up to date: what ``still_good`` asked for, without Python."""

import math

from drystone.kernels._calls import call
from drystone.kernels._jit import stage
from drystone.kernels.broad_fat import measure_motion

SAMPLE = 1001  # boxes whose medians say what is typical; only speed depends on them
ENLARGED_BY = 0.01  # of its width that a box is enlarged by even if it does not move
# steps after which candidates are found anew, if nothing else asks for it
SHORTEST_INTERVAL, LONGEST_INTERVAL = 8, 128
SPEED_RESERVE = 1.5  # boxes may move faster than they did
MIDDLE = 10  # the level on which the typical box lies


@stage
def renew(keep, lower, upper):
    """Candidates for boxes (n, dim) that ``still_good`` said no to.

    -> 0, or 1 if candidates and spare need room for keep.wanted; then call again.
    """
    n, was_lower = lower.shape[0], keep.was_lower
    due = keep.spent > keep.few or keep.age >= keep.span
    if keep.age > 0 and not due:
        return call(keep.at_update, (keep, lower, upper))
    if keep.age > 0:  # else there was no room for the candidates of these larger boxes
        if keep.span == 0:
            # how boxes move is not known yet: room for 5 % of a width, and a look soon
            keep.typical = typical_width(lower, upper, keep.numbers)
            measure_motion(lower, keep.age, keep.typical, was_lower, keep.speed)
            for i in range(keep.speed.size):
                keep.speed[i] = 0.05 * keep.typical / SHORTEST_INTERVAL
            keep.span = keep.reach_steps = SHORTEST_INTERVAL
            keep.motion = math.inf
        else:
            r = measure_motion(lower, keep.age, keep.typical, was_lower, keep.speed)
            keep.motion = r
            keep.span = best_span(r)
            keep.reach_steps = SPEED_RESERVE * keep.span if keep.span > 1 else 0.0
        keep.age, keep.spent = 0, keep.few + 1  # not good until there are candidates
        keep.rebuilds += 1
        everyone = keep.everyone[:n]
        fat = (keep.speed, keep.fat_lower, keep.fat_upper)
        call(
            keep.at_enlarge,
            (lower, upper, everyone, ENLARGED_BY, keep.typical, keep.reach_steps, *fat),
        )
    return call(keep.at_rebuild, (keep,))


@stage
def best_span(r):
    """As many steps t as cost least, if boxes move r widths per step.

    Boxes enlarged for k = SPEED_RESERVE t steps have about (1 + 2 k r)^3 times as many candidates;
    finding one costs five times as much as testing it, so a step costs
    (1 + 3 r t)^3 (1 + 5 / t), least where 9 r t^2 + 30 r t = 5. Boxes that are not enlarged at
    all, and found anew at every step, cost 6.
    """
    t = (math.sqrt(900.0 + 180.0 / max(r, 1e-9)) - 30.0) / 18.0
    t = math.floor(min(max(t, 1.0), float(LONGEST_INTERVAL)) + 0.5)
    cost = (1.0 + 2.0 * SPEED_RESERVE * r * t) ** 3 * (1.0 + 5.0 / t)
    return int(t) if cost < 6.0 else 1


@stage
def update(keep, lower, upper):
    """The few boxes that left are compared with all; otherwise as ``renew``."""
    spare = keep.spare
    which, was_lower = keep.left_ones[: keep.left], keep.was_lower
    for p in range(which.size):
        i = which[p]
        far = 0.0
        for k in range(lower.shape[1]):
            far = max(far, abs(lower[i, k] - was_lower[i, k]))
        keep.speed[i] = max(keep.speed[i], far / keep.age)
        keep.marked[i] = True
    fat = (keep.fat_lower, keep.fat_upper)
    call(
        keep.at_enlarge,
        (lower, upper, which, ENLARGED_BY, keep.typical, keep.reach_steps, keep.speed, *fat),
    )
    known = keep.n_candidates
    found = call(keep.at_meet, (which, keep.marked, *fat, spare))
    enough = found + known + found <= spare.size and known + found <= keep.candidates.size
    if enough:
        work = spare[found : found + found]
        call(keep.at_sort, (spare[:found], work, keep.pair_count))
        rest = spare[found:]
        old = keep.candidates[:known]
        size = call(keep.at_replace, (old, keep.marked, spare[:found], rest))
        for p in range(size):
            keep.candidates[p] = rest[p]
        keep.n_candidates = size
    for p in range(which.size):
        keep.marked[which[p]] = False
    keep.wanted = known + 2 * found
    if not enough:
        keep.spent = keep.few + 1  # boxes are larger, candidates are not: find all anew
    return 0 if enough else 1


@stage
def rebuild(keep):
    """All pairs of larger boxes that overlap, ascending; otherwise as ``renew``."""
    found = keep.candidates
    lower, upper = keep.fat_lower, keep.fat_upper
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
    level, size = keep.levels[:n], keep.reach[1]
    spans = (keep.start, keep.reach[0], size)
    call(keep.at_place, (lower, upper, origin, inverse, level, keep.cell, *spans))
    cells = (keep.cell_keys[:n], keep.order[:n])
    work = (keep.spare_keys[:n], keep.spare_order[:n], keep.digits)
    call(keep.at_by_cell, (level, keep.cell, *spans, *cells, *work))
    boxes = (keep.sorted_lower, keep.sorted_upper)
    call(keep.at_copy, (cells[1], lower, upper, *boxes))
    total = 0
    for m in range(levels):
        begin, end = keep.start[m], keep.start[m + 1]
        if begin == end:
            continue
        row, layer = size[m, 0], size[m, 0] * size[m, 1] if dim == 3 else 0
        total = call(keep.at_level, (begin, end, row, layer, *cells, *boxes, found, total))
        if end < n:
            total = call(keep.at_larger, (m, origin, inverse, *spans, *cells, *boxes, found, total))
    keep.wanted = total
    if total > found.size or total > keep.spare.size:
        return 1
    keep.n_candidates, keep.spent = total, 0
    return call(keep.at_sort, (found[:total], keep.spare[:total], keep.pair_count))


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
