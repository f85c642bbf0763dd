"""The broad phase that is fastest for the boxes at hand; their number decides, never the clock."""

from __future__ import annotations

from drystone.geometry.broad.base import grown
from drystone.geometry.broad.grid import Grid
from drystone.kernels.broad_pairs import all_pairs
from drystone.types import Floats, Ints

FEW = 64  # boxes for which testing each with each takes no longer than keeping candidates


class Auto(Grid):
    """Each box with each if there are few; else the grid."""

    name = "auto"

    def keys(self, lower: Floats, upper: Floats) -> Ints:
        """As ``BroadPhase.keys``."""
        n = lower.shape[0]
        if n > FEW:
            return super().keys(lower, upper)
        self._keys = grown(self._keys, n * (n - 1) // 2)
        return self._keys[: all_pairs(lower, upper, self._keys)]
