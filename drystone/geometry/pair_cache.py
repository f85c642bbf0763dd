"""What pair kernels remember from step to step, kept by pair in one flat array."""

from __future__ import annotations

import numpy as np

from drystone.errors import ArrayError
from drystone.types import Floats, Ints

NONE, NOTHING = np.empty(0, np.int64), np.empty(0)  # shared: nobody can change them


class PairCache:
    """Rows of this step's pairs and of the last one's, batch after batch; `now` is 0 or 1.

    width (batches,): columns of each batch. Of either step: start (batches + 1,): rows of each
    batch; offset (batches + 1,): where its numbers begin in cache (room,); keys (room,): the pair
    of each row, ascending in a batch.
    """

    def __init__(self, width: Ints) -> None:
        self.width = width
        self.start = np.zeros((2, width.size + 1), np.int64)
        self.offset = np.zeros((2, width.size + 1), np.int64)
        self.keys = np.empty((2, 64), np.int64)
        self.cache = np.empty((2, 256))
        self._widths = width.tolist()
        self._wide = np.flatnonzero(width).tolist()  # batches that remember anything

    def grow_pairs(self, room: int) -> None:
        """Room for the keys of so many pairs; those there are stay."""
        if room > self.keys.shape[1]:
            self.keys = _wider(self.keys, room)

    def grow(self, room: int) -> None:
        """Room for so many numbers; those there are stay."""
        if room > self.cache.shape[1]:
            self.cache = _wider(self.cache, room)

    def state(self, now: int) -> dict[str, Ints | Floats]:
        """What is remembered, for the same geoms: count (w,) rows of each batch that remembers
        anything, their keys, and cache."""
        room = int(self.offset[now, -1])
        if not room:
            return {"count": np.zeros(len(self._wide), np.int64), "keys": NONE, "cache": NOTHING}
        ends = self.start[now].tolist()
        spans = [(ends[c], ends[c + 1]) for c in self._wide]
        parts = [self.keys[now, a:b] for a, b in spans if b > a]
        return {
            "count": np.array([b - a for a, b in spans], np.int64),
            "keys": parts[0].copy() if len(parts) == 1 else np.concatenate(parts),
            "cache": self.cache[now, :room].copy(),
        }

    def restore(self, data: dict[str, Ints | Floats], now: int) -> None:
        """Take over what ``state`` gave."""
        keys, cache, counts = data["keys"], data["cache"], data["count"].tolist()
        if len(counts) != len(self._wide) or min(counts, default=0) < 0:
            raise ArrayError("count: this is the cache of other kinds of pairs")
        if not any(counts) and not keys.size and not cache.size:
            self.start[now] = self.offset[now] = 0
            return
        start, offset, left = [0], [0], iter(counts)
        for width in self._widths:
            rows = next(left) if width else 0
            start.append(start[-1] + rows)
            offset.append(offset[-1] + rows * width)
        if keys.shape != (start[-1],) or cache.shape != (offset[-1],):
            raise ArrayError("cache: this is the cache of other pairs")
        self.start[now], self.offset[now] = start, offset
        self.grow_pairs(keys.size)
        self.grow(cache.size)
        self.keys[now, : keys.size], self.cache[now, : cache.size] = keys, cache

    def export(self, uid: Ints, now: int) -> dict[str, Ints | Floats]:
        """Plain arrays: pair (m, 2) of uids, width (m,), cache (sum of widths); uid (ng,) by
        rank. Pairs that remember nothing are left out."""
        start, offset = self.start[now], self.offset[now]
        kept = np.repeat(self.width, np.diff(start))
        keys = self.keys[now, : start[-1]][kept > 0]
        pair = np.stack((uid[keys >> 32], uid[keys & 0xFFFFFFFF]), axis=1)
        return {
            "pair": pair,
            "width": kept[kept > 0],
            "cache": self.cache[now, : offset[-1]].copy(),
        }

    def load(self, data: dict[str, Ints | Floats], uid: Ints, batch_of: Ints, now: int) -> int:
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
        counts = np.bincount(batch, minlength=self.width.size)
        start, offset = self.start[now], self.offset[now]
        np.cumsum(counts, out=start[1:])
        np.cumsum(counts * self.width, out=offset[1:])
        self.grow_pairs(keys.size)
        self.grow(int(offset[-1]))
        self.keys[now, : keys.size] = keys[sort]
        begin = (np.cumsum(width) - width)[live][sort]
        for c in np.flatnonzero(counts).tolist():
            first = begin[start[c] : start[c + 1]]
            values = cache[first[:, None] + np.arange(self.width[c])]
            self.cache[now, offset[c] : offset[c + 1]] = values.ravel()
        return int(keys.size)


def _wider(rows: np.ndarray, room: int) -> np.ndarray:
    wider = np.empty((2, max(room, rows.shape[1] + rows.shape[1] // 2)), rows.dtype)
    wider[:, : rows.shape[1]] = rows
    return wider


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
