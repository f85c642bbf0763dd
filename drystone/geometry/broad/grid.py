"""The broad phase for very many boxes: grids of all sizes, and candidates kept for some steps."""

from __future__ import annotations

import numpy as np

from drystone.geometry.broad.base import grown
from drystone.kernels import broad_fat as fat
from drystone.kernels import broad_grid as cells
from drystone.kernels import broad_keep as keeping
from drystone.kernels import layout
from drystone.kernels._calls import address
from drystone.kernels.broad_pairs import all_pairs
from drystone.kernels.packed import Packed
from drystone.kernels.radix import PLACES
from drystone.types import Floats, Ints

# boxes for which testing each with each takes no longer than keeping candidates
BRUTE_FORCE_BOXES = 64
GRID_LEVELS = 32  # each twice as coarse: sizes of boxes from 1 to 4e9


class Grid:
    """Candidates are the pairs of boxes enlarged by what they may move.

    While boxes stay inside their enlarged ones, a step tests the candidates only. A few that
    left are compared with all; when `few` have left since, all candidates are found anew, which
    costs about as much as those few did. keep: all of it, for the kernels of ``broad_keep``.
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

    @property
    def motion(self) -> float:
        """Mean of what boxes moved in a step when that was last measured, in typical widths."""
        return float(self.keep.motion)

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
        if not fat.still_good(self.keep, lower, upper):
            self.load()
            while keeping.renew(self.keep, lower, upper):
                self.grow()
        self._keys = grown(self._keys, self.candidates + 1)
        size = fat.overlapping(self.keep.candidates[: self.candidates], lower, upper, self._keys)
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
        k.at_enlarge = address(fat.enlarge, *boxes, ints, 0.0, 0.0, 0.0, floats, *boxes)
        k.at_meet = address(fat.meet, ints, flags, *boxes, ints)
        k.at_replace = address(fat.replace, ints, flags, ints, ints)
        k.at_sort = address(fat.sort_pairs, ints, ints, ints)
        spans = ints, reach, reach
        k.at_place = address(cells.place_boxes, *boxes, floats, floats, row, k.cell, *spans)
        k.at_by_cell = address(cells.sort_boxes, row, k.cell, *spans, row, row, row, row, k.digits)
        k.at_copy = address(cells.sort_boxes_by, row, *boxes, *boxes)
        order = row, row
        k.at_level = address(cells.pairs_of_level, 0, 0, 0, 0, *order, *boxes, ints, 0)
        k.at_larger = address(
            cells.pairs_with_larger, 0, floats, floats, *spans, *order, *boxes, ints, 0
        )
        k.at_rebuild = address(keeping.rebuild, k)
        k.at_update = address(keeping.update, k, *boxes)


class Auto(Grid):
    """Each box with each if there are few; else the grid. Their number decides, never the clock."""

    name = "auto"

    def keys(self, lower: Floats, upper: Floats) -> Ints:
        """As ``BroadPhase.keys``."""
        n = lower.shape[0]
        if n > BRUTE_FORCE_BOXES:
            return super().keys(lower, upper)
        self._keys = grown(self._keys, n * (n - 1) // 2)
        return self._keys[: all_pairs(lower, upper, self._keys)]


def overlaps(lower: Floats, upper: Floats) -> Ints:
    """Ascending keys of the boxes (n, dim) that overlap."""
    grid = Grid()
    grid.hold(lower.shape)
    grid.load()
    grid.keep.fat_lower[:], grid.keep.fat_upper[:] = lower, upper
    while keeping.rebuild(grid.keep):
        grid.grow()
    return grid.keep.candidates[: grid.candidates]


def _made(shape: tuple[int, ...], few: int, room: int) -> Packed:
    """What is kept of boxes (n, dim), with room for so many candidates."""
    n, dim = shape
    sizes: layout.Sizes = {
        "n": n, "dim": dim, "n+1": n + 1, "room": room, "nl": GRID_LEVELS, "nl+1": GRID_LEVELS + 1,
        "places": PLACES, "numbers": GRID_LEVELS + 3 + keeping.SAMPLE,
    }  # fmt: skip
    made = layout.make(layout.KEEP, sizes)
    made["everyone"][:] = np.arange(n + 1)
    return Packed(**made | {"few": few, "typical": np.inf, "reach_steps": np.inf, "motion": np.inf})
