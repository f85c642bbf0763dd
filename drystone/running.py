"""Runs: how many steps a time is, the loop over them, and what is said at the end."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from drystone.arguments import warn_user
from drystone.errors import OptionError, SimulationError, StepWarning
from drystone.steppers.time_stepping.reading import Frames
from drystone.steppers.totals import RunSummary, Totals
from drystone.trajectory import Trajectory
from drystone.values import among, real, text

MAX_STEPS = 10**12  # steps of a run: weeks of computing for the smallest world there is
WHOLE = 1e-6  # of a step: what a time may lack of whole steps, which add rounded numbers
SHORT_STEP_TOL = 1e-9  # the same of methods that make a shorter last step
CHOICES = ("warn", "raise", "ignore")


@dataclass(frozen=True, slots=True)
class RunPlan:
    """What a run is asked for. until [s]: when to end; steps: whole ones until then; rest [s]: the
    length of a shorter last one, 0 for none; carried [s]: what is left after the last step."""

    until: float
    steps: int
    rest: float
    carried: float

    @property
    def makes_steps(self) -> bool:
        return self.steps > 0 or self.rest > 0.0


def plan(sim: Any, duration: Any = None, until: Any = None) -> RunPlan:
    """Steps from now on, for `duration` seconds more or until a time [s]."""
    if (duration is None) == (until is None):
        raise OptionError("run: expected a duration [s], or until=... [s], one of them")
    if until is None:
        what, end = f"duration = {text(duration)}", seconds("run", "duration", duration)
        if end < 0.0:
            raise OptionError(f"run: {what}: expected seconds >= 0")
        end += sim.time + sim._remainder
    else:
        what, end = f"until = {text(until)}", seconds("run", "until", until)
    dt, short = sim.method.dt, sim.method.partial_steps
    least, made = SHORT_STEP_TOL if short else WHOLE, sim._count - sim._since
    many = (end - sim._start) / dt
    if end < sim.time - least * dt:
        raise OptionError(f"run: {what}: is before the present time, {sim.time:.9g} s")
    check_count(f"run: {what}", many - made, dt)
    steps = max(math.floor(many + least) - made, 0)
    left = end - (sim._start + (made + steps) * dt)
    if short and left > least * dt:
        return RunPlan(end, steps, left, 0.0)
    return RunPlan(end, steps, 0.0, left)


def check_count(what: str, steps: float, dt: float) -> None:
    """OptionError for more steps than a run can have; what: was asked for."""
    if not steps <= MAX_STEPS:
        raise OptionError(
            f"{what}: that is {steps:.3g} steps of {dt:.4g} s; at most {MAX_STEPS:.0e} in a run"
        )


def seconds(owner: str, name: str, value: Any) -> float:
    """A time or a duration that was asked for [s]."""
    out = real(value)
    if out is None or not math.isfinite(out):
        raise OptionError(f"{owner}: {name} = {text(value)}: expected a finite number of seconds")
    return out


def choice(sim: Any, on_failure: str | None) -> str:
    """What a run does about steps that fail: what was asked of it, or of its method."""
    if on_failure is None:
        return "raise" if getattr(sim.method, "on_failure", "") == "raise" else "warn"
    if not among(on_failure, CHOICES):
        raise OptionError(f"run: on_failure = {text(on_failure)}: expected {', '.join(CHOICES)}")
    return on_failure


@contextmanager
def counted(sim: Any) -> Iterator[Totals]:
    """Count the steps and the events of a run by themselves; they join the simulation's."""
    outer, run = sim._current, Totals.of(sim.method)
    sim._current, sim._events = run, []
    try:
        yield run
        run.see(sim.stepper, sim.state)
    finally:
        sim._current = outer
        (outer or sim._totals).join(run.summary)


def execute(
    sim: Any,
    todo: RunPlan,
    kept: Trajectory | None,
    every: int,
    contacts: bool,
    callback: Callable[[Any], Any] | None,
    raises: bool,
) -> None:
    """The steps of a run; raises: stop at the first that fails."""
    sim._remainder = 0.0  # nothing is carried over from a run that is cut short
    if callback is None and not raises and sim.stepper.in_one:
        run_compiled(sim, todo.steps, every, contacts, kept)
        sim._remainder = todo.carried
        return
    count = todo.steps + (todo.rest > 0.0)
    for k in range(count):
        last = k == todo.steps
        report = sim._advance(todo.rest if last else sim.method.dt, todo.until if last else None)
        if raises and not sim._fine:
            raise SimulationError(failure(sim), sim.problem(), report)
        if kept is not None and ((k + 1) % every == 0 or last):
            table = sim.stepper.contact_table() if contacts else None
            kept.add(sim.model, sim.state, report, table)
        if callback is not None and _stops(sim, callback) and k + 1 < count:
            if sim._recorder is not None:
                sim._recorder.stopped = True
            return
    sim._remainder = todo.carried


