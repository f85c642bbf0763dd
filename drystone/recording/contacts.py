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

from drystone.steppers.tables import STATES, ContactRows, bodies_kind, fields
from drystone.types import Floats, Ints

Rows = dict[str, np.ndarray]
NUMBERS, BODIES, LAWS, FEATURES = (
    f"contacts/{name}" for name in ("numbers", "bodies", "laws", "features")
)


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

    def of_loop(self, chunk: Rows) -> tuple[Rows, Rows]:
        """Contacts that the compiled loop noted (``Frames``), which are rows of the file already;
        rows, and how many of the shared ones belong to each frame."""
        bodies = chunk["bodies"].reshape(-1).view(self.kind)
        rows, counts = {NUMBERS: chunk["numbers"], BODIES: bodies}, {}
        for name, part, column in ((LAWS, "laws", 1), (FEATURES, "features", 2)):
            each = np.diff(chunk["noted"][:, column], prepend=0)
            rows[name], counts[name] = self._after(name, chunk[part], each)
        return rows, counts

    def _after(self, name: str, values: np.ndarray, each: Ints) -> tuple[np.ndarray, Ints]:
        """The same rows, without the first if it says for all of a frame what was said last."""
        if not len(values):
            return values, each
        last = self.last.get(name)
        self.last[name] = values[-1:].copy()
        k = np.argmax(each > 0)
        if each[k] > 1 or last is None or last.tobytes() != values[:1].tobytes():
            return values, each
        each[k] = 0
        return values[1:], each

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


def read(parts: Rows, names: np.ndarray, dim: int, kick: float) -> np.ndarray:
    """The table that ``Simulation.contacts`` gave; parts: rows of the four datasets, one a contact
    each; names (nb,) of bodies; kick [s]: for how long impulses acted."""
    own, shared = (parts[NUMBERS], parts[BODIES]), (parts[LAWS], parts[FEATURES])
    return ContactRows(names.tolist(), dim).table(*own, *shared, kick)
