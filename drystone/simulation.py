"""Simulation: a world, a method, and what happened."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from os import PathLike
from typing import Any

import numpy as np

from drystone.builder.arrays import carry_over
from drystone.constraints.joints.assembly import assembled
from drystone.constraints.joints.mobility import Mobility, mobility
from drystone.dynamics import check
from drystone.dynamics.energy import energy
from drystone.dynamics.frames import rotation, spin_velocity
from drystone.errors import ModelError, OptionError, SimulationError
from drystone.model import Model, State
from drystone.problems.files import write_problem
from drystone.steppers.base import Method, StepReport
from drystone.steppers.event_driven.options import EventDriven
from drystone.steppers.penalty.options import Penalty
from drystone.steppers.time_stepping.compiled import Compiled
from drystone.steppers.time_stepping.options import TimeStepping
from drystone.steppers.time_stepping.reading import Frames
from drystone.trajectory import Trajectory
from drystone.types import Floats
from drystone.world import World

METHODS: dict[str, Callable[[], Method]] = {
    "time-stepping": TimeStepping,
    "event-driven": EventDriven,
    "penalty": Penalty,
}


class BodyView:
    """A body of a running simulation; what is set takes effect at the next step.

    position and velocity are those of the frame the body was described in.
    """

    __slots__ = ("_simulation", "name")

    def __init__(self, simulation: Simulation, name: str) -> None:
        self._simulation, self.name = simulation, name

    @property
    def _at(self) -> tuple[Model, State, int]:
        sim = self._simulation
        sim.sync()
        return sim.model, sim.state, sim.index(self.name)

    def _to_set(self, field: str, of_dynamic: bool = False) -> tuple[Model, State, int]:
        """The same for a change: prescribed motions take none, and sleepers wake."""
        model, state, i = self._at
        if any(i == k for k, _ in model.motions):
            raise ModelError(f"body {self.name!r}: {field} cannot be set: its motion says it")
        if of_dynamic and model.mass[i] == 0:
            raise ModelError(f"body {self.name!r}: {field} cannot be set: it is fixed")
        self._simulation.wake()
        return model, state, i

    @property
    def position(self) -> Floats:
        model, state, i = self._at
        return state.position[i] - rotation(state.orientation[i]) @ model.centre[i]

    @position.setter
    def position(self, value: Any) -> None:
        model, state, i = self._to_set("position")
        place = check.vector(f"body {self.name!r}", "position", value, model.dim)
        state.position[i] = np.array(place) + rotation(state.orientation[i]) @ model.centre[i]

    @property
    def centre_of_mass(self) -> Floats:
        _, state, i = self._at
        return state.position[i].copy()

    @property
    def orientation(self) -> Any:
        """Angle [rad] in the plane, quaternion (w, x, y, z) in space; setting it turns the body
        about the origin of its frame."""
        model, state, i = self._at
        return float(state.orientation[i]) if model.dim == 2 else state.orientation[i].copy()

    @orientation.setter
    def orientation(self, value: Any) -> None:
        model, state, i = self._to_set("orientation")
        turn = check.orientation(f"body {self.name!r}", "orientation", value, model.dim)
        place = self.position
        state.orientation[i] = turn
        self.position = place

    @property
    def velocity(self) -> Floats:
        """Velocity of the frame's origin [m/s]."""
        model, state, i = self._at
        v, w = state.velocity[i, : model.dim], state.velocity[i, model.dim :]
        return v + spin_velocity(w, -rotation(state.orientation[i]) @ model.centre[i])

    @velocity.setter
    def velocity(self, value: Any) -> None:
        model, state, i = self._to_set("velocity", of_dynamic=True)
        wanted = check.vector(f"body {self.name!r}", "velocity", value, model.dim)
        state.velocity[i, : model.dim] += np.array(wanted) - self.velocity

    @property
    def angular_velocity(self) -> Any:
        """[rad/s]: a number in the plane, (3,) in world axes in space; setting it spins the body
        about the origin of its frame."""
        model, state, i = self._at
        return float(state.velocity[i, 2]) if model.dim == 2 else state.velocity[i, 3:].copy()

    @angular_velocity.setter
    def angular_velocity(self, value: Any) -> None:
        model, state, i = self._to_set("angular_velocity", of_dynamic=True)
        spin = check.spin(f"body {self.name!r}", "angular_velocity", value, model.dim)
        speed = self.velocity
        state.velocity[i, model.dim :] = spin
        self.velocity = speed

    @property
    def mass(self) -> float:
        model, _, i = self._at
        return float(model.mass[i])

    def __repr__(self) -> str:
        return f"BodyView({self.name!r}, t = {self._simulation.time:.6g} s)"


