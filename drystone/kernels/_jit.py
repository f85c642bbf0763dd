"""The one decorator of all kernels, and the folder where their machine code is kept.

Numba keys its cache on the file a function is written in: an edit in *another* kernel file that
is inlined into this one goes unnoticed, and a warm cache ignores bounds checking. So each kernel
file has a folder named after a hash of its source, of every kernel source it imports, of
``_packed``, the mode and the Numba version: an edit starts fresh folders for what it touches and
for nothing else, and an install folder that cannot be written to does not matter.

``DRYSTONE_JIT`` chooses the mode: ``on`` (default), ``bounds`` (index checks), ``off`` (plain
Python, for debuggers and coverage).
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core import event

from drystone.kernels._compiler import Kernel, is_tested

MODE = os.environ.get("DRYSTONE_JIT", "on")
if MODE not in ("on", "bounds", "off"):
    raise ValueError(f"DRYSTONE_JIT={MODE!r}: expected 'on', 'bounds' or 'off'")


def cache_folder(module: str) -> Path:
    """Folder of the compiled kernels of a module, for its sources, the mode and the version."""
    digest = hashlib.sha256(f"{MODE} {numba.__version__} {sys.version}".encode())
    for name in sorted(_sources(module)):
        digest.update(name.encode())
        digest.update(_source(name))
    return _root() / f"{module.rpartition('.')[2]}-{digest.hexdigest()[:16]}"


KERNELS = "drystone.kernels"
ALWAYS = __name__, *(f"{KERNELS}.{one}" for one in ("_compiler", "_files", "_packed"))
_IMPORT = re.compile(
    rb"^(?:from|import)\s+(drystone\.kernels[\w.]*)(?:\s+import\s+(\([^)]*\)|.*))?", re.M
)


@cache
def _sources(module: str) -> frozenset[str]:
    """Names of the kernel modules whose sources can end up in this one's machine code."""
    seen, left = set(ALWAYS), [module]
    while left:
        name = left.pop()
        if name in seen:
            continue
        seen.add(name)
        for package, names in _IMPORT.findall(_source(name)):
            parts = [package.decode()]
            parts += [f"{parts[0]}.{n}" for n in re.findall(r"\w+", names.decode())]
            left += [part for part in parts if _path(part).exists()]
    return frozenset(seen)


def _path(module: str) -> Path:
    if not f"{module}.".startswith(f"{KERNELS}."):  # a user's, or of a test
        return Path(getattr(sys.modules.get(module), "__file__", None) or "none")
    steps = module.split(".")[2:]  # below drystone.kernels
    folder = Path(__file__).parent.joinpath(*steps)
    return folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")


@cache
def _source(module: str) -> bytes:
    path = _path(module)
    return path.read_bytes() if path.is_file() else b""


@cache
def _root() -> Path:
    return _cache_root()


def _cache_root() -> Path:
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    shared = Path(tempfile.gettempdir()) / f"drystone-{user}"
    # a user without a home still gets a cache: their own, so that nobody loads another's code
    for root in (_chosen_root(), shared):
        if root is None:
            continue
        try:
            root.mkdir(parents=True, exist_ok=True, mode=0o700)
            with tempfile.TemporaryFile(dir=root):
                if root != shared or _is_mine(root):
                    return root
        except OSError:
            continue
    return Path(tempfile.mkdtemp(prefix="drystone-"))


def _chosen_root() -> Path | None:
    if os.environ.get("NUMBA_CACHE_DIR"):
        return Path(os.environ["NUMBA_CACHE_DIR"])
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "drystone"
    except RuntimeError:  # no HOME, and the user is not in the password file (containers)
        return None


def _is_mine(folder: Path) -> bool:
    """Whether only this user can have put code into a folder whose name anybody can guess."""
    if not hasattr(os, "getuid"):
        return True
    entry = folder.lstat()
    mine = entry.st_uid == os.getuid() and stat.S_ISDIR(entry.st_mode)
    return mine and not entry.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile `function` on first call (nopython, IEEE arithmetic, cached on disk)."""
    return _compiled(function)


def stage(function: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel that allocates nothing: arrays are not counted while it runs.

    Counting costs more than a short stage does if it takes a tuple of many arrays. What it calls is
    compiled in the same way: a stage that calls a kernel which allocates must be a kernel.
    """
    return _compiled(function, _nrt=False)


def _compiled(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    if MODE == "off":
        return function
    options |= {"error_model": "numpy", "boundscheck": MODE == "bounds"}
    options["nogil"] = True  # islands can be swept by several threads
    module = function.__module__
    if is_tested(numba.__version__):
        known = _sources(module) if _source(module) else frozenset()  # none: typed into a shell
        return Kernel(function, cache_folder(module), known, options)
    return _plain(function, options)


def _plain(function: Callable[..., Any], options: dict[str, Any]) -> Callable[..., Any]:
    """By Numba's own decorator: the same numbers, compiled for longer."""
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(cache_folder(function.__module__))  # read while decorating
    try:
        return numba.njit(cache=True, no_cfunc_wrapper=True, **options)(function)
    finally:
        numba.config.CACHE_DIR = before


class _Progress(event.Listener):
    """One line on stderr while kernels compile: the first run on a machine takes a while."""

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet
        self.count = 0
        self.depth = 0
        self.began = 0.0
        self.past = 0.0

    def seconds(self) -> float:
        """What compiling has cost so far in this process."""
        return self.past + (time.perf_counter() - self.began if self.depth else 0.0)

    def on_start(self, event: Any) -> None:
        if self.depth == 0:
            self.began = time.perf_counter()
        self.depth += 1
        function = event.data["dispatcher"].py_func
        if self.quiet or not function.__module__.startswith("drystone."):
            return
        self.count += 1
        if _interactive():
            name = function.__name__.strip("_")
            _say(f"\r\x1b[Kdrystone: compiling kernels, once ({self.seconds():.0f} s): {name}")
        elif self.count == 1:
            _say("drystone: compiling kernels, once for this machine ...\n")

    def on_end(self, event: Any) -> None:
        self.depth -= 1
        if self.depth == 0:
            self.past += time.perf_counter() - self.began
            if not self.quiet and _interactive():
                _say("\r\x1b[K")


def _interactive() -> bool:
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):  # none at all, or closed
        return False


def _say(text: str) -> None:
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (AttributeError, OSError, ValueError):  # a closed stderr must not stop a solve
        pass


_progress = _Progress(quiet=os.environ.get("DRYSTONE_QUIET", "") != "")
compile_seconds = _progress.seconds  # time limits leave it out
if MODE != "off":
    event.register("numba:compile", _progress)
