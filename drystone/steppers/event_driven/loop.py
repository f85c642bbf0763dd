"""The loop (Baraff 1992, chapter 3): integrate a smooth phase, find its end, begin the next one."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.integrate import DOP853, RK45

from drystone.dynamics import bodies
from drystone.dynamics.energy import energy
from drystone.errors import SimulationError
from drystone.model import State
from drystone.steppers.base import Event
from drystone.steppers.event_driven.adams import Adams, History
from drystone.steppers.event_driven.events import ENDS, Probe, Watch, dips, first_event
from drystone.steppers.event_driven.mode import Evaluation, Mode
from drystone.steppers.event_driven.path import StepPath
from drystone.steppers.event_driven.phase import Phase
from drystone.steppers.event_driven.projection import check_closed, close, put_to_rest, stop
from drystone.steppers.event_driven.scene import Scene
from drystone.steppers.event_driven.settle import Books, Settler
from drystone.steppers.event_driven.sleep import Island, islands_from, snapshot_of
from drystone.steppers.event_driven.storm import Storms, largest
from drystone.steppers.event_driven.stretched import Stretched
from drystone.steppers.event_driven.sweep import GRAZED, MAYBE
from drystone.steppers.event_driven.tables import islands_at_rest
from drystone.steppers.event_driven.told import over, told
from drystone.steppers.event_driven.vector import CONSTRAINT, Layout
from drystone.steppers.snapshot import Snapshot, part_of, within
from drystone.types import Floats

INTEGRATORS: dict[str, Any] = {"dop853": DOP853, "rk45": RK45, "adams": Adams}
PATIENCE = 12  # events without progress before conditions are looked at less closely
MANY = 40  # events in a frame after which contacts rest, stick and stop turning ten times earlier
LOOSEST = 4  # times ten, at most
PROGRESS = 1e-11  # [s]
EARLIER = 4  # rounds of an event's time
AGAIN = 2  # more rounds of forces for what is closed and stopped, where these were
PAST = 1e-8  # past a bound, relative to the largest of their island
TAKEN = 500.0  # times rtol, of the kinetic energy: what closing contacts may take in a phase, or
LEAST = 5e-6  # of it, whichever is more
STALLS = 1e-4  # of the kinetic energy: what beginning a phase may take, beside what is slow


class Loop:
    """Advances a state over a frame; keeps the length of its steps from phase to phase, and a phase
    from frame to frame."""

    def __init__(
        self,
        scene: Scene,
        settler: Settler,
        storms: Storms,
        integrator: str,
        rtol: float,
        atol: float,
    ) -> None:
        self.scene, self.settler, self.storms = scene, settler, storms
        self.integrator, self.rtol, self.atol = integrator, rtol, atol
        self.layout = Layout(scene.model)
        self.hint: float | None = None
        self.books = Books()
        self.last: Evaluation | None = None
        self.work = np.zeros(4)
        self.phase: Phase | None = None
        self._lasts = False  # whether the phase goes on in the next frame
        self._stored: Snapshot | None = None  # a phase that does
        self._history: History | None = None
        self._flat: tuple[str, ...] = ()
        self._taken = 0.0  # by closing contacts in this phase of the frame [J]
        self._waiting: list[Island] = []

    def advance(self, state: State, until: float, books: Books) -> State:
        """The state at time `until`; books take what happens."""
        self.books, self.work, self.last = books, np.zeros(4), None
        now = state.copy()
        stuck, self.settler.stopped = 0, frozenset()
        moved = self.scene.sleepers.begin(state)
        phase = self._kept(state, moved)
        while now.time < until:
            if now.time < self.storms.until:
                now, phase, moved = self._weather(now, until), None, True
                continue
            self._lay_to_rest(now, moved)
            moved, self.storms.report = False, None
            power = min(books.restarts // MANY, LOOSEST)
            self.settler.loosen(10.0**power)
            self.settler.restarts = books.restarts
            if power:
                books.say(f"more than {power * MANY} events: speeds of rest times {10**power}")
            phase = phase or self._begin(now, stuck)
            before, mode = now.time, phase.mode
            if self.settler.exact and self.storms.phase(before, mode):
                continue
            now, phase = self._run(phase, now, until, stuck), None
            if now.time >= until:
                break
            books.restarts += 1
            self.storms.event(now.time, largest(mode))
            stuck = stuck + 1 if now.time - before <= PROGRESS else 0
            if stuck > 10 * PATIENCE:
                raise SimulationError(
                    f"at t = {now.time:.9g} s events follow each other without progress; the last "
                    f"were {', '.join(e.kind for e in books.events[-4:])}"
                )
        self.scene.sleepers.end(now)
        return now

    def _weather(self, state: State, until: float) -> State:
        """The state after a storm, or at `until`, if it goes on."""
        self.scene.sleepers.clear()
        self.settler.method.forget()
        self.phase, self.last, self._history = None, None, None
        return self.storms.weather(state, until, self.scene, self.books, self.work)

    def _lay_to_rest(self, state: State, moved: bool) -> None:
        """Islands that were in equilibrium in the last phase sleep from now on; moved: somebody
        moved bodies since, and nothing is known of them."""
        for own, table in [] if moved else self._tired(self.books):
            self.scene.sleepers.add(own, state, table)
        self._waiting = []
        if self.phase is not None:
            self.phase.mode.resting = {}

    def _tired(self, books: Books) -> list[Island]:
        """Islands that were in equilibrium in the last phase; books: impulses to note."""
        phase = self.phase
        if phase is None or not phase.mode.resting:
            return self._waiting
        return islands_at_rest(self.scene.model, phase.mode, phase.start, books)

    def snapshot(self) -> Snapshot:
        """What the next frame depends on, beside the state."""
        flat = np.array(self._flat, np.str_)
        phase = self.phase.snapshot() if self._lasts and self.phase else self._stored
        parts: dict[str, Snapshot] = {
            "own": {"hint": self.hint, "turns": self.scene.turns, "flat": flat},
            "straight": self.settler.snapshot(),
            "history": {} if self._history is None else self._history.snapshot(),
            "waiting": snapshot_of(self.scene.model, self._tired(Books())),
            "sleepers": self.scene.sleepers.snapshot(), "phase": phase or {},
            "storms": self.storms.snapshot(),
        }  # fmt: skip
        return {k: v for name, part in parts.items() for k, v in within(name, part).items()}

    def restore(self, known: Snapshot) -> None:
        """Take over what ``snapshot`` gave, before the first frame."""
        own, history = part_of(known, "own"), part_of(known, "history")
        self.hint, self.scene.turns = own.get("hint"), own.get("turns")
        self._flat = tuple(own["flat"].tolist())
        self.settler.restore(part_of(known, "straight"))
        self._history = History.restored(history) if history else None
        self.scene.sleepers.restore(part_of(known, "sleepers"))
        self._waiting = islands_from(self.scene.model, part_of(known, "waiting"))
        self._stored = part_of(known, "phase") or None
        self.storms.restore(part_of(known, "storms"))

    def _begin(self, state: State, stuck: int) -> Phase:
        """The phase that begins at a state, which is changed in place: impacts, and what presses
        is at rest from here on: closed, without speed across the contact. Where contacts are nearly
        parallel that changes how they share the load, maybe past a bound: they settle again."""
        settler, books = self.settler, self.books
        mode, targets = self._rested(state)
        for _ in range(AGAIN):
            now = mode.evaluate(state)
            if min(x.min(initial=np.inf) for x in mode.margins(now)) >= -PAST:
                break
            mode, targets = self._rested(state)  # forces of what is closed now
        loose = max(100.0 ** min(stuck // PATIENCE, 3), 10.0 ** min(books.restarts // MANY, 2))
        self.layout = self.layout.of(self.scene.sleepers.awake)
        out = Phase(
            mode, state, targets, self.layout, settler.touch, settler.slow, loose, books.left
        )
        self._tell(mode, out.start)
        return out

    def _rested(self, state: State) -> tuple[Mode, Floats]:
        """A law of motion for the state, whose contacts are then closed and stopped, in place; the
        gaps that are kept."""
        settler, model = self.settler, self.scene.model
        mode, settler.stopped = settler.settle(state, self.books), frozenset()
        moving = state.copy()
        targets = put_to_rest(mode, state, settler.touch, settler.slow)
        kinetic = energy(model, moving)[0]
        if kinetic - energy(model, state)[0] > STALLS * kinetic + settler.little:
            # slow slip of a long lever is not to be stopped: only what the options say is at rest
            for name in ("position", "orientation", "velocity"):
                getattr(state, name)[:] = getattr(moving, name)
            settler.loosen(1.0)
            mode, moving = settler.settle(state, self.books), state.copy()
            targets = put_to_rest(mode, state, settler.touch, settler.slow)
        self.work[CONSTRAINT] += self.scene.energy(state) - self.scene.energy(moving)
        return mode, targets

    def _kept(self, state: State, moved: bool) -> Phase | None:
        """The phase that the last frame left, if it goes on."""
        phase, stored = self.phase if self._lasts else None, self._stored
        self._lasts, self._stored = False, None
        if moved or (phase is None and stored is None):
            return None
        if phase is None and stored is not None:
            self.layout = self.layout.of(self.scene.sleepers.awake)
            own = self.scene, self.settler.method, self.layout, self.settler.touch
            phase = Phase.restored(stored, *own, state)
        if phase is not None:
            forces = phase.mode.forces
            self.settler.method.go_on(len(forces.islands))
            self.books.residual = max(self.books.residual, forces.residual)
        return phase

    def _run(self, phase: Phase, state: State, until: float, stuck: int) -> State:
        """The state at the end of a phase, or at `until`."""
        mode, watch = phase.mode, phase.watch
        self.phase, phase.books, self._taken = phase, self.books, 0.0
        y = self.layout.pack(state, self.work)
        self.last = phase.go_on(state)
        phase.accept(state.time, y, self.last)
        flat = self._flattened(phase, self.last)
        solver = self._solver(phase, state.time, y, until, flat)
        longest = 0.0
        while solver.status == "running":
            t, tried = solver.t, self.books.evaluations
            self._step(phase, solver)
            tried = self.books.evaluations - tried
            longest = max(longest, solver.t - t)
            path = StepPath(solver)
            after = self._accept(phase, solver)
            self.hint = float(max(longest, solver.h_abs))
            margin = self.scene.travel(state, after, self.settler.touch)
            prior = phase.last or watch.probe(state, margin, self.last)
            event, probe = self._look(watch, path, after, prior, margin, stuck)
            if event is not None:
                return self._end(phase, path, event, margin)
            self._check_taken(phase, after)
            self.last = self.last if probe is None else probe.now
            lame = not mode.smooth and self.settler.exact  # forces at the edge of an index set
            if probe is None or probe.now is None or lame or self._renamed(probe, stuck):
                return self._keep(after, solver.y)
            flattens = not flat and phase.paths.flat(probe.now).any()
            if flattens or self.storms.count_step(solver.t, mode, probe.now):
                return self._keep(after, solver.y)
            if self.storms.count_trials(solver.t, mode, tried / solver.n_stages - 1.0):
                self.books.say(
                    f"{mode.method.solver.name}: forces jump from one evaluation to the next, "
                    f"{tried} of them in a step of {solver.t - t:.1e} s"
                )
                return self._keep(after, solver.y)
            phase.accept(solver.t, solver.y, probe.now)
            self._tell(mode, probe.now)
            solver.f = phase.rate(solver.t, solver.y)
            state, phase.last = after, probe
        if isinstance(solver, Adams):
            y = solver.y.copy()
            self._history = History(mode.signature, solver.t, y, solver.past, solver.order)
        self._lasts = not flat and phase.lasts(self.settler.touch)
        return self._keep(state, solver.y)

    def _tell(self, mode: Mode, now: Evaluation) -> None:
        """The force problem of an accepted state, unless it is that of the phase to come."""
        if over(mode, now):
            return
        mode.method.statistics.steps += 1
        if mode.method.listener is not None:
            mode.method.listener(told(mode, now, self.settler.touch))

    def _renamed(self, probe: Probe, stuck: int) -> bool:
        if not probe.joins or stuck > PATIENCE:
            return False
        self.books.events.append(Event(probe.t, "contacts", tuple(probe.joins)))
        return True

    def _flattened(self, phase: Phase, now: Evaluation) -> bool:
        """Whether contact points race over nearly flat surfaces; reports new ones."""
        paths = phase.paths
        names = [paths.names[i] for i in np.flatnonzero(paths.flat(now)).tolist()]
        new = tuple(name for name in names if name not in self._flat)
        if new:
            self.books.events.append(Event(now.state.time, "curvature", new))
        self._flat = tuple(names)
        return bool(names)

    def _solver(self, phase: Phase, t: float, y: Floats, until: float, flat: bool) -> Any:
        scale = abs(self.scene.energy(self.layout.state(t, y)))
        atol = self.layout.tolerances(self.atol, self.rtol, max(scale, 1e-12))
        first = None if self.hint is None else min(self.hint, until - t)
        make = INTEGRATORS[self.integrator]
        if flat:
            return Stretched(
                DOP853 if make is Adams else make, phase.rate, phase.pace, t, y, until,
                rtol=self.rtol, atol=atol, first_step=first,
            )  # fmt: skip
        more = self._recall(phase.mode, t, y) if make is Adams else {}
        return make(phase.rate, t, y, until, rtol=self.rtol, atol=atol, first_step=first, **more)

    def _recall(self, mode: Mode, t: float, y: Floats) -> dict[str, Any]:
        """History that Adams' methods go on with: that of the same phase in the last frame."""
        known = self._history
        if known is None or known.signature != mode.signature or known.t != t:
            return {}
        end, past = self.layout.work.start, {"past": known.past, "order": known.order}
        return past if np.array_equal(known.y[:end], y[:end]) else {}

    def _step(self, phase: Phase, solver: Any) -> None:
        why = solver.step()
        self.books.steps += 1
        if solver.status == "failed" or not np.isfinite(solver.y).all():
            state = self.layout.state(solver.t, solver.y)
            bodies.check_finite(self.scene.model, state)
            raise SimulationError(
                f"the integrator {self.integrator} cannot go on at t = {solver.t:.9g} s: {why}"
                f"{phase.trouble}; forces grow without bound there, or rtol and atol ask for too "
                "much"
            )

    def _accept(self, phase: Phase, solver: Any) -> State:
        """The state after a step, closed contacts and joints closed."""
        state = self.layout.state(solver.t, solver.y)
        self.scene.advance_turns(state)
        before = self.scene.energy(state)
        check_closed(self.scene, close(phase.mode, state, phase.targets), state)
        stop(phase.mode, state)
        work = solver.y[self.layout.work].copy()
        taken = self.scene.energy(state) - before
        work[CONSTRAINT] += taken
        self._taken += taken
        solver.y = self.layout.pack(state, work)
        return state

    def _check_taken(self, phase: Phase, state: State) -> None:
        """What closing contacts takes from the energy in steps that are accepted is of the size of
        the integrator's error. Where a contact point races over a surface so flat that no number
        tells where on it the point is, it is not, and the run ends before anything moves wrongly;
        elsewhere the report says so."""
        taken, kinetic = abs(self._taken), energy(self.scene.model, state)[0]
        if taken <= max(TAKEN * self.rtol, LEAST) * kinetic + self.settler.little:
            return
        rims = phase.mode.held.on_rims  # these whirl, and miss the tolerance by no more
        flat = [name for name in self._flat if name not in rims]
        if flat:
            raise SimulationError(
                f"at t = {state.time:.6g} s contact {', '.join(flat)} crosses a spot that is "
                f"too flat: its orientation does not tell any more where the contact point is, and "
                f"to close the contact would change the energy by {self._taken:.3g} J. Surfaces "
                "flatter than x^4 (a superquadric with an exponent under 0.45) cannot be rolled "
                "over by events: use ds.TimeStepping, or a rounder shape"
            )
        self.books.say(
            f"closing contacts and joints changed the energy by {self._taken:.3g} J at "
            f"t = {state.time:.6g} s, more than the integrator's error"
        )

    def _look(
        self,
        watch: Watch,
        path: StepPath,
        after: State,
        prior: Probe,
        margin: Floats,
        stuck: int,
    ) -> tuple[tuple[Probe, Probe] | None, Probe | None]:
        """(event, probe at the end): the first violation within the step that was just done."""
        quiet = stuck > 4 * PATIENCE

        def look(t: float, light: bool = False) -> Probe:
            there = self.layout.state(t, path(t))
            found = watch.light(there, margin) if light else None
            if found is not None:
                return found
            self.books.evaluations += 1
            return watch.probe(there, margin)

        def sure(a: Probe, b: Probe) -> tuple[Probe, Probe] | None:
            """The first event between two legal probes, if there is one."""
            doubt = watch.doubt(a, b)
            if doubt == MAYBE:
                m = look(0.5 * (a.t + b.t), True)
                if not m.violated(quiet):
                    return sure(a, m) or sure(m, b)
                first = first_event(watch, look, a, m, quiet)
                return sure(a, first[0]) or first
            for t in dips(a, b) if doubt == GRAZED else []:
                m = look(t, True)
                if m.violated(quiet):
                    return first_event(watch, look, a, m, quiet)
            return None

        self.books.evaluations += 1
        end = watch.probe(after, margin)
        left = prior
        for t in dips(prior, end):
            middle = look(t)
            if middle.violated(quiet):
                last = first_event(watch, look, left, middle, quiet)
                return sure(left, last[0]) or last, None
            event = sure(left, middle)
            if event is not None:
                return event, None
            left = middle
        if end.violated(quiet):
            last = first_event(watch, look, left, end, quiet)
            return sure(left, last[0]) or last, None
        event = sure(left, end)
        return (event, None) if event is not None else (None, end)

    def _end(
        self, phase: Phase, path: StepPath, event: tuple[Probe, Probe], margin: Floats
    ) -> State:
        """The state at an event, the legal side, but where the next phase must see the change."""
        legal, illegal = event
        mode = phase.mode
        names = illegal.violated()
        kinds = sorted({name[0] for name in names})
        t = illegal.t
        near = illegal.t - legal.t <= 1e-12 * max(1.0, abs(t))
        if near and set(kinds) <= {"gap", "flush", "limit"} and legal.values.keys() >= set(names):
            t = legal.t  # what appears from nowhere is seen on the other side only
        for _ in range(EARLIER):
            y = path(t)
            state = self.layout.state(t, y)
            self.scene.advance_turns(state)
            there, before = state.copy(), self.scene.energy(state)
            close(mode, state, phase.targets)
            stop(mode, state)  # the polynomial of a step is less exact than its end
            # what closing moves it may move into others, that meet a little earlier then
            late = phase.watch.late(there, state, margin, legal)
            if late == 0.0 or t - late <= path.begin:
                break
            t -= late
        y[self.layout.work][CONSTRAINT] += self.scene.energy(state) - before
        self.settler.stop(mode, [i for kind, i in names if kind == "slip"])
        for kind in kinds:
            mine = [n[1] for n in names if n[0] == kind]
            if kind in ("pull", "press", "cone"):
                self.settler.method.forget()
                self.books.leave(tuple(mode.held.title(n) for n in mine))
            self._note_end(mode, kind, mine, float(t))
        return self._keep(state, y)

    def _note_end(self, mode: Mode, kind: str, who: list[Any], t: float) -> None:
        """The event of conditions of this kind; a joint that presses on a stop is at its limit."""
        held = mode.held
        n = len(held.names)
        joints = self.scene.model.joints
        if kind == "limit":
            ends = {"limit": [held.scene.joint_name(action) for action in who]}
        elif kind == "row" and joints is not None and self.scene.joints is not None:
            own = self.scene.joints.held  # rows of coordinates that are held come after the others
            ends = {ENDS[kind]: [
                joints.names[int(joints.row_joint[i])] if i < joints.nr
                else held.scene.joint_name(int(own[i - joints.nr])) for i in who
            ]}  # fmt: skip
        elif kind == "press":
            ends = {"touch": [held.title(i) for i in who if i < n]}
            ends["limit"] = [held.title(i) for i in who if i >= n]
        else:
            ends = {ENDS[kind]: [held.title(i) for i in who]}
        for what, names in ends.items():
            if names:
                self.books.events.append(Event(t, what, tuple(dict.fromkeys(names))))

    def _keep(self, state: State, y: Floats) -> State:
        self.work = y[self.layout.work].copy()
        return state
