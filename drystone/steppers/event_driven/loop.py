"""The loop (Baraff 1992, chapter 3): integrate, locate the first event, resolve it, begin again.

Between events motion is smooth: a phase has contacts that stay closed, and a law of motion. The
loop integrates a phase step by step, locates the first event in each step, and there resolves the
instant: impacts, impulses without collision, then forces, with which the next phase begins. What
happens in a frame is written into its log; what keeps its work finite is decided by ``guards``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from drystone.dynamics import bodies
from drystone.dynamics.energy import energy
from drystone.errors import SimulationError
from drystone.model import State
from drystone.steppers.base import Event
from drystone.steppers.event_driven.event_clusters import ClusterSteps
from drystone.steppers.event_driven.events import GAPS, LAW, Condition, EventSample
from drystone.steppers.event_driven.force_log import logged_forces, phase_over
from drystone.steppers.event_driven.frame_log import FrameLog
from drystone.steppers.event_driven.guards import Guard, largest
from drystone.steppers.event_driven.integrators import (
    INTEGRATORS,
    Adams,
    ArcLengthIntegrator,
    DormandPrince8,
    History,
    StepPath,
)
from drystone.steppers.event_driven.locate import INSTANT, THERE_OR_NOT, Bracket, StepSearch
from drystone.steppers.event_driven.mechanics import Mechanics
from drystone.steppers.event_driven.mode import Evaluation, Mode
from drystone.steppers.event_driven.phase import Phase
from drystone.steppers.event_driven.projection import check_closed, close, put_to_rest, stop
from drystone.steppers.event_driven.resolve_instant import InstantResolver
from drystone.steppers.event_driven.sleep import Island, islands_from, snapshot_of
from drystone.steppers.event_driven.vector import CONSTRAINT, Layout
from drystone.steppers.snapshot import Snapshot, part_of, within
from drystone.types import Floats

EARLIER = 4  # rounds of an event's time
FORCE_ROUNDS = 2  # more rounds of forces for what is closed and stopped, where these were
DEAD_POINT_TRIALS = 8  # trials of a step across a dead point, each three quarters of the one before
TIMELESS_STEPS = 10  # steps along a path without time; on a flat spot a phase may begin with some
SHORTER = 4.0  # times: the step after one that crossed a border
CROSSINGS = 8  # steps of a phase that are taken again up to a border; more are rounding's
PAST = 1e-8  # past a bound, relative to the largest of their island
# of the kinetic energy: work of closing contacts in a phase, times rtol, or if that is more
PROJECTION_WORK, LEAST_PROJECTION_WORK = 500.0, 5e-6


class Loop:
    """Advances a state over a frame; keeps the length of its steps from phase to phase, and a phase
    from frame to frame."""

    def __init__(
        self,
        mechanics: Mechanics,
        resolver: InstantResolver,
        clusters: ClusterSteps,
        guard: Guard,
        integrator: str,
        rtol: float,
        atol: float,
    ) -> None:
        self.mechanics, self.resolver, self.clusters = mechanics, resolver, clusters
        self.guard = guard
        self.integrator, self.rtol, self.atol = integrator, rtol, atol
        self.layout = Layout(mechanics.model)
        self.hint: float | None = None
        self.log = FrameLog()
        self.last: Evaluation | None = None
        self.work = np.zeros(4)
        self.phase: Phase | None = None
        self._lasts = False  # whether the phase continues in the next frame
        self._stored: Snapshot | None = None  # a phase that does
        self._history: History | None = None
        self._flat: tuple[str, ...] = ()
        self._projection_work = 0.0  # of contacts in this phase of the frame [J]
        self._timeless = 0  # steps in turn along a path, without time
        self._waiting: list[Island] = []

    def advance(self, state: State, until: float, log: FrameLog) -> State:
        """The state at time `until`; the log takes what happens."""
        self.log, self.work, self.last = log, np.zeros(4), None
        self.guard.begin_frame()
        now, moved = state.copy(), self.mechanics.sleeping.begin(state)
        phase = self._continued(state, moved)
        while now.time < until:
            if now.time < self.guard.until:
                now, phase, moved = self._step_through_cluster(now, until), None, True
                continue
            self._sleep_resting_islands(now, moved)
            self.clusters.report = None
            phase, moved = phase or self._resolve(now), False
            mode = phase.mode
            if self.resolver.exact and self.guard.without_index_set(now.time, mode):
                continue
            now, phase = self._integrate(phase, now, until), None
            if now.time < until:
                self.guard.count_event(now.time, largest(mode))
        self.mechanics.sleeping.end(now)
        return now

    def _resolve(self, state: State) -> Phase:
        """Resolve the instant: the phase that begins at a state, which is changed in place.
        Impacts, then what presses is at rest from here on: closed, without speed across the
        contact. Where contacts are nearly parallel that changes how they share the load, maybe past
        a bound: they are resolved again."""
        resolver = self.resolver
        mode, targets = self._put_to_rest(state)
        for _ in range(FORCE_ROUNDS):
            now = mode.evaluate(state)
            if min(x.min(initial=np.inf) for x in mode.margins(now)) >= -PAST:
                break
            mode, targets = self._put_to_rest(state)  # forces of what is closed now
        self.layout = self.layout.of(self.mechanics.sleeping.awake)
        slack = self.guard.slack(mode.contact_set.names, mode.closed.size)
        out = Phase(mode, state, targets, self.layout, resolver.touch, resolver.slow, slack)
        self._log_forces(mode, out.start)
        return out

    def _put_to_rest(self, state: State) -> tuple[Mode, Floats]:
        """A law of motion for the state, whose contacts are then closed and stopped, in place; the
        gaps that are kept."""
        resolver = self.resolver
        mode, moving = resolver.resolve(state, self.log), state.copy()
        targets = put_to_rest(mode, state, resolver.touch, resolver.slow)
        self.work[CONSTRAINT] += self.mechanics.energy(state) - self.mechanics.energy(moving)
        return mode, targets

    def _integrate(self, phase: Phase, state: State, until: float) -> State:
        """The state at the first event of a phase, or at `until`."""
        mode = phase.mode
        self.phase, phase.log, self._projection_work, self._timeless = phase, self.log, 0.0, 0
        y = self.layout.pack(state, self.work)
        self.last = phase.go_on(state)
        phase.accept(state.time, y, self.last)
        flat = mode.races = self._flattened(phase, self.last)
        solver = self._solver(phase, state.time, y, until, flat)
        longest, crossed = 0.0, 0
        while solver.status == "running":
            t, y, work, tried = solver.t, solver.y, self._projection_work, self.log.evaluations
            self._step(phase, solver)
            tried = self.log.evaluations - tried
            longest = max(longest, solver.t - t)
            path = StepPath(solver)
            after = self._accept(phase, solver)
            self.hint = float(max(longest, solver.h_abs)) if crossed == 0 else self.hint
            found, margin = self._locate(phase, path, state, after)
            if not isinstance(found, EventSample):
                if crossed >= CROSSINGS or not self._crosses(phase, path, found):
                    return self._end(phase, path, found, margin)
                self._projection_work, crossed = work, crossed + 1
                self.hint = (path.end - t) / SHORTER**crossed
                solver = self._solver(phase, t, y, found[0].t, flat)
                continue
            self._check_projection_work(phase, after)
            self.last = found.now
            if found.now is None or self._restarts(phase, found, solver, flat):
                return self._keep(after, solver.y)
            if self.guard.count_trials(solver.t, mode, tried / solver.n_stages - 1.0):
                self.log.say(
                    f"{mode.method.solver.name}: forces jump from one evaluation to the next, "
                    f"{tried} of them in a step of {solver.t - t:.1e} s"
                )
                return self._keep(after, solver.y)
            phase.accept(solver.t, solver.y, found.now)
            self._log_forces(mode, found.now)
            solver.f = phase.rate(solver.t, solver.y)
            state, phase.last = after, found
            if solver.status == "finished" and solver.t < until:  # at a border
                solver = self._solver(phase, solver.t, solver.y, until, flat)
        if isinstance(solver, Adams):
            y = solver.y.copy()
            self._history = History(mode.signature, solver.t, y, solver.past, solver.order)
        self._lasts = not flat and phase.lasts(self.resolver.touch)
        return self._keep(state, solver.y)

    def _solver(self, phase: Phase, t: float, y: Floats, until: float, flat: bool) -> Any:
        scale = abs(self.mechanics.energy(self.layout.state(t, y)))
        atol = self.layout.tolerances(self.atol, self.rtol, max(scale, 1e-12))
        first = min(self.hint, until - t) if self.hint else None
        make = INTEGRATORS[self.integrator]
        if flat:
            return ArcLengthIntegrator(
                DormandPrince8 if make is Adams else make, phase.rate, phase.pace, t, y, until,
                rtol=self.rtol, atol=atol, first_step=first,
            )  # fmt: skip
        more = self._recall(phase.mode, t, y) if make is Adams else {}
        return make(phase.rate, t, y, until, rtol=self.rtol, atol=atol, first_step=first, **more)

    def _step(self, phase: Phase, solver: Any) -> None:
        """One step of the integrator; an error where it cannot continue."""
        before, solver.patience = solver.t, DEAD_POINT_TRIALS if phase.near_dead_point else 0
        why = solver.step()
        self.log.steps += 1
        if solver.status == "failed" or not np.isfinite(solver.y).all():
            state = self.layout.state(solver.t, solver.y)
            bodies.check_finite(self.mechanics.model, state)
            raise SimulationError(
                f"the integrator {self.integrator} cannot continue at t = {solver.t:.9g} s: {why}"
                f"{phase.trouble}; forces grow without bound there, or rtol and atol ask for too "
                "much"
            )
        self._timeless = self._timeless + 1 if solver.t == before else 0
        if self._timeless > TIMELESS_STEPS:
            raise self._too_flat(before, "the integrator advances it without any time")

    def _accept(self, phase: Phase, solver: Any) -> State:
        """The state after a step, closed contacts and joints closed."""
        state = self.layout.state(solver.t, solver.y)
        self.mechanics.advance_turns(state)
        before = self.mechanics.energy(state)
        check_closed(self.mechanics, close(phase.mode, state, phase.targets), state)
        stop(phase.mode, state, phase.targets)
        work = solver.y[self.layout.work].copy()
        closing = self.mechanics.energy(state) - before
        work[CONSTRAINT] += closing
        self._projection_work += closing
        solver.y = self.layout.pack(state, work)
        return state

    def _locate(
        self, phase: Phase, path: StepPath, before: State, after: State
    ) -> tuple[Bracket | EventSample, Floats]:
        """The first event of the step that was just done, or its conditions at the end where there
        is none; how far around geoms (ng,) contacts were searched for [m]."""
        margin = self.mechanics.travel(before, after, self.resolver.touch)
        prior = phase.last or phase.events.sample(before, margin, self.last)
        search = StepSearch(phase.events, self.layout, path, margin, self.log)
        return search.first(prior, after), margin

    @staticmethod
    def _crosses(phase: Phase, path: StepPath, event: Bracket) -> bool:
        """Whether contacts meet other features within a step: trials that lie beyond have another
        law of motion, and spoil all of the step's polynomial. Up to there it is taken again, unless
        it begins or ends there, or the law stays smooth."""
        legal, illegal = event
        if phase.follows_corners or {name[0] for name in illegal.violated()}.isdisjoint(
            THERE_OR_NOT
        ):
            return False
        return path.begin + INSTANT < legal.t and illegal.t + INSTANT < path.end

    def _end(self, phase: Phase, path: StepPath, event: Bracket, margin: Floats) -> State:
        """The state at an event, the legal side, but where the next phase must see the change."""
        legal, illegal = event
        mode = phase.mode
        names = illegal.violated()
        kinds = sorted({name[0] for name in names})
        t = illegal.t
        near = illegal.t - legal.t <= 1e-12 * max(1.0, abs(t))
        if near and set(kinds) <= set(GAPS) and legal.values.keys() >= set(names):
            t = legal.t  # what appears from nowhere is seen on the other side only
        for _ in range(EARLIER):
            y = path(t)
            state = self.layout.state(t, y)
            self.mechanics.advance_turns(state)
            there, before = state.copy(), self.mechanics.energy(state)
            close(mode, state, phase.targets)
            stop(mode, state, phase.targets)  # the polynomial of a step is less exact than its end
            # what closing moves it may move into others, that meet a little earlier then
            late = phase.events.late(there, state, margin, legal)
            if late == 0.0 or t - late <= path.begin:
                break
            t -= late
        y[self.layout.work][CONSTRAINT] += self.mechanics.energy(state) - before
        for kind in kinds:
            mine = [n[1] for n in names if n[0] == kind]
            if kind in LAW:
                self.resolver.method.forget()
                self.guard.note_bounds([mode.contact_set.title(n) for n in mine], self.log)
            self._note_end(mode, kind, mine, float(t))
        return self._keep(state, y)

    def _note_end(self, mode: Mode, kind: Condition, who: list[Any], t: float) -> None:
        """The event of conditions of this kind; a joint that presses on a stop is at its limit."""
        contact_set = mode.contact_set
        n = len(contact_set.names)
        joints = self.mechanics.model.joints
        if kind is Condition.LIMIT:
            ends = {"limit": [contact_set.mechanics.joint_name(action) for action in who]}
        elif kind is Condition.ROW and joints is not None and self.mechanics.joints is not None:
            own = (
                self.mechanics.joints.held
            )  # rows of coordinates that are held come after the others
            ends = {kind.event: [
                joints.names[int(joints.row_joint[i])] if i < joints.nr
                else contact_set.mechanics.joint_name(int(own[i - joints.nr])) for i in who
            ]}  # fmt: skip
        elif kind is Condition.PRESS:
            ends = {"touch": [contact_set.title(i) for i in who if i < n]}
            ends["limit"] = [contact_set.title(i) for i in who if i >= n]
        else:
            ends = {kind.event: [contact_set.title(i) for i in who]}
        for what, names in ends.items():
            if names:
                self.log.events.append(Event(t, what, tuple(dict.fromkeys(names))))

    def _restarts(self, phase: Phase, end: EventSample, solver: Any, flat: bool) -> bool:
        """Whether a phase ends with a step that had no event: its forces have no index set, its
        contacts are found under other names, their points begin to race over a flat spot, or a
        cluster of events begins."""
        if not phase.mode.smooth and self.resolver.exact:
            return True
        if end.joins:
            self.log.events.append(Event(end.t, "contacts", tuple(end.joins)))
            return True
        if end.now is None or (not flat and phase.paths.flat(end.now).any()):
            return True
        return self.guard.count_step(solver.t, phase.mode, end.now)

    def _check_projection_work(self, phase: Phase, state: State) -> None:
        """The work of closing contacts in accepted steps is of the size of the integrator's error.
        Where a contact point races over a surface so flat that no number tells where on it the
        point is, it is not, and the run ends before anything moves wrongly; elsewhere the report
        says so."""
        kinetic = energy(self.mechanics.model, state)[0]
        share = max(PROJECTION_WORK * self.rtol, LEAST_PROJECTION_WORK)
        if abs(self._projection_work) <= share * kinetic + self.resolver.resting_energy:
            return
        rims = phase.mode.contact_set.on_rims  # these whirl, and miss the tolerance by no more
        if not rims.issuperset(self._flat):
            why = f"to close the contact would change the energy by {self._projection_work:.3g} J"
            raise self._too_flat(state.time, why)
        self.log.say(
            f"closing contacts and joints changed the energy by {self._projection_work:.3g} J at "
            f"t = {state.time:.6g} s, more than the integrator's error"
        )

    def _too_flat(self, t: float, why: str) -> SimulationError:
        return SimulationError(
            f"at t = {t:.6g} s contact {', '.join(self._flat)} crosses a spot that is too flat: "
            f"its orientation does not tell any more where the contact point is, and {why}. "
            "Surfaces flatter than x^4 (a superquadric with an exponent under 0.45) cannot be "
            "rolled over by events: use ds.TimeStepping, or a rounder shape"
        )

    def _flattened(self, phase: Phase, now: Evaluation) -> bool:
        """Whether contact points race over nearly flat surfaces; reports new ones."""
        paths = phase.paths
        names = [paths.names[i] for i in np.flatnonzero(paths.flat(now)).tolist()]
        new = tuple(name for name in names if name not in self._flat)
        if new:
            self.log.events.append(Event(now.state.time, "curvature", new))
        self._flat = tuple(names)
        return bool(names)

    def _recall(self, mode: Mode, t: float, y: Floats) -> dict[str, Any]:
        """History that Adams' methods continue with: that of the same phase in the last frame."""
        known = self._history
        if known is None or known.signature != mode.signature or known.t != t:
            return {}
        end, past = self.layout.work.start, {"past": known.past, "order": known.order}
        return past if np.array_equal(known.y[:end], y[:end]) else {}

    def _log_forces(self, mode: Mode, now: Evaluation) -> None:
        """The force problem of an accepted state, unless it is that of the phase to come."""
        if phase_over(mode, now):
            return
        mode.method.statistics.steps += 1
        if mode.method.listener is not None:
            mode.method.listener(logged_forces(mode, now, self.resolver.touch))

    def _keep(self, state: State, y: Floats) -> State:
        self.work = y[self.layout.work].copy()
        return state

    def _step_through_cluster(self, state: State, until: float) -> State:
        """The state after a cluster of events, or at `until`, if it lasts longer."""
        self.mechanics.sleeping.clear()
        self.resolver.method.forget()
        self.phase, self.last, self._history = None, None, None
        guard, clusters = self.guard, self.clusters
        # what is left of a frame is not worth a step of its own
        end = guard.until if guard.until < until - clusters.step else until
        state = clusters.step_through(state, end, self.mechanics, self.log, self.work)
        guard.end_cluster(end, clusters.largest_island)
        return state

    def _sleep_resting_islands(self, state: State, moved: bool) -> None:
        """Islands that were in equilibrium in the last phase sleep from now on; moved: bodies
        were moved since, and nothing is known of them."""
        for own, table in [] if moved else self._resting_islands(self.log):
            self.mechanics.sleeping.add(own, state, table)
        self._waiting = []
        if self.phase is not None:
            self.phase.mode.resting = {}

    def _resting_islands(self, log: FrameLog) -> list[Island]:
        """Islands that were in equilibrium in the last phase; log: impulses to note."""
        phase = self.phase
        if phase is None or not phase.mode.resting:
            return self._waiting
        return phase.islands_at_rest(log)

    def _continued(self, state: State, moved: bool) -> Phase | None:
        """The phase that the last frame left, if it continues."""
        phase, stored = self.phase if self._lasts else None, self._stored
        self._lasts, self._stored = False, None
        if moved or (phase is None and stored is None):
            return None
        if phase is None and stored is not None:
            self.layout = self.layout.of(self.mechanics.sleeping.awake)
            own = self.mechanics, self.resolver.method, self.layout, self.resolver.touch
            phase = Phase.restored(stored, *own, state)
        if phase is not None:
            forces = phase.mode.forces
            self.resolver.method.go_on(len(forces.islands))
            self.log.residual = max(self.log.residual, forces.residual)
        return phase

    def snapshot(self) -> Snapshot:
        """What the next frame depends on, beside the state."""
        flat = np.array(self._flat, np.str_)
        phase = self.phase.snapshot() if self._lasts and self.phase else self._stored
        parts: dict[str, Snapshot] = {
            "own": {"hint": self.hint, "turns": self.mechanics.turns, "flat": flat},
            "straight": self.resolver.snapshot(),
            "history": {} if self._history is None else self._history.snapshot(),
            "waiting": snapshot_of(self.mechanics.model, self._resting_islands(FrameLog())),
            "sleeping": self.mechanics.sleeping.snapshot(), "phase": phase or {},
            "clusters": self.clusters.snapshot(), "guard": self.guard.snapshot(),
        }  # fmt: skip
        return {k: v for name, part in parts.items() for k, v in within(name, part).items()}

    def restore(self, known: Snapshot) -> None:
        """Take over what ``snapshot`` gave, before the first frame."""
        known = _with_names_of_today(known)
        own, history = part_of(known, "own"), part_of(known, "history")
        self.hint, self.mechanics.turns = own.get("hint"), own.get("turns")
        self._flat = tuple(own["flat"].tolist())
        self.resolver.restore(part_of(known, "straight"))
        self._history = History.restored(history) if history else None
        self.mechanics.sleeping.restore(part_of(known, "sleeping"))
        self._waiting = islands_from(self.mechanics.model, part_of(known, "waiting"))
        self._stored = part_of(known, "phase") or None
        self.clusters.restore(part_of(known, "clusters"))
        self.guard.restore(part_of(known, "guard"))


def _with_names_of_today(known: Snapshot) -> Snapshot:
    """A snapshot, also as checkpoints before 0.2 have it."""
    if "storms.count" not in known:
        return known
    out: Snapshot = {}
    for name, value in known.items():
        if name.startswith("storms.steps."):
            name = f"clusters.{name.removeprefix('storms.')}"
        elif name.startswith("storms."):
            name = f"guard.{name.removeprefix('storms.')}"
        elif name.startswith("sleepers."):
            name = f"sleeping.{name.removeprefix('sleepers.')}"
        out[name] = value
    return out
