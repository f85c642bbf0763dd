"""Simulation: a world, a method, and what happened."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from importlib import import_module
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, Self, TypedDict, Unpack, overload

import numpy as np

from drystone import edits, snapshots
from drystone.arguments import warn_user
from drystone.builder.arrays import carry_over
from drystone.constraints.canonical import CanonicalForces, checked_choice, in_words
from drystone.constraints.interfaces import interfaces
from drystone.constraints.joints.assembly import assembled
from drystone.constraints.joints.mobility import Mobility, mobility
from drystone.dynamics.energy import energy
from drystone.errors import IgnoredWarning, ModelError, OptionError, RecordingError, SimulationError
from drystone.model import Model, State
from drystone.problems.files import write_problem
from drystone.readings import BodyView, JointView
from drystone.recording.user_states import check_states, checked, states
from drystone.running import FailureWarning, choice, execute, plan, seconds
from drystone.snapshots import LastStep, Snapshot, Structure
from drystone.steppers.base import Event, Method, Stepper, StepReport, current_name
from drystone.steppers.registry import METHODS
from drystone.steppers.totals import RunSummary, Totals
from drystone.trajectory import Trajectory
from drystone.types import BodyLike, Table
from drystone.values import among, as_path, function, meant, switch, text, whole
from drystone.world import World

if TYPE_CHECKING:  # files are heavy to load, and most runs have none
    from drystone.constraints.force_ranges import ForceRange
    from drystone.problems import FrictionProblem
    from drystone.recording.reader import Recording
    from drystone.recording.recorder import Recorder
    from drystone.steppers.event_driven.forces.choices import Alternative

# what is made from the world, the method and a snapshot; and who records this simulation
MADE = (
    "model", "state", "_version", "_stepper", "_places", "_shown", "_structure", "_recorder",
    "_known_forces",
)  # fmt: skip


class RunOptions(TypedDict, total=False):
    """Arguments of ``Simulation.run`` whatever it returns, for type checkers."""

    until: float | None
    overwrite: bool
    every: int | None
    contacts: bool | None
    callback: Callable[[Simulation], object] | None
    rng: np.random.Generator | None
    on_failure: str | None


def _refused(name: str, hint: str) -> property:
    """An attribute that there is not, and that cannot be set."""

    def refuse(self: object, value: object) -> None:
        raise OptionError(f"Simulation: {name} cannot be set here: {hint}")

    return property(fset=refuse)


class Simulation:
    """A world in motion.

    method: ds.TimeStepping(...), ds.EventDriven(...), ds.Penalty(...), one of your own, or its
    name. The world may be edited between steps; bodies that stay keep their state.
    """

    def __init__(
        self, world: World, method: str | Method = "time-stepping", *, forces: str = "auto"
    ) -> None:
        self.model: Model
        self.state: State
        self._structure: Structure
        if not isinstance(world, World):
            raise OptionError(f"Simulation needs a ds.World, not {type(world).__name__}")
        if isinstance(method, str):
            method = METHODS.find(method)()
        if not isinstance(method, Method):
            raise OptionError(f"method = {text(method)}: expected ds.TimeStepping(...) or its name")
        self._world = world
        self._method = method
        self.forces = forces
        self._profiled = False
        self._known_forces: CanonicalForces | None = None
        self._set_up(0.0)
        self.state = assembled(self.model, self.state)
        self.state = edits.start(self)
        self._overlaps: dict[tuple[int, int], float] | None = None  # before edits, if there are any
        if self.stops_bouncing:
            said = "bodies have a restitution, but this method stops what collides: "
            warn_user(f'{said}restitution="newton" lets them bounce', IgnoredWarning)
        # time = _start + (_count - _since) dt: no sum of rounded steps
        self._start, self._count, self._since = self.state.time, 0, 0
        self._remainder = 0.0  # [s] that runs were asked for beyond the last whole step
        self._totals = Totals.of(method)
        self._current: Totals | None = None  # of a run that is on
        self._events: list[Event] | None = None  # of the last run; None: those of the report
        self._fine = True  # whether the last step was solved, and not too deep
        self.report: StepReport | None = None
        self.origin: dict[str, Any] = {}  # scene, settings, view, title, where they are known
        self.rng: np.random.Generator | None = None
        self._recorder: Recorder | None = None
        self._first = world.version, self.snapshot()

    def _set_up(self, time: float) -> None:
        """All that is made from the world and the method, at a time [s]."""
        self.model, self.state = self.world.build(time)
        self._version, self._structure = self.world.version, Structure(self.model)
        self._stepper = checked_stepper(self.method, self.model)
        self.profile = self._profiled
        self._places = {name: i for i, name in enumerate(self.model.names)}
        self._shown: LastStep | None = None  # of a moment that was restored

    def __repr__(self) -> str:
        method = f"{self.method.name}, dt = {self.method.dt:.4g} s"
        return f"Simulation({len(self.world)} bodies, {method}, t = {self.time:.6g} s)"

    @property
    def world(self) -> World:
        return self._world

    @property
    def method(self) -> Any:
        """The method's options; those of another method are of another simulation."""
        return self._method

    @property
    def time(self) -> float:
        return self.state.time

    if not TYPE_CHECKING:  # what would be set without any effect
        dt = _refused("dt", "another step is another method, ds.Simulation(world, method)")
        gravity = _refused("gravity", "set sim.world.gravity")
        solver = _refused("solver", "it is an option of the method, ds.TimeStepping(solver=...)")
        tol = _refused("tol", "it is an option of the method, ds.TimeStepping(tol=...)")
        duration = _refused("duration", "sim.run(duration)")
        friction = _refused("friction", "world.change_body(body, friction=...)")
        position = _refused("position", "sim.body(name).position = ...")
        velocity = _refused("velocity", "sim.body(name).velocity = ...")

    @property
    def stops_bouncing(self) -> bool:
        """Whether bodies have a restitution that the method leaves out."""
        if getattr(self.method, "restitution", "") != "none":
            return False
        return bool((self.model.restitution > 0).any() or (self.model.rules.restitution > 0).any())

    @property
    def profile(self) -> bool:
        """Whether ``report.seconds`` tells the time of every stage. Steps that are run in one
        compiled loop do not look at the clock; set it, and they are run stage by stage, to the
        same bits."""
        return self._stepper.profile

    @profile.setter
    def profile(self, value: bool) -> None:
        self._profiled = switch("Simulation", "profile", value)
        self._stepper.profile = self._profiled

    def sync(self) -> None:
        """Take over edits of the world; called by every step and every reading."""
        self._sync()

    def _sync(self) -> None:
        if self._world._version == self._version:
            return
        edits.note(self)
        model, state = self.world.build(self.state.time)
        state = carry_over(self.model, self.state, model, state)
        self.model, self.state, self._version = model, state, self.world.version
        self._places = {name: i for i, name in enumerate(model.names)}
        self._structure = Structure(model)
        self._stepper.adopt(model)
        self.profile = self._profiled

    def show(self, **options: Any) -> Any:
        """Open the viewer in a browser; in a notebook the result is shown in the cell. Options are
        those of ``drystone.view.show``; needs the extra ``view``."""
        return import_module("drystone.view").show(self, **options)

    def wake(self) -> None:
        """Wake all sleeping bodies (``TimeStepping.sleeping``)."""
        self._stepper.wake()

    @property
    def stepper(self) -> Any:
        """The object that steps the model; see ``steppers.base``."""
        return self._stepper

    def snapshot(self, callback: Any = None) -> Snapshot:
        """This moment, to ``restore`` at any time, any number of times: the steps after it are the
        same to the bit. It costs about as much as a step of one body, and less than one of several.

        callback: what ``run`` calls after each step, if it has a ``state()``; see ``ds.resume``.
        """
        self._sync()
        return snapshots.take(self, callback)

    def restore(self, snapshot: Snapshot | Mapping[str, Any], callback: Any = None) -> None:
        """Go back, or on, to a snapshot of this simulation, of a copy, or of another of the same
        world and method; or to a checkpoint of a recording of it.

        Bodies, their masses and shapes, and joints must be those of the snapshot; what else was
        edited since (friction, gravity, forces, motions) stays as it is described now.
        """
        self._sync()
        snapshots.check_free(self, "restore")
        if isinstance(snapshot, Snapshot):
            reason = snapshot.refusal(self)
            if reason is not None:
                raise OptionError(
                    f"restore: this simulation cannot continue from {snapshot}: {reason}"
                )
        else:
            snapshots.check_plain(self, snapshot)
        snapshots.put(self, snapshot, callback)

    def checkpoint(self, callback: Any = None) -> dict[str, Any]:
        """What a recording keeps of a moment: as a snapshot, for ``restore``, but plain numbers,
        texts and arrays, and nothing of the step before."""
        self._sync()
        return snapshots.checkpoint(self, callback)

    def reset(self) -> None:
        """Back to the start, at time 0. If the world was edited since, the start is that of the
        world as it is described now."""
        snapshots.check_free(self, "reset")
        if self.world.version == self._first[0]:
            self.restore(self._first[1])
            return
        fresh = type(self)(self.world, self.method, forces=self.forces)
        fresh.origin, fresh.profile = self.origin, self._profiled
        vars(self).update(vars(fresh))

    def __getstate__(self) -> dict[str, Any]:
        """The simulation as a value: world, method, and the moment; the rest is made from these.
        A copy is not recorded."""
        own = {name: value for name, value in vars(self).items() if name not in MADE}
        return own | {"_now": self.snapshot()}

    def __setstate__(self, own: dict[str, Any]) -> None:
        now = own["_now"]
        vars(self).update({name: value for name, value in own.items() if name != "_now"})
        self._recorder = self._current = self._known_forces = None  # no run of the copy is on
        self._set_up(now.time)
        snapshots.put(self, now)

    def __copy__(self) -> Self:
        """A simulation of its own, as ``copy.deepcopy`` makes one: they share nothing that either
        changes."""
        return deepcopy(self)

    def step(self) -> StepReport:
        """Advance by dt; returns the step's report, also kept as ``sim.report``."""
        return self._advance(self._method.dt)

    def _advance(self, h: float, until: float | None = None) -> StepReport:
        """A step of length h [s], dt unless it ends at the time `until`."""
        if self._world._version != self._version:
            self._sync()
        if self._overlaps is not None:
            edits.check(self)
        if self._recorder is not None:
            self._recorder.before()
        made = self._stepper.step(self.state, h)
        if type(made) is not tuple or len(made) != 2 or not isinstance(made[1], StepReport):
            raise OptionError(
                f"{type(self._stepper).__name__}.step gave {text(made)}: expected a state and a "
                "report"
            )
        state, report = made
        self._count += 1
        if until is not None:
            self._start, self._since = until, self._count
        state.time = self._start + (self._count - self._since) * self._method.dt
        self.state, self.report = state, report = state, report.ended(state.time)
        if self._current is None:
            self._events = None
            self._fine = self._totals.add(report, self.model.names)
        else:
            self._events = self._events or []
            self._events += report.outcome[-1]
            self._fine = self._current.add(report, self.model.names)
        if self._recorder is not None:
            self._recorder.after()
        return report

    def record(
        self,
        path: str | PathLike[str],
        *,
        every: int | None = None,
        contacts: bool = True,
        until: float | None = None,
        overwrite: bool = True,
    ) -> Recorder:
        """Record to an HDF5 file all steps from now on, until the recorder is closed::

            with sim.record("stack.h5"):
                sim.run(2.0)

        every: steps from frame to frame, by default about 60 frames a second; contacts: keep
        those of each frame; until [s]: when the run is meant to end, if it is known; overwrite: a
        file of that name is replaced, else refused. One that is being written by anybody is never
        replaced.
        """
        from drystone.recording.recorder import FRAME_RATE, Recorder

        self._sync()
        if self._recorder is not None:
            raise OptionError(f"record: this simulation is recorded to {self._recorder.path}")
        if every is None:
            every = max(1, round(1.0 / (FRAME_RATE * self.method.dt)))
        end = float("nan") if until is None else seconds("record", "until", until)
        switch("record", "contacts", contacts)
        place = as_path("record", path, RecordingError)
        own = not hasattr(self._stepper, "kick")  # forces that are no impulses over a step
        wanted = switch("record", "overwrite", overwrite)
        recorder = Recorder.start(self, place, _count(every), contacts, end, own, wanted)
        self.attach(recorder)
        return recorder

    def attach(self, recorder: Recorder) -> None:
        """Have steps recorded from now on."""

        def detach() -> None:
            self._recorder = None

        self._recorder, recorder.on_end = recorder, detach

    @overload
    def run(
        self,
        duration: float | None = ...,
        *,
        record: Literal[False] = ...,
        **options: Unpack[RunOptions],
    ) -> None: ...

    @overload
    def run(
        self, duration: float | None = ..., *, record: Literal[True], **options: Unpack[RunOptions]
    ) -> Trajectory: ...

    @overload
    def run(
        self,
        duration: float | None = ...,
        *,
        record: str | PathLike[str],
        **options: Unpack[RunOptions],
    ) -> Recording: ...

    @overload
    def run(
        self,
        duration: float | None = ...,
        *,
        record: bool | str | PathLike[str],
        **options: Unpack[RunOptions],
    ) -> Trajectory | Recording | None: ...

    def run(
        self,
        duration: float | None = None,
        *,
        until: float | None = None,
        record: bool | str | PathLike[str] = False,
        overwrite: bool = True,
        every: int | None = None,
        contacts: bool | None = None,
        callback: Callable[[Simulation], object] | None = None,
        rng: np.random.Generator | None = None,
        on_failure: str | None = None,
    ) -> Trajectory | Recording | None:
        """Steps until `duration` seconds more have passed, or until a time [s].

        Time stepping ends with the last whole step that is not past that time; what is left is
        carried over, so that run(a) and run(b) end where run(a + b) does. Event-driven and penalty
        runs end at that time: their last step is shorter.

        record: the name of an HDF5 file, which is returned as a Recording (see ``record``); or
        True for a Trajectory in memory. overwrite: a file of that name is replaced, else refused.
        every: steps from frame to frame, in memory 1 by default; contacts: keep those of each
        frame, in memory not by default. callback: called after each step, stops the run by
        returning False. rng: random numbers for callbacks, kept as ``sim.rng`` and in recordings.
        on_failure: of steps that were not solved, or that found bodies deeper in each other than
        the method's ``max_depth``: "warn": one ds.StepWarning at the end of the run (default);
        "raise": a SimulationError after the first (default if the method has on_failure="raise");
        "ignore": ``sim.summary`` counts them in any case.
        """
        if not isinstance(record, bool | str | PathLike):
            raise OptionError(f"run: record = {record!r}: expected a file's name, True or False")
        function("run", "callback", callback, "sim")
        if contacts is not None:
            contacts = switch("run", "contacts", contacts)
        if rng is not None:
            self.rng = checked(rng)
        if every is not None:
            _count(every)
        policy = choice(self, on_failure)
        self._sync()
        edits.check(self)
        todo = plan(self, duration, until)
        raises = policy == "raise"
        if isinstance(record, bool):
            law = self.method.contact_law
            kept = Trajectory(self.model, self.state, self.origin, law) if record else None
            with FailureWarning(self, policy) as totals:
                if kept is not None:
                    kept.totals = totals
                execute(self, todo, kept, every or 1, bool(contacts), callback, raises)
            return kept
        from drystone.recording.reader import Recording

        check_states(states(self.world, self.rng, callback))
        wanted = contacts is None or contacts
        with (
            FailureWarning(self, policy),
            self.record(
                record, every=every, contacts=wanted, until=todo.until, overwrite=overwrite
            ) as recorder,
        ):
            recorder.callback = callback
            execute(self, todo, None, 1, False, callback, raises)
        return Recording(record)

    @property
    def summary(self) -> RunSummary:
        """Totals of all steps since the start: those that were not solved, halved, too deep, when
        the first was, and the worst of them."""
        out = Totals(self._totals.summary)
        if self._current is not None:
            out.join(self._current.summary)
        out.see(self._stepper, self.state)
        return out.summary

    @property
    def events(self) -> tuple[Event, ...]:
        """Events of the last step, or of all steps of the last run, in order of time. Methods that
        find them have them (EventDriven); others have none."""
        if self._events is not None:
            return tuple(self._events)
        return () if self.report is None else self.report.events

    def index(self, body: BodyLike) -> int:
        name: Any = getattr(body, "name", body)
        if not among(name, self._places):
            hint = meant(name, self._places, before=": ")
            raise ModelError(f"no body {name!r} in this simulation{hint}")
        return self._places[name]

    def body(self, body: BodyLike) -> BodyView:
        """View of a body by name or handle."""
        self._sync()
        return BodyView(self, self.model.names[self.index(body)])

    def joint(self, name: str) -> JointView:
        """View of a joint by name: its angles or lengths, their speeds, force and torque."""
        return JointView(self, name)

    @property
    def bodies(self) -> tuple[str, ...]:
        self._sync()
        return self.model.names

    @property
    def energy(self) -> tuple[float, float]:
        """Kinetic and potential energy now [J]."""
        self._sync()
        kinetic, height, stored = energy(self.model, self.state)
        return kinetic, height + stored + self._stepper.stored(self.state)

    @property
    def penetration(self) -> float:
        """Greatest penetration depth now [m]."""
        self._sync()
        return self._stepper.penetration(self.state)

    @property
    def infeasibility(self) -> float:
        """Former name of ``penetration``."""
        return float(getattr(self, current_name("infeasibility")))

    @property
    def detection(self) -> Any:
        """Counters of the collision detection: pairs, swaps, cache hits, iterations."""
        return self._stepper.detector.stats

    @property
    def contacts(self) -> Table:
        """Contacts of the last step, a structured array: bodies, point, normal, gap, force,
        impulse (on the first body, world axes), velocity, friction, island, state. Where the law
        leaves forces open they are the canonical ones (``forces``)."""
        table = self._raw_contacts()
        self._canonical.put(table, self._forces)
        return table

    @property
    def forces(self) -> str:
        """Which contact forces are read: "auto": the canonical ones, of all that satisfy the law
        and give the same motion those with the least sum of squares; in islands of more than 400
        contacts those that the solver found. "canonical": in larger islands too. "raw": those
        that the solver found."""
        return self._forces

    @forces.setter
    def forces(self, value: str) -> None:
        self._forces = checked_choice("Simulation", value)

    @property
    def canonical_forces(self) -> np.ndarray:
        """(n,) bool: which of ``contacts`` have their canonical force."""
        return self._canonical.put(self._raw_contacts(), self._forces).copy()

    @property
    def forces_read(self) -> str:
        """What the forces of ``contacts`` are: "canonical", "raw" (those that the method computed:
        asked for, or of islands, laws and methods that are left), "canonical in part", or "none"
        where there are no contacts."""
        return in_words(self.canonical_forces)

    @property
    def _canonical(self) -> CanonicalForces:
        """What makes the forces of this model canonical."""
        model, known = self._stepper.model, self._known_forces
        if known is None or known.model is not model:
            known = CanonicalForces(model, self._method.contact_law)
            self._known_forces = known
        return known

    def _raw_contacts(self) -> Table:
        """A table of the caller's own, with the forces that the solver found."""
        shown = self._shown
        if shown is not None and shown.count == self._count:
            return shown.table("contacts")
        return self._stepper.contact_table()

    @property
    def interfaces(self) -> Table:
        """Resultants of the contact forces of the last step, a structured array with a row for
        each pair of bodies: bodies, contacts (their number), centre, point (of application),
        normal, force, N and T [N], M [N m] about the centre, eccentricity [m], mobilisation (of
        friction), all on the first body."""
        return interfaces(self.contacts)

    def force_range(self, contact: int) -> ForceRange:
        """Least and greatest values that the force of a contact, a row of ``contacts``, can have
        under the law with the same motion."""
        from drystone.constraints.force_ranges import force_range

        return force_range(self._canonical, self._raw_contacts(), contact)

    @property
    def joints(self) -> np.ndarray:
        """Joints of the last step, a structured array: name, bodies, force [N] and torque [N m] on
        the first body at its anchor, in world axes."""
        shown = self._shown
        if shown is not None and shown.count == self._count:
            return shown.table("joints")
        return self._stepper.joint_table()

    def mobility(self) -> Mobility:
        """Freedoms that the joints leave now, and the joints that hold what others hold already."""
        self._sync()
        return mobility(self._stepper.model, self.state)

    def solutions(self) -> list[Alternative]:
        """All ways on from here, forces and impulses without collision, of small
        systems: what each does to bodies and contacts (``ds.Alternative``). Of methods that compute
        forces (EventDriven). CollidingContactsError where contacts collide."""
        self._sync()
        listing = getattr(self._stepper, "solutions", None)
        if listing is None:
            raise OptionError("solutions of an instant: a question for ds.EventDriven(...)")
        return list(listing(self.state))

    def problem(self) -> FrictionProblem | None:
        """The friction problem of the last step, or None if nothing touched."""
        if self._shown is not None and self._shown.count == self._count > 0:
            raise SimulationError(
                "the friction problem of a step is not kept in snapshots and copies: make a step"
            )
        return self._stepper.problem()

    def save_problem(self, path: str | PathLike[str]) -> None:
        """Write the last step's friction problem to a file (.hdf5 FCLIB, .dat, .npz)."""
        problem = self.problem()
        if problem is None:
            raise SimulationError("no contacts in the last step: there is no problem to save")
        write_problem(problem, path)


def checked_stepper(method: Method, model: Model) -> Stepper:
    """The stepper that a method makes."""
    made = method.stepper(model)
    if not isinstance(made, Stepper):
        raise OptionError(
            f"{type(method).__name__}.stepper gave {text(made)}: expected a ds.Stepper"
        )
    return made


def _count(every: Any) -> int:
    count = whole(every)
    if count is None or count < 1:
        raise OptionError(f"run: every = {text(every)}: expected a count of steps > 0")
    return count
