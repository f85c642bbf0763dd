"""Joints at the level of accelerations: rows J a + bias = 0, and what acts on free coordinates.

The bias J' v of a row is the derivative of J v along the motion with v held: a difference of fourth
order over a turn of a few thousandths, exact to about 12 digits of its own size. Limits are
contacts without friction; motors and friction are contacts whose load is given (a normal row
without bodies and with a compliance), so that the laws of contact answer for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drystone.constraints.joints.rows import (
    Coordinates,
    JointRows,
    free_coordinates,
    joint_rows,
)
from drystone.errors import ModelError
from drystone.kernels.event_joints import add_along, joint_bias, move_on
from drystone.kernels.joints import LENGTH
from drystone.kernels.joints_coupled import (
    FRICTION,
    HOLD,
    LOWER,
    POSITION_MOTOR,
    SPEED_MOTOR,
    SPRING,
    UPPER,
)
from drystone.model import Joints, Model, State
from drystone.steppers.event_driven.vector import CENTRAL
from drystone.types import Floats, Ints

TURN_DIFFERENCE = 2e-3  # [rad] of the difference that gives the bias


@dataclass(slots=True)
class BilateralRows:
    """Bilateral rows: body (nj, 2), J (nj, 2, dof), bias, error C, u = dC/dt (nj,)."""

    body: Ints
    J: Floats
    bias: Floats
    error: Floats
    u: Floats


@dataclass(slots=True)
class JointActions:
    """Limits, motors and friction of free coordinates, as contacts; n of them.

    action (n,): number among the joints' actions; loaded (n,): motors and friction, whose normal
    force is `load` [N or N m]; limits have inf. body (n, 2), J (n, 2, dof): the coordinate's own,
    turned round at upper limits; gap (n,): inf for loaded ones; u (n,): speed of the gap, or slip;
    bias (n,): J a + bias is the rate of u. sign (n,): -1 at upper limits.
    """

    action: Ints
    loaded: np.ndarray
    load: Floats
    body: Ints
    J: Floats
    gap: Floats
    u: Floats
    bias: Floats
    sign: Floats


class JointRates:
    """The joints of a model as rows of an instant."""

    def __init__(self, model: Model, joints: Joints) -> None:
        self.model, self.joints = model, joints
        kind = joints.action_kind
        self.held = np.flatnonzero(kind == HOLD)
        self.springs = np.flatnonzero(kind == SPRING)
        limits, loads = (LOWER, UPPER), (SPEED_MOTOR, POSITION_MOTOR, FRICTION)
        self.acting = np.flatnonzero(np.isin(kind, limits + loads))
        self.loaded = np.isin(kind[self.acting], loads)
        self._check_loads()
        self._needs_rates = bool(self.held.size or self.acting.size)
        none, pair = np.empty(0), np.empty((0, 2), np.int64)
        self._idle = JointActions(
            self.acting,
            self.loaded,
            none,
            pair,
            np.empty((0, 2, model.dof)),
            none,
            none,
            none,
            none,
        )
        self._none = Coordinates(none, np.empty((0, 2, model.dof)))
        self._lengths = bool((joints.row_code[:, 0] == LENGTH).any())
        self._lengths |= bool((joints.coordinate_code[:, 0] == LENGTH).any())

    def _check_loads(self) -> None:
        """A motor is a contact under its greatest force, which has to be one."""
        joints = self.joints
        motors = np.isin(joints.action_kind, (SPEED_MOTOR, POSITION_MOTOR))
        endless = np.flatnonzero(motors & ~np.isfinite(joints.action_numbers[:, 1]))
        if endless.size:
            x = int(joints.action_coordinate[endless[0]])
            j = int(np.searchsorted(joints.first_coordinate, x, side="right")) - 1
            raise ModelError(
                f"joint {joints.names[j]!r}: its motor has max_force = inf, which the event-driven "
                "method cannot integrate: give it the greatest force it can exert"
            )

    def at(
        self, state: State, last: Floats | None
    ) -> tuple[BilateralRows, JointActions, Coordinates, Floats]:
        """Rows, actions, coordinates, and the rate of change of the coordinates' J v (nq,)."""
        q, body, J, error = self._rows(state, last)
        bias, rate = self._bias(state, q)
        if self.held.size:
            bias = np.concatenate([bias, rate[self.joints.action_coordinate[self.held]]])
        bilateral = BilateralRows(body, J, bias, error, along(J, body, state.velocity))
        return bilateral, self._acts(state, q, rate), q, rate

    def rows(self, state: State, last: Floats | None) -> tuple[Ints, Floats, Floats]:
        """Body (nj, 2), J (nj, 2, dof) and error (nj,) of the bilateral rows alone."""
        return self._rows(state, last)[1:]

    def _rows(self, state: State, last: Floats | None) -> tuple[Coordinates, Ints, Floats, Floats]:
        joints = self.joints
        q, rows = self._evaluate(state, last)
        if self.held.size == 0:
            return q, rows.body, rows.J, rows.error
        x = joints.action_coordinate[self.held]
        place = joints.action_numbers[self.held, 0]
        J = np.concatenate([rows.J, q.J[x]])
        body = np.concatenate([rows.body, joints.coordinate_body[x]])
        return q, body, J, np.concatenate([rows.error, q.value[x] - place])

    def add_springs(self, state: State, q: Coordinates, out: Floats) -> bool:
        """Add the forces of springs on coordinates to out (nb, dof); whether there are any."""
        joints = self.joints
        x = joints.action_coordinate[self.springs]
        if x.size == 0:
            return False
        k, c, rest, _ = joints.action_numbers[self.springs].T
        body = joints.coordinate_body[x]
        force = -k * (q.value[x] - rest) - c * along(q.J[x], body, state.velocity)
        for side in (0, 1):
            real = body[:, side] >= 0
            np.add.at(out, body[real, side], force[real, None] * q.J[x][real, side])
        return True

    def _evaluate(self, state: State, last: Floats | None) -> tuple[Coordinates, JointRows]:
        if self.joints.nq == 0:
            return self._none, joint_rows(self.joints, state, self._none)
        q = free_coordinates(self.joints, state, last)
        return q, joint_rows(self.joints, state, q)

    def _bias(self, state: State, q: Coordinates) -> tuple[Floats, Floats]:
        """d(J v)/dt with v held, of rows (nr,) and of coordinates (nq,)."""
        joints, dim, v = self.joints, self.model.dim, state.velocity
        rows, coordinates = np.zeros(joints.nr), np.zeros(joints.nq)
        fast = float(np.abs(v[:, dim:]).max(initial=0.0))
        if self._lengths:
            fast = max(fast, self._swing(state))
        if fast == 0.0:
            return rows, coordinates
        step = TURN_DIFFERENCE / fast
        if joints.coupled_row.size == 0:
            where = (state.position, state.orientation, v, step)
            frames = joints.frames
            joint_bias(frames, joints.row_functions, joints.row_body, *where, rows)
            if self._needs_rates:
                free = joints.coordinate_functions
                joint_bias(frames, free, joints.coordinate_body, *where, coordinates)
            return rows, coordinates
        there = State(
            state.time, np.empty_like(state.position), np.empty_like(state.orientation), v
        )
        k = 1 if dim == 2 else 4
        turn, to = state.orientation.reshape(-1, k), there.orientation.reshape(-1, k)
        for n, weight in CENTRAL:  # screws and gears tie rows to coordinates
            move_on(state.position, turn, v, n * step, there.position, to)
            at, tie = self._evaluate(there, q.value)
            add_along(joints.coordinate_body, at.J, v, weight / step, coordinates)
            add_along(tie.body, tie.J, v, weight / step, rows)
        return rows, coordinates

    def _swing(self, state: State) -> float:
        """Greatest speed of a body over the shortest distance between two anchors [1/s]."""
        joints, dim = self.joints, self.model.dim
        speed = 2.0 * float(np.abs(state.velocity[:, :dim]).max(initial=0.0))
        lengths = [
            np.abs(target[code[:, 0] == LENGTH])
            for code, target in (
                (joints.row_code, joints.row_target),
                (joints.coordinate_code, joints.coordinate_target),
            )
        ]
        known = np.concatenate(lengths)
        known = known[known > 0]
        return speed / float(known.min()) if known.size else speed

    def _acts(self, state: State, q: Coordinates, rate: Floats) -> JointActions:
        joints, mine = self.joints, self.acting
        if mine.size == 0:
            return self._idle
        kind, x = joints.action_kind[mine], joints.action_coordinate[mine]
        number = joints.action_numbers[mine]
        value, J, body = q.value[x], q.J[x], joints.coordinate_body[x]
        sign = np.where(kind == UPPER, -1.0, 1.0)
        speed = along(J, body, state.velocity)
        load = np.where(kind == FRICTION, number[:, 0], number[:, 1])
        wanted, change = np.zeros(mine.size), np.zeros(mine.size)
        wanted[kind == SPEED_MOTOR] = number[kind == SPEED_MOTOR, 0]
        servo = kind == POSITION_MOTOR
        place, _, gain, most = number.T
        pull = gain * (place - value)
        wanted[servo] = np.clip(pull, -most, most)[servo]
        free = servo & (np.abs(pull) < most)
        change[free] = -(gain * speed)[free]
        gap = np.where(self.loaded, np.inf, sign * (value - number[:, 0]))
        return JointActions(
            mine, self.loaded, np.where(self.loaded, load, np.inf), body, sign[:, None, None] * J,
            gap, sign * speed - wanted, sign * rate[x] - change, sign,
        )  # fmt: skip


def along(J: Floats, body: Ints, v: Floats) -> Floats:
    """(n,) J v of rows J (n, 2, dof) on bodies (n, 2), -1 the world."""
    out = np.zeros(J.shape[0])
    add_along(body, J, v, 1.0, out)
    return out
