"""Pairs of boxes that overlap: each with each, by sorted lists of ends, and by grids of all sizes
with candidates that are kept for some steps. A pair i < j is the number i << 32 | j.
"""

import math

from drystone.kernels._calls import call
from drystone.kernels._jit import kernel, stage
from drystone.kernels.radix import lower_bound, sort_by_keys


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


# ---- Sorted lists of the ends of boxes, kept from step to step (Baraff 1992, 5.3).
#
# An end is coded c: the lower end of box c if c < n, else the upper end of box c - n. Lists are
# ordered by value, lower ends before upper ones of the same value, so that boxes which touch
# overlap.


@kernel
def sort_ends(lower, upper, most_swaps, was_lower, was_upper, order, value, toggled, count):
    """Insertion sort of every list; a swap of a lower with an upper end may change a pair.

    lower, upper (n, dim): boxes now; was_lower, was_upper: at the last call, renewed here.
    order, value (dim, 2 n): the lists; toggled (room,): pairs that came or went, some of them
        once for every axis.
    count (3,): out: swaps, rows of toggled, swaps of a lower with an upper end.
    -> 0, or 1 if the lists are of no use any more: too many swaps, or no room for the pairs.
    """
    n, dim = lower.shape
    swaps, meetings, changes = 0, 0, 0
    for k in range(dim):
        for p in range(2 * n):
            c = order[k, p]
            v = lower[c, k] if c < n else upper[c - n, k]
            q = p
            while q > 0:
                w, d = value[k, q - 1], order[k, q - 1]
                if not (w > v or (w == v and c < n and d >= n)):
                    break
                value[k, q], order[k, q] = w, d
                q -= 1
                swaps += 1
                if (c < n) == (d < n):
                    continue
                meetings += 1
                i, j = (c, d - n) if c < n else (d, c - n)
                # a lower end below an upper one: together now? the reverse: together before?
                changed = True
                for m in range(dim):
                    if c < n:
                        changed &= lower[i, m] <= upper[j, m] and lower[j, m] <= upper[i, m]
                    else:
                        changed &= was_lower[i, m] <= was_upper[j, m]
                        changed &= was_lower[j, m] <= was_upper[i, m]
                if changed:
                    if changes == toggled.size:
                        return 1
                    toggled[changes] = (min(i, j) << 32) | max(i, j)
                    changes += 1
            value[k, q], order[k, q] = v, c
            if swaps > most_swaps:
                return 1
    for i in range(n):
        for k in range(dim):
            was_lower[i, k], was_upper[i, k] = lower[i, k], upper[i, k]
    count[0], count[1], count[2] = swaps, changes, meetings
    return 0


@kernel
def toggle(keys, toggled, out):
    """Symmetric difference of two ascending lists, the second with repetitions; -> its length."""
    p, q, size = 0, 0, 0
    while p < keys.size or q < toggled.size:
        if q > 0 and q < toggled.size and toggled[q] == toggled[q - 1]:
            q += 1
        elif q == toggled.size or (p < keys.size and keys[p] < toggled[q]):
            out[size] = keys[p]
            size += 1
            p += 1
        elif p == keys.size or toggled[q] < keys[p]:
            out[size] = toggled[q]
            size += 1
            q += 1
        else:
            p += 1
            q += 1
    return size


@kernel
def sweep(lower, upper, order, active, place, keys):
    """Pairs that overlap, from one sorted list of ends and the boxes open at each of them.

    order (2 n,): the list; active, place (n,): work; keys (room,): out, in no order.
    -> how many there are: if more than the room, only the first of them were written.
    """
    n, dim = lower.shape
    open_boxes, size = 0, 0
    for p in range(2 * n):
        c = order[p]
        if c >= n:  # the box ends: the last of the open ones takes its place
            open_boxes -= 1
            last = active[open_boxes]
            active[place[c - n]] = last
            place[last] = place[c - n]
            continue
        for a in range(open_boxes):
            d = active[a]
            together = True
            for m in range(dim):
                together &= lower[c, m] <= upper[d, m] and lower[d, m] <= upper[c, m]
            if together:
                if size < keys.size:
                    keys[size] = (min(c, d) << 32) | max(c, d)
                size += 1
        active[open_boxes] = c
        place[c] = open_boxes
        open_boxes += 1
    return size