class FailureWarning:
    """One warning at the end of a run, however it ends, if some of its steps failed: after its file
    is closed, and never in place of the error, or of the Ctrl-C, that ended it."""

    def __init__(self, sim: Any, on_failure: str) -> None:
        self._counted, self._warns = counted(sim), on_failure != "ignore"

    def __enter__(self) -> Totals:
        self._totals = self._counted.__enter__()
        return self._totals

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        self._counted.__exit__(kind, error, trace)
        reported = isinstance(error, SimulationError) and error.report is not None
        if reported or not self._warns:
            return
        try:
            warn_of_failures(self._totals.summary)
        except StepWarning as warning:  # warnings are errors here
            if error is None:
                raise
            error.add_note(str(warning))


def warn_of_failures(summary: RunSummary) -> None:
    """Warn of steps that failed."""
    if summary.ok:
        return
    first = "" if summary.first is None else f"the first ended at t = {summary.first:.6g} s; "
    said = f"of {summary.made}: {summary.trouble}; {first}{summary.worst}"
    hint = 'sim.summary has the totals, run(..., on_failure="raise") stops at the first'
    warn_user(f"{said} ({hint})", StepWarning)


def _stops(sim: Any, callback: Callable[[Any], Any]) -> bool:
    """Call it; it may look ahead with this simulation if it comes back to where it was called."""
    count, time = sim._count, sim.time
    stops = callback(sim) is False
    if (sim._count, sim.time) != (count, time):
        raise OptionError(
            f"run: its callback was called at t = {time:.6g} s and left the simulation at "
            f"t = {sim.time:.6g} s: to look ahead, restore the snapshot that was taken there, or "
            "step a copy, copy.deepcopy(sim)"
        )
    return stops


def failure(sim: Any) -> str:
    """Why the last step failed."""
    one = Totals.of(sim.method)
    one.add(sim.report, sim.model.names)
    summary, why = one.summary, []
    if not sim.report.ok:
        who = f" (body {summary.unsolved_body!r})" if summary.unsolved_body else ""
        why.append(
            "; ".join(sim.report.log) if summary.jammed else f"{sim.report.status.value}{who}"
        )
    if summary.deep:
        why.append(f"the penetration is above {summary.limit}")
    return f"the step to t = {summary.end:.6g} s failed: {'; '.join(why)}; {summary.worst}"


def run_compiled(sim: Any, steps: int, every: int, contacts: bool, kept: Trajectory | None) -> None:
    """Steps without a callback: the compiled loop runs for as long as it can."""
    stepper, recorder, since = sim.stepper, sim._recorder, 0
    if recorder is not None and kept is not None:
        raise OptionError("run: record = True, but this simulation is recorded to a file")
    if recorder is not None:
        every, contacts = recorder.frame_every, recorder.contacts
    while steps > 0:
        piece = steps
        if recorder is not None:
            recorder.before()
            piece, since = min(steps, recorder.pace), recorder.since
        given = () if recorder is None else (recorder.spare, recorder.note)
        frames = Frames(stepper.method_names, sim.method.dt, since, contacts, *given)
        if recorder is not None:
            recorder.space(frames)
        watched = every if kept is not None or recorder is not None else 0
        dt, start, count, clock = sim.method.dt, sim._start, sim._count, perf_counter()
        try:
            stepper.run(sim.state, dt, start, count, piece, watched, frames)
        finally:  # a run that fails keeps what it reached
            sim._count, sim.state = frames.count, frames.state or sim.state
            sim.report = frames.report or sim.report
            (sim._current or sim._totals).add_loop(
                frames.total, sim.time, sim.model.names, frames.jammed, frames.stalled
            )
            if kept is not None:
                kept.extend(frames)
            if recorder is not None:
                recorder.take(frames)
        if recorder is not None:
            recorder.paced(piece, perf_counter() - clock)
        steps -= piece
