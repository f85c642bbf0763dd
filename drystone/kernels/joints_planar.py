"""Joints in the plane: the functions of ``kernels.joints`` that make sense there.

POINT i     B_i . d                  d = p_a - p_b, B_i an axis of b's frame
LENGTH      |d|
ANGLE_A     angle_a - angle_b        turns counted, because the state counts them
TURN        the same in (-pi, pi]    after the target is taken off: for rows that hold it
SPIN, COUPLED  as in space
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.joints import ANGLE_A, LENGTH, POINT, SPIN, TURN


@kernel
def joint_rows_planar(joints, functions, position, orientation, value, J):
    """value (n,) and J (n, 2, 3), as in space."""
    body, anchor_a, anchor_b, _, frame_b = joints
    first, code, target = functions
    for j in range(body.shape[0]):
        a, b = body[j, 0], body[j, 1]
        angle_a, ax, ay = _place(a, anchor_a[j], orientation)
        angle_b, bx, by = _place(b, anchor_b[j], orientation)
        dx, dy = ax - bx, ay - by
        if a >= 0:
            dx, dy = dx + position[a, 0], dy + position[a, 1]
        if b >= 0:
            dx, dy = dx - position[b, 0], dy - position[b, 1]
        for n in range(first[j], first[j + 1]):
            kind = code[n, 0]
            if kind in (POINT, LENGTH):
                if kind == POINT:
                    c, s = np.cos(angle_b), np.sin(angle_b)
                    u, v = frame_b[j, 0, code[n, 1]], frame_b[j, 1, code[n, 1]]
                    f0, f1 = c * u - s * v, s * u + c * v
                    value[n] = f0 * dx + f1 * dy - target[n]
                else:
                    length = np.sqrt(dx * dx + dy * dy)
                    f0, f1 = (dx / length, dy / length) if length > 0.0 else (1.0, 0.0)
                    value[n] = length - target[n]
                t_a, t_b = ax * f1 - ay * f0, (bx + dx) * f1 - (by + dy) * f0
            else:
                f0, f1 = 0.0, 0.0
                t_a = t_b = 1.0 if kind in (ANGLE_A, TURN, SPIN) else 0.0
                value[n] = 0.0
                if kind in (ANGLE_A, TURN):
                    value[n] = angle_a - angle_b - target[n]
                if kind == TURN:
                    value[n] -= 2.0 * np.pi * np.round(value[n] / (2.0 * np.pi))
            m_a, m_b = 1.0 if a >= 0 else 0.0, -1.0 if b >= 0 else 0.0
            J[n, 0, 0], J[n, 0, 1], J[n, 0, 2] = m_a * f0, m_a * f1, m_a * t_a
            J[n, 1, 0], J[n, 1, 1], J[n, 1, 2] = m_b * f0, m_b * f1, m_b * t_b


@kernel
def _place(b, anchor, orientation):
    """Angle of a body and its anchor from the centre of mass, in world directions."""
    if b < 0:
        return 0.0, anchor[0], anchor[1]
    angle = orientation[b]
    c, s = np.cos(angle), np.sin(angle)
    return angle, c * anchor[0] - s * anchor[1], s * anchor[0] + c * anchor[1]
