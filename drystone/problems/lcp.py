"""Linear complementarity: with all rows bounded below, with free rows, and with boxes.

All three are the boxed problem: find z with lower <= z <= upper and, with w = M z + q,
w_i = 0 where z_i is strictly inside, w_i >= 0 at the lower and w_i <= 0 at the upper bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from drystone.errors import ArrayError, ProblemError
from drystone.kernels.blocks import componentwise_error
from drystone.problems import _check
from drystone.problems._check import SquareLike
from drystone.problems.residual import boxed_residuals
from drystone.types import Bools, Floats, Real, VectorLike
from drystone.values import reals, text


class BoxedLCP(_check.Statement):
    """Find lower <= z <= upper with w = M z + q complementary to it.

    M: (n, n) dense or sparse; q: (n,); lower, upper: (n,), infinite entries allowed.
    """

    kind = "boxed-lcp"

    def __init__(
        self, M: SquareLike, q: VectorLike, lower: Real | VectorLike, upper: Real | VectorLike
    ) -> None:
        self.M = _check.square("M", M)
        self.q = _check.vector("q", q, self.M.shape[0])
        n = self.size = int(self.q.size)
        self.lower = _bound("lower", lower, n)
        self.upper = _bound("upper", upper, n)
        crossed = (self.lower > self.upper) | (self.lower == np.inf) | (self.upper == -np.inf)
        if crossed.any():
            i = int(np.argmax(crossed))
            raise ProblemError(f"lower[{i}] = {self.lower[i]} and upper[{i}] = {self.upper[i]}")

    @property
    def sparse(self) -> bool:
        return not isinstance(self.M, np.ndarray)

    @cached_property
    def dense(self) -> Floats:
        """M as a C-ordered array."""
        return self.M if isinstance(self.M, np.ndarray) else np.ascontiguousarray(self.M.toarray())

    @cached_property
    def free(self) -> Bools:
        """(n,) rows without bounds: equalities w_i = 0."""
        return np.isneginf(self.lower) & np.isposinf(self.upper)

    @cached_property
    def symmetric(self) -> bool:
        """Whether M equals its transpose to rounding."""
        scale = abs(self.M).max() if self.size else 0.0
        return bool(self.size == 0 or abs(self.M - self.M.T).max() <= 1e-12 * scale)

    @cached_property
    def unit(self) -> Floats:
        """(n,) sqrt |M_ii|, or 1 where it vanishes: takes the units out of z and w."""
        diagonal = np.abs(self.M.diagonal())
        return np.sqrt(np.where(diagonal > 0, diagonal, 1.0))

    def dual(self, value: Floats) -> Floats:
        """w = M z + q."""
        return np.asarray(self.M @ _check.given("value", value, self.size) + self.q)

    def residuals(self, value: Floats, dual: Floats | None = None) -> tuple[float, float]:
        """(scaled, unit-free) residual of z; see ``problems.residual``."""
        value = _check.given("value", value, self.size)
        w = self.dual(value) if dual is None else _check.given("dual", dual, self.size)
        return boxed_residuals(value, w, self.q, self.lower, self.upper, self.unit)

    def optimality(self, value: Floats, dual: Floats | None = None) -> tuple[float, float]:
        """(componentwise backward error of z, 0); see ``problems.residual``."""
        w = self.dual(value) if dual is None else dual
        M, starts, columns = self.M, None, None
        if self.sparse:
            M, starts, columns = M.data, M.indptr, M.indices
        bounds = self.lower, self.upper
        return componentwise_error(M, starts, columns, value, w, self.q, *bounds), 0.0

    def __repr__(self) -> str:
        storage = "sparse" if self.sparse else "dense"
        return f"{type(self).__name__}(n={self.size}, {storage})"


class MixedLCP(BoxedLCP):
    """Rows marked free are equalities with z of any sign; the others are complementary.

    free: (n,) bool mask, or the number of leading rows that are free.
    """

    kind = "mixed-lcp"

    def __init__(self, M: SquareLike, q: VectorLike, free: int | Sequence[bool] | Bools) -> None:
        matrix = _check.square("M", M)
        rows = _free_rows(free, matrix.shape[0])
        super().__init__(matrix, q, np.where(rows, -np.inf, 0.0), np.inf)


def _bound(name: str, values: Any, n: int) -> Floats:
    bound = _check.numbers(name, values)
    return _check.vector(name, np.full(n, bound) if bound.ndim == 0 else bound, n, infinite=True)


def _free_rows(free: Any, n: int) -> Bools:
    if reals(free) is None:
        raise ArrayError(f"free = {text(free)}: expected {n} booleans, or a number of rows")
    mask = np.asarray(free)
    if mask.ndim == 0:
        leading = _check.count("free", free)
        if leading > n:
            raise ArrayError(f"free = {leading}: there are {n} rows")
        return np.arange(n) < leading
    if mask.shape != (n,) or mask.dtype != np.bool_:
        raise ArrayError(f"free is {mask.shape} of {mask.dtype}: expected {n} booleans")
    return mask


class LCP(MixedLCP):
    """Find z >= 0 with w = M z + q >= 0 and z'w = 0."""

    kind = "lcp"

    def __init__(self, M: SquareLike, q: VectorLike) -> None:
        super().__init__(M, q, 0)
