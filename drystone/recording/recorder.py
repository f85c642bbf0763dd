"""What a simulation passes to a recording: frames, reports, contacts and checkpoints."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from types import TracebackType
from typing import Any, NoReturn

import h5py
import numba
import numpy as np
import scipy

from drystone.arguments import answering
from drystone.errors import DescriptionError, OptionError, RecordingError
from drystone.model import Model
from drystone.recording import contacts as columns
from drystone.recording import joint_rows, layout, reports
from drystone.recording.checksums import (
    SHARED,
    checksum,
    frame_sums,
    note_rows,
    text_array,
    with_sums,
)
from drystone.recording.layout import FORMAT, FORMAT_VERSION
from drystone.recording.locks import Lock
from drystone.recording.models import model_arrays
from drystone.recording.packing import pack
from drystone.recording.reader import Recording
from drystone.recording.writer import Rows, Writer, check_place, create
from drystone.scene_files import document, method_document
from drystone.steppers.base import StepReport
from drystone.steppers.time_stepping.reading import Frames, Spare
from drystone.steppers.totals import Totals
from drystone.world import World

FRAME_RATE = 60.0  # [1/s] frames of a simulated second
CHECKPOINT_INTERVAL = 1.0  # [s] of wall time between two checkpoints, at least
SHARE = 0.25  # of the bytes of frames, that checkpoints may take
SAME = ("position", "orientation", "velocity")
PIECE_SECONDS = 0.15  # [s] of wall time that a compiled loop runs before it is asked for its frames


@answering
class Recorder:
    """A recording that is being made of a simulation; a context that ends it.

    every: steps from frame to frame; contacts: whether frames keep them; forces: contacts have
    forces of their own beside impulses. on_end: called when the recording ends; on_frames: with
    those of each piece of a compiled run; all_steps: these have the reports of all its steps, not
    of those alone that become frames of the recording.
    """

    def __init__(self, sim: Any, path: Path, every: int, contacts: bool, forces: bool) -> None:
        model: Model = sim.model
        self.sim, self.path, self.model = sim, path, model
        self.every, self.contacts = every, contacts
        self._encoder = columns.Encoder(model.dim, model.nb, forces)
        self._kinds = layout.datasets(model, forces)
        self._said = {name: self._none(name) for name in SHARED}  # last rows of what frames share
        self.since = 0  # steps since the last frame
        self.totals = Totals.of(sim.method)
        self.spare: Spare = []  # arrays of contacts that were written
        self.pace = every  # steps of a piece
        self.callback: Any = None
        self.on_end: Callable[[], None] = lambda: None
        self.on_frames: Callable[[Frames], None] = lambda frames: None
        self.stopped = self.all_steps = False
        self._places = {name: i for i, name in enumerate(model.names)}
        self._joints = {} if model.joints is None else _numbered(model.joints.names)
        self._notes: dict[str, int] = {}
        self._ends = np.zeros(layout.ENDS, np.int64)
        self._ends[layout.NOTE] = -1
        self._note_end = self._kept_end = 0  # bytes of texts and of checkpoints
        self._there = 0  # frames that the file has already, and the versions that made them
        self._info: dict[str, str] = {}
        self._tail: Rows = {}
        self._frames = self._run = self._bytes = self._spent = self._gone = 0
        self._last = perf_counter()
        self._writer: Writer | None = None

    def __reduce__(self) -> NoReturn:
        raise RecordingError(f"{self.path}: is being recorded: a recorder cannot be copied")

    @staticmethod
    def start(
        sim: Any,
        path: Path,
        every: int,
        contacts: bool,
        until: float,
        forces: bool,
        overwrite: bool = True,
    ) -> Recorder:
        """A new file, beginning with the simulation's present state."""
        out = Recorder(sim, path, every, contacts, forces)
        out._frames = 1
        snapshot, first = sim.checkpoint(), sim.state.copy()
        origin, begin = dict(sim.origin), float(sim.time)
        head = Head(sim.world.copy(), sim.model, sim.method, origin, every, contacts, forces)
        kinds, lock = out._kinds, check_place(path, overwrite)

        def make() -> None:
            steps = int(snapshot["steps"])
            rows = out._summed(out._state_rows(first)) | out._checkpoint_rows(steps, snapshot)
            rows["runs"] = with_sums([[begin, until]], "<f8")
            chunks = {n: layout.chunk_rows(n, kind, head.model) for n, kind in kinds.items()}
            create(lock, kinds, chunks, head.parts(), rows)

        out._writer = Writer(path, tuple(kinds), lock, make)
        return out

    def go_on(self, known: Recording, checkpoint: int, until: float, lock: Lock) -> None:
        """Append to the file of a recording, which is closed, from a checkpoint on."""
        steps, frames, _ = (int(x) for x in known.checkpoints[checkpoint])
        self.since = steps - int(known.checkpoints[0][0]) - (frames - 1) * self.every
        self._frames, self._run, self._info = frames, len(known.runs), known.info
        self._notes = {text: i for i, text in enumerate(known.notes)}
        self._ends = known.ends[-1].copy()
        self._there = len(known)
        for name in (columns.LAWS, columns.FEATURES):
            end = int(self._ends[layout.RAGGED[name]])
            if end:
                self._encoder.last[name] = self._said[name] = known.rows(name, end - 1, end)
        for name in SAME:
            self._tail[name] = known.frames(name, frames, self._there)
        self._note_end, self._kept_end = known.sizes("notes"), known.sizes("checkpoints/data")
        limit, self.totals = self.totals.max_depth, known.totals
        self.totals.max_depth = limit  # files of before do not know it
        known.readable()
        known.close()
        self._writer = Writer(self.path, tuple(self._kinds), lock)
        begin = float(self.sim.time)
        self._writer.put(lambda: {"runs": with_sums([[begin, until]], "<f8")})

    def before(self) -> None:
        """A step, or a piece of a run, begins: write a checkpoint, if it is time.

        Now, and not after the step before: callbacks and edits have had their say.
        """
        if self.sim.model is not self.model:
            raise RecordingError(
                f"{self.path}: the world was edited while it was recorded: end the recording "
                "first, and record each part of the run in a file of its own"
            )
        now = perf_counter()
        if now - self._last < CHECKPOINT_INTERVAL or self._spent > SHARE * self._bytes:
            return
        self._last = now
        self._keep()

    def after(self) -> None:
        """A step was made from Python."""
        self.totals.add(self.sim.report, self.model.names)
        self.since += 1
        if self.since < self.every:
            return
        self.since = 0
        self._note_now()

    def _note_now(self) -> None:
        """The present state as a frame, with what led to it."""
        sim = self.sim
        state, report, stepper = sim.state.copy(), sim.report, sim.stepper
        kick = getattr(stepper, "kick", report.dt)
        table = stepper.contact_table() if self.contacts else None
        joints = stepper.joint_table()
        self._put(lambda: self._step_rows(state, report, kick, table, joints))

    @property
    def frame_every(self) -> int:
        """Steps between frames that a compiled run is to make."""
        return 1 if self.all_steps else self.every

    def space(self, frames: Frames) -> None:
        """Say which frames of a compiled run become frames of the recording."""
        if self.all_steps and self.every > 1:
            frames.spaced, frames.gone = self.every, self.since
        self._gone = frames.gone

    def note(self, frames: Frames, chunk: dict[str, np.ndarray]) -> None:
        """Frames of a compiled run that continues; errors are raised when it returns."""
        done = partial(frames.give_back, chunk)
        if frames.spaced > 1:
            first, n = frames.spaced - 1 - self._gone, chunk["time"].size
            self._gone = (self._gone + n) % frames.spaced
            if first >= n:
                done()
                return
            chunk = _thinned(chunk, slice(first, None, frames.spaced))
        make = partial(self._loop_rows, chunk, frames)
        if self._writer is not None:
            self._writer.pass_on(make, done)

    def take(self, frames: Frames) -> None:
        """A piece of a compiled run is over, and its frames were noted."""
        self.totals.add_loop(
            frames.total, float(self.sim.time), self.model.names, frames.jammed, frames.stalled
        )
        self.since = frames.gone if frames.spaced > 1 else frames.since
        self.on_frames(frames)
        self._put(dict)

    def paced(self, steps: int, seconds: float) -> None:
        """A piece of so many steps took so long."""
        self.pace = int(np.clip(PIECE_SECONDS * steps / max(seconds, 1e-9), 1, 4096))

    def close(self, how: int = layout.RUN_COMPLETE) -> None:
        """End the recording; the run can be resumed from here."""
        writer, run = self._writer, self._run
        if writer is None:
            return
        try:
            if self.sim.model is self.model:
                self._keep()
                made = self.sim.report is not None  # else the checkpoint resumed from is the end
                if self.since and made and how != layout.RUN_FAILED:
                    self._note_now()  # after the checkpoint: a resumed run drops it
            writer.put(lambda: {"ended": with_sums([[run, how]], "<i8")})
        finally:
            self._writer = None
            self.on_end()
            writer.close()

    def __enter__(self) -> Recorder:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        how = (
            layout.RUN_STOPPED if self.stopped or kind is KeyboardInterrupt else layout.RUN_COMPLETE
        )
        failed = kind is not None and kind is not KeyboardInterrupt
        try:
            self.close(layout.RUN_FAILED if failed else how)
        except RecordingError:
            if error is None:
                raise  # what ended the run counts more than what ends its file

    def _put(self, make: Callable[[], Rows]) -> None:
        if self._writer is None:
            raise RecordingError(f"{self.path}: this recording has ended")
        self._writer.put(make)

    def _keep(self) -> None:
        self.totals.see(self.sim.stepper, self.sim.state)
        snapshot = self.sim.checkpoint(self.callback) | {"recorded": self.totals.text()}
        steps = int(snapshot["steps"])
        self._put(lambda: self._checkpoint_rows(steps, snapshot))

    def _checkpoint_rows(self, steps: int, snapshot: dict[str, Any]) -> Rows:
        data = np.frombuffer(pack(snapshot), np.uint8)
        self._spent += data.size
        self._kept_end += data.size
        index = with_sums([[steps, self._frames, data.size, self._kept_end]], "<i8")
        return {"checkpoints/data": data, "checkpoints/index": index}

    def _state_rows(self, state: Any) -> Rows:
        """The first frame: no step led to it."""
        ends = np.zeros((1, layout.ENDS), np.int64)
        ends[0, layout.NOTE] = -1
        return {
            "frames/time": np.array([state.time]), "frames/position": state.position[None],
            "frames/orientation": state.orientation[None], "frames/velocity": state.velocity[None],
            "frames/report": np.zeros((1, len(reports.COLUMNS))), "frames/kick": np.ones(1),
            "frames/ends": ends,
        }  # fmt: skip

    def _step_rows(
        self,
        state: Any,
        report: StepReport,
        kick: float,
        table: np.ndarray | None,
        joints: np.ndarray,
    ) -> Rows:
        sizes = np.empty(0) if report.island_sizes is None else report.island_sizes
        worst = report.island_residuals
        worst = np.zeros(len(sizes)) if worst is None else np.asarray(worst)
        if worst.ndim == 2:
            worst = worst.max(axis=1, initial=0.0)
        rows = self._state_rows(state) | {
            "frames/report": reports.numbers(report)[None], "frames/kick": np.array([kick]),
            "islands": np.stack([worst, sizes], axis=1) if len(sizes) else np.empty((0, 2)),
            "seconds": np.array(list(report.seconds.values())),
            "joints": joint_rows.rows(joints, self._joints),
        }  # fmt: skip
        if table is not None:
            rows |= self._encoder.of_table(table, self._places)[0]
        counts = np.zeros((1, layout.ENDS), np.int64)
        for name, column in layout.RAGGED.items():
            counts[0, column] = len(rows.get(name, ()))
        return self._counted(rows, counts, [reports.report_text(report)])

    def _loop_rows(self, chunk: dict[str, np.ndarray], frames: Frames) -> Rows:
        n = chunk["time"].size
        rows = {f"frames/{x}": chunk[x] for x in ("time", "position", "orientation", "velocity")}
        rows["frames/kick"], rows["islands"] = chunk["kick"], chunk["islands"]
        rows["frames/report"] = reports.loop_numbers(chunk["report"], frames.h)
        counts = np.zeros((n, layout.ENDS), np.int64)
        counts[:, layout.ISLANDS] = np.diff(chunk["log"], prepend=0)
        if frames.joints:
            number = [self._joints[name] for name in frames.joints]
            rows["joints"] = joint_rows.of_loop(chunk["wrench"], number)
            counts[:, layout.JOINTS] = len(number)
        if frames.watched:
            counts[:, layout.CONTACTS] = np.diff(chunk["noted"][:, 0], prepend=0)
            more, shared = self._encoder.of_loop(chunk)
            rows |= more
            for name, each in shared.items():
                counts[:, layout.RAGGED[name]] = each
        return self._counted(rows, counts, reports.loop_texts(chunk["report"], frames))

    def _counted(self, rows: Rows, counts: np.ndarray, texts: list[str]) -> Rows:
        """With where the ragged parts end and what was said; without frames that are there."""
        n = len(texts)
        there = min(max(self._there - self._frames, 0), n)
        if there:
            self._agree(rows, there)
            gone = counts[:there].sum(axis=0)
            for name, column in layout.RAGGED.items():
                if name in rows:
                    rows[name] = rows[name][gone[column] :]
            frames = {k: v[there:] for k, v in rows.items() if k.startswith("frames/")}
            rows, counts, texts = rows | frames, counts[there:], texts[there:]
        ends = self._ends + np.cumsum(counts, axis=0)
        new = []
        for k, text in enumerate(texts):
            if text not in self._notes:
                self._notes[text] = len(self._notes)
                new.append(np.frombuffer(text.encode(), np.uint8))
            ends[k, layout.NOTE] = self._notes[text]
        rows["frames/ends"] = ends
        rows = self._summed(rows)
        if new:
            rows["notes"] = np.concatenate(new)
            rows["note_index"] = note_rows(new, self._note_end)
            self._note_end += rows["notes"].size
        self._frames += n
        self._bytes += sum(part.nbytes for part in rows.values())
        return rows

    def _none(self, name: str) -> np.ndarray:
        """No rows of a dataset."""
        shape, dtype = self._kinds[name]
        return np.empty((0, *shape), dtype)

    def _summed(self, rows: Rows) -> Rows:
        """Rows of frames with the sums of them."""
        sums = frame_sums(rows, self._kinds, self._ends, self._said)
        for name in SHARED:
            if len(rows.get(name, ())):
                self._said[name] = np.array(rows[name][-1:], self._kinds[name][1])
        if len(sums):
            self._ends = rows["frames/ends"][-1]
        return rows | {"frames/sums": sums}

    def _agree(self, rows: Rows, there: int) -> None:
        """Frames that a killed run left behind are made again: they must be the same."""
        first = self._frames
        for name in SAME:
            old, self._tail[name] = np.split(self._tail[name], [there])
            if not np.array_equal(old, rows[f"frames/{name}"][:there], equal_nan=True):
                raise RecordingError(
                    f"{self.path}: the run does not repeat: {name} in frames {first} to "
                    f"{first + there - 1} are not those recorded; it was made with "
                    f"{json.dumps(self._info)}, on another kind of processor, or by a callback "
                    "that does not restore its state"
                )


