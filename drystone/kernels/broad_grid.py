"""Boxes that overlap, by a grid for every size of box (levels), in time linear in n and pairs.

Level l has cells of width 1 / inverse[l], twice those of the level below; a box lies in the cell
of its lower corner, on the finest level whose cells are wider than the box. So two boxes of one
level can only overlap if their cells are neighbours; and a box looks for larger ones in at most
three cells of each axis of their level. The last level has one cell, for boxes of any size.
Cells of a level are sorted by their number, x fastest, so a row of cells is one stretch.
"""

import math

from drystone.kernels._jit import stage
from drystone.kernels.radix import lower_bound, sort_by_keys

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
