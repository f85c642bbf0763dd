"""Sleeping, an explicit option: islands that have been slow for long stop until touched."""

from __future__ import annotations

import numpy as np

from drystone.constraints.rows import Rows
from drystone.kernels.active import body_reach
from drystone.kernels.island_sweeps import label_contacts
from drystone.model import Model
from drystone.steppers.time_stepping.options import Sleeping
from drystone.steppers.time_stepping.work import Work
from drystone.types import Bools, Floats, Ints


class Sleepers:
    """slow (nb,): seconds each body has been slow; asleep (nb,)."""

    def __init__(self, options: Sleeping | None) -> None:
        self.options = options
        self.uid: Ints = np.empty(0, np.int64)
        self.slow: Floats = np.empty(0)
        self.asleep: Bools = np.empty(0, bool)

    @property
    def any(self) -> bool:
        return self.options is not None and bool(self.asleep.any())

    def copy(self) -> Sleepers:
        out = Sleepers(self.options)
        out.uid, out.slow, out.asleep = self.uid, self.slow.copy(), self.asleep.copy()
        return out

    def adopt(self, model: Model) -> None:
        """Bodies that stay keep their rest; new ones, and all after an edit, are awake."""
        self.uid, self.slow = model.uid, np.zeros(model.nb)
        self.asleep = np.zeros(model.nb, bool)

    def wake(self, model: Model, dynamic: Bools, pair: Ints, gap: Floats, work: Work) -> Bools:
        """Bodies that move in this step; sleepers in reach of one that does are woken."""
        if self.options is None:
            return dynamic
        near = gap <= work.reach[pair].max(axis=1)
        driven = np.zeros(model.nb, bool)  # prescribed bodies that move wake what they touch
        driven[[i for i, _ in model.motions]] = True
        driven &= (work.v_free != 0.0).any(axis=1)
        close = pair[near]
        label = np.empty(close.shape[0], np.int64)
        count = label_contacts(close, dynamic, np.empty(model.nb, np.int64), label)
        restless = (dynamic & ~self.asleep) | driven
        awake = np.zeros(count, bool)
        awake[label[restless[close].any(axis=1)]] = True
        woken = np.unique(close[awake[label]])
        self.asleep[woken] = False
        self.slow[woken[~restless[woken]]] = 0.0
        # sleepers have no velocity: one that has was given it between steps
        self.asleep &= dynamic & ~((work.force != 0.0) | (work.v0 != 0.0)).any(axis=1)
        work.v_free[self.asleep] = 0.0
        work.v0[self.asleep] = 0.0
        return dynamic & ~self.asleep

    def judge(self, work: Work, rows: Rows, v: Floats, sizes: Floats, h: float) -> int:
        """Count slow time and put to sleep islands that have had enough; returns sleepers.

        v (nb, dof): the velocities that the step leaves; those of sleepers become zero, and the
        ledger finds what that costs.
        """
        if self.options is None:
            return 0
        nb = sizes.size
        dynamic = work.model.inverse_mass > 0
        speed = np.empty(nb)
        body_reach(v, sizes, 1.0, speed)
        self.slow = np.where(speed < self.options.speed, self.slow + h, 0.0)
        pushed = (work.force != 0.0).any(axis=1)
        ready = dynamic & ~self.asleep & ~pushed & (self.slow >= self.options.duration)
        label = np.empty(rows.nc, np.int64)
        count = label_contacts(rows.body, dynamic, np.empty(nb, np.int64), label)
        restless = np.zeros(count, bool)
        moving = dynamic & ~ready & ~self.asleep
        restless[label[moving[rows.body].any(axis=1)]] = True
        supported = np.zeros(nb, bool)
        supported[rows.body[~restless[label]]] = True
        self.asleep |= ready & supported
        v[self.asleep] = 0.0
        return int(self.asleep.sum())
