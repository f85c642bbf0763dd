"""Reports and frames as the compiled loop leaves them, for people to read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, fields
from typing import Any, NamedTuple

import numpy as np

from drystone.arguments import NoAttribute
from drystone.kernels import layout
from drystone.model import State
from drystone.steppers.base import Conditions, EnergyLedger, Event, StepReport, closes
from drystone.steppers.tables import ContactRows, as_bodies, spread
from drystone.types import Floats, Status

R = layout.places(layout.REPORT)
ENERGY = slice(R.kinetic, R.integration + 1)  # the fields of EnergyLedger
STATUSES = tuple(Status)  # by their numbers
CONDITIONS = slice(R.least_impulse, R.dissipation + 1)


class LoopReport(StepReport):
    """A report as the compiled loop leaves it: its own copy of the numbers, which become fields
    when somebody asks for one of them. Most reports are never asked."""

    __slots__ = ("_end", "_known", "_row")

    _end: float
    _row: list[float]
    _known: tuple[Any, ...]

    @staticmethod
    def of(row: list[float], *known: Any) -> LoopReport:
        """row: of ``layout.REPORT``; known: h [s], names of methods by their bits,
        residual (n, 1 or 2) of the islands, where each begins (n + 1,), seconds of stages. All of
        them are the report's own."""
        out: LoopReport = object.__new__(LoopReport)
        _set(out, "_end", row[R.time])
        _set(out, "_row", row)
        _set(out, "_known", known)
        return out

    def __new__(cls, *args: Any, **fields: Any) -> Any:
        """One that is made of fields, as ``dataclasses.replace`` makes it, is a plain report."""
        return StepReport(*args, **fields)

    @property
    def outcome(self) -> tuple[float, bool, int, float, float, float, tuple[Event, ...]]:
        row = self._row
        solved = row[R.failed] < 0 and closes(*row[ENERGY])
        depth, part = row[R.infeasibility], row[R.depth]
        return self._end, solved, int(row[R.retries]), row[R.residual], depth, part, ()

    def ended(self, time: float) -> StepReport:
        """The same: this one itself, which nobody but who made the step has yet."""
        _set(self, "_end", time)
        _set(self, "time", time)  # its fields may have been read
        return self

    def __getattr__(self, name: str) -> Any:
        """Called for what is not set yet."""
        if name not in FIELDS:
            raise NoAttribute(StepReport, name)
        made = _report(self._end, self._row, *self._known)
        for field in FIELDS:
            _set(self, field, getattr(made, field))
        return getattr(self, name)

    def __reduce__(self) -> Any:
        return StepReport, tuple(getattr(self, name) for name in FIELDS)


FIELDS = tuple(field.name for field in fields(StepReport))
_set = object.__setattr__  # reports are frozen for all others


def _report(
    end: float,
    row: list[float],
    h: float,
    names: Sequence[str],
    residual: Floats,
    start: np.ndarray,
    seconds: dict[str, float],
) -> StepReport:
    """A report with all its fields; the arguments are those of ``LoopReport.of``."""
    bits = int(row[R.methods])
    book = EnergyLedger(*row[ENERGY])
    used = tuple(name for k, name in enumerate(names) if bits >> k & 1)
    status = Status.SOLVED if book.closes else Status.INACCURATE
    if row[R.failed] >= 0:
        known = STATUSES[int(row[R.status])]
        status = Status.MAX_ITERATIONS if known is Status.SOLVED else known
        status = Status.JAMMED if "stall" in used else status
    return StepReport(
        time=end,
        dt=h,
        status=status,
        residual=row[R.residual],
        residual_unit=row[R.residual_unit],
        iterations=int(row[R.iterations]),
        methods=used,
        contacts=int(row[R.contacts]),
        islands=int(row[R.islands]),
        penetration=row[R.infeasibility],
        energy=book,
        conditions=Conditions(*row[CONDITIONS]),
        collisions=int(row[R.collisions]),
        impact_energy=row[R.impact_energy],
        retries=int(row[R.retries]),
        joint_error=row[R.joint_error],
        redundant=int(row[R.redundant]),
        relative_depth=row[R.depth],
        deepest=(int(row[R.deep_a]), int(row[R.deep_b])),
        unsolved_body=int(row[R.unsolved_body]),
        asleep=int(row[R.asleep]),
        outer=int(row[R.outer]) or 1,
        seconds=seconds,
        island_residuals=residual.max(axis=1) if len(residual) else None,
        island_sizes=np.diff(start),
    )


