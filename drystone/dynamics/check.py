"""Checks of what users say about bodies: every complaint names the owner, the field, the value."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from drystone.errors import ModelError
from drystone.values import meant, real, reals, text

MAGNITUDE = 1e100  # of any number about a body: products of three stay numbers
WORLD = "world"  # the name that means no body: the inertial frame
Orientation = float | tuple[float, ...]  # planar angle [rad] or unit quaternion (w, x, y, z)


def number(owner: str, field: str, value: Any) -> float:
    """`value` as a finite float."""
    if type(value) is float or type(value) is int:  # the common case, 10^5 bodies long
        try:
            out = float(value)
        except OverflowError:
            out = math.inf
    else:
        found = real(value)
        if found is None:
            raise ModelError(f"{owner}: {field} = {text(value)}: expected a number")
        out = found
    if not -MAGNITUDE <= out <= MAGNITUDE:
        raise ModelError(f"{owner}: {field} = {out:g}: {_too_large(out)}")
    return out


def _too_large(value: float) -> str:
    if math.isfinite(value):
        return f"expected a number up to {MAGNITUDE:g}"
    return "expected a finite number"


def positive(owner: str, field: str, value: Any) -> float:
    out = number(owner, field, value)
    if out <= 0:
        raise ModelError(f"{owner}: {field} = {out:g}: expected more than 0")
    return out


def not_negative(owner: str, field: str, value: Any) -> float:
    out = number(owner, field, value)
    if out < 0:
        raise ModelError(f"{owner}: {field} = {out:g}: expected 0 or more")
    return out


def vector(owner: str, field: str, value: Any, size: int) -> tuple[float, ...]:
    """`value` as a tuple of `size` finite floats."""
    if type(value) is tuple and len(value) == size:
        try:
            if sum(map(abs, value)) <= MAGNITUDE and all(isinstance(v, float | int) for v in value):
                return tuple(map(float, value))
        except (TypeError, OverflowError):
            pass
    array = reals(value)
    if array is None or array.shape != (size,):
        raise ModelError(f"{owner}: {field} = {text(value)}: expected {size} numbers")
    if not np.isfinite(array).all():
        raise ModelError(f"{owner}: {field} = {text(value)}: expected finite numbers")
    if np.abs(array).max(initial=0.0) > MAGNITUDE:
        raise ModelError(f"{owner}: {field} = {text(value)}: expected numbers up to {MAGNITUDE:g}")
    return tuple(array.tolist())


def direction(owner: str, field: str, value: Any, size: int) -> tuple[float, ...]:
    """`value` as a unit vector."""
    out = vector(owner, field, value, size)
    norm = math.hypot(*out)
    if norm == 0:
        raise ModelError(f"{owner}: {field} = {out}: expected a direction, not zero")
    return tuple(v / norm for v in out)


def orientation(owner: str, field: str, value: Any, dim: int) -> Orientation:
    """An angle [rad] in the plane, a quaternion (w, x, y, z) in space: normalised, never zero."""
    if dim == 2:
        return number(owner, field, value)
    given = reals(value)
    if given is None or given.shape in ((), (1,), (2,), (3,)):
        raise ModelError(
            f"{owner}: {field} = {text(value)}: expected a quaternion (w, x, y, z); a turn by "
            "angle t [rad] about a unit axis u is (cos(t/2), *(sin(t/2) * u))"
        )
    q = vector(owner, field, value, 4)
    norm = math.hypot(*q)
    if norm == 0:
        raise ModelError(f"{owner}: {field} = {q}: a zero quaternion is not an orientation")
    if not 1e-150 < norm < 1e150:  # beyond, it cannot be made a unit one
        raise ModelError(f"{owner}: {field} = {q}: expected a unit quaternion")
    return tuple(v / norm for v in q)


def spin(owner: str, field: str, value: Any, dim: int) -> tuple[float, ...]:
    """(1,) or (3,): an angular velocity [rad/s] or a torque [N m]; a plain number in the plane."""
    if dim == 2:
        return (number(owner, field, value),)
    return vector(owner, field, value, 3)


def body_name(owner: str, value: Any, *, world: bool = False) -> str:
    """The name in a name or a handle; ``"world"`` only where it makes sense."""
    name = getattr(value, "name", value)
    if not isinstance(name, str):
        raise ModelError(f"{owner}: {text(value)} is not a body: expected a name or a handle")
    if name == WORLD and not world:
        raise ModelError(f"{owner}: 'world' is the inertial frame, not a body")
    return name


def unknown(owner: str, name: str, names: Iterable[str]) -> ModelError:
    """The error for a name that no body has, with the nearest one that some body has."""
    hint = meant(name, names, before="; ")
    return ModelError(f"{owner}: no body is named {name!r}{hint}")
