"""Files of killed runs, and of earlier formats, made fit to be appended to: what is whole is
copied to a new file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from drystone.errors import RecordingError
from drystone.recording import layout, version_1
from drystone.recording.growing import make_growing
from drystone.recording.reader import Recording, read_recording
from drystone.recording.writer import reason

ROWS = 1 << 24  # bytes that are copied at a time
PIECE = 64  # frames whose contacts are written anew at a time


def repair(path: Path) -> bool:
    """Make a file that was not closed whole again, one of an earlier format one of the present,
    and take an end away that is no regular frame; whether anything was necessary.

    The new file takes the old one's place when it is complete, so that this, too, may be killed.
    """
    with read_recording(path) as known:
        old = known.version < layout.VERSION
        if not (known.live or old or known.odd):
            return False
        part = path.with_name(f".{path.name}.{os.getpid()}.part")
        try:
            with h5py.File(part, "w", libver="latest") as file:
                _copy(known, file, ("contacts", "frames/ends") if old else ())
                if old:
                    version_1.upgrade(known, file, PIECE)
            os.replace(part, path)
        except OSError as error:
            part.unlink(missing_ok=True)
            raise RecordingError(
                f"{path}: has to be written anew to go on with it, and cannot be: {reason(error)}"
            ) from None
    return True


def _copy(known: Recording, file: h5py.File, without: tuple[str, ...]) -> None:
    lengths = _lengths(known)
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
        step = max(ROWS // each, 1)
        for first in range(0, n, step):
            last = min(first + step, n)
            new[first:last] = old[first:last]


def _lengths(known: Recording) -> dict[str, int]:
    """Rows of every dataset that belong to whole frames and whole checkpoints."""
    n = len(known) - known.odd
    last = known.ends[n - 1]
    out = {f"frames/{name}": n for name in known.file["frames"]}
    out |= {name: int(last[column]) for name, column in known.ragged.items()}
    sizes = known.file["note_sizes"][()]
    kept = int(known.ends[:n, layout.NOTE].max()) + 1
    out |= {"note_sizes": kept, "notes": int(sizes[:kept].sum())}
    marks = known.checkpoints
    out |= {"checkpoints/index": len(marks), "checkpoints/data": int(marks[:, 2].sum())}
    return out
