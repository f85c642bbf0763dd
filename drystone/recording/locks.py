"""One writer at a time: a lock that is gone when its process is, however that ended.

Beside `stack.h5` lies `.stack.h5.lock` while the file is written: locked by the system (flock; on
NFS the server keeps it), and saying who holds it. It is there before the recording is, and also
when that is replaced. The recording itself is locked, too, where the system has locks of open files
(Linux): so it is found to be in use under any other name. Where a file system keeps no locks at
all, a RecordingWarning says so.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shlex
import struct
import sys
import time
import warnings
import weakref
from importlib import import_module
from pathlib import Path
from platform import node
from typing import Any

from drystone.errors import RecordingError, RecordingWarning


def _module(name: str) -> Any:
    """Of the system, None where it has none of that name."""
    try:
        return import_module(name)
    except ImportError:
        return None


fcntl, msvcrt = _module("fcntl"), _module("msvcrt")  # msvcrt: of Windows
WITHOUT = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL)  # no locks in this place
TAKEN = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)
LOCKED_BYTE = 1 << 62  # of a recording: beyond any end, so that nothing is in the way
COMMAND_CHARACTERS = 200  # of a command that are kept
LOCK_TRIALS = 20  # attempts at a lock that is being taken
LOCK_WAIT = 0.01  # [s] between them
_held: weakref.WeakSet[Lock] = weakref.WeakSet()


class Lock:
    """The right to write a recording, from now until it is released; RecordingError names the
    process that has it. path: the file itself, links followed."""

    def __init__(self, path: Path) -> None:
        self.path = _real(path)
        self.asked = path
        self.place = self.path.with_name(f".{self.path.name}.lock")
        self._data, self._sure = -1, True
        self._file = self._take()
        _held.add(self)
        try:
            self._sign()
            if self.path.is_file():
                self.hold(self.path)
        except BaseException:
            self.release()
            raise
        left = self.path.parent.glob(f".{_quoted(self.path.name)}.*.part") if self._sure else ()
        for part in left:
            if part != self.part:  # of killed runs: whoever makes one has the lock
                part.unlink(missing_ok=True)

    @property
    def part(self) -> Path:
        """Where the file is made that is to take the place of the recording."""
        return self.path.with_name(f".{self.path.name}.{os.getpid()}.part")

    def hold(self, path: Path) -> None:
        """Lock the recording itself, or the file that is about to take its place."""
        data = _locked_data(path, self.asked)
        if self._data >= 0:
            os.close(self._data)
        self._data = data

    def release(self) -> None:
        """Let others write."""
        _held.discard(self)
        if self._data >= 0:
            os.close(self._data)
        if self._file >= 0:
            if os.name != "nt":  # while it is locked: whoever finds it gone tries again
                self.place.unlink(missing_ok=True)
            os.close(self._file)
        self._data = self._file = -1

    def __enter__(self) -> Lock:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def _take(self) -> int:
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        for _ in range(LOCK_TRIALS):
            try:
                file = os.open(self.place, flags, 0o666)
            except OSError as error:
                raise RecordingError(f"{self.asked}: cannot be written: {error.strerror}") from None
            try:
                _lock(file)
            except OSError as error:
                if error.errno in WITHOUT:
                    _warn(self.asked, error)
                    self._sure = False
                    return file
                os.close(file)
                if error.errno in TAKEN:
                    raise RecordingError(f"{self.asked}: {_in_use(self.place)}") from None
                raise RecordingError(f"{self.asked}: cannot be locked: {error.strerror}") from None
            if _same(file, self.place):
                return file
            os.close(file)  # whoever had it took it away meanwhile
        raise RecordingError(f"{self.asked}: cannot be locked: others do so again and again")

    def _sign(self) -> None:
        said = {"process": os.getpid(), "host": node(), "command": _command()}
        data = json.dumps(said).encode()
        os.ftruncate(self._file, 0)
        os.lseek(self._file, 0, os.SEEK_SET)
        os.write(self._file, data)


def _forget() -> None:
    """A process that was forked from this one has no part in its locks."""
    for lock in _held:
        for file in (lock._file, lock._data):
            if file >= 0:
                with contextlib.suppress(OSError):
                    os.close(file)
        lock._file = lock._data = -1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def _real(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise RecordingError(f"{path}: cannot be written: {error}") from None


def _lock(file: int) -> None:
    """Lock a file at once, or OSError."""
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return
    os.lseek(file, 1 << 30, os.SEEK_SET)  # others may read what the file says
    msvcrt.locking(file, msvcrt.LK_NBLCK, 1)


def _same(file: int, place: Path) -> bool:
    try:
        mine, there = os.fstat(file), place.stat()
    except OSError:
        return False
    return (mine.st_dev, mine.st_ino) == (there.st_dev, there.st_ino)


def _locked_data(path: Path, asked: Path) -> int:
    """The recording, opened and locked; -1 where the system has no such locks."""
    if fcntl is None or sys.platform != "linux":  # the layout of the request is Linux's
        return -1
    try:
        data = os.open(path, os.O_RDWR)
    except OSError as error:
        raise RecordingError(f"{asked}: cannot be written: {error.strerror}") from None
    try:
        # programs that have it open through HDF5 hold this one
        fcntl.flock(data, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.flock(data, fcntl.LOCK_UN)
        # ours lets readers pass: nobody can write, whoever holds it
        for kind in (fcntl.F_WRLCK, fcntl.F_RDLCK):
            fcntl.fcntl(data, fcntl.F_OFD_SETLK, struct.pack("hhqqi0q", kind, 0, LOCKED_BYTE, 1, 0))
    except OSError as error:
        if error.errno in WITHOUT:
            return data
        os.close(data)
        raise RecordingError(f"{asked}: is open in {_users(path)}: wait until it ends") from None
    return data


def _in_use(place: Path) -> str:
    """Who holds a lock; whoever just took it may not have signed yet."""
    for _ in range(LOCK_TRIALS):
        try:
            said = json.loads(place.read_bytes()[:4096])
            pid, host, command = int(said["process"]), str(said["host"]), str(said["command"])
        except (OSError, ValueError, KeyError, TypeError):
            time.sleep(LOCK_WAIT)
            continue
        if host == node() and pid == os.getpid():
            return "is being recorded by this process: close that recording first"
        if host != node() or _alive(pid):
            where = "" if host == node() else f" on {host}"
            return f"is being written by process {pid}{where} ({command}): wait until it ends"
        time.sleep(LOCK_WAIT)
    return "is being written by another process: wait until it ends"


def _alive(pid: int) -> bool:
    if os.name == "nt":
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _users(path: Path) -> str:
    """Processes that have a file open, as far as the system says."""
    own, found = path.stat(), []
    for place in Path("/proc").glob("[0-9]*"):
        if int(place.name) == os.getpid():
            continue
        try:
            there = [link.stat() for link in (place / "fd").iterdir()]
        except OSError:  # another user's, or gone
            continue
        if any((s.st_dev, s.st_ino) == (own.st_dev, own.st_ino) for s in there):
            words = (
                (place / "cmdline").read_bytes().decode(errors="replace").strip("\0").split("\0")
            )
            found.append(f"process {place.name} ({_short(shlex.join(words))})")
    return ", ".join(found[:3]) or "another program, or twice in this one"


def _command() -> str:
    return _short(shlex.join(sys.orig_argv))


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= COMMAND_CHARACTERS else f"{line[: COMMAND_CHARACTERS - 3]}..."


def _quoted(name: str) -> str:
    """A name for which a pattern of files stands for itself."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in name)


def _warn(path: Path, error: OSError) -> None:
    warnings.warn(
        f"{path}: this file system keeps no locks ({error.strerror}): see to it yourself that no "
        "other process writes the file",
        RecordingWarning,
        stacklevel=2,
    )
