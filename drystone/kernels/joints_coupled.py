"""What is made of free coordinates: counted turns, coupled rows, limits, motors, friction, springs.

All rows have the velocity u = J v + bias + soft r for an impulse r in [lower, upper], with u = 0
inside the interval, u >= 0 at its lower end and u <= 0 at its upper one.
"""

from typing import NamedTuple

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.joints import ANGLE_A, ANGLE_B, TWIST

RESOLVED, COARSE = 1.0, 4.0  # (w h)^2 of springs that keep their energy, and of implicit ones
REACHED, AT_LIMIT = 0.05, 1e-9  # of a step's travel, and [m or rad]: how near a limit is reached

LOWER, UPPER, HOLD, SPEED_MOTOR, POSITION_MOTOR, FRICTION, SPRING = range(7)


class Actions(NamedTuple):
    """ne limits, motors, frictions and springs: kind, coordinate (ne,); numbers (ne, 4)."""

    kind: np.ndarray
    coordinate: np.ndarray
    numbers: np.ndarray


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
def action_rows(h, actions, value, G, J, bias, soft, lower, upper):
    """Rows of what acts on coordinates value (nq,), with Jacobians G, during a step h. Numbers
    by kind, x the value [m or rad], F a force [N] or torque [N m]:
        LOWER, UPPER    limit                  x + h x' stays on its side
        HOLD            place                  x + h x' = place
        SPEED_MOTOR     speed, F               x' = speed if |force| <= F is enough
        POSITION_MOTOR  place, F, gain, speed  x' = gain (place - x), no faster than speed; a gain
                                               above 1 / h would overshoot
        FRICTION        F                      x' = 0 if |force| <= F is enough
        SPRING          k, c, rest             force -k (x + h x' - rest) - c x', at the step's end;
                                               ``keep_springs`` changes that
    """
    kind, coordinate, numbers = actions
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


@kernel
def keep_springs(h, actions, value, body, J, v, inverse_mass, inverse, bias, soft):
    """Rows of springs become those of Newmark's mean, which neither makes nor loses energy.

    The force is -k (x + h (x' - x_0') / 4 - rest) - c x', with the velocity x_0' at the start of
    the step, v (nb, dof): the mean of the spring over three positions, stable at any stiffness. A
    spring that the step does not resolve, (w h)^2 > RESOLVED with w^2 = k J M^-1 J', would ring for
    ever: from there to COARSE it passes over to the implicit rows of ``action_rows``. inverse: of
    the inertia, in world axes.
    """
    kind, coordinate, numbers = actions
    for i in range(kind.size):
        if kind[i] != SPRING:
            continue
        speed, answer = _row(body[i], J[i], v, inverse_mass, inverse)
        k, c = numbers[i, 0], numbers[i, 1]
        implicit = (k * answer * h * h - RESOLVED) / (COARSE - RESOLVED)
        implicit = min(max(implicit, 0.0), 1.0)
        mean = 0.25 * (1.0 - implicit)
        s = c + h * k * (implicit + mean)
        stretch = value[coordinate[i]] - numbers[i, 2] - h * mean * speed
        bias[i], soft[i] = k * stretch / s, 1.0 / (h * s)


@kernel
def halve_kicks(h, drifts, actions, value, body, J, v, bias, soft, lower, upper):
    """Rows of a step of length h become those of one of its two kicks, from velocities v (nb, dof).

    Forces act for h / 2. Springs take Newmark's mean, -k (x + h (x_1' - x') / 2 - rest) - c x_1',
    which is of second order but for the damping. Before the drift limits look ahead as in a whole
    step; after it (drifts False) those that are reached hold velocities alone.
    """
    kind, coordinate, numbers = actions
    kick = 0.5 * h
    for i in range(kind.size):
        lower[i], upper[i] = 0.5 * lower[i], 0.5 * upper[i]
        if kind[i] == SPRING:
            k, c, stretch = numbers[i, 0], numbers[i, 1], value[coordinate[i]] - numbers[i, 2]
            s = c + kick * k
            bias[i] = k * (stretch - kick * row_speed(body[i], J[i], v)) / s
            soft[i] = 1.0 / (kick * s)
        elif not drifts and is_limit(kind[i]):
            bias[i] = 0.0


@kernel
def is_limit(kind):
    return kind in (LOWER, UPPER, HOLD)


@kernel
def is_reached(h, gap, body, J, v):
    """Whether a coordinate with the row J on bodies (2,) is at a limit after a drift of h [s]: no
    further from it than a small part of what it travels in a step."""
    return abs(gap) <= REACHED * h * abs(row_speed(body, J, v)) + AT_LIMIT


@kernel
def row_speed(body, J, v):
    """J v of a row on bodies (2,), -1 the world."""
    speed = 0.0
    for side in range(2):
        if body[side] >= 0:
            for e in range(J.shape[1]):
                speed += J[side, e] * v[body[side], e]
    return speed


@kernel
def _row(body, J, v, inverse_mass, inverse):
    """J v and J M^-1 J' of a row on bodies (2,), -1 the world."""
    speed, answer, dof = 0.0, 0.0, J.shape[1]
    dim = 2 if dof == 3 else 3
    for side in range(2):
        b = body[side]
        if b < 0:
            continue
        for e in range(dof):
            speed += J[side, e] * v[b, e]
        for e in range(dim):
            answer += J[side, e] ** 2 * inverse_mass[b]
        if dof == 3:
            answer += J[side, 2] ** 2 * _turning(inverse, b, 0, 0)
        else:
            for e in range(3):
                for f in range(3):
                    answer += J[side, 3 + e] * _turning(inverse, b, e, f) * J[side, 3 + f]
    return speed, answer


@kernel
def _turning(inverse, b, e, f):
    """An entry of the inverse inertia of body b, (nb,) or (nb, 3, 3)."""
    if inverse.ndim == 1:  # a constant for the compiler
        return inverse[b]
    return inverse[b, e, f]
