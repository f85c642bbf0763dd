"""What a step leaves for the next one: impulses by contact, and which contacts slid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drystone.constraints.rows import Rows
from drystone.geometry.matching import Tags, sources
from drystone.kernels.step.finish import SLIP
from drystone.model import Model
from drystone.steppers.snapshot import Snapshot
from drystone.steppers.time_stepping.solve import Solved
from drystone.types import Bools, Floats, Ints


@dataclass(slots=True)
class WarmStart:
    """tags: uids and features of n contacts; impulse on a (n, dim), spin (n,), slid (n,)."""

    tags: Tags | None = None
    impulse: Floats | None = None
    spin: Floats | None = None
    slid: Bools | None = None
    h: float = 0.0

    def copy(self) -> WarmStart:
        """Arrays are replaced, never changed: sharing them is a copy."""
        return WarmStart(self.tags, self.impulse, self.spin, self.slid, self.h)

    def snapshot(self) -> Snapshot:
        tags = self.tags
        known = {} if tags is None else {"a": tags.a, "b": tags.b, "feature": tags.feature}
        return known | {
            "impulse": self.impulse, "spin": self.spin, "slid": self.slid, "h": self.h,
        }  # fmt: skip

    def restore(self, known: Snapshot) -> None:
        self.tags = Tags(known["a"], known["b"], known["feature"]) if "a" in known else None
        self.impulse, self.spin = known.get("impulse"), known.get("spin")
        self.slid, self.h = known.get("slid"), float(known["h"])

    def keep(self, model: Model, rows: Rows, solved: Solved, h: float) -> None:
        self.tags, self.h = _tags(model, rows), h
        self.impulse, self.spin = rows.vectors(solved.r)
        self.slid = sliding(rows, solved)

    def find(self, model: Model, rows: Rows) -> Ints:
        """(nc,) place of each contact among the last step's, -1 if it is new."""
        if self.tags is None or rows.nc == 0:
            return np.full(rows.nc, -1)
        return sources(self.tags, _tags(model, rows))

    def guess(self, rows: Rows, at: Ints, h: float) -> Floats | None:
        """Last step's impulses of the same contacts, turned into the new frames."""
        if self.impulse is None or self.spin is None or not self.impulse.shape[0]:
            return None
        known = at >= 0
        if not known.any():
            return None
        scale = np.where(known, h / self.h, 0.0)
        r = rows.coordinates(self.impulse[at] * scale[:, None], self.spin[at] * scale)
        r[(r[:, 0] <= 0.0) & (rows.mu[:, 0] >= 0.0)] = 0.0
        return r


def _tags(model: Model, rows: Rows) -> Tags:
    uid, contacts = model.geoms.uid, rows.contacts
    if rows.blocks is None:
        return Tags(uid[contacts.geom_a], uid[contacts.geom_b], contacts.feature)
    a, b, feature = np.empty((3, rows.nc), np.int64)
    here, there = rows.touching, ~rows.touching
    a[here], b[here] = uid[contacts.geom_a[here]], uid[contacts.geom_b[here]]
    feature[here] = contacts.feature[here]
    block = rows.joint[there]
    a[there], b[there], feature[there] = -1, rows.blocks.uid[block], rows.blocks.part[block]
    return Tags(a, b, feature)


def sliding(rows: Rows, solved: Solved) -> Bools:
    """(nc,) contacts that carry load and slip.

    Slow is meant against what the island's contacts would do without impulses (q): bodies at rest
    have no other speed than rounding.
    """
    if rows.nc == 0:
        return np.zeros(0, bool)
    speed = np.sqrt((solved.u[:, 1:] ** 2).sum(axis=1))
    most = np.maximum(np.abs(solved.q), np.abs(solved.u)).max(axis=1)
    scale = np.repeat(np.maximum.reduceat(most, rows.start[:-1]), np.diff(rows.start))
    return (solved.r[:, 0] > 0.0) & (speed > SLIP * scale)
