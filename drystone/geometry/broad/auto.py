"""The broad phase that is fastest for the boxes at hand; counts decide, never the clock."""

from __future__ import annotations

from drystone.geometry.broad.base import BroadPhase
from drystone.geometry.broad.grid import Grid
from drystone.geometry.broad.sorted_lists import SortedLists
from drystone.types import Floats, Ints

# Measured, see benchmarks/results/broad_phase.csv: below FEW boxes sorted lists win or the
# difference is some microseconds; above, they win if a step takes less than about one swap for
# each box, and the grid has more than CROWDED candidates for each to test. Between the two
# numbers of swaps for each box, the method in use stays.
FEW = 1000
CROWDED = 6.0
TOO_MANY_SWAPS, NO_MORE_SWAPS = 2.0, 0.5
FIRST_WAIT, LAST_WAIT = 64, 4096


class Auto:
    """Sorted lists for few boxes, and for dense crowds that hardly move; else the grid.

    The lists say themselves how many swaps they made. The grid says how fast the boxes move,
    which tells how many swaps the lists would make if the boxes were spread evenly; if that was
    wrong, it takes longer until the lists are tried again.
    """

    def __init__(self) -> None:
        self._boxes = -1
        self._lists = SortedLists()
        self._grid = Grid()
        self._use_grid = False

    @property
    def name(self) -> str:
        """Of the method that is in use."""
        return self._chosen.name

    def keys(self, lower: Floats, upper: Floats) -> Ints:
        """As ``BroadPhase.keys``."""
        n, dim = lower.shape
        if n != self._boxes:
            self._boxes = n
            self._use_grid = n > FEW
            self._wait = self._patience = FIRST_WAIT
        if self._use_grid:
            self._wait -= 1
            keys = self._grid.keys(lower, upper)
            swaps = 2.2 * dim * n ** (1 - 1 / dim) * self._grid.motion
            crowded = self._grid.candidates > CROWDED * n
            if self._wait <= 0 and crowded and swaps < NO_MORE_SWAPS:
                self._use_grid = False
                self._lists = SortedLists()
            return keys
        keys = self._lists.keys(lower, upper)
        if n > FEW and (self._lists.swaps > TOO_MANY_SWAPS * n or self._lists.rebuilds > 1):
            self._use_grid = True
            self._grid = Grid()
            self._wait = self._patience = min(2 * self._patience, LAST_WAIT)
        return keys

    def stats(self) -> dict[str, int]:
        """Of the method that is in use."""
        return self._chosen.stats()

    @property
    def _chosen(self) -> BroadPhase:
        return self._grid if self._use_grid else self._lists
