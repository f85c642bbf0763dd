"""What acts on a joint's free coordinates: limits, motors, friction, springs; checked here.

A coordinate x [m or rad] with force f [N or N m] that its row may exert:

    limits      lowest <= x <= highest, f pushes back only; if equal, x is held
    motor       x' = speed, or x' = gain (position - x), |f| <= max_force
    friction    x' = 0 unless |f| = friction, against x'
    spring      f = -stiffness (x - rest) - damping x', at the end of the step
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from drystone.dynamics import check
from drystone.errors import ModelError
from drystone.kernels import joints_coupled as kinds
from drystone.values import real, text

Numbers = tuple[float, float, float, float]
Action = tuple[int, int, Numbers]  # coordinate, kind of ``kernels.joints_coupled``, its numbers
ACTS = ("limits", "motor", "friction", "spring")  # fields of a joint, in the order of their rows
MOTOR_GAIN = 10.0  # [1/s] of a position motor
INF = math.inf


@dataclass(frozen=True, slots=True)
class Motor:
    """Drives a free coordinate with at most max_force [N or N m].

    speed [m/s or rad/s]: to keep; or position [m or rad]: to go to and hold, at gain times the
    distance left [1/s], and no faster than `speed` if that is given too.
    """

    speed: float | None = None
    position: float | None = None
    max_force: float = INF
    gain: float = MOTOR_GAIN

    def action(self, owner: str) -> tuple[int, Numbers]:
        """Kind and numbers of its row; ModelError if it makes no sense."""
        force = strength(owner, "motor.max_force", self.max_force)
        gain = check.positive(owner, "motor.gain", self.gain)
        if self.position is None:
            if self.speed is None:
                raise ModelError(f"{owner}: motor has neither speed nor position")
            speed = check.number(owner, "motor.speed", self.speed)
            return kinds.SPEED_MOTOR, (speed, force, 0.0, 0.0)
        place = check.number(owner, "motor.position", self.position)
        speed = INF if self.speed is None else check.positive(owner, "motor.speed", self.speed)
        return kinds.POSITION_MOTOR, (place, force, gain, speed)


def actions_of(
    owner: str, names: Sequence[str], limits: Any, motor: Any, friction: Any, spring: Any
) -> list[Action]:
    """Rows on the coordinates `names`, from a value or a dict each, in a fixed order."""
    out: list[Action] = []
    for k, value in _by_coordinate(owner, "limits", limits, names):
        low, high = limits_of(owner, value)
        if low == high:
            out.append((k, kinds.HOLD, (low, 0.0, 0.0, 0.0)))
            continue
        if low > -INF:
            out.append((k, kinds.LOWER, (low, 0.0, 0.0, 0.0)))
        if high < INF:
            out.append((k, kinds.UPPER, (high, 0.0, 0.0, 0.0)))
    for k, value in _by_coordinate(owner, "motor", motor, names):
        if not isinstance(value, Motor):
            raise ModelError(f"{owner}: motor = {value!r}: expected Motor(...)")
        out.append((k, *value.action(owner)))
    for k, value in _by_coordinate(owner, "friction", friction, names):
        force = strength(owner, "friction", value)
        if force > 0:
            out.append((k, kinds.FRICTION, (force, 0.0, 0.0, 0.0)))
    for k, value in _by_coordinate(owner, "spring", spring, names):
        stiffness, damping, rest = spring_of(owner, value)
        if stiffness > 0 or damping > 0:
            out.append((k, kinds.SPRING, (stiffness, damping, rest, 0.0)))
    return out


def limits_of(owner: str, value: Any) -> tuple[float, float]:
    """(lowest, highest); None on a side is no limit there."""
    pair = _several(value)
    if len(pair) != 2:
        raise ModelError(f"{owner}: limits = {text(value)}: expected (lowest, highest)")
    low, high = (
        side if v is None or real(v) == side else check.number(owner, "limits", v)
        for v, side in zip(pair, (-INF, INF), strict=True)
    )
    if low > high:
        raise ModelError(f"{owner}: limits = ({low:g}, {high:g}): the lowest is above the highest")
    return low, high


def spring_of(owner: str, value: Any) -> tuple[float, float, float]:
    """(stiffness, damping, rest), the rest 0 if not given."""
    given = _several(value)
    if len(given) not in (2, 3):
        raise ModelError(f"{owner}: spring = {text(value)}: expected (stiffness, damping[, rest])")
    stiffness = check.not_negative(owner, "spring stiffness", given[0])
    damping = check.not_negative(owner, "spring damping", given[1])
    rest = check.number(owner, "spring rest", given[2]) if len(given) == 3 else 0.0
    return stiffness, damping, rest


def _several(value: Any) -> tuple[Any, ...]:
    """The entries of a sequence; none of anything else."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    return tuple(value) if isinstance(value, tuple | list) else ()


def strength(owner: str, field: str, value: Any) -> float:
    """A force or torque: 0 or more, inf allowed."""
    return INF if real(value) == INF else check.not_negative(owner, field, value)


def _by_coordinate(
    owner: str, field: str, value: Any, names: Sequence[str]
) -> list[tuple[int, Any]]:
    """(index of a coordinate, what is said about it)."""
    if value is None:
        return []
    if not names:
        raise ModelError(f"{owner}: {field} = {value!r}: the joint has no free coordinate for it")
    if isinstance(value, dict):
        for key in value:
            if key not in names:
                known = ", ".join(map(repr, names))
                raise ModelError(f"{owner}: {field} of {key!r}: its free coordinates are {known}")
        return [(k, value[name]) for k, name in enumerate(names) if value.get(name) is not None]
    if len(names) > 1:
        known = ", ".join(f"{name!r}: ..." for name in names)
        raise ModelError(f"{owner}: {field} = {value!r}: say of which coordinate: {{{known}}}")
    return [(0, value)]
