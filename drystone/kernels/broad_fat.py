"""Candidates that outlive a step: pairs of boxes made a little larger, tested again every step.

As long as every box stays inside its larger box, only candidates can overlap.
"""

from drystone.kernels._jit import stage


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
