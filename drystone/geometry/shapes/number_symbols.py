"""Symbols that know their numbers: derivatives of a function that branches, at one point.

The function is traced anew at each point, so what it does may depend on where the point is:
comparisons, `np.where`, tables looked up with `int(x)`, loops until something is small.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from drystone.errors import ShapeError
from drystone.geometry.shapes.trace import COMPARISONS, Symbol, Tape, results
from drystone.kernels.surfaces import layout as ops
from drystone.types import Floats

STEPS = (np.floor, np.ceil, np.trunc, np.rint, np.sign, np.floor_divide)  # flat between jumps
QUESTIONS = (*COMPARISONS, "isfinite", "isnan", "isinf", "signbit", "logical_not")
BOTH = ("logical_and", "logical_or", "logical_xor")


class NumberTape(Tape):
    """A tape whose symbols know their numbers."""

    def symbol(self, value: Any) -> Symbol:
        if isinstance(value, Symbol):
            if value.tape is not self:
                raise ShapeError("the function kept something of an earlier call")
            return value
        return NumberSymbol(self, super().symbol(value).at, float(value))


class NumberSymbol(Symbol):
    """A register of a tape, and the number in it at the point in question."""

    def __init__(self, tape: Tape, at: int, value: float) -> None:
        super().__init__(tape, at)
        self.value = value

    def _call(self, ufunc: Any, args: list[Any]) -> Any:
        value = ufunc(*(a.value for a in args))
        if ufunc.__name__ in QUESTIONS or ufunc.__name__ in BOTH:
            return value
        if ufunc in STEPS:
            return self.tape.symbol(value)
        if ufunc is np.remainder:
            return args[0] - np.floor_divide(args[0], args[1]) * args[1]
        if ufunc is np.arctan2:
            return _angle(args[0], args[1], value)
        return NumberSymbol(self.tape, super()._call(ufunc, args).at, value)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __floor__(self) -> int:
        return int(np.floor(self.value))

    def __ceil__(self) -> int:
        return int(np.ceil(self.value))

    def __trunc__(self) -> int:
        return int(self.value)


def _angle(y: Any, x: Any, value: float) -> Any:
    """arctan2 by the quotient that is below 1, and a constant."""
    if abs(x.value) >= abs(y.value):
        turned = np.arctan(y / x)
    else:
        turned = -np.arctan(x / y)
    return turned + (value - turned.value)


def jets_at(
    owner: str, name: str, function: Callable[..., Any], point: Sequence[float], count: int
) -> Floats:
    """Jets (count, 10) of what `function` gives at a point of 2 or 3 numbers."""
    from drystone.kernels.surfaces.tape import run_tape

    tape = NumberTape()
    symbols = [
        NumberSymbol(tape, tape.add(ops.VARIABLE, k).at, value) for k, value in enumerate(point)
    ]
    registers = results(owner, name, function(*symbols), count, tape)
    W = np.empty((len(tape.rows), ops.NJ))
    run_tape(np.ravel(tape.rows), 0, len(tape.rows), np.array([*point, 0.0][:3]), W)
    return W[registers]
