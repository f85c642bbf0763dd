"""Room for the contacts that pair kernels write, which grows and is used again every step."""

from __future__ import annotations

import numpy as np

from drystone.kernels.pairs import FoundContacts
from drystone.model import Contacts

COLUMNS = "which", "geom_a", "geom_b", "point", "normal", "gap", "feature"


class ContactBuffer:
    """Columns of ``Contacts``, and `which` (room,): the row in its batch of each contact's pair."""

    def __init__(self, dim: int, room: int = 64) -> None:
        self.room = room
        self.which, self.geom_a, self.geom_b, self.feature = (
            np.empty(room, np.int64) for _ in range(4)
        )
        self.point = np.empty((room, dim))
        self.normal = np.empty((room, dim))
        self.gap = np.empty(room)

    def grow(self, room: int, used: int) -> None:
        """Make room for at least so many contacts, and keep those in use."""
        if room <= self.room:
            return
        larger = ContactBuffer(self.point.shape[1], max(room, self.room + self.room // 2))
        for name in COLUMNS:
            getattr(larger, name)[:used] = getattr(self, name)[:used]
            setattr(self, name, getattr(larger, name))
        self.room = larger.room

    def room_for_kernels(self) -> FoundContacts:
        """What pair kernels write to."""
        return FoundContacts(self.which, self.point, self.normal, self.gap, self.feature)

    def contacts(self, used: int) -> Contacts:
        """Copies of the first contacts."""
        return Contacts(*(getattr(self, name)[:used].copy() for name in COLUMNS[1:]))
