"""The broad phase for very many boxes: grids of all sizes, and candidates kept for some steps."""

from __future__ import annotations

import math

import numpy as np

from drystone.geometry.broad.base import grown
from drystone.kernels import broad_fat as fat
from drystone.kernels import broad_grid as kernels
from drystone.types import Floats, Ints

LEVELS, MIDDLE = 32, 10  # the typical box lies on the middle level
SAMPLE = 1001  # boxes whose medians say what is typical; only speed depends on them
PART = 0.01  # of its width that a box is enlarged by even if it does not move
FIRST, LAST = 8, 128  # steps after which candidates are found anew, if nothing else asks for it
AHEAD = 1.5  # boxes may move faster than they did


class Grid:
    """Candidates are the pairs of boxes enlarged by what they may move, found by ``overlaps``.

    While boxes stay inside their enlarged ones, a step tests the candidates only. A few that
    left are compared with all; when `few` have left since, all candidates are found anew, which
    costs about as much as those few did. motion: mean of what boxes moved in a step when that
    was last measured, in typical widths; candidates (room,): ascending keys, as many of them as
    `count` says, see ``kernels.broad_fat``.
    """

    name = "grid"

    def __init__(self, few: int = 50) -> None:
        self.rebuilds = 0
        self.motion = math.inf
        self.count = np.zeros(6, np.int64)
        self.count[fat.FEW] = few
        self.candidates = np.empty(64, np.int64)
        self._spare = np.empty(64, np.int64)
        self._keys = np.empty(64, np.int64)
        self.hold((0, 0))

    @property
    def left(self) -> int:
        """Boxes that left their enlarged ones at the last call."""
        return int(self.count[fat.LEFT])

    def hold(self, shape: tuple[int, ...]) -> None:
        """Begin anew with boxes (n, dim)."""
        self.fat_lower, self.fat_upper = np.full(shape, np.nan), np.full(shape, np.nan)
        self.which = np.arange(shape[0])
        self.count[fat.SPAN] = 0
        self._started = False

    def keys(self, lower: Floats, upper: Floats) -> Ints:
        """As ``BroadPhase.keys``."""
        if lower.shape != self.fat_lower.shape:
            self.hold(lower.shape)
        good = fat.still_good(lower, upper, self.fat_lower, self.fat_upper, self.which, self.count)
        if not good:
            self.renew(lower, upper)
        self._keys = grown(self._keys, self.count[fat.CANDIDATES])
        candidates = self.candidates[: self.count[fat.CANDIDATES]]
        size = fat.overlapping(candidates, lower, upper, self._keys)
        return self._keys[:size]

    def renew(self, lower: Floats, upper: Floats) -> None:
        """Candidates for boxes that ``still_good`` said no to."""
        count = self.count
        if not self._started:
            self._start(lower, upper)
        elif count[fat.SPENT] > count[fat.FEW] or count[fat.AGE] >= count[fat.SPAN]:
            self._restart(lower, upper)
        else:
            self._update(lower, upper)

    def stats(self) -> dict[str, int]:
        """left: boxes that left their enlarged ones; candidates; rebuilds: in all."""
        candidates = int(self.count[fat.CANDIDATES])
        return {"left": self.left, "candidates": candidates, "rebuilds": self.rebuilds}

    def _start(self, lower: Floats, upper: Floats) -> None:
        n = lower.shape[0]
        self._started = True
        self._everyone = np.arange(n)
        self._marked = np.zeros(n, np.bool_)
        self._was_lower = lower.copy()
        sample = slice(None, None, 1 + n // SAMPLE)
        self._typical = float(np.median((upper[sample] - lower[sample]).max(axis=1))) if n else 1.0
        self._typical = max(self._typical, 1e-300)
        # how boxes move is not known yet: room for 5 % of a width, and a look soon
        self._speed = np.full(n, 0.05 * self._typical / FIRST)
        self.count[fat.SPAN], self._reach = FIRST, float(FIRST)
        self.motion = math.inf
        self._rebuild(lower, upper)

    def _restart(self, lower: Floats, upper: Floats) -> None:
        """Candidates for as many steps as cost least, if boxes move r widths per step.

        There are about (1 + 2 r t)^3 candidates for t steps; finding one costs ten times as much
        as testing it, so a step costs (1 + 2 r t)^3 (1 + 10 / t); where the derivative is zero,
        6 r t^2 + 40 r t = 10.
        """
        r = self.motion = fat.measure_motion(
            lower, int(self.count[fat.AGE]), self._typical, self._was_lower, self._speed
        )
        span = (math.sqrt(1600.0 + 240.0 / max(r, 1e-9)) - 40.0) / 12.0
        self.count[fat.SPAN] = min(max(span, 2.0), float(LAST))
        self._reach = AHEAD * float(self.count[fat.SPAN])
        self._rebuild(lower, upper)

    def _rebuild(self, lower: Floats, upper: Floats) -> None:
        self.count[fat.AGE] = self.count[fat.SPENT] = 0
        self.rebuilds += 1
        self._enlarge(lower, upper, self._everyone)
        self.candidates, self.count[fat.CANDIDATES] = overlaps(
            self.fat_lower, self.fat_upper, self.candidates
        )

    def _enlarge(self, lower: Floats, upper: Floats, which: Ints) -> None:
        fat.enlarge(
            lower,
            upper,
            which,
            PART,
            self._typical,
            self._reach,
            self._speed,
            self.fat_lower,
            self.fat_upper,
        )

    def _update(self, lower: Floats, upper: Floats) -> None:
        which, known = self.which[: self.left], int(self.count[fat.CANDIDATES])
        far = np.abs(lower[which] - self._was_lower[which]).max(axis=1)
        self._speed[which] = np.maximum(self._speed[which], far / self.count[fat.AGE])
        self._enlarge(lower, upper, which)
        self._marked[which] = True
        while True:
            count = fat.meet(which, self._marked, self.fat_lower, self.fat_upper, self._spare)
            if count <= self._spare.size:
                break
            self._spare = np.empty(2 * count, np.int64)
        found = np.sort(self._spare[:count])
        self._spare = grown(self._spare, known + count)
        size = fat.replace(self.candidates[:known], self._marked, found, self._spare)
        self._marked[which] = False
        self.candidates = grown(self.candidates, size)  # others hold it: replaced only to grow
        self.candidates[:size] = self._spare[:size]
        self.count[fat.CANDIDATES] = size


def overlaps(lower: Floats, upper: Floats, room: Ints) -> tuple[Ints, int]:
    """Keys of the boxes that overlap, in `room` or in a larger array, and their number."""
    n, dim = lower.shape
    if n == 0:
        return room, 0
    sample = slice(None, None, 1 + n // SAMPLE)
    typical = float(np.median((upper[sample] - lower[sample]).max(axis=1)))
    typical = max(typical, 1e-300) * (1 + 2e-6)
    inverse = 1.0 / (typical * 2.0 ** np.arange(-MIDDLE, LEVELS - MIDDLE))
    inverse[-1] = 0.0
    origin = np.median(lower[sample], axis=0)
    level, order, cell_keys = np.empty((3, n), np.int64)
    cell, start = np.empty((n, 3), np.int64), np.empty(LEVELS + 1, np.int64)
    least, size = np.empty((2, LEVELS, 3), np.int64)
    kernels.place_boxes(lower, upper, origin, inverse, level, cell, start, least, size)
    spare = np.empty((2, n), np.int64)
    kernels.sort_boxes(
        level, cell, start, least, size, cell_keys, order, spare[0], spare[1], np.empty(2049, int)
    )
    a, b = np.empty_like(lower), np.empty_like(upper)
    kernels.sort_boxes_by(order, lower, upper, a, b)
    while True:
        count = 0
        for m in np.flatnonzero(np.diff(start)).tolist():
            row, layer = int(size[m, 0]), int(size[m, 0] * size[m, 1]) if dim == 3 else 0
            begin, end = int(start[m]), int(start[m + 1])
            count = kernels.pairs_of_level(
                begin, end, row, layer, cell_keys, order, a, b, room, count
            )
            if end < n:
                count = kernels.pairs_with_larger(
                    m, origin, inverse, start, least, size, cell_keys, order, a, b, room, count
                )
        if count <= room.size:
            break
        room = np.empty(count + count // 2, np.int64)
    fat.sort_pairs(room[:count], np.empty(count, np.int64), np.empty(n + 1, np.int64))
    return room, count
