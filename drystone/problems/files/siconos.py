"""Siconos' text files: LCP, mixed LCP, friction in local and in global form, read and written.

The files carry no name of what they hold. Each statement begins with small integers whose
meaning differs, so every statement whose head fits is tried, and the first that fits to the end
of the file is the one.

Matrices have three storages: dense, block CSR, and the print-out of CSparse. Dense matrices are
written as they are, W as block CSR, sparse M and H of a global problem as triplets; 17 digits, so
that the file holds the very same numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

import numpy as np
import scipy.sparse as sp

from drystone.errors import ProblemFileError
from drystone.problems import (
    LCP,
    BoxedLCP,
    FrictionProblem,
    GlobalFrictionProblem,
    MixedLCP,
    Problem,
)
from drystone.problems._check import Matrix
from drystone.problems.delassus import DelassusOperator
from drystone.problems.files.shared import compact, completed, refuse_unsayable
from drystone.problems.files.tokens import Tokens, is_number
from drystone.types import Floats

NM_DENSE, NM_BLOCKS, NM_SPARSE = 0, 1, 2  # codes of storage in the files of Siconos (NM_types)
COMPRESSED = 2  # origin of a CSparse print-out; 1 is triplets, 3 (compressed rows) not printed
HEADER_WORDS = 7  # "col J : locations A to B"
# readers skip this line; its wording is that of every print-out of the library
CSPARSE = "CSparse Version 3.1.9, May 4, 2016.  Copyright (c) Timothy A. Davis, 2006-2016"


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


def read_matrix(
    tokens: Tokens, name: str, rows: int | None = None, columns: int | None = None
) -> Matrix:
    """`storage rows cols` and the entries: an array, or CSR for the sparse storages.

    rows, columns: what the file has said before about the size; None: any.
    """
    storage = tokens.integer(f"storage of {name}", NM_DENSE, NM_SPARSE)
    reader = (_dense, _blocks, _sparse)[storage]
    return reader(tokens, name, *_shape(tokens, name, rows, columns))


def _shape(tokens: Tokens, name: str, rows: int | None, columns: int | None) -> tuple[int, int]:
    """The next two words; an error where they are not what is expected."""
    shape = []
    for expected, word in ((rows, "rows"), (columns, "columns")):
        size = tokens.integer(f"{word} of {name}")
        if expected is not None and size != expected:
            raise tokens.error(f"{name} has {size} {word}: expected {expected}", tokens.at - 1)
        shape.append(size)
    return shape[0], shape[1]


def _dense(tokens: Tokens, name: str, rows: int, columns: int) -> Matrix:
    _shape(tokens, name, rows, columns)
    entries = tokens.floats(rows * columns, name)
    return np.ascontiguousarray(entries.reshape(columns, rows).T)


def _blocks(tokens: Tokens, name: str, rows: int, columns: int) -> Matrix:
    count = tokens.integer(f"number of blocks of {name}")
    block_rows = tokens.integer(f"block rows of {name}")
    block_columns = tokens.integer(f"block columns of {name}")
    row_ends = _ends(tokens, block_rows, rows, f"row ends of {name}")
    column_ends = _ends(tokens, block_columns, columns, f"column ends of {name}")
    # a matrix whose last block rows are empty may stop its pointer early
    pointers = tokens.integer(f"length of the row pointer of {name}", 1, block_rows + 1)
    stored = tokens.integer(f"length of the column indices of {name}", count, count)
    pointer = tokens.integers(pointers, f"row pointer of {name}", 0, count)
    if pointer[0] != 0 or pointer[-1] != count or (np.diff(pointer) < 0).any():
        raise tokens.error(f"row pointer of {name} does not rise from 0 to {count}", tokens.at - 1)
    column = tokens.integers(stored, f"column index of {name}", 0, max(block_columns - 1, 0))
    row = np.repeat(np.arange(pointers - 1), np.diff(pointer))

    heights, widths = np.diff(row_ends)[row], np.diff(column_ends)[column]
    lengths = heights * widths
    begins = np.concatenate([[0], np.cumsum(1 + lengths)])
    values = tokens.floats(int(begins[-1]), f"blocks of {name}")
    numbers = values[begins[:-1]]
    wrong = np.flatnonzero(numbers != np.arange(count))
    if wrong.size:
        k = int(wrong[0])
        at = tokens.at - values.size + int(begins[k])
        raise tokens.error(f"block {k} of {name} is numbered {tokens.shown(at)}", at)
    # entry e of block k, column-major: row e % height, column e // height
    block = np.repeat(np.arange(count), lengths)
    entry = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    i = row_ends[row][block] + entry % heights[block]
    j = column_ends[column][block] + entry // heights[block]
    return _csr(values[np.repeat(begins[:-1] + 1, lengths) + entry], i, j, (rows, columns))


def _ends(tokens: Tokens, count: int, size: int, what: str) -> np.ndarray:
    """(count + 1,) boundaries: 0, then the cumulative ends, the last of which is `size`."""
    ends = np.concatenate([[0], tokens.integers(count, what, 0, size)])
    if ends[-1] != size or (np.diff(ends) <= 0).any():
        raise tokens.error(f"{what} do not rise from 0 to {size}", tokens.at - 1)
    return ends


def _sparse(tokens: Tokens, name: str, rows: int, columns: int) -> Matrix:
    origin = tokens.integer(f"origin of {name}", 1, COMPRESSED)
    if tokens.word(f"CSparse heading of {name}") != b"CSparse":
        raise tokens.error(f"{name}: expected a CSparse print-out", tokens.at - 1)
    tokens.at = _after_copyright(tokens, name)
    if origin != COMPRESSED and tokens.word(f"heading of {name}") != b"triplet:":
        raise tokens.error(f"{name}: expected 'triplet:'", tokens.at - 1)
    # every dimension is also the length of a vector that follows
    tokens.need(max(rows, columns), f"{name} of {rows} x {columns}")
    found = re.fullmatch(rb"(\d+)-by-(\d+),", tokens.word(f"shape of {name}"))
    if not found or (int(found[1]), int(found[2])) != (rows, columns):
        raise tokens.error(f"{name}: expected '{rows}-by-{columns},'", tokens.at - 1)
    _expect(tokens, b"nzmax:", name)
    tokens.word(f"nzmax of {name}")
    _expect(tokens, b"nnz:", name)
    stored = tokens.word(f"nnz of {name}").rstrip(b",")
    if not stored.isdigit() or int(stored) > tokens.left:
        shown = tokens.shown(tokens.at - 1)
        raise tokens.error(f"nnz of {name} is {shown}: more than the file holds", tokens.at - 1)
    if origin == COMPRESSED:
        _expect(tokens, b"1-norm:", name)
        tokens.word(f"norm of {name}")
        return _columns(tokens, name, rows, columns, int(stored))
    return _triplets(tokens, name, rows, columns, int(stored))


def _after_copyright(tokens: Tokens, name: str) -> int:
    """Place behind 'CSparse Version ... Copyright (c) Timothy A. Davis, 2006-2016'."""
    for k in range(tokens.at, min(tokens.at + 20, tokens.limit)):
        if tokens.words[k].startswith(b"Davis"):
            return k + 2
    raise tokens.error(f"{name}: expected the heading of a CSparse print-out")


def _expect(tokens: Tokens, word: bytes, name: str) -> None:
    if tokens.word(name) != word:
        shown = tokens.shown(tokens.at - 1)
        raise tokens.error(f"{name}: expected {word.decode()!r}, found {shown}", tokens.at - 1)


def _triplets(tokens: Tokens, name: str, rows: int, columns: int, count: int) -> Matrix:
    """`row column : value`, count times."""
    tokens.need(4 * count, f"{count} entries of {name}")
    begin, end = tokens.at, tokens.at + 4 * count
    tokens.at = end
    i = tokens.as_integers(begin, end, 4, f"row in {name}", 0, rows - 1)
    j = tokens.as_integers(begin + 1, end, 4, f"column in {name}", 0, columns - 1)
    values = tokens.as_floats(begin + 3, end, 4, f"entry of {name}")
    return _csr(values, i, j, (rows, columns))


def _columns(tokens: Tokens, name: str, rows: int, columns: int, count: int) -> Matrix:
    """For each column `col J : locations A to B`, then `row : value` for A..B."""
    tokens.need(HEADER_WORDS * columns + 3 * count, f"{count} entries of {name}")
    words, at, lengths, entry = tokens.words, tokens.at, [], []
    for j in range(columns):
        tokens.at = at
        _expect(tokens, b"col", name)
        tokens.integer(f"column of {name}", j, j)
        tokens.at = at + 4
        first = tokens.integer(f"first location of column {j} of {name}", 0, count)
        tokens.at = at + 6
        last = tokens.integer(f"last location of column {j} of {name}", first - 1, count - 1)
        at += HEADER_WORDS
        length = last - first + 1
        entry.extend(words[at : at + 3 * length])
        lengths.append(length)
        at += 3 * length
    tokens.at = at
    if sum(lengths) != count or at > tokens.limit:
        raise tokens.error(f"{name} has {sum(lengths)} entries: expected {count}", at - 1)
    try:
        i = np.fromiter(map(int, entry[::3]), dtype=np.int64, count=count)
        values = np.fromiter(map(float, entry[2::3]), dtype=np.float64, count=count)
    except (ValueError, OverflowError):
        i, values = np.empty(0, dtype=np.int64), np.full(1, np.nan)
    if not np.isfinite(values).all() or (i < 0).any() or (i >= rows).any():
        raise _bad_column_entry(tokens, name, rows, lengths)
    return _csr(values, i, np.repeat(np.arange(columns), lengths), (rows, columns))


def _bad_column_entry(tokens: Tokens, name: str, rows: int, lengths: list[int]) -> Exception:
    """The error of the first entry that is not `row : value` (one must be there)."""
    at = tokens.at - HEADER_WORDS * len(lengths) - 3 * sum(lengths)
    try:
        for length in lengths:
            at += HEADER_WORDS
            tokens.as_integers(at, at + 3 * length, 3, f"row in {name}", 0, rows - 1)
            tokens.as_floats(at + 2, at + 3 * length, 3, f"entry of {name}")
            at += 3 * length
    except ValueError as error:
        return error
    return tokens.error(f"{name}: an entry is not a number")


def _csr(values: np.ndarray, i: np.ndarray, j: np.ndarray, shape: tuple[int, int]) -> Matrix:
    return sp.csr_array(sp.coo_array((values, (i, j)), shape=shape))


def write(problem: Problem, path: Path) -> None:
    if isinstance(problem, BoxedLCP):
        half = (problem.lower == 0) | problem.free
        if not half.all() or not np.isposinf(problem.upper).all():
            raise ProblemFileError(f"{path}: Siconos' text knows no boxes; use .npz")
    else:
        refuse_unsayable(problem, path, "Siconos' text")
        if problem.bilateral:
            raise ProblemFileError(f"{path}: Siconos' text knows no bilateral rows; use .hdf5")
    with path.open("w", encoding="ascii") as file:
        if isinstance(problem, BoxedLCP):
            _write_lcp(file, problem)
        else:
            _write_friction(file, problem)


def _write_lcp(file: TextIO, problem: BoxedLCP) -> None:
    free, n, size = problem.free, int(problem.free.sum()), problem.size
    if isinstance(problem, LCP):
        file.write(f"{size}\n")
    else:
        bounds = [0, *(np.flatnonzero(np.diff(free)) + 1).tolist(), size]
        file.write(f"1\n0\n{n}\n{size - n}\n")
        file.write(" ".join(map(str, bounds)) + "\n")
        file.write(" ".join("0" if free[k] else "1" for k in bounds[:-1]) + "\n")
    _write_matrix(file, problem.M if isinstance(problem, LCP) else problem.dense, 1, 1)
    _write_vector(file, problem.q)


def _write_friction(file: TextIO, problem: FrictionProblem | GlobalFrictionProblem) -> None:
    file.write(f"{problem.dim}\n{problem.nc}\n")
    vectors = [problem.q, problem.mu]
    if isinstance(problem, FrictionProblem):
        W = problem.W.formed() if isinstance(problem.W, DelassusOperator) else problem.W
        _write_matrix(file, W, problem.dim, problem.dim)
    else:
        vectors.insert(1, problem.b)
        for matrix in (problem.M, problem.H):
            if isinstance(problem.M, np.ndarray):
                _write_matrix(file, matrix if matrix is problem.M else matrix.toarray(), 1, 1)
            else:
                _write_triplets(file, sp.coo_array(matrix))
    for vector in vectors:
        _write_vector(file, vector)


def _write_matrix(file: TextIO, matrix: Matrix, height: int, width: int) -> None:
    rows, columns = matrix.shape
    if isinstance(matrix, np.ndarray):
        file.write(f"0\n{rows}\n{columns}\n{rows}\t{columns}\n")
        for column in matrix.T:
            _write_vector(file, column)
        return
    blocks = sp.bsr_array(matrix, blocksize=(height, width))
    blocks.sort_indices()
    file.write(f"1\n{rows}\n{columns}\n{blocks.indices.size}\n")
    file.write(f"{rows // height}\n{columns // width}\n")
    for size, step in ((rows, height), (columns, width)):
        _write_integers(file, np.arange(step, size + 1, step))
    file.write(f"{blocks.indptr.size}\n{blocks.indices.size}\n")
    _write_integers(file, blocks.indptr)
    _write_integers(file, blocks.indices)
    for k, block in enumerate(blocks.data):
        file.write(f"{k}\n")
        _write_vector(file, block.T.ravel())


def _write_triplets(file: TextIO, matrix: sp.coo_array) -> None:
    """As CSparse prints it, but with all digits; what sparse solvers of global problems want."""
    (rows, columns), count = matrix.shape, matrix.nnz
    file.write(f"2\n{rows}\n{columns}\n1\n{CSPARSE}\n")
    file.write(f"triplet: {rows}-by-{columns}, nzmax: {count} nnz: {count}\n")
    i, j = matrix.coords
    for entry in zip(i.tolist(), j.tolist(), matrix.data.tolist(), strict=True):
        file.write("    {} {} : {:.17e}\n".format(*entry))


def _write_integers(file: TextIO, values: np.ndarray) -> None:
    file.write("\t".join(map(str, values.tolist())) + "\n")


def _write_vector(file: TextIO, values: Floats) -> None:
    file.write(" ".join(f"{value:.17e}" for value in values.tolist()) + "\n")
