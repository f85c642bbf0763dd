"""Room on the disk, asked for before it is needed: HDF5 does not survive a write that fails."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from drystone.recording.opening import END

AHEAD = 1 << 23  # bytes that are asked for at a time
SPARE = 1 << 20  # beyond the rows themselves: indices, and what closing the file writes
EACH = 64  # bytes in the index of a dataset for one of its chunks


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
        wanted = self._base + self._taken(more) + SPARE
        if wanted <= self._ready:
            return
        try:
            self._reserve(wanted + AHEAD)
        except OSError:
            self._reserve(wanted)

    def close(self, whole: bool) -> None:
        """Give back what was not needed; whole: the file is closed, and says where it ends."""
        try:
            if whole:
                end = int.from_bytes(_at(self._file, END), "little")
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
