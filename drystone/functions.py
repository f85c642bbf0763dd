"""Python functions in what users describe: copied with it, and pickled by name."""

from __future__ import annotations

import sys
from copy import deepcopy
from dataclasses import fields
from functools import partial
from types import FunctionType
from typing import Any, Self

from drystone.errors import DescriptionError


def check_importable(owner: str, **functions: Any) -> None:
    """Raise DescriptionError for functions that another process cannot find by their names."""
    for name, value in functions.items():
        inner = value
        while isinstance(inner, partial):
            inner = inner.func
        if isinstance(inner, FunctionType) and not _importable(inner):
            raise DescriptionError(
                f"{owner}: {name} = {inner.__qualname__} cannot be pickled: a function goes to "
                "another process by its name, so it must be defined at the top of a module, and "
                "be no lambda (copy.deepcopy takes any)"
            )


def _importable(function: FunctionType) -> bool:
    found: Any = sys.modules.get(function.__module__)
    for name in function.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is function


class WithFunctions:
    """A frozen dataclass some of whose fields are functions: a copy has a copy of those that have
    a state, a pickle their names."""

    __slots__ = ()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        out = object.__new__(type(self))
        memo[id(self)] = out  # a function may hold this object
        for name, value in self._fields():
            object.__setattr__(out, name, deepcopy(value, memo))
        return out

    def __reduce__(self) -> tuple[Any, ...]:
        called = {name: value for name, value in self._fields() if callable(value)}
        check_importable(type(self).__name__.strip("_"), **called)
        return type(self), tuple(value for _, value in self._fields())

    def _fields(self) -> list[tuple[str, Any]]:
        this: Any = self
        return [(field.name, getattr(this, field.name)) for field in fields(this)]
