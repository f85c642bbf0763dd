"""Everything that acts on bodies at one instant: loads, springs of contacts and of joints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drystone.constraints.joints.rows import free_coordinates, joint_rows
from drystone.dynamics import bodies
from drystone.errors import ModelError
from drystone.geometry.detector import Detector
from drystone.kernels import joints_coupled as acts
from drystone.kernels import rigid
from drystone.kernels.active import pair_materials
from drystone.kernels.penalty import (
    DAMPER,
    DRIVEN,
    RUBBING,
    SPRING,
    SpringContacts,
    SpringLaw,
    contact_springs,
)
from drystone.model import Contacts, Model, State
from drystone.steppers.penalty.options import Penalty
from drystone.types import Floats, Ints

LOADS = 4  # after those of the kernel: what `power` holds, forces other than springs
WORKS = LOADS + 1


@dataclass(slots=True)
class Instant:
    """force (nb, dof): all but gravity and the gyroscopic torque, which is in acceleration
    (nb, dof); power (5,) [W]: of springs, dampers, friction, driven bodies, loads.

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
        mu, eps = np.empty((2, len(found), 2))
        rules = model.rules
        pair_materials(
            body, model.friction, model.restitution, rules.key, rules.friction, rules.restitution,
            mu, eps,
        )  # fmt: skip
        f = np.empty((len(found), model.dim))
        law = SpringLaw(*map(float, (options.stiffness, options.damping, options.slip_speed)))
        contact_springs(
            SpringContacts(body, found.point, found.normal, found.gap, mu[:, 1]), law, self.moves,
            state.position, state.velocity, force, f, power,
        )  # fmt: skip
        tied, acting = self._joints(state, turns, force, power)
        a = self._acceleration(state, force)
        return Instant(a, power, found, body, f, mu[:, 1], tied, acting)

    def _acceleration(self, state: State, force: Floats) -> Floats:
        model, v = self.model, state.velocity
        out = np.empty_like(force)
        if model.dim == 2:
            kick, inverse = rigid.kick_planar, model.inverse_inertia
        else:
            inertia, inverse = np.empty_like(model.inertia), np.empty_like(model.inertia)
            rigid.to_world(model.inertia, state.orientation, inertia)
            rigid.to_world(model.inverse_inertia, state.orientation, inverse)
            rigid.gyroscopic(inertia, v, force)
            kick = rigid.kick_spatial
        zero = np.zeros_like(v)
        kick(model.inverse_mass, inverse, model.gravity, force, zero, 1.0, out)
        return out

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


__all__ = ["DAMPER", "DRIVEN", "LOADS", "RUBBING", "SPRING", "WORKS", "Instant", "Springs"]
