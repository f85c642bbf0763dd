"""Opening the file of a recording: one that was closed, is being written, or was left behind.

A writer marks the file as its own, and HDF5 opens it then only in a mode that waits, if need be
for ever, for bytes that a killed writer will never mend. So files are read through a view in which
the mark is cleared: whatever is not whole there is an error at once.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import h5py

from drystone.errors import RecordingError

SIGNATURE = b"\x89HDF\r\n\x1a\n"
FLAGS, END, SUM, SIZE = 11, 28, 44, 48  # places in the first bytes of the file (version 3)
MASK = 0xFFFFFFFF


def open_file(path: Path) -> tuple[h5py.File, bool]:
    """The file, and whether it was not closed: its writer still writes, or was killed."""
    if not path.is_file():
        raise RecordingError(
            f"{path}: {'is no file' if path.exists() else 'there is no such file'}"
        )
    try:
        with path.open("rb") as file:
            head = file.read(SIZE)
    except OSError as error:
        raise RecordingError(f"{path}: cannot be read: {error.strerror}") from None
    if not head:
        raise RecordingError(f"{path}: is empty")
    if head[:8] != SIGNATURE:
        raise RecordingError(
            f"{path}: is no recording: it is not in the format HDF5, or its start is gone"
        )
    mine = len(head) == SIZE and head[8] == 3
    live = mine and head[FLAGS] != 0
    if mine and lookup3(head[:SUM]) != int.from_bytes(head[SUM:], "little"):
        raise RecordingError(f"{path}: is damaged: its first bytes are not what was written")
    try:
        if not mine:
            return h5py.File(path, "r", locking="best-effort"), False
        return h5py.File(View(path, head, live), "r"), live
    except Exception as error:  # whatever HDF5 says of a file that it cannot make out
        said = str(error).split("\n")[0]
        if "truncated" in said:
            there, whole = path.stat().st_size, int.from_bytes(head[END : END + 8], "little")
            raise RecordingError(f"{path}: is cut off: {there} of {whole} bytes") from None
        raise RecordingError(f"{path}: cannot be opened: {said}") from None


class View(io.RawIOBase):
    """A file to read, as if its writer had closed it; this process may write to it meanwhile."""

    def __init__(self, path: Path, head: bytes, live: bool) -> None:
        self._file = path.open("rb", buffering=0)
        self._size = path.stat().st_size
        clean = bytearray(head[:SUM])
        if live:
            clean[FLAGS] = 0
            clean[END : END + 8] = self._size.to_bytes(8, "little")
        self._head = bytes(clean) + lookup3(bytes(clean)).to_bytes(4, "little")

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if whence == io.SEEK_END:  # it may have grown since
            offset, whence = self._size + offset, io.SEEK_SET
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def readinto(self, buffer: Any) -> int:
        at = self._file.tell()
        n = self._file.readinto(buffer) or 0
        if at < SIZE:
            part = self._head[at : at + n]
            memoryview(buffer).cast("B")[: len(part)] = part
        return n

    def close(self) -> None:
        self._file.close()
        super().close()


def _turned(x: int, k: int) -> int:
    return ((x << k) | (x >> (32 - k))) & MASK


def lookup3(data: bytes) -> int:
    """HDF5's checksum of its metadata: Jenkins' hash of 2006, with nothing to begin from."""
    a = b = c = (0xDEADBEEF + len(data)) & MASK
    whole = max((len(data) - 1) // 12, 0) * 12
    for at in range(0, whole, 12):
        x, y, z = (int.from_bytes(data[at + k : at + k + 4], "little") for k in (0, 4, 8))
        a, b, c = (a + x) & MASK, (b + y) & MASK, (c + z) & MASK
        for k in (4, 6, 8, 16, 19, 4):
            a = ((a - c) & MASK) ^ _turned(c, k)
            c = (c + b) & MASK
            a, b, c = b, c, a
    if not data:
        return c
    rest = data[whole:].ljust(12, b"\0")
    x, y, z = (int.from_bytes(rest[k : k + 4], "little") for k in (0, 4, 8))
    a, b, c = (a + x) & MASK, (b + y) & MASK, (c + z) & MASK
    for k in (14, 11, 25, 16, 4, 14, 24):
        c = ((c ^ b) - _turned(b, k)) & MASK
        a, b, c = b, c, a
    return b
