"""Datasets of a recording that grow."""

from __future__ import annotations

from functools import cache, cached_property
from typing import Any

import h5py
import numpy as np

COPIED_BYTES = 1 << 12  # bytes that are sooner copied than written by a call of their own


def make_growing(
    file: h5py.File, name: str, data: np.ndarray, chunk: int, more: int = 0
) -> h5py.Dataset:
    """A dataset with the rows of `data` and room for `more`, that can grow without end; chunk:
    rows that lie together."""
    row = data.shape[1:]
    # by HDF5's own calls: h5py's cost more than what they do
    plan = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plan.set_chunk((chunk, *(max(n, 1) for n in row)))
    plan.set_obj_track_times(False)
    space = h5py.h5s.create_simple((len(data) + more, *row), _growing_to(row))
    kind = h5py.h5t.py_create(data.dtype, logical=True)
    out = h5py.h5d.create(file.id, name.encode(), kind, space, plan, _links())
    if len(data):
        rows = h5py.h5s.create_simple(data.shape)
        space.select_hyperslab((0,) * data.ndim, data.shape)
        out.write(rows, space, np.ascontiguousarray(data))
    return h5py.Dataset(out)


def make_fixed(file: h5py.File, name: str, data: np.ndarray) -> None:
    """A dataset that stays as it is."""
    kind = h5py.h5t.py_create(data.dtype, logical=True)
    space = h5py.h5s.create_simple(data.shape)
    out = h5py.h5d.create(file.id, name.encode(), kind, space, None, _links())
    out.write(h5py.h5s.ALL, h5py.h5s.ALL, np.ascontiguousarray(data))


def _growing_to(row: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that a dataset may grow to; rows of no bodies fit no chunk otherwise."""
    return h5py.h5s.UNLIMITED, *(n or h5py.h5s.UNLIMITED for n in row)


@cache
def _links() -> Any:
    """Groups on the way to a dataset are made with it."""
    out = h5py.h5p.create(h5py.h5p.LINK_CREATE)
    out.set_create_intermediate_group(True)
    return out


class Growing:
    """A dataset that rows are appended to; rows: how many it has, chunk: how many lie together."""

    def __init__(self, dataset: Any) -> None:
        self.id = dataset
        self.rows, *self._row = dataset.shape
        self.chunk = dataset.get_create_plist().get_chunk()[0]
        self.row_bytes = int(dataset.get_type().get_size() * np.prod(self._row))

    @cached_property
    def _kind(self) -> np.dtype[Any]:
        return np.dtype(self.id.dtype)

    def append(self, parts: list[np.ndarray]) -> None:
        self.id.set_extent((self.rows + sum(map(len, parts)), *self._row))
        few = len(parts) > 1 and sum(part.nbytes for part in parts) < COPIED_BYTES * len(parts)
        space = self.id.get_space()
        for part in [np.concatenate(parts)] if few else parts:
            shape = (len(part), *self._row)
            space.select_hyperslab((self.rows, *(0 for _ in self._row)), shape)
            rows = np.ascontiguousarray(part, self._kind)
            self.id.write(h5py.h5s.create_simple(shape), space, rows)
            self.rows += len(part)
