"""A phase that runs: its right-hand side, what watches it, and where it is.

A phase that a frame does not end goes on in the next one, unless somebody moves bodies in between.
All of it follows from where it began (state, contacts, who slides; index sets are those that the
method of forces keeps) and from what was found at its present state. A checkpoint holds these
and no more, and a run that goes on from it builds the same phase, to the bit.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from drystone.errors import DrystoneError
from drystone.model import Contacts, State
from drystone.steppers.event_driven.active_contacts import ContactSet
from drystone.steppers.event_driven.events import EventFunctions, EventSample
from drystone.steppers.event_driven.force_log import contacts_of, phase_over
from drystone.steppers.event_driven.forces import ContactForces, Tolerances
from drystone.steppers.event_driven.frame_log import FrameLog
from drystone.steppers.event_driven.guards import Slack
from drystone.steppers.event_driven.integrators import Paths, Running
from drystone.steppers.event_driven.mechanics import Mechanics
from drystone.steppers.event_driven.mode import Evaluation, Mode, Sliding
from drystone.steppers.event_driven.rate import Rate
from drystone.steppers.event_driven.sleep import Island
from drystone.steppers.event_driven.vector import Layout
from drystone.steppers.snapshot import Snapshot, part_of, within
from drystone.types import Floats

FAR = 1e12  # [m], [m/s]: no state is there


class Phase:
    """One smooth phase from `state` on.

    targets (nc,): gaps that closed contacts keep; touch [m], slow [m/s], slack: as
    ``EventFunctions`` has them. last: conditions at the present state, None where not evaluated.
    """

    def __init__(
        self,
        mode: Mode,
        state: State,
        targets: Floats,
        layout: Layout,
        touch: float,
        slow: float,
        slack: Slack | None = None,
    ) -> None:
        self.mode, self.targets, self.layout = mode, targets, layout
        self.turns = mode.contact_set.mechanics.turns
        self.start = mode.evaluate(state)
        mode.contact_set.begin(state)
        self.events = EventFunctions(mode, self.start.rows, touch, slow, slack)
        self.paths = Paths(mode, self.start)
        plain = mode.smooth and mode.contact_set.acts.size == 0
        self.fast = Rate(mode, layout, state) if plain else None
        self.last: EventSample | None = None
        self.log = FrameLog()
        self.trouble = ""
        self._known: tuple[float, Floats, Evaluation] | None = None
        self._running: Running | None = None

    def go_on(self, state: State) -> Evaluation:
        """Forces at the present state, as another frame begins with it."""
        last = self.last
        if last is not None and last.found is not None and last.t != state.time:
            self.last = self.events.conditions(state, last.found, None, last.reach)
        now = self.mode.evaluate(state)
        if self.fast is not None:
            self.fast.follow(now)
        return now

    def lasts(self, touch: float) -> bool:
        """Whether the next frame may go on with this phase: another one, found anew, would be the
        same. What the user's forces will be nobody knows."""
        mode, last = self.mode, self.last
        if last is None or last.now is None or not mode.smooth or mode.resting:
            return False
        rows = last.now.rows
        apart = rows.lost.any() or not ((rows.gap <= touch) | rows.loaded).all()
        calm = self.events.calm and not mode.contact_set.mechanics.model.forces
        return bool(calm and not apart and not phase_over(mode, last.now))

    def islands_at_rest(self, log: FrameLog) -> list[Island]:
        """Bodies and contacts of the islands in equilibrium, as the phase began; log: impulses."""
        mode, model = self.mode, self.mode.contact_set.mechanics.model
        table = contacts_of(model, mode, self.start, log)
        out = []
        for k in mode.resting:
            system = mode.forces.islands[k].system
            own = system.bodies[model.inverse_mass[system.bodies] > 0]
            out.append((own, table[system.contacts[system.contacts < table.size]]))
        return out

    def accept(self, t: float, y: Floats, now: Evaluation) -> None:
        """Go on from (t, y), where forces are known."""
        self._known = t, y.copy(), now
        self.mode.contact_set.follow(now.state, now.rows.contacts)
        if self.fast is not None:
            self.fast.follow(now, anew=False)

    def rate(self, t: float, y: Floats) -> Floats:
        """dY/dt (Baraff 1992, (3-1))."""
        known = self._known
        if known is not None and known[0] == t and np.array_equal(known[1], y):
            now = known[2]
        else:
            self.log.evaluations += 1
            # trials may go where the phase has no law: a rate of nan makes the step shorter
            if not np.abs(y).max() <= FAR:
                return np.full_like(y, np.nan)
            try:
                fast = None if self.fast is None else self.fast(t, y)
                if fast is not None and self.fast is not None:
                    self._running = self.fast.slide, self.fast.contacts
                    return fast
                now = self.mode.evaluate(self.layout.state(t, y))
            except DrystoneError as error:
                self.trouble = f" ({error})"
                return np.full_like(y, np.nan)
        self._running = now.rows.kin.slide, np.arange(now.rows.nr)
        return self.layout.rate(y, now.state, now.acceleration, now.power)

    def pace(self) -> float:
        """g of the latest rate; see ``stretched``."""
        return 1.0 if self._running is None else self.paths.pace(*self._running)

    def snapshot(self) -> Snapshot:
        """What ``restored`` needs beside the mechanics, the method's index sets and the state."""
        mode, contact_set, last = self.mode, self.mode.contact_set, self.last
        out: Snapshot = {
            "acts": contact_set.acts, "loaded": contact_set.loaded, "targets": self.targets,
            "turns": self.turns, "slow": self.events.slow,
        }  # fmt: skip
        parts: dict[str, Any] = {
            "state": contact_set.began, "start": contact_set.start, "sliding": mode.sliding,
            "tolerances": mode.tolerances,
        }  # fmt: skip
        if last is not None and last.now is not None:
            parts |= {"found": last.found, "own": last.now.rows.contacts}
            out["reach"] = last.reach
        for name, part in parts.items():
            out |= within(name, asdict(part))
        return {name: value for name, value in out.items() if value is not None}

    @classmethod
    def restored(
        cls,
        known: Snapshot,
        mechanics: Mechanics,
        method: ContactForces,
        layout: Layout,
        touch: float,
        now: State,
    ) -> Phase:
        """The phase that ``snapshot`` was taken of; now: its present state."""
        state, sliding = State(**part_of(known, "state")), Sliding(**part_of(known, "sliding"))
        tolerances = Tolerances(**part_of(known, "tolerances"))
        turns, mechanics.turns = mechanics.turns, known.get("turns")
        contact_set = ContactSet(
            mechanics, state, Contacts(**part_of(known, "start")), known["acts"]
        )
        contact_set.loaded = int(known["loaded"])
        rows = contact_set.rows(state, sliding, tolerances)
        none = np.zeros(rows.state.nc, bool)
        mode = Mode(contact_set, method.recalled(rows.state), sliding, tolerances, method, none)
        out = cls(mode, state, known["targets"], layout, touch, float(known["slow"]))
        mechanics.turns = turns
        contact_set.put(now, Contacts(**part_of(known, "own")))
        found = Contacts(**part_of(known, "found"))
        out.last = out.events.conditions(now, found, None, known.get("reach"))
        return out
