"""The object that steps a model by events, frame by frame."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

import numpy as np

from drystone.constraints.joints.edit import carry_values, without
from drystone.constraints.joints.forces import broken, joint_forces
from drystone.constraints.joints.rows import joint_extra_rows, joint_rows
from drystone.dynamics import bodies
from drystone.model import Contacts, Joints, Model, State
from drystone.steppers.base import Conditions, Stepper, StepReport, depth
from drystone.steppers.event_driven.active_contacts import Rows
from drystone.steppers.event_driven.event_clusters import ClusterSteps
from drystone.steppers.event_driven.force_log import contacts_of
from drystone.steppers.event_driven.forces import (
    Alternative,
    Tolerances,
    solutions,
)
from drystone.steppers.event_driven.forces.methods import friction_problem
from drystone.steppers.event_driven.forces.system import System
from drystone.steppers.event_driven.frame_log import FrameLog
from drystone.steppers.event_driven.guards import Guard
from drystone.steppers.event_driven.loop import Loop
from drystone.steppers.event_driven.mechanics import Mechanics
from drystone.steppers.event_driven.mode import Evaluation
from drystone.steppers.event_driven.options import EventDriven
from drystone.steppers.event_driven.resolve_instant import InstantResolver
from drystone.steppers.event_driven.sleep import SleepingIslands
from drystone.steppers.event_driven.vector import CONSTRAINT, DRIVING, FRICTION, LOADS
from drystone.steppers.snapshot import Parts
from drystone.steppers.tables import contact_table, joint_table
from drystone.types import Floats, Ints

ASIDE = 10.0  # times rtol: part of a straight slip that may be across it


class EventStepper(Stepper):
    """Steps a model by ``EventDriven``; keeps index sets and the length of steps."""

    def __init__(self, options: EventDriven, model: Model) -> None:
        self.options = options
        self.method = options.forces()
        self.log = FrameLog()
        self.lost: Ints = np.empty(0, np.int64)
        self.wrench: tuple[Floats, Floats] | None = None
        self.loaded_joints: Joints | None = None
        self._loop: Loop | None = None
        self._shown: Loop  # that made the last frame, with joints that broke at its end
        super().__init__(model)

    def adopt(self, model: Model) -> None:
        """Go on with an edited model."""
        joints, turns = model.joints, None
        if joints is not None and np.isin(joints.uid, self.lost).any():
            joints, _ = without(joints, np.isin(joints.uid, self.lost))
            model = replace(model, joints=joints)
        self.look_for_contacts(model)
        if self._loop is not None:
            known = self._loop.mechanics
            if joints is not None and known.turns is not None:
                turns = carry_values(known.model.joints, known.turns, joints)
        self._set_up(model, turns)
        self._shown = self.loop

    def _set_up(self, model: Model, turns: Floats | None) -> None:
        o = self.options
        self.model = model
        mechanics = Mechanics(model, self.detector, o.touch, o.rtol)
        mechanics.turns = turns
        tolerances = Tolerances(normal=o.rest_speed, slip=o.slip_speed)
        guard = Guard(o.guards)
        resolver = InstantResolver(
            mechanics, o.law, self.method, tolerances, o.touch, o.turning_speed, guard,
            ASIDE * o.rtol,
        )  # fmt: skip
        hint = None if self._loop is None else self._loop.hint
        clusters = ClusterSteps(model, o.guards.cluster_step, o.touch)
        self._loop = Loop(mechanics, resolver, clusters, guard, o.integrator, o.rtol, o.atol)
        self._loop.hint = hint
        self.method.forget()

    def snapshot(self) -> Parts:
        return {
            "own": {"lost": self.lost}, "loop": self.loop.snapshot(),
            "forces": self.method.snapshot(), "detector": self.detector.state(),
        }  # fmt: skip

    def restore(self, known: Parts, model: Model) -> None:
        """A new loop, so that nothing of the steps since is left."""
        lost = known["own"]["lost"]
        if np.array_equal(lost, self.lost):
            self._set_up(self.model, None)
            self._shown = self.loop
        else:
            self.lost = lost
            self.adopt(model)
        self.log, self.wrench, self.loaded_joints = FrameLog(), None, None
        self.loop.restore(known["loop"])
        self.method.restore(known["forces"])
        self.detector.restore(known["detector"])

    @property
    def loop(self) -> Loop:
        if self._loop is None:
            raise ValueError("no model")
        return self._loop

    @property
    def mechanics(self) -> Mechanics:
        return self.loop.mechanics

    @property
    def turns(self) -> Floats | None:
        return self.mechanics.turns

    def step(self, state: State, h: float) -> tuple[State, StepReport]:
        begin = perf_counter()
        loop, log = self.loop, FrameLog()
        counts = self.method.statistics
        tried, reused, iterations = counts.tried, counts.reused, counts.iterations
        before = self.energies(state)
        # a copy: whoever moves bodies must not move what the loop remembers of them
        after = loop.advance(state, state.time + h, log).copy()
        self.log = log
        bodies.check_finite(self.model, after)
        self._shown = loop
        report = self._report(before, after, h, log, loop.last)
        gone = self._break(loop.last)
        tried, reused = counts.tried - tried, counts.reused - reused
        return after, replace(
            report,
            broken=gone,
            iterations=counts.iterations - iterations,
            reuse=reused / tried if tried else 1.0,
            seconds={"all": perf_counter() - begin},
        )

    def _report(
        self,
        before: tuple[float, float, float],
        after: State,
        h: float,
        log: FrameLog,
        now: Evaluation | None,
    ) -> StepReport:
        work, sleeping = self.loop.work, self.mechanics.sleeping
        energy = {
            "loads": float(work[LOADS]), "driving": float(work[DRIVING]) + log.driving,
            "friction": float(work[FRICTION]), "impact": log.impact_energy,
            "constraint": float(work[CONSTRAINT]), "integration": log.integration,
        }  # fmt: skip
        error = 0.0 if now is None else np.abs(now.rows.jointed.bilateral.error).max(initial=0.0)
        found = self.overlaps(after)
        part, pair = bodies.deepest(self.model, self.mechanics.sizes, found)
        report = self.report(
            before,
            after,
            h,
            energy,
            status=log.status,
            residual=log.residual,
            residual_unit=log.residual,
            iterations=0,
            methods=(self.options.integrator, self.method.solver.name),
            contacts=(0 if now is None else now.rows.nr) + sleeping.contacts,
            islands=(0 if now is None else self._islands) + len(sleeping),
            penetration=depth(found),
            relative_depth=part,
            deepest=pair,
            conditions=_conditions(now),
            collisions=log.collisions,
            impact_energy=log.impact_energy,
            outer=log.steps,
            joint_error=float(error),
            evaluations=log.evaluations,
            events=tuple(log.events),
            log=tuple(log.sentences),
        )
        last = self.loop.clusters.report
        if last is None:
            return report
        return replace(
            report, contacts=last.contacts, islands=last.islands, conditions=last.conditions,
            methods=(*report.methods, *last.methods), joint_error=last.joint_error,
        )  # fmt: skip

    def _break(self, now: Evaluation | None) -> tuple[str, ...]:
        """Read joint reactions, and remove the joints whose strength they exceed; returns their
        names."""
        joints = self.model.joints
        self.loaded_joints, self.wrench = None, None
        if joints is None or not len(joints):
            return ()
        if self.loop.clusters.report is not None:
            self.wrench = self.loop.clusters.stepper.wrench
        elif now is not None:
            self.wrench = self._joint_reactions(joints, now)
        if self.wrench is None:
            return ()
        self.loaded_joints = joints
        over = broken(joints, *self.wrench)
        if not over.any():
            return ()
        self.lost = np.union1d(self.lost, joints.uid[over])
        left, kept = without(joints, over)
        turns = self.mechanics.turns
        self._set_up(replace(self.model, joints=left), None if turns is None else turns[kept])
        return tuple(name for name, gone in zip(joints.names, over, strict=True) if gone)

    def _joint_reactions(self, joints: Joints, now: Evaluation) -> tuple[Floats, Floats]:
        """Forces and torques of the joints."""
        state, q = now.state, now.rows.jointed.q
        acting = np.zeros(joints.action_kind.size)
        acts, nr = now.rows.jointed.acts, now.rows.nr
        mine = np.flatnonzero(np.isin(acts.action, self._acting(now)))
        place = np.where(acts.loaded[mine], 1, 0)
        acting[acts.action[mine]] = acts.sign[mine] * now.f[nr + np.arange(mine.size), place]
        extra = joint_extra_rows(self.model, state, 1.0, q) if joints.action_kind.size else None
        rows = joint_rows(joints, state, q)
        return joint_forces(joints, state, rows, now.joint[: joints.nr], 1.0, extra, acting)

    @property
    def _islands(self) -> int:
        """Islands of the last phase."""
        phase = self._shown.phase
        return 0 if phase is None else len(phase.mode.forces.islands)

    def _acting(self, now: Evaluation) -> Ints:
        phase = self._shown.phase
        return np.empty(0, np.int64) if phase is None else phase.mode.contact_set.acts

    def wake(self) -> None:
        self.mechanics.sleeping.clear()

    def overlaps(self, state: State) -> Contacts:
        last = None if self.loop.phase is None else self.loop.phase.last
        found = None if last is None or self.mechanics.sleeping else last.seen(state)
        if found is None:
            known = self.detector.state()
            found = self.mechanics.contacts(state, every=True)
            self.detector.restore(known)
        return found

    def check_start(self, state: State) -> None:
        """Bodies that start inside each other are refused, by name and depth."""
        bodies.check_finite(self.model, state)
        if self.options.overlap == "allow":
            return
        found = self.mechanics.contacts(state, every=True)
        bodies.check_apart(self.model, self.mechanics.sizes, found, "EventDriven")

    def contact_table(self) -> np.ndarray:
        """Contacts at the end of the frame; impulse: of the collisions within it, or, where it
        ended in a cluster of events, of its last step."""
        loop = self._shown
        now, phase = loop.last, loop.phase
        if loop.clusters.report is not None:
            return loop.clusters.stepper.contact_table()
        if now is None or phase is None:
            return contact_table(self.model.names, self.model.dim, 0)
        table = contacts_of(self.model, phase.mode, now, self.log)
        parts, count = [table], self._islands
        for k, table in enumerate(loop.mechanics.sleeping.tables.values()):
            asleep = table.copy()
            asleep["island"] = count + k
            parts.append(asleep)
        return np.concatenate(parts, dtype=table.dtype)  # else NumPy leaves out the padding of rows

    def joint_table(self) -> np.ndarray:
        return joint_table(self.model.names, self.loaded_joints, self.wrench)

    def problem(self) -> object:
        """The friction problem of the forces at the end of the frame, or None."""
        now = self._shown.last
        if self._shown.clusters.report is not None:
            return self._shown.clusters.stepper.problem()
        if now is None:
            return None
        state = (self._whole(now.state) if self.mechanics.sleeping else now.rows).state
        if state.nc == 0:
            return None
        return friction_problem(System(state, np.arange(state.nc), np.arange(state.nj)))

    def solutions(self, state: State) -> list[Alternative]:
        """All ways on from a state: forces and impulses (Baraff 1992, 12.4)."""
        rows = self._whole(state)
        return solutions(rows.state, points=rows.contacts.point, bodies=self.model.names)

    def _whole(self, state: State) -> Rows:
        """Rows of the instant with all that touches, islands at rest too."""
        resolver, sleeping = self.loop.resolver, self.mechanics.sleeping
        self.mechanics.sleeping = SleepingIslands(self.model)
        contact_set = resolver.touching(state)
        self.mechanics.sleeping = sleeping
        return contact_set.rows(state, None, resolver.tolerances)


def _conditions(now: Evaluation | None) -> Conditions:
    """The law of contact at the end of the frame, with forces and accelerations [N, m/s^2]."""
    if now is None or now.rows.nr == 0:
        return Conditions()
    nr, state = now.rows.nr, now.rows.state
    f, u, mu = now.f[:nr], state.u[:nr], state.mu[:nr]
    friction = np.sqrt((f[:, 1:] ** 2).sum(axis=1))
    power = float((f[:, 1:] * u[:, 1:]).sum())
    slip = np.sqrt((u[:, 1:] ** 2).sum(axis=1))
    return Conditions(
        least_impulse=float(f[:, 0].min()),
        least_velocity=float(u[:, 0].min()),
        complementarity=float((f[:, 0] * u[:, 0]).sum()),
        cone=float((friction - mu[:, 0] * f[:, 0]).max()),
        power=power,
        dissipation=float((mu[:, 1] * f[:, 0] * slip).sum()) + power,
    )
