"""PyBullet: reduced coordinates by default, its rigid-body mode where there are many bodies."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pybullet as bullet

from benchmarks.peers.engine import (
    Engine,
    ball_joints,
    bounce,
    check_kinds,
    corners,
    half_sides,
    only_friction,
    principal,
    world_frame,
)
from drystone.errors import UnsupportedProblemError
from drystone.kernels import kinds
from drystone.model import Model, State

MANY = 20  # bodies from which on the rigid-body mode is used: it is the faster one
STILL = [0.0, 0.0, 0.0, 1.0]  # no rotation, as this engine writes it


class PyBullet(Engine):
    """One body for each of ours; ends its server when it is collected."""

    name = "PyBullet"

    def __init__(self, model: Model, state: State, dt: float) -> None:
        check_kinds(model, (kinds.POLYHEDRON, kinds.SPHERE, kinds.HALF_SPACE))
        self._id = bullet.connect(bullet.DIRECT)
        self._start, self._dt, self._steps = state.copy(), dt, 0
        self._free = np.flatnonzero(model.inverse_mass > 0)
        # free bodies of the other mode take their inertia from their shape, which joints forbid
        self._reduced = model.nb <= MANY or model.joints is not None
        self._mu = math.sqrt(only_friction(model))  # frictions are multiplied
        self._bounce = bounce(model)  # so are restitutions
        self._call(bullet.setGravity, *(float(g) for g in model.gravity))
        self._call(bullet.setPhysicsEngineParameter, fixedTimeStep=dt, numSubSteps=0)
        self._bodies = [self._add(model, state, b) for b in range(model.nb)]
        for a, b, at, on in ball_joints(model):
            self._join(a, b, at.tolist(), on.tolist())

    def _call(self, function: Any, *args: Any, **options: Any) -> Any:
        return function(*args, **options, physicsClientId=self._id)

    def _add(self, model: Model, state: State, b: int) -> int:
        geoms = model.geoms
        mine = np.flatnonzero(geoms.body == b) if model.layer[b] != 0 else np.empty(0, np.int64)
        if mine.size > 1:
            raise UnsupportedProblemError("PyBullet: bodies of one geom only")
        free = model.inverse_mass[b] > 0
        place, turn = state.position[b], state.orientation[b]
        shape = -1
        if mine.size:
            g = int(mine[0])
            shape = self._shape(model, g)
            if geoms.kind[g] == kinds.HALF_SPACE:
                place, turn = world_frame(model, state, g)[0], np.array([1.0, 0.0, 0.0, 0.0])
        body: int = self._call(
            bullet.createMultiBody,
            baseMass=float(model.mass[b]) if free else 0.0,
            baseCollisionShapeIndex=shape,
            basePosition=place.tolist(),
            baseOrientation=[*turn[1:].tolist(), float(turn[0])],
            useMaximalCoordinates=int(not self._reduced),
        )
        self._call(
            bullet.changeDynamics, body, -1, lateralFriction=self._mu,
            restitution=float(self._bounce[b]), rollingFriction=0.0, spinningFriction=0.0,
            linearDamping=0.0, angularDamping=0.0,
        )  # fmt: skip
        if free:
            v = state.velocity[b].tolist()
            if self._reduced:
                moments = principal(model, b).tolist()
                self._call(bullet.changeDynamics, body, -1, localInertiaDiagonal=moments)
            self._call(bullet.resetBaseVelocity, body, v[:3], v[3:])
        return body

    def _shape(self, model: Model, g: int) -> int:
        geoms = model.geoms
        make = bullet.createCollisionShape
        here = geoms.offset[g].tolist()
        if geoms.kind[g] == kinds.SPHERE:
            radius = float(geoms.numbers[geoms.first[g]])
            return int(
                self._call(make, bullet.GEOM_SPHERE, radius=radius, collisionFramePosition=here)
            )
        if geoms.kind[g] == kinds.HALF_SPACE:
            normal = world_frame(model, self._start, g)[1][:, 2].tolist()
            return int(self._call(make, bullet.GEOM_PLANE, planeNormal=normal))
        half = half_sides(geoms, g)
        if half is None or np.abs(geoms.offset[g]).max() > 0:
            vertices = corners(geoms, g).tolist()
            return int(self._call(make, bullet.GEOM_MESH, vertices=vertices))
        return int(self._call(make, bullet.GEOM_BOX, halfExtents=half.tolist()))

    def _join(self, a: int, b: int, at: list[float], on: list[float]) -> None:
        """A ball joint as a constraint of two bodies; the world is body -1 in both engines."""
        other = self._bodies[b] if b >= 0 else -1
        self._call(
            bullet.createConstraint, self._bodies[a], -1, other, -1, bullet.JOINT_POINT2POINT,
            [0, 0, 0], at, on, STILL, STILL,
        )  # fmt: skip

    def run(self, steps: int) -> None:
        step, client = bullet.stepSimulation, self._id
        for _ in range(steps):
            step(physicsClientId=client)
        self._steps += steps

    def state(self) -> State:
        out = self._start.copy()
        out.time += self._steps * self._dt
        for b in self._free:
            place, turn = self._call(bullet.getBasePositionAndOrientation, self._bodies[b])
            v, w = self._call(bullet.getBaseVelocity, self._bodies[b])
            out.position[b], out.orientation[b] = place, (turn[3], *turn[:3])
            out.velocity[b] = (*v, *w)
        return out

    def __del__(self) -> None:
        if hasattr(self, "_id") and bullet.isConnected(self._id):
            bullet.disconnect(self._id)
