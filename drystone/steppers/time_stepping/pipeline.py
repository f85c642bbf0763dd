"""One step of the scheme, as a list of stages; the arithmetic is in the modules it calls.

forces -> free velocity -> contacts -> active rows -> collisions -> friction problem -> drift.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from drystone.constraints.joints.blocks import moving
from drystone.constraints.joints.forces import stored_by_joints
from drystone.constraints.joints.least import LeastNorm
from drystone.constraints.rows import Rows, select, step_rows
from drystone.dynamics import bodies
from drystone.dynamics.energy import energy, kinetic
from drystone.errors import SimulationError
from drystone.geometry.detector import Detector
from drystone.kernels import rigid
from drystone.kernels.active import activate, body_reach
from drystone.kernels.step.find import NEAR, SLACK
from drystone.model import Contacts, Model, State
from drystone.problems.cones import PolyhedralCone
from drystone.problems.friction import FrictionProblem
from drystone.steppers.base import StepReport
from drystone.steppers.snapshot import Parts
from drystone.steppers.time_stepping import ledger
from drystone.steppers.time_stepping.friction import solve_friction
from drystone.steppers.time_stepping.impact import Impact, collide
from drystone.steppers.time_stepping.jointed import Jointed
from drystone.steppers.time_stepping.options import TimeStepping
from drystone.steppers.time_stepping.readout import Readout
from drystone.steppers.time_stepping.sleeping import Sleepers
from drystone.steppers.time_stepping.solve import IslandSolver, Solved, island_problem
from drystone.steppers.time_stepping.stalling import told
from drystone.steppers.time_stepping.warm import WarmStart
from drystone.steppers.time_stepping.work import Work
from drystone.types import Bools, Floats, Ints

Met = tuple[Work, Contacts, Impact, Solved, Rows, int]
TURNS = 0.25  # of what bodies travel: how near they may come without being looked at again
LOOKS = 4  # times that contacts are looked for again in a step
OUTER = 25  # iterations of M(q'), and the relative change at which they end
SETTLED = 1e-11
# of the kinetic energy, that joints may make or lose in a step; halvings to avoid it
GAIN, GAINING = 0.001, 5
GROWTH = 8.0  # of that energy, from steps to steps twice as long, where motion is smooth


class Stepper(Readout):
    """Steps a model by ``TimeStepping``; keeps what speeds up the next step."""

    def __init__(self, options: TimeStepping, model: Model) -> None:
        self.options, self.model = options, model
        self.warm = WarmStart()
        self.solver = IslandSolver(options)
        self.bouncer = IslandSolver(replace(options, formulation="coulomb"))
        self.sleepers = Sleepers(options.sleeping)
        self.rows: Rows | None = None
        self.least = LeastNorm()
        self.jointed = Jointed(options, self.least)
        self.solved: Solved | None = None
        self.work: Work | None = None
        self._detector: Detector | None = None
        self.adopt(model)

    def adopt(self, model: Model) -> None:
        """Go on with an edited model."""
        if model.dim == 3 or not isinstance(self.options.shape, PolyhedralCone):
            self.options.shape.block(model.dim)
        model = self.jointed.adopt(model)
        self.model = model
        self.dynamic: Bools = model.inverse_mass > 0
        args = (model.geoms, self.dynamic, model.layer, model.rules.ignored)
        if self._detector is None:
            self._detector = Detector(*args, names=model.names)
        else:
            self._detector.remap(*args, names=model.names)
        self.detector = self._detector
        self.sizes = bodies.radii(model)
        finite = self.sizes[np.isfinite(self.sizes)]
        self.size = float(np.median(finite)) if finite.size else 1.0
        self.sleepers.adopt(model)
        self.turned = model.dim == 3 and bool(model.axis.any())

    def step(self, state: State, h: float) -> tuple[State, StepReport]:
        """The state after h; halved and tried again where the caller asked for it."""
        jointed = self.jointed
        jointed.behind = 0.5 * h - jointed.ahead
        jointed.wanted = 0
        out = self._attempt(state, h, 0)
        jointed.ahead, jointed.start = 0.5 * h - jointed.behind, jointed.wanted
        return out

    def _attempt(self, state: State, h: float, level: int) -> tuple[State, StepReport]:
        memory = self._memory()
        self.jointed.attempt(level)
        if level >= self.jointed.start:
            after, report = self._advance(state, h)
            gain = self._gain(report)
            # joints that are left open, or did work where they should not: a shorter step helps
            again = self.jointed.opened or (gain > 1.0 and level < self._halvings)
            if not again and not report.ok and self.options.on_failure != "report":
                again = self.options.on_failure == "retry" and level < self.options.retries
                if not again:
                    raise SimulationError(self._failure(report), self.problem(), report)
            if not again:
                self._want(level, gain)
                return after, self._taken_back(after, report, level)
            self._recall(memory)
        middle, first = self._attempt(state, 0.5 * h, level + 1)
        after, second = self._attempt(middle, 0.5 * h, level + 1)
        return after, ledger.joined(first, second)

    @property
    def _halvings(self) -> int:
        return min(GAINING, self.options.most_halvings)

    def _want(self, level: int, gain: float) -> None:
        """How often the next step is to be divided: as this one, unless parts so much longer would
        do. Steps that change their length at every other turn drift in energy."""
        while level > 0 and gain <= 1.0 / GROWTH:
            level, gain = level - 1, gain * GROWTH
        self.jointed.wanted = max(self.jointed.wanted, min(level, self._halvings))

    def _gain(self, report: StepReport) -> float:
        """Energy that joints made or lost in this step, of what they may: links that turn far in
        it, as in a whip's crack, meet conditions at its end that its middle would not."""
        if self.jointed.joints is None or not self._halvings:  # asking for rows may store them
            return 0.0
        rows, solved, work = self.rows, self.solved, self.work
        if rows is None or rows.blocks is None or solved is None or not work:
            return 0.0
        tied = (rows.joint >= 0) & (rows.blocks.action[rows.joint] < 0)
        # v0 fits the rows of the middle of the last step, v those of this one's: in parts of
        # unequal length it is so weighted a mean that fits those between them
        late = 0.5 if self.options.order == 2 else 1.0 - 0.5 * work.h / work.kick
        mean = rows.velocities((1.0 - late) * work.v0 + late * solved.v)[tied]
        made = float((solved.r[tied] * mean).sum())
        model = self.model
        weight = float(model.mass.sum()) * float((model.gravity**2).sum())
        pushed = (work.force[:, : model.dim] ** 2).sum(axis=1) @ model.inverse_mass
        still = 0.5 * work.h**2 * (weight + float(pushed))  # what a step of gravity and loads gives
        most = max(report.energy.kinetic, work.energy[0], still)
        if abs(made) > GAIN * most:  # and what motors and contacts give, that joints answer
            kick = np.zeros_like(work.v0)
            rows.push(np.where(tied[:, None], 0.0, solved.r), kick)
            most = max(most, still + kinetic(model, work.inertia, kick))
        return abs(made) / (GAIN * most) if made != 0.0 else 0.0

    def _taken_back(self, after: State, report: StepReport, level: int) -> StepReport:
        """The report of a step that is as short as steps get; energy that its joints still made is
        taken from the velocities of the bodies they hold, which stay as joints allow."""
        joints = self.jointed.joints
        if joints is None:
            return report
        book, most = report.energy, self._halvings
        made = book.change - book.loads - book.driving + self._late()  # contacts only lose
        if most == 0 or level < most or not made > GAIN * book.kinetic:
            return report
        held = np.zeros(self.model.nb, bool)
        held[joints.body[joints.body >= 0]] = True
        held &= self.dynamic
        own = replace(after, velocity=np.where(held[:, None], after.velocity, 0.0))
        had = energy(self.model, own)[0]
        left = max(had - made, 0.0)
        after.velocity[held] *= np.sqrt(left / had) if had > 0.0 else 0.0
        lost = had - left
        book = replace(
            book, kinetic=book.kinetic - lost, change=book.change - lost,
            constraint=book.constraint - lost,
        )  # fmt: skip
        return replace(report, energy=book)

    def _late(self) -> float:
        """Energy [J] that gravity gives to velocities, which are late, once they are not, less
        that at the start of the step: parts of other lengths are late by other times."""
        model, work, solved = self.model, self.work, self.solved
        if self.options.order == 2 or work is None or solved is None:
            return 0.0
        late = 0.5 * work.h * solved.v - (work.kick - 0.5 * work.h) * work.v0
        weight = np.where(self.dynamic, model.mass, 0.0)
        return float(weight @ (late[:, : model.dim] @ model.gravity))

    def _memory(self) -> Any:
        """What a step leaves for the next one."""
        jointed = self.jointed
        joints = self.model, jointed.joints, jointed.lost, jointed.turns, jointed.behind
        return self.warm.copy(), self.sleepers.copy(), joints, self.least.known

    def _recall(self, memory: Any) -> None:
        jointed = self.jointed
        self.warm, self.sleepers, joints, self.least.known = memory
        self.model, jointed.joints, jointed.lost, jointed.turns, jointed.behind = joints

    def snapshot(self) -> Parts:
        """What the next step depends on, beside the state."""
        return {
            "warm": self.warm.snapshot(), "solver": self.solver.snapshot(),
            "bouncer": self.bouncer.snapshot(), "sleepers": self.sleepers.snapshot(),
            "jointed": self.jointed.snapshot(), "least": self.least.snapshot(self.model.joints),
            "detector": self.detector.state(),
        }  # fmt: skip

    def restore(self, known: Parts, model: Model) -> None:
        """Take over what ``snapshot`` gave, whatever steps were made since; model: with all its
        joints, also those that broke."""
        self._lose(known["jointed"]["lost"], model)
        self.rows = self.solved = self.work = None
        for name in ("warm", "solver", "bouncer", "sleepers", "jointed", "detector"):
            getattr(self, name).restore(known[name])
        self.least.restore(known.get("least", {}), self.model.joints)

    def _lose(self, joints: Ints, model: Model) -> None:
        """Go on with a model but for these joints, which broke."""
        if not np.array_equal(joints, self.jointed.lost):
            self.jointed.lost = joints
            self.adopt(model)

    def _failure(self, report: StepReport) -> str:
        names = self.model.names
        if report.jammed:
            return f"at t = {report.time - report.dt:.6g} s {'; '.join(report.log)}"
        where = ""
        if self.rows is not None and self.solved is not None and self.solved.failed >= 0:
            k = self.solved.failed
            lo, hi = self.rows.start[k], self.rows.start[k + 1]
            body = int(self.rows.body[lo:hi].max())
            where = f" of {hi - lo} contacts that holds body {names[body]!r}"
        if not report.energy.closes and not where:
            return (
                f"at t = {report.time - report.dt:.6g} s the energy ledger does not close: "
                f"{report.energy.unexplained:.2e} J are unexplained"
            )
        return (
            f"at t = {report.time - report.dt:.6g} s the friction problem{where} was not solved: "
            f"{report.status.value} (residual {report.residual:.2e}, wanted "
            f"{self.options.tol:.0e}); sim.save_problem(file) writes it"
        )

    def _advance(self, state: State, h: float) -> tuple[State, StepReport]:
        if self.jointed.joints is None:
            self.jointed.behind = 0.5 * h
        # velocities lie half a step behind the positions, whatever the length of that step was:
        # forces lead them from the middle of the last step to that of this one
        kick = self.jointed.behind + 0.5 * h
        explicit = self.options.rotation == "explicit"
        work, found, hits, solved, rows, outer = self._met(
            lambda: Work(self.model, state, h, explicit, kick), h
        )
        self.least(self.model, rows, solved.r)
        work.stage("solve")
        after = self._drift(work, solved.v, h)
        held, now = self.jointed.joints, self.jointed.coordinates
        opening, gone = self.jointed.finish(work, rows, solved, after, self.size)
        if held is not None and now is not None:
            work.springs = tuple(stored_by_joints(held, s, now.value) for s in (state, after))
        if gone:
            self.model = replace(self.model, joints=self.jointed.joints)
        self.warm.keep(self.model, rows, solved, work.kick)
        self.jointed.behind = 0.5 * h
        asleep = self.sleepers.judge(work, rows, after.velocity, self.sizes, h)
        work.stage("drift")
        report = ledger.report(work, rows, solved, hits, found, after, h, self.options)
        solved.r = self.jointed.spread(solved.r)
        report = self._deepest(report, found)
        report = replace(report, joint_error=opening, broken=gone, redundant=self.least.count)
        return after, replace(report, asleep=asleep, outer=outer)

    def _met(self, begin: Callable[[], Work], h: float) -> Met:
        """Contacts of a step and its impulses; looked for again where bodies went further than
        contacts were looked for, because a motor started or a blow reached them: at most LOOKS
        times."""
        travel, iterations = np.zeros(self.model.nb), 0
        for look in range(LOOKS + 1):
            work = self.work = begin()
            work.travel = travel
            work.stage("forces")
            found = self._contacts(work)
            work.stage("contacts")
            rows = self.rows = self._rows(work, found)
            work.stage("rows")
            hits = self._collisions(work, rows, h)
            work.stage("impacts")
            solved, rows, outer = self._solve(work, rows, h)
            self.rows, self.solved = rows, solved
            solved.iterations += iterations
            if look == LOOKS or not self._outran(work, solved.v):
                break
            travel, iterations = work.travel, solved.iterations
        return work, found, hits, solved, rows, outer

    def _outran(self, work: Work, v: Floats) -> bool:
        """Whether a body went further with velocities v than contacts were looked for, by more than
        may be left of depth and than forces move it in a step, and meets another there;
        work.travel then says how far all went."""
        if self.options.active_gap is not None or not work.drifts:  # who names a distance gets it
            return False
        travel = np.empty(self.model.nb)
        body_reach(v, self.sizes, work.h, travel)
        spare = self.options.max_depth * np.where(np.isfinite(self.sizes), self.sizes, 0.0)
        spare += work.h * np.sqrt(((work.v_free - work.v0)[:, : self.model.dim] ** 2).sum(axis=1))
        if not (self.dynamic & (travel > work.reach + spare)).any():
            return False
        work.travel = np.maximum(work.travel, travel)
        return self.rows is None or self._misses(work.state, v, work.h, work.travel, self.rows)

    def _misses(self, state: State, v: Floats, h: float, travel: Floats, rows: Rows) -> bool:
        """Whether bodies that travel so far with velocities v meet others which `rows` do not know;
        leaves no trace in later steps."""
        body = self.model.geoms.body
        known = self.detector.state()
        found = self._within(state, travel[body])
        self.detector.restore(known)
        here = rows.contacts
        pairs = set(zip(here.geom_a.tolist(), here.geom_b.tolist(), strict=True))
        new = [
            pair not in pairs
            for pair in zip(found.geom_a.tolist(), found.geom_b.tolist(), strict=True)
        ]
        if not any(new):
            return False
        found = select(found, np.array(new))
        pair = np.stack([body[found.geom_a], body[found.geom_b]], axis=1)
        arm = [found.point - state.position[pair[:, s]] for s in (0, 1)]
        speed = bodies.relative_speed(v, pair, arm, found.normal)
        # normals turn with bodies: what nearly closes may close
        return bool((found.gap + h * speed <= TURNS * travel[pair].sum(axis=1)).any())

    def _deepest(self, report: StepReport, found: Contacts) -> StepReport:
        """With the bodies that were deepest in each other, one that was not solved, and jams."""
        part, pair = bodies.deepest(self.model, self.sizes, found)
        if self.solved is not None and self.solved.stalls and self.rows is not None:
            names, log = told(self.model, self.rows, self.solved.stalls)
            report = replace(report, jammed=names, log=log)
        return replace(
            report, relative_depth=part, deepest=pair, unsolved_body=self._unsolved_body()
        )

    def _unsolved_body(self) -> int:
        """A body of the island that was not solved, or -1."""
        if self.rows is None or self.solved is None or self.solved.failed < 0:
            return -1
        k = self.solved.failed
        return int(self.rows.body[self.rows.start[k] : self.rows.start[k + 1]].max(initial=-1))

    def _contacts(self, work: Work) -> Contacts:
        """Contacts within what bodies can travel in this step, and a little beyond."""
        model, geoms = self.model, self.model.geoms
        work.reach = np.empty(model.nb)
        fastest = body_reach(work.v_free, self.sizes, work.h, work.reach)
        finite = np.where(np.isfinite(self.sizes), self.sizes, 0.0)
        work.reach = np.maximum(work.reach, work.travel)
        fastest = max(fastest, float(work.travel.max(initial=0.0)))
        work.reach += SLACK * finite
        gap = self.options.active_gap
        if gap is None or gap == "predicted":
            mine = work.reach[geoms.body]
            size = np.where(np.isfinite(geoms.radius), geoms.radius, np.inf)
            margin = np.maximum(mine, np.minimum(fastest, NEAR * size))
        else:
            margin = np.full(len(geoms), 0.5 * gap)
        return self._within(work.state, margin)

    def _within(self, state: State, margin: Floats) -> Contacts:
        """Contacts nearer than margin[a] + margin[b], (ng,) [m]."""
        return self.detector.contacts(*bodies.geom_poses(self.model, state), margin)

    def _rows(self, work: Work, found: Contacts) -> Rows:
        model, body = self.model, self.model.geoms.body
        pair = np.stack([body[found.geom_a], body[found.geom_b]], axis=1)
        gap = self.options.active_gap
        keep = np.empty(len(found), bool)
        moves = self.sleepers.wake(model, self.dynamic, pair, found.gap, work)
        if gap is None:
            nb = model.nb
            activate(pair, found.gap, work.reach, moves, np.empty(nb, np.int64), np.empty(nb), keep)
        elif gap == "predicted":
            arm = [found.point - work.state.position[pair[:, s]] for s in (0, 1)]
            v = np.where(self.dynamic[:, None], work.v0, work.v_free)
            speed = bodies.relative_speed(v, pair, arm, found.normal)
            keep = found.gap + work.h * speed <= 0.0
        else:
            keep = found.gap <= gap
        if self.sleepers.any:
            keep &= moves[pair].any(axis=1)
        chosen = found if keep.all() else select(found, keep)
        return self._make_rows(work, moves, chosen)

    def _make_rows(self, work: Work, moves: Bools, contacts: Contacts) -> Rows:
        turn = work.turn() if self.turned else None
        return step_rows(
            self.model,
            moves,
            np.where(moves, self.model.inverse_mass, 0.0),
            work.inverse_inertia if moves.all() else bodies.only(work.inverse_inertia, moves),
            work.state.position,
            turn,
            contacts,
            self.options.shape,
            moving(self.jointed.blocks(work), moves),
        )

    def _collisions(self, work: Work, rows: Rows, h: float) -> Impact:
        if self.options.restitution == "none" or rows.nc == 0:
            return Impact(work.v0, np.zeros_like(work.v0), 0, [])
        gravity = float(np.linalg.norm(self.model.gravity))
        half = self.jointed.behind / work.kick * (work.v_free - work.v0)
        hits = collide(rows, work.v0, half, h, gravity, self.size, self.bouncer)
        if hits.collisions:
            work.begin(hits.v - half)
        return hits

    def _solve(
        self, work: Work, rows: Rows, h: float, near: Floats | None = None
    ) -> tuple[Solved, Rows, int]:
        """The step's impulses; with M at the end of the step, until it settles. near: where
        to start from, if not from the last step's."""
        self.solver.jams = False
        bias = np.zeros((rows.nc, rows.d))
        if self.options.stabilize:
            size = self.sizes[rows.body].min(axis=1)
            slack = self.options.slop * np.where(np.isfinite(size), size, 1.0)
            gap = rows.contacts.gap
            bias[:, 0] = (gap - np.clip(gap, -slack, slack)) / h
        if rows.blocks is not None:
            tied = ~rows.touching
            bias[tied] = rows.blocks.bias[rows.joint[tied]]
        at = self.warm.find(self.model, rows)
        rest = h * float(np.sqrt((self.model.gravity**2).sum()))
        guess = near
        if near is None and self.options.warm_start:
            guess = self.warm.guess(rows, at, work.kick)

        def once(bias: Floats, guess: Floats | None) -> Solved:
            args = (at, self.warm, self.solver, rest)
            return solve_friction(rows, bias, work.v_free, guess, *args)

        solved = self.jointed.solve(rows, bias, once, lambda v: self._arrival(work, v, h), h, guess)
        if self.options.mass == "start" or self.model.dim == 2:
            return solved, rows, 1
        outer = 1
        while outer < OUTER:
            outer += 1
            work.inertia_at(self._turned(work, solved.v, h))
            rows = self._make_rows(work, rows.moves, select(rows.contacts, rows.touching))
            last, work.softening = solved.v, 0.0  # of M alone
            solved = self.jointed.once(rows, bias, once, solved.r)
            change = np.abs(solved.v - last).max(initial=0.0)
            if change <= SETTLED * max(1e-3, np.abs(last).max(initial=0.0)):
                break
        return solved, rows, outer

    def _turned(self, work: Work, v: Floats, h: float) -> Floats:
        position, orientation = work.state.position.copy(), work.state.orientation.copy()
        rigid.drift_spatial(
            self.model.inertia, self.model.inverse_inertia, False, v.copy(), h, position,
            orientation,
        )  # fmt: skip
        return orientation

    def _drift(self, work: Work, v: Floats, h: float) -> State:
        """The state after a step with velocities v; bodies that run away end the run."""
        after = self._arrival(work, v, h)
        bodies.check_finite(self.model, after, work.force, h)
        return after

    def _arrival(self, work: Work, v: Floats, h: float) -> State:
        """The state after a step with velocities v, whatever they are."""
        model, state = self.model, work.state
        after = State(state.time + h, state.position.copy(), state.orientation.copy(), v.copy())
        if model.dim == 2:
            rigid.drift_planar(after.velocity, h, after.position, after.orientation)
        else:
            flow = self.options.rotation == "flow"
            rigid.drift_spatial(
                model.inertia, model.inverse_inertia, flow, after.velocity, h, after.position,
                after.orientation,
            )  # fmt: skip
        for i, motion in model.motions:
            after.position[i], after.orientation[i] = motion.pose(after.time)
        return after

    def check_start(self, state: State) -> None:
        """Bodies that start inside each other are refused, by name and depth."""
        bodies.check_finite(self.model, state)
        if self.options.overlap == "allow":
            return
        found = self._contacts(Work(self.model, state, self.options.dt, False))
        bodies.check_apart(self.model, self.sizes, found, "TimeStepping")

    def problem(self) -> FrictionProblem | None:
        """The last step's friction problem (all islands), or None without contacts."""
        if self.rows is None or self.solved is None or self.rows.nc == 0:
            return None
        mu, q = self.solved.mu, self.solved.q
        return island_problem(self.rows, 0, self.rows.nc, mu, q, self.options)

    def penetration(self, state: State) -> float:
        """Greatest depth of any contact in a state [m]; leaves no trace in later steps."""
        return float(np.maximum(-self.overlaps(state).gap, 0.0).max(initial=0.0))

    def overlaps(self, state: State) -> Contacts:
        """All contacts in a state; leaves no trace in later steps."""
        known = self.detector.state()
        found = self._contacts(Work(self.model, state, self.options.dt, False))
        self.detector.restore(known)
        return found
