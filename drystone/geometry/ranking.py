"""Geoms in the order the detector counts them in, with the rules that let bodies collide."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from drystone.errors import ArrayError, ModelError, UnsupportedPairError
from drystone.geometry.shapes import KINDS, UNBOUNDED
from drystone.geometry.surface_numbers import unbound
from drystone.kernels.detect import split
from drystone.model import Geoms
from drystone.types import Bools, Floats, Ints


def _ints(values: object) -> Ints:
    return np.require(values, np.int64, ["C", "W"])


def _floats(values: object) -> Floats:
    return np.require(values, np.float64, ["C", "W"])


class Ranking:
    """Arrays of the geoms as kernels want them, and each geom's rank: by kind, then by index.

    order (ng,): index of the geom of each rank; code (ng,): place of the rank's kind in `kinds`;
    geom (ng, 5): index, code, body, layer, whether the body can move, by rank, side by side
    because pairs ask for all of them; bounded: how many geoms are not half-planes or half-spaces,
    which come last.
    """

    def __init__(
        self, geoms: Geoms, movable: Bools, layer: Ints, ignored: Ints | None, names: Sequence[str]
    ) -> None:
        self.names = tuple(names)
        self.movable = np.require(movable, np.bool_, ["C", "W"])
        self.layer = _ints(layer)
        self.ignored = _ints([] if ignored is None else ignored)
        self.kind, self.body, self.uid = _ints(geoms.kind), _ints(geoms.body), _ints(geoms.uid)
        self.first, self.numbers = _ints(geoms.first), _floats(geoms.numbers)
        self.first_int, self.ints = _ints(geoms.first_int), _ints(geoms.ints)
        self.radius = _floats(geoms.radius)
        self.tile, self.bend = _ints(geoms.tile), _floats(geoms.bend)
        self.unbound = unbound(geoms)
        self._check()
        self.order = np.argsort(self.kind, kind="stable")
        self.kinds, code = np.unique(self.kind, return_inverse=True)
        self.code = _ints(code[self.order])
        self.bounded = int((~np.isin(self.kind, UNBOUNDED)).sum())
        body = self.body[self.order]
        columns = self.order, self.code, body, self.layer[body], self.movable[body]
        self.geom = np.stack([column.astype(np.int64) for column in columns], axis=1)
        self._check_half_spaces()

    def __len__(self) -> int:
        return int(self.kind.size)

    def owner(self, geom: int) -> str:
        """The body of a geom, as a message calls it."""
        body = int(self.body[geom])
        return repr(self.names[body]) if body < len(self.names) else f"number {body}"

    def refuse(self, a: int, b: int) -> UnsupportedPairError:
        """The error for two geoms that no kernel answers for."""
        kind_a, kind_b = (KINDS[int(self.kind[g])].name for g in (a, b))
        return UnsupportedPairError(
            f"no contact kernel for {kind_a} (body {self.owner(a)}) "
            f"and {kind_b} (body {self.owner(b)})"
        )

    def _check(self) -> None:
        nb = self.movable.size
        if self.movable.ndim != 1 or self.layer.shape != (nb,):
            raise ArrayError(f"layer: shape {self.layer.shape}, expected ({nb},) as movable")
        if self.body.size and not 0 <= self.body.min() <= self.body.max() < nb:
            raise ArrayError(f"geoms.body: up to {self.body.max()}, but there are {nb} bodies")
        if self.ignored.ndim != 1 or (np.diff(self.ignored) <= 0).any():
            raise ArrayError("ignored: keys a * nb + b must ascend")
        if self.unbound.size:
            body = self.owner(int(self.unbound[0]))
            raise ModelError(
                f"body {body}: its surface is given by a function, which stayed in the process "
                "that it comes from: build the world anew"
            )
        unknown = np.setdiff1d(self.kind, list(KINDS))
        if unknown.size:
            raise ArrayError(f"geoms.kind: {unknown[0]} is no kind of geom")

    def _check_half_spaces(self) -> None:
        """Two half-spaces have no contact points: a pair that could collide is refused at once."""
        i, j = np.triu_indices(len(self) - self.bounded, 1)
        pairs = self._allowed((i + self.bounded) << 32 | (j + self.bounded))
        if pairs.size:
            a, b = pairs[0].tolist()
            raise self.refuse(a, b)

    def _allowed(self, found: Ints) -> Ints:
        """Geoms (m, 2) of the pairs that the rules let collide."""
        size, batches = found.size, self.kinds.size**2
        start, offset = np.zeros((2, batches + 1), np.int64)
        batch, keys = np.empty((2, size), np.int64)
        pairs, none = np.empty((size, 2), np.int64), np.zeros(batches, np.int64)
        margin, pair_margin = np.zeros(len(self)), np.empty(size)
        split(
            self.geom,
            self.movable.size,
            self.ignored,
            none,
            margin,
            found,
            batch,
            start,
            offset,
            keys,
            pairs,
            pair_margin,
        )
        return pairs[: start[-1]]
