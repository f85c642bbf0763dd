"""Recordings to read: whole arrays for NumPy, one frame at a time for whoever draws."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import cached_property, partial
from importlib import import_module
from time import sleep
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from drystone.arguments import answering
from drystone.errors import DrystoneError, FrameError, RecordingError
from drystone.model import Model, State
from drystone.recording import contacts as columns
from drystone.recording import joint_rows, layout, reports, version_1
from drystone.recording.facts import Facts
from drystone.recording.models import model_from
from drystone.recording.opening import open_file
from drystone.recording.packing import unpack
from drystone.recording.sums import FIXED, checksum
from drystone.steppers.base import StepReport
from drystone.types import Bools, Floats, Ints
from drystone.values import as_path, frame_number

if TYPE_CHECKING:
    from drystone.world import World

T = TypeVar("T")
OPENED = ("file", "live", "ends", "_about", "_n")
TRIALS, AGAIN = 5, 0.05  # looks at a file that is being written, and seconds between them


def read_recording(path: str | os.PathLike[str]) -> Recording:
    """Open a recording; RecordingError says what is wrong with a file that is none."""
    out = Recording(path)
    out._open()
    return out


@answering
class Recording(Facts):
    """A run in a file: n frames of nb bodies; frame 0 is the start.

    dt [s]: of a step; every: steps from frame to frame; complete: the run came to its end;
    duration [s]: what was asked for; scene, settings: of the gallery, or None; view: hints for
    drawing; method: as ``scene_files.method_document`` says it, or None; info: versions.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = as_path("Recording", path, RecordingError)
        self._columns: dict[str, Floats] = {}  # of reports, that were read

    def __getattr__(self, name: str) -> Any:
        """The file is opened when it is first asked for."""
        if name not in OPENED:
            raise AttributeError(f"a Recording has no {name!r}")
        self._open()
        return self.__dict__[name]

    def _open(self) -> None:
        """Open and check; a file that is being written may have to be looked at again."""
        for trial in range(TRIALS):
            try:
                self.file, self.live = open_file(self.path)
                self._about = self._guard(self._read_about)
                self._n = self._guard(self._count)
                return
            except RecordingError:
                if "file" in self.__dict__:
                    self.__dict__.pop("file").close()
                if trial == TRIALS - 1 or not self.__dict__.get("live"):
                    raise
                sleep(AGAIN)

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, or a pickle, is the name of the file, which is opened when it is asked for."""
        return type(self), (self.path.absolute(),)

    def _bad(self, what: str) -> RecordingError:
        return RecordingError(f"{self.path}: {what}")

    def _text(self, name: str) -> str:
        return self.file[name][()].tobytes().decode()

    def _read_about(self) -> dict[str, Any]:
        if "about" not in self.file or "frames" not in self.file:
            raise self._bad("is an HDF5 file, but no recording of Drystone's")
        about = json.loads(self._text("about"))
        if about.get("format") != layout.FORMAT:
            raise self._bad(f"is no recording: its format is {about.get('format')!r}")
        if about["version"] > layout.VERSION:
            made = about.get("info", {}).get("drystone")
            raise self._bad(
                f"was written by a later version of Drystone ({made}; format {about['version']}, "
                f"known up to {layout.VERSION})"
            )
        if int(self.file["sum"][0]) != checksum(self._fixed()):
            raise self._bad("is damaged: its model or settings are not what was written")
        return dict(about)

    def _fixed(self) -> dict[str, np.ndarray]:
        return {name: self.file[name][()] for name in FIXED}

    def _count(self) -> int:
        """Frames of which all parts are there."""
        sets = [item for name, item in self.file["frames"].items() if name != "ends"]
        self.ends = self.file["frames/ends"][()]
        n = min(len(self.ends), *(item.shape[0] for item in sets))
        ends = self.ends[:n]
        whole = ends[:, layout.NOTE] < self.file["note_sizes"].shape[0]
        for name, column in self.ragged.items():
            whole &= ends[:, column] <= self.file[name].shape[0]
        n = n if whole.all() else int(np.argmin(whole))
        self.ends = ends[:n]
        order = np.delete(self.ends, layout.NOTE, axis=1)
        if n == 0 or order[0].any() or (np.diff(order, axis=0) < 0).any():
            raise self._bad("is damaged: its frames are not in order")
        if (self.ends[1:, layout.NOTE] < 0).any():
            raise self._bad("is damaged: frames without reports")
        return n

    @property
    def odd(self) -> bool:
        """Whether the last frame is the end of a run that fell between two frames."""
        if self._n < 2:
            return False
        return round(float(self.time[-1] - self.time[-2]) / self.dt) < self.every

    def refresh(self) -> int:
        """Frames there are now, if the file is still being written."""
        if self.live:
            self.file.close()
            self._columns.clear()
            for name in ("time", "position", "orientation", "velocity", "notes"):
                self.__dict__.pop(name, None)
            self._open()
        return self._n

    def _guard(self, read: Callable[[], T]) -> T:
        """What goes wrong while reading, in words."""
        try:
            return read()
        except DrystoneError:
            raise
        except Exception as error:  # HDF5 and what it gave to others may fail in any way
            raise self._bad(f"is damaged ({str(error).split(chr(10))[0]})") from None

    def rows(self, name: str, first: int = 0, last: int | None = None) -> np.ndarray:
        """Rows first:last of a dataset (see ``recording.layout``), all by default."""
        return self._guard(lambda: np.asarray(self.file[name][first:last]))

    def close(self) -> None:
        if "file" in self.__dict__:
            self.file.close()

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        return self._n

    def __repr__(self) -> str:
        end = "" if self.complete else ", not complete"
        what = self.title or self.scene or f"{len(self.names)} bodies"
        return f"Recording({str(self.path)!r}: {what}, {len(self)} frames{end})"

    @cached_property
    def time(self) -> Floats:
        """(n,) [s]."""
        return self.rows("frames/time", 0, self._n)

    @cached_property
    def position(self) -> Floats:
        """(n, nb, dim) of centres of mass [m]."""
        return self.rows("frames/position", 0, self._n)

    @cached_property
    def orientation(self) -> Floats:
        """(n, nb) [rad], or (n, nb, 4)."""
        return self.rows("frames/orientation", 0, self._n)

    @cached_property
    def velocity(self) -> Floats:
        """(n, nb, dof) [m/s, rad/s]."""
        return self.rows("frames/velocity", 0, self._n)

    def state(self, k: int) -> State:
        k = self._index(k)
        parts = ("position", "orientation", "velocity")
        arrays = [self.rows(f"frames/{name}", k, k + 1)[0] for name in parts]
        return State(float(self.time[k]), *arrays)

    def _index(self, k: int) -> int:
        return frame_number(k, self._n, self.path.name)

    def _part(self, name: str, k: int) -> np.ndarray:
        """Rows of a ragged dataset that belong to frame k."""
        column, k = self.ragged[name], self._index(k)
        first = int(self.ends[k - 1, column]) if k else 0
        return self.rows(name, first, int(self.ends[k, column]))

    def _shared(self, name: str, k: int, n: int) -> np.ndarray:
        """The same of rows that contacts share, one for each of the n of frame k."""
        rows = self._part(name, k)
        if len(rows) == n:
            return rows
        end = int(self.ends[self._index(k), self.ragged[name]])
        if end == 0:
            raise self._bad(f"is damaged: there are contacts, but no {name}")
        return np.repeat(self.rows(name, end - 1, end), n, axis=0)

    @cached_property
    def _names(self) -> np.ndarray:
        return np.array(self.names, dtype=np.str_) if self.names else np.array([""])

    def contacts(self, k: int) -> np.ndarray:
        """Those of the step that led to frame k, as ``Simulation.contacts``; none of the start."""
        kick = float(self.rows("frames/kick", self._index(k), self._index(k) + 1)[0])
        dim = int(self._about["dim"])
        if self.version == 1:
            old = self._part("contacts", k)
            return self._guard(lambda: version_1.read_contacts(old, self._names, dim, kick))
        parts = {name: self._part(name, k) for name in (columns.NUMBERS, columns.BODIES)}
        n = len(parts[columns.NUMBERS])
        parts |= {name: self._shared(name, k, n) for name in (columns.LAWS, columns.FEATURES)}
        forces = self.keeps_forces
        return self._guard(lambda: columns.read(parts, self._names, dim, forces, kick))

    def joints(self, k: int) -> np.ndarray:
        """Forces of the joints in the step that led to frame k, as ``Simulation.joints``."""
        rows, joints, names = self._part("joints", k), self.model.joints, self.names
        return self._guard(lambda: joint_rows.read(rows, joints, names, self.model.dim))

    @cached_property
    def notes(self) -> list[str]:
        """Texts that reports share."""

        def read() -> list[str]:
            sizes, data = self.file["note_sizes"][()], self.file["notes"][()].tobytes()
            ends = np.cumsum(sizes)
            return [data[e - s : e].decode() for e, s in zip(ends, sizes, strict=True)]

        return self._guard(read)

    def _column(self, name: str) -> Floats:
        """One number of all reports, without the others."""
        if name not in self._columns:
            place, n = reports.PLACE[name], self._n
            read = self._guard(lambda: np.asarray(self.file["frames/report"][1:n, place]))
            self._columns[name] = read
        return self._columns[name]

    def reports(self, k: int) -> StepReport:
        """The report of the step that led to frame k, k > 0."""
        k = self._index(k)
        if k == 0:
            raise FrameError("frame 0 is the start: no step led to it")
        text = self._guard(lambda: self.notes[int(self.ends[k, layout.NOTE])])
        parts = self._part("islands", k), self._part("seconds", k)
        return reports.report_from(self.frame_numbers(k), text, *parts)

    def frame_numbers(self, k: int) -> Floats:
        """The numbers of the report that led to frame k, k > 0, in the order of
        ``recording.reports.COLUMNS``."""
        k = self._index(k)
        return self.rows("frames/report", k, k + 1)[0]

    def series(self, name: str) -> Floats:
        """One number of every report, (n - 1,): a field of it ("residual", "contacts"), of its
        energy ledger ("friction", "total") or of its conditions ("dissipation")."""
        return reports.series(self._column, name)

    def solved(self) -> Bools:
        """(n - 1,) whether the steps that led to frames met their tolerance."""
        ok = np.array([reports.solved(text) for text in self.notes], bool)
        return self._guard(lambda: ok[self.ends[1:, layout.NOTE]])

    def stage_seconds(self) -> dict[str, Floats]:
        """Seconds of every stage that was timed, (n - 1,) each."""
        ends, values = self.ends[:, layout.SECONDS], self.rows("seconds")
        out: dict[str, Floats] = {}
        for number, text in enumerate(self.notes):
            names = reports.stages(text)
            mine = np.flatnonzero(self.ends[1:, layout.NOTE] == number) if names else ()
            for place, name in enumerate(names if len(mine) else ()):
                column = out.setdefault(name, np.zeros(self._n - 1))
                at = ends[mine] + place
                column[mine] = self._guard(partial(values.__getitem__, at))
        return out

    @cached_property
    def model(self) -> Model:
        """The model as arrays, for drawing: without motions and forces."""

        def read() -> Model:
            arrays = unpack(self.file["model"][()].tobytes())
            tuples = {k: tuple(v) if isinstance(v, list) else v for k, v in arrays.items()}
            return model_from(tuples)

        return self._guard(read)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of the bodies."""
        return self.model.names

    @property
    def document(self) -> dict[str, Any] | None:
        """The scene document, None if the world held Python functions."""
        text = self._guard(lambda: self._text("document"))
        return json.loads(text) if text else None

    @cached_property
    def world(self) -> World | None:
        """The world at its start, None if it held Python functions."""
        from drystone.scene_files import load

        described = self.document
        return None if described is None else load(described, name=str(self.path)).world

    @property
    def checkpoints(self) -> Ints:
        """(c, 3): steps, frames, bytes of the places where the run can be gone on from."""

        def read() -> Ints:
            index, data = self.file["checkpoints/index"], self.file["checkpoints/data"]
            rows: Ints = index[()]
            whole = (np.cumsum(rows[:, 2]) <= data.shape[0]) & (rows[:, 1] <= self._n)
            return rows[: len(rows) if whole.all() else int(np.argmin(whole))]

        return self._guard(read)

    def snapshot(self, k: int = -1) -> dict[str, Any]:
        """What ``Simulation.restore`` takes, at a checkpoint."""
        sizes = self.checkpoints[:, 2]
        k = frame_number(k, len(sizes), self.path.name, "checkpoint")
        end = int(sizes[: k + 1].sum())
        data = self.rows("checkpoints/data", end - int(sizes[k]), end).tobytes()
        try:
            return dict(unpack(data))
        except RecordingError as error:
            raise self._bad(f"checkpoint {k}: {error}") from None

    @property
    def runs(self) -> Floats:
        """(r, 2): time when each run of this recording began, and when it was to end [s]."""
        return self.rows("runs")

    @property
    def complete(self) -> bool:
        """Whether the last run came to its end."""
        ended = self.rows("ended")
        last = len(self.runs) - 1
        return bool(((ended[:, 0] == last) & (ended[:, 1] == layout.COMPLETE)).any())

    @property
    def duration(self) -> float:
        """What was asked for, from the start of the recording [s]; nan if it was left open."""
        return float(self.runs[-1, 1] - self.time[0])

    def show(self, **options: Any) -> Any:
        """Replay in a browser; in a notebook the result is shown in the cell. Options are those of
        ``drystone.view.show``; needs the extra ``view``."""
        return import_module("drystone.view").show(self, **options)

    def to_pandas(self, what: str = "bodies", frame: Any = None) -> Any:
        """A pandas.DataFrame of "bodies", "contacts", "joints" or "reports", one row each; frame:
        of one frame or a slice of them, all by default."""
        from drystone.recording.tables import to_pandas

        return to_pandas(self, what, frame)
