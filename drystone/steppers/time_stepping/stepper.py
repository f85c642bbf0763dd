"""The stepper of ``ds.TimeStepping``: one list of stages, run by one loop.

Compiled code runs the list for as many steps as it is told, and returns when a stage needs Python
(``host_requests``): room, a pair kernel that is not loaded yet, a collision with restitution,
Newton's method, joints that do not close in the usual way. That is done, and the loop continues
from there. One step or many, timed, recorded or with sweeps on threads: it is the same loop.
"""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from drystone.constraints.joints.edit import carry_values, without
from drystone.constraints.joints.forces import stored_by_joints
from drystone.constraints.rows import Rows
from drystone.dynamics import bodies
from drystone.dynamics.energy import stored
from drystone.errors import SimulationError
from drystone.kernels._calls import address
from drystone.kernels.contact_rows import read_contacts
from drystone.kernels.packed import Packed
from drystone.kernels.step import codes, joint_divide, joint_finish, kicks
from drystone.kernels.step.loop import loop
from drystone.model import Contacts, Joints, Model, State
from drystone.problems.cones import PolyhedralCone
from drystone.steppers.base import StepReport
from drystone.steppers.snapshot import Parts
from drystone.steppers.tables import ContactRows, NotedJoints
from drystone.steppers.time_stepping.buffers import Buffers
from drystone.steppers.time_stepping.host_requests import HostRequests
from drystone.steppers.time_stepping.nonlinear_gaps import NonlinearGaps
from drystone.steppers.time_stepping.options import TimeStepping
from drystone.steppers.time_stepping.reading import Frames, joined, read_report
from drystone.steppers.time_stepping.search import Search
from drystone.steppers.time_stepping.solve import Solved
from drystone.steppers.time_stepping.stages import gets, joint_numbers, numbers, stages
from drystone.steppers.time_stepping.threads import Sweeper
from drystone.types import Floats, Ints

CHUNK = 256  # steps that are prepared at a time: Ctrl-C is noticed between them


