"""The penalty method: springs of contacts and joints, an ordinary differential equation, and its
energy ledger."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
from scipy import integrate

from drystone.constraints.joints.forces import joint_forces
from drystone.constraints.joints.rows import free_coordinates, joint_extra_rows, joint_rows
from drystone.dynamics import bodies
from drystone.dynamics.bodies import relative_velocity
from drystone.dynamics.frames import product
from drystone.errors import ModelError, SimulationError
from drystone.geometry.detector import Detector
from drystone.kernels import joints_coupled as acts
from drystone.kernels.penalty import (
    DAMPER,
    DRIVEN,
    RUBBING,
    SPRING,
    SpringContacts,
    SpringLaw,
    contact_springs,
)
from drystone.model import Contacts, Joints, Model, State
from drystone.steppers.base import Stepper, StepReport, depth
from drystone.steppers.penalty.options import Penalty
from drystone.steppers.snapshot import Parts
from drystone.steppers.tables import contact_table, joint_table
from drystone.types import Floats, Ints

SOLVERS = {
    "rk45": integrate.RK45,
    "dop853": integrate.DOP853,
    "lsoda": integrate.LSODA,
    "radau": integrate.Radau,
    "bdf": integrate.BDF,
}
# [m or rad] by which joints that are added to a run may be open: springs throw bodies
OPEN_JOINT = 1e-3
LOOSE = 1e30  # [J] tolerance of the ledger: it follows the motion and does not steer it
LOADS = 4  # after those of the kernel: what `power` holds, forces other than springs
WORKS = LOADS + 1


@dataclass(slots=True)
class Instant:
    """acceleration (nb, dof) of the bodies; power (5,) [W]: of springs, dampers, friction, driven
    bodies, loads.

    contacts: those found; body (nc, 2), f (nc, dim) [N] on A, mu (nc,); joint (nr,): forces of
    the joints' rows; action (ne,): of what acts on their coordinates.
    """

    acceleration: Floats
    power: Floats
    contacts: Contacts
    body: Ints
    f: Floats
    mu: Floats
    joint: Floats
    action: Floats


class Springs:
    """Turns states of a model into forces; counts how often."""

    def __init__(self, options: Penalty) -> None:
        self.options = options
        self.evaluations = 0

    def adopt(self, model: Model, detector: Detector) -> None:
        if model.axis.any():
            name = model.names[int(np.argmax(model.axis.any(axis=1)))]
            raise ModelError(f"body {name!r}: the penalty method has no anisotropic friction")
        self.model = model
        self.moves = model.inverse_mass > 0
        self.detector = detector

    def __call__(self, state: State, turns: Floats | None) -> Instant:
        """turns (nq,): coordinates of the joints lately, from which their angles are counted."""
        model, options = self.model, self.options
        self.evaluations += 1
        power = np.zeros(WORKS)
        force = bodies.loads(self.model, state)
        power[LOADS] = (force[self.moves] * state.velocity[self.moves]).sum()
        x, R = bodies.geom_poses(model, state)
        found = self.detector.contacts(x, R, np.zeros(len(model.geoms)))
        body = np.stack([model.geoms.body[found.geom_a], model.geoms.body[found.geom_b]], axis=1)
        mu = bodies.materials(model, body)[0]
        f = np.empty((len(found), model.dim))
        law = SpringLaw(*map(float, (options.stiffness, options.damping, options.slip_speed)))
        contact_springs(
            SpringContacts(body, found.point, found.normal, found.gap, mu[:, 1]), law, self.moves,
            state.position, state.velocity, force, f, power,
        )  # fmt: skip
        tied, acting = self._joints(state, turns, force, power)
        inverse = bodies.inverse_inertia(model, state)
        a = bodies.accelerations(model, state, force, inverse)
        return Instant(a, power, found, body, f, mu[:, 1], tied, acting)

    def _joints(
        self, state: State, turns: Floats | None, force: Floats, power: Floats
    ) -> tuple[Floats, Floats]:
        """Add the springs of joints and what acts on their coordinates."""
        joints, options = self.model.joints, self.options
        if joints is None or not len(joints):
            return np.empty(0), np.empty(0)
        k = options.stiffness if options.joint_stiffness is None else options.joint_stiffness
        c = options.damping if options.joint_damping is None else options.joint_damping
        q = free_coordinates(joints, state, turns)
        rows = joint_rows(joints, state, q)
        speed = self._speeds(rows.body, rows.J, state)
        elastic, damped = -k * rows.error, -c * speed
        power[SPRING] += elastic @ speed
        power[DAMPER] += damped @ speed
        self._push(rows.body, rows.J, elastic + damped, state, force, power)
        at = joints.action_coordinate
        J, ends = q.J[at], joints.coordinate_body[at]
        speed = self._speeds(ends, J, state)
        acting, stored = _actions(
            joints.action_kind, joints.action_numbers, q.value[at], speed, k, c, options.slip_speed
        )
        power[SPRING] += stored @ speed
        power[LOADS] += (acting - stored) @ speed
        self._push(ends, J, acting, state, force, power)
        return elastic + damped, acting

    def _speeds(self, body: Ints, J: Floats, state: State) -> Floats:
        sides = np.where((body >= 0)[:, :, None], state.velocity[body], 0.0)
        out: Floats = (J * sides).sum(axis=(1, 2))
        return out

    def _push(
        self, body: Ints, J: Floats, f: Floats, state: State, force: Floats, power: Floats
    ) -> None:
        for side in (0, 1):
            held = body[:, side] >= 0
            b, wrench = body[held, side], J[held, side] * f[held, None]
            np.add.at(force, b, wrench)
            driven = ~self.moves[b]
            power[DRIVEN] -= (wrench[driven] * state.velocity[b[driven]]).sum()


def _actions(
    kind: Ints, numbers: Floats, x: Floats, speed: Floats, k: float, c: float, slip: float
) -> tuple[Floats, Floats]:
    """Forces of limits, motors, friction and springs on coordinates x that move at `speed`, and
    the part of them that is a penalty and stores energy."""
    n0, n1, n2, n3 = numbers.T
    force, stored = np.zeros_like(x), np.zeros_like(x)
    beyond = x - n0
    out = (kind == acts.HOLD) | ((kind == acts.LOWER) & (beyond < 0))
    out |= (kind == acts.UPPER) & (beyond > 0)
    stored[out] = -k * beyond[out]
    force[out] = stored[out] - c * speed[out]
    rub = kind == acts.FRICTION
    force[rub] = -n0[rub] * speed[rub] / np.maximum(np.abs(speed[rub]), slip)
    spring = kind == acts.SPRING
    force[spring] = -n0[spring] * (x[spring] - n2[spring]) - n1[spring] * speed[spring]
    wanted = np.where(kind == acts.SPEED_MOTOR, n0, 0.0)
    place = kind == acts.POSITION_MOTOR
    wanted[place] = np.clip(n2[place] * (n0[place] - x[place]), -n3[place], n3[place])
    motor = place | (kind == acts.SPEED_MOTOR)
    most = np.where(np.isfinite(n1), n1, k * slip)  # strong enough is as strong as a spring
    force[motor] = (most * np.clip((wanted - speed) / slip, -1.0, 1.0))[motor]
    return force, stored


class PenaltyStepper(Stepper):
    """Integrates a model with springs for contacts and joints.

    The unknowns are what moved since the last report, so that tolerances do not depend on where
    the world's origin is: positions, orientations (quaternions by addition, normalised where they
    are used), velocities of the free bodies, and the work done by each kind of force.
    statistics: integrator steps and evaluations of the forces so far.
    """

    def __init__(self, options: Penalty, model: Model) -> None:
        self.options = options
        self.springs = Springs(options)
        self.steps = 0
        self.last: Instant | None = None
        self.now: State | None = None
        self._first: float | None = None
        self._held: Ints | None = None  # numbers of the joints in the last step
        super().__init__(model)

    def adopt(self, model: Model) -> None:
        """Go on with an edited model."""
        super().adopt(model)
        self.springs.adopt(model, self.detector)
        self.moves, self.sizes = self.springs.moves, bodies.radii(model)
        self._turns: Floats | None = None
        self.last = self._first = None

    def snapshot(self) -> Parts:
        own = {
            "turns": self._turns, "first": self._first, "steps": self.steps,
            "evaluations": self.springs.evaluations, "held": self._held,
        }  # fmt: skip
        return {"own": own, "detector": self.detector.state()}

    def restore(self, known: Parts, model: Model) -> None:
        self.last = self.now = None
        own = known["own"]
        self._turns, self._first, self._held = own.get("turns"), own.get("first"), own.get("held")
        self.steps = int(own["steps"])
        self.springs.evaluations = int(own["evaluations"])
        self.detector.restore(known["detector"])

    @property
    def turns(self) -> Floats | None:
        return self._turns

    @property
    def statistics(self) -> dict[str, int]:
        return {"steps": self.steps, "evaluations": self.springs.evaluations}

    def step(self, state: State, h: float) -> tuple[State, StepReport]:
        clock = perf_counter()
        began = self.springs.evaluations
        joints = self.model.joints
        if joints is not None and len(joints):
            self._turns = free_coordinates(joints, state, self._turns).value
            self._check_added(joints, state)
        self._held = np.empty(0, np.int64) if joints is None else joints.uid
        found = self.contacts(state)  # an edit may have put bodies into each other
        begin = depth(found), bodies.deepest(self.model, self.sizes, found)
        steps, y = self._integrate(state, h)
        after = self._unpack(state, state.time + h, y)
        bodies.check_finite(self.model, after, None, h)
        self.last, self.now = self.springs(after, self._turns), after
        self.steps += steps
        report = self._report(state, after, y[-WORKS:], h, steps)
        part, pair = max(begin[1], (report.relative_depth, report.deepest))
        return after, replace(
            report,
            evaluations=self.springs.evaluations - began,
            penetration=max(begin[0], report.penetration),
            relative_depth=part,
            deepest=pair,
            seconds={"integrate": perf_counter() - clock},
        )

    def _integrate(self, start: State, h: float) -> tuple[int, Floats]:
        options, n = self.options, int(self.moves.sum())
        turns = 1 if self.model.dim == 2 else 4
        size = n * (self.model.dim + turns + self.model.dof) + WORKS
        y = np.zeros(size)
        y[n * (self.model.dim + turns) : -WORKS] = start.velocity[self.moves].ravel()
        atol = np.full(size, options.atol)
        atol[-WORKS:] = LOOSE

        def rate(t: float, y: Floats) -> Floats:
            return self._rate(start, t, y)

        first = None if self._first is None else min(self._first, h)
        end = start.time + h
        ode = SOLVERS[options.integrator](
            rate, start.time, y, end, rtol=options.rtol, atol=atol, first_step=first
        )
        steps = 0
        while ode.status == "running":
            trouble = ode.step()
            steps += 1
            if ode.status == "failed" or steps >= options.max_steps:
                why = trouble or f"{steps} integrator steps were not enough (max_steps)"
                raise SimulationError(self._failure(start, ode.t, ode.y, why))
            if ode.status == "running" and ode.step_size:
                self._first = float(ode.step_size)
        return steps, np.asarray(ode.y)

    def _failure(self, start: State, t: float, y: Floats, why: str) -> str:
        where = ""
        found = self.contacts(self._unpack(start, t, y))
        if len(found):
            i = int(np.argmin(found.gap))
            body = self.model.geoms.body
            a, b = (self.model.names[body[g[i]]] for g in (found.geom_a, found.geom_b))
            where = f"; bodies {a!r} and {b!r} are {-found.gap[i]:.3g} m in each other"
        return (
            f"the penalty method stopped at t = {t:.6g} s: {why}{where}; springs this stiff "
            'may need integrator="radau"'
        )

    def _unpack(self, start: State, t: float, y: Floats) -> State:
        """The state of unknowns y at time t."""
        model, moves = self.model, self.moves
        n, dim = int(moves.sum()), model.dim
        out = State(t, start.position.copy(), start.orientation.copy(), start.velocity.copy())
        a = n * dim
        b = a + n * (1 if dim == 2 else 4)
        out.position[moves] += y[:a].reshape(n, dim)
        if dim == 2:
            out.orientation[moves] += y[a:b]
        else:
            q = out.orientation[moves] + y[a:b].reshape(n, 4)
            out.orientation[moves] = q / np.sqrt((q**2).sum(axis=1))[:, None]
        out.velocity[moves] = y[b:-WORKS].reshape(n, model.dof)
        for i, motion in model.motions:
            out.position[i], out.orientation[i] = motion.pose(t)
            out.velocity[i] = motion.velocity(t, 0.0)
        return out

    def _rate(self, start: State, t: float, y: Floats) -> Floats:
        state = self._unpack(start, t, y)
        now = self.springs(state, self._turns)
        dim, moves = self.model.dim, self.moves
        v = state.velocity[moves]
        if dim == 2:
            turning = v[:, 2]
        else:
            spin = np.zeros((len(v), 4))
            spin[:, 1:] = v[:, 3:]
            turning = 0.5 * product(spin, state.orientation[moves])
        return np.concatenate(
            [v[:, :dim].ravel(), turning.ravel(), now.acceleration[moves].ravel(), now.power]
        )

    def _check_added(self, joints: Joints, state: State) -> None:
        """Joints that an edit added with their anchors apart are refused, by name."""
        if self._held is None:
            return
        added = ~np.isin(joints.uid, self._held)
        rows = joint_rows(joints, state, free_coordinates(joints, state, self._turns))
        error = np.where(added[joints.row_joint], np.abs(rows.error), 0.0)
        if error.max(initial=0.0) > OPEN_JOINT:
            worst = int(error.argmax())
            joint = int(joints.row_joint[worst])
            names = self.model.names
            a, b = ("the world" if i < 0 else repr(names[i]) for i in joints.body[joint])
            raise ModelError(
                f"joint {joints.names[joint]!r} was added at t = {state.time:.6g} s while it is "
                f"open by {error[worst]:.3g} m or rad between {a} and {b}: its spring would throw "
                "them; move them together, or use TimeStepping, which closes it in one step"
            )

    def _report(
        self, before: State, after: State, power: Floats, h: float, steps: int
    ) -> StepReport:
        model, now = self.model, self.last
        if now is None:
            raise RuntimeError("a report of no step")
        joints = model.joints
        work = {
            "loads": float(power[LOADS]), "driving": float(power[DRIVEN]),
            "friction": float(power[RUBBING]), "impact": float(power[DAMPER]),
            "constraint": float(power[SPRING]),
        }  # fmt: skip
        opening = 0.0
        if joints is not None and len(joints):
            q = free_coordinates(joints, after, self._turns)
            opening = float(np.abs(joint_rows(joints, after, q).error).max(initial=0.0))
        touching = int((now.contacts.gap < 0).sum())
        part, pair = bodies.deepest(model, self.sizes, now.contacts)
        return self.report(
            self.energies(before), after, h, work,
            iterations=steps, methods=(self.options.integrator,), contacts=touching,
            penetration=depth(now.contacts), joint_error=opening, relative_depth=part,
            deepest=pair,
        )  # fmt: skip

    def contact_table(self) -> np.ndarray:
        """Points in penetration; impulse is that of the force over dt."""
        model, last, state = self.model, self.last, self.now
        if last is None or state is None:
            return contact_table(model.names, model.dim, 0)
        found = last.contacts
        table = contact_table(model.names, model.dim, len(found))
        if len(found) == 0:
            return table
        table["bodies"] = np.array(model.names, dtype=np.str_)[last.body]
        table["point"], table["normal"] = found.point, found.normal
        table["gap"], table["feature"] = found.gap, found.feature
        table["force"], table["impulse"] = last.f, last.f * self.options.dt
        arm = [found.point - state.position[last.body[:, s]] for s in (0, 1)]
        u = relative_velocity(state.velocity, last.body, arm)
        table["velocity"], table["friction"] = u, last.mu
        un = np.einsum("ij,ij->i", u, found.normal)
        speed = np.linalg.norm(u - un[:, None] * found.normal, axis=1)
        moving = np.where(speed > self.options.slip_speed, "slip", "stick")
        table["state"] = np.where(last.f.any(axis=1), moving, "open")
        return table

    def joint_table(self) -> np.ndarray:
        """Force and torque of each joint at the end of the step."""
        joints, last, state = self.model.joints, self.last, self.now
        if joints is None or last is None or state is None or not len(joints):
            return joint_table(self.model.names, None, None)
        q = free_coordinates(joints, state, self._turns)
        rows = joint_rows(joints, state, q)
        extra = joint_extra_rows(self.model, state, 1.0, q)
        wrench = joint_forces(joints, state, rows, last.joint, 1.0, extra, last.action)
        return joint_table(self.model.names, joints, wrench)
