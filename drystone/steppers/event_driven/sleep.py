"""Islands in equilibrium: left out of everything until something touches them, which is exact.

Bodies without velocity and without acceleration stay where they are as long as what acts on them
is constant: gravity, and contacts with each other and with what is fixed. So they are not in Y, and
their contacts are not evaluated. A body that meets them wakes their whole island.
"""

from __future__ import annotations

import numpy as np

from drystone.model import Contacts, Model, State
from drystone.types import Bools, Ints


class Sleepers:
    """Islands at rest: label (nb,) is the island's number, -1 awake; tables: their contacts, as
    ``Simulation.contacts`` shows them."""

    def __init__(self, model: Model) -> None:
        driven = [i for i, _ in model.motions]
        self._fixed: Bools = np.asarray(model.inverse_mass <= 0)
        self._fixed[driven] = False
        self._body = model.geoms.body
        self.label: Ints = np.full(model.nb, -1)
        self.tables: dict[int, np.ndarray] = {}
        self.contacts = 0
        self._next = 0
        self._fresh: list[np.ndarray] = []
        self._there: State | None = None

    def __len__(self) -> int:
        return len(self.tables)

    @property
    def awake(self) -> Bools:
        """(nb,) bodies that do not sleep."""
        return self.label < 0

    def add(self, bodies: Ints, state: State, table: np.ndarray) -> None:
        """Lay an island to rest as it is in a state."""
        self.label[bodies] = self._next
        self.tables[self._next] = table
        self._fresh.append(table)
        self.contacts += table.size
        self._next += 1
        self._there = state

    def clear(self) -> None:
        """Wake everything."""
        self.label[:] = -1
        self.tables.clear()
        self.contacts = 0

    def begin(self, state: State) -> None:
        """A frame begins: impacts are those of another one; what somebody moved does not sleep."""
        for table in self._fresh:
            table["impulse"] = 0.0
        self._fresh = []
        there, asleep = self._there, self.label >= 0
        if there is None or not self.tables:
            return
        moved = state.velocity[asleep].any()
        for name in ("position", "orientation"):
            moved |= not np.array_equal(getattr(state, name)[asleep], getattr(there, name)[asleep])
        if moved:
            self.clear()

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
