"""Steps of second order: half a kick, the drift, half a kick (Störmer-Verlet; with joints RATTLE).

The first kick is a step of the scheme whose forces act for h / 2: contacts look ahead over the
drift, joints are closed at its end. The second acts at the positions reached: joints give J v' = 0
there, contacts that are reached u_n >= 0 and friction. So velocities belong to the time of the
positions, and the smooth motion is symmetric in time; what happens at contacts is of first order.

Collisions: before the first kick with the velocities of that time; and before the second, for
bodies that the kick alone brought to touch.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from drystone.constraints.joints.forces import stored_by_joints
from drystone.constraints.rows import Rows
from drystone.model import Contacts, State
from drystone.steppers.base import StepReport
from drystone.steppers.time_stepping import ledger
from drystone.steppers.time_stepping.impact import TOUCH, Impact, collide
from drystone.steppers.time_stepping.pipeline import Stepper
from drystone.steppers.time_stepping.work import Work


class SecondOrder(Stepper):
    """Steps a model by ``TimeStepping(order=2)``."""

    def _advance(self, state: State, h: float) -> tuple[State, StepReport]:
        middle, first = self._kick(state, h, True)
        rows, solved, work = self.rows, self.solved, self.work
        after, second = self._kick(middle, h, False)
        if rows is None or work is None:
            raise RuntimeError("a step without rows")
        self.rows, self.solved, self.work = rows, solved, work  # what there is to read
        asleep = self.sleepers.judge(work, rows, after.velocity, self.sizes, h)
        report = ledger.joined(first, second)
        return after, replace(
            report,
            dt=h,
            retries=0,
            asleep=asleep,
            islands=first.islands,  # of the contacts that are read
            island_sizes=first.island_sizes,
            island_residuals=first.island_residuals,
            joint_error=first.joint_error,
            broken=first.broken,
            redundant=first.redundant,
        )

    def _kick(self, state: State, h: float, drifts: bool) -> tuple[State, StepReport]:
        explicit = self.options.rotation == "explicit"
        work, found, hits, solved, rows, _ = self._met(
            lambda: Work(self.model, state, h, explicit, 0.5 * h, drifts), h
        )
        self.least(self.model, rows, solved.r)
        work.stage("solve")
        held, now = self.jointed.joints, self.jointed.coordinates
        opening = 0.0
        gone: tuple[str, ...] = ()
        if drifts:
            after = self._drift(work, solved.v, h)
            opening, gone = self.jointed.finish(work, rows, solved, after, self.size)
            if gone:
                self.model = replace(self.model, joints=self.jointed.joints)
        else:
            place = (state.position.copy(), state.orientation.copy())
            after = State(state.time, *place, solved.v.copy())
        if held is not None and now is not None:
            work.springs = tuple(stored_by_joints(held, s, now.value) for s in (state, after))
        self.warm.keep(self.model, rows, solved, work.kick)
        work.stage("drift")
        report = ledger.report(work, rows, solved, hits, found, after, h, self.options)
        solved.r = self.jointed.spread(solved.r)
        count = self.least.count
        report = self._deepest(report, found)
        return after, replace(report, joint_error=opening, broken=gone, redundant=count)

    def _rows(self, work: Work, found: Contacts) -> Rows:
        rows = super()._rows(work, found)
        return rows if work.drifts else self._reached(rows)

    def _reached(self, rows: Rows) -> Rows:
        """Joints, and the contacts that touch or bore load in the kick before."""
        if rows.nc == 0:
            return rows
        at = self.warm.find(self.model, rows)
        loaded = np.zeros(rows.nc, bool)
        if self.warm.impulse is not None and self.warm.impulse.size:
            loaded = (at >= 0) & self.warm.impulse[at].any(axis=1)
        gap = rows.contacts.gap
        chosen = np.flatnonzero(~rows.touching | (gap <= TOUCH * self.size) | loaded)
        rows = rows.take(chosen)
        c = rows.contacts
        level = np.where(rows.touching, 0.0, c.gap)
        same = (c.geom_a, c.geom_b, c.point, c.normal)
        return replace(rows, contacts=Contacts(*same, level, c.feature))

    def _collisions(self, work: Work, rows: Rows, h: float) -> Impact:
        nothing = np.zeros_like(work.v0)
        if self.options.restitution == "none" or rows.nc == 0:
            return Impact(work.v0, nothing, 0, [])
        gravity = float(np.linalg.norm(self.model.gravity))
        half = nothing if work.drifts else work.v_free - work.v0
        hits = collide(rows, work.v0, half, h, gravity, self.size, self.bouncer)
        if hits.collisions:
            work.begin(hits.v - half)
        return hits
