"""Joints in a step: rows C = 0, values of free coordinates, and rows of what acts on those."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drystone.kernels.joints import JointFunctions, joint_rows_spatial
from drystone.kernels.joints_coupled import (
    action_rows,
    count_turns,
    couple_rows,
)
from drystone.kernels.joints_planar import joint_rows_planar
from drystone.model import Joints, Model, State
from drystone.types import Floats, Ints


@dataclass(slots=True)
class Coordinates:
    """value (nq,) [m or rad], turns counted; J (nq, 2, dof): d(value)/dt = J (v_a, v_b)."""

    value: Floats
    J: Floats


@dataclass(slots=True)
class JointRows:
    """body (nr, 2), -1 the world; error C (nr,) [m or rad]; J (nr, 2, dof): dC/dt = J (v_a, v_b).

    An impulse r on a row adds M^-1 J' r to the velocities: [N s] on a row in metres, [N m s] on
    one in radians.
    """

    body: Ints
    error: Floats
    J: Floats


@dataclass(slots=True)
class ActionRows:
    """Rows of limits, motors, friction and springs, ne of them.

    u = J (v_a, v_b) + bias + soft r, with impulses r from lower to upper (ne,): u = 0 between
    them, u >= 0 at lower, u <= 0 at upper. soft (ne,): 0 but for springs.
    joint, coordinate, kind (ne,): of ``kernels.joints_coupled``; body (ne, 2).
    """

    joint: Ints
    coordinate: Ints
    kind: Ints
    body: Ints
    J: Floats
    bias: Floats
    soft: Floats
    lower: Floats
    upper: Floats


def free_coordinates(joints: Joints, state: State, last: Floats | None = None) -> Coordinates:
    """Values and Jacobians of all free coordinates.

    last (nq,): values of the step before, from which turns are counted on; at a start, those of
    ``joints.start``.
    """
    value, J = _evaluate(joints, state, joints.coordinate_functions)
    if state.orientation.ndim == 2:
        count_turns(joints.coordinate_code, joints.start if last is None else last, value)
    return Coordinates(value, J)


def joint_rows(joints: Joints, state: State, coordinates: Coordinates | None = None) -> JointRows:
    """Errors and Jacobians of all rows; coordinates: of the same state, for screws and gears."""
    error, J = _evaluate(joints, state, joints.row_functions)
    if joints.coupled_row.size:
        q = free_coordinates(joints, state) if coordinates is None else coordinates
        couple_rows(
            joints.coupled_row,
            joints.coupled_coordinate,
            joints.coupled_factor,
            joints.coordinate_body,
            joints.row_body,
            joints.row_target,
            q.value,
            q.J,
            error,
            J,
        )
    return JointRows(joints.row_body, error, J)


def joint_extra_rows(
    model: Model, state: State, h: float, coordinates: Coordinates | None = None
) -> ActionRows | None:
    """Rows of what acts on free coordinates in a step of length h [s]; None if nothing does."""
    joints = model.joints
    if joints is None or joints.action_kind.size == 0:
        return None
    q = free_coordinates(joints, state) if coordinates is None else coordinates
    at, n = joints.action_coordinate, joints.action_kind.size
    J = np.empty((n, 2, q.J.shape[2]))
    bias, soft, lower, upper = np.empty((4, n))
    action_rows(h, joints.actions, q.value, q.J, J, bias, soft, lower, upper)
    kind, body = joints.action_kind, joints.coordinate_body[at]
    return ActionRows(joints.coordinate_joint[at], at, kind, body, J, bias, soft, lower, upper)


def _evaluate(joints: Joints, state: State, functions: JointFunctions) -> tuple[Floats, Floats]:
    planar = state.orientation.ndim == 1
    n = functions.target.size
    value, J = np.empty(n), np.empty((n, 2, 3 if planar else 6))
    run = joint_rows_planar if planar else joint_rows_spatial
    run(joints.frames, functions, state.position, state.orientation, value, J)
    return value, J