# ---- Boxes that overlap, by a grid for every size of box (levels), in time linear in n and pairs.
#
# Level l has cells of width 1 / inverse[l], twice those of the level below; a box lies in the cell
# of its lower corner, on the finest level whose cells are wider than the box. So two boxes of one
# level can only overlap if their cells are neighbours; and a box looks for larger ones in at most
# three cells of each axis of their level. The last level has one cell, for boxes of any size.
# Cells of a level are sorted by their number, x fastest, so a row of cells is one stretch.

OUTERMOST_CELL = 524288.0  # cells from the origin: what lies beyond shares the outermost cell


@stage
def cell_of(v, origin, inverse):
    """Number of the cell along one axis: ascends with v, and by at most 1 over a box's width."""
    c = (v - origin) * inverse
    return math.floor(min(max(c, -OUTERMOST_CELL), OUTERMOST_CELL))


@stage
def place_boxes(lower, upper, origin, inverse, level, cell, start, least, size):
    """Level of every box, its cell there, and what range of cells each level has.

    level (n,), cell (n, 3): out; start (levels + 1,): out, boxes of each level, once sorted;
    least, size (levels, 3): out, lowest cell and number of cells, with an empty one at each end.
    """
    n, dim = lower.shape
    levels = inverse.size
    for m in range(levels):
        start[m + 1] = 0
        for k in range(3):
            least[m, k], size[m, k] = 1 << 40, -(1 << 40)
    start[0] = 0
    for i in range(n):
        width = 0.0
        for k in range(dim):
            width = max(width, upper[i, k] - lower[i, k])
        m = 0
        # a little room, so that rounding does not move a box by two cells
        while m < levels - 1 and width * inverse[m] > 1.0 - 1e-6:
            m += 1
        level[i] = m
        start[m + 1] += 1
        for k in range(3):
            c = cell_of(lower[i, k], origin[k], inverse[m]) if k < dim else 0
            cell[i, k] = c
            least[m, k] = min(least[m, k], c - 1)
            size[m, k] = max(size[m, k], c + 1)  # the highest, for now
    for m in range(levels):
        start[m + 1] += start[m]
        for k in range(3):
            size[m, k] = max(size[m, k] - least[m, k] + 1, 0)
    return 0


@stage
def sort_boxes(level, cell, start, least, size, keys, order, spare_keys, spare_order, count):
    """Sort boxes by level, then by the number of their cell: order (n,) and keys (n,).

    spare_keys, spare_order (n,), count: work of ``radix.sort_by_keys``.
    """
    levels = start.size - 1
    for m in range(levels):
        count[m] = start[m]
    for i in range(level.size):
        m = level[i]
        k = (cell[i, 2] - least[m, 2]) * size[m, 1] + cell[i, 1] - least[m, 1]
        at = count[m]
        count[m] += 1
        order[at], keys[at] = i, k * size[m, 0] + cell[i, 0] - least[m, 0]
    for m in range(levels):
        begin, end = start[m], start[m + 1]
        if end - begin < 2:
            continue
        most = size[m, 0] * size[m, 1] * size[m, 2]
        sort_by_keys(begin, end, most, keys, order, spare_keys, spare_order, count)
    return 0


@stage
def sort_boxes_by(order, lower, upper, sorted_lower, sorted_upper):
    """Copies of the boxes in this order: neighbours in space become neighbours in memory."""
    for p in range(order.size):
        for k in range(lower.shape[1]):
            sorted_lower[p, k] = lower[order[p], k]
            sorted_upper[p, k] = upper[order[p], k]
    return 0


