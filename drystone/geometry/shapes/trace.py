"""A user's formula as a tape: the function is called once, with symbols that note what is done.

So a surface is data, not code: it is evaluated by compiled kernels with exact derivatives, and
nothing is compiled for it. The function may use arithmetic, powers and the NumPy functions below.
One that does anything else, such as branching on its arguments, is refused here: see `black_box`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from drystone.errors import ShapeError
from drystone.kernels.surfaces import layout as ops
from drystone.types import Floats

DERIVATIVE_TOL = 1e-6  # relative: derivatives that are given, and those of the formula

UNARY = {
    np.sqrt: ops.SQRT,
    np.exp: ops.EXP,
    np.log: ops.LOG,
    np.sin: ops.SIN,
    np.cos: ops.COS,
    np.tan: ops.TAN,
    np.arctan: ops.ARCTAN,
    np.sinh: ops.SINH,
    np.cosh: ops.COSH,
    np.tanh: ops.TANH,
    np.absolute: ops.ABS,
}
BINARY = {
    np.add: ops.ADD,
    np.subtract: ops.SUBTRACT,
    np.multiply: ops.MULTIPLY,
    np.maximum: ops.LARGER,
    np.minimum: ops.SMALLER,
}
COMPARISONS = ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")
ALLOWED = "+ - * / **, " + ", ".join(f"np.{f.__name__}" for f in UNARY) + ", np.maximum, np.minimum"


class Tape:
    """Rows (operation, a, b); equal rows are written once."""

    def __init__(self) -> None:
        self.rows: list[tuple[float, float, float]] = []
        self._known: dict[tuple[float, float, float], int] = {}

    def add(self, operation: int, a: float, b: float = 0.0) -> Symbol:
        row = (float(operation), float(a), float(b))
        at = self._known.setdefault(row, len(self.rows))
        if at == len(self.rows):
            self.rows.append(row)
        return Symbol(self, at)

    def symbol(self, value: Any) -> Symbol:
        """A number, or a symbol of this tape, as a symbol."""
        if isinstance(value, Symbol):
            return value
        return self.add(ops.CONSTANT, float(value))


class Symbol(NDArrayOperatorsMixin):
    """A register of a tape that behaves like a number."""

    def __init__(self, tape: Tape, at: int) -> None:
        self.tape, self.at = tape, at

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs:
            raise ShapeError(f"np.{ufunc.__name__}.{method}: symbols know plain calls only")
        arrays = [value for value in inputs if isinstance(value, np.ndarray)]
        if any(array.ndim for array in arrays):
            flat = np.broadcast_arrays(*(np.asarray(v, dtype=object) for v in inputs))
            out = [ufunc(*items) for items in zip(*(f.ravel() for f in flat), strict=True)]
            return np.array(out, dtype=object).reshape(flat[0].shape)
        if arrays:  # np.where gives arrays without dimensions
            inputs = tuple(v.item() if isinstance(v, np.ndarray) else v for v in inputs)
        return self._call(ufunc, [self.tape.symbol(value) for value in inputs])

    def _call(self, ufunc: Any, args: list[Symbol]) -> Any:
        tape = self.tape
        if ufunc in UNARY:
            return tape.add(UNARY[ufunc], args[0].at)
        if ufunc in BINARY:
            return tape.add(BINARY[ufunc], args[0].at, args[1].at)
        if ufunc is np.negative:
            return tape.add(ops.MULTIPLY, tape.symbol(-1.0).at, args[0].at)
        if ufunc is np.positive:
            return args[0]
        if ufunc is np.square:
            return tape.add(ops.MULTIPLY, args[0].at, args[0].at)
        if ufunc in (np.true_divide, np.divide):
            inverse = tape.add(ops.INVERSE, args[1].at)
            return tape.add(ops.MULTIPLY, args[0].at, inverse.at)
        if ufunc is np.hypot:
            return np.sqrt(args[0] * args[0] + args[1] * args[1])
        if ufunc in (np.power, np.float_power):
            return _power(tape, args[0], args[1])
        if ufunc.__name__ in COMPARISONS:
            raise ShapeError("a formula must not compare its arguments")
        raise ShapeError(f"np.{ufunc.__name__} cannot be differentiated here; use {ALLOWED}")

    def __float__(self) -> float:
        raise ShapeError(f"only NumPy functions can be differentiated: {ALLOWED}")

    def __bool__(self) -> bool:
        raise ShapeError("a formula must not branch on its arguments")


def _method(ufunc: Any) -> Any:
    return lambda self: ufunc(self)


for _ufunc in UNARY:  # NumPy looks for methods of what is in arrays of objects
    setattr(Symbol, _ufunc.__name__, _method(_ufunc))


def _power(tape: Tape, base: Symbol, exponent: Symbol) -> Any:
    operation, value, _ = tape.rows[exponent.at]
    if operation != ops.CONSTANT:
        return np.exp(exponent * np.log(base))
    if value == 2.0:
        return tape.add(ops.MULTIPLY, base.at, base.at)
    return tape.add(ops.POWER, base.at, value)


def check_functions(owner: str, **functions: Any) -> None:
    """Raise ShapeError for what cannot be called."""
    for name, function in functions.items():
        if not callable(function):
            raise ShapeError(f"{owner}: {name} must be a function, got {function!r}")


def trace(owner: str, name: str, function: Callable[..., Any], variables: int, tape: Tape) -> Any:
    """What `function` returns for symbols of the first `variables` variables."""
    symbols = [tape.add(ops.VARIABLE, k) for k in range(variables)]
    try:
        return function(*symbols)
    except ShapeError as error:
        raise ShapeError(f"{owner}: {name}: {error}") from None
    except Exception as error:
        raise ShapeError(f"{owner}: {name}: {type(error).__name__}: {error}") from error


def results(owner: str, name: str, value: Any, count: int, tape: Tape) -> list[int]:
    """Registers of `count` numbers that a formula returned."""
    items = list(np.asarray(value, dtype=object).ravel())
    if len(items) != count:
        raise ShapeError(f"{owner}: {name} must give {count} numbers, got {len(items)}")
    try:
        return [tape.symbol(item).at for item in items]
    except (TypeError, ValueError):
        raise ShapeError(f"{owner}: {name} gave {value!r}, expected numbers") from None


def check_derivatives(
    owner: str, of: str, names: tuple[str, str], points: Floats, given: Floats, own: Floats
) -> None:
    """Raise ShapeError where jets (k, 10) with the user's derivatives are not the own ones of F at
    points (k, 3): both are known, and a slip of the pen would bend every motion on the surface.
    Where F's own are not finite the given ones are taken."""
    top = DERIVATIVE_TOL * np.abs(own[np.isfinite(own)]).max(initial=0.0)
    for name, part in zip(names, (slice(1, 4), slice(4, 10)), strict=True):
        size = np.maximum(np.abs(own[:, part]).max(axis=1), top)
        wrong = np.abs(given - own)[:, part].max(axis=1) > DERIVATIVE_TOL * size
        if wrong.any():
            i = int(np.argmax(wrong))
            raise ShapeError(
                f"{owner}: {name} at {points[i].tolist()} is {given[i, part].tolist()}, "
                f"but that of {of} is {own[i, part].tolist()}"
            )


# ---- Symbols that know their numbers: derivatives of a function that branches, at one point.
#
# The function is traced anew at each point, so what it does may depend on where the point is:
# comparisons, `np.where`, tables looked up with `int(x)`, loops until something is small.

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
