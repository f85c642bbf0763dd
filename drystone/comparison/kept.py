"""A run that is kept in memory: the report of every step, and frames with their contacts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

import numpy as np

from drystone.errors import DrystoneError
from drystone.kernels._jit import compile_seconds
from drystone.model import Model, State
from drystone.running import plan
from drystone.simulation import Simulation
from drystone.steppers.base import StepReport
from drystone.steppers.totals import RunSummary
from drystone.types import Floats

FRAMES_KEPT = 1200  # a longer run keeps every second, third, ... state


@dataclass
class Kept:
    """A run, with what plots and viewers ask of one.

    reports: of every step; frames: states and contacts of every `every`-th, from the start.
    seconds: wall time of the steps without what compiling took [s]; stopped: why before its end;
    summary: totals of its steps.
    """

    title: str
    model: Model
    method: Any
    view: Mapping[str, Any] = field(default_factory=dict)
    every: int = 1
    reports: list[StepReport] = field(default_factory=list)
    seconds: float = 0.0
    compiling: float = 0.0
    stopped: str = ""
    summary: RunSummary = field(default_factory=RunSummary)
    states: list[State] = field(default_factory=list)
    tables: list[Any] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.states)

    def state(self, k: int) -> State:
        return self.states[k]

    def contacts(self, k: int) -> Any:
        """Contacts of the step that led to frame k, as ``Simulation.contacts``."""
        return self.tables[k]

    def series(self, name: str) -> Floats:
        """One number of the report that led to each frame after the first."""
        from drystone.plots.reading import series

        return series(self.reports, name)[self.every - 1 :: self.every][: len(self) - 1]

    @property
    def names(self) -> tuple[str, ...]:
        return self.model.names

    @property
    def time(self) -> Floats:
        return np.array([s.time for s in self.states])

    @property
    def position(self) -> Floats:
        return np.array([s.position for s in self.states])

    @property
    def orientation(self) -> Floats:
        return np.array([s.orientation for s in self.states])

    @property
    def velocity(self) -> Floats:
        return np.array([s.velocity for s in self.states])


def keep(
    simulation: Simulation,
    duration: float,
    *,
    title: str = "",
    view: Mapping[str, Any] | None = None,
    contacts: bool = True,
    limit: float = math.inf,
    beat: float | None = None,
) -> Kept:
    """Run for `duration` [s], or until `limit` [s] of wall time; a run that fails keeps what it
    reached and the reason.

    beat [s]: where frames are left out, those at its multiples stay, if steps lead there.
    """
    simulation.sync()
    todo = plan(simulation, duration)
    steps = max(1, todo.steps + (todo.rest > 0.0))
    out = Kept(title, simulation.model, simulation.method, dict(view or {}))
    out.every = interval(math.ceil(steps / FRAMES_KEPT), (beat or 0.0) / simulation.method.dt)
    out.states.append(simulation.state.copy())
    out.tables.append(simulation.contacts[:0] if contacts else None)
    compiled = compile_seconds()
    for k in range(1, steps + 1):
        begin = perf_counter()
        try:
            short = k == steps and todo.rest > 0.0
            report = simulation._advance(todo.rest, todo.until) if short else simulation.step()
        except DrystoneError as error:
            out.stopped = str(error)
            break
        finally:
            out.seconds += perf_counter() - begin
            before, out.compiling = out.compiling, compile_seconds() - compiled
        # the stages of a step that compiled kernels say nothing about other steps
        out.reports.append(report if out.compiling == before else replace(report, seconds={}))
        if k % out.every == 0:
            out.states.append(simulation.state.copy())
            out.tables.append(simulation.contacts.copy() if contacts else None)
        if out.seconds - out.compiling > limit and k < steps:
            out.stopped = f"{limit:g} s of wall time were up at t = {simulation.time:.4g} s"
            break
    out.seconds -= out.compiling
    out.summary = simulation.summary
    return out


def interval(least: int, beat: float) -> int:
    """Steps from frame to frame, `least` or more, that hit every `beat`-th step if it is a whole
    number: a divisor of it, or a multiple where none is large enough."""
    whole = round(beat)
    if least == 1 or whole < 1 or abs(beat - whole) > 1e-6 * whole:
        return least
    if least > whole:
        return whole * math.ceil(least / whole)
    return next(k for k in range(least, whole + 1) if whole % k == 0)
