"""Files of killed runs, and of earlier formats, made fit to be appended to: what is whole is
copied to a new file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from drystone.errors import RecordingError, WriteError
from drystone.recording import earlier_formats, layout
from drystone.recording.checksums import with_sums
from drystone.recording.datasets import make_growing
from drystone.recording.locks import Lock
from drystone.recording.reader import Recording, read_recording
from drystone.recording.writer import reason

COPY_BYTES = 1 << 24  # bytes that are copied at a time
FRAMES_CONVERTED = 64  # frames whose contacts are written anew at a time


def repair(lock: Lock, salvage: bool = False) -> str:
    """Make a file that was not closed whole again, one of an earlier format one of the present,
    and take an end away that is no regular frame; salvage: also what follows damage. Returns what
    was done, in words; empty if nothing was necessary.

    The new file takes the old one's place when it is complete, so that this, too, may be killed. A
    damaged one stays beside it.
    """
    path = lock.path
    with read_recording(path, salvage=salvage) as known:
        old = known.version < layout.FORMAT_VERSION
        n = len(known.ends) - known.odd
        kept, marks = _whole(known, n) if salvage else (n, None)
        damaged = bool(salvage and known.damage)
        if not (known.live or old or damaged or kept < len(known.ends)):
            return ""
        part = lock.part
        try:
            with h5py.File(part, "w", libver="latest") as file:
                _copy(known, file, kept, marks)
                if old:
                    earlier_formats.upgrade(known, file, FRAMES_CONVERTED, marks)
                elif damaged:
                    _write_runs(known, file)
            lock.hold(part)
            aside = _set_aside(path) if damaged else None
            os.replace(part, path)
        except (OSError, RuntimeError) as error:
            part.unlink(missing_ok=True)
            raise WriteError(
                f"{path}: has to be rewritten to be resumed, and cannot be: {reason(error)}"
            ) from None
    return f"the damaged file is kept as {aside}" if aside else "written anew"


def _set_aside(path: Path) -> Path:
    """Keep a damaged file under another name."""
    for k in range(1, 10000):
        aside = path.with_name(f"{path.stem}.damaged{k if k > 1 else ''}{path.suffix}")
        if not aside.exists():
            try:
                os.link(path, aside)
            except OSError:  # a file system without links
                os.rename(path, aside)
            return aside
    raise OSError("too many damaged files beside it")


def _whole(known: Recording, n: int) -> tuple[int, int]:
    """How many of n frames there are before the first that is damaged, and how many checkpoints of
    them, of which all are whole."""
    wrong = known._wrong[:n].any(axis=1)
    n = int(np.argmax(wrong)) if wrong.any() else n
    marks, ok = known._marks
    for k, mark in enumerate(marks):
        if not ok[k] or mark[1] > n or known._unpacked(mark) is None:
            break
    else:
        k = len(marks)
    if not k:
        raise RecordingError(
            f"{known.path}: is damaged: there is no intact checkpoint to resume from"
        )
    return n, k


def _without(known: Recording) -> tuple[str, ...]:
    """Datasets that are not copied, but written anew."""
    if known.version == 1:
        return (*earlier_formats.REPLACED, "frames/ends", "contacts")
    if known.version < layout.FORMAT_VERSION:
        return earlier_formats.REPLACED
    return ("runs", "ended") if known.salvage and known.damage else ()


def _write_runs(known: Recording, file: h5py.File) -> None:
    """Runs as far as they are known."""
    kinds = layout.datasets(known.model, known.keeps_forces)
    for name, rows in (("runs", known.runs), ("ended", known.ended)):
        data = with_sums(rows, kinds[name][1])
        make_growing(file, name, data, layout.chunk_rows(name, kinds[name], known.model))


def _copy(known: Recording, file: h5py.File, kept: int, marks: int | None) -> None:
    lengths, without = _lengths(known, kept, marks), _without(known)
    names: list[str] = []
    known.file.visititems(lambda name, item: names.append(name) if hasattr(item, "shape") else None)
    for name in names:
        if name in without:
            continue
        old: Any = known.file[name]
        if old.maxshape == old.shape and name not in lengths:
            file.create_dataset(name, data=old[()])
            continue
        n = lengths.get(name, old.shape[0])
        empty = np.empty((0, *old.shape[1:]), old.dtype)
        new = make_growing(file, name, empty, old.chunks[0], n)
        each = max(old.dtype.itemsize * int(np.prod(old.shape[1:])), 1)
        step = max(COPY_BYTES // each, 1)
        for first in range(0, n, step):
            last = min(first + step, n)
            new[first:last] = old[first:last]


def _lengths(known: Recording, n: int, marks: int | None) -> dict[str, int]:
    """Rows of every dataset that belong to n frames and so many checkpoints, by default all."""
    last = known.ends[n - 1]
    out = {f"frames/{name}": n for name in known.file["frames"]}
    out |= {name: int(last[column]) for name, column in known.ragged.items()}
    kept = int(known.ends[:n, layout.NOTE].max()) + 1
    if known.summed:
        end = int(known.file["note_index"][kept - 1, 0]) if kept else 0
        out |= {"note_index": kept, "notes": end}
    else:
        out |= {"note_sizes": kept, "notes": int(known.file["note_sizes"][:kept].sum())}
    found = known._marks[0][:marks]
    end = int(found[-1, 3]) if len(found) else 0
    return out | {"checkpoints/index": len(found), "checkpoints/data": end}
