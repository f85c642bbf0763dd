"""Checks at the boundary: every complaint names the array, the entry and its value."""

from __future__ import annotations

from typing import Any, Protocol, Self

import numpy as np
import scipy.sparse as sp

from drystone.errors import ArrayError, ProblemError
from drystone.types import Floats, MatrixLike, VectorLike
from drystone.values import reals, text, whole

Matrix = Any  # Floats | sp.csr_array: SciPy ships no types


class Sparse(Protocol):
    """A sparse matrix or array of SciPy's, of any format."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    def tocsr(self) -> Any: ...


SquareLike = MatrixLike | Sparse


class Statement:
    """What every problem has: its size, and residuals of a value, which are its own measure."""

    size: int

    @property
    def local(self) -> Self:
        """The problem as solvers take it: itself, unless it is stated in global form."""
        return self

    def residuals(self, value: Floats, dual: Floats | None = None) -> tuple[float, float]:
        raise NotImplementedError

    def optimality(self, value: Floats, dual: Floats | None = None) -> tuple[float, float]:
        """(primal, gap): errors that the residuals may hide."""
        raise NotImplementedError

    def backward_error(
        self, value: Floats, dual: Floats | None = None, *, enough: float = 0.0
    ) -> float:
        """The least relative change of q with which a value solves exactly, or a bound of it below
        `enough`; 0 where it is not measured."""
        return 0.0

    def residual(self, value: VectorLike) -> float:
        """Scaled residual."""
        return self.residuals(self.check_guess(value))[0]

    def residual_unit(self, value: VectorLike) -> float:
        """Residual with the units scaled out."""
        return self.residuals(self.check_guess(value))[1]

    def check_guess(self, guess: Any) -> Floats:
        return vector("guess", guess, self.size)


def numbers(name: str, values: Any) -> Floats:
    """`values` as a C-ordered float64 array; text, dates and complex numbers are refused."""
    if type(values) is np.ndarray and values.dtype == np.float64 and values.flags.c_contiguous:
        return values  # large matrices are not copied
    out = reals(values)
    if out is None:
        try:
            masked = np.ma.is_masked(values)
            said = f"its entries are {'masked' if masked else np.asarray(values).dtype}"
        except (ValueError, TypeError, OverflowError):
            said = text(values)
        raise ArrayError(f"{name} is not an array of numbers: {said}")
    return out


def count(name: str, value: Any) -> int:
    """A number of rows: an integer that is not negative."""
    out = whole(value)
    if out is None:
        raise ArrayError(f"{name} = {text(value)}: expected a whole number")
    if out < 0:
        raise ArrayError(f"{name} = {out}: expected 0 or more")
    return out


def vector(name: str, values: Any, size: int | None = None, *, infinite: bool = False) -> Floats:
    """`values` as a contiguous float64 vector of the given size, free of NaN (and of inf)."""
    out = numbers(name, values)
    if out.ndim != 1:
        raise ArrayError(f"{name} has shape {out.shape}: expected one dimension")
    if size is not None and out.size != size:
        raise ArrayError(f"{name} has {out.size} entries: expected {size}")
    bad = np.isnan(out) if infinite else ~np.isfinite(out)
    if bad.any():
        i = int(np.argmax(bad))
        raise ArrayError(f"{name}[{i}] is {out[i]}")
    return out


def given(name: str, values: Any, size: int) -> Floats:
    """The same; an array of the right kind is taken as it is, whatever it holds."""
    if (
        isinstance(values, np.ndarray)
        and values.dtype == np.float64
        and values.shape == (size,)
        and values.flags.c_contiguous
    ):
        return values
    return vector(name, values, size)


def matrix(name: str, values: Any, shape: tuple[int | None, int | None] = (None, None)) -> Matrix:
    """`values` as a C-ordered float64 array, or as CSR if it is sparse; entries finite."""
    if sp.issparse(values):
        if values.dtype.kind not in "biuf":
            raise ArrayError(f"{name} is not a matrix of numbers: its entries are {values.dtype}")
        out = sp.csr_array(values, dtype=np.float64, copy=True)  # whose duplicates are summed here
        out.sum_duplicates()
        entries = out.data
    else:
        out = entries = numbers(name, values)
    if out.ndim != 2:
        raise ArrayError(f"{name} has shape {out.shape}: expected two dimensions")
    for axis, size in enumerate(shape):
        if size is not None and out.shape[axis] != size:
            word = ("rows", "columns")[axis]
            raise ArrayError(f"{name} has {out.shape[axis]} {word}: expected {size}")
    if not np.isfinite(entries).all():
        if isinstance(out, np.ndarray):
            i, j = (int(k) for k in np.argwhere(~np.isfinite(out))[0])
            raise ArrayError(f"{name}[{i}, {j}] is {out[i, j]}")
        triplets = out.tocoo()
        k = int(np.argmax(~np.isfinite(triplets.data)))
        i, j = (int(axis[k]) for axis in triplets.coords)
        raise ArrayError(f"{name}[{i}, {j}] is {triplets.data[k]}")
    return out


def square(name: str, values: Any) -> Matrix:
    out = matrix(name, values)
    if out.shape[0] != out.shape[1]:
        raise ArrayError(f"{name} is {out.shape[0]} x {out.shape[1]}: expected a square matrix")
    return out


def symmetric(name: str, values: Matrix, rtol: float = 1e-9) -> None:
    """Raise unless |A - A'| <= rtol max|A|; the message names the worst entry."""
    if values.shape[0] == 0:
        return
    worst = abs(values - values.T)
    if worst.max() > rtol * abs(values).max():
        i, j = divmod(int(worst.argmax()), values.shape[0])
        raise ProblemError(
            f"{name} must be symmetric: {name}[{i}, {j}] = {values[i, j]:.6g} "
            f"but {name}[{j}, {i}] = {values[j, i]:.6g}"
        )


def positive_diagonal(name: str, values: Matrix, *, strict: bool) -> None:
    """Raise if a diagonal entry proves that the matrix is not positive (semi)definite."""
    diagonal = values.diagonal()
    bad = diagonal <= 0 if strict else diagonal < 0
    if bad.any():
        i = int(np.argmax(bad))
        word = "definite" if strict else "semidefinite"
        raise ProblemError(
            f"{name} must be positive {word}, but {name}[{i}, {i}] = {diagonal[i]:.6g}"
        )


def semidefinite(name: str, values: Matrix, rtol: float = 1e-8) -> None:
    """Raise if the smallest eigenvalue is below -rtol times the largest (dense check)."""
    positive_diagonal(name, values, strict=False)
    dense = values.toarray() if sp.issparse(values) else values
    if dense.shape[0] == 0:
        return
    eigenvalues = np.linalg.eigvalsh(0.5 * (dense + dense.T))
    if eigenvalues[0] < -rtol * max(abs(eigenvalues[0]), eigenvalues[-1]):
        raise ProblemError(
            f"{name} must be positive semidefinite, but has the eigenvalue {eigenvalues[0]:.6g}"
        )
