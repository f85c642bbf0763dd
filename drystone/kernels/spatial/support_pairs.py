"""Contacts of any two bounded kinds by their support maps: the contract's signature for each pair.

These are objects around the same compiled kernels, which call each other by address, so a new
pair of kinds costs no compiling.
"""

from functools import cache

import numpy as np

from drystone.kernels._calls import address, call
from drystone.kernels._jit import kernel
from drystone.kernels.spatial.gjk_refine import GUESS, UNKNOWN, UNSURE, refine
from drystone.kernels.spatial.gjk_search import GROW, search
from drystone.kernels.spatial.support_manifold import DOUBT, manifold

WIDTH = 13  # of the cache: set, direction (3), atoms, their labels (8)


@kernel
def contact_support_support(
    parts, kind_a, kind_b, pairs, margin, x, R, first, numbers, first_int, ints, cache,
    which, point, normal, gap, feature, stats,
):  # fmt: skip
    """Contacts of pairs whose geoms are of kind_a and kind_b; otherwise as the contract says.

    parts (3,): addresses of ``refine``, ``search`` and ``manifold``.
    """
    size, searched = pairs.shape[0], stats[1]
    state, atoms, labels = (
        np.empty(size, np.int64),
        np.empty(size, np.int64),
        np.empty((size, 4, 2), np.int64),
    )
    n, g, mid = np.empty((size, 3)), np.full(size, np.inf), np.empty((size, 3))
    for i in range(size):
        state[i] = GUESS if cache[i, 0] != 0.0 else UNKNOWN
        atoms[i] = np.int64(cache[i, 4])
        for c in range(3):
            n[i, c] = cache[i, 1 + c]
        for c in range(8):
            labels[i, c // 2, c % 2] = np.int64(cache[i, 5 + c])
    bodies = (kind_a, kind_b, pairs, margin, x, R, first, numbers, first_int, ints)
    found = (state, n, atoms, labels)
    call(parts[0], (*bodies, GROW, True, *found, g, mid, stats))
    count = DOUBT
    for _ in range(2):  # again if a cap is not over the other body after all
        if count == DOUBT:
            if doubtful(state) > 0:
                call(parts[1], (*bodies, *found, stats))
                call(parts[0], (*bodies, np.inf, False, *found, g, mid, stats))
            out = (which, point, normal, gap, feature)
            count = call(parts[2], (*bodies, state, n, g, mid, *out))
    stats[0] += size - (stats[1] - searched)
    for i in range(size):
        stats[5] += 1 if state[i] == UNSURE else 0
        cache[i, 0], cache[i, 4] = 1.0, atoms[i]
        for c in range(3):
            cache[i, 1 + c] = n[i, c]
        for c in range(8):
            cache[i, 5 + c] = labels[i, c // 2, c % 2]
    return count


@kernel
def doubtful(state):
    """How many pairs must be looked for the long way."""
    count = 0
    for i in range(state.size):
        count += 1 if state[i] == UNKNOWN or state[i] == UNSURE else 0
    return count


@cache
def parts():
    """Addresses (3,) of the kernels that ``contact_support_support`` calls."""
    ints, floats = np.empty(1, np.int64), np.empty(1)
    pairs, x, R = np.empty((1, 2), np.int64), np.empty((1, 3)), np.empty((1, 3, 3))
    bodies = (0, 0, pairs, floats, x, R, ints, floats, ints, ints)
    found = (ints, x, ints, np.empty((1, 4, 2), np.int64))
    return np.array([
        address(refine, *bodies, 0.0, True, *found, floats, x, ints),
        address(search, *bodies, *found, ints),
        address(manifold, *bodies, ints, x, floats, x, ints, x, x, floats, ints),
    ])  # fmt: skip


class SupportPair:
    """The kernel of two kinds: called with the contract's arguments."""

    def __init__(self, kind_a, kind_b):
        self.kinds = kind_a, kind_b

    def __call__(self, *args):
        return contact_support_support(parts(), *self.kinds, *args)
