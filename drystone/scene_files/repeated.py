"""Entries that stand for many: grids of bodies, and ranges of bodies, joints and forces.

Copy k of a range is the entry with ``add`` k times added, ``times`` k times multiplied and
``turn`` k times turned. Texts may hold {i}, {i+1}, {i-1}: the number of the copy, from ``first``;
in grids {i}, {j} and {k}, one for each axis. Nothing else is computed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import product as every
from typing import Any

import numpy as np

from drystone.dynamics.frames import exponential, product, rotation
from drystone.errors import ModelError
from drystone.scene_files.models import Around, GridEntry, Range, Turn

_INDEX = re.compile(r"\{([ijk])([+-][0-9]{1,6})?\}")
_ZERO = ("position", "velocity", "angular_velocity", "orientation")
POINTS = ("position", "anchor", "anchor_b")  # in the world, for entries that hold to the world
ARROWS = ("velocity", "angular_velocity", "axis")


def fill(value: Any, numbers: dict[str, int]) -> Any:
    """A text with the numbers of a copy in it; anything else as it is."""
    if isinstance(value, str):
        return _INDEX.sub(lambda m: _index(m, numbers), value)
    if isinstance(value, dict):
        return {key: fill(entry, numbers) for key, entry in value.items()}
    return value


def _index(match: re.Match[str], numbers: dict[str, int]) -> str:
    if match[1] not in numbers:
        return match[0]
    return str(numbers[match[1]] + int(match[2] or 0))


def copies(said: dict[str, Any], dim: int) -> Iterator[dict[str, Any]]:
    """The entries that one entry stands for; orientations in it are numbers or quaternions."""
    values = dict(said)
    grid, row = values.pop("grid", None), values.pop("range", None)
    if grid is not None and row is not None:
        raise ModelError("both grid and range: give one")
    if grid is None and row is None:
        yield values
    elif grid is not None:
        yield from _grid(values, grid, dim)
    else:
        yield from _row(values, row, dim)


def _grid(values: dict[str, Any], grid: GridEntry, dim: int) -> Iterator[dict[str, Any]]:
    name = _named(values, "-".join(f"{{{axis}}}" for axis in "ijk"[: len(grid.count)]))
    start = np.array(values.get("position", (0.0,) * dim), float)
    step = np.array(grid.step, float)
    if start.size != dim or step.size != dim:
        raise ModelError(f"grid: step = {grid.step}: expected {dim} numbers, as of the position")
    for indices in every(*(range(count) for count in grid.count)):
        away = np.zeros(dim)
        away[: len(indices)] = np.array(indices) * step[: len(indices)]
        numbers = dict(zip("ijk", indices, strict=False))
        out = values | {"position": tuple((start + away).tolist())}
        yield out | ({} if name is None else {"name": fill(name, numbers)})


def _row(values: dict[str, Any], row: Range, dim: int) -> Iterator[dict[str, Any]]:
    name = _named(values, "{i}")
    for k in range(row.count):
        numbers = {"i": row.first + k}
        out = {key: fill(value, numbers) for key, value in values.items()}
        if name is not None:
            out["name"] = fill(name, numbers)
        for key, step in (row.add or {}).items():
            out[key] = _sum(key, out.get(key), step, k, dim)
        for key, factor in (row.times or {}).items():
            out[key] = _product(key, out.get(key), factor, k)
        if row.turn is not None and k:
            _turn(out, row.turn, k, dim)
        yield out


def _named(values: dict[str, Any], pattern: str) -> str | None:
    name = values.get("name")
    return name if name is None or _INDEX.search(name) else f"{name}{pattern}"


def _sum(key: str, base: Any, step: Any, k: int, dim: int) -> Any:
    """base + k step, both numbers or both of the same length."""
    if base is None and key in _ZERO:
        base = 0.0 if isinstance(step, float) else (0.0,) * dim
    start = np.array(base if _is_numbers(base) else np.nan, float)
    away = np.array(step, float)
    if start.shape != away.shape or np.isnan(start).any():
        raise ModelError(f"range: add.{key} = {step}: expected the like of {key} = {base}")
    out = (start + k * away).tolist()
    return tuple(out) if isinstance(out, list) else out


def _is_numbers(value: Any) -> bool:
    parts = value if isinstance(value, tuple | list) else (value,)
    return all(isinstance(v, int | float) and not isinstance(v, bool) for v in parts)


def _product(key: str, base: Any, factor: float, k: int) -> Any:
    if base is None or not _is_numbers(base):
        raise ModelError(f"range: times.{key} = {factor}: expected numbers in {key}, got {base}")
    try:
        scale = factor**k
    except (OverflowError, ZeroDivisionError):
        raise ModelError(f"range: times.{key} = {factor}: too large after {k} copies") from None
    if isinstance(base, tuple | list):
        return tuple(value * scale for value in base)
    return base * scale


def _turn(out: dict[str, Any], turn: Around, k: int, dim: int) -> None:
    """Turn the k-th copy: points about the point, directions, and its orientation."""
    q = turned(turn, dim, k)
    R = rotation(np.array(q))
    about = np.array(turn.about or (0.0,) * dim, float)
    if about.size != dim:
        raise ModelError(f"range: turn.about = {turn.about}: expected {dim} numbers")
    for key in POINTS + ARROWS:
        if key in out and np.shape(out[key]) == (dim,):
            value = np.array(out[key], float)
            new = about + R @ (value - about) if key in POINTS else R @ value
            out[key] = tuple(new.tolist())
    if "anchor" in out or "a" in out:
        return
    if dim == 2:
        out["orientation"] = out.get("orientation", 0.0) + q
    else:
        before = np.array(out.get("orientation", (1.0, 0.0, 0.0, 0.0)), float)
        out["orientation"] = tuple(product(np.array(q), before).tolist())
    if "position" not in out and about.any():
        out["position"] = tuple((about - R @ about).tolist())


def turned(turn: Turn, dim: int, k: int = 1) -> Any:
    """k times a turn, as an angle [rad] or a quaternion."""
    angle = k * (turn.angle if turn.angle is not None else math.radians(turn.degrees or 0.0))
    if dim == 2:
        if turn.axis is not None:
            raise ModelError(f"axis = {turn.axis}: a planar world has one axis")
        return angle
    if turn.axis is None or len(turn.axis) != 3:
        raise ModelError(f"axis = {turn.axis}: expected 3 numbers to turn about")
    length = math.hypot(*turn.axis)
    if not 1e-150 < length < 1e150:
        raise ModelError(f"axis = {turn.axis}: expected a direction")
    way = np.array(turn.axis) / length
    return tuple(exponential(angle * way).tolist())
