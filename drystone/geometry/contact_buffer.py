"""Room for the contacts that pair kernels write, which grows and is used again every step."""

from __future__ import annotations

import numpy as np

from drystone.model import Contacts
from drystone.types import Ints


class ContactBuffer:
    """Columns of ``Contacts``, and `which` (room,): the row of the pair of each contact."""

    def __init__(self, dim: int, room: int = 64) -> None:
        self.room = room
        self.which = np.empty(room, np.int64)
        self.point = np.empty((room, dim))
        self.normal = np.empty((room, dim))
        self.gap = np.empty(room)
        self.feature = np.empty(room, np.int64)

    def grow(self, room: int, used: int) -> None:
        """Make room for at least so many contacts, and keep those in use."""
        if room <= self.room:
            return
        larger = ContactBuffer(self.point.shape[1], max(room, 2 * self.room))
        for name in ("which", "point", "normal", "gap", "feature"):
            getattr(larger, name)[:used] = getattr(self, name)[:used]
            setattr(self, name, getattr(larger, name))
        self.room = larger.room

    def contacts(self, pairs: Ints, used: int) -> Contacts:
        """Copies of the first contacts; pairs (np, 2): geoms of each row."""
        row = self.which[:used]
        return Contacts(
            pairs[row, 0],
            pairs[row, 1],
            self.point[:used].copy(),
            self.normal[:used].copy(),
            self.gap[:used].copy(),
            self.feature[:used].copy(),
        )
