"""Boxes that overlap, by sorted lists of their ends kept from step to step (Baraff 1992, 5.3).

An end is coded c: the lower end of box c if c < n, else the upper end of box c - n. Lists are
ordered by value, lower ends before upper ones of the same value, so that boxes which touch
overlap. A pair i < j is the number i << 32 | j.
"""

from drystone.kernels._jit import kernel


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
