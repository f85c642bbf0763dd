"""Siconos' text files: LCP, mixed LCP, friction in local and in global form.

The files carry no name of what they hold. Each statement begins with small integers whose
meaning differs, so every statement whose head fits is tried, and the first that fits to the end
of the file is the one.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from drystone.errors import ProblemFileError
from drystone.problems import LCP, FrictionProblem, GlobalFrictionProblem, MixedLCP, Problem
from drystone.problems._check import Matrix
from drystone.problems.files.text_matrix import read_matrix
from drystone.problems.files.tokens import Tokens, is_number

FEW_ROWS = 64  # of a sparse matrix: up to here it is read as a dense one


def read(path: Path) -> Problem:
    tokens = Tokens(path)
    readers = _candidates(tokens)
    first: ProblemFileError | None = None
    furthest = -1
    for reader in readers:
        tokens.at = 0
        try:
            return reader(tokens)
        except ProblemFileError as error:
            # the reading that got furthest has the most to say
            if tokens.at > furthest:
                first, furthest = error, tokens.at
    if first is None:
        tokens.at = 0
        raise tokens.error(
            "not a problem file: expected 'dim contacts storage rows columns' (friction, dim 2 or "
            "3), 'n storage n n' (LCP) or 'flag flag n m' (mixed LCP), or an .hdf5 or .npz file"
        )
    raise first


def _candidates(tokens: Tokens) -> list[Callable[[Tokens], Problem]]:
    head = []
    for word in tokens.words[:5]:
        try:
            head.append(int(word))
        except ValueError:
            break
    readers: list[Callable[[Tokens], Problem]] = []
    if len(head) < 4:
        return readers
    if head[1] in (0, 1, 2) and head[0] == head[2] == head[3]:
        readers.append(_lcp)
    if head[0] in (0, 1) and head[1] in (0, 1) and head[0] + head[1] > 0:
        readers.append(_mixed_lcp)
    if head[0] in (2, 3) and head[1] > 0 and head[2] in (0, 1, 2):
        readers.append(_friction)
    return readers


def _lcp(tokens: Tokens) -> Problem:
    n = tokens.integer("size", 1)
    M = read_matrix(tokens, "M", n, n)
    q = tokens.floats(n, "q")
    return LCP(compact(M), q)


def _mixed_lcp(tokens: Tokens) -> Problem:
    """Blocks marked 0 are equalities. What follows the data (a solution, remarks) is left alone."""
    joint = tokens.integer("first flag", 0, 1) == 1
    split = tokens.integer("second flag", 0, 1) == 1
    n, m = tokens.integer("number of equalities"), tokens.integer("number of inequalities")
    if n + m < 1:
        raise tokens.error("the problem has no unknowns", tokens.at - 1)
    if joint:
        free = _free_rows(tokens, n, m)
        M = read_matrix(tokens, "M", n + m, n + m)
        return MixedLCP(compact(M), tokens.floats(n + m, "q"), free)
    if not split:
        raise tokens.error("neither flag is set: the file holds no data", 0)
    A = tokens.floats(n * n, "A").reshape(n, n)
    B = tokens.floats(m * m, "B").reshape(m, m)
    C = tokens.floats(n * m, "C").reshape(n, m)
    D = tokens.floats(n * m, "D").reshape(m, n)
    q = np.concatenate([tokens.floats(n, "a"), tokens.floats(m, "b")])
    return MixedLCP(np.block([[A, C], [D, B]]), q, n)


def _free_rows(tokens: Tokens, n: int, m: int) -> np.ndarray:
    """(n + m,) mask of the equalities, from block bounds 0..n+m and one flag for each block."""
    bounds = [tokens.integer("first block bound", 0, 0)]
    while bounds[-1] < n + m:
        bounds.append(tokens.integer("block bound", bounds[-1] + 1, n + m))
    flags = tokens.integers(len(bounds) - 1, "block flag", 0, 1)
    free = np.repeat(flags == 0, np.diff(bounds))
    if int(free.sum()) != n:
        raise tokens.error(f"{int(free.sum())} rows are equalities: expected {n}", tokens.at - 1)
    return free


def _friction(tokens: Tokens) -> Problem:
    dim = tokens.integer("dim", 2, 3)
    nc = tokens.integer("number of contacts")
    m = dim * nc
    first = read_matrix(tokens, "the first matrix")
    if first.shape[0] != first.shape[1]:
        raise tokens.error(f"the first matrix is {first.shape[0]} x {first.shape[1]}: not square")
    after = tokens.at
    try:
        return _after_mass(tokens, first, dim, nc)
    except ProblemFileError as error:
        reached, tokens.at = tokens.at, after
        if first.shape[0] != m:
            raise
        unread = error
    try:
        return _after_delassus(tokens, first, dim, nc)
    except ProblemFileError as error:
        # with the head of a second matrix in place the file meant to be global
        raise (unread if reached > after + 3 else error) from None


def _after_delassus(tokens: Tokens, W: Matrix, dim: int, nc: int) -> Problem:
    """A local problem from q on."""
    q, mu = tokens.floats(dim * nc, "q"), tokens.floats(nc, "mu")
    _end(tokens)
    return FrictionProblem(compact(W), q, mu, dim=dim)


def _after_mass(tokens: Tokens, M: Matrix, dim: int, nc: int) -> Problem:
    """A global problem from its second matrix on."""
    ndof, m = M.shape[0], dim * nc
    H = read_matrix(tokens, "H", ndof, m)
    q, b, mu = tokens.floats(ndof, "q"), tokens.floats(m, "b"), tokens.floats(nc, "mu")
    _end(tokens)
    return GlobalFrictionProblem(completed(M), H, q, b, mu, dim=dim)


def _numbers_left(tokens: Tokens, most: int) -> int:
    """How many numbers follow before the first other word; stops counting at `most`."""
    rest = tokens.words[tokens.at : tokens.at + most]
    return next((k for k, word in enumerate(rest) if not is_number(word)), len(rest))


def _end(tokens: Tokens) -> None:
    """After the data: at most one flag, then nothing or a remark in words."""
    count = _numbers_left(tokens, 2)
    if count > 1:
        raise tokens.error(f"{tokens.left} words follow the data: expected one flag at most")


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
