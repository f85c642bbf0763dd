"""Packed arrays as the package makes them: nobody can have one whose addresses are not its own.

A ``Packed`` holds addresses of the arrays that it keeps alive. A copy of it would hold addresses
of arrays that it does not keep, and one from another process addresses of nothing at all. So there
are no copies: what is to be copied is what the arrays were made from. How arrays lie is written in
``_packed``, whose source is part of every compiled kernel's name, so that this can change without
compiling anything anew.
"""

from __future__ import annotations

from functools import cache
from operator import attrgetter
from typing import Any, NoReturn

import numpy as np
from numba.core import types

from drystone.kernels import _packed


class Packed(_packed.Packed):
    """Arrays and numbers by name for kernels. ``put`` replaces arrays; nothing else does."""

    def __new__(cls, **fields: Any) -> Packed:
        made = _packed.Packed(**fields)
        self: Packed = object.__new__(_with_numbers(made._numba_type_))
        self.__dict__.update(vars(made))
        return self

    def __init__(self, **fields: Any) -> None:
        """All is done."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not isinstance(getattr(type(self), name, None), property):
            raise AttributeError(f"{name}: put({name}=...) replaces an array that kernels see")
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{name}: kernels see this array for as long as there is a Packed")

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError(
            "the arrays of a running simulation hold addresses of this one's memory: copy or "
            "pickle the Simulation itself"
        )


def as_row(record: Packed) -> np.ndarray:
    """A record that holds nothing but reals, as one array: both are the same memory."""
    return record._words.view(np.float64)


@cache
def _with_numbers(kind: _packed.PackedType) -> type[Packed]:
    """The class of what is packed like this: its numbers are properties."""
    named = {
        name: _number(at, "_whole" if number is types.int64 else "_real")
        for name, (at, number) in kind.places.items()
        if isinstance(number, types.Number)
    }
    return type("Packed", (Packed,), named)


def _number(at: int, view: str) -> property:
    read = attrgetter(view)

    def get(self: Packed) -> Any:
        return read(self)[at]

    def put(self: Packed, value: Any) -> None:
        read(self)[at] = int(value) if isinstance(value, np.bool_) else value

    return property(get, put)
