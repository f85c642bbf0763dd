"""Functions of Python's as surfaces: called with numbers, wherever a kernel needs them.

A formula that `trace` can note down is evaluated by kernels alone. What it refuses (branches,
`math`, tables, calls of other programs) is called through the interpreter instead. Its
derivatives are those that are given; else those of symbols that know their numbers; else complex
steps for first derivatives, and differences of them for second ones.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.exceptions import ComplexWarning

from drystone.errors import ShapeError
from drystone.geometry.shapes.trace import ALLOWED, check_derivatives, jets_at
from drystone.types import Floats

COMPLEX = 1e-30  # length of a complex step; nothing is subtracted, so it can be this short
STEP = 1e-3  # of the size: steps of differences of fourth order, for second derivatives
PROBE = 1e-4  # of the size: the same for comparing; half as long must give the same
EPS = float(np.finfo(float).eps)
REPEATS = 1e-7  # relative: how well it must

Derivatives = tuple[Callable[..., Any], Callable[..., Any]]


class _Refused(ShapeError):
    """A function that gives numbers, but no derivatives."""


class BlackBox:
    """Jets of a function of `variables` numbers that gives `count` numbers.

    given: functions for first and second derivatives: gradient (3,) and Hessian (3, 3) of one
    number, or (S_u, S_v) and (S_uu, S_uv, S_vv) of three.
    """

    def __init__(
        self, owner: str, name: str, function: Callable[..., Any], variables: int, count: int,
        given: Derivatives | None = None, names: tuple[str, str] = ("gradient", "hessian"),
    ) -> None:  # fmt: skip
        self.owner, self.name, self.function = owner, name, function
        self.variables, self.count, self.given, self.names = variables, count, given, names
        self.size, self.complex = 1.0, False

    def value(self, *point: float) -> list[float]:
        """What the function gives at a point; of three numbers, those after `variables` are 0."""
        return self._numbers(self.name, self.function, point, self.count)

    def __call__(self, *point: float) -> list[float]:
        """Jets, one after the other: what kernels ask for."""
        with np.errstate(all="ignore"):  # what is not finite is seen to by those who ask
            return self.jets(point).ravel().tolist()

    def jets(self, point: Sequence[float]) -> Floats:
        """(count, 10)."""
        if self.given is not None:
            return self._given(point)
        at = list(point[: self.variables])
        try:
            if self.complex:
                return self._complex_jets(at)
            return jets_at(self.owner, self.name, self.function, at, self.count)
        except Exception as error:
            self.value(*point)  # if it fails for plain numbers too, that is the matter
            raise _Refused(self._refusal(error, at)) from error

    def _refusal(self, error: Exception, at: Sequence[float]) -> str:
        reason = str(error) if isinstance(error, ShapeError) else f"{type(error).__name__}: {error}"
        use = "" if ALLOWED in reason else f", or use {ALLOWED}"
        return (
            f"{self.owner}: {self.name}: no derivatives at {tuple(at)}: {reason}; "
            f"give {self.names[0]} and {self.names[1]}{use}"
        )

    def _numbers(
        self, name: str, function: Callable[..., Any], point: Sequence[float], count: int
    ) -> list[float]:
        at = tuple(point[: self.variables])
        try:
            value = function(*at)
        except Exception as error:
            raise ShapeError(
                f"{self.owner}: {name}: {type(error).__name__}: {error}, at {at}"
            ) from error
        if type(value) is float and count == 1:
            return [value]
        try:
            found = np.asarray(value, np.float64).ravel().tolist()
        except (TypeError, ValueError):
            raise ShapeError(
                f"{self.owner}: {name} gave {value!r} at {at}, expected numbers"
            ) from None
        if len(found) != count:
            raise ShapeError(f"{self.owner}: {name} must give {count} numbers, got {len(found)}")
        return found

    def _given(self, point: Sequence[float]) -> Floats:
        """Jets with the derivatives that are given."""
        assert self.given is not None
        (first, second), (one, two) = self.given, self.names
        out = np.zeros((self.count, 10))
        out[:, 0] = self.value(*point)
        if self.variables == 3:
            out[0, 1:4] = self._numbers(one, first, point, 3)
            H = self._numbers(two, second, point, 9)
            out[0, 4:] = [H[k] for k in (0, 1, 2, 4, 5, 8)]
        else:
            out[:, 1:3] = np.reshape(self._numbers(one, first, point, 6), (2, 3)).T
            out[:, [4, 5, 7]] = np.reshape(self._numbers(two, second, point, 9), (3, 3)).T
        return out

    def _complex_gradient(self, at: Floats) -> Floats:
        """(count, variables)."""
        out = np.empty((self.count, self.variables))
        for k in range(self.variables):
            moved = [np.complex128(x) for x in at]  # NumPy's compare by their real parts
            moved[k] += 1j * COMPLEX
            value = np.asarray(self.function(*moved), np.complex128).ravel()
            out[:, k] = value.imag / COMPLEX
        return out

    def _complex_jets(self, at: Sequence[float]) -> Floats:
        n, out = self.variables, np.zeros((self.count, 10))
        out[:, 0] = self.value(*at)
        with warnings.catch_warnings():
            warnings.simplefilter("error", ComplexWarning)  # math.sin would drop the step
            x = np.array(at)
            out[:, 1 : 1 + n] = self._complex_gradient(x)
            H = differences(self._complex_gradient, x, STEP * self.size)
        for i, j, k in ((0, 0, 4), (0, 1, 5), (0, 2, 6), (1, 1, 7), (1, 2, 8), (2, 2, 9)):
            if j < n:
                out[:, k] = 0.5 * (H[:, i, j] + H[:, j, i])
        return out

    def prepare(self, points: Floats, size: float) -> None:
        """Find out how to differentiate, by trying at points (k, 3) of a surface of that size;
        given derivatives are compared with those found, complex steps with differences."""
        self.size = size
        if self.given is not None:
            bare = BlackBox(self.owner, self.name, self.function, self.variables, self.count)
            try:
                self.compare(points, bare.tried(points))
            except _Refused:
                self.compare(points, self.by_differences(points))
            return
        try:
            self.tried(points)
        except _Refused as refused:
            self.complex = True
            try:
                self.tried(points)
                self.compare(points, self.by_differences(points))
            except ShapeError:
                raise refused from None

    def tried(self, points: Floats) -> Floats:
        """Jets (k, count, 10) at points (k, 3)."""
        with np.errstate(all="ignore"):
            return np.array([self.jets(p) for p in points.tolist()])

    def compare(self, points: Floats, own: Floats) -> None:
        """Raise ShapeError where the jets are not those (k, count, 10) found otherwise."""
        mine = self.tried(points)
        for c in range(self.count):
            check_derivatives(self.owner, self.name, self.names, points, mine[:, c], own[:, c])

    def by_differences(self, points: Floats) -> Floats:
        with np.errstate(all="ignore"):
            return np.array([self._by_differences(p) for p in points])

    def _by_differences(self, point: Floats) -> Floats:
        """Jets whose first derivatives are differences of values, and second ones differences of
        first ones; nan where half the step gives something else, as it does across a branch."""
        n, h = self.variables, PROBE * self.size
        out = np.zeros((self.count, 10))
        x = point[:n].copy()

        def value(p: Floats) -> Floats:
            return np.array(self.value(*p.tolist()))

        def first(p: Floats) -> Floats:
            return np.asarray(self.jets(p.tolist())[:, 1 : 1 + n])

        out[:, 0] = value(x)
        out[:, 1 : 1 + n] = _repeated(value, x, h)
        H = _repeated(first, x, h)
        for i, j, k in ((0, 0, 4), (0, 1, 5), (0, 2, 6), (1, 1, 7), (1, 2, 8), (2, 2, 9)):
            if j < n:
                out[:, k] = H[:, i, j]
        return out


def differences(function: Callable[[Floats], Floats], x: Floats, h: float) -> Floats:
    """Derivatives (..., n) of what a function of (n,) numbers gives, to fourth order in h."""
    columns = []
    for k in range(len(x)):
        e = np.zeros(len(x))
        e[k] = h
        near = function(x + e) - function(x - e)
        far = function(x + 2 * e) - function(x - 2 * e)
        columns.append((8.0 * near - far) / (12.0 * h))
    return np.stack(columns, axis=-1)


def _repeated(function: Callable[[Floats], Floats], x: Floats, h: float) -> Floats:
    long, short = differences(function, x, h), differences(function, x, 0.5 * h)
    good = np.abs(long - short) <= REPEATS * np.abs(short).max(initial=0.0)
    return np.where(good, short, np.nan)


def distances(box: BlackBox, x: Floats, d: Floats, far: Floats) -> Floats:
    """(k,) how far rays from x along unit directions d (k, 3) stay in F <= 0, at most `far`: a few
    calls each, where halving would take sixty."""
    from scipy.optimize import brentq

    x0, y0, z0 = x.tolist()

    def along(t: float, dx: float, dy: float, dz: float) -> float:
        value = box.value(x0 + t * dx, y0 + t * dy, z0 + t * dz)[0]
        return value if value == value else -1.0  # not known to be outside

    ends = zip(d.tolist(), far.tolist(), strict=True)
    return np.array([
        brentq(along, 0.0, end, args=tuple(ray), xtol=1e-300, rtol=4.0 * EPS) for ray, end in ends
    ])  # fmt: skip
