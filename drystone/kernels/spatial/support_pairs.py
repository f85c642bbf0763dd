"""Contacts of any two bounded kinds by their support maps.

Parts call each other by address: they are large, and are not optimised together.
"""

from functools import cache

import numpy as np

from drystone.kernels._calls import address, call
from drystone.kernels._jit import kernel
from drystone.kernels.pairs import FoundContacts, Pairs, PosedGeoms
from drystone.kernels.spatial.gjk_refine import GUESS, UNKNOWN, UNSURE, Directions, refine
from drystone.kernels.spatial.gjk_search import GROW, search
from drystone.kernels.spatial.support_manifold import DOUBT, manifold


@kernel
def contact_support_support(pairs: Pairs, geoms: PosedGeoms, contacts: FoundContacts):
    """Up to four contacts and more where faces meet. Cache: 0 set, 1-3 direction, 4 atoms, 5-12
    their labels. Counters: hits, searches, steps of GJK, of EPA, of Newton, uncertain pairs,
    bisections. pairs.calls (3,): ``calls``.
    """
    cache, stats, calls = pairs.cache, pairs.stats, pairs.calls
    size, searched = pairs.margin.size, stats[1]
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
    known = Directions(state, n, atoms, labels, g, mid)
    call(calls[0], (pairs, geoms, known, GROW, True))
    count = DOUBT
    for _ in range(2):  # again if a cap is not over the other body after all
        if count == DOUBT:
            if doubtful(state) > 0:
                call(calls[1], (pairs, geoms, known))
                call(calls[0], (pairs, geoms, known, np.inf, False))
            count = call(calls[2], (pairs, geoms, known, contacts))
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
def calls():
    """Addresses (3,) of ``refine``, ``search`` and ``manifold``."""
    ints, floats, pairs = np.empty(1, np.int64), np.empty(1), np.empty((1, 2), np.int64)
    x, R = np.empty((1, 3)), np.empty((1, 3, 3))
    batch = Pairs(pairs, floats, x, ints, ints)
    geoms = PosedGeoms(x, R, ints, ints, floats, ints, ints)
    known = Directions(ints, x, ints, np.empty((1, 4, 2), np.int64), floats, x)
    contacts = FoundContacts(ints, x, x, floats, ints)
    return np.array([
        address(refine, batch, geoms, known, 0.0, True),
        address(search, batch, geoms, known),
        address(manifold, batch, geoms, known, contacts),
    ])  # fmt: skip
