"""The broad phase for very many boxes: grids of all sizes, and candidates kept for some steps."""

from __future__ import annotations

import numpy as np

from drystone.geometry.broad.base import grown
from drystone.kernels import broad_fat as fat
from drystone.kernels import broad_grid as cells
from drystone.kernels import broad_keep as keeping
from drystone.kernels._calls import address
from drystone.kernels.packed import Packed
from drystone.kernels.radix import PLACES
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
        rows = np.zeros((8, n + 1), np.int64)
        rows[keeping.EVERYONE] = np.arange(n + 1)
        keep = keeping.Keep(
            count=self._count, real=np.full(3, np.inf), address=self._address,
            boxes=np.zeros((5, *shape)), rows=rows, speed=np.zeros(n), marked=np.zeros(n, np.bool_),
            candidates=self._candidates, spare=self._spare, cell=np.empty((n, 3), np.int64),
            start=np.empty(LEVELS + 1, np.int64), reach=np.empty((2, LEVELS, 3), np.int64),
            digits=np.empty(PLACES, np.int64), numbers=np.zeros(LEVELS + 3 + keeping.SAMPLE),
        )  # fmt: skip
        self.keep = Packed(**keep._asdict())

    def keys(self, lower: Floats, upper: Floats) -> Ints:
        """As ``BroadPhase.keys``."""
        if lower.shape != self.keep.boxes.shape[1:]:
            self.hold(lower.shape)
        lower, upper = (np.require(a, np.float64, ["C", "W"]) for a in (lower, upper))
        keep = self.keep
        if not fat.still_good(lower, upper, *keep.boxes[:2], keep.rows[0], keep.count):
            self.load()
            while keeping.renew(self.keep, lower, upper):
                self.grow()
        self._keys = grown(self._keys, self.candidates + 1)
        size = fat.overlapping(self._candidates[: self.candidates], lower, upper, self._keys)
        return self._keys[:size]

    def grow(self) -> None:
        """Room for the candidates that ``renew`` asked for."""
        wanted = int(self._count[fat.WANTED])
        self._candidates = grown(self._candidates, wanted)
        self._spare = grown(self._spare, wanted)
        self.keep.put(candidates=self._candidates, spare=self._spare)

    def stats(self) -> dict[str, int]:
        """left: boxes that left their enlarged ones; candidates; rebuilds: in all."""
        return {"left": self.left, "candidates": self.candidates, "rebuilds": self.rebuilds}

    def load(self) -> None:
        """Addresses of the kernels that ``renew`` calls."""
        k, at = self.keep, self._address
        if at[0] >= 0:
            return
        boxes, ints, floats, row = k.boxes[:2], k.candidates, k.speed, k.rows[0]
        flags, reach = k.marked, k.reach[0]
        at[keeping.ENLARGE] = address(fat.enlarge, *boxes, ints, 0.0, 0.0, 0.0, floats, *boxes)
        at[keeping.MEET] = address(fat.meet, ints, flags, *boxes, ints)
        at[keeping.REPLACE] = address(fat.replace, ints, flags, ints, ints)
        at[keeping.SORT] = address(fat.sort_pairs, ints, ints, ints)
        spans = ints, reach, reach
        at[keeping.PLACE] = address(cells.place_boxes, *boxes, floats, floats, row, k.cell, *spans)
        at[keeping.BY_CELL] = address(
            cells.sort_boxes, row, k.cell, *spans, row, row, row, row, k.digits
        )
        at[keeping.COPY] = address(cells.sort_boxes_by, row, *boxes, *boxes)
        order = row, row
        at[keeping.LEVEL] = address(cells.pairs_of_level, 0, 0, 0, 0, *order, *boxes, ints, 0)
        at[keeping.LARGER] = address(
            cells.pairs_with_larger, 0, floats, floats, *spans, *order, *boxes, ints, 0
        )
        at[keeping.REBUILD] = address(keeping.rebuild, k)
        at[keeping.UPDATE] = address(keeping.update, k, *boxes)


def overlaps(lower: Floats, upper: Floats) -> Ints:
    """Ascending keys of the boxes (n, dim) that overlap."""
    grid = Grid()
    grid.hold(lower.shape)
    grid.load()
    grid.keep.boxes[:2] = lower, upper
    while keeping.rebuild(grid.keep):
        grid.grow()
    return grid.keep.candidates[: grid.candidates]
