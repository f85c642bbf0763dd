"""The file of a recording while it is written: a thread appends to it and flushes often.

HDF5's mode for one writer and many readers keeps the file whole at every instant: what a flush
wrote can be read after the process was killed, and others may read while it grows.
"""

from __future__ import annotations

import atexit
import os
import shutil
import threading
from collections.abc import Callable, Mapping
from math import isnan, nan
from pathlib import Path
from queue import Empty, Queue
from time import perf_counter
from typing import Any

import h5py
import numpy as np

from drystone.errors import RecordingError, WriteError
from drystone.plain_files import kind_of
from drystone.recording.datasets import Growing, make_fixed, make_growing
from drystone.recording.layout import Kind
from drystone.recording.locks import Lock
from drystone.recording.opening import EOF_ADDRESS, check_replaceable

FLUSH_INTERVAL = 0.2  # [s] of wall time between two flushes
QUEUE_LENGTH = 8  # batches in the queue: a run that is faster than the disk waits
BEGIN = 0.05  # [s] the file is made after the first rows, or if there are none so long
DIRECT_BYTES = 1 << 18  # bytes of rows that are written at once; fewer wait for more

Rows = dict[str, np.ndarray]
Batch = tuple[Callable[[], Rows], Callable[[], None] | None]
RESERVED = 1 << 23  # bytes that are asked for at a time
OVERHEAD = 1 << 20  # beyond the rows themselves: indices, and what closing the file writes
EACH = 64  # bytes in the index of a dataset for one of its chunks


def create(
    lock: Lock,
    growing: Mapping[str, Kind],
    chunks: Mapping[str, int],
    fixed: Mapping[str, np.ndarray],
    rows: Rows,
) -> None:
    """A closed file with all its datasets: `fixed` arrays, and `growing` ones with their first
    `rows` and as many rows in a chunk as `chunks` says.

    It appears under its name when it is complete.
    """
    part = lock.part
    try:
        with h5py.File(part, "w", libver="latest") as file:
            for name, array in fixed.items():
                make_fixed(file, name, array)
            for name, (shape, kind) in growing.items():
                data = np.asarray(rows.get(name, np.empty((0, *shape))), kind)
                make_growing(file, name, data, chunks[name])
        lock.hold(part)
        os.replace(part, lock.path)
    except (OSError, RuntimeError) as error:
        part.unlink(missing_ok=True)
        raise WriteError(f"{lock.asked}: cannot be written: {reason(error)}") from None


def check_place(path: Path, overwrite: bool) -> Lock:
    """The right to make a file there; RecordingError, before the run begins, if none can be made.
    overwrite: a recording that is there may be replaced."""
    try:
        odd = kind_of(path) if path.exists() else ""
    except OSError as error:  # a name that is too long, a folder that may not be read
        odd = reason(error)
    if odd:
        raise RecordingError(f"{path}: cannot be written: {odd}")
    lock = Lock(path)
    try:
        if path.exists() and not overwrite:
            raise RecordingError(
                f"{path}: exists already: record to another file, or say that it may be replaced "
                "(overwrite=True)"
            )
        if path.exists():
            check_replaceable(path)
        lock.part.touch()
    except OSError as error:
        lock.release()
        raise RecordingError(f"{path}: cannot be written: {reason(error)}") from None
    except RecordingError:
        lock.release()
        raise
    return lock


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
    access.set_file_locking(False, True)  # the file is locked already
    entries, slots, _, keep = access.get_cache()
    access.set_cache(entries, slots, 0, keep)  # rows go to the file as they are, without a copy
    flags = h5py.h5f.ACC_RDWR | h5py.h5f.ACC_SWMR_WRITE
    try:
        return h5py.File(h5py.h5f.open(os.fsencode(path), flags, access))
    except OSError as error:
        raise RecordingError(f"{path}: cannot be appended to: {reason(error)}") from None


