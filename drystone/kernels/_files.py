"""Where compiled kernels are kept: one file for one form of a kernel and one list of types.

The name of a file is a hash of all that its contents depend on, so two processes that write the
same file write the same thing, and none has to read what another one is about to change (an
index). A file appears as a whole or not at all; one that is damaged, or was meant for something
else, is not used: the kernel is compiled again.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import uuid
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core.registry import cpu_target
from numba.core.serialize import dumps

SUFFIX = ".nbc"
BROKEN = (pickle.UnpicklingError, AttributeError, EOFError, ImportError, IndexError)  # as it says


class Files:
    """The files of one kernel, in the folder of its module."""

    def __init__(self, folder: Path, name: str, known_as: str) -> None:
        self.folder, self.known_as = folder, known_as
        self.name = name.replace("<", "").replace(">", "")  # Windows takes neither

    def load(self, form: str, args: tuple[Any, ...]) -> Any:
        """What was saved for these types of arguments, or None."""
        path, key = self._place(form, args)
        try:
            written = path.read_bytes()
        except OSError:
            return None
        digest, text = written[:32], written[32:]
        if hashlib.sha256(text).digest() != digest:
            return None
        try:
            meant_for, types, kept = pickle.loads(text)  # noqa: S301
            return pickle.loads(kept) if (meant_for, types) == (key, args) else None  # noqa: S301
        except BROKEN:
            return None

    def save(self, form: str, args: tuple[Any, ...], kept: Any) -> None:
        """A disk that is full or cannot be written to costs time in the next process, no more."""
        path, key = self._place(form, args)
        text = dumps((key, args, dumps(kept)))
        part = path.with_name(f"{path.name}.{uuid.uuid4().hex[:16]}.tmp")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            part.write_bytes(hashlib.sha256(text).digest() + text)
            os.replace(part, path)
        except OSError:
            part.unlink(missing_ok=True)

    def _place(self, form: str, args: tuple[Any, ...]) -> tuple[Path, str]:
        key = repr((form, self.known_as, str(args), _machine()))
        digest = hashlib.sha256(key.encode()).hexdigest()[:16]
        return self.folder / f"{form}.{self.name}-{digest}{SUFFIX}", key


@cache
def _machine() -> str:
    """What machine code depends on beside sources and the versions in the name of the folder."""
    magic = cpu_target.target_context.codegen().magic_tuple()
    return repr((magic, str(numba.config.OPT), llvmlite.__version__, np.__version__))
