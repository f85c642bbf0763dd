"""What every broad phase does: boxes in, pairs that overlap out, always in the same order.

``AllPairs`` is the plain answer that the others are compared with.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from drystone.types import Floats, Ints


class BroadPhase(Protocol):
    """Finds the pairs of axis-aligned boxes that overlap (touching counts)."""

    @property
    def name(self) -> str:
        """As ``make_broad`` takes it; a class attribute will do."""
        ...

    def keys(self, lower: Floats, upper: Floats) -> Ints:
        """Pairs i < j of the boxes lower, upper (n, dim) [m] as numbers i << 32 | j, ascending.

        The array belongs to the broad phase and is overwritten by the next call.
        """
        ...

    def stats(self) -> dict[str, int]:
        """Counters of the last call; their names depend on the method."""
        ...


class AllPairs:
    """Brute force, O(n^2) in time and memory."""

    name = "all-pairs"

    def keys(self, lower: Floats, upper: Floats) -> Ints:
        """As ``BroadPhase.keys``."""
        below = (lower[:, None] <= upper[None]).all(axis=2)
        i, j = np.nonzero(np.triu(below & below.T, 1))
        return (i << 32) | j

    def stats(self) -> dict[str, int]:
        """Nothing to count."""
        return {}


def grown(array: Ints, room: int) -> Ints:
    """An array of at least this length that begins with the same numbers."""
    if array.size >= room:
        return array
    larger = np.empty(max(room, 2 * array.size), array.dtype)
    larger[: array.size] = array
    return larger