class Writer:
    """Appends to the datasets of a file, in the order of `names`, in the background; make: makes
    the file first, also there; lock: the right to write it, given back at the end.

    Batches are functions that make rows, so that also this is done by the thread. What goes wrong
    is raised as RecordingError by the next ``put`` or by ``close``.
    """

    def __init__(
        self,
        path: Path,
        names: tuple[str, ...],
        lock: Lock,
        make: Callable[[], None] | None = None,
    ) -> None:
        self.path, self._names, self._make, self._lock = path, names, make, lock
        self._sets: dict[str, Growing] = {}
        self._last = nan  # [s] time of the last frame that was written
        self._queue: Queue[Batch | None] = Queue(QUEUE_LENGTH)
        self._error: Exception | None = None
        self._told = False  # that nothing more comes
        self._grown: set[str] = set()  # datasets with rows that were not flushed yet
        self._go = threading.Event()
        self._thread = threading.Thread(target=self._work, name="drystone-recording", daemon=True)
        self._thread.start()
        atexit.register(self._end)

    def put(self, make: Callable[[], Rows]) -> None:
        """Have rows appended; waits where too many batches do."""
        self._check()
        self._go.set()
        self._queue.put((make, None))

    def pass_on(self, make: Callable[[], Rows], done: Callable[[], None]) -> None:
        """The same where nothing may be raised: a later call raises what went wrong. done: called
        when the arrays of the rows are not needed any more."""
        if self._error is None:
            self._queue.put((make, done))

    def close(self) -> None:
        """Write what is left and close the file."""
        self._end()
        self._check()

    def _end(self) -> None:
        atexit.unregister(self._end)
        if self._thread.is_alive():
            self._go.set()
            self._queue.put(None)
            self._thread.join()
        self._lock.release()

    def _check(self) -> None:
        error = self._error
        if isinstance(error, OSError | RuntimeError):
            raise WriteError(
                f"{self.path}: writing failed: {reason(error)}; {self._kept()}"
            ) from None
        if error is not None:
            raise error

    def _kept(self) -> str:
        """What is in the file after a failure, in words."""
        if "frames/time" not in self._sets:
            return "nothing was kept"
        n = self._sets["frames/time"].rows
        until = "" if isnan(self._last) else f", until {self._last:g} s,"
        return f"{n} frames{until} were kept and can be read"

    def _work(self) -> None:
        self._go.wait(BEGIN)  # the caller has the interpreter to itself until its loop runs
        try:
            if self._make is not None:
                self._make()
            self._file = open_to_append(self._lock.path)
        except Exception as error:  # raised at the next call of the recorder
            self._fail(error)
            return
        self._sets = {
            name: Growing(h5py.h5d.open(self._file.id, name.encode())) for name in self._names
        }
        self._room = Room(self._lock.path, self._sets)
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
        while not self._told and self._queue.get() is not None:
            pass

    def _append(self) -> None:
        waiting: dict[str, list[np.ndarray]] = {}
        flushed = perf_counter()
        while True:
            try:
                batch = self._queue.get(timeout=FLUSH_INTERVAL if self._grown or waiting else None)
            except Empty:
                batch = dict, None
            self._told = batch is None
            if batch is not None:
                make, done = batch
                self._take(make(), done, waiting)
            if batch is None or perf_counter() - flushed > FLUSH_INTERVAL:
                self._write(waiting)
                self._flush()
                waiting, flushed = {}, perf_counter()
            if batch is None:
                return

    def _take(
        self, rows: Rows, done: Callable[[], None] | None, waiting: dict[str, list[np.ndarray]]
    ) -> None:
        """Write what is large, with what waits of the same dataset, and have the rest wait."""
        large = {}
        for name, part in rows.items():
            if part.nbytes >= DIRECT_BYTES:
                large[name] = [*waiting.pop(name, ()), part]
            elif len(part):
                waiting.setdefault(name, []).append(part if done is None else part.copy())
        if large:
            self._write(large)
        if done is not None:
            done()

    def _write(self, waiting: Mapping[str, list[np.ndarray]]) -> None:
        self._room.ask({name: sum(map(len, rows)) for name, rows in waiting.items()})
        for name in self._names:
            if name in waiting:
                self._sets[name].append(waiting[name])
                self._grown.add(name)
                if name == "frames/time":
                    self._last = float(waiting[name][-1][-1])

    def _flush(self) -> None:
        """Let others see the rows, in the order in which datasets depend on each other."""
        for name in self._names:
            if name in self._grown:
                self._sets[name].id.flush()
        self._grown.clear()


class Room:
    """Makes sure of the bytes that datasets are about to take; OSError if there are none."""

    def __init__(self, path: Path, sets: Mapping[str, Any]) -> None:
        self.path, self._sets = path, sets
        begin = path.stat().st_size
        self._base = begin - self._taken({})
        self._ready = begin
        self._file = os.open(path, os.O_RDWR | getattr(os, "O_BINARY", 0))

    def ask(self, more: Mapping[str, int]) -> None:
        """Room for so many rows more of each dataset."""
        wanted = self._base + self._taken(more) + OVERHEAD
        if wanted <= self._ready:
            return
        try:
            self._reserve(wanted + RESERVED)
        except OSError:
            self._reserve(wanted)

    def close(self, whole: bool) -> None:
        """Give back what was not needed; whole: the file is closed, and says where it ends."""
        try:
            if whole:
                end = int.from_bytes(_at(self._file, EOF_ADDRESS), "little")
                if 0 < end < os.fstat(self._file).st_size:
                    os.ftruncate(self._file, end)
        finally:
            os.close(self._file)

    def _taken(self, more: Mapping[str, int]) -> int:
        """Bytes of all datasets with these rows more: chunks are written whole."""
        total = 0
        for name, item in self._sets.items():
            chunks = -(-(item.rows + more.get(name, 0)) // item.chunk)
            total += chunks * (item.chunk * item.row_bytes + EACH)
        return total

    def _reserve(self, end: int) -> None:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(self._file, 0, end)
        elif shutil.disk_usage(self.path.parent).free < end - self._ready:
            raise OSError("No space left on device")
        else:  # readers take chunks whole, also those that are written in part
            os.ftruncate(self._file, end)
        self._ready = end


def _at(file: int, place: int) -> bytes:
    os.lseek(file, place, os.SEEK_SET)
    return os.read(file, 8)
