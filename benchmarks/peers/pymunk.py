"""Pymunk (Chipmunk): planar scenes, with its defaults but for the slop, which is in metres."""

from __future__ import annotations

import math

import numpy as np
import pymunk

from benchmarks.peers.engine import (
    FAR,
    PlanarEngine,
    ball_joints,
    bounce,
    numbers,
    only_friction,
    world_frame,
)
from drystone.kernels import kinds
from drystone.model import Model, State

SLOP = 1e-3  # of a body's size; the default, 0.1, is meant for pixels


class Pymunk(PlanarEngine):
    """One pymunk body for each of ours; half-planes are wide static boxes."""

    name = "pymunk"

    def __init__(self, model: Model, state: State, dt: float) -> None:
        super().__init__(model, state, dt)
        self._space = pymunk.Space()
        self._space.gravity = float(model.gravity[0]), float(model.gravity[1])
        size = model.geoms.radius[np.isfinite(model.geoms.radius)]
        self._space.collision_slop = SLOP * float(size.min())
        self._bodies: dict[int, pymunk.Body] = {}
        for b in (*self._free, *(b for b, _ in model.motions)):
            if model.inverse_mass[b] > 0:
                body = pymunk.Body(float(model.mass[b]), float(model.inertia[b]))
            else:
                body = pymunk.Body(body_type=pymunk.Body.KINEMATIC)
            body.position = tuple(state.position[b].tolist())
            body.angle = float(state.orientation[b])
            body.velocity = tuple(state.velocity[b, :2].tolist())
            body.angular_velocity = float(state.velocity[b, 2])
            self._space.add(body)
            self._bodies[int(b)] = body
        mu, e = math.sqrt(only_friction(model)), bounce(model)  # both are multiplied
        for g in np.flatnonzero(model.layer[model.geoms.body] != 0):
            shape = self._shape(model, state, int(g))
            shape.friction, shape.elasticity = mu, float(e[model.geoms.body[g]])
            self._space.add(shape)
        for a, b, at, on in ball_joints(model):
            other = self._bodies[b] if b >= 0 else self._space.static_body
            ends = tuple(at.tolist()), tuple(on.tolist())
            self._space.add(pymunk.PivotJoint(self._bodies[a], other, *ends))

    def _shape(self, model: Model, state: State, g: int) -> pymunk.Shape:
        geoms = model.geoms
        b = int(geoms.body[g])
        body = self._bodies.get(b, self._space.static_body)
        offset, turn = geoms.offset[g], geoms.turn[g]
        if b not in self._bodies:
            offset, turn = world_frame(model, state, g)
        if geoms.kind[g] == kinds.DISK:
            return pymunk.Circle(body, float(numbers(geoms, g)[0]), tuple(offset.tolist()))
        local = np.array([[-FAR, -FAR], [FAR, -FAR], [FAR, 0.0], [-FAR, 0.0]])
        if geoms.kind[g] == kinds.POLYGON:
            local = numbers(geoms, g).reshape(-1, 2)
        outline = offset + local @ turn.T
        return pymunk.Poly(body, [tuple(p) for p in outline.tolist()])

    def _step(self, dt: float) -> None:
        self._space.step(dt)

    def _push(self, body: pymunk.Body, velocity: tuple[float, float], spin: float) -> None:
        body.velocity, body.angular_velocity = velocity, spin

    def _read(self, body: pymunk.Body) -> tuple[tuple[float, ...], float, tuple[float, ...]]:
        return tuple(body.position), body.angle, (*body.velocity, body.angular_velocity)
