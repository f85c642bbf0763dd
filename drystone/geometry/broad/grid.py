"""The broad phase for very many boxes: grids of all sizes, and candidates kept for some steps."""

from __future__ import annotations

import numpy as np

from drystone.geometry.broad.base import grown
from drystone.kernels import broad_fat as fat
from drystone.kernels import broad_grid as cells
from drystone.kernels import broad_keep as keeping
from drystone.kernels._calls import address
from drystone.types import Floats, Ints

LEVELS = 32


class Grid:
    """Candidates are the pairs of boxes enlarged by what they may move.

    While boxes stay inside their enlarged ones, a step tests the candidates only. A few that
    left are compared with all; when `few` have left since, all candidates are found anew, which
    costs about as much as those few did. keep: all of it, for the kernels of ``broad_keep``.
    """

    name = "grid"

    def __init__(self, few: int = 50) -> None:
        self._count = np.zeros(8, np.int64)
        self._count[fat.FEW] = few
        self._address = np.full(11, -1, np.int64)
        self._candidates, self._spare = np.empty(64, np.int64), np.empty(64, np.int64)
        self._keys = np.empty(64, np.int64)
        self.hold((0, 0))

    @property
    def left(self) -> int:
        """Boxes that left their enlarged ones at the last call."""
        return int(self._count[fat.LEFT])

    @property
    def rebuilds(self) -> int:
        """How often candidates were found anew."""
        return int(self._count[fat.REBUILDS])

    @property
    def candidates(self) -> int:
        """How many pairs are tested in a step."""
        return int(self._count[fat.CANDIDATES])

    @property
    def motion(self) -> float:
        """Mean of what boxes moved in a step when that was last measured, in typical widths."""
        return float(self.keep.real[keeping.MOTION])

    def hold(self, shape: tuple[int, ...]) -> None:
        """Begin anew with boxes (n, dim)."""
        n = shape[0]
        self._count[[fat.AGE, fat.SPENT, fat.SPAN, fat.CANDIDATES]] = 0
        ints = np.empty((5, n), np.int64)
        levels = np.empty(LEVELS + 1, np.int64), *np.empty((2, LEVELS, 3), np.int64)
        boxes = np.zeros((5, *shape))
        self.keep = keeping.Keep._make((
            self._count, np.full(3, np.inf), self._address, *boxes[:3], np.zeros(n),
            np.arange(n), np.arange(n), np.zeros(n, np.bool_), self._candidates, self._spare,
            ints[0], np.empty((n, 3), np.int64), *levels, np.empty(LEVELS), np.zeros(3),
            *ints[1:], np.empty(2049, np.int64), *boxes[3:], np.empty(n + 1, np.int64),
            np.empty(keeping.SAMPLE),
        ))  # fmt: skip

    def keys(self, lower: Floats, upper: Floats) -> Ints:
        """As ``BroadPhase.keys``."""
        if lower.shape != self.keep.fat_lower.shape:
            self.hold(lower.shape)
        lower, upper = (np.require(a, np.float64, ["C", "W"]) for a in (lower, upper))
        keep = self.keep
        if not fat.still_good(lower, upper, keep.fat_lower, keep.fat_upper, keep.left, keep.count):
            self.load()
            while keeping.renew(self.keep, lower, upper):
                self.grow()
        self._keys = grown(self._keys, self.candidates)
        size = fat.overlapping(self._candidates[: self.candidates], lower, upper, self._keys)
        return self._keys[:size]

    def grow(self) -> None:
        """Room for the candidates that ``renew`` asked for: a new `keep`."""
        wanted = int(self._count[fat.WANTED])
        self._candidates = grown(self._candidates, wanted)
        self._spare = grown(self._spare, wanted)
        self.keep = self.keep._replace(candidates=self._candidates, spare=self._spare)

    def stats(self) -> dict[str, int]:
        """left: boxes that left their enlarged ones; candidates; rebuilds: in all."""
        return {"left": self.left, "candidates": self.candidates, "rebuilds": self.rebuilds}

    def load(self) -> None:
        """Addresses of the kernels that ``renew`` calls."""
        k, at = self.keep, self._address
        if at[0] >= 0:
            return
        boxes, ints, floats = (k.fat_lower, k.fat_upper), k.left, k.speed
        flags, room = k.marked, k.candidates
        at[keeping.ENLARGE] = address(fat.enlarge, *boxes, ints, 0.0, 0.0, 0.0, floats, *boxes)
        at[keeping.MEET] = address(fat.meet, ints, flags, *boxes, room)
        at[keeping.REPLACE] = address(fat.replace, room, flags, room, room)
        at[keeping.SORT] = address(fat.sort_pairs, room, room, k.pair_count)
        levels = k.start, k.least, k.size
        at[keeping.PLACE] = address(
            cells.place_boxes, *boxes, k.origin, k.inverse, k.level, k.cell, *levels
        )
        order = k.cell_keys, k.order
        at[keeping.BY_CELL] = address(
            cells.sort_boxes, k.level, k.cell, *levels, *order, ints, ints, k.digits
        )
        at[keeping.COPY] = address(cells.sort_boxes_by, k.order, *boxes, *boxes)
        at[keeping.LEVEL] = address(cells.pairs_of_level, 0, 0, 0, 0, *order, *boxes, room, 0)
        at[keeping.LARGER] = address(
            cells.pairs_with_larger, 0, k.origin, k.inverse, *levels, *order, *boxes, room, 0
        )
        at[keeping.REBUILD] = address(keeping.rebuild, k)
        at[keeping.UPDATE] = address(keeping.update, k, *boxes)


def overlaps(lower: Floats, upper: Floats) -> Ints:
    """Ascending keys of the boxes (n, dim) that overlap."""
    grid = Grid()
    grid.hold(lower.shape)
    grid.load()
    grid.keep.fat_lower[:], grid.keep.fat_upper[:] = lower, upper
    while keeping.rebuild(grid.keep):
        grid.grow()
    return grid.keep.candidates[: grid.candidates]
