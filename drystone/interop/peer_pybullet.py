"""PyBullet: reduced coordinates by default, its rigid-body mode where there are many bodies."""

from __future__ import annotations

import math

import numpy as np
import pybullet as bullet

from drystone.errors import UnsupportedProblemError
from drystone.geometry import kinds
from drystone.interop.engine_peers import (
    Engine,
    check_kinds,
    half_sides,
    only_friction,
    quaternions,
    world_frame,
)
from drystone.model import Model, State

MANY = 20  # bodies from which on the rigid-body mode is used: it is the faster one


class PyBullet(Engine):
    """One body for each of ours; ends its server when it is collected."""

    name = "PyBullet"

    def __init__(self, model: Model, state: State, dt: float) -> None:
        check_kinds(model, (kinds.POLYHEDRON, kinds.SPHERE, kinds.HALF_SPACE))
        if len(model.geoms) != model.nb:
            raise UnsupportedProblemError("PyBullet: bodies of one geom only")
        self._id = bullet.connect(bullet.DIRECT)
        self._start, self._dt, self._steps = state.copy(), dt, 0
        self._free = np.flatnonzero(model.inverse_mass > 0)
        bullet.setGravity(*(float(g) for g in model.gravity), physicsClientId=self._id)
        bullet.setPhysicsEngineParameter(fixedTimeStep=dt, numSubSteps=0, physicsClientId=self._id)
        # frictions are multiplied
        mu = math.sqrt(only_friction(model))
        self._bodies = [self._add(model, state, int(g), mu) for g in range(len(model.geoms))]

    def _add(self, model: Model, state: State, g: int, mu: float) -> int:
        geoms = model.geoms
        b = int(geoms.body[g])
        place, axes = world_frame(model, state, g)
        turn = quaternions(axes)
        free = model.inverse_mass[b] > 0
        shape = self._shape(model, g)
        if geoms.kind[g] == kinds.HALF_SPACE:
            turn = np.array([1.0, 0.0, 0.0, 0.0])
        body: int = bullet.createMultiBody(
            baseMass=float(model.mass[b]) if free else 0.0,
            baseCollisionShapeIndex=shape,
            basePosition=place.tolist(),
            baseOrientation=[*turn[1:].tolist(), float(turn[0])],
            useMaximalCoordinates=int(model.nb > MANY),
            physicsClientId=self._id,
        )
        bullet.changeDynamics(
            body, -1, lateralFriction=mu, restitution=0.0, rollingFriction=0.0,
            spinningFriction=0.0, linearDamping=0.0, angularDamping=0.0, physicsClientId=self._id,
        )  # fmt: skip
        if free:
            v = state.velocity[b].tolist()
            bullet.resetBaseVelocity(body, v[:3], v[3:], physicsClientId=self._id)
            if model.nb <= MANY:
                moments = np.diag(model.inertia[b]).tolist()
                bullet.changeDynamics(
                    body, -1, localInertiaDiagonal=moments, physicsClientId=self._id
                )
        return body

    def _shape(self, model: Model, g: int) -> int:
        geoms = model.geoms
        if geoms.kind[g] == kinds.SPHERE:
            radius = float(geoms.numbers[geoms.first[g]])
            out = bullet.createCollisionShape(
                bullet.GEOM_SPHERE, radius=radius, physicsClientId=self._id
            )
        elif geoms.kind[g] == kinds.HALF_SPACE:
            normal = world_frame(model, self._start, g)[1][:, 2].tolist()
            out = bullet.createCollisionShape(
                bullet.GEOM_PLANE, planeNormal=normal, physicsClientId=self._id
            )
        else:
            half = half_sides(geoms, g).tolist()
            out = bullet.createCollisionShape(
                bullet.GEOM_BOX, halfExtents=half, physicsClientId=self._id
            )
        return int(out)

    def step(self) -> None:
        bullet.stepSimulation(physicsClientId=self._id)
        self._steps += 1

    def state(self) -> State:
        out = self._start.copy()
        out.time += self._steps * self._dt
        for b in self._free:
            place, turn = bullet.getBasePositionAndOrientation(
                self._bodies[b], physicsClientId=self._id
            )
            v, w = bullet.getBaseVelocity(self._bodies[b], physicsClientId=self._id)
            out.position[b], out.orientation[b] = place, (turn[3], *turn[:3])
            out.velocity[b] = (*v, *w)
        return out

    def __del__(self) -> None:
        if hasattr(self, "_id") and bullet.isConnected(self._id):
            bullet.disconnect(self._id)
