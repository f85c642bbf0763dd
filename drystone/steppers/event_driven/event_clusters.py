"""Clusters of events: where there are many in a short time, time advances by steps with impulses.

Infinitely many impacts, stops and turns may fall into a finite time; friction in space comes near
to it: after every impact all contacts of a long row slip a little and stop, one after the other.
Such a cluster (``guards`` says what is one) is crossed by steps of the time stepping scheme (Hart
and Anitescu 2003, (2.9)), in which contacts meet, stick and slide together; of second order, so
that velocities belong to the time of the positions, and with gaps that are closed at their end, so
that events can go on from there. Then events are located again; if that cluster goes on, the next
steps last twice as long, and fewer events are enough.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil

import numpy as np

from drystone.model import Model, State
from drystone.steppers.base import Event, StepReport
from drystone.steppers.event_driven.frame_log import FrameLog
from drystone.steppers.event_driven.mechanics import Mechanics
from drystone.steppers.event_driven.vector import CONSTRAINT, DRIVING, FRICTION, LOADS
from drystone.steppers.snapshot import Snapshot, flat, part_of, parts_of, within
from drystone.steppers.time_stepping.options import TimeStepping
from drystone.steppers.time_stepping.stepper import TimeStepper
from drystone.types import Floats

SLOP = 0.1  # of `touch`: gaps that are none
GAP_LEFT = 0.5  # of `touch`: what is left of gaps
VELOCITY_TOL = 1e-7  # of velocities: times a step, what gaps may be off


class ClusterSteps:
    """Steps through clusters of events.

    step [s]: at most; touch [m]: as in the options. report: of the last step, as long as nothing
    else has moved bodies since.
    """

    def __init__(self, model: Model, step: float, touch: float) -> None:
        self.model, self.step, self.touch = model, step, touch
        self.report: StepReport | None = None
        self._stepper: TimeStepper | None = None

    @property
    def stepper(self) -> TimeStepper:
        """What steps; made when the first cluster comes."""
        if self._stepper is None:
            model = self.model
            size = np.abs(model.geoms.radius[np.isfinite(model.geoms.radius)]).max(initial=1e-3)
            rebounds = model.restitution.any() or model.rules.restitution.any()
            options = TimeStepping(
                dt=self.step, order=2, tol=VELOCITY_TOL, sweep_tol=VELOCITY_TOL, overlap="allow",
                slop=SLOP * self.touch / float(size), restitution="newton" if rebounds else "none",
            )  # fmt: skip
            if model.joints is not None:  # whether they break is asked at the end of frames
                lasting = np.full_like(model.joints.breaks_at, np.inf)
                model = replace(model, joints=replace(model.joints, breaks_at=lasting))
            self._stepper = TimeStepper(options, model, end_gaps=GAP_LEFT * self.touch)
        return self._stepper

    def step_through(
        self, state: State, end: float, mechanics: Mechanics, log: FrameLog, work: Floats
    ) -> State:
        """The state at the time `end`; log and work (4,) take what happens."""
        stepper, begin = self.stepper, state.time
        stored = mechanics.stored(state)
        stepper.turns = mechanics.turns
        count = max(1, ceil((end - begin) / self.step - 1e-9))
        for k in range(count):
            goal = end if k == count - 1 else begin + (k + 1) * (end - begin) / count
            state, report = stepper.step(state, goal - state.time)
            state.time = goal
            self._note(report, log, work)
        mechanics.turns = stepper.turns
        # springs are in the log of the frame already
        work[LOADS] -= mechanics.stored(state) - stored
        self.report = report
        log.events.append(Event(begin, "cluster"))
        log.say(
            f"a cluster of events: from t = {begin:.6g} s to {end:.6g} s in {count} steps with "
            "impulses"
        )
        return state

    def _note(self, report: StepReport, log: FrameLog, work: Floats) -> None:
        e = report.energy
        work[[LOADS, DRIVING, FRICTION, CONSTRAINT]] += e.loads, e.driving, e.friction, e.constraint
        log.impact_energy += e.impact
        log.integration += e.integration
        log.collisions += report.collisions
        log.steps += 1
        log.residual = max(log.residual, report.residual)
        if not report.ok:
            log.status = report.status

    @property
    def largest_island(self) -> int:
        """Contacts of the largest island of the last step."""
        sizes = None if self.report is None else self.report.island_sizes
        return 0 if sizes is None else int(sizes.max(initial=0))

    def snapshot(self) -> Snapshot:
        return {} if self._stepper is None else within("steps", flat(self._stepper.snapshot()))

    def restore(self, known: Snapshot) -> None:
        """Take over what ``snapshot`` gave."""
        steps = part_of(known, "steps")
        if steps:
            self.stepper.restore(parts_of(steps), self.stepper.model)