def read_report(s: Any, h: float, names: Sequence[str], seconds: dict[str, float]) -> StepReport:
    """The report of the last step; names: of methods, by their bits."""
    row = s.report_row.tolist()
    n = int(row[R.islands])
    islands = s.residual[:n].copy(), s.start[: n + 1].copy()
    return LoopReport.of(row, h, names, *islands, seconds)


def write_report(report: StepReport, names: Sequence[str], row: Any) -> None:
    """A report into the record `row` of ``layout.REPORT``: as the loop leaves it."""
    same = (
        "time", "residual", "residual_unit", "iterations", "contacts", "islands",
        "collisions", "impact_energy", "retries", "joint_error", "redundant", "unsolved_body",
        "asleep",
    )  # fmt: skip
    row.put(**{name: getattr(report, name) for name in same})
    row.put(**asdict(report.energy), **asdict(report.conditions))
    row.failed = -1 if report.ok else 0
    row.methods = sum(1 << list(names).index(name) for name in report.methods)
    row.infeasibility, row.outer = report.penetration, report.outer
    row.status = STATUSES.index(report.status)
    row.depth, (row.deep_a, row.deep_b) = report.relative_depth, report.deepest


NOTED = 3 << 20  # bytes of noted contacts that are handed on at a time
MANY = ("numbers", "bodies")  # arrays of contacts, and of bodies, that are used again
MOVING = ("position", "orientation", "velocity")
Spare = list[dict[str, np.ndarray]]


def noted_rows(numbers: Floats) -> int:
    """Contacts that are handed on at a time; numbers (n, ...): what is noted of each."""
    return NOTED // (numbers.itemsize * numbers.shape[1])


def _swap(s: Any, name: str, fresh: np.ndarray | None) -> np.ndarray:
    """An array of the buffers, which get another that is no smaller in its place."""
    array: np.ndarray = getattr(s, name)
    if fresh is None or len(fresh) < len(array):
        fresh = np.empty_like(array)
    s.put(**{name: fresh})
    return array


class Left(NamedTuple):
    """What is to be read of a step that the loop left to Python."""

    report: StepReport
    kick: float
    contacts: np.ndarray
    joints: np.ndarray


