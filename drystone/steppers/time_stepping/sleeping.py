"""Sleeping, an explicit option: islands that have been slow for long stop until touched.

Contacts and joints make islands; whatever moves wakes its island through either. A motor that is
not where or as fast as it should be, and a spring that its load does not balance, keep theirs
awake: they are slow for a while, not at rest.
"""

from __future__ import annotations

import numpy as np

from drystone.constraints.rows import Rows
from drystone.kernels.active import body_reach
from drystone.kernels.islands import label_contacts
from drystone.kernels.joints_coupled import POSITION_MOTOR, SPEED_MOTOR, SPRING
from drystone.kernels.step.joint_sleep import BALANCED
from drystone.model import Model
from drystone.steppers.snapshot import Snapshot
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

    def snapshot(self) -> Snapshot:
        return {"slow": self.slow.copy(), "asleep": self.asleep.copy()}

    def restore(self, known: Snapshot) -> None:
        self.slow, self.asleep = known["slow"].copy(), known["asleep"].copy()

    def adopt(self, model: Model) -> None:
        """Bodies that stay keep their rest; new ones, and all after an edit, are awake."""
        self.uid, self.slow = model.uid, np.zeros(model.nb)
        self.asleep = np.zeros(model.nb, bool)

    def wake(self, model: Model, dynamic: Bools, pair: Ints, gap: Floats, work: Work) -> Bools:
        """Bodies that move in this step; sleepers in reach of one that does are woken."""
        if self.options is None:
            return dynamic
        near = gap <= work.reach[pair].max(axis=1)
        driven = _driven(work)  # they wake what they touch
        close = np.concatenate([pair[near], joined(model)])
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
        moving = (dynamic & ~ready & ~self.asleep) | _driven(work)
        acts = self._acting(work, rows, v, h)
        restless[label[moving[rows.body].any(axis=1) | acts]] = True
        supported = np.zeros(nb, bool)
        supported[rows.body[~restless[label]]] = True
        self.asleep |= ready & supported
        v[self.asleep] = 0.0
        return int(self.asleep.sum())

    def _acting(self, work: Work, rows: Rows, v: Floats, h: float) -> Bools:
        """(nc,) blocks of motors and springs that will move what they act on."""
        acts, joints = np.zeros(rows.nc, bool), work.model.joints
        if rows.blocks is None or joints is None or self.options is None:
            return acts
        number = np.where(rows.joint >= 0, rows.blocks.action[rows.joint], -1)
        at = np.flatnonzero(number >= 0)
        number = number[at]
        kind = joints.action_kind[number]
        still = self.options.speed
        place = np.where(rows.mu[at, 0] > 0.0, 1, 0)  # a bounded force is the tangent of its load
        wanted = np.abs(rows.blocks.bias[rows.joint[at], place])
        gained = np.abs(rows.velocities(v - work.v0)[at]).max(axis=1)
        least = BALANCED * still * h / self.options.duration
        acts[at] = (kind == SPEED_MOTOR) & (joints.action_numbers[number, 0] != 0.0)
        acts[at] |= (kind == POSITION_MOTOR) & (wanted > still)
        acts[at] |= (kind == SPRING) & (gained > least)
        return acts


def _driven(work: Work) -> Bools:
    """(nb,) prescribed bodies that move."""
    out = np.zeros(work.model.nb, bool)
    out[[i for i, _ in work.model.motions]] = True
    return out & (work.v_free != 0.0).any(axis=1)


def joined(model: Model) -> Ints:
    """(n, 2) bodies that a joint holds together."""
    if model.joints is None:
        return np.empty((0, 2), np.int64)
    both = np.concatenate([model.joints.body, model.joints.row_body])
    return both[(both >= 0).all(axis=1)]