@stage
def pairs_of_level(begin, end, row, layer, keys, order, lower, upper, found, count):
    """Pairs of boxes begin..end (sorted, of one level) that overlap; -> how many there are now.

    row, layer: steps of the cell's number to the next y and z (0: there is none); found (room,):
    out from place `count` on, as far as there is room.
    """
    dim = lower.shape[1]
    stretches = 5 if layer > 0 else 2
    for s in range(stretches):
        # the rest of this cell and the next one; next y; next z with y before, same, after
        step = 0 if s == 0 else row - 1 if s == 1 else layer + (s - 3) * row - 1
        q = begin
        for p in range(begin, end):
            first = keys[p] + step
            last = keys[p] + 1 if s == 0 else first + 2
            q = max(q, p + 1)
            while q < end and keys[q] < first:
                q += 1
            t = q
            while t < end and keys[t] <= last:
                together = True
                for k in range(dim):
                    together &= lower[p, k] <= upper[t, k] and lower[t, k] <= upper[p, k]
                if together:
                    if count < found.size:
                        i, j = order[p], order[t]
                        found[count] = (min(i, j) << 32) | max(i, j)
                    count += 1
                t += 1
    return count


@stage
def pairs_with_larger(
    m, origin, inverse, start, least, size, keys, order, lower, upper, found, count
):
    """Pairs of the boxes of level m with boxes of higher levels; otherwise as above."""
    dim = lower.shape[1]
    for p in range(start[m], start[m + 1]):
        for h in range(m + 1, inverse.size):
            if start[h] == start[h + 1]:
                continue
            y0, y1, z0, z1 = 1, 1, 1, 1
            x0 = max(cell_of(lower[p, 0], origin[0], inverse[h]) - 1 - least[h, 0], 0)
            x1 = min(cell_of(upper[p, 0], origin[0], inverse[h]) - least[h, 0], size[h, 0] - 1)
            y0 = max(cell_of(lower[p, 1], origin[1], inverse[h]) - 1 - least[h, 1], 0)
            y1 = min(cell_of(upper[p, 1], origin[1], inverse[h]) - least[h, 1], size[h, 1] - 1)
            if dim == 3:
                z0 = max(cell_of(lower[p, 2], origin[2], inverse[h]) - 1 - least[h, 2], 0)
                z1 = min(cell_of(upper[p, 2], origin[2], inverse[h]) - least[h, 2], size[h, 2] - 1)
            for z in range(z0, z1 + 1):
                for y in range(y0, y1 + 1):
                    first = (z * size[h, 1] + y) * size[h, 0] + x0
                    low = lower_bound(keys, start[h], start[h + 1], first)
                    while low < start[h + 1] and keys[low] <= first + x1 - x0:
                        together = x0 <= x1
                        for k in range(dim):
                            together &= lower[p, k] <= upper[low, k]
                            together &= lower[low, k] <= upper[p, k]
                        if together:
                            if count < found.size:
                                i, j = order[p], order[low]
                                found[count] = (min(i, j) << 32) | max(i, j)
                            count += 1
                        low += 1
    return count


# ---- Candidates that outlive a step: pairs of boxes made a little larger, tested again every step.
#
# As long as every box stays inside its larger box, only candidates can overlap.


@stage
def still_good(keep, lower, upper):
    """1 if the candidates are all that can overlap, else 0; counts this step."""
    keep.age += 1
    keep.left = find_left(lower, upper, keep.fat_lower, keep.fat_upper, keep.left_ones)
    keep.spent += keep.left
    good = keep.left == 0 and keep.spent <= keep.few and keep.age < keep.span
    return 1 if good else 0


@stage
def find_left(lower, upper, fat_lower, fat_upper, left):
    """left (n,): out, the boxes that are no longer inside their larger box; -> how many."""
    n, dim = lower.shape
    count = 0
    for i in range(n):
        inside = True
        for k in range(dim):
            inside &= lower[i, k] >= fat_lower[i, k] and upper[i, k] <= fat_upper[i, k]
        if not inside:
            left[count] = i
            count += 1
    return count


