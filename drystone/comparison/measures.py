"""Measures of a run, and differences between two runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from drystone.comparison.runs import ComparedRun
from drystone.plots.run_data import moving, series
from drystone.steppers.base import current_name
from drystone.types import Floats, Ints
from drystone.values import finite

MATCH = 1e-9  # frames whose times differ by less, of the run's length, are of one time
MIN_COMMON_TIMES = 5  # fewer common times than this, and the finer run is interpolated


@dataclass(frozen=True)
class Row:
    """A line of the table; numbers are None where a run has no such thing.

    method: as it was asked for; wall [s]: of its steps, without compiling; steps; simulated [s];
    error [m]: greatest over the common times of the root mean square over bodies of the distance
        of their centres of mass from those of the reference; error_end [m]: of the last such time.
    energy [J]: at the end; energy_error [J]: from that of the reference, if both got there;
    gain [J]: the most by which energy ever exceeded that of the start and the work of motors and
        loads since: what a method made of nothing.
    penetration [m], residual: the worst of any step; unsolved: steps that missed their tolerance;
    halved, deep: steps made in halves, and those deeper than the method's ``max_depth``.
    reference: whether errors are measured against this run; failed: why it did not reach its end.
    """

    method: str
    wall: float | None = None
    steps: int = 0
    simulated: float = 0.0
    dt: float | None = None
    error: float | None = None
    error_end: float | None = None
    energy: float | None = None
    energy_error: float | None = None
    gain: float | None = None
    penetration: float | None = None
    residual: float | None = None
    unsolved: int = 0
    halved: int = 0
    deep: int = 0
    contacts: float | None = None
    reference: bool = False
    failed: str = ""

    @property
    def infeasibility(self) -> float | None:
        """Former name of ``penetration``."""
        value: float | None = getattr(self, current_name("infeasibility"))
        return value


def measure(label: str, run: ComparedRun, reference: ComparedRun | None) -> Row:
    """The row of a run of one step or more."""
    error = None if reference is None or reference is run else errors(run, reference)
    made = sum(s * series(run, n) for s, n in ((1, "change"), (-1, "loads"), (-1, "driving")))
    both = reference is not None and reference is not run and not (run.stopped or reference.stopped)
    end = run.reports[-1].energy.total
    return Row(
        method=label,
        wall=run.seconds,
        steps=len(run.reports),
        simulated=float(run.reports[-1].time - run.time[0]),
        dt=float(run.method.dt),
        error=None if error is None else finite(float(error[1].max())),
        error_end=None if error is None else finite(float(error[1][-1])),
        energy=finite(end),
        energy_error=finite(end - reference.reports[-1].energy.total)
        if both and reference is not None
        else None,
        gain=finite(float(np.cumsum(made).max(initial=0.0))),
        penetration=finite(float(series(run, "penetration").max())),
        residual=finite(float(series(run, "residual").max())),
        unsolved=sum(not report.ok for report in run.reports),
        halved=run.summary.halved,
        deep=run.summary.deep,
        contacts=float(series(run, "contacts").mean()),
        reference=reference is run,
        failed=run.stopped,
    )


def errors(run: ComparedRun, reference: ComparedRun) -> tuple[Floats, Floats]:
    """Common times (n,) [s], and at each the root mean square over the bodies that obey forces of
    their distance from where they are in the reference [m]."""
    which = moving(run)
    mine, other = run.time, reference.time
    at, there = common(mine, other)
    if at.size >= min(MIN_COMMON_TIMES, mine.size, other.size):
        a, b = run.position[at][:, which], reference.position[there][:, which]
        return mine[at], _distance(a, b)
    # steps without a common multiple: the reference between its frames, which are close
    inside = mine <= other[-1] + MATCH * other[-1]
    b = interpolated(mine[inside], other, reference.position[:, which])
    return mine[inside], _distance(run.position[inside][:, which], b)


def common(mine: Floats, other: Floats) -> tuple[Ints, Ints]:
    """Indices (n,) and (n,) of the frames of two runs that are of one time."""
    near = np.clip(np.searchsorted(other, mine), 1, max(1, other.size - 1))
    if other.size == 1:
        near = np.zeros(mine.size, dtype=np.int64)
    else:
        near = near - (mine - other[near - 1] < other[near] - mine)
    same = np.abs(mine - other[near]) <= MATCH * max(float(np.abs(other).max()), 1.0)
    return np.flatnonzero(same), near[same]


def interpolated(t: Floats, times: Floats, values: Floats) -> Floats:
    """Values (n, ...) at t by linear interpolation of those at `times`."""
    k = np.clip(np.searchsorted(times, t) - 1, 0, max(0, times.size - 2))
    after = np.minimum(k + 1, times.size - 1)
    step = np.where(times[after] > times[k], times[after] - times[k], 1.0)
    share = np.clip((t - times[k]) / step, 0.0, 1.0)
    share = share.reshape(-1, *([1] * (values.ndim - 1)))
    out: Floats = (1.0 - share) * values[k] + share * values[after]
    return out


def _distance(a: Floats, b: Floats) -> Floats:
    if a.shape[1] == 0:
        return np.zeros(len(a))
    out: Floats = np.sqrt(np.mean(np.sum((a - b) ** 2, axis=2), axis=1))
    return out


def finest(runs: dict[str, ComparedRun]) -> str | None:
    """The run to measure others against: from event to event, whose error its integrator holds,
    if one reached its end; else the smallest step; the first of equals."""
    done = {label: run for label, run in runs.items() if not run.stopped and run.reports}
    if not done:
        return None

    def rank(label: str) -> tuple[int, float]:
        method: Any = done[label].method
        return {"event-driven": 0, "time-stepping": 1}.get(method.name, 2), _fineness(method)

    return min(done, key=rank)


def _fineness(method: Any) -> float:
    return float(method.rtol if method.name == "event-driven" else method.dt)
