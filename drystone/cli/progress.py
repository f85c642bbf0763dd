"""A run to watch: steps a simulation, counts, and shows on a bar how it goes."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

from numba.core import event
from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
from rich.table import Column
from rich.text import Text

from drystone.cli.parallel_compile import parallel_compilation
from drystone.escaping import for_line
from drystone.kernels import _jit
from drystone.kernels._compiler import LOAD
from drystone.kernels._jit import compile_seconds
from drystone.running import RunPlan, counted, plan, run_compiled
from drystone.simulation import Simulation
from drystone.steppers.base import StepReport
from drystone.steppers.totals import RunSummary
from drystone.trajectory import Trajectory
from drystone.values import finite

REFRESH = 0.1  # [s] between updates of the progress bar
MAX_PIECE = 1024  # steps at a time
LEDGER = ("change", "loads", "driving", "friction", "impact", "constraint", "integration")


@dataclass
class Tally:
    """Counts reports as they come.

    residual: the worst of any step; unsolved: steps whose solve missed its tolerance, and
    first_unsolved [s]: when the first of them ended; penetration: greatest at the start of
    any step [m]; energy: sums of the ledgers over the run [J]; seconds: of each stage.
    """

    steps: int = 0
    unsolved: int = 0
    first_unsolved: float | None = None
    residual: float = 0.0
    penetration: float = 0.0
    contacts: int = 0
    most_contacts: int = 0
    collisions: int = 0
    retries: int = 0
    iterations: int = 0
    energy: dict[str, float] = field(default_factory=lambda: dict.fromkeys(LEDGER, 0.0))
    seconds: dict[str, float] = field(default_factory=dict)
    last: StepReport | None = None

    def add(self, report: StepReport) -> None:
        self.steps += 1
        if not report.ok:
            self.unsolved += 1
            if self.first_unsolved is None:
                self.first_unsolved = report.time
        self.residual = max(self.residual, report.residual)
        self.penetration = max(self.penetration, report.penetration)
        self.contacts = report.contacts
        self.most_contacts = max(self.most_contacts, report.contacts)
        self.collisions += report.collisions
        self.retries += report.retries
        self.iterations += report.iterations
        for name in LEDGER:
            self.energy[name] += getattr(report.energy, name)
        for stage, seconds in report.seconds.items():
            self.seconds[stage] = self.seconds.get(stage, 0.0) + seconds
        self.last = report

    @property
    def unexplained(self) -> float:
        """Change of energy that no entry of the ledger explains [J]: rounding."""
        return self.energy["change"] - sum(self.energy[k] for k in LEDGER if k != "change")

    def ledger(self) -> dict[str, float]:
        """The sums, with the energies at the end and what stays unexplained [J]."""
        out = dict(self.energy) | {"unexplained": self.unexplained}
        if self.last is not None:
            ends = self.last.energy
            out |= {"kinetic": ends.kinetic, "potential": ends.potential}
        return out

    def as_json(self) -> dict[str, Any]:
        return {
            "steps": self.steps,
            "unsolved": self.unsolved,
            "first_unsolved": self.first_unsolved,
            "residual": finite(self.residual),
            "penetration": finite(self.penetration),
            "infeasibility": finite(self.penetration),  # its former name
            "contacts": self.contacts,
            "most_contacts": self.most_contacts,
            "collisions": self.collisions,
            "retries": self.retries,
            "iterations": self.iterations,
            "energy": {name: finite(value) for name, value in self.ledger().items()},
            "stages": {name: finite(value) for name, value in self.seconds.items()},
        }


@dataclass
class RunOutcome:
    """How a run went. seconds: wall time of the steps, without what it took to compile kernels or
    to load those that are; compiling [s]: that;
    simulated [s]; stopped: by the user, before its end; reports: of every step if kept; summary:
    totals of its steps."""

    tally: Tally = field(default_factory=Tally)
    summary: RunSummary = field(default_factory=RunSummary)
    seconds: float = 0.0
    compiling: float = 0.0
    simulated: float = 0.0
    stopped: bool = False
    reports: list[StepReport] = field(default_factory=list)

    @property
    def speed(self) -> float:
        """Simulated over wall seconds: 1 is real time."""
        return self.simulated / self.seconds if self.seconds > 0 else 0.0


def watch(
    simulation: Simulation,
    duration: float,
    *,
    title: str,
    bar: bool = True,
    keep: bool = False,
    each: Callable[[Simulation], Any] | None = None,
    record: Path | None = None,
    overwrite: bool = True,
    until: float | None = None,
) -> RunOutcome:
    """Run for `duration` [s], or until a time [s] so far off; Ctrl-C ends it after the step,
    a second one at once. each: called after every step; without it steps that need no Python run
    many at a time. record: to this file, which can be read whenever and however the run ends, in
    place of one of that name only if overwrite says so; a recorder that the simulation has already
    goes on."""
    out = RunOutcome()
    begin_time, begin = simulation.time, perf_counter()
    compiled = compile_seconds()
    todo = plan(simulation, duration if until is None else None, until)
    with (
        counted(simulation) as totals,
        parallel_compilation(simulation),
        _loading() as loaded,
        _recorded(simulation, record, todo.until, overwrite) as recorder,
        _bar(title, duration, bar) as update,
        _interrupts() as stopped,
    ):

        def show() -> None:
            busy = perf_counter() - begin - (compile_seconds() - compiled) - loaded()
            if out.tally.last is not None:
                update(simulation.time - begin_time, busy, out.tally.last)

        try:
            for reports in _parts(simulation, todo, recorder, each, show):
                for report in reports:
                    out.tally.add(report)
                if keep:
                    out.reports += reports
                if stopped():
                    out.stopped = True
                    break
            simulation._remainder = 0.0 if out.stopped else todo.carried
        except KeyboardInterrupt:
            out.stopped = True
        finally:
            out.summary = totals.summary
            if recorder is not None:
                recorder.stopped = out.stopped
            out.simulated = simulation.time - begin_time
            out.compiling = compile_seconds() - compiled + loaded()
            out.seconds = perf_counter() - begin - out.compiling
    return out


def _parts(
    simulation: Simulation,
    todo: RunPlan,
    recorder: Any,
    each: Callable[[Simulation], Any] | None,
    show: Callable[[], None],
) -> Iterator[list[StepReport]]:
    """Take steps, one or many at a time; yields their reports."""
    many, shown = 1, perf_counter()
    stepper, steps = simulation._stepper, todo.steps + (todo.rest > 0.0)
    while steps > 0:
        began, count = perf_counter(), 1
        if each is None and getattr(stepper, "in_one", False):
            count = min(many, steps)
            reports = _loop(simulation, count, recorder)
        else:
            short = steps == 1 and todo.rest > 0.0
            step = simulation.step
            reports = [simulation._advance(todo.rest, todo.until) if short else step()]
            if each is not None:
                each(simulation)
        yield reports
        steps -= count
        took = perf_counter() - began
        many = min(2 * many, MAX_PIECE) if took < 0.5 * REFRESH else max(many // 2, 1)
        if perf_counter() - shown > REFRESH:
            shown = perf_counter()
            show()


def _loop(simulation: Simulation, count: int, recorder: Any) -> list[StepReport]:
    """Steps by the loop that needs no Python, and all their reports."""
    if recorder is None:
        kept = Trajectory(simulation.model, simulation.state)
        run_compiled(simulation, count, 1, False, kept)
        return kept.reports
    reports: list[StepReport] = []
    recorder.all_steps, recorder.on_frames = True, lambda frames: reports.extend(frames.reports())
    run_compiled(simulation, count, 1, False, None)
    return reports


def _recorded(simulation: Simulation, path: Path | None, until: float, overwrite: bool) -> Any:
    """The recorder of a run, or None, as a context."""
    if path is None:
        return nullcontext(simulation._recorder)
    return simulation.record(path, until=until, overwrite=overwrite)


class _LoadTimer(event.Listener):
    """Seconds spent on loading compiled kernels from disk; what is loaded while something compiles
    counts as compiling."""

    def __init__(self) -> None:
        self.depth, self.spent, self.began = 0, 0.0, 0.0

    def on_start(self, event: Any) -> None:
        if self.depth == 0:
            self.began = perf_counter() - compile_seconds()
        self.depth += 1

    def on_end(self, event: Any) -> None:
        self.depth -= 1
        if self.depth == 0:
            self.spent += perf_counter() - compile_seconds() - self.began


@contextmanager
def _loading() -> Iterator[Callable[[], float]]:
    timer = _LoadTimer()
    event.register(LOAD, timer)
    try:
        yield lambda: timer.spent
    finally:
        event.unregister(LOAD, timer)


@contextmanager
def _interrupts() -> Iterator[Callable[[], bool]]:
    """Whether Ctrl-C was pressed: a step in work is finished, so that what was reached is whole."""
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False  # only the main thread hears of it, and raises
        return
    pressed = False

    def note(number: int, frame: Any) -> None:
        nonlocal pressed
        if pressed:
            raise KeyboardInterrupt
        pressed = True

    before = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: pressed
    finally:
        signal.signal(signal.SIGINT, before)


class _Clock(ProgressColumn):
    """Simulated time, speed, contacts and residual; or that kernels are being compiled."""

    def render(self, task: Task) -> Text:
        if _jit._progress.depth:
            return Text(f"compiling kernels, once ({compile_seconds():.0f} s)", style="none")
        fields = task.fields
        return Text(
            f"{task.completed:.2f}/{task.total or 0:g} s {fields['speed']:>6} "
            f"{fields['contacts']:>5} contacts, residual {fields['residual']}",
            style="none",
        )


Update = Callable[[float, float, StepReport], None]


@contextmanager
def _bar(title: str, duration: float, wanted: bool) -> Iterator[Update]:
    console = Console(stderr=True)
    line = Column(no_wrap=True)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=14),
        _Clock(line),
    )
    disable = not (wanted and console.is_terminal)
    with (
        _hushed(not disable),
        Progress(*columns, console=console, transient=True, disable=disable) as progress,
    ):
        task = progress.add_task(
            for_line(title), total=duration, speed="", contacts=0, residual="-"
        )

        def update(time: float, seconds: float, report: StepReport) -> None:
            progress.update(
                task,
                completed=time,
                speed=times(time / seconds if seconds > 0 else 0.0),
                contacts=report.contacts,
                residual=f"{report.residual:.0e}",
            )

        yield update


@contextmanager
def _hushed(wanted: bool) -> Iterator[None]:
    """Compiling writes a line of its own, which would tear the bar: the bar says it instead."""
    line = _jit._progress
    before = line.quiet
    line.quiet = before or wanted
    try:
        yield
    finally:
        line.quiet = before


def times(speed: float) -> str:
    """A speed against real time: 12x, 1.3x, 0.045x."""
    return f"{speed:.2g}x" if speed < 9.95 else f"{speed:.0f}x"
