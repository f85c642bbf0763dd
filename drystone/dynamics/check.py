"""Checks of what users say about bodies: every complaint names the owner, the field, the value."""

from __future__ import annotations

import math
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

import numpy as np

from drystone.errors import ModelError
from drystone.types import Floats, own

WORLD = "world"  # the name that means no body: the inertial frame
Orientation = float | tuple[float, ...]  # planar angle [rad] or unit quaternion (w, x, y, z)


def number(owner: str, field: str, value: Any) -> float:
    """`value` as a finite float."""
    if type(value) is float or type(value) is int:  # the common case, 10^5 bodies long
        out = float(value)
    else:
        array = np.asarray(value)
        if array.ndim or array.dtype.kind not in "iuf":
            raise ModelError(f"{owner}: {field} = {value!r}: expected a number")
        out = float(array)
    if not math.isfinite(out):
        raise ModelError(f"{owner}: {field} = {out}: expected a finite number")
    return out


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
            if math.isfinite(sum(value)) and all(isinstance(v, float | int) for v in value):
                return tuple(map(float, value))
        except (TypeError, OverflowError):
            pass
    try:
        array = np.asarray(value)
    except ValueError:  # ragged
        array = np.asarray(None)
    if array.shape != (size,) or array.dtype.kind not in "biuf":
        raise ModelError(f"{owner}: {field} = {_short(value)}: expected {size} numbers")
    if not np.isfinite(array).all():
        raise ModelError(f"{owner}: {field} = {_short(value)}: expected finite numbers")
    return tuple(array.astype(float).tolist())


def matrix(owner: str, field: str, value: Any, size: int) -> Floats:
    """`value` as a finite (size, size) array."""
    array = np.asarray(value)
    if array.shape != (size, size) or array.dtype.kind not in "biuf":
        expected = f"expected a {size} x {size} matrix"
        raise ModelError(f"{owner}: {field} has shape {array.shape}: {expected}")
    if not np.isfinite(array).all():
        raise ModelError(f"{owner}: {field} = {_short(value)}: expected finite numbers")
    out: Floats = own(array)
    return out


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
    if np.shape(value) in ((), (1,), (2,), (3,)):
        raise ModelError(
            f"{owner}: {field} = {_short(value)}: expected a quaternion (w, x, y, z); a turn by "
            "angle t [rad] about a unit axis u is (cos(t/2), *(sin(t/2) * u))"
        )
    q = vector(owner, field, value, 4)
    norm = math.hypot(*q)
    if norm == 0:
        raise ModelError(f"{owner}: {field} = {q}: a zero quaternion is no orientation")
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
        raise ModelError(f"{owner}: {value!r} is no body: expected a name or a handle")
    if name == WORLD and not world:
        raise ModelError(f"{owner}: 'world' is the inertial frame, not a body")
    return name


def unknown(owner: str, name: str, names: Iterable[str]) -> ModelError:
    """The error for a name that no body has, with the nearest one that some body has."""
    near = get_close_matches(name, list(names), n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return ModelError(f"{owner}: no body is named {name!r}{hint}")


def _short(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else text[:77] + "..."
