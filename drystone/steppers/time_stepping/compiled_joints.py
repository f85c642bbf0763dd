"""Steps of worlds with joints, in a compiled loop.

Joints are usually closed in a few rounds. Where they are not the loop asks for ``closing.Closer``,
and where a step is too long for them it is divided (``kernels.step.joint_divide``).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from drystone.constraints.joints.edit import carry_values, without
from drystone.constraints.joints.forces import broken, stored_by_joints
from drystone.constraints.joints.least import LeastNorm
from drystone.constraints.rows import Rows
from drystone.dynamics import bodies
from drystone.errors import SimulationError
from drystone.kernels.active import body_reach
from drystone.kernels.detect import detect
from drystone.kernels.joints_coupled import POSITION_MOTOR, SPEED_MOTOR
from drystone.kernels.step import (
    begin,
    codes,
    end_mass,
    find,
    joint_end_mass,
    joint_kicks,
    joint_sleep,
    kicks,
    sleep,
)
from drystone.kernels.step import joint_aim as aim
from drystone.kernels.step import joint_close as closing
from drystone.kernels.step import joint_divide as divide
from drystone.kernels.step import joint_finish as finish
from drystone.kernels.step import joint_laws as laws
from drystone.kernels.step import joint_newton as newton
from drystone.kernels.step import joint_places as places
from drystone.kernels.step import joint_project as projection
from drystone.kernels.step import joint_rows as rows
from drystone.kernels.step import joint_soft as soft
from drystone.kernels.step import joint_solve as solving
from drystone.kernels.step import joint_spare as spare
from drystone.kernels.step.loop import record
from drystone.model import Joints, Model, State
from drystone.problems.cones import SoftFingerCone
from drystone.steppers.base import StepReport
from drystone.steppers.snapshot import Parts
from drystone.steppers.tables import NotedJoints
from drystone.steppers.time_stepping.closing import Closer
from drystone.steppers.time_stepping.compiled import Compiled, Stage, stage_of
from drystone.steppers.time_stepping.friction import solve_friction
from drystone.steppers.time_stepping.joint_buffers import JointBuffers
from drystone.steppers.time_stepping.options import TimeStepping
from drystone.steppers.time_stepping.reading import read_report
from drystone.steppers.time_stepping.solve import Solved
from drystone.steppers.time_stepping.stalling import told
from drystone.steppers.time_stepping.stiffness import Part
from drystone.types import Floats, Ints, Status

LOOKS = 4  # times that contacts are looked for again in a step


def joint_stages(options: TimeStepping, dim: int) -> list[Stage]:
    """The stages of a step, with the names under which their time is reported. Where joints need
    it the list runs for parts of the step, see ``kernels.step.joint_divide``."""
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
    ends: list[Stage] = []
    book: list[Stage] = []
    if options.mass == "end" and dim == 3:
        ends.append(("solve", joint_end_mass.again))
        book.append(("report", end_mass.book))
    judged: list[Stage] = []
    if options.on_failure != "report":
        judged.append(("report", divide.verdict))
    return [
        ("forces", divide.enter),
        ("forces", of(begin, "begin")),
        ("contacts", of(find, "reach")),
        ("contacts", divide.widen),
        ("contacts", detect),
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
        *ends,
        ("solve", finish.least),
        *projected,
        *book,
        ("drift", of(finish, "finish")),
        *judged,
        ("drift", finish.commit),
        ("report", finish.bear),
        *second,
        ("drift", of(finish, "take_back")),
        *rest,
        ("report", divide.next_part),
        ("report", record),
    ]


def _numbers(made: list[Stage]) -> dict[str, int]:
    """Numbers of stages that others go on with."""
    runs = [run for _, run in made]
    aimed, left = runs.index(aim.rows), runs.index(closing.arrive)
    return {
        "aim_stage": aimed, "refine_stage": runs.index(solving.refine),
        "laws_stage": runs.index(solving.refine) + 2, "load_stage": left - 1,
        "least_stage": runs.index(closing.judge) + 1,
    }  # fmt: skip


class CompiledJoints(Compiled):
    """A stepper of worlds with joints whose stages run in ``kernels.step.loop``.

    lost: uids of joints that broke; least: which of the others are redundant.
    """

    buffers: JointBuffers

    def __init__(self, options: TimeStepping, model: Model) -> None:
        self.lost: Ints = np.empty(0, np.int64)
        self.least = LeastNorm()
        self._closer: Closer | None = None
        self._asked = (-1, 0, 0, 0)  # in which part of which step the last solve was asked for
        super().__init__(options, model)

    def adopt(self, model: Model) -> None:
        """Go on with an edited model; joints and contacts that stay keep their impulses."""
        before: JointBuffers | None = getattr(self, "buffers", None)
        joints = model.joints
        if joints is None:
            raise ValueError("a model without joints")
        if np.isin(joints.uid, self.lost).any():
            joints, _ = without(joints, np.isin(joints.uid, self.lost))
            model = replace(model, joints=joints)
        super().adopt(model)
        j = self._joint_arrays = self.buffers.j
        j.put(**_numbers(self.stages))
        if before is not None:
            j.turns[:] = carry_values(before.joints, before.j.turns, joints)
            j.lead, j.start = before.j.lead, before.j.start
        self._held: tuple[Joints, tuple[Floats, Floats]] | None = None
        self._over = np.zeros(len(self.buffers.joints), bool)

    def _list(self) -> list[Stage]:
        return joint_stages(self.options, self.model.dim)

    def _make_buffers(self) -> JointBuffers:
        if self.model.joints is None:
            raise ValueError("a model without joints")
        return JointBuffers(self.options, self.model, self.model.joints)

    @property
    def turns(self) -> Floats | None:
        """(nq,) coordinates of joints lately, from which their angles are counted."""
        turns: Floats = self.buffers.j.turns
        return turns

    @turns.setter
    def turns(self, value: Floats | None) -> None:
        if value is not None:
            self.buffers.j.turns[:] = value

    def stored(self, state: State) -> float:
        """Energy in the springs of joints [J]."""
        return stored_by_joints(self.buffers.joints, state, self.turns)

    def step(self, state: State, h: float) -> tuple[State, StepReport]:
        """The state after h."""
        self.buffers.set_state(state, state.time, 0)
        seconds = self._steps(h, 1)
        s = self.buffers.s
        s.time = state.time + h
        after = self.buffers.state()
        report = self._report(h, seconds)
        return after, self._lose_broken(report) if self._over.any() else report

    @property
    def in_one(self) -> bool:
        """Whether many steps may be run at once: nothing is to be done after each."""
        return not (self.profile or self.buffers.j.breaks)

    def _steps(self, h: float, steps: int) -> dict[str, float]:
        j = self.buffers.j
        self._held = self._closer = None
        j.level = j.done = 0  # a step that an error ended is not gone on with
        self._over[:] = False
        self.least.look(self.model, self.buffers.state())
        self.buffers.find_spare(self.least.parts)
        return super()._steps(h, steps)

    def _help(self, code: int, stage: int) -> int:
        """Do what a stage asked for; returns the stage to go on with."""
        s, j = self.buffers.s, self.buffers.j
        if code == codes.PATTERN:
            self.buffers.find_pattern()
            return stage
        if code == codes.LOOK:
            return self._look_again() or j.aim_stage
        if code == codes.SOLVE:
            return int(j.load_stage) if self._solve_laws() else self._close()
        if code == codes.CLOSE:
            return self._close()
        if code == codes.VERDICT:
            return 0 if self._retried() else stage + 1
        if code == codes.PART:
            self._begin_part()
        elif code == codes.LEAST:
            self.least(self.model, self.buffers.rows(), self._view().r)
        elif code == codes.COLLIDE:
            self._collide()
            j.free[:] = s.v_free
        elif code == codes.BORNE:
            self._look_at_joints()
        elif code == codes.TORN:
            self._tear()
        elif code == codes.NOT_FINITE:
            self._run_away()
        else:
            return super()._help(code, stage)
        return stage + 1

    @property
    def _now(self) -> float:
        """When the part of a step that is being made begins [s]."""
        s, j = self.buffers.s, self.buffers.j
        return float(s.time + j.whole * (j.done / divide.WHOLE))

    def _begin_part(self) -> None:
        """Forces and prescribed motions of a part of a step."""
        s = self.buffers.s
        self.buffers.prepare_motions(int(s.cursor), self._now, float(s.h))
        if self.model.forces:
            self._forces(s)

    def _look_again(self) -> int:
        """The stage to begin a part with again, where contacts are looked for further away; 0 if
        bodies that went further than they were looked for meet none, or all was looked at."""
        s, j = self.buffers.s, self.buffers.j
        h, travel = float(s.h), np.empty(self.model.nb)
        body_reach(j.at_v, self.sizes, h, travel)
        travel = np.maximum(travel, s.reach)
        if j.looks == LOOKS or not self._misses(
            self.buffers.state(), j.at_v, h, travel, self.buffers.rows()
        ):
            return 0
        j.travel[:] = travel
        j.looks += 1
        j.earlier = int(s.iterations)
        return 1

    def _solve_laws(self) -> bool:
        """The friction problem of one round; False if it is not solved."""
        s = self.buffers.s
        n = int(s.rows)
        solved = self._friction(self.buffers.rows(), s.bias[:n], s.v_free, s.r[:n].copy())
        self._adopt_solved(solved)
        return solved.status is Status.SOLVED

    def _friction(self, rows: Rows, bias: Floats, v_free: Floats, guess: Floats | None) -> Solved:
        s, j = self.buffers.s, self.buffers.j
        here = int(s.origin[1] + s.cursor), int(j.done), int(j.level), int(s.drifts)
        if here != self._asked:  # else the last solve tells whether this one is to look for jams
            self._asked, self.solver.jams = here, bool(s.only_sweeps)
        at = s.source[: s.rows]
        slid = (at >= 0) & s.old_slid[at]
        return solve_friction(rows, bias, v_free, guess, slid, self.solver, float(s.rest_speed))

    def _adopt_solved(self, solved: Solved) -> None:
        s = self.buffers.s
        n, ni = int(s.rows), int(s.islands)
        s.r[:n], s.u[:n], s.q[:n], s.mu[:n], s.v[:] = (
            solved.r, solved.u, solved.q, solved.mu, solved.v,
        )  # fmt: skip
        s.residual[:ni], s.failed = solved.residual, solved.failed
        if self._jams_now:
            self._forget_jam()
        s.iterations += solved.iterations
        self._used(solved, solved.status)
        if solved.stalls:
            self._note_jam(*told(self.model, self.buffers.rows(), solved.stalls))

    def _close(self) -> int:
        """Close joints by all that ``Closer`` knows, from the start of the part; returns the
        stage to go on with."""
        buffers, s, j = self.buffers, self.buffers.s, self.buffers.j
        n, h = int(s.rows), float(s.h)
        spare.restore(j)
        for name in ("J", "P", "D", "r", "bias"):
            getattr(s, name)[:n] = getattr(j, f"{name}0")[:n]
        s.v_free[:] = j.free
        made, bias, part = buffers.rows(), s.bias[:n].copy(), self._part()

        def once(bias: Floats, guess: Floats | None) -> Solved:
            return self._friction(made, bias, part.v_free, guess)

        closer = Closer(self.options, self.least, buffers.joints, part, j.turns)
        solved = closer.solve(made, bias, once, self._arrival_of, h, s.r[:n].copy())
        self._closer = closer
        s.J[:n], s.P[:n], s.D[:n], s.bias[:n] = made.J, made.P, made.D, bias
        s.v_free[:], j.softening = part.v_free, part.softening
        self._adopt_solved(solved)
        j.by_host, j.excess, j.goal = 1, self.least.count, codes.SETTLE
        after = self._arrival_of(solved.v)
        bodies.check_finite(self.model, after, s.force, h)
        places.places(s, self.detector.scan, j)
        j.opening = float(np.abs(j.at_error).max(initial=0.0))
        return (closing.outran(s, j) and self._look_again()) or int(j.least_stage)

    def _arrival_of(self, v: Floats) -> State:
        """The state after a part with velocities v, whatever they are."""
        s, j = self.buffers.s, self.buffers.j
        j.at_v[:], j.at_velocity[:] = v, v
        j.at_position[:], j.at_orientation[:] = s.position, s.orientation
        move = closing.drift_planar if self.model.dim == 2 else closing.drift_spatial
        move(s, self.detector.scan, j)
        pose = j.at_position.copy(), j.at_orientation.copy()
        return State(self._now + float(s.h), *pose, j.at_velocity.copy())

    def _part(self) -> Part:
        """What the part of a step that is being made begins with."""
        s = self.buffers.s
        state = self.buffers.state()
        state.time = self._now
        return Part(
            self.model, state, float(s.h), float(s.kick), bool(s.drifts), s.v0, s.v_free.copy(),
            s.inertia, s.inverse,
        )  # fmt: skip

    def _retried(self) -> bool:
        """Whether a part that was not solved is tried again in halves; if not it is kept, or ends
        the run."""
        s, j, options = self.buffers.s, self.buffers.j, self.options
        if s.drifts:
            self._began = self.buffers.state(), self._memory()
        s.report.time = self._now + s.h
        report = read_report(s, float(s.h), self.method_names, {})
        if report.ok:
            return False
        if options.on_failure == "retry" and j.level < options.retries:
            j.level += 1
            if not s.drifts:  # the first kick was kept
                state, memory = self._began
                s.position[:], s.orientation[:] = state.position, state.orientation
                s.velocity[:] = state.velocity
                s.put(drifts=1, impact_share=0.0)
                self._recall(memory)
            return True
        jam = self._jam
        if jam is not None and jam[0] == s.origin[1] + s.cursor:
            report = replace(report, jammed=jam[1], log=jam[2])
        self._looked = None
        raise SimulationError(self._failure(report), self.problem(), report)

    def _tear(self) -> None:
        """Joints that nothing closes end the run."""
        s, j, model, joints = self.buffers.s, self.buffers.j, self.model, self.buffers.joints
        k = int(joints.row_joint[int(np.abs(j.at_error).argmax())])
        a, b = ("the world" if i < 0 else repr(model.names[i]) for i in joints.body[k])
        driven = "prescribed motions drive them apart, or " if model.motions else ""
        if np.isin(joints.action_kind, (SPEED_MOTOR, POSITION_MOTOR)).any():
            driven += "a motor drives its linkage where it cannot go (bound it by max_force), or "
        raise SimulationError(
            f"joint {joints.names[k]!r} is open by {j.opening:.3g} m or rad between {a} and {b} at "
            f"t = {self._now + s.h:.6g} s: {driven}the step of {self.options.dt:.3g} s is too long "
            "for what pulls on it: take a shorter one"
        )

    def _run_away(self) -> None:
        s, j = self.buffers.s, self.buffers.j
        after = State(self._now + s.h, j.at_position, j.at_orientation, j.at_velocity)
        bodies.check_finite(self.model, after, s.force, float(s.h))
        raise SimulationError(f"a body ran away at t = {after.time:.6g} s")

    def _look_at_joints(self) -> None:
        """The least forces of redundant joints, and which of them broke."""
        s, j = self.buffers.s, self.buffers.j
        n = int(s.rows)
        if j.by_host and self._closer is not None:
            s.r[:n] = self._closer.spread(s.r[:n])
        else:
            spare.spread(j, s.r)
        finish.wrenches(s, j)
        if j.breaks:
            dim = self.model.dim
            self._over |= broken(self.buffers.joints, s.wrench[:, :dim], s.wrench[:, dim:])

    def _solves_anew(self, stage: int) -> bool:
        """Whether this stage goes back to a solve that replaces the last one: not to the last look
        at one, nor to the next part of a step."""
        s, j = self.buffers.s, self.buffers.j
        again = s.next_stage == j.aim_stage and j.goal == codes.END
        here = self.stages[stage][1]
        halved = s.next_stage == 0 and here not in (divide.next_part, joint_kicks.again)
        return bool(again or halved or s.next_stage in (j.laws_stage, s.rows_stage))

    def _lose_broken(self, report: StepReport) -> StepReport:
        """Go on without the joints that broke; what there is to read of the step stays."""
        joints, over = self.buffers.joints, self._over
        names = tuple(name for name, gone in zip(joints.names, over, strict=True) if gone)
        held, looked, table = self._bear(), self._look(), self.contact_table()
        self.lost = np.union1d(self.lost, joints.uid[over])
        self.adopt(self.model)
        self._held, self._looked, self._table, self._stepped = held, looked, table, True
        return replace(report, broken=names)

    def joint_table(self) -> np.ndarray:
        """Structured array, one entry a joint; see ``Simulation.joints``."""
        return self._noted_joints().table()

    def noted(self) -> tuple[Any, Any]:
        """The table of contacts, and what ``joint_table`` makes a table of."""
        return self.contact_table(), self._noted_joints()

    def _noted_joints(self) -> NotedJoints:
        if self._stepped and self._held is None:
            self._held = self._bear()
        joints, wrench = (None, None) if self._held is None else self._held
        return NotedJoints(self.model.names, joints, wrench)

    @property
    def wrench(self) -> tuple[Floats, Floats] | None:
        """Force (nj, dim) [N] and torque (nj, 1 or 3) [N m] of every joint in the last step."""
        return self._noted_joints().wrench

    def _bear(self) -> tuple[Joints, tuple[Floats, Floats]]:
        """What joints bore in the last step."""
        dim, s = self.model.dim, self.buffers.s
        if self.options.order == 1:
            finish.wrenches(s, self.buffers.j)
        return self.buffers.joints, (s.wrench[:, :dim].copy(), s.wrench[:, dim:].copy())

    def _memory(self) -> Any:
        j = self.buffers.j
        return self.buffers.memory(), j.turns.copy(), j.lead, j.start

    def _recall(self, memory: Any) -> None:
        j = self.buffers.j
        known, j.turns[:], j.lead, j.start = memory
        self.buffers.recall(known)

    def snapshot(self) -> Parts:
        """What the next step depends on, beside the state."""
        j = self.buffers.j
        jointed = {
            "lost": self.lost, "ahead": j.lead, "start": j.start, "turns": j.turns.copy(),
        }  # fmt: skip
        least = self.least.snapshot(self.model.joints)
        return super().snapshot() | {"jointed": jointed, "least": least}

    def restore(self, known: Parts, model: Model) -> None:
        """Take over what ``snapshot`` gave, whatever steps were made since."""
        jointed = known["jointed"]
        if not np.array_equal(jointed["lost"], self.lost):
            self.lost = jointed["lost"]
            self.adopt(model)
        super().restore(known, model)
        j = self.buffers.j
        j.lead, j.start = float(jointed.get("ahead", 0.0)), int(jointed.get("start", 0))
        self._held = None
        if jointed.get("turns") is not None:
            j.turns[:] = jointed["turns"]
        self.least.restore(known.get("least", {}), self.model.joints)
