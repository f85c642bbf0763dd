"""What plots read of a run: numbers of every step, frames near a time, the bodies worth showing.

A run is a ``Trajectory``, a recording, whatever keeps its frames in the same way, or, for plots of
steps alone, a sequence of step reports.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from drystone.errors import OptionError
from drystone.model import State
from drystone.recording.base import checked_replay
from drystone.steppers.base import StepReport, current_name
from drystone.trajectory import report_number
from drystone.types import Floats, Ints
from drystone.values import meant

BODIES_SHOWN = 6  # bodies shown where none were named


def reports(run: Any) -> Sequence[StepReport] | None:
    """The report of every step, or None for runs that hold series only."""
    found = run if isinstance(run, type) else getattr(run, "reports", run)
    if callable(found) and found is not run:
        return None
    if not isinstance(found, Sequence) or not all(isinstance(r, StepReport) for r in found[:1]):
        checked_replay(run)
        raise OptionError(f"a plot needs the reports of a run, not {type(run).__name__}")
    if not len(found):
        raise OptionError("a plot over time needs a run of one step or more")
    return found


def series(run: Any, name: str) -> Floats:
    """One number of every step: a field of its report, of its energy ledger or its conditions."""
    known, name = reports(run), current_name(name)
    if known is None:
        out = np.asarray(run.time[1:] if name == "time" else run.series(name), dtype=float)
        if not out.size:
            raise OptionError("a plot over time needs a run of one step or more")
        return out
    return np.array([report_number(report, name) for report in known], dtype=float)


def skipped(run: Any) -> int:
    """Steps from one report to the next: 1 where every step has one."""
    t, dt = series(run, "time"), series(run, "dt")
    if t.size < 2:
        return 1
    return max(1, round(float(np.median(np.diff(t) / dt[1:]))))


def stages(run: Any) -> dict[str, Floats]:
    """Seconds of every stage, for every step; empty where no step was timed."""
    known = reports(run)
    if known is None:
        found: dict[str, Floats] = run.stage_seconds()
        return found
    names = dict.fromkeys(name for report in known for name in report.seconds)
    return {name: np.array([r.seconds.get(name, 0.0) for r in known]) for name in names}


def unsolved(run: Any) -> Any:
    """(n,) which steps missed their tolerance."""
    known = reports(run)
    if known is None:
        return ~run.solved()
    return np.array([not report.ok for report in known])


def frame(run: Any, time: float | None) -> int:
    """The frame nearest to a time [s], the last for None."""
    times = np.asarray(run.time)
    if time is None:
        return len(times) - 1
    half = 0.5 * float(np.diff(times).max(initial=0.0)) + 1e-9
    if not times[0] - half <= time <= times[-1] + half:
        raise OptionError(f"time = {time:g}: the run goes from {times[0]:g} s to {times[-1]:g} s")
    return int(np.abs(times - time).argmin())


def state(run: Any, k: int) -> State:
    found: State = run.state(k)
    return found


def contacts(run: Any, k: int) -> Any:
    """The table of contacts of a frame, as ``Simulation.contacts``."""
    table = getattr(run, "contacts", None)
    if table is None:
        raise OptionError("this run kept no contacts: record it to a file, or name its scene")
    return table(k)


def forces_read(run: Any, k: int) -> str:
    """What the forces of this table are, for a legend: " (canonical)" or the like."""
    said = getattr(run, "forces_read", None)
    return "" if said is None else f" ({said(k)})"


def moving(run: Any) -> Ints:
    """Bodies (n,) that obey forces."""
    return np.flatnonzero(run.model.inverse_mass > 0)


def chosen(run: Any, names: Sequence[str] | None, most: int = BODIES_SHOWN) -> tuple[Ints, str]:
    """Bodies (n,) by name; for None all that obey forces, or the `most` of them that went
    farthest, and a sentence that says so."""
    model = run.model
    if names:
        for name in names:
            if name not in model.names:
                raise OptionError(f"no body {name!r}: {_near(name, model.names)}")
        return np.array([model.names.index(name) for name in names]), ""
    free = moving(run)
    if free.size <= most:
        return free, ""
    path = np.asarray(run.position)[:, free]
    way = np.linalg.norm(np.diff(path, axis=0), axis=2).sum(axis=0)
    first = np.sort(np.argsort(-way, kind="stable")[:most])
    return free[first], f"the {most} of {free.size} bodies that went farthest"


def _near(name: str, known: Sequence[str]) -> str:
    some = ", ".join(known[:8]) + (", ..." if len(known) > 8 else "")
    return meant(name, known, f"the bodies are {some}")
