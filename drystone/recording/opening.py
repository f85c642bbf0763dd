"""Opening the file of a recording: one that was closed, is being written, or was left behind.

A writer marks the file as its own, and HDF5 opens it then only in a mode that waits, if need be
for ever, for bytes that a killed writer will never mend. So files are read through a view in which
the mark is cleared: whatever is not whole there is an error at once.
"""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any, BinaryIO

import h5py

from drystone.errors import RecordingError
from drystone.plain_files import open_plain

SIGNATURE = b"\x89HDF\r\n\x1a\n"
# places in the first bytes of the file (superblock of version 3)
CONSISTENCY_FLAGS, EOF_ADDRESS, SUPERBLOCK_SUM, SUPERBLOCK_SIZE = 11, 28, 44, 48
SUPERBLOCK = 3  # the version of these bytes that writers of recordings make
MASK = 0xFFFFFFFF  # 32 bits: of HDF5's own checksum
MAX_DATASETS, MAX_NESTING = 100, 3  # datasets and groups in a file, and how deep they may lie
LAYOUTS = (h5py.h5d.CHUNKED, h5py.h5d.CONTIGUOUS, h5py.h5d.COMPACT)


def open_file(path: Path) -> tuple[h5py.File, bool]:
    """The file, and whether it was not closed: its writer still writes, or was killed."""
    try:
        opened = open_plain(path)
    except OSError as error:
        raise RecordingError(f"{path}: {error.strerror}") from None
    try:
        head = opened.read(SUPERBLOCK_SIZE)
        return _through_view(path, opened, head)
    except OSError as error:
        raise RecordingError(f"{path}: cannot be read: {error.strerror or error}") from None
    except BaseException:
        opened.close()
        raise


def check_replaceable(path: Path) -> None:
    """That a file that is there is a recording, or empty: nothing else is ever replaced by one."""
    if path.stat().st_size == 0:
        return
    try:
        with open_file(path)[0] as file:
            if "about" in file and "frames" in file:
                return
        why = f"{path}: is an HDF5 file, but no recording of Drystone's"
    except RecordingError as error:
        why = str(error)
    raise RecordingError(f"{why}; it is not replaced: record to another file, or remove it first")


def _through_view(path: Path, opened: BinaryIO, head: bytes) -> tuple[h5py.File, bool]:
    if not head:
        raise RecordingError(f"{path}: is empty")
    if head[:8] != SIGNATURE:
        raise RecordingError(
            f"{path}: is not a recording: it is not in the format HDF5, or its start is gone"
        )
    if len(head) == SUPERBLOCK_SIZE and head[8] != SUPERBLOCK:
        raise RecordingError(f"{path}: is an HDF5 file, but no recording of Drystone's")
    if len(head) < SUPERBLOCK_SIZE or lookup3(head[:SUPERBLOCK_SUM]) != int.from_bytes(
        head[SUPERBLOCK_SUM:], "little"
    ):
        raise RecordingError(f"{path}: is damaged: its first bytes are not what was written")
    live = head[CONSISTENCY_FLAGS] != 0
    try:
        file = h5py.File(FileView(opened, head, live), "r")
        try:
            _check_parts(file, os.fstat(opened.fileno()).st_size)
        except BaseException:
            file.close()
            raise
        return file, live
    except RecordingError as error:
        raise RecordingError(f"{path}: {error}") from None
    except Exception as error:  # whatever HDF5 says of a file that it cannot make out
        said = str(error).split("\n")[0]
        if "truncated" in said:
            there, whole = (
                path.stat().st_size,
                int.from_bytes(head[EOF_ADDRESS : EOF_ADDRESS + 8], "little"),
            )
            raise RecordingError(f"{path}: is cut off: {there} of {whole} bytes") from None
        raise RecordingError(f"{path}: cannot be opened: {said}") from None


def _check_parts(file: h5py.File, size: int) -> None:
    """That what the file says it holds lies in it as it is: no links to other files, nothing that
    is packed, and no array that is larger than the file, so that no file makes us read more bytes
    than it has."""
    groups: list[tuple[str, Any]] = [("", file)]
    seen = 0
    while groups:
        where, group = groups.pop()
        for name in group:
            seen += 1
            full = f"{where}{name}"
            if seen > MAX_DATASETS or full.count("/") > MAX_NESTING:
                raise RecordingError("is not a recording: it has too many parts")
            if not isinstance(group.get(name, getlink=True), h5py.HardLink):
                raise RecordingError(f"is not a recording: {full!r} is a link to another place")
            item = group[name]
            if isinstance(item, h5py.Group):
                groups.append((f"{full}/", item))
            else:
                _check_array(full, item, size)


def _check_array(name: str, item: Any, size: int) -> None:
    if not isinstance(item, h5py.Dataset):
        raise RecordingError(f"is not a recording: {name!r} is not an array")
    plan = item.id.get_create_plist()
    if plan.get_nfilters() or plan.get_external_count() or plan.get_layout() not in LAYOUTS:
        raise RecordingError(f"is not a recording: {name!r} is compressed or in another file")
    if item.dtype.hasobject or item.shape is None:
        raise RecordingError(f"is not a recording: {name!r} is not numeric")
    if max(item.nbytes, *item.shape, 0) > size:  # rows of nothing are counted, too
        raise RecordingError(
            f"is damaged: {name!r} claims {item.nbytes} bytes, the file has {size}"
        )


class FileView(io.RawIOBase):
    """A file to read, as if its writer had closed it; this process may write to it meanwhile."""

    def __init__(self, opened: BinaryIO, head: bytes, live: bool) -> None:
        self._whole = opened  # keeps it open
        self._file: Any = getattr(opened, "raw", opened)
        self._size = os.fstat(opened.fileno()).st_size
        clean = bytearray(head[:SUPERBLOCK_SUM])
        if live:
            clean[CONSISTENCY_FLAGS] = 0
            clean[EOF_ADDRESS : EOF_ADDRESS + 8] = self._size.to_bytes(8, "little")
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
        if at < SUPERBLOCK_SIZE:
            part = self._head[at : at + n]
            memoryview(buffer).cast("B")[: len(part)] = part
        return n

    def close(self) -> None:
        self._whole.close()
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
