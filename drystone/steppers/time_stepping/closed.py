"""Steps at whose end contacts are as the law says: gap(q') >= 0 itself, not its linear part.

A step of the scheme ends with gap + h u_n' >= 0 (Hart and Anitescu 2003, (2.9)), which leaves gaps
and depths of order h^2: bodies turn. Here the step is solved again with gaps moved by what was
left, until contacts that press touch and none overlaps; what is left shrinks by a factor of order h
from solve to solve.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from drystone.constraints.rows import Rows, select
from drystone.dynamics import bodies
from drystone.errors import SimulationError
from drystone.geometry.matching import Tags, sources
from drystone.model import Contacts, Model, State
from drystone.steppers.base import StepReport
from drystone.steppers.time_stepping import ledger
from drystone.steppers.time_stepping.options import TimeStepping
from drystone.steppers.time_stepping.second_order import SecondOrder
from drystone.steppers.time_stepping.solve import Solved
from drystone.steppers.time_stepping.work import Work
from drystone.types import Floats

ROUNDS = 6
HALVINGS = 4
SHORT = 0.1  # of options.dt
WIDE = 10.0  # times the slop, in short steps
FAILED = 1e-4  # residual of a solve that is not to be used
NEAR = 1e-3  # of a geom's size: how far apart points of a contact are looked for
REACH = 0.05  # of a body's size: how far the point of one contact moves on a body in a step


class ClosedSteps(SecondOrder):
    """Steps a model by ``TimeStepping(order=2)``; closed: what is to be left of gaps [m]. Steps
    that leave more than twice as much are halved. In steps that are much shorter than options.dt
    such gaps are none: to close them would ask for any speed."""

    def __init__(self, options: TimeStepping, model: Model, closed: float) -> None:
        self.closed, self.left = closed, 0.0
        self.usual, self.wide = options, replace(options, slop=WIDE * options.slop)
        super().__init__(options, model)

    def step(self, state: State, h: float) -> tuple[State, StepReport]:
        """The state after h, and what happened."""
        return self._halved(state, h, 0)

    def _halved(self, state: State, h: float, level: int) -> tuple[State, StepReport]:
        self.options = self.usual if h >= SHORT * self.usual.dt else self.wide
        memory = self._memory()
        try:
            out = super().step(state, h)
            if self.left <= 2.0 * self.closed or level >= HALVINGS:
                return out
        except SimulationError:  # a solve that failed, and bodies that ran away
            if level >= HALVINGS:
                raise
        self._recall(memory)
        middle, first = self._halved(state, 0.5 * h, level + 1)
        after, second = self._halved(middle, 0.5 * h, level + 1)
        return after, ledger.joined(first, second)

    def _solve(
        self, work: Work, rows: Rows, h: float, near: Floats | None = None
    ) -> tuple[Solved, Rows, int]:
        solved, rows, outer = super()._solve(work, rows, h, near)
        if not work.drifts:
            return solved, rows, outer
        self.left, best = 0.0, np.inf
        here, gap = rows.touching, rows.contacts.gap
        for _ in range(ROUNDS if here.any() else 0):
            linear = gap + h * rows.velocities(solved.v)[:, 0]
            end, beside = self._end(work, rows, solved, linear, h)
            # what does not press is free to be apart
            left = np.where(solved.r[:, 0] > 0.0, end, np.minimum(end, 0.0))
            worst = float(np.abs(left[here]).max())
            self.left = max(worst, beside)
            if worst <= self.closed or worst > 0.5 * best:
                break
            best, iterations = worst, solved.iterations
            moved = gap.copy()
            moved[here] += end[here] - linear[here]
            again = replace(rows, contacts=_with_gap(rows.contacts, moved))
            better, _, _ = super()._solve(work, again, h, solved.r.copy())
            if not better.residual.max(initial=0.0) <= FAILED:
                break
            solved = better
            solved.iterations += iterations
        return solved, rows, outer

    def _end(
        self, work: Work, rows: Rows, solved: Solved, linear: Floats, h: float
    ) -> tuple[Floats, float]:
        """(nc,) gaps after the step, of contacts that are not found there the linear ones; the
        greatest depth of others that are found."""
        radius = self.model.geoms.radius
        margin = NEAR * np.where(np.isfinite(radius), radius, 0.0)
        after = self._drift(work, solved.v, h)
        found = self._within(after, margin)
        # where corners nearly meet, the same point may have another feature's name
        mine = np.flatnonzero(rows.touching)
        tags = self._tags(found, after), self._tags(select(rows.contacts, mine), work.state)
        at = sources(*tags, reach=REACH * self.size)
        out = linear.copy()
        out[mine[at >= 0]] = found.gap[at[at >= 0]]
        beside = np.delete(found.gap, at[at >= 0])
        return out, float(np.maximum(-beside, 0.0).max(initial=0.0))

    def _tags(self, contacts: Contacts, state: State) -> Tags:
        """Names of contacts, and their points on geom a."""
        x, R = bodies.geom_poses(self.model, state)
        a, uid = contacts.geom_a, self.model.geoms.uid
        local = np.einsum("iba,ib->ia", R[a], contacts.point - x[a])
        return Tags(uid[a], uid[contacts.geom_b], contacts.feature, local)


def _with_gap(c: Contacts, gap: Floats) -> Contacts:
    return Contacts(c.geom_a, c.geom_b, c.point, c.normal, gap, c.feature)
