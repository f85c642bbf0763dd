"""Storms: where events crowd together, time goes on by steps with impulses.

Infinitely many impacts, stops and turns may fall into a finite time; friction in space comes near
to it: after every impact all contacts of a long row slip a little and stop, one after the other.
More than so many events in a sixtieth of a second are a storm. It is weathered by steps of the
time stepping scheme (Hart and Anitescu 2003, (2.9)), in which contacts meet, stick and slide
together; of second order, so that velocities belong to the time of the positions, and with gaps
that are closed at their end, so that events can go on from there. Then events are looked for again;
if that storm goes on, the next steps last twice as long, and fewer events are enough.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil

import numpy as np

from drystone.model import Model, State
from drystone.steppers.base import Event, StepReport
from drystone.steppers.event_driven.mode import Evaluation, Mode
from drystone.steppers.event_driven.scene import Scene
from drystone.steppers.event_driven.settle import Books
from drystone.steppers.event_driven.vector import CONSTRAINT, DRIVING, FRICTION, LOADS
from drystone.steppers.snapshot import Snapshot, flat, part_of, parts_of, within
from drystone.steppers.time_stepping.closed import ClosedSteps
from drystone.steppers.time_stepping.options import TimeStepping
from drystone.types import Floats

WINDOW = 1.0 / 60.0  # [s] in which events are counted, and what a storm lasts at least
LONGER = 16.0  # times that, at most, before events are looked for; in large islands more, up to
LONGEST = 64.0  # times
LARGE = 96  # contacts in an island, whose forces cost more the more there are
SLOW = 1e-3  # [m/s] slip that turns fast
STEPS = 8  # of such slip, that are like an event
HUGE = 192  # contacts in an island that is not asked for events while a storm is on
FEWEST = 8  # events that are waited for in any case
SLOP = 0.1  # of `touch`: gaps that are none
CLOSED = 0.5  # of `touch`: what is left of gaps
TOL = 1e-7  # of velocities: times a step, what gaps may be off


class Storms:
    """Counts events, and steps through storms.

    most: events in a WINDOW that are no storm yet; step [s]: at most; touch [m].
    report: of the last step, as long as nothing else has moved bodies since.
    """

    def __init__(self, model: Model, most: int, step: float, touch: float) -> None:
        self.model, self.most, self.step, self.touch = model, most, step, touch
        self.count, self.since = 0.0, -np.inf  # events, and from when on
        self.until, self.length = -np.inf, 0.0  # the end of a storm, and how long it was
        self.report: StepReport | None = None
        self._stepper: ClosedSteps | None = None

    @property
    def stepper(self) -> ClosedSteps:
        """What steps; made when the first storm comes."""
        if self._stepper is None:
            model = self.model
            size = np.abs(model.geoms.radius[np.isfinite(model.geoms.radius)]).max(initial=1e-3)
            rebounds = model.restitution.any() or model.rules.restitution.any()
            options = TimeStepping(
                dt=self.step, order=2, tol=TOL, sweep_tol=TOL, overlap="allow",
                slop=SLOP * self.touch / float(size), restitution="newton" if rebounds else "none",
            )  # fmt: skip
            if model.joints is not None:  # whether they break is asked at the end of frames
                lasting = np.full_like(model.joints.breaks_at, np.inf)
                model = replace(model, joints=replace(model.joints, breaks_at=lasting))
            self._stepper = ClosedSteps(options, model, CLOSED * self.touch)
        return self._stepper

    def phase(self, t: float, mode: Mode) -> bool:
        """Whether a storm begins instead of a phase: one whose forces have no index set, so that
        many contacts would be solved for at every evaluation."""
        if mode.smooth or largest(mode) <= LARGE:
            return False
        self._begin(t, largest(mode))
        return True

    def count_step(self, t: float, mode: Mode, now: Evaluation) -> bool:
        """Note a step of slip that turns while it hardly moves, at a rate of mu g over its speed:
        some of them are like an event; whether a storm begins with it."""
        free = np.flatnonzero(mode.sliding.slides & ~mode.sliding.frozen)
        slip = now.rows.state.u[free, 1:]
        if not ((slip * slip).sum(axis=1) < SLOW * SLOW).any():
            return False
        return self.event(t, largest(mode), 1.0 / STEPS)

    def count_trials(self, t: float, mode: Mode, rejected: float) -> bool:
        """Note a step of a phase whose forces have no index set, by the trials that the integrator
        rejected before it: each is like an event; whether a storm begins with it. A law whose
        forces jump from one evaluation to the next makes steps ever shorter."""
        if mode.smooth or rejected <= 0.0:
            return False
        return self.event(t, largest(mode), rejected)

    def event(self, t: float, contacts: int, weight: float = 1.0) -> bool:
        """Note an event in an island of so many contacts; whether a storm begins with it."""
        calm = (t - self.since) / WINDOW
        if calm >= 1.0:
            left = self.length * 0.5 ** min(calm, 64.0)
            self.length = left if left >= 0.5 * WINDOW else 0.0
            self.count, self.since = 0.0, t
        self.count += weight * max(1.0, contacts / LARGE) ** 2
        fewest = min(FEWEST, self.most)
        if self.count <= max(fewest, self.most / (1.0 + self.length / WINDOW)):
            return False
        self._begin(t, contacts)
        return True

    def _begin(self, t: float, contacts: int) -> None:
        most = min(LONGER * max(1.0, contacts / LARGE) ** 2, LONGEST) * WINDOW
        self.length = min(max(2.0 * self.length, WINDOW), most)
        self.until = t + self.length

    def weather(
        self, state: State, until: float, scene: Scene, books: Books, work: Floats
    ) -> State:
        """The state at the end of the storm, or at `until`; books and work (4,) take what
        happens."""
        stepper, begin = self.stepper, state.time
        end = self.until if self.until < until - self.step else until  # no crumbs of a frame
        stored = scene.stored(state)
        stepper.jointed.turns = scene.turns
        count = max(1, ceil((end - begin) / self.step - 1e-9))
        for k in range(count):
            goal = end if k == count - 1 else begin + (k + 1) * (end - begin) / count
            state, report = stepper.step(state, goal - state.time)
            state.time = goal
            self._note(report, books, work)
        scene.turns = stepper.turns
        # springs are in the books of the frame already
        work[LOADS] -= scene.stored(state) - stored
        self.report, self.count, self.since = report, 0.0, end
        sizes = report.island_sizes
        if sizes is not None and sizes.max(initial=0) > HUGE:  # to ask for events would take longer
            self.until = max(self.until, end + WINDOW)
        books.events.append(Event(begin, "storm"))
        books.say(
            f"a storm of events: from t = {begin:.6g} s to {end:.6g} s in {count} steps with "
            "impulses"
        )
        return state

    def _note(self, report: StepReport, books: Books, work: Floats) -> None:
        e = report.energy
        work[[LOADS, DRIVING, FRICTION, CONSTRAINT]] += e.loads, e.driving, e.friction, e.constraint
        books.impact_energy += e.impact
        books.integration += e.integration
        books.collisions += report.collisions
        books.steps += 1
        books.residual = max(books.residual, report.residual)
        if not report.ok:
            books.status = report.status

    def snapshot(self) -> Snapshot:
        own = {"count": self.count, "since": self.since, "until": self.until, "length": self.length}
        steps = {} if self._stepper is None else within("steps", flat(self._stepper.snapshot()))
        return own | steps

    def restore(self, known: Snapshot) -> None:
        """Take over what ``snapshot`` gave."""
        self.count, self.since = float(known["count"]), float(known["since"])
        self.until, self.length = float(known["until"]), float(known["length"])
        steps = part_of(known, "steps")
        if steps:
            self.stepper.restore(parts_of(steps), self.stepper.model)


def largest(mode: Mode) -> int:
    """Contacts of a phase's largest island."""
    return max((part.system.contacts.size for part in mode.forces.islands), default=0)
