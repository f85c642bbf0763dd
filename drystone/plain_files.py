"""Files that are opened to be read: plain ones alone. A pipe would wait for ever, and a device may
never end."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO

KINDS = (
    (stat.S_ISDIR, "is a folder"), (stat.S_ISFIFO, "is a named pipe"),
    (stat.S_ISSOCK, "is a socket"), (stat.S_ISCHR, "is a device"), (stat.S_ISBLK, "is a device"),
)  # fmt: skip


def open_plain(path: Path) -> BinaryIO:
    """A plain file, opened to be read without a wait; OSError, with `strerror`, for anything
    else."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        place = os.open(path, flags | getattr(os, "O_NOCTTY", 0))
    except ValueError as error:  # a name that no file system takes
        raise OSError(0, str(error)) from None
    except OSError as error:  # a socket cannot be opened at all
        raise OSError(error.errno, kind_of(path) or error.strerror or str(error)) from None
    mode = os.fstat(place).st_mode
    if not stat.S_ISREG(mode):
        os.close(place)
        raise OSError(0, _word(mode))
    return open(path, "rb", opener=lambda *_: place)  # so that the file knows its name


def kind_of(path: Path) -> str:
    """What a path is if it is no plain file, in words; empty if it is one."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        return getattr(error, "strerror", None) or str(error)
    return "" if stat.S_ISREG(mode) else _word(mode)


def _word(mode: int) -> str:
    return next((word for is_one, word in KINDS if is_one(mode)), "is no plain file")
