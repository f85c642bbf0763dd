"""Reports of steps as rows of numbers; their texts, which repeat, are stored once."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, fields
from typing import Any, TypeVar

import numpy as np

from drystone.errors import QuantityError, RecordingError
from drystone.kernels import layout
from drystone.steppers.base import (
    Conditions,
    EnergyLedger,
    Event,
    Impulse,
    StepReport,
    closes,
    current_name,
)
from drystone.steppers.time_stepping.reading import ENERGY as LEDGER
from drystone.steppers.time_stepping.reading import Frames
from drystone.types import Floats, Status
from drystone.values import among, text

ENERGY = tuple(f.name for f in fields(EnergyLedger))
CONDITIONS = tuple(f.name for f in fields(Conditions))
WHOLE = (
    "iterations", "contacts", "islands", "collisions", "retries", "asleep", "outer", "redundant",
    "evaluations",
)  # fmt: skip
REAL = (
    "time", "dt", "residual", "residual_unit", "penetration", "impact_energy", "joint_error",
    "reuse",
)  # fmt: skip
MEASURED = ("time", "dt")  # numbers whatever became of the motion, as are those of WHOLE
EXACT_COUNTS = 2.0**53  # floats below are exact counts
COLUMNS = (*REAL, *WHOLE, *ENERGY, *CONDITIONS)
PLACE = {name: i for i, name in enumerate(COLUMNS)}
DERIVED = {"total": ("kinetic", "potential"), "unexplained": ENERGY}  # of the ledger
# what texts and numbers raise that are not what a step's report is made of
UNREADABLE = (LookupError, ValueError, TypeError, AttributeError, OverflowError)
T = TypeVar("T")

# where rows of the compiled loop have the same numbers
ITS_NAME = {"penetration": "infeasibility"} | {n: n for n in COLUMNS if n in layout.REPORT}
LOOP_TO = [PLACE[name] for name in ITS_NAME]
LOOP_FROM = [list(layout.REPORT).index(name) for name in ITS_NAME.values()]
TEXT_COLUMNS = [list(layout.REPORT).index(name) for name in ("methods", "failed", "status")]


def numbers(report: StepReport) -> Floats:
    """(len(COLUMNS),) of a report."""
    row = [getattr(report, name) for name in (*REAL, *WHOLE)]
    row += [getattr(report.energy, name) for name in ENERGY]
    row += [getattr(report.conditions, name) for name in CONDITIONS]
    return np.array(row, float)


def report_text(report: StepReport) -> str:
    """The rest of it but for timings and islands, as JSON."""
    out: dict[str, Any] = {"status": report.status.value, "methods": report.methods}
    if report.broken:
        out["broken"] = report.broken
    if report.jammed:
        out["jammed"] = report.jammed
    if report.events:
        out["events"] = [asdict(event) for event in report.events]
    if report.log:
        out["log"] = report.log
    if report.seconds:
        out["stages"] = list(report.seconds)
    return json.dumps(out)


def loop_numbers(rows: Floats, h: float) -> Floats:
    """(n, len(COLUMNS)) from rows of ``layout.REPORT``."""
    out = np.zeros((rows.shape[0], len(COLUMNS)))
    out[:, LOOP_TO] = rows[:, LOOP_FROM]
    out[:, PLACE["dt"]], out[:, PLACE["reuse"]], out[:, PLACE["outer"]] = h, 1.0, 1.0
    return out


def loop_texts(rows: Floats, frames: Frames) -> list[str]:
    """The text of each row of the compiled loop."""
    known: dict[tuple[float, ...], str] = {}
    out = []
    for row in rows.tolist():
        key = (*(row[at] for at in TEXT_COLUMNS), closes(*row[LEDGER]))
        if key not in known or frames.said:
            known[key] = report_text(frames.report_of(row))
        out.append(known[key])
    return out


def report_from(row: Floats, text: str, islands: Floats, seconds: Floats) -> StepReport:
    """The report again; islands (n, 2): residuals and sizes."""
    try:
        values = dict(zip(COLUMNS, row.tolist(), strict=True))
        said = json.loads(text)
        events = tuple(
            Event(
                float(e["time"]), str(e["kind"]), _names(e["names"]), float(e["energy"]),
                tuple(map(_impulse, e.get("impulses", ()))),
            )
            for e in said.get("events", ())
        )  # fmt: skip
        return StepReport(
            status=Status(said["status"]),
            methods=_names(said["methods"]),
            broken=_names(said.get("broken", ())),
            jammed=_names(said.get("jammed", ())),
            log=_names(said.get("log", ())),
            events=events,
            seconds=dict(zip(said.get("stages", ()), seconds.tolist(), strict=True)),
            energy=EnergyLedger(**{name: values[name] for name in ENERGY}),
            conditions=Conditions(**{name: values[name] for name in CONDITIONS}),
            island_residuals=islands[:, 0] if len(islands) else None,
            island_sizes=islands[:, 1].astype(np.int64),
            **{name: values[name] for name in REAL},
            **_whole(values),
        )
    except UNREADABLE as error:
        raise RecordingError(f"a step's report cannot be read ({error})") from None


def _names(said: Any) -> tuple[str, ...]:
    return tuple(str(name) for name in said)


def _whole(values: dict[str, float]) -> dict[str, Any]:
    return {name: int(values[name]) for name in WHOLE}


def _impulse(said: dict[str, Any]) -> Impulse:
    a, b = said["bodies"]
    parts = (tuple(float(x) for x in said[part]) for part in ("linear", "angular"))
    return Impulse(str(said["name"]), str(said["source"]), (str(a), str(b)), *parts)


def series(column: Callable[[str], Floats], name: str) -> Floats:
    """One number of every report; column: gives those of COLUMNS by name, (n,)."""
    name = current_name(name)
    if among(name, PLACE):
        values = column(name)
        if name in (*WHOLE, *MEASURED) and not (np.abs(values) < EXACT_COUNTS).all():
            raise RecordingError(f"reports of steps cannot be read ({name} that is no number)")
        return values.astype(np.int64) if name in WHOLE else values.copy()
    if not among(name, DERIVED):
        raise QuantityError(f"a step's report has no number {text(name)}")
    ledger: dict[str, Any] = dict.fromkeys(ENERGY, 0.0)
    ledger |= {key: column(key) for key in DERIVED[name]}
    return np.asarray(getattr(EnergyLedger(**ledger), name))


def solved(text: str) -> bool:
    """Whether the text of a report says that its step was solved."""
    return _said(text, lambda said: Status(said["status"]).ok)


def stages(text: str) -> tuple[str, ...]:
    """The stages that were timed."""
    return _said(text, lambda said: _names(said.get("stages", ())))


def _said(text: str, read: Callable[[dict[str, Any]], T]) -> T:
    try:
        return read(json.loads(text))
    except UNREADABLE as error:
        raise RecordingError(f"a step's report cannot be read ({error})") from None