def _thinned(chunk: dict[str, np.ndarray], kept: slice) -> dict[str, np.ndarray]:
    """Some frames of a chunk; of the others no contacts were noted."""
    out = dict(chunk)
    moments = ("time", "position", "orientation", "velocity", "kick", "report", "noted", "wrench")
    for name in moments:
        out[name] = chunk[name][kept].copy()
    each = np.diff(chunk["log"], prepend=0)
    mine = np.zeros(each.size, bool)
    mine[kept] = True
    out["islands"] = chunk["islands"][np.repeat(mine, each)]
    out["log"] = np.cumsum(each[kept])
    return out


def _numbered(names: tuple[str, ...]) -> dict[str, int]:
    return {name: i for i, name in enumerate(names)}


@dataclass(frozen=True)
class Head:
    """What there is to say of a simulation, taken while it stands still: to be written down later,
    beside its first steps."""

    world: World
    model: Model
    method: Any
    origin: dict[str, Any]
    every: int
    contacts: bool
    forces: bool

    def parts(self) -> dict[str, np.ndarray]:
        """Datasets that never change, by name."""
        origin, model, method = self.origin, self.model, self.method
        out = {"model": np.frombuffer(pack(model_arrays(model)), np.uint8)}
        described, why = _described(self.world)
        out["document"] = text_array("" if described is None else json.dumps(described))
        about = {
            "format": FORMAT, "version": FORMAT_VERSION, "dim": model.dim, "dt": method.dt,
            "every": self.every, "contacts": self.contacts, "forces": self.forces,
            "method": _method(method),
            "scene": origin.get("scene"), "settings": origin.get("settings", {}),
            "view": origin.get("view", {}), "title": origin.get("title", ""), "undescribed": why,
            "info": {
                "drystone": _installed("drystone"), "python": platform.python_version(),
                "numpy": np.__version__, "numba": numba.__version__, "scipy": scipy.__version__,
                "hdf5": h5py.version.hdf5_version,
            },
        }  # fmt: skip
        out["about"] = text_array(json.dumps(about))
        out["sum"] = np.array([checksum(out)], np.int64)
        return out


_installed = cache(version)  # reads a file


def _method(method: Any) -> dict[str, Any] | None:
    try:
        return method_document(method)
    except (DescriptionError, OptionError):
        return None


def _described(world: World) -> tuple[dict[str, Any] | None, str]:
    """The scene document; or why there is none."""
    try:
        return document(world), ""
    except DescriptionError as error:
        return None, str(error)
