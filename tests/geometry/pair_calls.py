"""Pair kernels called from tests, with the arrays that their records are made of."""

import numpy as np

from drystone.kernels.pairs import FoundContacts, Pairs, PosedGeoms

NO_CALLS = np.zeros(3, np.int64)


def posed(x, R, kind, first, numbers, first_int=None, ints=None):
    """Geoms of these kinds (ng,), or all of one, where they are."""
    kind = np.broadcast_to(np.asarray(kind, np.int64), len(x)).copy()
    first_int = np.zeros(len(x) + 1, np.int64) if first_int is None else first_int
    ints = np.zeros(0, np.int64) if ints is None else ints
    return PosedGeoms(x, R, kind, first, numbers, first_int, ints)


def room_for(count, dim):
    """Room for contacts."""
    which, feature = np.zeros(count, np.int64), np.zeros(count, np.int64)
    return FoundContacts(
        which, np.zeros((count, dim)), np.zeros((count, dim)), np.zeros(count), feature
    )


def run(kernel, pairs, margin, geoms, cache, room, stats=None, calls=NO_CALLS):
    """How many contacts there are, or -1 if there is no room; they are in `room`."""
    stats = np.zeros(8, np.int64) if stats is None else stats
    margin = np.broadcast_to(np.asarray(margin, float), len(pairs)).copy()
    return kernel(Pairs(np.asarray(pairs, np.int64), margin, cache, stats, calls), geoms, room)


def found(room, count):
    """which, point, normal, gap, feature of the contacts written."""
    return tuple(column[:count] for column in room)
