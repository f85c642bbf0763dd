"""``python -m benchmarks scenes --profile``: where the time of a step goes, kernel by kernel."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from rich.table import Table

from benchmarks import sampler, tables
from benchmarks.sampler import kernel_name
from benchmarks.scenes.cases import Case
from benchmarks.scenes.run import Plan, time_stages
from drystone.cli.console import duration
from drystone.kernels._jit import MODE
from drystone.simulation import Simulation

LONG = 3.0  # [s] of wall time that a profile takes at most, in each of its runs
EVERY = 2e-4  # [s] between samples
SHOWN = 16  # kernels in a table
HEADS = ("kernel", "a step", "share", "calls a step", "a call")
FEW = 300  # looks below which shares say little
BUSY = 1000  # contacts times sweeps in a step, below which calls from Python outweigh sweeps


@dataclass(frozen=True)
class KernelCost:
    """Of a kernel, for each step.

    seconds: in its own code, by sampling; nan where that is not possible. calls: from Python, and
    called [s]: the time between these calls and their returns, with all that they call.
    """

    name: str
    seconds: float
    calls: float
    called: float


@dataclass(frozen=True)
class Profile:
    """A case's kernels, the dearest first; step [s]; sweep [s]: of one contact in one sweep, all
    of the solve counted, nan where there are few; sampled: how many looks the figures rest on."""

    case: str
    world: str
    step: float
    kernels: tuple[KernelCost, ...]
    sweep: float
    sampled: int


@contextmanager
def counted_calls() -> Iterator[tuple[Counter[str], dict[str, float]]]:
    """Count kernels that Python calls, and their seconds, while the block runs."""
    calls: Counter[str] = Counter()
    seconds: dict[str, float] = {}
    if MODE == "off":
        yield calls, seconds
        return
    from numba.core.registry import CPUDispatcher

    kernels: Any = CPUDispatcher
    plain = kernels.__call__

    def timed(self: Any, *args: Any, **options: Any) -> Any:
        begin = perf_counter()
        try:
            return plain(self, *args, **options)
        finally:
            name = kernel_name(self)
            calls[name] += 1
            seconds[name] = seconds.get(name, 0.0) + perf_counter() - begin

    kernels.__call__ = timed  # of the class: kernels kept in tables are counted too
    try:
        yield calls, seconds
    finally:
        del kernels.__call__


def profile(case: Case, *, world: str | None = None, shorter: float = 1.0) -> Profile:
    """Two runs of a case: one sampled, at full speed, and one step by step with calls counted."""
    plan = Plan.of(case, world or case.worlds[0], None, shorter)
    start = _settled(plan)
    time_stages(start)
    sampled, samples, fast = _sampled(plan)
    with counted_calls() as (calls, called):
        steps, solving, swept = _stepped(plan, start)
    names = sampled.keys() | calls.keys()
    kernels = [
        KernelCost(
            name,
            fast * sampled[name] / samples if samples else math.nan,
            calls[name] / steps,
            called.get(name, 0.0) / steps,
        )
        for name in names
    ]
    kernels.sort(key=lambda one: (-_cost(one), one.name))
    sweep = solving / swept if swept >= BUSY * steps else math.nan
    return Profile(case.name, plan.world, fast, tuple(kernels), sweep, samples)


def _cost(one: KernelCost) -> float:
    return one.called if math.isnan(one.seconds) else one.seconds


def _settled(plan: Plan) -> Simulation:
    """At the start of what the case measures, kernels loaded."""
    simulation = plan.scene.simulation(**plan.case.options)
    simulation.run(max(plan.settle, 3) * plan.dt)
    return simulation


def _sampled(plan: Plan) -> tuple[Counter[str], int, float]:
    """Samples by function, their number, and seconds a step, of a run at full speed."""
    simulation = _settled(plan)
    samples = sampler.Samples(EVERY) if sampler.available() else None
    done, portion, begin = 0, max(1, plan.steps // 20), perf_counter()
    while done < plan.steps and perf_counter() - begin < LONG:
        if samples is None:
            simulation.run(portion * plan.dt)
        else:
            with samples.running():
                simulation.run(portion * plan.dt)
        done += portion
    seconds = (perf_counter() - begin) / done
    if samples is None:
        return Counter(), 0, seconds
    found = samples.by_function()
    return found, found.total(), seconds


def _stepped(plan: Plan, simulation: Simulation) -> tuple[int, float, float]:
    """Steps taken, seconds in the solve, and contacts times sweeps."""
    done, solving, swept, begin = 0, 0.0, 0.0, perf_counter()
    while done < plan.steps and perf_counter() - begin < LONG:
        report = simulation.step()
        solving += report.seconds.get("solve", 0.0)
        # sweeps are counted over all islands: each has its share of the contacts
        swept += report.iterations * report.contacts / max(report.islands, 1)
        done += 1
    return done, solving, swept


def title(found: Profile) -> str:
    """Case, time of a step, and what the shares rest on."""
    text = f"{found.case} ({found.world}): {duration(found.step)} a step, {found.sampled} looks"
    if 0 < found.sampled < FEW:
        text += " (few: shares say little)"
    if not math.isnan(found.sweep):
        text += f"; the solve takes {1e9 * found.sweep:.0f} ns for each contact and sweep"
    return text


def kernel_table(found: Profile) -> Table:
    """The dearest kernels; time in a kernel's own code, without what it calls."""
    return tables.table(HEADS, rows(found), title=title(found), right=HEADS[1:])


def rows(found: Profile) -> list[tuple[str, ...]]:
    """Kernel, time a step, share of the step, calls from Python a step, time a call."""
    out: list[tuple[str, ...]] = []
    for one in found.kernels[:SHOWN]:
        sampled = not math.isnan(one.seconds)
        out.append(
            (
                one.name,
                duration(_cost(one)),
                f"{_cost(one) / found.step:.1%}" if sampled else "",
                f"{one.calls:.3g}" if one.calls else "",
                duration(one.called / one.calls) if one.calls else "",
            )
        )
    return out


def markdown(profiles: list[Profile]) -> list[str]:
    """Lines of a table for each case."""
    lines = []
    for found in profiles:
        lines += ["", f"**{title(found)}**", ""]
        lines += tables.lines(HEADS, rows(found))
    return lines
