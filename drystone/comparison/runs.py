"""A run that is kept in memory: the report of every step, and frames with their contacts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from time import perf_counter
from typing import Any

from drystone.errors import DrystoneError
from drystone.kernels._jit import compile_seconds
from drystone.running import plan
from drystone.simulation import Simulation
from drystone.steppers.totals import Totals
from drystone.trajectory import Trajectory
from drystone.types import Floats

FRAMES_KEPT = 1200  # a longer run keeps every second, third, ... state


class ComparedRun(Trajectory):
    """A run of a comparison: frames of every `every`-th step, and the reports of all steps.

    seconds: wall time of the steps without what compiling took [s]; stopped: why before its end;
    summary: totals of its steps.
    """

    def __init__(
        self, simulation: Simulation, title: str, view: Mapping[str, Any], contacts: bool
    ) -> None:
        origin, law = {"view": view, "title": title}, simulation.method.contact_law
        super().__init__(simulation.model, simulation.state, origin, law)
        self.method, self.keeps_contacts = simulation.method, contacts
        self.every, self.stopped = 1, ""
        self.seconds = self.compiling = 0.0

    def series(self, name: str) -> Floats:
        """One number of the report that led to each frame after the first."""
        return super().series(name)[self.every - 1 :: self.every][: len(self) - 1]

    @property
    def names(self) -> tuple[str, ...]:
        return self.model.names


def simulate(
    simulation: Simulation,
    duration: float,
    *,
    title: str = "",
    view: Mapping[str, Any] | None = None,
    contacts: bool = True,
    limit: float = math.inf,
    beat: float | None = None,
) -> ComparedRun:
    """Run for `duration` [s], or until `limit` [s] of wall time; a run that fails keeps what it
    reached and the reason.

    beat [s]: where frames are left out, those at its multiples stay, if steps lead there.
    """
    simulation.sync()
    todo = plan(simulation, duration)
    steps = max(1, todo.steps + (todo.rest > 0.0))
    out = ComparedRun(simulation, title, view or {}, contacts)
    out.every = interval(math.ceil(steps / FRAMES_KEPT), (beat or 0.0) / simulation.method.dt)
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
            out.add_frame(
                simulation.state, simulation.stepper.contact_table() if contacts else None
            )
        if out.seconds - out.compiling > limit and k < steps:
            out.stopped = f"{limit:g} s of wall time were up at t = {simulation.time:.4g} s"
            break
    out.seconds -= out.compiling
    out.totals = Totals(simulation.summary)
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
