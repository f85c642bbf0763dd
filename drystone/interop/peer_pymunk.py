"""Pymunk (Chipmunk): planar scenes, with its defaults but for the slop, which is in metres."""

from __future__ import annotations

import math

import numpy as np
import pymunk

from drystone.geometry import kinds
from drystone.interop.engine_peers import (
    Engine,
    check_kinds,
    numbers,
    only_friction,
    world_frame,
)
from drystone.model import Model, State

SLOP = 1e-3  # of a body's size; the default, 0.1, is meant for pixels
FAR = 1e3  # [m] how far half-planes reach


class Pymunk(Engine):
    """One pymunk body for each of ours; half-planes are wide static boxes."""

    name = "pymunk"
    planar = True

    def __init__(self, model: Model, state: State, dt: float) -> None:
        check_kinds(model, (kinds.POLYGON, kinds.DISK, kinds.HALF_PLANE))
        self._start, self._dt = state.copy(), dt
        self._free = np.flatnonzero(model.inverse_mass > 0)
        self._space = pymunk.Space()
        self._space.gravity = float(model.gravity[0]), float(model.gravity[1])
        size = model.geoms.radius[np.isfinite(model.geoms.radius)]
        self._space.collision_slop = SLOP * float(size.min())
        mu = math.sqrt(only_friction(model))  # frictions are multiplied
        self._bodies: dict[int, pymunk.Body] = {}
        for b in self._free:
            body = pymunk.Body(float(model.mass[b]), float(model.inertia[b]))
            body.position = tuple(state.position[b].tolist())
            body.angle = float(state.orientation[b])
            body.velocity = tuple(state.velocity[b, :2].tolist())
            body.angular_velocity = float(state.velocity[b, 2])
            self._space.add(body)
            self._bodies[int(b)] = body
        for g in range(len(model.geoms)):
            shape = self._shape(model, state, g)
            shape.friction = mu
            self._space.add(shape)

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
        corners = offset + local @ turn.T
        return pymunk.Poly(body, [tuple(p) for p in corners.tolist()])

    def step(self) -> None:
        self._space.step(self._dt)

    def state(self) -> State:
        out = self._start.copy()
        for b, body in self._bodies.items():
            out.position[b] = tuple(body.position)
            out.orientation[b] = body.angle
            out.velocity[b] = (*body.velocity, body.angular_velocity)
        return out
