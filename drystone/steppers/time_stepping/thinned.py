"""Rows of a step without those of joints that are too many, for as long as it is solved."""

from __future__ import annotations

import numpy as np

from drystone.constraints.joints.minimum_norm import Split
from drystone.constraints.rows import Rows
from drystone.types import Floats, Ints


class Thinned:
    """`rows` with the rows of `splits` as they are, or silenced: padding without bodies.

    dropped: block and row in it of those too many; weak: whether any others nearly are.
    """

    def __init__(self, rows: Rows, splits: list[Split]) -> None:
        self.rows, self.splits = rows, splits
        self.whole = rows.J, rows.P, rows.D, rows.soft
        self.dropped = joined([split.dropped for split in splits])
        self.weak = any(split.weak for split in splits)

    def silence(self) -> None:
        """Leave out of the rows, as they are now, those too many."""
        rows = self.rows
        if self.splits:
            rows.J, rows.P = rows.J.copy(), rows.P.copy()
            rows.D, rows.soft = rows.D.copy(), rows.soft.copy()
        for split in self.splits:
            split.silence(rows)

    def restore(self) -> None:
        """All rows again, as they were at first."""
        self.rows.J, self.rows.P, self.rows.D, self.rows.soft = self.whole

    def gather(self, r: Floats) -> Floats:
        """Impulses (nc, d) as the rows that are left have them."""
        r = r.copy() if self.splits else r
        for split in self.splits:
            split.gather(r)
        return r

    def spread(self, r: Floats) -> Floats:
        """Of all impulses (nc, d) that do what r does, the least."""
        r = r.copy() if self.splits else r
        for split in self.splits:
            split.spread(r)
        return r


def joined(parts: list[tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
    """Blocks and rows in one list."""
    none = np.empty(0, np.int64)
    block, place = ([part[k] for part in parts] for k in (0, 1))
    return np.concatenate([none, *block]), np.concatenate([none, *place])
