"""Whether what a recording holds is what was written: CRC-32 of everything that HDF5 keeps no sums
of. A changed byte changes the sum, whatever it was."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from drystone.recording import layout
from drystone.types import Ints

FIXED = ("about", "document", "model")
SHARED = (layout.contacts.LAWS, layout.contacts.FEATURES)


def checksum(parts: Mapping[str, np.ndarray]) -> int:
    """Of everything that never changes."""
    total = 0
    for name in sorted(parts):
        total = zlib.crc32(name.encode(), total)
        total = zlib.crc32(np.ascontiguousarray(parts[name]).tobytes(), total)
    return total


def text_array(text: str) -> np.ndarray:
    """A text as bytes: HDF5 has no checksums for its own kind of texts."""
    return np.frombuffer(text.encode(), np.uint8)


def with_sums(rows: Any, dtype: Any) -> np.ndarray:
    """Rows of numbers (n, m), each with its own sum as one number more."""
    values = np.ascontiguousarray(rows, dtype)
    return np.column_stack([values, row_sums(values).astype(dtype)])


def whole_rows(rows: np.ndarray) -> np.ndarray:
    """(n,) whether rows from ``with_sums`` are what was written."""
    return row_sums(rows[:, :-1]) == rows[:, -1]


def row_sums(rows: np.ndarray) -> Ints:
    """(n,) of each row."""
    return np.array(_pieces(rows, range(len(rows) + 1)), np.int64)


def _pieces(rows: np.ndarray, ends: Sequence[int]) -> list[int]:
    """Of the rows between each of these places and the next."""
    if not len(rows):
        return [0] * (len(ends) - 1)
    flat = np.ascontiguousarray(rows).reshape(-1).view(np.uint8).data
    each = len(flat) // len(rows)
    at = [end * each for end in ends]
    return [zlib.crc32(flat[a:b]) for a, b in pairwise(at)]


def note_sum(place: Ints, text: bytes) -> int:
    """Of a text and of where it lies: its end and size."""
    return zlib.crc32(text, zlib.crc32(np.ascontiguousarray(place, np.int64).tobytes()))


def note_rows(texts: list[np.ndarray], end: int) -> np.ndarray:
    """Rows of `note_index` for texts as bytes, of which the first begins at `end`."""
    sizes = np.array([text.size for text in texts], np.int64)
    rows = np.column_stack([end + np.cumsum(sizes), sizes])
    sums = [note_sum(row, text.tobytes()) for row, text in zip(rows, texts, strict=True)]
    return np.column_stack([rows, np.array(sums, np.int64)])


def line_sums(time: np.ndarray, kick: np.ndarray, ends: Ints) -> Ints:
    """(n,) of the first column of `frames/sums`."""
    parts = [np.ascontiguousarray(x, np.float64).view(np.int64)[:, None] for x in (time, kick)]
    return row_sums(np.concatenate([*parts, np.asarray(ends, np.int64)], axis=1))


def part_sums(rows: np.ndarray, ends: Ints) -> Ints:
    """(n,) of the rows of a ragged part, of n frames; ends (n,), from the first of the rows."""
    return np.array(_pieces(rows, [0, *np.asarray(ends).tolist()]), np.int64)


def shared_sums(rows: np.ndarray, before: np.ndarray, ends: Ints, count: Ints) -> Ints:
    """(n,) of what the contacts of n frames share: of all rows of a frame where there is one for
    each of its contacts, else of the last that was said. before: the row before the first, or none;
    ends (n,): of the rows; count (n,): of contacts."""
    each = np.diff(ends, prepend=0)
    out = part_sums(rows, ends)
    other = np.flatnonzero(each != count)
    if other.size:
        said = row_sums(np.concatenate([before, rows]))
        last = ends[other] + len(before) - 1
        out[other] = np.where(last >= 0, said[np.maximum(last, 0)] if len(said) else 0, 0)
    out[count == 0] = 0
    return out


def frame_sums(
    rows: Mapping[str, np.ndarray],
    kinds: Mapping[str, layout.Kind],
    first: Ints,
    before: Mapping[str, np.ndarray],
) -> np.ndarray:
    """(n, len(SUMS)) of n frames. rows: of every dataset that they have any of, `frames/ends` among
    them; first (ENDS,): the ends of the frame before them; before: see ``shared_sums``."""
    ends = rows["frames/ends"]
    out = np.zeros((len(ends), len(layout.SUMS)), np.uint32)
    out[:, 0] = line_sums(rows["frames/time"], rows["frames/kick"], ends)
    for column, name in enumerate(layout.SUMS[1:], 1):
        if name not in layout.RAGGED:
            out[:, column] = row_sums(np.ascontiguousarray(rows[f"frames/{name}"], "<f8"))
            continue
        shape, dtype = kinds[name]
        own = np.ascontiguousarray(rows.get(name, np.empty((0, *shape))), dtype)
        at = ends[:, layout.RAGGED[name]] - first[layout.RAGGED[name]]
        if name in SHARED:
            count = np.diff(ends[:, layout.CONTACTS], prepend=first[layout.CONTACTS])
            out[:, column] = shared_sums(own, before[name], at, count)
        elif len(own):
            out[:, column] = part_sums(own, at)
    return out
