"""A run to watch: steps a simulation, counts, and shows on a bar how it goes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
from rich.table import Column
from rich.text import Text

from drystone.cli.tally import Tally
from drystone.kernels import _jit
from drystone.kernels._jit import compile_seconds
from drystone.simulation import Simulation
from drystone.steppers.base import StepReport

REFRESH = 0.1  # [s] between two looks at the clock's face


@dataclass
class Watched:
    """How a run went. seconds: wall time of the steps, without what compiling took; compiling [s];
    simulated [s]; stopped: by the user, before its end; reports: of every step if kept."""

    tally: Tally = field(default_factory=Tally)
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
) -> Watched:
    """Run for `duration` [s]; Ctrl-C ends it early and politely. each: called after every step."""
    out = Watched()
    begin_time, begin = simulation.time, perf_counter()
    compiled = compile_seconds()
    shown = begin
    with _bar(title, duration, bar) as update:

        def after(sim: Simulation) -> None:
            nonlocal shown
            report = sim.report
            if report is None:
                return
            out.tally.add(report)
            if keep:
                out.reports.append(report)
            if each is not None:
                each(sim)
            now = perf_counter()
            if now - shown > REFRESH:
                shown = now
                busy = now - begin - (compile_seconds() - compiled)
                update(sim.time - begin_time, busy, report)

        try:
            simulation.run(duration, callback=after)
        except KeyboardInterrupt:
            out.stopped = True
        finally:
            out.simulated = simulation.time - begin_time
            out.compiling = compile_seconds() - compiled
            out.seconds = perf_counter() - begin - out.compiling
    return out


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
    columns = (TextColumn("{task.description}"), BarColumn(bar_width=14), _Clock(line))
    disable = not (wanted and console.is_terminal)
    with (
        _hushed(not disable),
        Progress(*columns, console=console, transient=True, disable=disable) as progress,
    ):
        task = progress.add_task(title, total=duration, speed="", contacts=0, residual="-")

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
