"""Recordings to read: whole arrays for NumPy, one frame at a time for drawing."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from importlib import import_module
from time import sleep
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from drystone.arguments import answering
from drystone.constraints.canonical import CanonicalForces, checked_choice
from drystone.errors import DrystoneError, FrameError, RecordingError
from drystone.model import Model, State
from drystone.recording import checksums, earlier_formats, joint_rows, layout, reports
from drystone.recording import contacts as columns
from drystone.recording.models import model_from
from drystone.recording.opening import open_file
from drystone.recording.packing import MAX_TEXT, unpack
from drystone.scene_files.text import parse_json
from drystone.steppers.base import StepReport
from drystone.steppers.totals import RunSummary, Totals
from drystone.types import Bools, Floats, Ints
from drystone.values import as_path, frame_number, switch
from drystone.values import text as said

if TYPE_CHECKING:
    from drystone.world import World

T = TypeVar("T")
OPENED = ("file", "live", "ends", "sums", "_about", "_kept", "_lost", "_time")
FRAMES_CHECKED = 256  # frames that are compared with their sums at a time
SALVAGE = "salvage=True, or --salvage, reads what is whole"
ABOUT: dict[str, Any] = {  # of what kind the parts of `about` are; others are not read
    "version": int, "dim": int, "dt": float | int, "every": int, "contacts": bool | int,
    "forces": bool | int | None, "method": dict | None, "scene": str | None,
    "settings": dict | None, "view": dict | None, "title": str | None, "undescribed": str | None,
    "info": dict | None,
}  # fmt: skip
OPEN_TRIALS = 5  # attempts to open a file that is being written
OPEN_WAIT = 0.05  # [s] between them


def read_recording(path: str | os.PathLike[str], *, salvage: bool = False) -> Recording:
    """Open a recording; RecordingError says why a file is not a valid recording.

    What is damaged is refused, by name and time, when it is read. salvage: leave out the frames of
    which anything is damaged, and read the others; ``damage`` of the recording says which.
    """
    out = Recording(path, salvage)
    out._open()
    return out


@answering
class Recording:
    """A run in a file: n frames of nb bodies; frame 0 is the start.

    dt [s]: of a step; every: steps from frame to frame; complete: the run came to its end;
    duration [s]: what was asked for; scene, settings: of the gallery, or None; view: hints for
    drawing; method: as ``scene_files.method_document`` says it, or None; info: versions; salvage:
    frames that are damaged are left out.
    """

    _about: dict[str, Any]  # what the recording says of itself, once

    def __init__(self, path: str | os.PathLike[str], salvage: bool = False) -> None:
        self.path = as_path("Recording", path, RecordingError)
        self.salvage = switch("read_recording", "salvage", salvage)
        self.sums: np.ndarray | None
        self._columns: dict[str, Floats] = {}  # of reports, that were read

    if not TYPE_CHECKING:  # a type checker must see that a name does not exist

        def __getattr__(self, name: str) -> Any:
            """The file is opened when it is first asked for."""
            if name not in OPENED:
                raise AttributeError(f"a Recording has no {name!r}")
            self._open()
            return self.__dict__[name]

    def _open(self) -> None:
        """Open and check; a file that is being written may need several attempts."""
        for trial in range(OPEN_TRIALS):
            try:
                self.file, self.live = open_file(self.path)
                self._about = self._guard(self._read_about)
                self._guard(self._count)
                self._kept = self._chosen()
                return
            except RecordingError:
                if "file" in self.__dict__:
                    self.__dict__.pop("file").close()
                if trial == OPEN_TRIALS - 1 or not self.__dict__.get("live"):
                    raise
                sleep(OPEN_WAIT)

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, or a pickle, is the name of the file, which is opened when it is asked for."""
        return type(self), (self.path.absolute(), self.salvage)

    def _bad(self, what: str) -> RecordingError:
        return RecordingError(f"{self.path}: {what}")

    def _text(self, name: str) -> str:
        if self.file[name].nbytes > MAX_TEXT:
            raise self._bad(f"is damaged: {name} has more than {MAX_TEXT} bytes")
        return self.file[name][()].tobytes().decode()

    def _read_about(self) -> dict[str, Any]:
        if "about" not in self.file or "frames" not in self.file:
            raise self._bad("is an HDF5 file, but no recording of Drystone's")
        about = json.loads(self._text("about"))
        if about.get("format") != layout.FORMAT:
            raise self._bad(f"is not a recording: its format is {about.get('format')!r}")
        if about["version"] > layout.FORMAT_VERSION:
            made = about.get("info", {}).get("drystone")
            raise self._bad(
                f"was written by a later version of Drystone ({made}; format {about['version']}, "
                f"known up to {layout.FORMAT_VERSION})"
            )
        if int(self.file["sum"][0]) != checksums.checksum(self._fixed()):
            raise self._bad("is damaged: its model or settings are not what was written")
        for name, kind in ABOUT.items():
            if not isinstance(about.get(name), kind):
                raise self._bad(f"is damaged: its {name} is {said(about.get(name))}")
        if about["dim"] not in (2, 3) or not about["dt"] > 0 or about["every"] < 1:
            raise self._bad("is damaged: its steps are none")
        return dict(about)

    def _fixed(self) -> dict[str, np.ndarray]:
        return {name: self.file[name][()] for name in checksums.FIXED}

    @property
    def _n(self) -> int:
        return len(self._kept)

    def _count(self) -> None:
        """Find the frames of which all parts are there, and where these are."""
        parts = self.file["frames"]
        self._check_states(parts)
        n = min(item.shape[0] for item in parts.values())
        ends, time, kick = (parts[name][:n] for name in ("ends", "time", "kick"))
        lost = np.zeros(n, bool)
        self.sums = None
        if self.summed:
            self.sums = parts["sums"][:n]
            lost = checksums.line_sums(time, kick, ends) != self.sums[:, 0]
        self._time, self.ends, self._lost = time, ends, lost
        if lost.any():
            if not self.salvage:
                raise self._broken("time and place", int(np.argmax(lost)))
            good = np.maximum.accumulate(np.where(lost, 0, np.arange(n)))
            first = np.where(lost[0], 0, ends[0]) if n else 0
            ends = np.where((lost & (good == 0))[:, None], first, ends[good])
        whole = ends[:, layout.NOTE] < self._notes_there
        for name, column in self.ragged.items():
            whole &= ends[:, column] <= self.file[name].shape[0]
        n = n if whole.all() else int(np.argmin(whole))
        self._time, self.ends, self._lost = time[:n], ends[:n], lost[:n]
        order = np.delete(self.ends, layout.NOTE, axis=1)
        if n == 0 or order[0].any() or (np.diff(order, axis=0) < 0).any():
            raise self._bad("is damaged: its frames are not in order")
        if (self.ends[1:, layout.NOTE][~lost[1:n]] < 0).any():
            raise self._bad("is damaged: frames without reports")

    def _check_states(self, parts: Any) -> None:
        """That times and states are what can be drawn: real numbers of so many bodies."""
        dim, bodies = self._about["dim"], parts["position"].shape[1:2]
        turn, dof = ((), (3,)) if dim == 2 else ((4,), (6,))
        rows = {
            "time": (), "kick": (), "position": (*bodies, dim), "orientation": (*bodies, *turn),
            "velocity": (*bodies, *dof),
        }  # fmt: skip
        for name, row in rows.items():
            if parts[name].shape[1:] != row or parts[name].dtype != np.dtype("<f8"):
                raise self._bad(f"is damaged: {name} of its frames is not of the kind it should be")

    @property
    def _notes_there(self) -> int:
        return int(self.file["note_index" if self.summed else "note_sizes"].shape[0])

    def _chosen(self) -> Ints:
        """Numbers, in the file, of the frames that are read: all, or those that are whole."""
        if not self.salvage:
            return np.arange(len(self.ends))
        kept = np.flatnonzero(~self._wrong.any(axis=1))
        if not len(kept):
            raise self._bad("is damaged: no frame of it is whole")
        return kept

    @cached_property
    def _wrong(self) -> Bools:
        """(frames in the file, parts) of which parts are not what was written: those of
        ``layout.SUMS``, then the text of the report."""
        n = len(self.ends)
        out = np.zeros((n, len(layout.SUMS) + 1), bool)
        out[:, 0] = self._lost
        for column, name in enumerate(layout.SUMS[1:], 1):
            for first in range(0, n, FRAMES_CHECKED):
                last = min(first + FRAMES_CHECKED, n)
                out[first:last, column] = self._differ(name, column, first, last)
        bad = np.array([text is None for text in self._texts] or [False])
        out[1:, -1] = bad[self.ends[1:, layout.NOTE]]
        return out

    def _differ(self, name: str, column: int, first: int, last: int) -> Any:
        """Of which frames first:last a part is not what was written, or cannot be read."""
        try:
            found = self._sums_now(name, first, last)
        except RecordingError:
            if last - first == 1:
                return True
            middle = (first + last) // 2
            parts = [(first, middle), (middle, last)]
            return np.concatenate(
                [np.broadcast_to(self._differ(name, column, a, b), b - a) for a, b in parts]
            )
        return False if self.sums is None else found != self.sums[first:last, column]

    def _sums_now(self, name: str, first: int, last: int) -> Ints:
        """(last - first,) sums of a part of frames, of what the file holds."""
        if name not in layout.RAGGED:
            return checksums.row_sums(self.rows(f"frames/{name}", first, last))
        if name not in self.ragged:
            name = "contacts"  # of format 1
        ends = self.ends[first:last, self.ragged[name]]
        begin = int(self.ends[first - 1, self.ragged[name]]) if first else 0
        rows, ends = self.rows(name, begin, int(ends[-1])), ends - begin
        if name not in checksums.SHARED:
            return checksums.part_sums(rows, ends)
        before = self.rows(name, max(begin - 1, 0), begin)
        count = np.diff(self.ends[:last, layout.CONTACTS], prepend=0)[first:]
        return checksums.shared_sums(rows, before, ends, count)

    @cached_property
    def damage(self) -> tuple[str, ...]:
        """What is not as it was written, in words: frames with their times, checkpoints. All of
        the file is read for it."""
        out = []
        names = (*layout.SUMS, "text of the report")
        for k in np.flatnonzero(self._wrong.any(axis=1)).tolist():
            parts = [name for name, bad in zip(names, self._wrong[k], strict=True) if bad]
            out.append(f"frame {k} ({self._when(k)}): {', '.join(parts)}")
        marks, ok = self._marks
        for k, mark in enumerate(marks):
            if not (ok[k] and self._unpacked(mark) is not None):
                frame = min(max(int(mark[1]) - 1, 0), len(self.ends) - 1)
                out.append(f"checkpoint {k}{f' ({self._when(frame)})' if ok[k] else ''}")
        for name, dtype in (("runs", float), ("ended", int)):
            bad = np.flatnonzero(~self._checked(name, dtype)[1])
            out += [f"{name} {k}" for k in bad.tolist()]
        return tuple(out)

    def _when(self, k: int) -> str:
        """The time of a frame in the file; if it is lost, what it should be."""
        if not self._lost[k]:
            return f"{self._time[k]:g} s"
        known = np.flatnonzero(~self._lost)
        near = int(known[np.argmin(abs(known - k))]) if len(known) else 0
        begin = float(self._time[near]) if len(known) else 0.0
        return f"about {begin + (k - near) * self.every * self.dt:g} s"

    def _broken(self, part: str, k: int) -> RecordingError:
        return self._bad(
            f"is damaged: {part} of frame {k} ({self._when(k)}) is not what was written ({SALVAGE})"
        )

    @property
    def odd(self) -> bool:
        """Whether the last frame is the end of a run that fell between two frames: it was written
        after the last checkpoint, and no step followed."""
        marks, ended = self.checkpoints, self.rows("ended")
        if not len(marks) or not (ended[:, 0] == len(self.runs) - 1).any():
            return False
        steps, frames, _ = (int(x) for x in marks[-1])
        return self._n > frames and (steps - int(marks[0][0])) % self.every > 0

    def refresh(self) -> int:
        """Frames there are now, if the file is still being written."""
        if self.live:
            self.file.close()
            self._columns.clear()
            cached = ("time", "position", "orientation", "velocity", "_texts", "_wrong", "damage")
            for name in cached:
                self.__dict__.pop(name, None)
            self._open()
        return self._n

    def _guard(self, read: Callable[[], T]) -> T:
        """Read, with errors of HDF5 and NumPy as a RecordingError that names the file."""
        try:
            return read()
        except DrystoneError:
            raise
        except Exception as error:  # HDF5 and what it gave to others may fail in any way
            raise self._bad(f"is damaged ({str(error).split(chr(10))[0]})") from None

    def rows(self, name: str, first: int = 0, last: int | None = None) -> np.ndarray:
        """Rows first:last of a dataset (see ``recording.layout``), all by default, as they are."""

        def read() -> np.ndarray:
            item = self.file[name]
            end = item.shape[0] if last is None else last
            if not 0 <= first <= end <= item.shape[0]:
                raise ValueError(f"{name} has no rows {first} to {end}")
            return np.asarray(item[first:end])

        return self._guard(read)

    def frames(self, name: str, first: int, last: int) -> np.ndarray:
        """Rows first:last of `frames/name`, which are what was written, by their numbers in the
        file."""
        try:
            rows = self.rows(f"frames/{name}", first, last)
        except RecordingError as error:
            times = f"{self._when(first)} to {self._when(last - 1)}" if first < last else ""
            raise RecordingError(f"{error}: {name}, {times} ({SALVAGE})") from None
        if self.sums is not None and name in layout.SUMS:
            column = layout.SUMS.index(name)
            wrong = checksums.row_sums(rows) != self.sums[first:last, column]
            if wrong.any():
                raise self._broken(name, first + int(np.argmax(wrong)))
        return rows

    def _every_frame(self, name: str, begin: int = 0) -> np.ndarray:
        """`frames/name` of all frames that are read, from one on."""
        kept = self._kept[begin:]
        if not len(kept):
            return self.frames(name, 0, 0)
        breaks = np.flatnonzero(np.diff(kept) > 1) + 1
        parts = [self.frames(name, int(p[0]), int(p[-1]) + 1) for p in np.split(kept, breaks)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def sizes(self, name: str) -> int:
        """Rows of a dataset."""
        return int(self.file[name].shape[0])

    def readable(self) -> None:
        """That the index of every dataset can be read. Whoever opens the file for writing must ask
        this first: HDF5 then takes an index that is damaged for one that is being written, and
        waits for ever."""

        def look(name: str, item: Any) -> None:
            if getattr(item, "chunks", None) is not None:
                item.id.chunk_iter(lambda info: None)

        self._guard(lambda: self.file.visititems(look))

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
        return self._time[self._kept]

    @cached_property
    def position(self) -> Floats:
        """(n, nb, dim) of centres of mass [m]."""
        return self._every_frame("position")

    @cached_property
    def orientation(self) -> Floats:
        """(n, nb) [rad], or (n, nb, 4)."""
        return self._every_frame("orientation")

    @cached_property
    def velocity(self) -> Floats:
        """(n, nb, dof) [m/s, rad/s]."""
        return self._every_frame("velocity")

    def state(self, k: int) -> State:
        at = self._index(k)
        parts = ("position", "orientation", "velocity")
        arrays = [self.frames(name, at, at + 1)[0] for name in parts]
        return State(float(self._time[at]), *arrays)

    def _index(self, k: int) -> int:
        """The number in the file of frame k."""
        return int(self._kept[frame_number(k, self._n, self.path.name)])

    def _part(self, name: str, at: int) -> np.ndarray:
        """Rows of a ragged dataset that belong to a frame, by its number in the file."""
        column = self.ragged[name]
        first = int(self.ends[at - 1, column]) if at else 0
        rows = self.rows(name, first, int(self.ends[at, column]))
        if name not in checksums.SHARED:
            self._compare(name, at, checksums.part_sums(rows, np.array([len(rows)])))
        return rows

    def _compare(self, name: str, at: int, found: Ints) -> None:
        if self.sums is not None and found[0] != self.sums[at, layout.SUMS.index(name)]:
            raise self._broken(name, at)

    def _shared(self, name: str, at: int, n: int) -> np.ndarray:
        """The same of rows that contacts share, one for each of the n of the frame."""
        rows = self._part(name, at)
        if len(rows) != n:
            end = int(self.ends[at, self.ragged[name]])
            if end == 0:
                raise self._bad(f"is damaged: there are contacts, but no {name}")
            rows = self.rows(name, end - 1, end)
        if n:
            self._compare(name, at, checksums.part_sums(rows, np.array([len(rows)])))
        return rows if len(rows) == n else np.repeat(rows, n, axis=0)

    @cached_property
    def _names(self) -> np.ndarray:
        return np.array(self.names, dtype=np.str_) if self.names else np.array([""])

    @cached_property
    def _canonical(self) -> CanonicalForces:
        """By the law of the method that was recorded; none where it cannot be made again."""
        from drystone.scene_files.methods import method_from

        try:
            law = method_from(self.method or {}).contact_law
        except DrystoneError:
            law = None
        return CanonicalForces(self.model, law)

    def contacts(self, k: int, forces: str = "auto") -> np.ndarray:
        """Those of the step that led to frame k, as ``Simulation.contacts``; none of the start.
        forces: as ``Simulation.forces``; the file has those of the solver."""
        checked_choice("contacts", forces)
        return self._canonical.of(self._contacts(k), forces)

    def forces_read(self, k: int, forces: str = "auto") -> str:
        """What the forces of ``contacts(k)`` are, as ``Simulation.forces_read``."""
        checked_choice("forces_read", forces)
        return self._canonical.said(self._contacts(k), forces)

    def _contacts(self, k: int) -> np.ndarray:
        at = self._index(k)
        kick = float(self.frames("kick", at, at + 1)[0])
        dim = int(self._about["dim"])
        if self.version == 1:
            old = self._part("contacts", at)
            return self._guard(lambda: earlier_formats.read_contacts(old, self._names, dim, kick))
        parts = {name: self._part(name, at) for name in (columns.NUMBERS, columns.BODIES)}
        n = len(parts[columns.NUMBERS])
        parts |= {name: self._shared(name, at, n) for name in (columns.LAWS, columns.FEATURES)}
        return self._guard(lambda: columns.read(parts, self._names, dim, kick))

    def joints(self, k: int) -> np.ndarray:
        """Forces of the joints in the step that led to frame k, as ``Simulation.joints``."""
        rows = self._part("joints", self._index(k))
        joints, names = self.model.joints, self.names
        return self._guard(lambda: joint_rows.read(rows, joints, names, self.model.dim))

    @cached_property
    def _texts(self) -> list[str | None]:
        """Texts that reports share; None for those that are damaged."""

        def read() -> list[str | None]:
            data = self.file["notes"][()].tobytes()
            if not self.summed:
                sizes = self.file["note_sizes"][()]
                return [
                    data[e - s : e].decode() for e, s in zip(sizes.cumsum(), sizes, strict=True)
                ]
            out: list[str | None] = []
            read = 0  # bytes: no byte is read twice, so that a text takes no more than it has
            for row in self.file["note_index"][()]:
                end, size, total = row.tolist()
                text = data[end - size : end] if size >= 0 and read <= end - size else b""
                whole = len(text) == size and checksums.note_sum(row[:2], text) == total
                out.append(text.decode() if whole else None)
                read = end if whole else read
            return out

        return self._guard(read)

    @property
    def notes(self) -> list[str]:
        """Texts that reports share."""
        return [self._note(number) for number in range(len(self._texts))]

    def _note(self, number: int) -> str:
        text = self._guard(lambda: self._texts[number])
        if text is None:
            first = int(np.argmax(self.ends[:, layout.NOTE] == number))
            raise self._broken("text of the report", first)
        return text

    def _column(self, name: str) -> Floats:
        """One number of all reports, without the others."""
        if name not in self._columns:
            place = reports.PLACE[name]

            def read(part: Ints) -> Floats:
                rows = self.frames("report", int(part[0]), int(part[-1]) + 1)
                return self._guard(lambda: rows[part - part[0], place])

            breaks = np.arange(FRAMES_CHECKED, self._n - 1, FRAMES_CHECKED)
            parts = [
                read(part)
                for piece in np.split(self._kept[1:], breaks)
                for part in np.split(piece, np.flatnonzero(np.diff(piece) > 1) + 1)
                if len(part)
            ]
            self._columns[name] = np.concatenate(parts) if parts else np.empty(0)
        return self._columns[name]

    def reports(self, k: int) -> StepReport:
        """The report of the step that led to frame k, k > 0."""
        at = self._index(k)
        if at == 0:
            raise FrameError("frame 0 is the start: no step led to it")
        text = self._note(int(self.ends[at, layout.NOTE]))
        parts = self._part("islands", at), self._part("seconds", at)
        return reports.report_from(self.frame_numbers(k), text, *parts)

    def frame_numbers(self, k: int) -> Floats:
        """The numbers of the report that led to frame k, k > 0, in the order of
        ``recording.reports.COLUMNS``."""
        at = self._index(k)
        return self.frames("report", at, at + 1)[0]

    def series(self, name: str) -> Floats:
        """One number of every report, (n - 1,): a field of it ("residual", "contacts"), of its
        energy ledger ("friction", "total") or of its conditions ("dissipation")."""
        return reports.series(self._column, name)

    def solved(self) -> Bools:
        """(n - 1,) whether the steps that led to frames met their tolerance."""
        numbers = self.ends[self._kept[1:], layout.NOTE]
        said = {k: reports.solved(self._note(k)) for k in np.unique(numbers).tolist()}
        return np.array([said[k] for k in numbers.tolist()], bool)

    def stage_seconds(self) -> dict[str, Floats]:
        """Seconds of every stage that was timed, (n - 1,) each."""
        numbers = self.ends[self._kept[1:], layout.NOTE]
        stages = {k: reports.stages(self._note(k)) for k in np.unique(numbers).tolist()}
        out: dict[str, Floats] = {}
        for place, number in enumerate(numbers.tolist()):
            if not stages[number]:
                continue
            values = self._part("seconds", self._index(place + 1))
            for name, value in self._guard(
                partial(zip, stages[number], values.tolist(), strict=True)
            ):
                out.setdefault(name, np.zeros(self._n - 1))[place] = value
        return out

    @cached_property
    def model(self) -> Model:
        """The model as arrays, for drawing: without motions and forces."""

        def read() -> Model:
            arrays = unpack(self.file["model"][()].tobytes())
            tuples = {k: tuple(v) if isinstance(v, list) else v for k, v in arrays.items()}
            model = model_from(tuples)
            shown = self.file["frames/position"].shape[1:]
            if (model.nb, model.dim) != shown:
                raise ValueError(f"its model has {model.nb} bodies, its frames have {shown[0]}")
            return model

        return self._guard(read)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of the bodies."""
        return self.model.names

    @property
    def document(self) -> dict[str, Any] | None:
        """The scene document, None if the world held Python functions."""
        text = self._guard(lambda: self._text("document"))
        return parse_json(text, str(self.path)) if text else None

    @cached_property
    def world(self) -> World | None:
        """The world at its start, None if it held Python functions."""
        from drystone.scene_files import load

        described = self.document
        return None if described is None else load(described, name=str(self.path)).world

    @property
    def _marks(self) -> tuple[Ints, Bools]:
        """(c, 4) of checkpoints: steps, frames, and size and end of their bytes; which of them are
        as they were written."""

        def read() -> tuple[Ints, Bools]:
            rows: Ints = self.file["checkpoints/index"][()]
            if self.summed:
                marks, ok = rows[:, :4], checksums.whole_rows(rows)
            else:
                marks = np.column_stack([rows, np.cumsum(rows[:, 2])])
                ok = np.ones(len(rows), bool)
            there = marks[:, 3] <= self.sizes("checkpoints/data")
            there &= marks[:, 1] <= len(self.ends)
            there |= ~ok
            n = len(rows) if there.all() else int(np.argmin(there))
            marks, ok = marks[:n], ok[:n]
            places = marks[ok, 3]  # no byte is read twice
            if (marks[ok, 2] < 0).any() or (np.diff(places, prepend=0) < marks[ok, 2]).any():
                raise ValueError("its checkpoints are not in order")
            return marks, ok

        return self._guard(read)

    @property
    def checkpoints(self) -> Ints:
        """(c, 3): steps, frames, bytes of the checkpoints."""
        return self._whole_marks()[:, :3]

    def _whole_marks(self) -> Ints:
        marks, ok = self._marks
        if not (ok.all() or self.salvage):
            k = int(np.argmin(ok))
            raise self._bad(f"is damaged: checkpoint {k} is not what was written ({SALVAGE})")
        return marks[ok]

    def _unpacked(self, mark: Ints) -> dict[str, Any] | None:
        """A checkpoint, None if it is damaged."""
        try:
            data = self.rows("checkpoints/data", int(mark[3] - mark[2]), int(mark[3]))
            return self._guard(lambda: dict(unpack(data.tobytes())))
        except RecordingError:
            return None

    def snapshot(self, k: int = -1) -> dict[str, Any]:
        """What ``Simulation.restore`` takes, at a checkpoint."""
        marks = self._whole_marks()
        k = frame_number(k, len(marks), self.path.name, "checkpoint")
        out = self._unpacked(marks[k])
        if out is None:
            at = min(max(int(marks[k, 1]) - 1, 0), len(self.ends) - 1)
            raise self._bad(
                f"is damaged: checkpoint {k} ({self._when(at)}) is not what was written ({SALVAGE})"
            )
        return out

    def _checked(self, name: str, dtype: Any) -> tuple[np.ndarray, Bools]:
        """Rows (r, 2) of `runs` or `ended`, and which of them are as they were written."""
        rows = self.rows(name)
        if not self.summed:
            return rows, np.ones(len(rows), bool)
        return rows[:, :-1].astype(dtype), checksums.whole_rows(rows)

    def _checked_rows(self, name: str, dtype: Any, lost: float) -> np.ndarray:
        rows, ok = self._checked(name, dtype)
        if not (ok.all() or self.salvage):
            raise self._bad(f"is damaged: {name} is not what was written ({SALVAGE})")
        rows[~ok] = lost
        return rows

    @property
    def totals(self) -> Totals:
        """What the last checkpoint says of the steps until then, the last whole one of a file that
        is salvaged; of files that do not say it, the reports of frames alone."""
        k = len(self.checkpoints) - 1
        while self.salvage and k >= 0 and self._unpacked(self._whole_marks()[k]) is None:
            k -= 1
        known = self.snapshot(k).get("recorded") if k >= 0 else None
        if known is not None:
            return self._guard(lambda: Totals.from_text(str(known)))
        solved, time = self.solved(), self._column("time")
        said = RunSummary(
            steps=self._n - 1,
            end=float(self.time[-1]),
            unsolved=int((~solved).sum()),
            halved=int((self._column("retries") > 0).sum()),
            first=None if solved.all() else float(time[np.argmin(solved)]),
            residual=float(self._column("residual").max(initial=0.0)),
            depth=float(self._column("penetration").max(initial=0.0)),
            max_depth=np.inf,
        )
        return Totals(said)

    @property
    def summary(self) -> RunSummary:
        """Totals of all steps since the recording began, as ``Simulation.summary``; of a run that
        was killed those until its last checkpoint."""
        return self.totals.summary

    @property
    def runs(self) -> Floats:
        """(r, 2): time when each run of this recording began, and when it was to end [s]."""
        return self._checked_rows("runs", float, np.nan)

    @property
    def ended(self) -> Ints:
        """(e, 2): numbers of runs, and how they ended (see ``recording.layout``)."""
        return self._checked_rows("ended", np.int64, -1)

    @property
    def complete(self) -> bool:
        """Whether the last run came to its end."""
        ended = self.ended
        last = len(self.runs) - 1
        return bool(((ended[:, 0] == last) & (ended[:, 1] == layout.RUN_COMPLETE)).any())

    @property
    def duration(self) -> float:
        """What was asked for, from the start of the recording [s]; nan if it was left open."""
        return self._guard(lambda: float(self.runs[-1, 1] - self.time[0]))

    def show(self, **options: Any) -> Any:
        """Replay in a browser; in a notebook the result is shown in the cell. Options are those of
        ``drystone.view.show``; needs the extra ``view``."""
        return import_module("drystone.view").show(self, **options)

    def to_pandas(self, what: str = "bodies", frame: Any = None) -> Any:
        """A pandas.DataFrame of "bodies", "contacts", "joints" or "reports", one row each; frame:
        of one frame or a slice of them, all by default."""
        from drystone.recording.tables import to_pandas

        return to_pandas(self, what, frame)

    @property
    def version(self) -> int:
        """Of the format."""
        return int(self._about["version"])

    @property
    def summed(self) -> bool:
        """Whether there are sums of everything."""
        return self.version >= 3

    @property
    def ragged(self) -> dict[str, int]:
        """Datasets with rows of all frames, and the columns of `frames/ends` that say whose."""
        return earlier_formats.RAGGED if self.version == 1 else layout.RAGGED

    @property
    def dt(self) -> float:
        return float(self._about["dt"])

    @property
    def every(self) -> int:
        return int(self._about["every"])

    @property
    def keeps_contacts(self) -> bool:
        return bool(self._about["contacts"])

    @property
    def keeps_forces(self) -> bool:
        """Whether forces are kept beside impulses."""
        return bool(self._about.get("forces"))

    @property
    def method(self) -> dict[str, Any] | None:
        return self._about.get("method")

    @property
    def scene(self) -> str | None:
        return self._about.get("scene")

    @property
    def settings(self) -> dict[str, Any]:
        return dict(self._about.get("settings") or {})

    @property
    def view(self) -> Mapping[str, Any]:
        return dict(self._about.get("view") or {})

    @property
    def title(self) -> str:
        return str(self._about.get("title") or self.scene or self.path.stem)

    @property
    def info(self) -> dict[str, str]:
        return dict(self._about.get("info") or {})

    @property
    def undescribed(self) -> str:
        """Why there is no document, empty if there is one."""
        return str(self._about.get("undescribed") or "")
