"""What pair kernels remember from step to step, kept by pair in one flat array."""

from __future__ import annotations

import numpy as np

from drystone.errors import ArrayError
from drystone.kernels.broad_pairs import carry
from drystone.types import Floats, Ints


class Rows:
    """Rows of the pairs of one step, batch after batch.

    start (batches + 1,): rows of each batch; offset (batches + 1,): where its numbers begin in
    `cache`; keys (room,): the pair of each row, ascending in a batch.
    """

    __slots__ = ("cache", "keys", "offset", "start")

    def __init__(self, batches: int) -> None:
        self.start = np.zeros(batches + 1, np.int64)
        self.offset = np.zeros(batches + 1, np.int64)
        self.keys = np.empty(64, np.int64)
        self.cache = np.empty(256)


class PairCache:
    """Rows of this step and of the last one; width (batches,): columns of each batch."""

    def __init__(self, width: Ints) -> None:
        self.width = width
        self.now = Rows(width.size)
        self.next = Rows(width.size)

    def advance(self) -> Rows:
        """Take over what the pairs of `next` had before; `next` becomes `now`."""
        old, new = self.now, self.next
        room = int(new.offset[-1])
        if new.cache.size < room:
            new.cache = np.empty(2 * room)
        same = carry(
            self.width,
            old.start,
            old.offset,
            old.keys,
            old.cache,
            new.start,
            new.offset,
            new.keys,
            new.cache,
        )
        if not same:
            self.now, self.next = new, old
        return self.now

    def export(self, uid: Ints) -> dict[str, Ints | Floats]:
        """Plain arrays: pair (m, 2) of uids, width (m,), cache (sum of widths); uid (ng,) by
        rank. Pairs that remember nothing are left out."""
        rows = self.now
        kept = np.repeat(self.width, np.diff(rows.start))
        keys = rows.keys[: rows.start[-1]][kept > 0]
        pair = np.stack((uid[keys >> 32], uid[keys & 0xFFFFFFFF]), axis=1)
        return {
            "pair": pair,
            "width": kept[kept > 0],
            "cache": rows.cache[: rows.offset[-1]].copy(),
        }

    def load(self, data: dict[str, Ints | Floats], uid: Ints, batch_of: Ints) -> int:
        """Rows of `export`, for geoms that may have come and gone since; -> rows in use.

        uid (ng,) by rank; batch_of (ng, 2): terms of the batch, whose sum is its number. Rows of
        geoms that are gone, or whose geoms changed sides, are dropped.
        """
        pair, width, cache = _checked(data)
        by_uid = np.argsort(uid, kind="stable")
        place = np.searchsorted(uid[by_uid], pair)
        known = place < uid.size
        rank = by_uid[np.where(known, place, 0)] if uid.size else np.zeros_like(pair)
        known &= uid[rank] == pair if uid.size else False
        live = np.flatnonzero(known.all(axis=1) & (rank[:, 0] < rank[:, 1]))
        rank = rank[live]
        batch = batch_of[rank[:, 0], 0] + batch_of[rank[:, 1], 1]
        if (self.width[batch] != width[live]).any():
            raise ArrayError("width: this is the cache of other pair kernels")
        keys = (rank[:, 0] << 32) | rank[:, 1]
        sort = np.lexsort((keys, batch))
        rows = Rows(self.width.size)
        rows.keys = keys[sort]
        counts = np.bincount(batch, minlength=self.width.size)
        np.cumsum(counts, out=rows.start[1:])
        np.cumsum(counts * self.width, out=rows.offset[1:])
        begin = (np.cumsum(width) - width)[live][sort]
        rows.cache = np.empty(max(int(rows.offset[-1]), 1))
        for c in np.flatnonzero(counts).tolist():
            first = begin[rows.start[c] : rows.start[c + 1]]
            values = cache[first[:, None] + np.arange(self.width[c])]
            rows.cache[rows.offset[c] : rows.offset[c + 1]] = values.ravel()
        self.now, self.next = rows, Rows(self.width.size)
        return int(keys.size)


def _checked(data: dict[str, Ints | Floats]) -> tuple[Ints, Ints, Floats]:
    for name in ("pair", "width", "cache"):
        if name not in data:
            raise ArrayError(f"{name}: missing from the state of a detector")
    pair, width = np.asarray(data["pair"], np.int64), np.asarray(data["width"], np.int64)
    cache = np.asarray(data["cache"], np.float64)
    if pair.shape != (width.size, 2) or width.ndim != 1:
        raise ArrayError(f"pair: shape {pair.shape}, expected ({width.size}, 2)")
    if cache.shape != (width.sum(),) or (width < 0).any():
        raise ArrayError(f"cache: {cache.size} numbers, expected {width.sum()}, the sum of width")
    return pair, width, cache
