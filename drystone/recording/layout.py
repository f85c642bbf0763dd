"""What lies where in a recording.

| name | rows | what |
|---|---|---|
| `about` | | JSON: format, method, scene, settings, view, versions |
| `document` | | JSON: the scene document, where the world can be described |
| `model` | | the arrays of the model (``recording.packing``) |
| `frames/...` | one a frame | time, position, orientation, velocity, report, kick, ends |
| `contacts` | all frames' | those of frame k end at `frames/ends[k, 0]` |
| `joints`, `islands`, `seconds` | all frames' | `ends[k, 1]`, `ends[k, 2]`, `ends[k, 3]` |
| `notes`, `note_sizes` | | texts; that of frame k has number `ends[k, 4]`, -1 for none |
| `checkpoints/data`, `checkpoints/index` | one each | where a run can go on: steps, frames, end |
| `runs`, `ended` | one each | when a run began and should end [s]; its number and how it ended |

Datasets only grow, and `frames/time` grows last: whatever a killed run left, the shortest of them
says how many frames there are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from drystone.model import Model
from drystone.recording.reports import COLUMNS
from drystone.steppers.tables import STATES, contact_table
from drystone.types import Floats, Ints

FORMAT, VERSION = "drystone recording", 1
CONTACTS, JOINTS, ISLANDS, SECONDS, NOTE, ENDS = 0, 1, 2, 3, 4, 5  # columns of frames/ends
RAGGED = ("contacts", "joints", "islands", "seconds")
LEAST, MOST, FRAMES = 1 << 12, 1 << 19, 16  # bytes of a chunk, and the frames it is meant for
COMPLETE, STOPPED, FAILED = 1, 2, 3  # how a run ended

Kind = tuple[tuple[int, ...], Any]


def contact_kind(dim: int, forces: bool) -> np.dtype[Any]:
    """A contact in the file. forces: they are not impulses over the time of a kick."""
    return np.dtype([
        ("bodies", "<i4", (2,)), ("point", "<f8", (dim,)), ("normal", "<f8", (dim,)),
        ("gap", "<f8"), ("impulse", "<f8", (dim,)), ("velocity", "<f8", (dim,)),
        ("friction", "<f8"), ("spin", "<f8"), ("island", "<i4"), ("feature", "<i8"),
        ("state", "u1"), *([("force", "<f8", (dim,))] if forces else []),
    ])  # fmt: skip


def datasets(model: Model, forces: bool) -> dict[str, Kind]:
    """Shape of a row and type of every dataset that grows, in the order they are written."""
    nb, dim = model.nb, model.dim
    turns = () if dim == 2 else (4,)
    return {
        "contacts": ((), contact_kind(dim, forces)),
        "joints": ((1 + dim + (1 if dim == 2 else 3),), "<f8"),
        "islands": ((2,), "<f8"),
        "seconds": ((), "<f8"),
        "notes": ((), "u1"),
        "note_sizes": ((), "<i8"),
        "frames/position": ((nb, dim), "<f8"),
        "frames/orientation": ((nb, *turns), "<f8"),
        "frames/velocity": ((nb, model.dof), "<f8"),
        "frames/report": ((len(COLUMNS),), "<f8"),
        "frames/kick": ((), "<f8"),
        "frames/ends": ((ENDS,), "<i8"),
        "frames/time": ((), "<f8"),
        "checkpoints/data": ((), "u1"),
        "checkpoints/index": ((3,), "<i8"),
        "runs": ((2,), "<f8"),
        "ended": ((2,), "<i8"),
    }


def chunk_rows(name: str, kind: Kind, model: Model) -> int:
    """Rows of a dataset that lie together in the file."""
    shape, each = kind[0], np.dtype(kind[1]).itemsize
    rows = {"contacts": 2 * model.nb, "islands": model.nb // 4, "checkpoints/data": 100 * model.nb}
    size = max(each * int(np.prod(shape)), 1)
    return max(int(np.clip(FRAMES * size * rows.get(name, 1), LEAST, MOST)) // size, 1)


def loop_contacts(whole: Ints, real: Floats, kind: np.dtype[Any]) -> np.ndarray:
    """Contacts of the compiled loop (columns of ``kernels.step.names``) as the file keeps them."""
    dim = kind["point"].shape[0]
    out = np.empty(whole.shape[0], kind)
    out["bodies"], out["island"] = whole[:, :2], whole[:, 2]
    out["feature"], out["state"] = whole[:, 3], whole[:, 4]
    at = 0
    for name in ("point", "normal", "gap", "impulse", "velocity", "friction", "spin"):
        width = 1 if out[name].ndim == 1 else dim
        part = real[:, at : at + width]
        out[name] = part[:, 0] if out[name].ndim == 1 else part
        at += width
    return out


def table_contacts(table: np.ndarray, places: dict[str, int], kind: np.dtype[Any]) -> np.ndarray:
    """A table of contacts as the file keeps it; places: indices of bodies by name."""
    out = np.empty(table.shape[0], kind)
    for name in kind.names or ():
        if name == "bodies":
            found = [places[body] for body in table["bodies"].ravel().tolist()]
            out["bodies"] = np.array(found, np.int32).reshape(-1, 2)
        elif name == "state":
            out["state"] = np.argmax(table["state"][:, None] == STATES, axis=1)
        else:
            out[name] = table[name]
    return out


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