class Simulation:
    """A world in motion.

    method: ds.TimeStepping(...), ds.EventDriven(...), ds.Penalty(...), or a name of METHODS. The
    world may be edited between steps; bodies that stay keep their state.
    """

    def __init__(self, world: World, method: Any = "time-stepping") -> None:
        if not isinstance(world, World):
            raise OptionError(f"Simulation needs a ds.World, not {type(world).__name__}")
        if isinstance(method, str):
            if method not in METHODS:
                raise OptionError(f"unknown method {method!r}: expected {', '.join(METHODS)}")
            method = METHODS[method]()
        if isinstance(method, type) or not isinstance(method, Method):
            raise OptionError(f"method = {method!r}: expected ds.TimeStepping(...) or its name")
        self.world = world
        self.method: Any = method
        self.model, self.state = world.build()
        self.state = assembled(self.model, self.state)
        self._version = world.version
        self._stepper, self._profiled = method.stepper(self.model), False
        self._stepper.check_start(self.state)
        self._places = {name: i for i, name in enumerate(self.model.names)}
        self._start, self._count = self.state.time, 0
        self.report: StepReport | None = None

    @property
    def time(self) -> float:
        return self.state.time

    @property
    def profile(self) -> bool:
        """Whether ``report.seconds`` tells the time of every stage. Steps that are run in one
        compiled loop do not look at the clock; set it, and they are run stage by stage, to the
        same bits."""
        return bool(getattr(self._stepper, "profile", True))

    @profile.setter
    def profile(self, value: bool) -> None:
        self._profiled = bool(value)
        if isinstance(self._stepper, Compiled):
            self._stepper.profile = self._profiled

    def sync(self) -> None:
        """Take over edits of the world; called by every step."""
        if self.world.version == self._version:
            return
        model, state = self.world.build(self.state.time)
        state = carry_over(self.model, self.state, model, state)
        self.model, self.state, self._version = model, state, self.world.version
        self._places = {name: i for i, name in enumerate(model.names)}
        self._stepper = self.method.stepper(model, self._stepper)
        self.profile = self._profiled

    def restart(self) -> None:
        """Back to the start: the world as it is described now, at time 0."""
        vars(self).update(vars(type(self)(self.world, self.method)))

    def show(self, **options: Any) -> Any:
        """Open the viewer in a browser; in a notebook the result is shown in the cell. Options are
        those of ``drystone.view.show``; needs the extra ``view``."""
        return import_module("drystone.view").show(self, **options)

    def wake(self) -> None:
        """Wake all sleeping bodies (``TimeStepping.sleeping``)."""
        self._stepper.wake()

    def step(self) -> StepReport:
        """Advance by dt; returns the step's report, also kept as ``sim.report``."""
        self.sync()
        state, report = self._stepper.step(self.state, self.method.dt)
        self._count += 1
        state.time = self._start + self._count * self.method.dt  # no sum of rounded steps
        if report.time != state.time:
            report = replace(report, time=state.time)
        self.state, self.report = state, report
        return report

    def run(
        self,
        duration: float,
        *,
        record: bool = False,
        every: int = 1,
        callback: Callable[[Simulation], Any] | None = None,
    ) -> Trajectory | None:
        """Steps until `duration` seconds more have passed.

        record: return a Trajectory of every `every`-th state with its report; callback: called
        after each step, stops the run by returning False.
        """
        if not (np.isfinite(duration) and duration >= 0):
            raise OptionError(f"run: duration = {duration!r}: expected seconds >= 0")
        if not isinstance(record, bool):
            raise OptionError(f"run: record = {record!r}: expected True or False")
        if not (isinstance(every, int) and every > 0):
            raise OptionError(f"run: every = {every!r}: expected a count of steps > 0")
        steps = round(duration / self.method.dt)
        self.sync()
        kept = Trajectory(self.model, self.state) if record else None
        stepper = self._stepper
        if isinstance(stepper, Compiled) and callback is None and stepper.in_one:
            self._run_compiled(stepper, steps, every, kept)
            return kept
        for k in range(steps):
            self.step()
            if kept is not None and (k + 1) % every == 0:
                kept.add(self.model, self.state, self.report)
            if callback is not None and callback(self) is False:
                break
        return kept

    def _run_compiled(
        self, stepper: Compiled, steps: int, every: int, kept: Trajectory | None
    ) -> None:
        """Steps that nobody watches: the loop goes on without Python for as long as it can."""
        if steps == 0:
            return
        frames = Frames(stepper.method_names, self.method.dt)
        dt, start, count = self.method.dt, self._start, self._count
        try:
            stepper.run(self.state, dt, start, count, steps, every if kept else 0, frames)
        finally:  # a run that fails keeps what it reached
            self._count, self.state = frames.count, frames.state or self.state
            self.report = frames.report or self.report
            if kept is not None:
                kept.extend(frames)

    def index(self, body: Any) -> int:
        name = getattr(body, "name", body)
        if name not in self._places:
            raise ModelError(f"no body {name!r} in this simulation")
        return self._places[name]

    def body(self, body: Any) -> BodyView:
        """View of a body by name or handle."""
        self.sync()
        return BodyView(self, self.model.names[self.index(body)])

    @property
    def bodies(self) -> tuple[str, ...]:
        self.sync()
        return self.model.names

    @property
    def energy(self) -> tuple[float, float]:
        """Kinetic and potential energy now [J]."""
        self.sync()
        kinetic, height, stored = energy(self.model, self.state)
        return kinetic, height + stored + self._stepper.stored(self.state)

    @property
    def infeasibility(self) -> float:
        """Greatest penetration depth now [m]."""
        self.sync()
        return self._stepper.infeasibility(self.state)

    @property
    def detection(self) -> Any:
        """Counters of the collision detection: pairs, swaps, cache hits, iterations."""
        return self._stepper.detector.stats

    @property
    def contacts(self) -> np.ndarray:
        """Contacts of the last step, a structured array: bodies, point, normal, gap, force,
        impulse (on the first body, world axes), velocity, friction, island, state."""
        return self._stepper.contact_table()

    @property
    def joints(self) -> np.ndarray:
        """Joints of the last step, a structured array: name, bodies, force [N] and torque [N m] on
        the first body at its anchor, in world axes."""
        return self._stepper.joint_table()

    def mobility(self) -> Mobility:
        """Freedoms that the joints leave now, and the joints that hold what others hold already."""
        self.sync()
        return mobility(self._stepper.model, self.state)

    def solutions(self) -> list[Any]:
        """All ways on from here, forces and impulses without collision (F21), of small systems:
        what each does to bodies and contacts. Of methods that compute forces (EventDriven)."""
        self.sync()
        listing = getattr(self._stepper, "solutions", None)
        if listing is None:
            raise OptionError("solutions of an instant: a question for ds.EventDriven(...)")
        return list(listing(self.state))

    def problem(self) -> Any:
        """The friction problem of the last step, or None if nothing touched."""
        return self._stepper.problem()

    def save_problem(self, path: str | PathLike[str]) -> None:
        """Write the last step's friction problem to a file (.hdf5 FCLIB, .dat, .npz)."""
        problem = self.problem()
        if problem is None:
            raise SimulationError("no contacts in the last step: there is no problem to save")
        write_problem(problem, path)
