"""Which machine code a run spends its time in: a timer looks at the instruction pointer.

Kernels call each other by address or are compiled into one another, so no clock can be put between
them. A signal handler in machine code notes where the processor was; the object files that Numba
keeps say which function that is. Linux on x86-64 only; elsewhere ``available()`` is False.
"""

from __future__ import annotations

import bisect
import ctypes
import gc
import platform
import re
import signal
import struct
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numba
import numpy as np
from numba.core import types
from numba.extending import intrinsic

from drystone.kernels._compiler import Kernel
from drystone.kernels._jit import MODE

ROOM = 1_000_000  # samples that are kept
OUTSIDE = "outside of kernels"
_RIP = 21  # word of ucontext_t that holds the instruction pointer
_SIGINFO, _RESTART, _ONSTACK = 4, 0x10000000, 0x08000000


def available() -> bool:
    return MODE == "on" and sys.platform == "linux" and platform.machine() == "x86_64"


@intrinsic
def _words(typing_context, at):  # type: ignore[no-untyped-def]
    """A pointer to the words at an address."""
    pointer = types.CPointer(types.int64)

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.inttoptr(args[0], context.get_value_type(pointer))

    return pointer(types.int64), generate


class _Action(ctypes.Structure):
    """struct sigaction."""

    _fields_ = (
        ("handler", ctypes.c_void_p),
        ("mask", ctypes.c_ulong * 16),
        ("flags", ctypes.c_int),
        ("restorer", ctypes.c_void_p),
    )


class Samples:
    """Addresses where the processor was, `interval` seconds of real time apart."""

    def __init__(self, interval: float) -> None:
        self.interval = interval
        self._kept = np.zeros(ROOM + 1, np.int64)  # the first word counts
        begin, room = int(self._kept.ctypes.data), ROOM

        def note(number, info, context):  # type: ignore[no-untyped-def]
            kept = _words(begin)
            count = kept[0]
            if count < room:
                kept[count + 1] = context[_RIP]
                kept[0] = count + 1

        words = types.CPointer(types.int64)
        self._handler = numba.cfunc(types.void(types.int32, words, words))(note)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Samples are taken while the block runs."""
        c = ctypes.CDLL(None, use_errno=True)
        action, before = _Action(), _Action()
        action.handler = self._handler.address
        action.flags = _SIGINFO | _RESTART | _ONSTACK
        if c.sigaction(int(signal.SIGALRM), ctypes.byref(action), ctypes.byref(before)):
            raise OSError(ctypes.get_errno(), "sigaction")
        signal.setitimer(signal.ITIMER_REAL, self.interval, self.interval)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            c.sigaction(int(signal.SIGALRM), ctypes.byref(before), None)

    @property
    def places(self) -> np.ndarray:
        return self._kept[1 : 1 + self._kept[0]]

    def by_function(self) -> Counter[str]:
        """Samples of each function of a kernel; what is no kernel's counts as OUTSIDE."""
        known = sorted(_functions())
        starts = [first for first, _, _ in known]
        out: Counter[str] = Counter()
        for place in self.places.tolist():
            k = bisect.bisect_right(starts, place) - 1
            inside = k >= 0 and place < known[k][1]
            out[known[k][2] if inside else OUTSIDE] += 1
        return out


def kernel_name(dispatcher: Any) -> str:
    """island_sweeps.sweep: as the samples name it."""
    return f"{dispatcher.py_func.__module__.rpartition('.')[2]}.{dispatcher.py_func.__name__}"


def dispatchers() -> list[Any]:
    """All kernels of this package that have been imported."""
    # the class is asked, not the object: weak references to what is gone would answer by raising
    found = [one for one in gc.get_objects() if issubclass(type(one), Kernel)]
    return [one for one in found if one.py_func.__module__.startswith("drystone.")]


def _functions() -> Iterator[tuple[int, int, str]]:
    """Begin, end and name of every function in the machine code of loaded kernels."""
    for kernel in dispatchers():
        for form in (kernel.entered, kernel.called):
            for kinds, made in form.known.items():
                symbols = _symbols(_object_file(form, kinds, made.library))
                here = next((one for one in symbols if one[0] == form.entry(made.fndesc)), None)
                if here is None:
                    continue
                at = made.library.get_pointer_to_function(here[0])
                for name, section, value, size in symbols:
                    if section == here[1] and size > 0:
                        begin = at + value - here[2]
                        yield begin, begin + size, plain(name)


def _object_file(form: Any, kinds: Any, library: Any) -> bytes:
    """The ELF file of a kernel, compiled just now or loaded; empty if neither was kept."""
    if library._compiled_object is not None:
        return bytes(library._compiled_object)
    found = form.kernel.files.load(form.name, kinds)
    return b"" if found is None else bytes(found[1])


def _symbols(file: bytes) -> list[tuple[str, int, int, int]]:
    """Name, section, offset and size of the functions in an ELF object file."""
    if not file:
        return []
    (table,) = struct.unpack_from("<Q", file, 0x28)
    width, count = struct.unpack_from("<HH", file, 0x3A)
    heads = [struct.unpack_from("<IIQQQQIIQQ", file, table + k * width) for k in range(count)]
    out = []
    for head in heads:
        if head[1] != 2:  # SHT_SYMTAB
            continue
        texts = heads[head[6]][4]
        for at in range(head[4], head[4] + head[5], 24):
            word, info, _, section, value, size = struct.unpack_from("<IBBHQQ", file, at)
            if info & 15 == 2:  # STT_FUNC
                name = file[texts + word : file.index(b"\0", texts + word)].decode()
                out.append((name, section, value, size))
    return out


def plain(symbol: str) -> str:
    """The last two parts of a mangled name: ``island_sweeps.sweep``."""
    parts, rest = [], re.sub(r"^(cpython\.|cfunc\.)?_ZN?", "", symbol)
    while match := re.match(r"(\d+)", rest):
        begin = match.end()
        end = begin + int(match[1])
        parts.append(rest[begin:end])
        rest = rest[end:]
    parts = [part for part in parts if part not in ("drystone", "kernels")]
    return ".".join(parts[-2:]) or symbol
