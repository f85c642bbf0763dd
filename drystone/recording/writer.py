"""The file of a recording while it is written: a thread appends to it and flushes often.

HDF5's mode for one writer and many readers keeps the file whole at every instant: what a flush
wrote can be read after the process was killed, and others may read while it grows.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from queue import Empty, Queue
from time import perf_counter
from typing import Any

import h5py
import numpy as np

from drystone.errors import RecordingError
from drystone.recording.layout import Kind
from drystone.recording.room import Room

FLUSH = 0.2  # [s] of wall time between two flushes
LARGE = 1 << 23  # bytes that are not kept waiting
WAITING = 8  # batches in the queue: a run that is faster than the disk waits

Rows = dict[str, np.ndarray]


def create(
    path: Path,
    growing: Mapping[str, Kind],
    chunks: Mapping[str, int],
    fixed: Mapping[str, np.ndarray],
    rows: Rows,
) -> None:
    """A closed file with all its datasets: `fixed` arrays, and `growing` ones with their first
    `rows` and as many rows in a chunk as `chunks` says.

    It appears under its name when it is complete.
    """
    part = _part(path)
    try:
        with h5py.File(part, "w", libver="latest") as file:
            for name, array in fixed.items():
                file.create_dataset(name, data=array)
            for name, (shape, kind) in growing.items():
                data = np.asarray(rows.get(name, np.empty((0, *shape))), kind)
                file.create_dataset(
                    name,
                    data=data,
                    dtype=kind,
                    maxshape=(None, *shape),
                    chunks=(chunks[name], *shape),
                )
        os.replace(part, path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise RecordingError(f"{path}: cannot be written: {reason(error)}") from None


def check_place(path: Path) -> None:
    """RecordingError if no file can be made there; said before the run begins."""
    part = _part(path)
    try:
        part.touch()
        if path.is_dir():
            part.unlink()
            raise IsADirectoryError("it is a folder")
    except OSError as error:
        raise RecordingError(f"{path}: cannot be written: {reason(error)}") from None


def _part(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.part")


def reason(error: Exception) -> str:
    """What the system says, without HDF5's own long story."""
    text = getattr(error, "strerror", None) or str(error)
    for said in ("Permission denied", "No such file or directory", "No space left on device"):
        if said in text:
            return said
    return text.split("\n")[0]


def open_to_append(path: Path) -> h5py.File:
    """A file that was closed well, for one writer and many readers."""
    access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    access.set_libver_bounds(h5py.h5f.LIBVER_LATEST, h5py.h5f.LIBVER_LATEST)
    access.set_file_locking(True, True)  # where there are no locks, without
    flags = h5py.h5f.ACC_RDWR | h5py.h5f.ACC_SWMR_WRITE
    try:
        return h5py.File(h5py.h5f.open(os.fsencode(path), flags, access))
    except OSError as error:
        raise RecordingError(f"{path}: cannot be appended to: {reason(error)}") from None


class Writer:
    """Appends to the datasets of a file, in the order of `names`, in the background; make: makes
    the file first, also there.

    Batches are functions that make rows, so that also this is done by the thread. What goes wrong
    is raised as RecordingError by the next ``put`` or by ``close``.
    """

    def __init__(
        self, path: Path, names: tuple[str, ...], make: Callable[[], None] | None = None
    ) -> None:
        self.path, self._names, self._make = path, names, make
        self._queue: Queue[Callable[[], Rows] | None] = Queue(WAITING)
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._work, name="drystone-recording", daemon=True)
        self._thread.start()
        atexit.register(self._end)

    def put(self, make: Callable[[], Rows]) -> None:
        """Have rows appended; waits where too many batches do."""
        self._check()
        self._queue.put(make)

    def close(self) -> None:
        """Write what is left and close the file."""
        self._end()
        self._check()

    def _end(self) -> None:
        atexit.unregister(self._end)
        if self._thread.is_alive():
            self._queue.put(None)
            self._thread.join()

    def _check(self) -> None:
        error = self._error
        if isinstance(error, OSError | RuntimeError):
            raise RecordingError(
                f"{self.path}: writing failed: {reason(error)}; what was written before can be read"
            ) from None
        if error is not None:
            raise error

    def _work(self) -> None:
        try:
            if self._make is not None:
                self._make()
            self._file = open_to_append(self.path)
        except Exception as error:  # told to whoever records, at their next call
            self._fail(error)
            return
        self._sets = {name: self._file[name] for name in self._names}
        self._room = Room(self.path, self._sets)
        try:
            self._append()
        except Exception as error:
            self._fail(error)
        finally:
            try:
                self._file.close()
            except (OSError, RuntimeError) as error:
                self._error = self._error or OSError(str(error))
            self._room.close(self._error is None)

    def _fail(self, error: Exception) -> None:
        """Keep what went wrong, and let nobody wait for what will not be written."""
        self._error = error
        while self._queue.get() is not None:
            pass

    def _append(self) -> None:
        waiting: dict[str, list[np.ndarray]] = {}
        size, flushed = 0, perf_counter()
        while True:
            try:
                make = self._queue.get(timeout=FLUSH if waiting else None)
            except Empty:
                make = dict
            if make is None:
                self._write(waiting)
                return
            for name, rows in make().items():
                if len(rows):
                    waiting.setdefault(name, []).append(rows)
                    size += rows.nbytes
            if size > LARGE or perf_counter() - flushed > FLUSH:
                self._write(waiting)
                waiting, size, flushed = {}, 0, perf_counter()

    def _write(self, waiting: Mapping[str, list[np.ndarray]]) -> None:
        self._room.ask({name: sum(map(len, rows)) for name, rows in waiting.items()})
        for name in self._names:
            if name not in waiting:
                continue
            rows = waiting[name]
            data: Any = rows[0] if len(rows) == 1 else np.concatenate(rows)
            target = self._sets[name]
            n = target.shape[0]
            target.resize(n + len(data), axis=0)
            target[n:] = data
            target.flush()
