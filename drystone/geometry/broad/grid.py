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
    was last measured, in typical widths; candidates: how many pairs are tested in a step.
    """

    name = "grid"

    def __init__(self, few: int = 50) -> None:
        self.few = few
        self.left = 0
        self.rebuilds = 0
        self.motion = math.inf
        self._age = self._spent = self._span = 0
        self._fat_lower = self._fat_upper = np.empty((0, 0))
        self._kept = np.empty(64, np.int64)
        self._spare = np.empty(64, np.int64)
        self._keys = np.empty(64, np.int64)
        self.candidates = 0

    def keys(self, lower: Floats, upper: Floats) -> Ints:
        """As ``BroadPhase.keys``."""
        if lower.shape != self._fat_lower.shape:
            self._start(lower, upper)
        else:
            self._age += 1
            self.left = fat.find_left(lower, upper, self._fat_lower, self._fat_upper, self._which)
            self._spent += self.left
            if self._spent > self.few or self._age >= self._span:
                self._restart(lower, upper)
            elif self.left > 0:
                self._update(lower, upper)
        self._keys = grown(self._keys, self.candidates)
        size = fat.overlapping(self._kept[: self.candidates], lower, upper, self._keys)
        return self._keys[:size]

    def stats(self) -> dict[str, int]:
        """left: boxes that left their enlarged ones; candidates; rebuilds: in all."""
        return {"left": self.left, "candidates": self.candidates, "rebuilds": self.rebuilds}

    def _start(self, lower: Floats, upper: Floats) -> None:
        n = self.left = lower.shape[0]
        self._fat_lower, self._fat_upper = np.empty_like(lower), np.empty_like(lower)
        self._which, self._everyone = np.arange(n), np.arange(n)
        self._marked = np.zeros(n, np.bool_)
        self._was_lower = lower.copy()
        sample = slice(None, None, 1 + n // SAMPLE)
        self._typical = float(np.median((upper[sample] - lower[sample]).max(axis=1))) if n else 1.0
        self._typical = max(self._typical, 1e-300)
        # how boxes move is not known yet: room for 5 % of a width, and a look soon
        self._speed = np.full(n, 0.05 * self._typical / FIRST)
        self._span, self._reach = FIRST, float(FIRST)
        self.motion = math.inf
        self._rebuild(lower, upper)

    def _restart(self, lower: Floats, upper: Floats) -> None:
        """Candidates for as many steps as cost least, if boxes move r widths per step.

        There are about (1 + 2 r t)^3 candidates for t steps; finding one costs ten times as much
        as testing it, so a step costs (1 + 2 r t)^3 (1 + 10 / t); where the derivative is zero,
        6 r t^2 + 40 r t = 10.
        """
        r = self.motion = fat.measure_motion(
            lower, self._age, self._typical, self._was_lower, self._speed
        )
        span = (math.sqrt(1600.0 + 240.0 / max(r, 1e-9)) - 40.0) / 12.0
        self._span = int(min(max(span, 2.0), float(LAST)))
        self._reach = AHEAD * self._span
        self._rebuild(lower, upper)

    def _rebuild(self, lower: Floats, upper: Floats) -> None:
        self._age = self._spent = 0
        self.rebuilds += 1
        self._enlarge(lower, upper, self._everyone)
        self._kept, self.candidates = overlaps(self._fat_lower, self._fat_upper, self._kept)

    def _enlarge(self, lower: Floats, upper: Floats, which: Ints) -> None:
        fat.enlarge(
            lower,
            upper,
            which,
            PART,
            self._typical,
            self._reach,
            self._speed,
            self._fat_lower,
            self._fat_upper,
        )

    def _update(self, lower: Floats, upper: Floats) -> None:
        which = self._which[: self.left]
        far = np.abs(lower[which] - self._was_lower[which]).max(axis=1)
        self._speed[which] = np.maximum(self._speed[which], far / self._age)
        self._enlarge(lower, upper, which)
        self._marked[which] = True
        while True:
            count = fat.meet(which, self._marked, self._fat_lower, self._fat_upper, self._spare)
            if count <= self._spare.size:
                break
            self._spare = np.empty(2 * count, np.int64)
        found = np.sort(self._spare[:count])
        self._spare = grown(self._spare, self.candidates + count)
        size = fat.replace(self._kept[: self.candidates], self._marked, found, self._spare)
        self._marked[which] = False
        self._kept, self._spare, self.candidates = self._spare, self._kept, size


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
