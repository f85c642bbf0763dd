"""Recordings of earlier formats. In format 1 contacts lay row by row in one dataset, each with
everything; formats 1 and 2 had no sums, so that damage of their rows goes unnoticed.

They are read as they are; on resuming they are rewritten in the current format.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from drystone.recording import contacts, layout
from drystone.recording.checksums import (
    FIXED,
    SHARED,
    checksum,
    frame_sums,
    note_rows,
    text_array,
    with_sums,
)
from drystone.recording.datasets import make_growing
from drystone.steppers.tables import STATES, contact_table

REPLACED = ("note_sizes", "checkpoints/index", "runs", "ended")  # written anew, with sums
RAGGED = {"contacts": 0, "joints": 1, "islands": 2, "seconds": 3}


JOINT_KINDS = (
    "ball", "hinge", "slider", "cylindrical", "universal", "fixed", "distance", "point-on-line",
    "point-on-plane", "planar", "screw", "gear", "pin", "slot", "wheel",
)  # fmt: skip


def joint_kinds(kind: Any) -> tuple[str, ...]:
    """Names of kinds of joints, which were numbers before 0.2."""
    return tuple(JOINT_KINDS[k] if isinstance(k, np.integer) else str(k) for k in kind)


def read_contacts(rows: np.ndarray, names: np.ndarray, dim: int, kick: float) -> np.ndarray:
    """The table that ``Simulation.contacts`` gave; names (nb,) of bodies."""
    table = contact_table(tuple(names.tolist()), dim, rows.shape[0])
    if not rows.shape[0]:
        return table
    for name in rows.dtype.names or ():
        if name not in ("bodies", "state"):
            table[name] = rows[name]
    table["bodies"] = names[rows["bodies"]]
    table["state"] = STATES[rows["state"]]
    if "force" not in (rows.dtype.names or ()):
        table["force"] = table["impulse"] / kick
    return table


def upgrade(known: Any, file: Any, piece: int, marks: int | None) -> None:
    """Give a file that was copied from a recording of an earlier format what it lacks of the
    present one, `piece` frames at a time: contacts by columns, where they end, sums of everything,
    and the number of the format; marks: checkpoints that are kept, by default all."""
    if known.version == 1:
        _contacts(known, file, piece)
    _sums(known, file, piece, marks)
    _renumber(file)


def _contacts(known: Any, file: Any, piece: int) -> None:
    model, ends = known.model, known.ends[: file["frames/time"].shape[0]]
    encoder = contacts.Encoder(model.dim, model.nb, known.keeps_forces)
    sets = {}
    for name, kind in contacts.kinds(model.dim, model.nb, known.keeps_forces).items():
        empty = np.empty((0, *kind[0]), kind[1])
        sets[name] = make_growing(file, name, empty, layout.chunk_rows(name, kind, model))
    more = np.zeros((len(ends), layout.ENDS), np.int64)
    more[:, : ends.shape[1]] = ends
    for first in range(1, len(ends), piece):
        last = min(first + piece, len(ends))
        at = ends[first - 1 : last, layout.CONTACTS]
        old = known.rows("contacts", int(at[0]), int(at[-1]))
        rows, counts = encoder.of_columns(old, old["bodies"], old["state"], at[1:] - at[0])
        for name, each in counts.items():
            more[first:last, layout.RAGGED[name]] = sets[name].shape[0] + np.cumsum(each)
        for name, part in rows.items():
            n = sets[name].shape[0]
            sets[name].resize(n + len(part), axis=0)
            sets[name][n:] = part
    make_growing(file, "frames/ends", more, layout.MIN_CHUNK // (8 * layout.ENDS))


def _sums(known: Any, file: Any, piece: int, marks: int | None) -> None:
    """Sums of what is there: from now on damage is found."""
    kinds = layout.datasets(known.model, known.keeps_forces)
    frames = [name for name in kinds if name.startswith("frames/") and name != "frames/sums"]
    ends = file["frames/ends"][()]
    out = np.zeros((len(ends), len(layout.SUMS)), np.uint32)
    for first in range(0, len(ends), piece):
        last = min(first + piece, len(ends))
        begin = ends[first - 1] if first else np.zeros(layout.ENDS, np.int64)
        rows = {name: file[name][first:last] for name in frames}
        for name, column in layout.RAGGED.items():
            rows[name] = file[name][int(begin[column]) : int(ends[last - 1, column])]
        places = {name: int(begin[layout.RAGGED[name]]) for name in SHARED}
        before = {name: file[name][max(at - 1, 0) : at] for name, at in places.items()}
        out[first:last] = frame_sums(rows, kinds, begin, before)
    more = {"frames/sums": out, "note_index": _note_index(known, file)}
    more["checkpoints/index"] = with_sums(known._marks[0][:marks], "<i8")
    more["runs"] = with_sums(known.rows("runs"), "<f8")
    more["ended"] = with_sums(known.rows("ended"), "<i8")
    for name, data in more.items():
        make_growing(file, name, data, layout.chunk_rows(name, kinds[name], known.model))


def _note_index(known: Any, file: Any) -> np.ndarray:
    kept = int(file["frames/ends"][:, layout.NOTE].max()) + 1
    texts = [np.frombuffer(text.encode(), np.uint8) for text in known.notes[:kept]]
    return note_rows(texts, 0) if texts else np.empty((0, 3), np.int64)


def _renumber(file: Any) -> None:
    about = json.loads(file["about"][()].tobytes()) | {"version": layout.FORMAT_VERSION}
    del file["about"]
    file.create_dataset("about", data=text_array(json.dumps(about)))
    file["sum"][0] = checksum({name: file[name][()] for name in FIXED})
