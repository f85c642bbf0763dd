"""Joint reactions: the wrench of each joint, and which of them break under it."""

from __future__ import annotations

import numpy as np

from drystone.constraints.joints.rows import ActionRows, JointRows, free_coordinates
from drystone.dynamics.frames import moment, rotations, turned
from drystone.kernels.joints_coupled import SPRING
from drystone.model import Joints, State
from drystone.types import Bools, Floats, Ints


def joint_forces(
    joints: Joints,
    state: State,
    rows: JointRows,
    impulse: Floats,
    h: float,
    actions: ActionRows | None = None,
    action_impulse: Floats | None = None,
) -> tuple[Floats, Floats]:
    """Force (nj, dim) [N] and torque (nj, 1 or 3) [N m] of every joint on its body a, at a's
    anchor, in world axes; b gets the opposite.

    impulse (nr,) and action_impulse (ne,): of a step of length h from this state; limits, motors,
    friction and springs are part of their joint.
    """
    total = np.zeros((len(joints), rows.J.shape[2]))
    _add(total, joints, joints.row_joint, rows.J, impulse)
    if actions is not None and action_impulse is not None:
        _add(total, joints, actions.joint, actions.J, action_impulse)
    total /= h
    return _at_anchors(joints, state, total)


def wrenches(
    joints: Joints, state: State, joint: Ints, J: Floats, r: Floats
) -> tuple[Floats, Floats]:
    """The same of impulses r (n,) of rows J (n, 2, dof) that belong to joints (n,): linear [N s]
    and angular [N m s]."""
    total = np.zeros((len(joints), J.shape[2]))
    _add(total, joints, joint, J, r)
    return _at_anchors(joints, state, total)


def _at_anchors(joints: Joints, state: State, total: Floats) -> tuple[Floats, Floats]:
    """Forces and torques at the anchors from wrenches (nj, dof) about the bodies' centres."""
    dim = state.position.shape[1]
    force, torque = total[:, :dim], total[:, dim:]
    return force, torque - moment(_arms(joints, state), force)


def broken(joints: Joints, force: Floats, torque: Floats) -> Bools:
    """(nj,) joints whose reactions exceed their strength."""
    size = np.stack([np.linalg.norm(force, axis=1), np.linalg.norm(torque, axis=1)], axis=1)
    return np.asarray((size > joints.breaks_at).any(axis=1))


def _add(total: Floats, joints: Joints, joint: Ints, J: Floats, r: Floats) -> None:
    """Wrenches on a, or minus those on b where a is the world, about that body's centre."""
    free = joints.body[joint, 0] < 0
    wrench = np.where(free[:, None], -J[:, 1], J[:, 0]) * r[:, None]
    np.add.at(total, joint, wrench)


def _arms(joints: Joints, state: State) -> Floats:
    """From the centre the wrenches are about to a's anchor."""
    a, b = joints.body.T
    R = rotations(state.orientation)
    out = np.zeros_like(joints.anchor_a)
    held = a >= 0
    out[held] = turned(R[a[held]], joints.anchor_a[held])
    out[~held] = joints.anchor_a[~held] - state.position[b[~held]]
    return out


def spring_energy(joints: Joints, value: Floats) -> float:
    """Energy [J] in the springs of joints at coordinates value (nq,)."""
    springs = joints.action_kind == SPRING
    k, _, rest, _ = joints.action_numbers[springs].T
    return float(np.sum(0.5 * k * (value[joints.action_coordinate[springs]] - rest) ** 2))


def stored_by_joints(joints: Joints | None, state: State, last: Floats | None) -> float:
    """Energy [J] in the springs of joints at a state; last (nq,): coordinates from which turns are
    counted on."""
    if joints is None or not (joints.action_kind == SPRING).any():
        return 0.0
    return spring_energy(joints, free_coordinates(joints, state, last).value)
