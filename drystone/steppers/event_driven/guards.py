"""What keeps the work of a frame finite: the numbers (``ds.EventGuards``) and all decisions.

Infinitely many events may fall into a finite time, and forces may be such that rounding ends phase
after phase. The contract of all guards: a frame ends, or the run ends with an error that names the
time and what happened; where no guard acts the motion is exact to the integrator's tolerances;
where one acts, the step's log says so. A guard never moves a body: it changes what counts as an
event, as rest or as a rebound, or hands the time over to steps of the time stepping scheme.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from drystone.steppers.event_driven.frame_log import FrameLog
from drystone.steppers.snapshot import Snapshot
from drystone.types import Floats
from drystone.values import check_options, check_positive

if TYPE_CHECKING:
    from drystone.steppers.event_driven.mode import Evaluation, Mode

EVENT_WINDOW = 1.0 / 60.0  # [s] in which events are counted, and what a cluster lasts at least
LONG_CLUSTER = 16.0  # times that a cluster lasts at most; in large islands more, up to
LONGEST_CLUSTER = 64.0  # times
LARGE_ISLAND = 96  # contacts in an island, whose forces cost more the more there are
HUGE_ISLAND = 192  # contacts in an island in which a cluster lasts as long as they touch
FEWEST = 8  # events that are waited for in any case
SLOW_SLIP = 1e-3  # [m/s]: slip that turns fast
SLOW_STEPS = 8  # steps of such slip, that count as one event
WIDER = 100.0  # times: the slack of a contact that is at a bound time and again
TIMES_WIDENED = 2  # times that it is widened


@dataclass(frozen=True, kw_only=True)
class EventGuards:
    """When ``EventDriven`` stops following every event, so that each frame ends.

    max_impulses: rounds of impulses at one instant, 60; where there are more the run ends with an
        error: an instant that takes two or three has gone wrong long before.
    max_events: in a sixtieth of a second, 80; where there are more, a cluster, time advances by
        steps with impulses until there are fewer (``event_clusters``).
    cluster_step: the longest of these steps [s], 2e-3: gaps and slips are of its order.
    repeats: phases of a frame, 3, that one contact may end at the bounds of its force before the
        bound is widened, by 100 times and then by 100 times again (to 3e-4 of the largest force).
    """

    max_impulses: int = 60
    max_events: int = 80
    cluster_step: float = 2e-3
    repeats: int = 3

    def __post_init__(self) -> None:
        check_options(self, "EventGuards", ".", floats=True)
        check_positive(self, "EventGuards", *(entry.name for entry in fields(self)))


USUAL = EventGuards()


class Guard:
    """Counts what happens, and decides what the loop does about it.

    Of a frame: at_bound: phases that contacts ended at the bounds of their forces, by name. From
    frame to frame: count, since: events of a window and when it began; until, length: the end of
    the last cluster of events, and how long it was.
    """

    def __init__(self, limits: EventGuards) -> None:
        self.limits = limits
        self.count, self.since = 0.0, -np.inf
        self.until, self.length = -np.inf, 0.0
        self.begin_frame()

    def begin_frame(self) -> None:
        """Nothing has happened yet."""
        self.at_bound: Counter[str] = Counter()

    def snapshot(self) -> Snapshot:
        """What the next frame depends on."""
        return {"count": self.count, "since": self.since, "until": self.until,
                "length": self.length}  # fmt: skip

    def restore(self, known: Snapshot) -> None:
        """Take over what ``snapshot`` gave."""
        self.count, self.since = float(known["count"]), float(known["since"])
        self.until, self.length = float(known["until"]), float(known["length"])

    def slack(self, names: Sequence[str], count: int) -> Floats:
        """(count,) times what forces at their bounds may miss them by, in a phase that begins with
        contacts of these names; actions of joints come after them."""
        times = np.zeros(count, np.int64)
        times[: len(names)] = [self.at_bound.get(name, 0) for name in names]
        return np.asarray(
            WIDER ** np.clip(times - self.limits.repeats + 1, 0, TIMES_WIDENED), np.float64
        )

    def note_bounds(self, names: Sequence[str], log: FrameLog) -> None:
        """Contacts ended a phase at the bounds of their forces."""
        self.at_bound.update(names)
        for name in names:
            if self.at_bound[name] > self.limits.repeats:
                log.say(f"contact {name}: at its bound time and again; held within 3e-4 of it")

    def without_index_set(self, t: float, mode: Mode) -> bool:
        """Whether a cluster begins instead of a phase: one whose forces have no index set, so that
        many contacts would be solved for at every evaluation."""
        if mode.smooth or largest(mode) <= LARGE_ISLAND:
            return False
        self._begin_cluster(t, largest(mode))
        return True

    def count_step(self, t: float, mode: Mode, now: Evaluation) -> bool:
        """Count a step of slip that turns while it hardly moves, at a rate of mu g over its speed:
        some of them are like an event; whether a cluster begins with it."""
        free = np.flatnonzero(mode.sliding.slides & ~mode.sliding.frozen)
        slip = now.rows.state.u[free, 1:]
        if not ((slip * slip).sum(axis=1) < SLOW_SLIP * SLOW_SLIP).any():
            return False
        return self.count_event(t, largest(mode), 1.0 / SLOW_STEPS)

    def count_trials(self, t: float, mode: Mode, rejected: float) -> bool:
        """Count a step of a phase whose forces have no index set, by the trials that the integrator
        rejected before it: each is like an event; whether a cluster begins with it. A law whose
        forces jump from one evaluation to the next makes steps ever shorter."""
        if mode.smooth or rejected <= 0.0:
            return False
        return self.count_event(t, largest(mode), rejected)

    def count_event(self, t: float, contacts: int, weight: float = 1.0) -> bool:
        """Count an event in an island of so many contacts; whether a cluster begins with it."""
        windows = (t - self.since) / EVENT_WINDOW
        if windows >= 1.0:
            left = self.length * 0.5 ** min(windows, 64.0)
            self.length = left if left >= 0.5 * EVENT_WINDOW else 0.0
            self.count, self.since = 0.0, t
        self.count += weight * max(1.0, contacts / LARGE_ISLAND) ** 2
        most = self.limits.max_events
        if self.count <= max(min(FEWEST, most), most / (1.0 + self.length / EVENT_WINDOW)):
            return False
        self._begin_cluster(t, contacts)
        return True

    def _begin_cluster(self, t: float, contacts: int) -> None:
        most = (
            min(LONG_CLUSTER * max(1.0, contacts / LARGE_ISLAND) ** 2, LONGEST_CLUSTER)
            * EVENT_WINDOW
        )
        self.length = min(max(2.0 * self.length, EVENT_WINDOW), most)
        self.until = t + self.length

    def end_cluster(self, t: float, contacts: int) -> None:
        """The steps through a cluster end at t, with so many contacts in the largest island."""
        self.count, self.since = 0.0, t
        if contacts > HUGE_ISLAND:  # to ask for events would take longer than to step
            self.until = max(self.until, t + EVENT_WINDOW)


def largest(mode: Mode) -> int:
    """Contacts of a phase's largest island."""
    return max((part.system.contacts.size for part in mode.forces.islands), default=0)
