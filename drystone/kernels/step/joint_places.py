"""Joints at given poses: errors and rows, and coordinates where they are needed."""

import numpy as np

from drystone.kernels._jit import kernel, stage
from drystone.kernels.joints import JointFrames, JointFunctions, joint_rows_spatial
from drystone.kernels.joints_coupled import count_turns, couple_rows
from drystone.kernels.joints_planar import joint_rows_planar
from drystone.kernels.step import codes
from drystone.kernels.step.copies import copy_all


@stage
def enter_planar(s, scan, j):
    """Where joints are looked at first: at the start of the step, angles as the last one left."""
    _arms_planar(j, s.orientation)
    return _enter(s, j)


@stage
def enter_spatial(s, scan, j):
    """The same in space."""
    _arms_spatial(j, s.orientation)
    copy_all(s.inertia, j.inertia)
    return _enter(s, j)


@stage
def _enter(s, j):
    _gaps(j, s.position)
    copy_all(s.position, j.at_position)
    copy_all(s.orientation, j.at_orientation)
    copy_all(j.turns, j.last)
    j.round = j.misses = 0
    j.goal = codes.START
    return codes.GO_ON


@kernel
def places(s, scan, j):
    """at_error (nr,), at_J (nr, 2, dof) at at_position and at_orientation; at_value (nq,), at_G.
    In space turns are counted. The second kick of a step ends where it starts: what its velocities
    would open in a step are its errors there."""
    if j.goal != codes.START and not s.drifts:
        return _moving(s, j)
    if j.goal == codes.START or j.later:
        free = JointFunctions(j.first_coordinate, j.coordinate_code, j.coordinate_target)
        _evaluate(j, free, j.at_position, j.at_orientation, j.at_value, j.at_G)
        if s.position.shape[1] == 3:
            count_turns(j.coordinate_code, j.last, j.at_value)
    held = JointFunctions(j.first_row, j.row_code, j.row_target)
    _evaluate(j, held, j.at_position, j.at_orientation, j.at_error, j.at_J)
    return _coupled(j)


@stage
def _moving(s, j):
    copy_all(j.tie, j.at_J)
    for r in range(j.at_error.size):
        speed = 0.0
        for side in range(2):
            b = j.row_body[r, side]
            for e in range(j.at_v.shape[1] if b >= 0 else 0):
                speed += j.tie[r, side, e] * j.at_v[b, e]
        j.at_error[r] = s.h * speed
    return codes.GO_ON


@kernel
def _evaluate(j, functions, position, orientation, value, J):
    """Values and Jacobians of the joints' rows or coordinates."""
    frames = JointFrames(j.body, j.anchor_a, j.anchor_b, j.frame_a, j.frame_b)
    if orientation.ndim == 1:  # a constant for the compiler: only one of them is compiled
        joint_rows_planar(frames, functions, position, orientation, value, J)
    else:
        joint_rows_spatial(frames, functions, position, orientation, value, J)


@kernel
def _coupled(j):
    if j.coupled_row.size > 0:
        couple_rows(
            j.coupled_row, j.coupled_coordinate, j.coupled_factor, j.coordinate_body, j.row_body,
            j.row_target, j.at_value, j.at_G, j.at_error, j.at_J,
        )  # fmt: skip
    return codes.GO_ON


@stage
def _arms_planar(j, orientation):
    """Anchors from the centres of mass at the start of the step; those of the world as they are."""
    for k in range(j.body.shape[0]):
        for side in range(2):
            b = j.body[k, side]
            anchor = j.anchor_a[k] if side == 0 else j.anchor_b[k]
            c, t = 1.0, 0.0
            if b >= 0:
                c, t = np.cos(orientation[b]), np.sin(orientation[b])
            j.arms[k, side, 0] = c * anchor[0] - t * anchor[1]
            j.arms[k, side, 1] = t * anchor[0] + c * anchor[1]


@stage
def _arms_spatial(j, orientation):
    """The same in space."""
    for k in range(j.body.shape[0]):
        for side in range(2):
            b = j.body[k, side]
            anchor = j.anchor_a[k] if side == 0 else j.anchor_b[k]
            v0, v1, v2 = anchor[0], anchor[1], anchor[2]
            if b >= 0:
                w, x, y, z = (
                    orientation[b, 0], orientation[b, 1], orientation[b, 2], orientation[b, 3]
                )  # fmt: skip
                t0 = 2.0 * (y * v2 - z * v1)
                t1 = 2.0 * (z * v0 - x * v2)
                t2 = 2.0 * (x * v1 - y * v0)
                v0 += w * t0 + y * t2 - z * t1
                v1 += w * t1 + z * t0 - x * t2
                v2 += w * t2 + x * t1 - y * t0
            j.arms[k, side, 0], j.arms[k, side, 1], j.arms[k, side, 2] = v0, v1, v2


@stage
def _gaps(j, position):
    """From b's anchor to a's."""
    for k in range(j.body.shape[0]):
        a, b = j.body[k, 0], j.body[k, 1]
        for e in range(position.shape[1]):
            j.gap[k, e] = j.arms[k, 0, e] - j.arms[k, 1, e]
            if a >= 0:
                j.gap[k, e] += position[a, e]
            if b >= 0:
                j.gap[k, e] -= position[b, e]
