"""Contacts of all geoms: boxes, broad phase, rules, and one batched kernel per pair of kinds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from drystone.errors import ArrayError, SimulationError
from drystone.geometry import dispatch, kinds
from drystone.geometry.broad import BroadPhase, make_broad
from drystone.geometry.contact_buffer import ContactBuffer
from drystone.geometry.narrow import PairKernel
from drystone.geometry.pair_cache import PairCache
from drystone.geometry.ranking import Ranking
from drystone.kernels.bounds import bounds
from drystone.kernels.broad_pairs import rank_boxes, reach_below, split
from drystone.model import Contacts, Geoms
from drystone.types import Bools, Floats, Ints

PAIRS, CONTACTS = 8, 9  # columns behind the eight counters of a pair kernel


class Detector:
    """Finds the contacts of a set of geoms, and remembers what speeds up the next call.

    movable (nb,) bool: bodies that contact forces can move; a pair of others is never tested.
    layer (nb,) int: bits; bodies collide if they share one. ignored: ascending keys a * nb + b,
    a < b, of bodies that never collide. broad: name of the broad phase, see ``make_broad``;
    it changes the time taken and nothing else. names (nb,): of bodies, for messages.
    """

    def __init__(
        self,
        geoms: Geoms,
        movable: Bools,
        layer: Ints,
        ignored: Ints | None = None,
        *,
        broad: str = "auto",
        names: Sequence[str] = (),
    ) -> None:
        self._method = broad
        self._set_up(geoms, movable, layer, ignored, names)

    def remap(
        self,
        geoms: Geoms,
        movable: Bools,
        layer: Ints,
        ignored: Ints | None = None,
        *,
        names: Sequence[str] = (),
    ) -> None:
        """Go on with other geoms and bodies; pairs of geoms that stay (by uid) keep their cache."""
        known = self.state()
        self._set_up(geoms, movable, layer, ignored, names)
        self.restore(known)

    def contacts(self, x: Floats, R: Floats, margin: Floats) -> Contacts:
        """Contacts with a gap of at most margin[a] + margin[b].

        x (ng, dim) [m], R (ng, dim, dim): pose of every geom; margin (ng,) [m]. Ordered by pair
        of kinds, then by geoms (a, b), then as the pair's kernel orders its points.
        """
        x, R, margin = self._checked(x, R, margin)
        self._split(self._overlaps(x, R, margin), margin)
        rows = self._cache.advance()
        start, offset = rows.start.tolist(), rows.offset.tolist()
        self._last.fill(0)
        at = 0
        for c in self._batches:
            if start[c] < start[c + 1]:
                cache = rows.cache[offset[c] : offset[c + 1]]
                at = self._batch(c, start[c], start[c + 1], x, R, cache, at)
        self._total += self._last
        self._calls += 1
        found = self._out.contacts(self._pairs, at)
        return self._on_surfaces(found, x, R) if self._geoms.tile.size else found

    def _on_surfaces(self, found: Contacts, x: Floats, R: Floats) -> Contacts:
        """Without what a mesh's prisms answer at edges that its surface does not have."""
        from drystone.kernels.spatial.mesh_filter import filter_mesh_contacts

        geoms = self._geoms
        left = filter_mesh_contacts(
            geoms.tile, geoms.bend, x, R, geoms.first, geoms.numbers, found.geom_a, found.geom_b,
            found.point, found.normal, found.gap, found.feature,
        )  # fmt: skip
        return Contacts(
            found.geom_a[:left],
            found.geom_b[:left],
            found.point[:left],
            found.normal[:left],
            found.gap[:left],
            found.feature[:left],
        )

    def state(self) -> dict[str, Any]:
        """What the pair kernels remember, as plain arrays: `pair` (m, 2) of uids, `width` (m,)
        and `cache`. The broad phase needs nothing: its answer does not depend on its past."""
        return self._cache.export(self._ranking.uid[self._ranking.order])

    def restore(self, state: dict[str, Any]) -> None:
        """Take over what ``state`` gave, here or elsewhere; geoms are told by their uid."""
        ranking = self._ranking
        terms = np.stack((ranking.code * ranking.kinds.size, ranking.code), axis=1)
        self._cache.load(state, ranking.uid[ranking.order], terms)

    @property
    def stats(self) -> dict[str, Any]:
        """Counts of the last call: pairs tested, contacts; of the broad phase; and of each pair
        of kinds with what its kernel counts."""
        return self._counts(self._last)

    @property
    def totals(self) -> dict[str, Any]:
        """``stats`` summed over all calls since the geoms last changed."""
        return {"calls": self._calls, **self._counts(self._total)}

    def _counts(self, table: Ints) -> dict[str, Any]:
        by_kinds = {}
        for c, (entry, _) in sorted(self._kernels.items()):
            row = table[c].tolist()
            counts: dict[str, Any] = {"pairs": row[PAIRS], "contacts": row[CONTACTS]}
            counts.update(zip(entry.counters, row, strict=False))
            if "hits" in entry.counters and row[PAIRS]:
                counts["hit_rate"] = counts["hits"] / row[PAIRS]
            a, b = self._kinds_of(c)
            by_kinds[f"{kinds.NAMES[a]} / {kinds.NAMES[b]}"] = counts
        overlaps = {"method": self._broad.name, "overlaps": self._overlap_count}
        return {
            "pairs": int(table[:, PAIRS].sum()),
            "contacts": int(table[:, CONTACTS].sum()),
            "broad": overlaps | self._broad.stats(),
            "kinds": by_kinds,
        }

    def _set_up(
        self,
        geoms: Geoms,
        movable: Bools,
        layer: Ints,
        ignored: Ints | None,
        names: Sequence[str],
    ) -> None:
        self._geoms, dim = geoms, geoms.dim
        ranking = self._ranking = Ranking(geoms, movable, layer, ignored, names)
        ng, nk = len(ranking), ranking.kinds.size
        self._lower, self._upper = np.empty((ng, dim)), np.empty((ng, dim))
        boxes = (ranking.bounded, dim)
        self._ranked_lower, self._ranked_upper = np.empty(boxes), np.empty(boxes)
        self._broad: BroadPhase = make_broad(self._method)
        self._overlap_count = 0
        self._batches = [k * nk + m for k in range(nk) for m in range(k, nk)]
        self._kernels: dict[int, tuple[PairKernel, Callable[..., Any]]] = {}
        self._last = np.zeros((nk * nk, 10), np.int64)
        self._total = np.zeros((nk * nk, 10), np.int64)
        self._calls = 0
        width = np.zeros(nk * nk, np.int64)
        for c in self._batches:
            entry = dispatch.find(*self._kinds_of(c))
            width[c] = entry.width if entry else 0
        self._cache = PairCache(width)
        self._found = np.empty(0, np.int64)
        self._make_room_for_pairs(64)
        self._out = ContactBuffer(dim)

    def _kinds_of(self, batch: int) -> tuple[int, int]:
        a, b = divmod(batch, self._ranking.kinds.size)
        return int(self._ranking.kinds[a]), int(self._ranking.kinds[b])

    def _checked(self, x: Floats, R: Floats, margin: Floats) -> tuple[Floats, Floats, Floats]:
        ng, dim = self._lower.shape
        for name, array, shape in (
            ("x", x, (ng, dim)),
            ("R", R, (ng, dim, dim)),
            ("margin", margin, (ng,)),
        ):
            if array.shape != shape:
                raise ArrayError(f"{name}: shape {array.shape}, expected {shape}")
        return np.ascontiguousarray(x), np.ascontiguousarray(R), np.ascontiguousarray(margin)

    def _overlaps(self, x: Floats, R: Floats, margin: Floats) -> Ints:
        """Keys of the pairs whose boxes overlap, and of geoms near a half-space."""
        k = self._ranking
        lower, upper = self._ranked_lower, self._ranked_upper
        bounds(
            k.kind, x, R, k.first, k.numbers, k.first_int, k.ints, margin, self._lower, self._upper
        )
        bad = rank_boxes(k.order, self._lower, self._upper, lower, upper)
        if bad >= 0:
            raise SimulationError(
                f"body {k.owner(bad)}: its pose is not finite (position of its geom {x[bad]})"
            )
        keys = self._broad.keys(lower, upper)
        size = keys.size
        self._make_room_for_pairs(size + k.bounded * (len(k) - k.bounded))
        self._found[:size] = keys
        if k.bounded < len(k):
            rest = self._found[size:]
            size += reach_below(k.order, k.radius, x, R, margin, lower, upper, rest)
        self._overlap_count = size
        return self._found[:size]

    def _split(self, found: Ints, margin: Floats) -> None:
        k, rows = self._ranking, self._cache.next
        if rows.keys.size < found.size:
            rows.keys = np.empty(self._found.size, np.int64)
        split(
            k.geom,
            k.movable.size,
            k.ignored,
            self._cache.width,
            margin,
            found,
            self._work,
            rows.start,
            rows.offset,
            rows.keys,
            self._pairs,
            self._margin,
        )

    def _make_room_for_pairs(self, room: int) -> None:
        """The keys found are written anew at each call: nothing needs to be kept."""
        if room > self._found.size:
            room = max(room, 2 * self._found.size)
            self._found, self._work = np.empty(room, np.int64), np.empty(room, np.int64)
            self._pairs, self._margin = np.empty((room, 2), np.int64), np.empty(room)

    def _batch(
        self, c: int, begin: int, end: int, x: Floats, R: Floats, cache: Floats, at: int
    ) -> int:
        """Contacts of one pair of kinds, written behind the first `at`; -> the new number."""
        entry, run = self._kernels.get(c) or self._load(c, begin)
        k, out, counters = self._ranking, self._out, self._last[c]
        number = end - begin
        cache = cache.reshape(number, entry.width)
        out.grow(at + number * entry.points, at)
        while True:
            count = run(
                self._pairs[begin:end],
                self._margin[begin:end],
                x,
                R,
                k.first,
                k.numbers,
                k.first_int,
                k.ints,
                cache,
                out.which[at:],
                out.point[at:],
                out.normal[at:],
                out.gap[at:],
                out.feature[at:],
                counters[:PAIRS],
            )
            if count >= 0:
                break
            counters.fill(0)
            out.grow(2 * out.room, at)
        out.which[at : at + count] += begin
        counters[PAIRS], counters[CONTACTS] = number, count
        return at + int(count)

    def _load(self, c: int, row: int) -> tuple[PairKernel, Callable[..., Any]]:
        entry = dispatch.find(*self._kinds_of(c))
        if entry is None:
            a, b = self._pairs[row].tolist()
            raise self._ranking.refuse(a, b)
        self._kernels[c] = entry, entry.load()
        return self._kernels[c]