class TimeStepper(HostRequests):
    """Steps a model; ``stages`` lists how.

    end_gaps [m]: what may be left of gaps at the end of a step, see ``nonlinear_gaps``; None: gaps
    are closed to first order.
    profile: time every stage (stages are then run one at a time, to the same bits).
    jointed: whether the list is that of a world with joints; lost: uids of joints that broke.
    """

    profile = False

    def __init__(self, options: TimeStepping, model: Model, end_gaps: float | None = None) -> None:
        self.gaps = None if end_gaps is None else NonlinearGaps(end_gaps)
        self.lost: Ints = np.empty(0, np.int64)
        super().__init__(options, model)

    def adopt(self, model: Model) -> None:
        """Go on with an edited model; contacts and joints that stay keep their impulses."""
        before: Buffers | None = getattr(self, "buffers", None)
        if model.dim == 3 or not isinstance(self.options.shape, PolyhedralCone):
            self.options.shape.block(model.dim)
        joints = model.joints
        self.jointed = joints is not None and len(joints) > 0
        if joints is not None and np.isin(joints.uid, self.lost).any():
            joints, _ = without(joints, np.isin(joints.uid, self.lost))
            model = replace(model, joints=joints)
        self.model = model
        self.look_for_contacts(model)
        self.search = Search(self.options, model, self.detector)
        self.buffers = Buffers(self.options, model, self.jointed)
        self.stages = stages(self.options, model.dim, self.jointed, self.gaps is not None)
        self.buffers.s.put(**numbers(self.stages))
        if before is not None:
            self.buffers.remember(before)
        if self.jointed:
            self._adopt_joints(before)
        self.sweeper = Sweeper()
        self._job: Packed | None = None
        self._contact_rows: ContactRows | None = None
        self._room: Packed | None = None  # for contacts that somebody reads
        self._looked: tuple[Rows, Solved] | None = None
        self._table: np.ndarray | None = None  # of contacts, where they do not lie in the buffers
        self._stepped = False
        self._frames: Frames | None = None
        self._jam: tuple[int, tuple[str, ...], tuple[str, ...]] | None = None
        self._held: tuple[Joints, tuple[Floats, Floats]] | None = None
        self._over = np.zeros(len(self.buffers.joints) if self.jointed else 0, bool)

    def _adopt_joints(self, before: Buffers | None) -> None:
        j = self.buffers.j
        j.put(**joint_numbers(self.stages))
        if before is not None and before.j is not None:
            j.turns[:] = carry_values(before.joints, before.j.turns, self.buffers.joints)
            j.lead, j.start = before.j.lead, before.j.start

    @property
    def job(self) -> Packed:
        """What the loop gets; making it compiles the stages."""
        if self._job is None:
            program = np.array([self._address(k) for k in range(len(self.stages))])
            given = np.array([gets(run) for _, run in self.stages])
            s, scan, where = self.buffers.s, self.detector.scan, np.zeros(2, np.int64)
            j = s if self.buffers.j is None else self.buffers.j
            self._job = Packed(program=program, gets=given, where=where, s=s, scan=scan, j=j)
        return self._job

    def compile_from_the_end(self) -> None:
        """Make what `job` takes in the opposite order: for a process beside one that runs."""
        for k in reversed(range(len(self.stages))):
            self._address(k)

    def _address(self, stage: int) -> int:
        """Of a stage, compiled for what it gets."""
        run, scan = self.stages[stage][1], self.detector.scan
        given = gets(run)
        if given == codes.HOST:
            return 0
        if given == codes.DETECTOR:
            return address(run, scan, scan.x, scan.R, scan.margin)
        return address(run, self.buffers.s, scan, *((self.buffers.j,) if given else ()))

    def step(self, state: State, h: float) -> tuple[State, StepReport]:
        # with joints the list itself tries again, and what is never made again is not remembered
        kept = self.jointed or self.options.on_failure == "report"
        if kept and self.gaps is None:
            after, report = self._advance(state, h)
            return after, self._lose_broken(report) if self.jointed and self._over.any() else report
        return self._attempt(state, h, 0)

    def _attempt(self, state: State, h: float, level: int) -> tuple[State, StepReport]:
        """A step, or two halves of it where it cannot be kept as it is."""
        memory = self._memory()
        try:
            after, report = self._advance(state, h)
            if self._kept(report, level):
                return after, report
        except SimulationError:  # shorter steps may still close their gaps
            if self.gaps is None or level >= self.gaps.halvings:
                raise
        self._recall(memory)
        middle, first = self._attempt(state, 0.5 * h, level + 1)
        after, second = self._attempt(middle, 0.5 * h, level + 1)
        return after, joined(first, second)

    def _kept(self, report: StepReport, level: int) -> bool:
        """Whether a step that was halved so many times over is kept; SimulationError if it is not
        and cannot be halved again."""
        if self.gaps is not None:
            return self.gaps.closed or level >= self.gaps.halvings
        if report.ok:
            return True
        if self.options.on_failure != "retry" or level == self.options.retries:
            raise SimulationError(self._failure(report), self.problem(), report)
        return False

    def _advance(self, state: State, h: float) -> tuple[State, StepReport]:
        buffers = self.buffers
        buffers.set_state(state, state.time, 0)
        if self.gaps is not None:
            self.gaps.begin(self, h)
        seconds = self._walk(h, 1)
        if self.jointed:
            buffers.s.time = state.time + h
        return buffers.state(), self._report(h, seconds)

    @property
    def in_one(self) -> bool:
        """Whether many steps may be run at once: nothing is to be done after each."""
        if self.jointed:
            return not (self.profile or self.buffers.j.breaks)
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
        s.put(frame_interval=every, since_frame=out.since, records_contacts=int(out.watched))
        s.put(contact_interval=out.spaced, since_contacts=out.gone)
        try:
            self._walk(h, steps)
            out.state, out.report = buffers.state(), self._report(h, {})
        except SimulationError:
            out.take(s)
            out.state = buffers.state_before()
            raise
        finally:
            out.count = int(s.origin[1] + s.cursor)
            out.since, out.gone = int(s.since_frame), int(s.since_contacts)
            out.total = s.total_row.copy()
            s.frame_interval, self._frames = 0, None

    def _walk(self, h: float, steps: int) -> dict[str, float]:
        """`steps` times through the list of stages; returns the seconds of each stage if they are
        asked for. Stages are run one at a time where they are timed, and from the moment that a
        motor jams in a step: a later solve of the step may free it."""
        job, ready, at = self._job or self.job, 0, 0
        seconds: dict[str, float] = {}
        while steps > 0:
            if ready == 0:
                ready = self._prepare(h, steps)
            alone = self.profile or (self._jam is not None and self._jams_now)
            began = perf_counter() if alone else 0.0
            code = loop(job, at, ready, alone)
            done, stage = job.where.tolist() if alone or code != codes.GO_ON else (ready, 0)
            at = 0 if done and code == codes.GO_ON else stage + 1
            if code == codes.HOST_STAGE:
                code = int(self.stages[stage][1](self.buffers.s, self.detector.scan, job.j))
            if code == codes.AGAIN:
                at = self._go_back(stage)
            elif code != codes.GO_ON:
                at = self.answer(code, stage)
            if self.profile:
                name = self.stages[stage][0]
                seconds[name] = seconds.get(name, 0.0) + perf_counter() - began
            steps, ready = steps - done, ready - done
            if done and ready == 0 and (steps > 0 or self._frames is not None or self.model.forces):
                self._conclude()
        return seconds

    def _prepare(self, h: float, steps: int) -> int:
        """Prepare the next of `steps` steps of length h; returns how many: as far as prescribed
        motions are worked out ahead and there is room for frames. Forces are asked for at every
        step."""
        s, j = self.buffers.s, self.buffers.j
        ready = 1 if self.model.forces else min(steps, CHUNK)
        if self._frames is not None:
            every = int(s.frame_interval)
            wanted = (1 + ready // every, 1 + CHUNK // every) if every else (0, 0)
            self.buffers.make_room_for_frames(*wanted)
        if j is not None:
            self._held = self._closer = self._asked = None
            j.level = j.done = 0  # a step that an error ended is not continued
            self._over[:] = False
            self.minimum_norm.find(self.model, self.buffers.state())
            self.buffers.find_spare(self.minimum_norm.parts)
        self.buffers.set_step(h, ready)
        if self.model.forces:
            self._forces(s)
        self._looked, self._table, self._stepped, self._jam = None, None, True, None
        return ready

    def _conclude(self) -> None:
        """After steps that were prepared, where something follows: the energy of springs, frames,
        other steps."""
        s = self.buffers.s
        if self.model.forces:
            self._stored(s)
        s.origin[1] += s.cursor
        s.cursor = 0
        if self._frames is not None:
            self._frames.take(s)

    def _report(self, h: float, seconds: dict[str, float]) -> StepReport:
        """Of the last step."""
        s, jam = self.buffers.s, self._jam
        report = read_report(s, h, self.method_names, seconds)
        if jam is None or jam[0] != s.origin[1] + s.cursor - 1 or report.ok:
            return report
        return replace(report, jammed=jam[1], log=jam[2])

    def _solves_anew(self, stage: int) -> bool:
        """Whether this stage goes back to a solve that replaces the last one: not to one of the
        second kick, to the last look at one, nor to the next part of a step."""
        s, j = self.buffers.s, self.buffers.j
        if j is None:
            return bool(s.next_stage > 0)
        again = s.next_stage == j.aim_stage and j.goal == codes.END
        here = self.stages[stage][1]
        halved = s.next_stage == 0 and here not in (joint_divide.next_part, kicks.again_with_joints)
        return bool(again or halved or s.next_stage in (j.laws_stage, s.rows_stage))

    def _go_back(self, stage: int) -> int:
        """The earlier stage that this one goes back to."""
        if self._jams_now and self._solves_anew(stage):
            self._forget_jam()
        return int(self.buffers.s.next_stage)

    def _stored(self, s: Any) -> None:
        """Energy that springs took or gave enters the ledger, also in the frame of this step."""
        before, after = s.spring_energy, stored(self.model, self.buffers.state())
        if before == after == 0.0:
            return
        report = s.report
        report.potential = report.gravity_energy + after
        report.change += after - before
        report.loads += after - before
        if s.frames and s.since_frame == 0:
            s.frame_report[s.frames - 1] = s.report_row

    def _lose_broken(self, report: StepReport) -> StepReport:
        """Go on without the joints that broke; what there is to read of the step stays."""
        joints, over = self.buffers.joints, self._over
        names = tuple(name for name, gone in zip(joints.names, over, strict=True) if gone)
        held, looked, table = self._joint_reactions(), self._last_solve(), self.contact_table()
        self.lost = np.union1d(self.lost, joints.uid[over])
        self.adopt(self.model)
        self._held, self._looked, self._table, self._stepped = held, looked, table, True
        return replace(report, broken=names)

    def check_start(self, state: State) -> None:
        """Bodies that start inside each other are refused, by name and depth."""
        bodies.check_finite(self.model, state)
        if self.options.overlap != "allow":
            found = self.search.near(state)
            bodies.check_apart(self.model, self.search.sizes, found, "TimeStepping")

    def overlaps(self, state: State) -> Contacts:
        return self.search.overlaps(state)

    @property
    def rows(self) -> Rows | None:
        last = self._last_solve()
        return None if last is None else last[0]

    @property
    def solved(self) -> Solved | None:
        last = self._last_solve()
        return None if last is None else last[1]

    @property
    def kick(self) -> float:
        """How long forces acted in the last step, or in its last part [s]."""
        return float(self.buffers.s.kick)

    def contact_table(self) -> np.ndarray:
        if self._table is not None:
            return self._table.copy()
        s, rows = self.buffers.s, self.contact_rows
        n = s.rows if self._stepped else 0
        if not n:
            return rows.none()
        out = np.zeros(n * rows.words)
        found = read_contacts(s, self._contact_room(n), s.kick, rows.words, out)
        return out.view(rows.kind)[:found]

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
        return self.contact_table(), self._noted_joints()

    def joint_table(self) -> np.ndarray:
        return self._noted_joints().table()

    def _noted_joints(self) -> NotedJoints:
        if self.jointed and self._stepped and self._held is None:
            self._held = self._joint_reactions()
        joints, wrench = (None, None) if self._held is None else self._held
        return NotedJoints(self.model.names, joints, wrench)

    @property
    def wrench(self) -> tuple[Floats, Floats] | None:
        """Force (nj, dim) [N] and torque (nj, 1 or 3) [N m] of every joint in the last step."""
        return self._noted_joints().wrench

    def _joint_reactions(self) -> tuple[Joints, tuple[Floats, Floats]]:
        """What joints bore in the last step."""
        dim, s = self.model.dim, self.buffers.s
        if self.options.order == 1:
            joint_finish.wrenches(s, self.buffers.j)
        return self.buffers.joints, (s.wrench[:, :dim].copy(), s.wrench[:, dim:].copy())

    @property
    def turns(self) -> Floats | None:
        return self.buffers.j.turns if self.jointed else None

    @turns.setter
    def turns(self, value: Floats | None) -> None:
        if value is not None and self.jointed:
            self.buffers.j.turns[:] = value

    def stored(self, state: State) -> float:
        return stored_by_joints(self.buffers.joints, state, self.turns) if self.jointed else 0.0

    def wake(self) -> None:
        self.buffers.wake()

    def snapshot(self) -> Parts:
        parts: Parts = {"buffers": self.buffers.memory(), "detector": self.detector.state()}
        j = self.buffers.j
        if j is not None:
            turns = j.turns.copy()
            parts["jointed"] = {
                "lost": self.lost, "ahead": j.lead, "start": j.start, "turns": turns,
            }  # fmt: skip
            parts["least"] = self.minimum_norm.snapshot(self.model.joints)
        return parts

    def restore(self, known: Parts, model: Model) -> None:
        jointed = known.get("jointed")
        if jointed is not None and not np.array_equal(jointed["lost"], self.lost):
            self.lost = jointed["lost"]
            self.adopt(model)
        self._looked, self._table, self._stepped, self._held = None, None, False, None
        if "buffers" in known:
            self.buffers.recall(known["buffers"])
        else:
            self.buffers.recall_parts(known)
        self.detector.restore(known["detector"])
        j = self.buffers.j
        if jointed is None or j is None:
            return
        j.lead, j.start = float(jointed.get("ahead", 0.0)), int(jointed.get("start", 0))
        if jointed.get("turns") is not None:
            j.turns[:] = jointed["turns"]
        self.minimum_norm.restore(known.get("least", {}), self.model.joints)
