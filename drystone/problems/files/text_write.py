"""Siconos' text format, written: dense matrices as they are, W as block CSR,
sparse M and H of a global problem as triplets.

17 digits, so that the file holds the very same numbers.
"""

from __future__ import annotations

from pathlib import Path
from typing import TextIO

import numpy as np
import scipy.sparse as sp

from drystone.errors import ProblemFileError
from drystone.problems import LCP, BoxedLCP, FrictionProblem, GlobalFrictionProblem, Problem
from drystone.problems._check import Matrix
from drystone.problems.delassus import DelassusOperator
from drystone.problems.files.fclib import refuse_unsayable
from drystone.types import Floats

# readers skip this line; its wording is that of every print-out of the library
CSPARSE = "CSparse Version 3.1.9, May 4, 2016.  Copyright (c) Timothy A. Davis, 2006-2016"


def write(problem: Problem, path: Path) -> None:
    if isinstance(problem, LCP):
        with path.open("w", encoding="ascii") as file:
            file.write(f"{problem.size}\n")
            _matrix(file, problem.M, 1, 1)
            _vector(file, problem.q)
        return
    if isinstance(problem, BoxedLCP):
        _write_mixed(problem, path)
        return
    refuse_unsayable(problem, path, "Siconos' text")
    if problem.bilateral:
        raise ProblemFileError(f"{path}: Siconos' text knows no bilateral rows; use .hdf5")
    if isinstance(problem, FrictionProblem):
        W = problem.W.formed() if isinstance(problem.W, DelassusOperator) else problem.W
        with path.open("w", encoding="ascii") as file:
            file.write(f"{problem.dim}\n{problem.nc}\n")
            _matrix(file, W, problem.dim, problem.dim)
            _vector(file, problem.q)
            _vector(file, problem.mu)
        return
    _write_global(problem, path)


def _write_global(problem: GlobalFrictionProblem, path: Path) -> None:
    with path.open("w", encoding="ascii") as file:
        file.write(f"{problem.dim}\n{problem.nc}\n")
        if isinstance(problem.M, np.ndarray):
            _matrix(file, problem.M, 1, 1)
            _matrix(file, problem.H.toarray(), 1, 1)
        else:
            _triplets(file, sp.coo_array(problem.M))
            _triplets(file, sp.coo_array(problem.H))
        for vector in (problem.q, problem.b, problem.mu):
            _vector(file, vector)


def _write_mixed(problem: BoxedLCP, path: Path) -> None:
    free = problem.free
    if not ((problem.lower == 0) | free).all() or not np.isposinf(problem.upper).all():
        raise ProblemFileError(f"{path}: Siconos' text knows no boxes; use .npz")
    n, size = int(free.sum()), problem.size
    changes = np.flatnonzero(np.diff(free)) + 1
    bounds = [0, *changes.tolist(), size]
    with path.open("w", encoding="ascii") as file:
        file.write(f"1\n0\n{n}\n{size - n}\n")
        file.write(" ".join(map(str, bounds)) + "\n")
        file.write(" ".join("0" if free[k] else "1" for k in bounds[:-1]) + "\n")
        _matrix(file, problem.dense, 1, 1)
        _vector(file, problem.q)


def _matrix(file: TextIO, matrix: Matrix, height: int, width: int) -> None:
    rows, columns = matrix.shape
    if isinstance(matrix, np.ndarray):
        file.write(f"0\n{rows}\n{columns}\n{rows}\t{columns}\n")
        for column in matrix.T:
            _vector(file, column)
        return
    blocks = sp.bsr_array(matrix, blocksize=(height, width))
    blocks.sort_indices()
    file.write(f"1\n{rows}\n{columns}\n{blocks.indices.size}\n")
    file.write(f"{rows // height}\n{columns // width}\n")
    for size, step in ((rows, height), (columns, width)):
        _integers(file, np.arange(step, size + 1, step))
    file.write(f"{blocks.indptr.size}\n{blocks.indices.size}\n")
    _integers(file, blocks.indptr)
    _integers(file, blocks.indices)
    for k, block in enumerate(blocks.data):
        file.write(f"{k}\n")
        _vector(file, block.T.ravel())


def _triplets(file: TextIO, matrix: sp.coo_array) -> None:
    """As CSparse prints it, but with all digits; what sparse solvers of global problems want."""
    (rows, columns), count = matrix.shape, matrix.nnz
    file.write(f"2\n{rows}\n{columns}\n1\n{CSPARSE}\n")
    file.write(f"triplet: {rows}-by-{columns}, nzmax: {count} nnz: {count}\n")
    i, j = matrix.coords
    for entry in zip(i.tolist(), j.tolist(), matrix.data.tolist(), strict=True):
        file.write("    {} {} : {:.17e}\n".format(*entry))


def _integers(file: TextIO, values: np.ndarray) -> None:
    file.write("\t".join(map(str, values.tolist())) + "\n")


def _vector(file: TextIO, values: Floats) -> None:
    file.write(" ".join(f"{value:.17e}" for value in values.tolist()) + "\n")
