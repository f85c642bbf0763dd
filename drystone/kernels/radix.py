"""Whole numbers: sorting, 11 bits at a time, in time linear in their number; search among them."""

from drystone.kernels._jit import stage

BITS = 11  # sorted by at a time
PLACES = 2**BITS + 1  # of the work that a sort needs


@stage
def sort_by_keys(begin, end, most, keys, order, spare_keys, spare_order, count):
    """Sort keys[begin:end], all of them in 0 to `most`, and `order` with them; equal ones keep
    their order.

    spare_keys, spare_order: work, as long as keys; count (PLACES,): work.
    """
    left, shift = most, 0
    while left > 0:
        for d in range(PLACES):
            count[d] = 0
        for p in range(begin, end):
            count[((keys[p] >> shift) & (PLACES - 2)) + 1] += 1
        for d in range(PLACES - 1):
            count[d + 1] += count[d]
        for p in range(begin, end):
            d = (keys[p] >> shift) & (PLACES - 2)
            at = begin + count[d]
            count[d] += 1
            spare_keys[at], spare_order[at] = keys[p], order[p]
        for p in range(begin, end):
            keys[p], order[p] = spare_keys[p], spare_order[p]
        left >>= BITS
        shift += BITS
    return 0


@stage
def lower_bound(keys, low, high, wanted):
    """First place in the ascending keys[low:high] of one that is at least `wanted`, or `high`."""
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low
