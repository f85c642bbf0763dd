"""First guesses for a solver: the impulses of the last step, given to the contacts that stay."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from drystone.errors import ArrayError
from drystone.kernels.matching import match_contacts, match_nearest, places, take_rows
from drystone.types import Floats, Ints


@dataclass(frozen=True, slots=True)
class Tags:
    """What tells nc contacts apart from step to step.

    a, b (nc,): uids of their geoms; feature (nc,): as in ``Contacts``; local (nc, dim) [m]:
    their points in a frame that moves with the pair, such as that of geom A, or None.
    """

    a: Ints
    b: Ints
    feature: Ints
    local: Floats | None = None

    def __post_init__(self) -> None:
        for name in ("a", "b", "feature"):
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), np.int64))
        for name in ("a", "b"):
            shape = getattr(self, name).shape
            if shape != (self.feature.size,):
                raise ArrayError(f"{name}: shape {shape}, expected ({self.feature.size},)")
        if self.local is not None:
            local = np.ascontiguousarray(self.local, np.float64)
            if local.ndim != 2 or local.shape[0] != self.feature.size:
                raise ArrayError(f"local: shape {local.shape}, expected ({self.feature.size}, dim)")
            object.__setattr__(self, "local", local)

    def __len__(self) -> int:
        return int(self.feature.size)


def sources(old: Tags, new: Tags, *, reach: float = math.inf) -> Ints:
    """For each new contact the number of the old one that it continues, or -1: (nc,).

    The same pair and feature first. Where both have local points, a contact that is left takes
    the nearest old point of its pair that nobody took, if it is within `reach` [m]. The order of
    the contacts does not matter, but that of equals (same pair, same feature) is kept.
    """
    source = np.empty(len(new), np.int64)
    head = np.empty(places(len(old)), np.int64)
    tail = np.empty((3, len(old)), np.int64)
    match_contacts(old.a, old.b, old.feature, new.a, new.b, new.feature, head, tail, source)
    if old.local is not None and new.local is not None:
        match_nearest(old.a, old.b, old.local, new.a, new.b, new.local, reach, head, tail, source)
    return source


def guesses(old: Tags, rows: Floats, new: Tags, *, reach: float = math.inf) -> Floats:
    """Rows (nc, d) for the new contacts: those of the old ones they continue, 0 where new.

    rows (number of old contacts, d): impulses [N s], or anything else that belongs to a contact.
    """
    rows = np.ascontiguousarray(rows, np.float64)
    if rows.ndim != 2 or rows.shape[0] != len(old):
        raise ArrayError(f"rows: shape {rows.shape}, expected ({len(old)}, d)")
    out = np.empty((len(new), rows.shape[1]))
    take_rows(sources(old, new, reach=reach), rows, out)
    return out
