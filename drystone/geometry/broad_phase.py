"""Which boxes overlap: several methods, one answer, always in the same order.

``AllPairs`` is the plain answer that the others are compared with.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from drystone.errors import OptionError
from drystone.kernels import broad as kernels
from drystone.kernels import layout
from drystone.kernels._calls import address
from drystone.kernels.packed import Packed
from drystone.kernels.radix import PLACES
from drystone.types import Floats, Ints

# boxes for which testing each with each takes no longer than keeping candidates
BRUTE_FORCE_BOXES = 64
GRID_LEVELS = 32  # each twice as coarse: sizes of boxes from 1 to 4e9
SWEEP_BOXES = 2000  # boxes beyond which a grid finds the first pairs sooner than one sweep


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


class Grid:
    """Candidates are the pairs of boxes enlarged by what they may move.

    While boxes stay inside their enlarged ones, a step tests the candidates only. A few that
    left are compared with all; when `few` have left since, all candidates are found anew, which
    costs about as much as those few did. keep: all of it, for the kernels of ``kernels.broad``.
    """

    name = "grid"

    def __init__(self, few: int = 50) -> None:
        self._keys = np.empty(64, np.int64)
        self.keep = _made((0, 0), few, 64)

    @property
    def left(self) -> int:
        """Boxes that left their enlarged ones at the last call."""
        return int(self.keep.left)

    @property
    def rebuilds(self) -> int:
        """How often candidates were found anew."""
        return int(self.keep.rebuilds)

    @property
    def candidates(self) -> int:
        """How many pairs are tested in a step."""
        return int(self.keep.n_candidates)

    def hold(self, shape: tuple[int, ...]) -> None:
        """Begin anew with boxes (n, dim)."""
        known = self.keep
        self.keep = _made(shape, known.few, known.candidates.size)
        self.keep.left, self.keep.rebuilds = known.left, known.rebuilds

    def keys(self, lower: Floats, upper: Floats) -> Ints:
        """As ``BroadPhase.keys``."""
        if lower.shape != self.keep.fat_lower.shape:
            self.hold(lower.shape)
        lower, upper = (np.require(a, np.float64, ["C", "W"]) for a in (lower, upper))
        if not kernels.still_good(self.keep, lower, upper):
            self.load()
            while kernels.renew(self.keep, lower, upper):
                self.grow()
        self._keys = grown(self._keys, self.candidates + 1)
        size = kernels.overlapping(
            self.keep.candidates[: self.candidates], lower, upper, self._keys
        )
        return self._keys[:size]

    def grow(self) -> None:
        """Room for the candidates that ``renew`` asked for."""
        wanted = int(self.keep.wanted)
        keep = self.keep
        keep.put(candidates=grown(keep.candidates, wanted), spare=grown(keep.spare, wanted))

    def stats(self) -> dict[str, int]:
        """left: boxes that left their enlarged ones; candidates; rebuilds: in all."""
        return {"left": self.left, "candidates": self.candidates, "rebuilds": self.rebuilds}

    def load(self) -> None:
        """Addresses of the kernels that ``renew`` calls."""
        k = self.keep
        if k.at_enlarge:
            return
        boxes, ints, floats, row = (k.fat_lower, k.fat_upper), k.candidates, k.speed, k.order
        flags, reach = k.marked, k.reach[0]
        k.at_enlarge = address(kernels.enlarge, *boxes, ints, 0.0, 0.0, 0.0, floats, *boxes)
        k.at_meet = address(kernels.meet, ints, flags, *boxes, ints)
        k.at_replace = address(kernels.replace, ints, flags, ints, ints)
        k.at_sort = address(kernels.sort_pairs, ints, ints, ints)
        spans = ints, reach, reach
        k.at_place = address(kernels.place_boxes, *boxes, floats, floats, row, k.cell, *spans)
        k.at_by_cell = address(
            kernels.sort_boxes, row, k.cell, *spans, row, row, row, row, k.digits
        )
        k.at_copy = address(kernels.sort_boxes_by, row, *boxes, *boxes)
        order = row, row
        k.at_level = address(kernels.pairs_of_level, 0, 0, 0, 0, *order, *boxes, ints, 0)
        k.at_larger = address(
            kernels.pairs_with_larger, 0, floats, floats, *spans, *order, *boxes, ints, 0
        )
        k.at_rebuild = address(kernels.rebuild, k)
        k.at_update = address(kernels.update, k, *boxes)


class Auto(Grid):
    """Each box with each if there are few; else the grid. Their number decides, never the clock."""

    name = "auto"

    def keys(self, lower: Floats, upper: Floats) -> Ints:
        """As ``BroadPhase.keys``."""
        n = lower.shape[0]
        if n > BRUTE_FORCE_BOXES:
            return super().keys(lower, upper)
        self._keys = grown(self._keys, n * (n - 1) // 2)
        return self._keys[: kernels.all_pairs(lower, upper, self._keys)]


def overlaps(lower: Floats, upper: Floats) -> Ints:
    """Ascending keys of the boxes (n, dim) that overlap."""
    grid = Grid()
    grid.hold(lower.shape)
    grid.load()
    grid.keep.fat_lower[:], grid.keep.fat_upper[:] = lower, upper
    while kernels.rebuild(grid.keep):
        grid.grow()
    return grid.keep.candidates[: grid.candidates]


def _made(shape: tuple[int, ...], few: int, room: int) -> Packed:
    """What is kept of boxes (n, dim), with room for so many candidates."""
    n, dim = shape
    sizes: layout.Sizes = {
        "n": n, "dim": dim, "n+1": n + 1, "room": room, "nl": GRID_LEVELS, "nl+1": GRID_LEVELS + 1,
        "places": PLACES, "numbers": GRID_LEVELS + 3 + kernels.SAMPLE,
    }  # fmt: skip
    made = layout.make(layout.KEEP, sizes)
    made["everyone"][:] = np.arange(n + 1)
    return Packed(**made | {"few": few, "typical": np.inf, "reach_steps": np.inf, "motion": np.inf})


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
        status = kernels.sort_ends(
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
        size = kernels.toggle(self._keys[: self._size], toggled, self._spare)
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
        if n > SWEEP_BOXES:
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
            size = kernels.sweep(lower, upper, self._order[axis], work[0], work[1], self._keys)
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


def grown(array: Ints, room: int) -> Ints:
    """An array of at least this length that begins with the same numbers."""
    if array.size >= room:
        return array
    larger = np.empty(max(room, 2 * array.size), array.dtype)
    larger[: array.size] = array
    return larger


METHODS: dict[str, Callable[[], BroadPhase]] = {
    "auto": Auto,
    "sorted-lists": SortedLists,
    "grid": Grid,
    "all-pairs": AllPairs,
}


def make_broad(name: str) -> BroadPhase:
    """A broad phase by its name: "auto", "sorted-lists", "grid" or "all-pairs"."""
    try:
        return METHODS[name]()
    except KeyError:
        known = ", ".join(repr(known) for known in METHODS)
        raise OptionError(f"broad={name!r}: expected one of {known}") from None
