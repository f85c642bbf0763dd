"""Contacts in the file, to the last bit in as few bytes as columns alone give.

What differs from contact to contact lies row by row: `contacts/numbers` has point, normal, gap,
impulse, velocity and, of methods that compute them, force; `contacts/bodies` both bodies, island
and state, in the narrowest integers that hold a number of a body. What most contacts share is
said once: `contacts/laws` (friction and spin) and `contacts/features` have a row for every contact
of a frame, or fewer than it has contacts: then the last row before its end is that of them all.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from drystone.kernels.step import names as the
from drystone.steppers.tables import STATES, contact_table
from drystone.types import Floats, Ints

Rows = dict[str, np.ndarray]
LARGE = 1 << 16  # bytes of rows that are written at once: their array is used again for the next
NUMBERS, BODIES, LAWS, FEATURES = (
    f"contacts/{name}" for name in ("numbers", "bodies", "laws", "features")
)


def fields(dim: int, forces: bool) -> dict[str, slice]:
    """Columns of `contacts/numbers`."""
    widths = {"point": dim, "normal": dim, "gap": 1, "impulse": dim, "velocity": dim}
    if forces:
        widths["force"] = dim
    out, at = {}, 0
    for name, width in widths.items():
        out[name] = slice(at, at + width)
        at += width
    return out


def bodies_kind(nb: int) -> np.dtype[Any]:
    """A row of `contacts/bodies`; there are at most as many islands as bodies."""
    narrow = "u1" if nb < 1 << 8 else "<u2" if nb < 1 << 16 else "<i4"
    return np.dtype([("bodies", narrow, (2,)), ("island", narrow), ("state", "u1")])


def kinds(dim: int, nb: int, forces: bool) -> dict[str, tuple[tuple[int, ...], Any]]:
    """Shape of a row and type of each dataset."""
    width = max(part.stop for part in fields(dim, forces).values())
    return {
        NUMBERS: ((width,), "<f8"), BODIES: ((), bodies_kind(nb)),
        LAWS: ((2,), "<f8"), FEATURES: ((), "<i8"),
    }  # fmt: skip


class Encoder:
    """Rows of the file from contacts, frame after frame; it remembers what was said last."""

    def __init__(self, dim: int, nb: int, forces: bool) -> None:
        self.dim, self.kind, self.fields = dim, bodies_kind(nb), fields(dim, forces)
        self.last: dict[str, np.ndarray] = {}
        self._used: dict[str, np.ndarray] = {}  # memory that was never touched is slow

    def of_loop(self, whole: Ints, real: Floats, ends: Ints) -> tuple[Rows, Rows]:
        """Contacts of the compiled loop (columns of ``kernels.step.names``), those of frame k up
        to ends[k]; rows, and how many of the shared ones belong to each frame."""
        n, width = len(whole), 4 * self.dim + 1
        numbers = self._array(NUMBERS, np.dtype(float), (n, width))
        bodies = self._array(BODIES, self.kind, (n,))
        numbers[:] = real[:, :width]
        bodies["bodies"], bodies["island"] = whole[:, : the.ISLAND], whole[:, the.ISLAND]
        bodies["state"] = whole[:, the.STATE]
        rows = {NUMBERS: numbers, BODIES: bodies}
        return self._shared(rows, real[:, width:], whole[:, the.FEATURE], ends)

    def _array(self, name: str, kind: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray:
        """An array to fill; a large one is what was given out before under this name."""
        if kind.itemsize * int(np.prod(shape)) < LARGE:
            return np.empty(shape, kind)
        if name not in self._used or len(self._used[name]) < shape[0]:
            self._used[name] = np.empty((2 * shape[0], *shape[1:]), kind)
        return self._used[name][: shape[0]]

    def of_table(self, table: np.ndarray, places: dict[str, int]) -> tuple[Rows, Rows]:
        """Contacts of one frame as ``Simulation.contacts`` has them; places: of bodies by name."""
        found = [places[body] for body in table["bodies"].ravel().tolist()]
        pairs = np.array(found, np.int64).reshape(-1, 2)
        state = np.argmax(table["state"][:, None] == STATES, axis=1)
        return self.of_columns(table, pairs, state, np.array([len(table)]))

    def of_columns(
        self, table: np.ndarray, pairs: Ints, state: Ints, ends: Ints
    ) -> tuple[Rows, Rows]:
        """The same with numbers of bodies (n, 2) and codes of states (n,)."""
        bodies = np.empty(len(table), self.kind)
        bodies["bodies"], bodies["island"], bodies["state"] = pairs, table["island"], state
        width = max(part.stop for part in self.fields.values())
        numbers = np.empty((len(table), width))
        for name, place in self.fields.items():
            numbers[:, place] = table[name] if table[name].ndim == 2 else table[name][:, None]
        laws = np.stack([table["friction"], table["spin"]], axis=1)
        rows = {NUMBERS: numbers, BODIES: bodies}
        return self._shared(rows, laws, table["feature"], ends)

    def _shared(self, rows: Rows, laws: Floats, features: Ints, ends: Ints) -> tuple[Rows, Rows]:
        each = np.diff(ends, prepend=0)
        counts = {}
        for name, values in ((LAWS, laws), (FEATURES, features)):
            rows[name], counts[name] = self._once(name, values, each)
        return rows, counts

    def _once(self, name: str, values: np.ndarray, each: Ints) -> tuple[np.ndarray, Ints]:
        """Rows of these values, and how many in each frame: one a contact, or one for all, or
        none where what was said last holds."""
        if not len(values):
            return values, np.zeros(len(each), np.int64)
        bits = values.view(np.int64)
        last = self.last.get(name)
        self.last[name] = values[-1:].copy()
        if not (bits == bits[:1]).all():
            return np.ascontiguousarray(values), each
        new = last is None or not np.array_equal(last.view(np.int64), bits[:1])
        counts = np.zeros(len(each), np.int64)
        counts[np.argmax(each > 0)] = int(new)
        return values[: int(new)].copy(), counts


def read(parts: Rows, names: np.ndarray, dim: int, forces: bool, kick: float) -> np.ndarray:
    """The table that ``Simulation.contacts`` gave; parts: rows of the four datasets, one a contact
    each; names (nb,) of bodies; kick [s]: for how long impulses acted."""
    numbers, bodies = parts[NUMBERS], parts[BODIES]
    table = contact_table(tuple(names.tolist()), dim, len(numbers))
    if not len(numbers):
        return table
    for name, place in fields(dim, forces).items():
        table[name] = numbers[:, place] if table[name].ndim == 2 else numbers[:, place.start]
    table["bodies"], table["island"] = names[bodies["bodies"]], bodies["island"]
    table["state"] = STATES[bodies["state"]]
    table["friction"], table["spin"] = parts[LAWS].T
    table["feature"] = parts[FEATURES]
    if not forces:
        table["force"] = table["impulse"] / kick
    return table
