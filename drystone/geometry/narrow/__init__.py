"""Contact points of pairs of geoms: one batched kernel for each pair of kinds.

The contract of a pair kernel (in ``drystone.kernels.planar`` or ``.spatial``):

    count = contact_a_b(pairs, margin, x, R, first, numbers, first_int, ints, cache,
                        which, point, normal, gap, feature, stats)

    pairs (np, 2) int64     geoms a, b with kind[a] <= kind[b]
    margin (np,) [m]        contacts with gap <= margin are wanted; none beyond
    x (ng, dim), R (ng, dim, dim)   pose of every geom: world point = x + R local
    first, numbers, first_int, ints of ``Geoms``
    cache (np, width)       floats that stay with the pair from step to step: witnesses, extremal
                            points; a new pair's row is all zeros, so column 0 != 0 must mean "set"
    which (room,) int64     out: row of `pairs` that a contact belongs to, ascending
    point, normal (room, dim), gap (room,), feature (room,) int64     out, as in ``Contacts``
    stats (8,) int64        counters to add to; meaning given by the entry's `counters`
    -> contacts written, or -1 if there was no room (the caller doubles it and calls again; the
       kernel must then leave a cache that is as good as before)

The record of a kind names its kernels (``geometry.kinds``); ``geometry.dispatch`` makes the table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True, slots=True)
class PairKernel:
    """Where a pair's kernel is (loaded when first used), and what it needs.

    points: contacts of one pair that room is made for at first; width: columns of the cache;
    counters: names of the stats it counts, at most 8, e.g. ("hits", "searches", "iterations").
    general: codes of two kinds that support maps answer for; None: the kernel is their own.
    """

    module: str
    name: str
    points: int = 1
    width: int = 0
    counters: tuple[str, ...] = ()
    general: tuple[int, int] | None = None

    def load(self) -> Callable[..., Any]:
        if self.general is not None:
            from drystone.kernels.spatial.support_pairs import SupportPair

            return SupportPair(*self.general)
        function: Callable[..., Any] = getattr(import_module(self.module), self.name)
        return function
