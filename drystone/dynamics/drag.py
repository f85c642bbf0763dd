"""A hand in the simulation: a body pulled to a moving point by a damped spring of limited force.

This is how the interactive simulations of 1994 were played with: a spring cannot ask for what
contacts and joints forbid, and a limit on its force keeps a wild move of the mouse harmless.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from drystone.dynamics import check
from drystone.dynamics.forces import BoundForce, Force, Names, index
from drystone.dynamics.frames import moment, rotation, rotations, spin_velocity, turned
from drystone.errors import ModelError, SimulationError
from drystone.model import Model, State
from drystone.types import BodyLike, Floats, Ints, VectorLike
from drystone.values import real, reals, text

PACE = 12.0  # [rad/s] of a mass on a grip's spring, where the step allows it
STABLE = 0.4  # greatest pace times step: forces are those of a step's start
STRONG = 8.0  # limit of the force, in weights of what is pulled
LEAST_GRAVITY = 9.81  # [m/s^2] that counts as gravity where there is less


@dataclass(slots=True, eq=False)
class Drag(Force):
    """Pull a point of a body to a target: stiffness (target - point) - damping velocity, of a size
    up to `limit`.

    body: its name or handle. point (dim,) [m]: in the body's own frame, its origin by default.
    target (dim,) [m], in the world: may be set at any time, and takes effect at the next step.
    stiffness [N/m], damping [N s/m]; limit [N], inf by default. It stores no energy: what the hand
    does is work of the loads.
    """

    body: BodyLike
    target: VectorLike
    point: VectorLike | None = None
    stiffness: float = 0.0
    damping: float = 0.0
    limit: float = np.inf

    @classmethod
    def bind(cls, forces: Sequence[Self], names: Names, dim: int) -> BoundForce:
        bodies, points = np.empty(len(forces), np.int64), np.zeros((len(forces), dim))
        numbers = np.empty((3, len(forces)))
        for i, drag in enumerate(forces):
            owner = f"Drag of {check.body_name('Drag', drag.body)!r}"
            bodies[i] = index(owner, drag.body, names)
            check.vector(owner, "target", drag.target, dim)
            if drag.point is not None:
                points[i] = check.vector(owner, "point", drag.point, dim)
            numbers[0, i] = check.not_negative(owner, "stiffness", drag.stiffness)
            numbers[1, i] = check.not_negative(owner, "damping", drag.damping)
            limit = real(drag.limit)
            if limit is None or not limit >= 0:
                raise ModelError(f"{owner}: limit = {text(drag.limit)}: expected 0 or more")
            numbers[2, i] = limit
        return _Drags(tuple(forces), bodies, points, numbers)


@dataclass(frozen=True, slots=True)
class _Drags:
    """numbers (3, n): stiffness, damping, limit. Targets are read from `drags` at every call."""

    drags: tuple[Drag, ...]
    body: Ints
    point: Floats
    numbers: Floats

    def add(self, model: Model, state: State, out: Floats) -> None:
        dim, (k, c, limit) = model.dim, self.numbers[:, :, None]
        arm = turned(rotations(state.orientation[self.body]), self.point - model.centre[self.body])
        velocity = state.velocity[self.body]
        speed = velocity[:, :dim] + spin_velocity(velocity[:, dim:], arm)
        target = self._targets(state.time, dim)
        pull = k * (target - state.position[self.body] - arm) - c * speed
        size = np.linalg.norm(pull, axis=1, keepdims=True)
        pull *= np.minimum(1.0, np.divide(limit, size, out=np.ones_like(size), where=size > 0))
        np.add.at(out, self.body, np.concatenate([pull, moment(arm, pull)], axis=1))

    def _targets(self, t: float, dim: int) -> Floats:
        """(n, dim); users may set them at any time, to anything."""
        target = reals([drag.target for drag in self.drags])
        if (
            target is None
            or target.shape != (len(self.drags), dim)
            or not np.isfinite(target).all()
        ):
            for drag in self.drags:
                owner = f"Drag of {check.body_name('Drag', drag.body)!r} at t = {t:.9g} s"
                try:
                    check.vector(owner, "target", drag.target, dim)
                except ModelError as error:
                    raise SimulationError(str(error)) from None
        return np.asarray(target)

    def potential(self, model: Model, state: State) -> float:
        return 0.0


def grip(
    model: Model, state: State, body: int, place: Any, dt: float, strength: float = 1.0
) -> Drag:
    """A drag that holds body number `body` at the world point `place` (dim,) [m].

    dt [s]: of a method that takes forces at the start of its steps, which must not be too stiff
    for them; 0 for methods that integrate forces.
    strength: factor of the stiffness and the limit that suit the mass it moves, which is that of
    all bodies jointed to this one.
    """
    if model.inverse_mass[body] == 0:
        raise ModelError(f"body {model.names[body]!r}: cannot be dragged: it is not dynamic")
    x, R = state.position[body], rotation(state.orientation[body])
    arm = np.asarray(place, float) - x
    light = _mass_at(model, R, body, arm)
    heavy = float(model.mass[_jointed(model, body)].sum())
    pace = STABLE / dt if dt > 0 else np.inf
    stiffness = min(strength * heavy * PACE**2, light * pace**2)
    damping = float(min(2.0 * np.sqrt(stiffness * heavy), 2.0 * light * pace))
    gravity = max(float(np.linalg.norm(model.gravity)), LEAST_GRAVITY)
    return Drag(
        model.names[body],
        tuple(float(v) for v in np.asarray(place, float)),
        tuple(float(v) for v in R.T @ arm + model.centre[body]),
        stiffness,
        damping,
        strength * STRONG * heavy * gravity,
    )


def _mass_at(model: Model, R: Floats, body: int, arm: Floats) -> float:
    """The least mass that a force at the end of `arm` can find against it [kg]."""
    if model.dim == 2:
        turning = float(model.inverse_inertia[body]) * float(arm @ arm)
    else:
        x, y, z = arm
        cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        turn = cross.T @ R @ model.inverse_inertia[body] @ R.T @ cross
        turning = float(np.linalg.eigvalsh(turn)[-1])
    return 1.0 / (float(model.inverse_mass[body]) + turning)


def _jointed(model: Model, body: int) -> Ints:
    """The dynamic bodies that joints tie to this one, itself among them."""
    free = model.inverse_mass > 0
    found = np.zeros(model.nb, np.bool_)
    found[body] = True
    if model.joints is not None:
        pairs = model.joints.body[(model.joints.body >= 0).all(axis=1)]
        pairs = pairs[free[pairs].all(axis=1)]
        while True:
            reached = pairs[found[pairs].any(axis=1)].ravel()
            if found[reached].all():
                break
            found[reached] = True
    return np.flatnonzero(found)
