"""Islands in equilibrium: left out of everything until something touches them, which is exact.

Bodies without velocity and without acceleration stay where they are as long as what acts on them
is constant: gravity, and contacts with each other and with what is fixed. So they are not in Y, and
their contacts are not evaluated. A body that meets them wakes their whole island.
"""

from __future__ import annotations

import numpy as np

from drystone.model import Contacts, Model, State
from drystone.steppers.snapshot import Snapshot, part_of, within
from drystone.steppers.tables import contact_table
from drystone.types import Bools, Ints

PARTS = ("position", "orientation", "velocity")
Island = tuple[Ints, np.ndarray]  # bodies, contacts as ``Simulation.contacts`` shows them


class SleepingIslands:
    """Islands at rest: label (nb,) is the island's number, -1 awake; tables: their contacts, as
    ``Simulation.contacts`` shows them."""

    def __init__(self, model: Model) -> None:
        driven = [i for i, _ in model.motions]
        self._fixed: Bools = np.asarray(model.inverse_mass <= 0)
        self._fixed[driven] = False
        self._body = model.geoms.body
        self._none = contact_table(model.names, model.dim, 0)
        self.label: Ints = np.full(model.nb, -1)
        self.tables: dict[int, np.ndarray] = {}
        self.contacts = 0
        self._next = 0
        self._fresh: list[int] = []
        self._there: State | None = None  # where islands sleep
        self._ended: State | None = None  # the last frame

    def __len__(self) -> int:
        return len(self.tables)

    @property
    def awake(self) -> Bools:
        """(nb,) bodies that do not sleep."""
        return self.label < 0

    def add(self, bodies: Ints, state: State | None, table: np.ndarray) -> None:
        """Put an island to sleep as it is in a state."""
        self.label[bodies] = self._next
        self.tables[self._next] = table
        self._fresh.append(self._next)
        self.contacts += table.size
        self._next += 1
        self._there = None if state is None else state.copy()

    def clear(self) -> None:
        """Wake everything."""
        self.label[:] = -1
        self.tables.clear()
        self.contacts = 0
        self._ended = None

    def snapshot(self) -> Snapshot:
        """Contacts of all islands one after the other, field by field."""
        tables = list(self.tables.values())
        whole = np.concatenate([self._none, *tables])
        out: Snapshot = {
            "label": self.label.copy(), "next": self._next,
            "numbers": np.array(list(self.tables), np.int64),
            "sizes": np.array([table.size for table in tables], np.int64),
            "fresh": np.array(self._fresh, np.int64),
        }  # fmt: skip
        for name, state in (("there", self._there), ("ended", self._ended)):
            if state is not None:
                own = {part: getattr(state, part) for part in ("time", *PARTS)}
                out |= within(name, own)
        return out | within("table", {name: whole[name] for name in whole.dtype.names or ()})

    def restore(self, known: Snapshot) -> None:
        """Take over what ``snapshot`` gave, of the same model."""
        self.label, self._next = known["label"].copy(), int(known["next"])
        whole = np.zeros(int(known["sizes"].sum()), self._none.dtype)
        for name, values in part_of(known, "table").items():
            whole[name] = values
        parts = np.split(whole, np.cumsum(known["sizes"])[:-1])
        self.tables = dict(zip(known["numbers"].tolist(), parts, strict=False))
        self._fresh = known["fresh"].tolist()
        self.contacts = whole.size
        there, ended = part_of(known, "there"), part_of(known, "ended")
        self._there = State(**there) if there else None
        self._ended = State(**ended) if ended else None

    def end(self, state: State) -> None:
        """A frame ends."""
        self._ended = state.copy()

    def begin(self, state: State) -> bool:
        """A frame begins: impacts are those of another one; what was moved does not sleep.
        Returns whether anything was moved, or woken, since the last frame ended."""
        for k in self._fresh:
            if k in self.tables:
                self.tables[k]["impulse"] = 0.0
        self._fresh = []
        there, asleep = self._there, self.label >= 0
        if there is not None and self.tables:
            moved = state.velocity[asleep].any()
            for name in ("position", "orientation"):
                here, was = getattr(state, name)[asleep], getattr(there, name)[asleep]
                moved |= not np.array_equal(here, was)
            if moved:
                self.clear()
        ended, self._ended = self._ended, None
        return ended is None or not all(
            np.array_equal(getattr(state, name), getattr(ended, name)) for name in PARTS
        )

    def apart(self, contacts: Contacts) -> Bools:
        """(nc,) contacts that something awake takes part in."""
        still = self._fixed | (self.label >= 0)
        out: Bools = ~(still[self._body[contacts.geom_a]] & still[self._body[contacts.geom_b]])
        return out

    def wake(self, touching: Contacts) -> bool:
        """Wake the islands that take part in these contacts; whether there are any."""
        if not self.tables:
            return False
        body = np.stack([self._body[touching.geom_a], self._body[touching.geom_b]])
        hit = np.unique(self.label[body])
        for k in hit[hit >= 0].tolist():
            self.label[self.label == k] = -1
            self.contacts -= self.tables.pop(k).size
        return bool((hit >= 0).any())


def snapshot_of(model: Model, islands: list[Island]) -> Snapshot:
    """Islands that do not sleep yet, the same way."""
    out = SleepingIslands(model)
    for bodies, table in islands:
        out.add(bodies, None, table)
    return out.snapshot()


def islands_from(model: Model, known: Snapshot) -> list[Island]:
    """What ``snapshot_of`` was given."""
    out = SleepingIslands(model)
    out.restore(known)
    return [(np.flatnonzero(out.label == k), table) for k, table in out.tables.items()]