@stage
def measure_motion(lower, age, typical, was_lower, speed):
    """speed (n,): how far a box's lower corner went per step along any axis, in `age` steps.

    -> mean of what that is of the typical width (at most all of it); was_lower is renewed.
    """
    n, dim = lower.shape
    total = 0.0
    for i in range(n):
        far = 0.0
        for k in range(dim):
            far = max(far, abs(lower[i, k] - was_lower[i, k]))
            was_lower[i, k] = lower[i, k]
        speed[i] = far / age
        total += min(speed[i] / typical, 1.0)
    return total / max(n, 1)


@stage
def enlarge(lower, upper, which, part, typical, reach, speed, fat_lower, fat_upper):
    """Larger boxes of those in `which` (m,): by what they move in `reach` steps, and by a part of
    their width, or of the typical one if that is less."""
    dim = lower.shape[1]
    for p in range(which.size):
        i = which[p]
        width = 0.0
        for k in range(dim):
            width = max(width, upper[i, k] - lower[i, k])
        skin = part * min(width, typical) + reach * min(speed[i], typical)
        for k in range(dim):
            fat_lower[i, k], fat_upper[i, k] = lower[i, k] - skin, upper[i, k] + skin
    return 0


@stage
def overlapping(candidates, lower, upper, keys):
    """keys (room,): out, the candidates (i << 32 | j) whose boxes overlap, in their order.

    -> how many: keys are right if there is room for one more than that, at least.
    """
    dim = lower.shape[1]
    size, last = 0, keys.size - 1
    if last < 0:
        return candidates.size
    for p in range(candidates.size):
        i, j = candidates[p] >> 32, candidates[p] & 0xFFFFFFFF
        together = True
        for k in range(dim):
            together &= lower[i, k] <= upper[j, k] and lower[j, k] <= upper[i, k]
        keys[min(size, last)] = candidates[p]  # kept only if the next one does not overwrite it
        size += 1 if together else 0
    return size


@stage
def meet(which, marked, lower, upper, found):
    """Pairs of the boxes in `which` (marked, ascending) with all others that overlap.

    found (room,): out, as far as there is room, in no order; -> how many there are.
    """
    n, dim = lower.shape
    count = 0
    for p in range(which.size):
        i = which[p]
        for j in range(n):
            together = True
            for k in range(dim):
                together &= lower[i, k] <= upper[j, k] and lower[j, k] <= upper[i, k]
            if together and j != i and (i < j or not marked[j]):
                if count < found.size:
                    found[count] = (min(i, j) << 32) | max(i, j)
                count += 1
    return count


@stage
def replace(candidates, marked, found, out):
    """Candidates without those of marked boxes, merged with found; both ascend; -> how many."""
    size, q = 0, 0
    for p in range(candidates.size):
        key = candidates[p]
        if marked[key >> 32] or marked[key & 0xFFFFFFFF]:
            continue
        while q < found.size and found[q] < key:
            out[size] = found[q]
            size += 1
            q += 1
        out[size] = key
        size += 1
    while q < found.size:
        out[size] = found[q]
        size += 1
        q += 1
    return size


@stage
def sort_pairs(keys, spare, count):
    """Sort pairs (i << 32 | j) of boxes below n: by j, then by i; count (n + 1,) is work."""
    for by_first in range(2):
        shift = 32 * by_first
        for c in range(count.size):
            count[c] = 0
        for p in range(keys.size):
            count[((keys[p] >> shift) & 0xFFFFFFFF) + 1] += 1
        for c in range(count.size - 1):
            count[c + 1] += count[c]
        for p in range(keys.size):
            c = (keys[p] >> shift) & 0xFFFFFFFF
            spare[count[c]] = keys[p]
            count[c] += 1
        for p in range(keys.size):
            keys[p] = spare[p]
    return 0


# ---- Candidates found anew, or brought up to date, where ``still_good`` says no.

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
