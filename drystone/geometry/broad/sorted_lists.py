"""The coherent broad phase of Baraff 1992, 5.3: sorted lists of box ends, and a table kept."""

from __future__ import annotations

import numpy as np

from drystone.geometry.broad.base import grown
from drystone.geometry.broad.grid import overlaps
from drystone.kernels.broad_lists import sort_ends, sweep, toggle
from drystone.types import Floats, Ints

MANY = 2000  # boxes for which the sweep's first start takes longer than a grid's


class SortedLists:
    """One sorted list of ends for each axis, kept by insertion sort: O(n + s) for s swaps.

    Every swap of a lower with an upper end tests the two boxes; those that came together or came
    apart change the table of overlapping pairs. The first call, a call with another number of
    boxes, and one after a motion so large that sorting anew is cheaper (`limit` swaps for each
    box) begin with a full sort, and one sweep along the axis on which the boxes are spread most
    (O(n log n + k) if they are spread along it; a grid finds the first pairs of very many).
    """

    name = "sorted-lists"

    def __init__(self, limit: float = 200.0) -> None:
        self.limit = limit
        self.swaps = 0
        self.changes = 0
        self.meetings = 0
        self.rebuilds = 0
        self._shape = (-1, 0)
        self._keys = np.empty(64, np.int64)
        self._spare = np.empty(64, np.int64)
        self._size = 0
        self._count = np.zeros(3, np.int64)

    def keys(self, lower: Floats, upper: Floats) -> Ints:
        """As ``BroadPhase.keys``."""
        if lower.shape != self._shape:
            self._rebuild(lower, upper)
            return self._keys[: self._size]
        status = sort_ends(
            lower,
            upper,
            self._most_swaps,
            self._was_lower,
            self._was_upper,
            self._order,
            self._value,
            self._toggled,
            self._count,
        )
        if status:
            self._rebuild(lower, upper)
            return self._keys[: self._size]
        self.swaps, changed, self.meetings = self._count.tolist()
        self.changes = 0
        if changed:
            self._toggle(changed)
        return self._keys[: self._size]

    def stats(self) -> dict[str, int]:
        """swaps: of neighbours in the lists, which is the number of inversions; meetings: swaps
        of a lower with an upper end; changes: pairs that came or went; rebuilds: in all."""
        return {
            "swaps": self.swaps,
            "meetings": self.meetings,
            "changes": self.changes,
            "rebuilds": self.rebuilds,
        }

    def _toggle(self, changed: int) -> None:
        toggled = self._toggled[:changed]
        toggled.sort()
        self._spare = grown(self._spare, self._size + changed)
        size = toggle(self._keys[: self._size], toggled, self._spare)
        self.changes = 1 + int(np.count_nonzero(toggled[1:] != toggled[:-1]))
        self._keys, self._spare, self._size = self._spare, self._keys, size

    def _rebuild(self, lower: Floats, upper: Floats) -> None:
        self._shape = lower.shape
        n = lower.shape[0]
        ends = np.concatenate((lower, upper)).T
        # stable: of equal ends the lower ones stay first
        self._order = np.argsort(ends, axis=1, kind="stable")
        self._value = np.take_along_axis(ends, self._order, axis=1)
        self._was_lower, self._was_upper = lower.copy(), upper.copy()
        self._toggled = np.empty(256 + 16 * n, np.int64)
        self._most_swaps = int(self.limit * (n + 16))
        self.swaps = self.meetings = self.changes = 0
        self.rebuilds += 1
        if n > MANY:
            self._keys = overlaps(lower, upper)
            self._size = self._keys.size
        elif n > 0:
            self._sweep(lower, upper)
        else:
            self._size = 0

    def _sweep(self, lower: Floats, upper: Floats) -> None:
        axis = int(np.argmax(_spread(lower, upper)))
        work = np.empty((2, lower.shape[0]), np.int64)
        while True:
            size = sweep(lower, upper, self._order[axis], work[0], work[1], self._keys)
            if size <= self._keys.size:
                break
            self._keys = np.empty(2 * size, np.int64)
        self._size = size
        self._keys[:size].sort()


def _spread(lower: Floats, upper: Floats) -> Floats:
    """Variance of the boxes' middles over their mean size, for each axis."""
    middle, size = lower + upper, upper - lower
    spread: Floats = middle.var(axis=0) / (size.mean(axis=0) ** 2 + 1e-300)
    return spread
