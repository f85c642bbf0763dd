"""Steps of worlds of contacts alone: all stages in one compiled loop.

The loop runs for as many steps as it is told, and comes back when something needs Python: room,
a pair kernel that is not loaded yet, a collision with restitution, Newton's method. That is done,
and the loop goes on from the stage where it stopped. One step or a thousand, it is the same loop.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from drystone.constraints.rows import Rows
from drystone.dynamics import bodies
from drystone.dynamics.energy import stored
from drystone.errors import SimulationError
from drystone.geometry.detector import Detector
from drystone.kernels._calls import address
from drystone.kernels.contact_rows import read_contacts
from drystone.kernels.detect import detect
from drystone.kernels.packed import Packed
from drystone.kernels.step import (
    begin,
    blocks,
    choose,
    codes,
    end_mass,
    find,
    finish,
    impacts,
    kicks,
    plan,
    prepare,
    rows,
    sleep,
    sweeps,
)
from drystone.kernels.step.loop import loop, record
from drystone.model import Model, State
from drystone.problems.cones import PolyhedralCone, SoftFingerCone
from drystone.steppers.base import StepReport
from drystone.steppers.snapshot import Parts
from drystone.steppers.tables import ContactRows, NotedJoints
from drystone.steppers.time_stepping.aid import METHODS, Aid
from drystone.steppers.time_stepping.buffers import Buffers
from drystone.steppers.time_stepping.options import TimeStepping
from drystone.steppers.time_stepping.reading import Frames, joined, read_report
from drystone.steppers.time_stepping.readout import Readout
from drystone.steppers.time_stepping.solve import IslandSolver, Solved
from drystone.steppers.time_stepping.threads import Sweeper
from drystone.types import Floats

Run = Callable[..., Any]
Stage = tuple[str, Run]
KINDS = {2: "planar", 3: "spatial", 4: "finger"}
CHUNK = 256  # steps between two looks at what was recorded


def stage_of(dim: int, module: Any, name: str) -> Callable[..., Any]:
    """The stage of this name for worlds in the plane or in space; 4: for blocks of soft fingers."""
    found: Callable[..., Any] = getattr(module, f"{name}_{KINDS[dim]}")
    return found


def _gets(run: Run) -> int:
    """What a stage gets, by its arguments."""
    if run is detect:
        return codes.SCAN
    arguments = getattr(run, "py_func", run).__code__.co_argcount
    return codes.STEP_AND_JOINTS if arguments == 3 else codes.STEP


def stages(options: TimeStepping, dim: int) -> list[Stage]:
    """The stages of a step, with the names under which their time is reported. Steps whose contacts
    change begin again with the first of the rows, and where friction does, of the solve."""
    of, packs, sleeps = partial(stage_of, dim), options.packs(dim), options.sleeping is not None
    ends = options.mass == "end" and dim == 3
    sweep: Run = sweeps.sweep
    if not packs:
        cone = options.shape
        sweep = blocks.sweep_4 if isinstance(cone, SoftFingerCone) else blocks.sweep_3
        sweep = blocks.sweep_polyhedral if isinstance(cone, PolyhedralCone) else sweep
    solve = [sweep, plan.plan, plan.choose_rest, sweep, plan.judge_rest]
    if options.asks(dim):
        solve = [blocks.ask]
    again: list[Run] = [choose.missed]
    again += [sleep.touched] if sleeps else []
    again += [end_mass.packed if packs else end_mass.stored] if ends else []
    wake: list[Stage] = [("rows", of(sleep, "wake"))] if sleeps else []
    second: list[Stage] = []
    if options.order == 2:
        wake.append(("rows", kicks.reached))
        second.append(("report", kicks.again))
    rest: list[Stage] = [("drift", of(sleep, "put_to_sleep"))] if sleeps else []
    book: list[Stage] = [("report", end_mass.book)] if ends else []
    return [
        ("forces", of(begin, "begin")),
        ("contacts", of(find, "reach")),
        ("contacts", detect),
        ("contacts", find.admit),
        *wake,
        ("rows", of(rows if packs else blocks, "rows")),
        ("impacts", impacts.impacts),
        ("solve", of(prepare, "prepare") if packs else blocks.prepare),
        *[("solve", stage) for stage in (*solve, *again)],
        ("report", of(finish, "slip") if packs else blocks.slide),
        *book,
        ("drift", of(finish, "drift")),
        *second,
        *rest,
        ("report", record),
    ]


class Compiled(Aid, Readout):
    """A stepper whose stages run in ``kernels.step.loop``.

    profile: time every stage (steps are then run from Python, stage by stage, to the same bits).
    """

    profile = False
    _joint_arrays: Packed | None = None

    def __init__(self, options: TimeStepping, model: Model) -> None:
        self.method_names = list(METHODS)
        self.options = options
        self.solver = IslandSolver(options)
        self.bouncer = IslandSolver(replace(options, formulation="coulomb"))
        self._detector: Detector | None = None
        self.adopt(model)

    def adopt(self, model: Model) -> None:
        """Go on with an edited model; contacts that stay keep their impulses."""
        before: Buffers | None = getattr(self, "buffers", None)
        if model.dim == 3 or not isinstance(self.options.shape, PolyhedralCone):
            self.options.shape.block(model.dim)
        self.model = model
        args = (model.geoms, model.inverse_mass > 0, model.layer, model.rules.ignored)
        if self._detector is None:
            self._detector = Detector(*args, names=model.names)
        else:
            self._detector.remap(*args, names=model.names)
        self.detector = self._detector
        self.sizes = bodies.radii(model)
        self.buffers = self._make_buffers()
        if before is not None:
            self.buffers.remember(before)
        self.stages = self._list()
        names = [name for name, _ in self.stages]
        self.buffers.s.put(rows_stage=names.index("rows"), solve_stage=names.index("solve"))
        self.sweeper = Sweeper()
        self._job: Packed | None = None
        self._contact_rows: ContactRows | None = None
        self._room: Packed | None = None  # for contacts that somebody reads
        self._looked: tuple[Rows, Solved] | None = None
        self._table: np.ndarray | None = None  # of contacts, where they do not lie in the buffers
        self._stepped = False
        self._frames: Frames | None = None
        self._jam: tuple[int, tuple[str, ...], tuple[str, ...]] | None = None

    def _list(self) -> list[Stage]:
        return stages(self.options, self.model.dim)

    def _make_buffers(self) -> Buffers:
        return Buffers(self.options, self.model)

    @property
    def job(self) -> Packed:
        """What the loop gets; making it compiles the stages."""
        if self._job is None:
            program = np.array([self._address(k) for k in range(len(self.stages))])
            gets = np.array([_gets(run) for _, run in self.stages])
            s, scan, where = self.buffers.s, self.detector.scan, np.zeros(2, np.int64)
            j = self._joint_arrays or s
            self._job = Packed(program=program, gets=gets, where=where, s=s, scan=scan, j=j)
        return self._job

    def compile_from_the_end(self) -> None:
        """Make what `job` takes in the opposite order: for a process beside one that runs."""
        for k in reversed(range(len(self.stages))):
            self._address(k)

    def _address(self, stage: int) -> int:
        return address(self.stages[stage][1], *self._given(stage))

    def step(self, state: State, h: float) -> tuple[State, StepReport]:
        """The state after h; halved and tried again where the caller asked for it."""
        if self.options.on_failure == "report":  # never made again: there is nothing to remember
            return self._advance(state, h)
        return self._attempt(state, h, 0)

    def _attempt(self, state: State, h: float, level: int) -> tuple[State, StepReport]:
        memory = self._memory()
        after, report = self._advance(state, h)
        if report.ok:
            return after, report
        if self.options.on_failure != "retry" or level == self.options.retries:
            raise SimulationError(self._failure(report), self.problem(), report)
        self._recall(memory)
        middle, first = self._attempt(state, 0.5 * h, level + 1)
        after, second = self._attempt(middle, 0.5 * h, level + 1)
        return after, joined(first, second)

    def _advance(self, state: State, h: float) -> tuple[State, StepReport]:
        buffers = self.buffers
        buffers.set_state(state, state.time, 0)
        seconds = self._steps(h, 1)
        return buffers.state(), self._report(h, seconds)

    @property
    def in_one(self) -> bool:
        """Whether many steps may be run at once: nothing is to be done after each."""
        return self.options.on_failure == "report" and not self.profile

    def run(
        self, state: State, h: float, start: float, done: int, steps: int, every: int, out: Frames
    ) -> None:
        """Many steps, the first of them number `done` after `start` [s]; out: gets a frame of
        every `every`-th of them, of none if it is 0, and where the run ended, also if it fails.
        ``out.since``: steps that were made since the last frame; ``out.watched``: with contacts,
        ``out.spaced``: of every so many frames."""
        buffers, s = self.buffers, self.buffers.s
        self._frames, out.count = out, done
        out.joints = () if self.model.joints is None else self.model.joints.names
        buffers.set_state(state, start, done)
        buffers.clear_totals()
        s.frame_interval, s.since_frame = every, out.since
        try:
            while steps > 0:
                chunk = 1 if self.model.forces else min(steps, CHUNK)
                wanted = (1 + chunk // every, 1 + CHUNK // every) if every else (0, 0)
                buffers.make_room_for_frames(*wanted)
                for part, watched in out.parts(chunk):
                    s.records_contacts = watched
                    self._steps(h, part)
                    s.origin[1] += part
                    s.cursor = 0
                out.take(s)
                steps -= chunk
            out.state, out.report = buffers.state(), self._report(h, {})
        except SimulationError:
            out.take(s)
            out.state = buffers.state_before()
            raise
        finally:
            out.count = int(s.origin[1] + s.cursor)
            out.since, out.total = int(s.since_frame), s.total_row.copy()
            s.frame_interval, self._frames = 0, None

    def _steps(self, h: float, steps: int) -> dict[str, float]:
        """Run steps; returns the seconds of each stage if they are asked for."""
        s = self.buffers.s
        self.buffers.set_step(h, steps)
        if self.model.forces:
            self._forces(s)
        self._looked, self._table, self._stepped, self._jam = None, None, True, None
        seconds: dict[str, float] = {}
        if self.profile:
            for _ in range(steps):
                self._timed(seconds)
        else:
            self._looped(steps)
        if self.model.forces:
            self._stored(s)
        return seconds

    def _report(self, h: float, seconds: dict[str, float]) -> StepReport:
        """Of the last step."""
        s, jam = self.buffers.s, self._jam
        report = read_report(s, h, self.method_names, seconds)
        if jam is None or jam[0] != s.origin[1] + s.cursor - 1 or report.ok:
            return report
        return replace(report, jammed=jam[1], log=jam[2])

    def _note_jam(self, names: tuple[str, ...], log: tuple[str, ...]) -> None:
        s = self.buffers.s
        number = int(s.origin[1] + s.cursor)
        if self._frames is not None and (self._jam is None or self._jam[0] != number):
            self._frames.jammed += 1
            self._frames.stalled = self._frames.stalled or names
            self._frames.said[float(s.origin[0] + (number + 1) * self._frames.h)] = names, log
        self._jam = number, names, log

    @property
    def _jams_now(self) -> bool:
        """Whether a jam is noted of the step that is being made."""
        s = self.buffers.s
        return self._jam is not None and self._jam[0] == s.origin[1] + s.cursor

    def _solves_anew(self, stage: int) -> bool:
        """Whether this stage goes back to a solve that replaces the last one: not to one of the
        second kick."""
        return bool(self.buffers.s.next_stage > 0)

    def _forget_jam(self) -> None:
        """The step is solved anew, with other contacts or laws: what jammed may not jam now."""
        s = self.buffers.s
        self._jam = None
        s.methods &= ~(1 << METHODS.index("stall"))
        if self._frames is not None:
            self._frames.jammed -= 1
            self._frames.stalled = self._frames.stalled if self._frames.jammed else ()

    def _looped(self, steps: int) -> None:
        job, stage = self._job or self.job, 0
        while True:
            code = loop(job, stage, steps)
            if code == codes.GO_ON:
                return
            done, at = job.where.tolist()
            steps -= done
            stage = self._help(code, at)
            while self._jams_now and stage < len(self.stages) - 1:  # till it is sure that it does
                stage = self._one(stage)

    def _given(self, stage: int) -> tuple[Any, ...]:
        """What a stage gets."""
        scan, gets = self.detector.scan, _gets(self.stages[stage][1])
        if gets == codes.SCAN:
            return scan, scan.x, scan.R, scan.margin
        return self.buffers.s, scan, *((self._joint_arrays,) if gets else ())

    def _timed(self, seconds: dict[str, float]) -> None:
        stage = 0
        while stage < len(self.stages):
            began, name = perf_counter(), self.stages[stage][0]
            stage = self._one(stage)
            seconds[name] = seconds.get(name, 0.0) + perf_counter() - began

    def run_stages(self, name: str) -> bool:
        """Run the stages of this name alone, for tests; whether there are any."""
        last = max((k for k, stage in enumerate(self.stages) if stage[0] == name), default=-1)
        stage = next((k for k, stage in enumerate(self.stages) if stage[0] == name), 0)
        while stage <= last:
            stage = self._one(stage)
        return last >= 0

    def _one(self, stage: int) -> int:
        """Run one stage from Python; returns the next."""
        run = self.stages[stage][1]
        code = int(run(*self._given(stage)))
        if code and run is detect:
            code += codes.DETECTION
        if code == codes.AGAIN:
            if self._jams_now and self._solves_anew(stage):
                self._forget_jam()
            return int(self.buffers.s.next_stage)
        return stage + 1 if code == codes.GO_ON else self._help(code, stage)

    def _help(self, code: int, stage: int) -> int:
        """Do what a stage asked for; returns the stage to go on with."""
        buffers, s = self.buffers, self.buffers.s
        if code >= codes.DETECTION:
            self.detector.help(code - codes.DETECTION)
            return stage
        if code == codes.NO_ROOM:
            buffers.grow(int(s.needed))
            return stage
        if code == codes.FULL:
            frames = self._frames
            if frames is not None:
                frames.take(s)
            buffers.make_room_in_log(int(s.islands))
            buffers.make_room_for_contacts(frames is not None and frames.spare is not None)
            return stage
        if code == codes.NOT_FINITE:
            after = State(s.time + s.h, s.position, s.orientation, s.velocity)
            bodies.check_finite(self.model, after, s.force, float(s.h))
            raise SimulationError(f"a body ran away at t = {after.time:.6g} s")
        if code == codes.THREADS:
            self._sweep()
        elif code == codes.COLLIDE:
            self._collide()
        elif code == codes.NEWTON:
            self._newton()
        elif code == codes.SOLVE:
            self._ask()
        elif code == codes.FORCES:
            self._forces(s)
            return 0
        else:
            self._stuck()
        return stage + 1

    def _forces(self, s: Any) -> None:
        """Forces of springs and callbacks at the start of a step, or where it arrived for its
        second kick; what they store at the start."""
        state = self.buffers.state()
        state.time = self._now if s.drifts else self._now + float(s.h)
        s.force[:] = 0.0
        for item in self.model.forces:
            item.add(self.model, state, s.force)
        bodies.check_loads(self.model, state, s.force)
        if s.drifts and state.time == s.time:
            s.spring_energy = stored(self.model, state)

    @property
    def _now(self) -> float:
        """When the step that is being made begins [s]."""
        return float(self.buffers.s.time)

    def _stored(self, s: Any) -> None:
        """Book the energy that springs took or gave, also in the frame of this step."""
        before, after = s.spring_energy, stored(self.model, self.buffers.state())
        if before == after == 0.0:
            return
        report = s.report
        report.potential = report.gravity_energy + after
        report.change += after - before
        report.loads += after - before
        if s.frames and s.since_frame == 0:
            s.frame_report[s.frames - 1] = s.report_row

    def _look(self) -> tuple[Rows, Solved] | None:
        """Rows and impulses of the last step, if there was one."""
        if self._looked is None and self._stepped:
            self.buffers.store_again()
            self._looked = self.buffers.rows(), self._view()
        return self._looked

    @property
    def rows(self) -> Rows | None:
        look = self._look()
        return None if look is None else look[0]

    @property
    def solved(self) -> Solved | None:
        look = self._look()
        return None if look is None else look[1]

    @property
    def kick(self) -> float:
        """How long forces acted in the last step, or in its last part [s]."""
        return float(self.buffers.s.kick)

    def contact_table(self) -> np.ndarray:
        """Structured array, one entry a contact; see ``Simulation.contacts``."""
        if self._table is not None:
            return self._table.copy()
        s = self.buffers.s
        n = s.rows if self._stepped else 0
        if not n:
            return self.contact_rows.none()
        words, room = self.contact_rows.words, self._contact_room(n)
        out = np.zeros(n * words)
        found = read_contacts(s, room, s.kick, words, out)
        return out.view(self.contact_rows.kind)[:found]

    @property
    def contact_rows(self) -> ContactRows:
        """How tables of contacts look in this model."""
        if self._contact_rows is None:
            self._contact_rows = ContactRows(self.model.names, self.model.dim)
        return self._contact_rows

    def _contact_room(self, n: int) -> Packed:
        """Arrays for ``read_contacts`` to note n contacts in."""
        if self._room is None or n > len(self._room.features):
            rows, made = self.contact_rows, self.buffers.noted(2 * n)
            names = {"names": rows.letters.copy(), "states": rows.states.copy()}
            self._room = Packed(**made, ends=np.zeros(3, np.int64), **names)
        return self._room

    def noted(self) -> tuple[Any, Any]:
        """The table of contacts, and what ``joint_table`` makes a table of."""
        return self.contact_table(), NotedJoints(self.model.names, None, None)

    def joint_table(self) -> np.ndarray:
        """Structured array, one entry a joint; see ``Simulation.joints``."""
        return NotedJoints(self.model.names, None, None).table()

    @property
    def turns(self) -> Floats | None:
        """(nq,) coordinates of joints lately, from which their angles are counted; here none."""
        return None

    @turns.setter
    def turns(self, value: Floats | None) -> None:
        """Nothing to count from."""

    @property
    def wrench(self) -> tuple[Floats, Floats] | None:
        """Force and torque of every joint in the last step; here of none."""
        return None

    def stored(self, state: State) -> float:
        """Energy in the springs of joints [J]."""
        return 0.0

    def wake(self) -> None:
        """Wake all sleeping bodies."""
        self.buffers.wake()

    def _memory(self) -> Any:
        return self.buffers.memory()

    def _recall(self, memory: Any) -> None:
        self.buffers.recall(memory)

    def snapshot(self) -> Parts:
        """What the next step depends on, beside the state."""
        return {
            "buffers": self.buffers.memory(), "detector": self.detector.state(),
            "solver": self.solver.snapshot(), "bouncer": self.bouncer.snapshot(),
        }  # fmt: skip

    def restore(self, known: Parts, model: Model) -> None:
        """Take over what ``snapshot`` gave, whatever steps were made since."""
        self._looked, self._table, self._stepped = None, None, False
        if "buffers" in known:
            self.buffers.recall(known["buffers"])
        else:
            self.buffers.recall_parts(known)
        self.detector.restore(known["detector"])
        self.solver.restore(known["solver"])
        self.bouncer.restore(known["bouncer"])
