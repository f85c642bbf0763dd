"""What is made of free coordinates: counted turns, coupled rows, limits, motors, friction, springs.

All rows have the velocity u = J v + bias + soft r for an impulse r in [lower, upper], with u = 0
inside the interval, u >= 0 at its lower end and u <= 0 at its upper one.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.joints import ANGLE_A, ANGLE_B, TWIST

LOWER, UPPER, HOLD, SPEED_MOTOR, POSITION_MOTOR, FRICTION, SPRING = range(7)


@kernel
def count_turns(code, last, value):
    """Angles value (nq,) become those of the same direction that are nearest to `last`."""
    for i in range(value.size):
        if code[i, 0] == ANGLE_A or code[i, 0] == ANGLE_B or code[i, 0] == TWIST:
            value[i] += 2.0 * np.pi * np.round((last[i] - value[i]) / (2.0 * np.pi))


@kernel
def couple_rows(row, coordinate, factor, body, row_body, target, value, G, error, J):
    """Rows C = factor_0 q_0 + factor_1 q_1 - target of coordinates q with Jacobians G (nq, 2, dof).

    row (nk,), coordinate (nk, 2), factor (nk, 2); body (nq, 2) and row_body (nr, 2): the bodies of
    coordinates and of rows. A body of a coordinate that is none of its row's does not move.
    """
    for k in range(row.size):
        r = row[k]
        error[r] = -target[r]
        for e in range(J.shape[2]):
            J[r, 0, e], J[r, 1, e] = 0.0, 0.0
        for m in range(2):
            c = coordinate[k, m]
            error[r] += factor[k, m] * value[c]
            for side in range(2):
                for s in range(2):
                    if body[c, side] >= 0 and row_body[r, s] == body[c, side]:
                        for e in range(J.shape[2]):
                            J[r, s, e] += factor[k, m] * G[c, side, e]


@kernel
def action_rows(h, kind, coordinate, numbers, value, G, J, bias, soft, lower, upper):
    """Rows of what acts on coordinates during a step h. kind (ne,), coordinate (ne,),

    numbers (ne, 4) by kind, x the value [m or rad], F a force [N] or torque [N m]:
        LOWER, UPPER    limit                  x + h x' stays on its side
        HOLD            place                  x + h x' = place
        SPEED_MOTOR     speed, F               x' = speed if |force| <= F is enough
        POSITION_MOTOR  place, F, gain, speed  x' = gain (place - x), no faster than speed; a gain
                                               above 1 / h would overshoot
        FRICTION        F                      x' = 0 if |force| <= F is enough
        SPRING          k, c, rest             force -k (x + h x' - rest) - c x', at the step's end
    """
    for i in range(kind.size):
        c, x = coordinate[i], value[coordinate[i]]
        for e in range(J.shape[2]):
            J[i, 0, e], J[i, 1, e] = G[c, 0, e], G[c, 1, e]
        n0, n1, n2, n3 = numbers[i, 0], numbers[i, 1], numbers[i, 2], numbers[i, 3]
        soft[i] = 0.0
        if kind[i] == LOWER:
            bias[i], lower[i], upper[i] = (x - n0) / h, 0.0, np.inf
        elif kind[i] == UPPER:
            bias[i], lower[i], upper[i] = (x - n0) / h, -np.inf, 0.0
        elif kind[i] == HOLD:
            bias[i], lower[i], upper[i] = (x - n0) / h, -np.inf, np.inf
        elif kind[i] == SPEED_MOTOR:
            bias[i], lower[i], upper[i] = -n0, -n1 * h, n1 * h
        elif kind[i] == POSITION_MOTOR:
            speed = min(n2, 1.0 / h) * (n0 - x)
            bias[i], lower[i], upper[i] = -min(max(speed, -n3), n3), -n1 * h, n1 * h
        elif kind[i] == FRICTION:
            bias[i], lower[i], upper[i] = 0.0, -n0 * h, n0 * h
        else:
            s = n1 + h * n0
            bias[i], soft[i] = n0 * (x - n2) / s, 1.0 / (h * s)
            lower[i], upper[i] = -np.inf, np.inf
