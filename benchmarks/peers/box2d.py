"""Box2D: planar scenes, with the iterations of its manual; sleeping is off.

Its polygons wear a skin of fixed thickness, in metres: they are made smaller by it, so that what
touches in our world touches in its own.
"""

from __future__ import annotations

import Box2D
import numpy as np

from benchmarks.peers.engine import (
    FAR,
    PlanarEngine,
    ball_joints,
    bounce,
    corners,
    numbers,
    only_friction,
    world_frame,
)
from drystone.kernels import kinds
from drystone.model import Model, State
from drystone.types import Floats

VELOCITY, POSITION = 8, 3  # iterations, as the manual suggests


class Box2d(PlanarEngine):
    """One Box2D body for each of ours; half-planes are long edges."""

    name = "Box2D"

    def __init__(self, model: Model, state: State, dt: float) -> None:
        super().__init__(model, state, dt)
        gravity = float(model.gravity[0]), float(model.gravity[1])
        self._world = Box2D.b2World(gravity=gravity, doSleep=False)
        moved = {b for b, _ in model.motions}
        self._bodies = [self._add(model, state, b, b in moved) for b in range(model.nb)]
        mu, e = only_friction(model), bounce(model)
        for g in np.flatnonzero(model.layer[model.geoms.body] != 0):
            owner = int(model.geoms.body[g])
            self._bodies[owner].CreateFixture(
                shape=_shape(model, state, int(g)), density=1.0, friction=mu,
                restitution=float(e[owner]),
            )  # fmt: skip
        for i in self._free:  # after the shapes, which would set it from their areas
            self._bodies[i].massData = Box2D.b2MassData(
                mass=float(model.mass[i]), I=float(model.inertia[i]), center=(0, 0)
            )
        rest = self._world.CreateStaticBody()
        for a, b, at, on in ball_joints(model):
            self._world.CreateRevoluteJoint(
                bodyA=self._bodies[a], bodyB=self._bodies[b] if b >= 0 else rest,
                localAnchorA=at.tolist(), localAnchorB=on.tolist(), collideConnected=False,
            )  # fmt: skip

    def _add(self, model: Model, state: State, b: int, moves: bool) -> Box2D.b2Body:
        frame = {"position": state.position[b].tolist(), "angle": float(state.orientation[b])}
        if model.inverse_mass[b] > 0:
            return self._world.CreateDynamicBody(
                **frame, linearVelocity=state.velocity[b, :2].tolist(),
                angularVelocity=float(state.velocity[b, 2]), linearDamping=0.0,
                angularDamping=0.0, allowSleep=False,
            )  # fmt: skip
        return self._world.CreateKinematicBody(**frame) if moves else self._world.CreateStaticBody()

    def _step(self, dt: float) -> None:
        self._world.Step(dt, VELOCITY, POSITION)

    def _push(self, body: Box2D.b2Body, velocity: tuple[float, float], spin: float) -> None:
        body.linearVelocity, body.angularVelocity = velocity, spin

    def _read(self, body: Box2D.b2Body) -> tuple[tuple[float, ...], float, tuple[float, ...]]:
        return tuple(body.position), body.angle, (*body.linearVelocity, body.angularVelocity)


def _shape(model: Model, state: State, g: int) -> Box2D.b2Shape:
    """In the frame of its body; in the world's for bodies that never move."""
    geoms = model.geoms
    b = int(geoms.body[g])
    placed = model.inverse_mass[b] > 0 or any(b == k for k, _ in model.motions)
    offset, turn = geoms.offset[g], geoms.turn[g]
    if not placed:
        offset, turn = world_frame(model, state, g)
    skin = Box2D.b2_polygonRadius
    if geoms.kind[g] == kinds.DISK:
        return Box2D.b2CircleShape(radius=float(numbers(geoms, g)[0]), pos=offset.tolist())
    if geoms.kind[g] == kinds.HALF_PLANE:
        ends = offset + np.array([[FAR, -skin], [-FAR, -skin]]) @ turn.T
        return Box2D.b2EdgeShape(vertices=ends.tolist())
    outline = corners(geoms, g)
    if not placed:
        outline = offset + numbers(geoms, g).reshape(-1, 2) @ turn.T
    return Box2D.b2PolygonShape(vertices=_inset(outline, skin).tolist())


def _inset(outline: Floats, skin: float) -> Floats:
    """The polygon (n, 2), counter-clockwise, whose edges lie `skin` [m] further in."""
    along = np.roll(outline, -1, axis=0) - outline
    along /= np.linalg.norm(along, axis=1)[:, None]
    inward = np.stack([-along[:, 1], along[:, 0]], axis=1)
    level = np.einsum("ni,ni->n", inward, outline) + skin
    out = np.empty_like(outline)
    for k in range(len(outline)):  # where the edges before and after a corner meet
        rows = inward[[k - 1, k]]
        out[k] = np.linalg.solve(rows, level[[k - 1, k]])
    return out
