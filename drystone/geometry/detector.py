"""Contacts of all geoms: boxes, broad phase, rules, and one batched kernel per pair of kinds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from drystone.errors import ArrayError, SimulationError
from drystone.geometry import dispatch
from drystone.geometry.broad_phase import BRUTE_FORCE_BOXES, Auto, BroadPhase, Grid, make_broad
from drystone.geometry.contact_buffer import COLUMNS, ContactBuffer
from drystone.geometry.kinds import PairKernel
from drystone.geometry.pair_cache import PairCache
from drystone.geometry.ranking import Ranking
from drystone.geometry.shapes import KINDS
from drystone.kernels import detect as stage
from drystone.kernels import layout
from drystone.kernels._calls import address
from drystone.kernels.bounds import bounds_planar, bounds_spatial
from drystone.kernels.broad import renew, still_good
from drystone.kernels.packed import Packed
from drystone.kernels.pairs import Pairs, PosedGeoms
from drystone.model import Contacts, Geoms
from drystone.types import Bools, Floats, Ints


class Detector:
    """Finds the contacts of a set of geoms, and remembers what speeds up the next call.

    movable (nb,) bool: bodies that contact forces can move; a pair of others is never tested.
    layer (nb,) int: bits; bodies collide if they share one. ignored: ascending keys a * nb + b,
    a < b, of bodies that never collide. broad: name of the broad phase, see ``make_broad``;
    it changes the time taken and nothing else. names (nb,): of bodies, for messages.

    scan: all that the compiled stage ``kernels.detect.detect`` needs. Who calls the stage asks
    ``serve`` when it returns a code, and calls it again.
    """

    scan: Packed

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
        known = self.by_uid()
        self._set_up(geoms, movable, layer, ignored, names)
        self.restore(known)

    def contacts(self, x: Floats, R: Floats, margin: Floats) -> Contacts:
        """Contacts with a gap of at most margin[a] + margin[b].

        x (ng, dim) [m], R (ng, dim, dim): pose of every geom; margin (ng,) [m]. Ordered by pair
        of kinds, then by geoms (a, b), then as the pair's kernel orders its points.
        """
        x, R, margin = self._checked(x, R, margin)
        self.scan.stage = stage.BOXES
        while code := stage.detect(self.scan, x, R, margin):
            self.serve(code)
        return self._out.contacts(int(self.scan.n_contacts))

    def serve(self, code: int) -> None:
        """Serve the request of ``detect`` with this code; `scan` then has longer arrays if need be.

        Raises if it cannot be helped: a pose that is not finite, a pair without a kernel.
        """
        scan = self.scan
        wanted = scan.wanted
        if code == stage.NOT_FINITE:
            raise self._lost(int(self.scan.bad))
        if code == stage.BROAD:
            self._find_candidates()
        elif code == stage.ROOM_PAIRS:
            self._make_room_for_pairs(wanted, int(self.scan.n_overlaps))
        elif code == stage.ROOM_CACHE:
            self._cache.grow(wanted)
        elif code == stage.ROOM_CONTACTS:
            running = self.scan.stage == stage.RUN
            self._out.grow(wanted, int(self.scan.before) if running else 0)
        elif code == stage.NO_KERNEL:
            self._load(int(self.scan.batch))
        self.scan = self._scan()

    def state(self) -> dict[str, Any]:
        """What the pair kernels remember, as plain arrays, see ``PairCache.state``. The broad
        phase needs nothing: its answer does not depend on its past."""
        return self._cache.state(self._now)

    def by_uid(self) -> dict[str, Any]:
        """The same with the uids of geoms, which others may come between; see
        ``PairCache.export``."""
        return self._cache.export(self._ranking.uid[self._ranking.order], self._now)

    def restore(self, state: dict[str, Any]) -> None:
        """Take over what ``state`` gave, here or elsewhere, for the same geoms; or what
        ``by_uid`` gave, for geoms that may have come and gone since."""
        self.scan.stage = stage.BOXES  # whatever a call that failed left
        if "pair" not in state:
            self._cache.restore(state, self._now)
        else:
            ranking = self._ranking
            terms = np.stack((ranking.code * ranking.kinds.size, ranking.code), axis=1)
            self._cache.load(state, ranking.uid[ranking.order], terms, self._now)
        cache, scan = self._cache, self.scan
        if cache.keys is not scan.keys or cache.cache is not scan.cache:
            scan.put(keys=cache.keys, cache=cache.cache)

    @property
    def stats(self) -> dict[str, Any]:
        """Counts of the last call: pairs tested, contacts; of the broad phase; and of each pair
        of kinds with what its kernel counts."""
        return self._counts(self.scan.tally)

    @property
    def totals(self) -> dict[str, Any]:
        """``stats`` summed over all calls since the geoms last changed."""
        return {"calls": int(self.scan.calls), **self._counts(self.scan.total)}

    @property
    def _now(self) -> int:
        return int(self.scan.now)

    def _counts(self, table: Ints) -> dict[str, Any]:
        by_kinds = {}
        for c, entry in sorted(self._kernels.items()):
            row = table[c].tolist()
            counts: dict[str, Any] = {
                "pairs": row[stage.TESTED],
                "contacts": row[stage.CONTACTS_FOUND],
            }
            counts.update(zip(entry.counters, row, strict=False))
            if "hits" in entry.counters and row[stage.TESTED]:
                counts["hit_rate"] = counts["hits"] / row[stage.TESTED]
            a, b = self._kinds_of(c)
            by_kinds[f"{KINDS[a].name} / {KINDS[b].name}"] = counts
        each = self.scan.method == stage.EACH
        broad = {
            "method": "all-pairs" if each else self._broad.name,
            "overlaps": int(self.scan.n_found),
        }
        return {
            "pairs": int(table[:, stage.TESTED].sum()),
            "contacts": int(table[:, stage.CONTACTS_FOUND].sum()),
            "broad": broad if each else broad | self._broad.stats(),
            "kinds": by_kinds,
        }

    def _set_up(
        self, geoms: Geoms, movable: Bools, layer: Ints, ignored: Ints | None, names: Sequence[str]
    ) -> None:
        self._geoms, dim = geoms, geoms.dim
        ranking = self._ranking = Ranking(geoms, movable, layer, ignored, names)
        n, batches = ranking.bounded, ranking.kinds.size**2
        method = self._set_up_broad((n, dim))
        self._kernels: dict[int, PairKernel] = {}
        self._pair_kernel = np.full(batches, -1, np.int64)
        self._kernel_calls = np.zeros((batches, 3), np.int64)
        self._points, width = np.zeros(batches, np.int64), np.zeros(batches, np.int64)
        for c in range(batches):
            entry = dispatch.find(*self._kinds_of(c))
            if entry is not None:
                self._points[c], width[c] = entry.points, entry.width
        self._tally = np.zeros((2, batches, 10), np.int64)
        self._cache = PairCache(width)
        self._out = ContactBuffer(dim)
        ng = len(ranking)
        self._poses = np.zeros((ng, dim)), np.zeros((ng, dim, dim)), np.zeros(ng)
        self._found = np.empty(0, np.int64)
        self._make_room_for_pairs(64 + (n * (n - 1) // 2 if n <= BRUTE_FORCE_BOXES else 4 * n), 0)
        self.scan = self._scan()
        numbers = [name for name, field in layout.SCAN.items() if field.shape is None]
        begin = {"n_bodies": ranking.movable.size, "method": method}
        self.scan.put(**dict.fromkeys(numbers, 0) | begin)
        self._load_parts(dim)

    def _set_up_broad(self, shape: tuple[int, int]) -> int:
        """The broad phase; returns how the stage finds pairs of boxes."""
        self._lower, self._upper = np.empty(shape), np.empty(shape)
        broad: BroadPhase = make_broad(self._method)
        self._broad = broad
        self._grid = broad if isinstance(broad, Grid) else Grid()
        self._grid.hold(shape)
        if isinstance(broad, Auto) and shape[0] <= BRUTE_FORCE_BOXES:
            return stage.EACH
        return stage.KEPT if isinstance(broad, Grid) else stage.ASK

    def _scan(self) -> Packed:
        """All arrays as they are now, packed."""
        k, grid, cache = self._ranking, self._grid, self._cache
        arrays = (
            k.kind, k.first, k.numbers, k.first_int, k.ints, k.radius, k.tile, k.bend, k.order,
            k.geom, k.ignored, self._lower, self._upper, grid.keep, self._found, self._work,
            self._pairs, self._margin, self._pair_kernel, self._points, self._kernel_calls,
            cache.width, cache.start, cache.offset, cache.keys, cache.cache, self._tally[0],
            self._tally[1], *(getattr(self._out, name) for name in COLUMNS), *self._poses,
        )  # fmt: skip
        names = [name for name, field in layout.SCAN.items() if field.shape is not None]
        fields = dict(zip(names, arrays, strict=True))
        if not hasattr(self, "scan"):
            numbers = {name: 0 for name in layout.SCAN if name not in fields}
            return Packed(**numbers, **fields)
        self.scan.put(**fields)
        return self.scan

    def _kinds_of(self, batch: int) -> tuple[int, int]:
        a, b = divmod(batch, self._ranking.kinds.size)
        return int(self._ranking.kinds[a]), int(self._ranking.kinds[b])

    def _checked(self, x: Floats, R: Floats, margin: Floats) -> tuple[Floats, ...]:
        ng, dim = len(self._ranking), self._geoms.dim
        for name, array, shape in (
            ("x", x, (ng, dim)),
            ("R", R, (ng, dim, dim)),
            ("margin", margin, (ng,)),
        ):
            if array.shape != shape:
                raise ArrayError(f"{name}: shape {array.shape}, expected {shape}")
        return tuple(
            a if a.dtype == np.float64 and a.flags.carray else np.require(a, np.float64, ["C", "W"])
            for a in (x, R, margin)
        )

    def _lost(self, geom: int) -> SimulationError:
        rank = int(np.flatnonzero(self._ranking.order == geom)[0])
        return SimulationError(
            f"body {self._ranking.owner(geom)}: its pose is not finite (the box of its geom "
            f"reaches from {self._lower[rank]} to {self._upper[rank]})"
        )

    def _find_candidates(self) -> None:
        """Room for candidates; or what another broad phase says of the boxes of the stage."""
        if self.scan.method == stage.KEPT:
            self._grid.grow()
            return
        keys = self._broad.keys(self._lower, self._upper)
        self._make_room_for_pairs(keys.size, 0)
        self._found[: keys.size] = keys
        self.scan.n_overlaps, self.scan.stage = keys.size, stage.FLAT

    def _make_room_for_pairs(self, room: int, used: int) -> None:
        """The first keys found are kept; all else about pairs is written anew."""
        known = self._found
        if room > known.size:
            room = max(room + room // 8, known.size + known.size // 4)
            self._found, self._work = np.empty(room, np.int64), np.empty(room, np.int64)
            used = min(used, known.size)
            self._found[:used] = known[:used]
            self._pairs, self._margin = np.empty((room, 2), np.int64), np.empty(room)
            self._cache.grow_pairs(room)

    def _load(self, c: int) -> None:
        """The kernel of a pair of kinds, when a pair of these kinds is first near."""
        entry = dispatch.find(*self._kinds_of(c))
        if entry is None:
            row = self._cache.start[1 - self._now, c]
            self.scan.stage = stage.BOXES
            raise self._ranking.refuse(*self._pairs[row].tolist())
        self._kernels[c] = entry
        self._kernel_calls[c] = entry.calls()
        self._pair_kernel[c] = address(entry.load(), *self._example(entry.width))

    def _load_parts(self, dim: int) -> None:
        """Addresses of the parts of the stage, for arguments like those it calls them with."""
        k, s = self._ranking, self.scan
        x, R, margin = np.empty((1, dim)), np.empty((1, dim, dim)), np.empty(1)
        geoms = PosedGeoms(x, R, k.kind, k.first, k.numbers, k.first_int, k.ints)
        boxes = self._lower, self._upper
        fill = bounds_planar if dim == 2 else bounds_spatial
        s.at_bound = address(fill, k.order, geoms, margin, *boxes)
        if self.scan.method == stage.KEPT:
            self._grid.load()
            s.at_hold = address(still_good, s.keep, *boxes)
            s.at_anew = address(renew, s.keep, *boxes)
        s.at_meet = address(stage.meet_boxes, s)
        s.at_reach = address(stage.reach_below, k.order, k.radius, x, R, margin, *boxes, s.found)
        rows = s.start[0], s.offset[0], s.keys[0]
        s.at_split = address(stage.sort_pairs, s, margin)
        s.at_carry = address(stage.carry, s.width, *rows, s.cache[0], *rows, s.cache[0])
        s.at_run_all = address(stage.run_batches, s, x, R)
        if k.tile.size:
            from drystone.kernels.spatial.mesh_filter import filter_mesh_contacts

            out = self._out
            s.at_mesh = address(
                filter_mesh_contacts,
                k.tile,
                k.bend,
                geoms,
                out.geom_a,
                out.geom_b,
                out.room_for_kernels(),
            )

    def _example(self, width: int) -> tuple[Any, ...]:
        """Arguments like those that the stage calls pair kernels with."""
        k, dim, ints = self._ranking, self._geoms.dim, np.empty(8, np.int64)
        pairs = Pairs(self._pairs, self._margin, np.empty((1, width)), ints, ints)
        x, R = np.empty((1, dim)), np.empty((1, dim, dim))
        geoms = PosedGeoms(x, R, k.kind, k.first, k.numbers, k.first_int, k.ints)
        return pairs, geoms, self._out.room_for_kernels()
