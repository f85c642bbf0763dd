"""What lies where in a recording.

| name | rows | what |
|---|---|---|
| `about` | | JSON: format, method, scene, settings, view, versions |
| `document` | | JSON: the scene document, where the world can be described |
| `model` | | the arrays of the model (``recording.packing``) |
| `frames/...` | one a frame | time, position, orientation, velocity, report, kick, ends |
| `contacts/...` | all frames' | ``recording.contacts``; of frame k until `frames/ends[k, 0]`, |
| | | what they share at `ends[k, 5]` (laws) and `ends[k, 6]` (features) |
| `joints`, `islands`, `seconds` | all frames' | `ends[k, 1]`, `ends[k, 2]`, `ends[k, 3]` |
| `notes` | | texts; that of frame k has number `ends[k, 4]`, -1 for none |
| `note_index` | one a text | its end in `notes`, its size, its sum |
| `checkpoints/data` | | from which a run resumes (``recording.packing``) |
| `checkpoints/index` | one each | steps, frames, size and end in the data, sum of these |
| `runs`, `ended` | one each | when a run began and should end [s], sum; number, how it ended, sum |
| `frames/sums` | one a frame | CRC-32 of each part of the frame (``recording.checksums``) |

Datasets only grow, and `frames/time` grows last: whatever a killed run left, the shortest of them
says how many frames there are. HDF5 has sums of its own for all but the rows. Earlier versions of
the format, without sums, are read by ``recording.earlier_formats``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from drystone.model import Model
from drystone.recording import contacts
from drystone.recording.reports import COLUMNS

FORMAT = "drystone recording"
FORMAT_VERSION = 3  # has checksums of frames; in 1 contacts lay row by row
CONTACTS, JOINTS, ISLANDS, SECONDS, NOTE, LAWS, FEATURES, ENDS = range(8)  # columns of frames/ends
RAGGED = {
    contacts.NUMBERS: CONTACTS, contacts.BODIES: CONTACTS, contacts.LAWS: LAWS,
    contacts.FEATURES: FEATURES, "joints": JOINTS, "islands": ISLANDS, "seconds": SECONDS,
}  # fmt: skip
SUMS = (
    "time",
    "position",
    "orientation",
    "velocity",
    "report",
    contacts.NUMBERS,
    contacts.BODIES,
    contacts.LAWS,
    contacts.FEATURES,
    "joints",
    "islands",
    "seconds",
)  # columns of frames/sums; the first is of time, kick and ends
MIN_CHUNK, MAX_CHUNK = 1 << 12, 1 << 19  # bytes of a chunk
CHUNK_FRAMES = 16  # frames that a chunk is meant for
RUN_COMPLETE, RUN_STOPPED, RUN_FAILED = 1, 2, 3  # how a run ended

Kind = tuple[tuple[int, ...], Any]


def datasets(model: Model, forces: bool) -> dict[str, Kind]:
    """Shape of a row and type of every dataset that grows, in the order they are written.
    forces: contacts have forces of their own, that are not impulses over the time of a kick."""
    nb, dim = model.nb, model.dim
    turns = () if dim == 2 else (4,)
    return {
        **contacts.kinds(dim, nb, forces),
        "joints": ((1 + dim + (1 if dim == 2 else 3),), "<f8"),
        "islands": ((2,), "<f8"),
        "seconds": ((), "<f8"),
        "notes": ((), "u1"),
        "note_index": ((3,), "<i8"),
        "frames/position": ((nb, dim), "<f8"),
        "frames/orientation": ((nb, *turns), "<f8"),
        "frames/velocity": ((nb, model.dof), "<f8"),
        "frames/report": ((len(COLUMNS),), "<f8"),
        "frames/kick": ((), "<f8"),
        "frames/ends": ((ENDS,), "<i8"),
        "frames/sums": ((len(SUMS),), "<u4"),
        "frames/time": ((), "<f8"),
        "checkpoints/data": ((), "u1"),
        "checkpoints/index": ((5,), "<i8"),
        "runs": ((3,), "<f8"),
        "ended": ((3,), "<i8"),
    }


def chunk_rows(name: str, kind: Kind, model: Model) -> int:
    """Rows of a dataset that lie together in the file."""
    shape, each = kind[0], np.dtype(kind[1]).itemsize
    many = {"islands": model.nb // 4, "checkpoints/data": 100 * model.nb, "frames/report": 4}
    rows = 2 * model.nb if RAGGED.get(name) == CONTACTS else many.get(name, 1)
    size = max(each * int(np.prod(shape)), 1)
    return max(int(np.clip(CHUNK_FRAMES * size * rows, MIN_CHUNK, MAX_CHUNK)) // size, 1)
