"""Values as JSON knows them: exact numbers, texts, lists and objects."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from typing import Any

import numpy as np

from drystone.errors import DescriptionError


def plain(owner: str, value: Any) -> Any:
    """`value` in JSON's types; DescriptionError names the owner of what cannot be described."""
    if value is None or isinstance(value, bool | str | int):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return _number(owner, float(value))
    if isinstance(value, np.ndarray):
        return plain(owner, value.tolist())
    if isinstance(value, Mapping):
        return {str(key): plain(owner, entry) for key, entry in value.items()}
    if isinstance(value, set | frozenset):
        return [plain(owner, entry) for entry in sorted(value)]
    if isinstance(value, tuple | list):
        return [plain(owner, entry) for entry in value]
    if callable(value):
        name = getattr(value, "__name__", None) or type(value).__name__
        raise DescriptionError(f"{owner} holds the function {name!r}, which no file can describe")
    raise DescriptionError(f"{owner}: {value!r} cannot be described")


def _number(owner: str, value: float) -> Any:
    if math.isnan(value):
        raise DescriptionError(f"{owner}: a number is not a number (nan)")
    return value if math.isfinite(value) else ("inf" if value > 0 else "-inf")


def non_defaults(owner: str, item: Any, but: Iterable[str] = ()) -> dict[str, Any]:
    """Fields of a dataclass that differ from their defaults, in order, as plain values."""
    out: dict[str, Any] = {}
    for field in fields(item):
        value = getattr(item, field.name)
        if not field.init or field.name in but or is_usual(field, value):
            continue
        out[field.name] = plain(f"{owner}: {field.name}", value)
    return out


def is_usual(field: Any, value: Any) -> bool:
    """Whether a value is the default of its field."""
    default = field.default
    if default is MISSING and field.default_factory is not MISSING:
        default = field.default_factory()
    if default is MISSING:
        return False
    if value is default:
        return True
    if isinstance(value, np.ndarray) or isinstance(default, np.ndarray):
        return bool(np.array_equal(value, default))
    return type(value) is type(default) and bool(value == default)


def fixed_numbers(value: Any) -> Any:
    """Lists as tuples, "inf" as the number: what constructors take."""
    if isinstance(value, list | tuple):
        return tuple(fixed_numbers(entry) for entry in value)
    if isinstance(value, dict):
        return {key: fixed_numbers(entry) for key, entry in value.items()}
    if isinstance(value, str) and value in ("inf", "-inf"):
        return float(value)
    if type(value) is int and abs(value) >= 2**53:
        return float(value)
    return value
