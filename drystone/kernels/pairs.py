"""What pair kernels are given and what they fill: three records of arrays.

    count = contact_a_b(pairs, geoms, contacts)

gives the contacts of a batch of pairs, all of the same two kinds: how many, or -1 if there was no
room. Then the caller makes room and calls again; the kernel must leave a cache as good as before.
A batch is part of longer arrays, so these are tuples of views, made for each call.
"""

from typing import Any, NamedTuple

LEAN = 0.015  # [rad] between faces, or edges in the plane, that may carry together
GAP_TOL = 1e-10  # of the smaller body: error of a gap that is searched for by iteration


class Pairs(NamedTuple):
    """A batch of pairs.

    geom (np, 2) int64: a and b, kind[a] <= kind[b]
    margin (np,) [m]: contacts with gap <= margin are wanted, none beyond
    cache (np, width): stays with the pair from step to step: witnesses, extremal points. A new
        pair's row is all zeros, so column 0 != 0 must mean "set"
    stats (8,) int64: counters to add to; meaning given by the `counters` of ``PairKernel``
    calls (n,) int64: addresses of the kernels that this one calls, if it calls any by address
    """

    geom: Any
    margin: Any
    cache: Any
    stats: Any
    calls: Any


class PosedGeoms(NamedTuple):
    """All geoms where they are: world point = x + R local.

    x (ng, dim) [m], R (ng, dim, dim); kind (ng,), and first, numbers, first_int, ints of
    ``model.Geoms``: geom g has the numbers first[g]:first[g + 1].
    """

    x: Any
    R: Any
    kind: Any
    first: Any
    numbers: Any
    first_int: Any
    ints: Any


class FoundContacts(NamedTuple):
    """Room for contacts, written from the first row on.

    which (room,) int64: row of the batch that a contact belongs to, ascending
    point, normal (room, dim), gap (room,) [m], feature (room,) int64: as in ``model.Contacts``
    """

    which: Any
    point: Any
    normal: Any
    gap: Any
    feature: Any
