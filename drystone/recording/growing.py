"""Datasets of a recording that grow, and how rows come to lie in the file.

HDF5 says where the chunks of a dataset lie, as soon as it has the extent; rows are then written
there as they are in memory, by a call of the system during which others may use Python. HDF5's own
writing keeps them out of it until the system has taken the rows.
"""

from __future__ import annotations

import os
from functools import cached_property
from typing import Any

import h5py
import numpy as np

SMALL = 1 << 12  # bytes that are sooner copied than written by a call of their own


def make_growing(
    file: h5py.File, name: str, data: np.ndarray, chunk: int, more: int = 0
) -> h5py.Dataset:
    """A dataset with the rows of `data` and room for `more`, that can grow without end; chunk:
    rows that lie together."""
    made = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    made.set_chunk((chunk, *data.shape[1:]))
    made.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)  # with the extent, not with the first rows
    made.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    links = h5py.h5p.create(h5py.h5p.LINK_CREATE)
    links.set_create_intermediate_group(True)
    shape = (len(data) + more, *data.shape[1:])
    space = h5py.h5s.create_simple(shape, (h5py.h5s.UNLIMITED, *data.shape[1:]))
    kind = h5py.h5t.py_create(data.dtype, logical=True)
    out = h5py.Dataset(h5py.h5d.create(file.id, name.encode(), kind, space, made, links))
    if len(data):
        out[: len(data)] = data
    return out


class Growing:
    """A dataset that rows are appended to; rows: how many it has, chunk: how many lie together.

    file: descriptor of the file, open for writing.
    """

    def __init__(self, dataset: Any, file: int) -> None:
        self.id, self._file = dataset, file
        self.rows, *self._row = dataset.shape
        made = dataset.get_create_plist()
        self.chunk = made.get_chunk()[0]
        self.row_bytes = int(dataset.get_type().get_size() * np.prod(self._row))
        self._at, self._address = -1, 0  # the chunk that was written to last, and where it lies
        # files of earlier versions allocate chunks late, and not every system has pwrite
        early = made.get_alloc_time() == h5py.h5d.ALLOC_TIME_EARLY
        self._put = self._direct if early and hasattr(os, "pwrite") else self._through

    @cached_property
    def _kind(self) -> np.dtype[Any]:
        return np.dtype(self.id.dtype)

    def append(self, parts: list[np.ndarray]) -> None:
        self.id.set_extent((self.rows + sum(map(len, parts)), *self._row))
        few = len(parts) > 1 and sum(part.nbytes for part in parts) < SMALL * len(parts)
        for part in [np.concatenate(parts)] if few else parts:
            self._put(np.ascontiguousarray(part, self._kind))
            self.rows += len(part)

    def _direct(self, part: np.ndarray) -> None:
        data, first = memoryview(part.reshape(-1).view(np.uint8).data), self.rows
        last = first + len(part)
        while first < last:
            number, place = divmod(first, self.chunk)
            if number != self._at:
                start = (number * self.chunk, *(0 for _ in self._row))
                self._at = number
                self._address = self.id.get_chunk_info_by_coord(start).byte_offset
            count = min(self.chunk - place, last - first)
            size = count * self.row_bytes
            _write(self._file, data[:size], self._address + place * self.row_bytes)
            data, first = data[size:], first + count

    def _through(self, part: np.ndarray) -> None:
        space, shape = self.id.get_space(), (len(part), *self._row)
        space.select_hyperslab((self.rows, *(0 for _ in self._row)), shape)
        self.id.write(h5py.h5s.create_simple(shape), space, part)


def _write(file: int, data: memoryview, place: int) -> None:
    while data:
        done = os.pwrite(file, data, place)
        data, place = data[done:], place + done
