"""Reports and frames as the compiled loop leaves them, for people to read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any

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
    ledger = EnergyLedger(*row[ENERGY])
    used = tuple(name for k, name in enumerate(names) if bits >> k & 1)
    status = Status.SOLVED if ledger.closes else Status.INACCURATE
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
        energy=ledger,
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


SAID = ("jammed", "log")
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


class Frames:
    """What a run recorded, as arrays by chunks; how far it came: steps since the start of the
    simulation, state, and report of the last step.

    since: steps that were made since the last frame, before the run and after it; watched: frames
    keep their contacts; spaced: only of every so many frames, for whoever wants the reports of
    all steps, and gone: frames since the last of those; spare: arrays that nobody uses any more
    (memory that is new costs more than all that is written to it); on_chunk: called with each chunk
    as soon as it is there, and must not raise; joints: names of those whose forces the chunks have;
    total: of all steps, see ``layout.TOTALS``; jammed: steps whose status is JAMMED, and who
    stalled in the first; said: who stalled in the step that ends at a time, and its log.
    """

    def __init__(
        self,
        names: Sequence[str],
        h: float,
        since: int = 0,
        watched: bool = False,
        spare: Spare | None = None,
        on_chunk: Callable[[Frames, dict[str, np.ndarray]], None] | None = None,
    ) -> None:
        self.names, self.h = names, h
        self.since, self.watched = since, watched
        self.spare = spare
        self.on_chunk = on_chunk
        self.spaced, self.gone = 1, 0
        self.chunks: list[dict[str, np.ndarray]] = []
        self.joints: tuple[str, ...] = ()
        self.count = 0
        self.total = np.zeros(len(layout.TOTALS))
        self.jammed = 0
        self.stalled: tuple[str, ...] = ()
        self.said: dict[float, tuple[tuple[str, ...], tuple[str, ...]]] = {}
        self.state: State | None = None
        self.report: StepReport | None = None

    def take(self, s: Any) -> None:
        """Copy the frames that lie in the buffers, and empty them."""
        n, m = int(s.frames), int(s.logged)
        if n:
            parts = ("time", "kick", "report", "log", "noted", "wrench")
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
            self.chunks.append(chunk)
            if self.on_chunk is not None:
                self.on_chunk(self, chunk)
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
        for c in self.chunks:
            bodies, before = as_bodies(c["bodies"], len(names)), [0, 0, 0]
            for ends, kick in zip(c["noted"].tolist(), c["kick"].tolist(), strict=True):
                a, b = before[0], ends[0]
                laws = spread(c["laws"], before[1], ends[1], b - a)
                features = spread(c["features"], before[2], ends[2], b - a)
                own = c["numbers"][a:b], bodies[a:b]
                out.append(rows.table(*own, laws, features, kick))
                before = ends
        return out

    def reports(self) -> list[StepReport]:
        out: list[StepReport] = []
        for c in self.chunks:
            log, first = c["islands"], 0
            start = np.zeros(len(log) + 1, np.int64)
            start[1:] = np.cumsum(log[:, 1])
            for row, end in zip(c["report"].tolist(), c["log"].tolist(), strict=True):
                islands = log[first:end, :1], start[first : end + 1]
                out.append(self.report_of(row, *islands))
                first = end
        return out

    def report_of(self, row: list[float], *islands: np.ndarray) -> StepReport:
        """The report of a frame; islands: as of ``LoopReport.of``."""
        islands = islands or (np.zeros((0, 1)), np.zeros(1, np.int64))
        report = LoopReport.of(row, self.h, self.names, *islands, {})
        if self.said and report.time in self.said and not report.ok:
            jammed, log = self.said[report.time]
            return replace(report, jammed=jammed, log=log)
        return report


def joined(first: StepReport, second: StepReport) -> StepReport:
    """One report of two halves of a step: energies add, of the rest the worse half speaks."""
    a, b = first.energy, second.energy
    c, d = first.conditions, second.conditions
    worst = {f.name: max(getattr(c, f.name), getattr(d, f.name), key=abs) for f in fields(c)}
    worst |= {f: min(getattr(c, f), getattr(d, f)) for f in ("least_impulse", "least_velocity")}
    worst |= {f: max(getattr(c, f), getattr(d, f)) for f in ("cone", "power")}
    sums = {f.name: getattr(a, f.name) + getattr(b, f.name) for f in fields(EnergyLedger)}
    sums |= {"kinetic": b.kinetic, "potential": b.potential}
    values = {f.name: getattr(second, f.name) for f in fields(StepReport)}
    deeper = first if first.relative_depth >= second.relative_depth else second
    values |= {
        "dt": first.dt + second.dt,
        "status": first.status if not first.ok else second.status,
        "residual": max(first.residual, second.residual),
        "residual_unit": max(first.residual_unit, second.residual_unit),
        "iterations": first.iterations + second.iterations,
        "penetration": max(first.penetration, second.penetration),
        **{f: getattr(deeper, f) for f in ("relative_depth", "deepest")},
        "unsolved_body": max(first.unsolved_body, second.unsolved_body),
        "energy": EnergyLedger(**sums),
        "conditions": Conditions(**worst),
        "methods": first.methods + tuple(m for m in second.methods if m not in first.methods),
        "contacts": max(first.contacts, second.contacts),
        "collisions": first.collisions + second.collisions,
        "impact_energy": first.impact_energy + second.impact_energy,
        "retries": first.retries + second.retries + 1,
        "broken": first.broken + second.broken,
        **{f: tuple(dict.fromkeys((*getattr(first, f), *getattr(second, f)))) for f in SAID},
        "seconds": {k: first.seconds.get(k, 0.0) + v for k, v in second.seconds.items()},
    }
    return StepReport(**values)
