"""Steps of worlds with joints, in a compiled loop.

It does what the pipeline in Python does, for the usual case: joints that are closed in a few
rounds. A step that needs more (joints that do not close, that break, that made energy; a friction
problem that is not solved) is begun anew in Python: the loop comes back with its start untouched.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from drystone.constraints.joints.forces import broken
from drystone.constraints.joints.rows import free_coordinates
from drystone.constraints.rows import Rows
from drystone.dynamics.energy import stored
from drystone.kernels.active import body_reach
from drystone.kernels.step import begin, codes, find, joint_kicks, joint_sleep, kicks, sleep
from drystone.kernels.step import joint_aim as aim
from drystone.kernels.step import joint_close as closing
from drystone.kernels.step import joint_finish as finish
from drystone.kernels.step import joint_laws as laws
from drystone.kernels.step import joint_newton as newton
from drystone.kernels.step import joint_places as places
from drystone.kernels.step import joint_project as projection
from drystone.kernels.step import joint_rows as rows
from drystone.kernels.step import joint_soft as soft
from drystone.kernels.step import joint_solve as solving
from drystone.kernels.step import joint_spare as spare
from drystone.kernels.step.due import due
from drystone.kernels.step.loop import record
from drystone.model import Model, State
from drystone.problems.cones import SoftFingerCone
from drystone.steppers.base import StepReport
from drystone.steppers.snapshot import Parts
from drystone.steppers.tables import NotedJoints
from drystone.steppers.time_stepping.compiled import Compiled, Stage, stage_of
from drystone.steppers.time_stepping.friction import solve_friction
from drystone.steppers.time_stepping.joint_buffers import JointBuffers
from drystone.steppers.time_stepping.joint_readout import joint_wrenches
from drystone.steppers.time_stepping.options import TimeStepping
from drystone.steppers.time_stepping.pipeline import Stepper
from drystone.steppers.time_stepping.reading import Left, write_report
from drystone.steppers.time_stepping.second_order import SecondOrder
from drystone.steppers.time_stepping.solve import Solved
from drystone.types import Status


def applies(options: TimeStepping, model: Model) -> bool:
    """Whether this loop does what is asked for."""
    if model.joints is None or len(model.joints) == 0:
        return False
    return options.mass == "start" or model.dim == 2


def joint_stages(options: TimeStepping, dim: int) -> list[Stage]:
    """The stages of a step, with the names under which their time is reported."""
    of, sleeps = partial(stage_of, dim), options.sleeping is not None
    # stages that differ by the rows of a block: of soft fingers there are four
    block = partial(stage_of, 4 if isinstance(options.shape, SoftFingerCone) else dim)
    before: list[Stage] = [("rows", of(sleep, "wake"))] if sleeps else []
    woken: list[Stage] = [("solve", joint_sleep.touched)] if sleeps else []
    rest: list[Stage] = [("drift", of(joint_sleep, "put_to_sleep"))] if sleeps else []
    second: list[Stage] = []
    if options.order == 2:
        before.append(("rows", kicks.reached))
        second.append(("report", joint_kicks.again))
    solve = [block(laws, "sweep"), block(newton, "newton"), laws.conclude]
    if options.sweeps_beside_joints(dim):
        solve = [block(laws, "sweep"), laws.conclude]
    elif options.asks_beside_joints(dim) or options.pivots_beside_joints(dim):
        solve = [laws.ask]
    projected: list[Stage] = []
    if options.joints == "project":
        projected.append(("drift", block(projection, "project")))
    return [
        ("forces", of(begin, "begin")),
        ("contacts", of(find, "reach")),
        ("contacts", find.admit),  # its place is taken by detection
        ("contacts", find.admit),
        *before,
        ("rows", of(places, "enter")),
        ("rows", places.places),
        ("rows", rows.order),
        ("rows", of(rows, "touch")),
        ("rows", rows.tie),
        ("rows", rows.respond),
        ("impacts", rows.impacts),
        ("rows", spare.split),
        ("solve", soft.load),
        ("solve", aim.rows),
        ("solve", aim.aim),
        ("solve", solving.assemble),
        ("solve", block(solving, "factor")),
        ("solve", solving.refine),
        ("solve", block(solving, "back")),
        *[("solve", stage) for stage in solve],
        ("solve", soft.load),
        ("solve", closing.arrive),
        ("solve", of(closing, "drift")),
        ("solve", places.places),
        ("solve", closing.judge),
        *woken,
        ("solve", finish.least),
        *projected,
        ("drift", of(finish, "finish")),
        ("report", finish.bear),
        *second,
        *rest,
        ("report", record),
    ]


class CompiledJoints(Compiled):
    """A stepper of worlds with joints whose stages run in ``kernels.step.loop``."""

    buffers: JointBuffers

    def adopt(self, model: Model) -> None:
        """Go on with an edited model; joints and contacts that stay keep their impulses."""
        super().adopt(model)
        runs = [run for _, run in self.stages]
        first = runs.index(stage_of(model.dim, places, "enter"))
        self._own = self.buffers.j, np.array([first, len(runs) - 1])
        load, settled = runs.index(closing.arrive) - 1, runs.index(closing.judge) + 1
        self.buffers.j.put(
            aim_stage=runs.index(aim.rows), refine_stage=runs.index(solving.refine),
            laws_stage=runs.index(solving.refine) + 2, load_stage=load, least_stage=settled,
        )  # fmt: skip
        self._python: Stepper | None = None
        self._fell: StepReport | None = None
        self._read = False

    def _list(self) -> list[Stage]:
        return joint_stages(self.options, self.model.dim)

    @property
    def python(self) -> Stepper:
        """The stepper that does what the loop leaves; it shares detector, solver and joints."""
        if self._python is None:
            kind = SecondOrder if self.options.order == 2 else Stepper
            self._python = kind(self.options, self.model)
            for name in ("jointed", "solver", "bouncer", "least", "detector", "_detector"):
                setattr(self._python, name, getattr(self, name))
        return self._python

    def _make_buffers(self) -> JointBuffers:
        joints = self.jointed.joints
        if joints is None:
            raise ValueError("a model without joints")
        out = JointBuffers(self.options, self.model, joints)
        self._hold(out)
        return out

    def _hold(self, buffers: JointBuffers) -> None:
        """Have one array of coordinates, which the loop and Python change; what is divided in
        Python leaves velocities ahead, for the step after it."""
        if self.jointed.turns is not None:
            buffers.j.turns[:] = self.jointed.turns
        self.jointed.turns = buffers.j.turns
        buffers.j.put(lead=self.jointed.ahead, divided=self.jointed.start)

    def step(self, state: State, h: float) -> tuple[State, StepReport]:
        """The state after h."""
        self.buffers.set_state(state, state.time, 0)
        seconds = self._steps(h, 1)
        s = self.buffers.s
        s.time = state.time + h
        after = self.buffers.state()
        report = self._fell or self._report(h, seconds)
        if report.broken:
            python = self.python
            self.adopt(python.model)
            self._fell, self._stepped, self._python = report, True, python
        return after, report

    @property
    def in_one(self) -> bool:
        """Whether many steps may be run at once: nothing is to be done after each."""
        return not (self.profile or self.buffers.j.breaks)

    @property
    def left(self) -> bool:
        """Whether the last step was left to Python."""
        return self._fell is not None

    def _steps(self, h: float, steps: int) -> dict[str, float]:
        self._fell, self._read = None, False
        self.least.look(self.model, self.buffers.state())
        self.buffers.find_spare(self.least.parts)
        return super()._steps(h, steps)

    def _went(self, code: int, done: int) -> None:
        if done > (code == codes.GO_ON):  # the step that was done in Python is not the last
            self._fell = None

    def _help(self, code: int, stage: int) -> int:
        """Do what a stage asked for; returns the stage to go on with."""
        buffers = self.buffers
        if code == codes.PATTERN:
            buffers.find_pattern()
            return stage
        if code == codes.LOOK and not self._outran_others():
            return int(buffers.j.aim_stage)
        if code == codes.SOLVE and self._solve_laws():
            return int(buffers.j.load_stage)
        if code == codes.LEAST and self._bears():
            return stage + 1
        if code == codes.COLLIDE:
            self._collide()
            buffers.j.free[:] = buffers.s.v_free
            if not buffers.s.begun.failed or self.options.on_failure == "report":
                return stage + 1
            code = codes.PYTHON
        if code in (codes.SOLVE, codes.LEAST, codes.LOOK, codes.PYTHON):
            self._in_python()
            return self._keep_frame()
        return super()._help(code, stage)

    def _outran_others(self) -> bool:
        """Whether bodies that went further than contacts were looked for meet any."""
        s, v = self.buffers.s, self.buffers.j.at_v
        h, travel = s.h, np.empty(self.model.nb)
        body_reach(v, self.sizes, h, travel)
        travel = np.maximum(travel, s.reach)
        return self._misses(self.buffers.state(), v, h, travel, self.buffers.rows())

    def _solve_laws(self) -> bool:
        """The friction problem of one round; False if it is not solved."""
        buffers, s = self.buffers, self.buffers.s
        n, ni = int(s.rows), int(s.islands)
        self.solver.jams = False
        solved = solve_friction(
            buffers.rows(), s.bias[:n], s.v_free, s.r[:n].copy(), s.source[:n], buffers.warm(),
            self.solver, float(s.rest_speed),
        )  # fmt: skip
        s.r[:n], s.u[:n], s.q[:n], s.mu[:n], s.v[:] = (
            solved.r, solved.u, solved.q, solved.mu, solved.v,
        )  # fmt: skip
        s.residual[:ni] = solved.residual
        s.iterations += solved.iterations
        self._used(solved, solved.status)
        return solved.status is Status.SOLVED

    def _bears(self) -> bool:
        """Forces of large groups of redundant joints made the least; False if a joint breaks."""
        buffers, s = self.buffers, self.buffers.s
        made, view = buffers.rows(), self._view()
        self.least(self.model, made, view.r)
        joints = self.jointed.joints
        if joints is None or not (buffers.j.breaks and s.drifts):
            return True
        borne = replace(view, r=view.r.copy())
        spare.spread(buffers.j, borne.r)
        h, state = float(s.h), buffers.state()
        work: Any = SimpleNamespace(model=self.model, state=state, h=h, kick=float(s.kick))
        q = free_coordinates(joints, state, buffers.j.value)
        return not broken(joints, *joint_wrenches(work, joints, made, borne, q)).any()

    def _in_python(self) -> None:
        """The whole step, begun anew."""
        buffers, s, python = self.buffers, self.buffers.s, self.python
        buffers.begin_again()
        h, before = float(s.h), buffers.state()
        python.warm = buffers.warm()
        sleepers = python.sleepers
        if sleepers.options is not None:
            sleepers.asleep, sleepers.slow = s.asleep.copy(), s.slow_time.copy()
        after, report = python.step(before, h)
        s.position[:], s.orientation[:], s.velocity[:] = (
            after.position, after.orientation, after.velocity,
        )  # fmt: skip
        if python.sleepers.options is not None:
            s.asleep[:], s.slow_time[:] = python.sleepers.asleep, python.sleepers.slow
        if not report.broken:
            buffers.take_over(python.warm)
            self._hold(buffers)
        self._show(python)
        write_report(report, self.method_names, s.report)
        kept = stored(self.model, after)
        s.report.gravity_energy = s.report.potential - kept
        change = kept - float(s.spring_energy) if self.model.forces else 0.0
        s.report.change -= change
        s.report.loads -= change
        self._fell = report
        if report.jammed:
            self._note_jam(report.jammed, report.log)

    def _keep_frame(self) -> int:
        """End a step that was done in Python; its frame, if there is one, has what Python says."""
        s, last, stage = self.buffers.s, len(self.stages) - 1, len(self.stages) - 1
        frames, report = self._frames, self._fell
        if frames is None or report is None or not due(s):
            return last
        frames.take(s)
        while stage == last:
            stage = self._one(stage)
        report = replace(report, time=float(s.time))  # no sum of rounded steps
        tables = self.contact_table(), self.joint_table()
        frames.take(s, Left(report, self.work.kick, *tables))
        return stage

    def _show(self, python: Stepper) -> None:
        """Contacts and islands of a step in Python, for its frame."""
        s, made, solved = self.buffers.s, python.rows, python.solved
        if made is None or solved is None:
            return
        n, ni = made.nc, made.islands
        if n > self.buffers.room:
            self.buffers.grow(n)
        s.rows, s.islands = n, ni
        s.start[: ni + 1], s.residual[:ni] = made.start, solved.residual
        c = made.contacts
        for name in ("geom_a", "geom_b", "point", "normal", "gap", "feature"):
            getattr(s, name)[:n] = getattr(c, name)
        s.body[:n], s.frame[:n], s.r[:n], s.u[:n] = made.body, made.frame, solved.r, solved.u
        s.mu[:n], s.bias[:n] = solved.mu, solved.u - made.velocities(solved.v)

    def _look(self) -> tuple[Rows, Solved] | None:
        """Rows and impulses of the last step, if there was one."""
        if self._fell is None:
            return super()._look()
        made, solved = self.python.rows, self.python.solved
        return None if made is None or solved is None else (made, solved)

    @property
    def work(self) -> Any:
        """Velocities and forces of the last step."""
        if self._fell is not None:
            return self.python.work
        s = self.buffers.s
        h, state = float(s.h), self.buffers.state_before()
        state.time -= h
        return SimpleNamespace(
            model=self.model, state=state, h=h, kick=float(s.kick), v0=s.v0, v_free=s.v_free,
            force=s.force, inertia=s.inertia, inverse_inertia=s.inverse,
        )  # fmt: skip

    @work.setter
    def work(self, value: Any) -> None:
        """Nothing to keep."""

    def joint_table(self) -> np.ndarray:
        """Structured array, one entry a joint; see ``Simulation.joints``."""
        return self._noted_joints().table()

    def noted(self) -> tuple[Any, Any]:
        """The table of contacts, and what ``joint_table`` makes a table of."""
        return self.contact_table(), self._noted_joints()

    def _noted_joints(self) -> NotedJoints:
        if self._stepped and self._fell is None and not self._read:
            self._bear()
        jointed = self.jointed
        return NotedJoints(self.model.names, jointed.held, jointed.wrench)

    def _bear(self) -> None:
        """What joints bore in the last step."""
        dim, s = self.model.dim, self.buffers.s
        if self.options.order == 1:
            finish.wrenches(s, self.buffers.j)
        self.jointed.held = self.jointed.joints
        self.jointed.wrench = s.wrench[:, :dim].copy(), s.wrench[:, dim:].copy()
        self._read = True

    def contact_table(self) -> np.ndarray:
        """Structured array, one entry a contact; see ``Simulation.contacts``."""
        return self.python.contact_table() if self._fell is not None else super().contact_table()

    def snapshot(self) -> Parts:
        """What the next step depends on, beside the state."""
        return super().snapshot() | {
            "jointed": self.jointed.snapshot() | {"turns": self.buffers.j.turns.copy()},
            "least": self.least.snapshot(self.model.joints),
        }

    def restore(self, known: Parts, model: Model) -> None:
        """Take over what ``snapshot`` gave, whatever steps were made since."""
        self._lose(known["jointed"]["lost"], model)
        self._fell = None
        super().restore(known, model)
        self.jointed.restore(known["jointed"])
        self._hold(self.buffers)
        self.least.restore(known.get("least", {}), self.model.joints)
