"""The three matrix storages of Siconos' text files: dense, block CSR, CSparse print-out."""

from __future__ import annotations

import re

import numpy as np
import scipy.sparse as sp

from drystone.problems._check import Matrix
from drystone.problems.files.tokens import Tokens

DENSE, BLOCKS, SPARSE = 0, 1, 2  # codes of storage in the files of Siconos (NM_types)
COMPRESSED = 2  # origin of a CSparse print-out; 1 is triplets, 3 (compressed rows) not printed
HEADER_WORDS = 7  # "col J : locations A to B"


def read_matrix(
    tokens: Tokens, name: str, rows: int | None = None, columns: int | None = None
) -> Matrix:
    """`storage rows cols` and the entries: an array, or CSR for the sparse storages.

    rows, columns: what the file has said before about the size; None: any.
    """
    storage = tokens.integer(f"storage of {name}", DENSE, SPARSE)
    shape = []
    for expected, word in ((rows, "rows"), (columns, "columns")):
        size = tokens.integer(f"{word} of {name}")
        if expected is not None and size != expected:
            raise tokens.error(f"{name} has {size} {word}: expected {expected}", tokens.at - 1)
        shape.append(size)
    reader = (_dense, _blocks, _sparse)[storage]
    return reader(tokens, name, shape[0], shape[1])


def _dense(tokens: Tokens, name: str, rows: int, columns: int) -> Matrix:
    for expected, word in ((rows, "rows"), (columns, "columns")):
        size = tokens.integer(f"{word} of {name}")
        if size != expected:
            raise tokens.error(f"{name} has {size} {word}: expected {expected}", tokens.at - 1)
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
