"""Joints brought back to C = 0 after a step: the smallest move in the metric of the mass.

J dq = -C with dq = M^-1 J' r: the step's own problem with positions in the place of velocities,
so the same solver answers it. A step leaves errors of order h^2; one or two rounds take them to
rounding.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from drystone.constraints.joints.blocks import tie_blocks
from drystone.constraints.joints.least import LeastNorm
from drystone.constraints.joints.rows import JointRows, free_coordinates, joint_rows
from drystone.constraints.rows import step_rows
from drystone.kernels import rigid
from drystone.model import Contacts, Joints, Model, State
from drystone.steppers.time_stepping.options import TimeStepping
from drystone.steppers.time_stepping.solve import IslandSolver
from drystone.steppers.time_stepping.thinned import Thinned
from drystone.types import Bools, Floats

ROUNDS = 4
CLOSED = 1e-10  # [m or rad] an error that needs no correction


class Projection:
    """Closes joints; ``error``: the greatest C that was left [m or rad]."""

    def __init__(self, options: TimeStepping, least: LeastNorm) -> None:
        self.least = least
        plain = replace(options, cone="circular", formulation="coulomb", solver="auto")
        self.solver = IslandSolver(plain)
        self.error = 0.0

    def close(self, model: Model, state: State, moves: Bools, turns: Floats | None) -> None:
        """Move bodies, in place, until all joints are closed or no round helps."""
        joints = model.joints
        self.error = 0.0
        if joints is None or not len(joints):
            return
        best = np.inf
        for _ in range(ROUNDS):
            q = free_coordinates(joints, state, turns)
            rows = joint_rows(joints, state, q)
            self.error = float(np.abs(rows.error).max(initial=0.0))
            if self.error <= CLOSED or self.error > 0.5 * best:
                break
            best = self.error
            self._move(model, state, moves, joints, rows)

    def _move(
        self, model: Model, state: State, moves: Bools, joints: Joints, ties: JointRows
    ) -> None:
        blocks = tie_blocks(joints, ties, 1.0, model.dim)
        inverse = model.inverse_inertia
        if model.dim == 3:
            inverse = np.empty_like(model.inverse_inertia)
            rigid.to_world(model.inverse_inertia, state.orientation, inverse)
        args = (model, moves, model.inverse_mass, inverse, state.position, None)
        rows = step_rows(*args, Contacts.none(model.dim), self.solver.options.shape, blocks)
        bias = blocks.bias[rows.joint]
        thinned = Thinned(rows, self.least.split(model, state, rows, ties, 0.0))
        thinned.silence()
        bias[thinned.dropped] = 0.0
        still = np.zeros((model.nb, model.dof))
        step = self.solver.solve(rows, np.full(rows.nc, -1.0), bias, still, np.zeros_like(bias)).v
        if model.dim == 2:
            rigid.drift_planar(step, 1.0, state.position, state.orientation)
        else:
            inertia = (model.inertia, model.inverse_inertia)
            rigid.drift_spatial(*inertia, False, step, 1.0, state.position, state.orientation)
