"""Recordings of format 1: contacts lay row by row in one dataset, each with everything.

They are read as they are; a run that goes on with one is written in the present format.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from drystone.recording import contacts, layout
from drystone.recording.growing import make_growing
from drystone.recording.sums import FIXED, checksum, text_array
from drystone.steppers.tables import STATES, contact_table

RAGGED = {"contacts": 0, "joints": 1, "islands": 2, "seconds": 3}


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


def upgrade(known: Any, file: Any, piece: int) -> None:
    """Give a file that was copied from a recording of format 1 what it lacks of the present one:
    contacts by columns, `piece` frames at a time, where they end, and the number of the format."""
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
    make_growing(file, "frames/ends", more, layout.LEAST // (8 * layout.ENDS))
    _renumber(file)


def _renumber(file: Any) -> None:
    about = json.loads(file["about"][()].tobytes()) | {"version": layout.VERSION}
    del file["about"]
    file.create_dataset("about", data=text_array(json.dumps(about)))
    file["sum"][0] = checksum({name: file[name][()] for name in FIXED})
