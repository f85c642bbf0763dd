"""The broad phase that is fastest for the number of boxes at hand."""

from __future__ import annotations

from drystone.geometry.broad.base import BroadPhase
from drystone.geometry.broad.grid import Grid
from drystone.geometry.broad.sorted_lists import SortedLists
from drystone.types import Floats, Ints

# Boxes up to which sorted lists are at least as fast, measured in slow motion and at rest:
# benchmarks/results/broad_phase.csv.
CROSSOVER = 2000


class Auto:
    """Sorted lists for up to CROSSOVER boxes, the grid for more. The pairs are the same."""

    def __init__(self) -> None:
        self._chosen: BroadPhase = SortedLists()

    @property
    def name(self) -> str:
        """Of the method that is in use."""
        return self._chosen.name

    def keys(self, lower: Floats, upper: Floats) -> Ints:
        """As ``BroadPhase.keys``."""
        wanted: type[SortedLists] | type[Grid]
        wanted = SortedLists if lower.shape[0] <= CROSSOVER else Grid
        if not isinstance(self._chosen, wanted):
            self._chosen = wanted()
        return self._chosen.keys(lower, upper)

    def stats(self) -> dict[str, int]:
        """Of the method that is in use."""
        return self._chosen.stats()