class Frames:
    """What a run recorded, as arrays by chunks; how far it came: steps since the start of the
    simulation, state, and report of the last step. kick: how long forces acted [s].

    since: steps that were made since the last frame, before the run and after it; watched: frames
    keep their contacts; spaced: only of every so many frames, for whoever wants the reports of
    all steps, and gone: frames since the last of those; spare: arrays that nobody uses any more
    (memory that is new costs more than all that is written to it); told: called with each chunk as
    soon as it is there, and must not raise; joints: names of those whose forces the chunks have;
    left: what Python says of chunks of one frame each, by their numbers; total: of all steps, see
    ``layout.TOTALS``; jammed: steps whose status is JAMMED, and who stalled in the first.
    """

    def __init__(
        self,
        names: Sequence[str],
        h: float,
        since: int = 0,
        watched: bool = False,
        spare: Spare | None = None,
        told: Callable[[Frames, dict[str, np.ndarray]], None] | None = None,
    ) -> None:
        self.names, self.h, self.kick = names, h, h
        self.since, self.watched = since, watched
        self.spare = spare
        self.told = told
        self.spaced, self.gone = 1, 0
        self.chunks: list[dict[str, np.ndarray]] = []
        self.joints: tuple[str, ...] = ()
        self.left: dict[int, Left] = {}
        self.count = 0
        self.total = np.zeros(len(layout.TOTALS))
        self.jammed = 0
        self.stalled: tuple[str, ...] = ()
        self.state: State | None = None
        self.report: StepReport | None = None

    def parts(self, steps: int) -> Iterator[tuple[int, bool]]:
        """So many steps in pieces, and whether contacts are kept of a piece's frames."""
        while self.spaced > 1 and steps > 0:
            due = self.gone + 1 >= self.spaced
            part = 1 if due else min(steps, self.spaced - 1 - self.gone)
            yield part, self.watched and due
            self.gone = 0 if due else self.gone + part
            steps -= part
        if steps > 0:
            yield steps, self.watched

    def take(self, s: Any, left: Left | None = None) -> None:
        """Copy the frames that lie in the buffers, and empty them; left: what Python says of the
        only one."""
        n, m = int(s.frames), int(s.logged)
        if n:
            parts = ("time", "report", "log", "noted", "wrench")
            chunk = {name: getattr(s, f"frame_{name}")[:n].copy() for name in parts}
            chunk["islands"] = s.log[:m].copy()
            spare = self.spare.pop() if self.spare else {}
            for name in MOVING:
                array = getattr(s, f"frame_{name}")
                if self.spare is None:
                    chunk[name] = array[:n].copy()
                else:
                    chunk[name] = _swap(s, f"frame_{name}", spare.get(name))[:n]
            if self.watched:
                self._take_contacts(s, chunk, spare)
            if left is not None:
                self.left[len(self.chunks)] = left
            self.chunks.append(chunk)
            if self.told is not None:
                self.told(self, chunk)
        s.frames = s.logged = s.noted_ends[:] = 0

    def _take_contacts(
        self, s: Any, chunk: dict[str, np.ndarray], spare: dict[str, np.ndarray]
    ) -> None:
        """They are many: their arrays change hands instead of being copied."""
        many, laws, features = s.noted_ends.tolist()
        for name in MANY:
            chunk[name] = _swap(s, f"noted_{name}", spare.get(name))[:many]
        chunk["laws"] = s.noted_laws[:laws].copy()
        chunk["features"] = s.noted_features[:features].copy()
        room = len(s.noted_numbers)
        if room > len(s.noted_laws):
            s.put(noted_laws=np.zeros((room, 2)), noted_features=np.zeros(room, np.int64))

    def give_back(self, chunk: dict[str, np.ndarray]) -> None:
        """States and contacts of a chunk are not needed any more: arrays may be used again. Small
        ones become large here, and are written to: the first time costs microseconds a page."""
        parts = {name: chunk.pop(name) for name in (*MOVING, *MANY) if name in chunk}
        if self.spare is None:
            return
        whole = {name: part.base for name, part in parts.items() if part.base is not None}
        many = noted_rows(parts["numbers"]) if "numbers" in whole else 0
        for name in MANY if many > len(whole.get("numbers", ())) else ():
            whole[name] = np.full((many, *parts[name].shape[1:]), 0, parts[name].dtype)
        self.spare.append(whole)

    def states(self) -> list[State]:
        return [
            State(float(c["time"][i]), c["position"][i], c["orientation"][i], c["velocity"][i])
            for c in self.chunks
            for i in range(c["time"].size)
        ]

    def contacts(self, names: Sequence[str], dim: int) -> list[np.ndarray]:
        """Tables of contacts, if they were kept; names: of bodies."""
        rows, out = ContactRows(names, dim), []
        for k, c in enumerate(self.chunks):
            if k in self.left:
                out.append(self.left[k].contacts)
                continue
            bodies, before = as_bodies(c["bodies"], len(names)), [0, 0, 0]
            for ends in c["noted"].tolist():
                a, b = before[0], ends[0]
                laws = spread(c["laws"], before[1], ends[1], b - a)
                features = spread(c["features"], before[2], ends[2], b - a)
                own = c["numbers"][a:b], bodies[a:b]
                out.append(rows.table(*own, laws, features, self.kick))
                before = ends
        return out

    def reports(self) -> list[StepReport]:
        out: list[StepReport] = []
        for k, c in enumerate(self.chunks):
            if k in self.left:
                out.append(self.left[k].report)
                continue
            log, first = c["islands"], 0
            start = np.zeros(len(log) + 1, np.int64)
            start[1:] = np.cumsum(log[:, 1])
            for row, end in zip(c["report"].tolist(), c["log"].tolist(), strict=True):
                islands = log[first:end, :1], start[first : end + 1]
                out.append(LoopReport.of(row, self.h, self.names, *islands, {}))
                first = end
        return out
