"""Grids of settings: ``mu=0.1:0.9:9`` is nine values, ``n=10,20,50`` three."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from drystone.errors import OptionError
from drystone.values import text as text_of

MOST = 100_000  # points of a grid; more is a slip of the keyboard


def read_values(name: str, text: str) -> list[str]:
    """The values that a text stands for, as texts that a scene reads.

    FIRST:LAST:COUNT, both ends included, or values with commas between them.
    """
    parts = [part.strip() for part in text.split(":")]
    if len(parts) == 1:
        values = [value.strip() for value in text.split(",")]
        if not all(values):
            raise OptionError(f"{name} = {text!r}: an empty value")
        return values
    try:
        first, last, count = float(parts[0]), float(parts[1]), int(parts[2])
        if len(parts) != 3 or not (math.isfinite(first) and math.isfinite(last)):
            raise ValueError
    except (ValueError, IndexError):
        raise OptionError(f"{name} = {text!r}: expected FIRST:LAST:COUNT, as 0.1:0.9:9") from None
    if not 1 <= count <= MOST:
        raise OptionError(f"{name} = {text!r}: expected a count from 1 to {MOST}")
    if count == 1:
        return [f"{first:.12g}"]
    step = (last - first) / (count - 1)
    # twelve digits: 0.1:0.9:9 holds 0.3, and not 0.30000000000000004
    return [f"{first + k * step:.12g}" for k in range(count)]


def read_grid(given: Mapping[str, Any]) -> dict[str, list[str]]:
    """Values by setting, from texts as above, single values, or sequences of them."""
    out: dict[str, list[str]] = {}
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise OptionError(f"grid = {text_of(given)}: expected values by the names of settings")
    for name, value in given.items():
        if isinstance(value, str):
            out[name] = read_values(name, value)
        elif isinstance(value, Sequence) or hasattr(value, "tolist"):
            some = value.tolist() if hasattr(value, "tolist") else list(value)
            out[name] = [_text(one) for one in (some if isinstance(some, list) else [some])]
        else:
            out[name] = [_text(value)]
        if not out[name]:
            raise OptionError(f"{name}: no values")
        if len(set(out[name])) < len(out[name]):
            raise OptionError(f"{name}: the same value twice")
    size = math.prod(len(values) for values in out.values())
    if size > MOST:
        raise OptionError(f"the grid has {size} points: {MOST} at most")
    return out


def _text(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)


def points(grid: Mapping[str, Sequence[str]]) -> list[dict[str, str]]:
    """All combinations, the last setting fastest."""
    names = list(grid)
    return [dict(zip(names, values, strict=True)) for values in itertools.product(*grid.values())]
