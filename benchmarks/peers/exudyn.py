"""Exudyn: multibody dynamics by constraints and an implicit integrator; joints, no contacts."""

from __future__ import annotations

from typing import Any

import exudyn
import numpy as np
from exudyn.utilities import RigidBodyInertia

from benchmarks.peers.engine import Engine, ball_joints, check_kinds, quaternions
from drystone.dynamics.frames import rotations
from drystone.errors import SimulationError
from drystone.geometry.shapes import KINDS
from drystone.model import Model, State
from drystone.types import Floats


class Exudyn(Engine):
    """Bodies in Euler parameters, spherical joints, generalised alpha with its default damping."""

    name = "Exudyn"
    touches = False

    def __init__(self, model: Model, state: State, dt: float) -> None:
        check_kinds(model, tuple(KINDS))  # shapes do not matter: nothing touches
        exudyn.config.printToConsole = False
        self._start, self._dt, self._steps = state.copy(), dt, 0
        self._free = np.flatnonzero(model.inverse_mass > 0)
        self._container = exudyn.SystemContainer()
        self._system = self._container.AddSystem()
        R = rotations(state.orientation)
        ground = self._system.CreateGround(referencePosition=[0, 0, 0])
        self._body = {int(b): self._add(model, state, int(b), R[b]) for b in self._free}
        for a, b, at, _ in ball_joints(model):
            # the engine wants the joint's place in the first body's frame
            first, second = self._body[a], self._body.get(b, ground)
            self._system.CreateSphericalJoint(
                itemNumbers=[first, second], position=at.tolist(), useGlobalFrame=False
            )
        self._system.Assemble()
        self._settings = exudyn.SimulationSettings()
        self._settings.timeIntegration.verboseMode = 0
        self._settings.timeIntegration.newton.useModifiedNewton = True
        self._settings.linearSolver.solverType = exudyn.LinearSolverType.EigenSparse
        self._settings.solution.file.write = False

    def _add(self, model: Model, state: State, b: int, R: Floats) -> Any:
        inertia = RigidBodyInertia(float(model.mass[b]), model.inertia[b])
        return self._system.CreateRigidBody(
            referencePosition=state.position[b].tolist(), referenceRotationMatrix=R,
            initialVelocity=state.velocity[b, :3].tolist(),
            initialAngularVelocity=state.velocity[b, 3:].tolist(),
            inertia=inertia, gravity=model.gravity.tolist(),
        )  # fmt: skip

    def run(self, steps: int) -> None:
        begin, end = self._steps * self._dt, (self._steps + steps) * self._dt
        self._settings.timeIntegration.numberOfSteps = steps
        self._settings.timeIntegration.startTime = begin
        self._settings.timeIntegration.endTime = end
        try:
            self._system.SolveDynamic(self._settings, updateInitialValues=True)
        except Exception as error:  # Exudyn's own kind, which its modules do not export
            raise SimulationError(f"{self.name} gives up after t = {begin:.3g} s") from error
        self._steps += steps

    def state(self) -> State:
        out = self._start.copy()
        out.time += self._steps * self._dt
        kind = exudyn.OutputVariableType
        for b, body in self._body.items():

            def read(what: Any, body: Any = body) -> Any:
                return np.array(self._system.GetObjectOutputBody(body, what, [0, 0, 0]))

            out.position[b] = read(kind.Position)
            out.orientation[b] = quaternions(read(kind.RotationMatrix).reshape(3, 3))
            out.velocity[b] = (*read(kind.Velocity), *read(kind.AngularVelocity))
        return out
