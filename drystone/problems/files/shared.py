"""What the formats share: bounds on what is unpacked, matrices that files store in part or that are
small, and problems that only ``.npz`` can say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from drystone.errors import ProblemFileError
from drystone.problems import CircularCone
from drystone.problems._check import Matrix

DEFLATE = 1032  # no deflate stream expands further: bounds what stored bytes can hold
UNPACKED_BYTES = 4 * 2**30  # of all arrays of a file together
FEW_ROWS = 64  # of a sparse matrix: up to here it is read as a dense one


class Members:
    """Named arrays of one file; complaints name the file and the member."""

    def __init__(self, path: Path, file: Any) -> None:
        self.path, self.file, self._taken = path, file, 0

    def error(self, place: str, message: str) -> ProblemFileError:
        return ProblemFileError(f"{self.path}: {place}: {message}")

    def take(self, place: str, size: int, stored: int, declared: str) -> None:
        """Count a member of `size` bytes that are `stored` in fewer, before it is made."""
        if size > DEFLATE * stored:
            raise self.error(place, f"declares {declared}, but stores fewer")
        self._taken += size
        if self._taken > UNPACKED_BYTES:
            most = UNPACKED_BYTES / 2**30
            raise self.error(place, f"the file holds more than {most:g} GiB unpacked")


def refuse_unsayable(problem: Any, path: Path, format: str) -> None:
    """Raise where the format has no words for the cone, the law or a known slip."""
    if not isinstance(problem.cone, CircularCone):
        raise ProblemFileError(f"{path}: {format} knows circular cones only, not {problem.cone}")
    if problem.law != "coulomb":
        raise ProblemFileError(f"{path}: {format} knows Coulomb's law only, not {problem.law!r}")
    if problem.slip is not None:
        raise ProblemFileError(f"{path}: {format} knows no given slip directions")


def compact(matrix: Matrix) -> Matrix:
    """A small sparse matrix as an array: on so few rows, sparse bookkeeping is all the cost."""
    few = sp.issparse(matrix) and matrix.shape[0] <= FEW_ROWS
    return matrix.toarray() if few else matrix


def completed(M: Matrix) -> Matrix:
    """A symmetric matrix from a file that stores one triangle only."""
    lower, upper = sp.tril(M, -1), sp.triu(M, 1)
    low, high = lower.count_nonzero() > 0, upper.count_nonzero() > 0
    if low == high:
        return M
    other = (lower if low else upper).T
    return M + other.toarray() if isinstance(M, np.ndarray) else sp.csr_array(M + other)
