"""``python -m benchmarks growth``: how a step grows with the number of bodies."""

from __future__ import annotations

import gc
import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import options, tables
from benchmarks.clock import exponent, one_thread, peak_memory, timed
from benchmarks.scenes.picture import span, ticks
from drystone.cli.console import duration
from drystone.cli.progress import Tally
from drystone.model import State
from drystone.plots import style
from drystone.scenes.base import Scene
from drystone.scenes.registry import scene as build
from drystone.steppers.time_stepping.threads import count_threads

LAYERS = 10  # of a wide heap
DEEP = 20_000  # spheres at most in a heap as high as wide: higher ones take an hour to settle


def growth(sizes: options.Sizes = "100,1000,10000", output: options.Output = None) -> None:
    """Settled spheres, more and more of them: the time of a step and memory.

    10^5 spheres take many minutes to settle.
    """
    folder, wanted = options.folder(output), options.numbers(sizes)
    grown: list[Growth] = []
    with one_thread():
        for one in measure(wanted, tell=tables.tell):
            grown.append(one)
            tables.tell(line(one, grown))
            if folder is not None:
                _write(grown, folder)
    tables.show(words(grown))


def _write(grown: list[Growth], folder: Path) -> None:
    tables.write_csv(folder / "growth.csv", map(csv_row, grown))
    plot = save_growth(grown, folder / "growth.png").name
    tables.write_page(folder / "growth.md", markdown(grown, plot))


@dataclass(frozen=True)
class Growth:
    """Cost of a step of n settled spheres [s], with their contacts.

    step: on one thread, shared: on as many as there are by default, `threads`; iterations: of the
    solver, in a step; stages [s] of a step; before, peak: greatest memory of the process until the
    world was built, and in all [bytes]; deep: in a heap as high as it is wide, not of the same
    height for all numbers.
    """

    n: int
    step: float
    contacts: int
    stages: dict[str, float]
    iterations: float = math.nan
    before: int = 0
    peak: int = 0
    deep: bool = False
    threads: int = 1
    shared: float = math.nan

    @property
    def per_body(self) -> float:
        return self.step / self.n


def measure(
    sizes: tuple[int, ...] = (1000, 10000, 100000),
    *,
    settle: float = 4.0,
    steps: int = 96,
    tell: Callable[[str], Any] = lambda text: None,
) -> Iterator[Growth]:
    """Spheres that have come to rest in a box: seconds a step, for several numbers of them.

    First in boxes that grow in width, ten layers high, which shows the engine's growth; then as
    high as wide, up to DEEP of them, where the contact problem itself grows harder. They settle in
    steps four times as long, for `settle` seconds and longer in a higher heap (by the square root
    of its height); the clock runs over the last quarter of `steps`.
    """
    wide = [(n, False) for n in sorted(sizes)]
    for n, deep in wide + [(n, True) for n in sorted(sizes) if LAYERS**3 < n <= DEEP]:
        tell(f"{n} spheres settle")
        before = peak_memory()
        across = 0 if deep else max(1, round(math.sqrt(n / LAYERS)))
        scene = build("spheres", n=n, across=across)
        rough = scene.simulation(dt=4.0 * scene.method.dt)
        rough.run(settle * (max(1.0, n / 1000) ** (1 / 6) if deep else 1.0))
        start = rough.state.copy()
        del rough  # memory is measured, too: of one simulation at a time
        gc.collect()
        tell(f"{n} spheres, measured")
        with _threads(1):
            median, tally = _median(scene, start, steps)
        threads = count_threads()
        shared = _median(scene, start, steps)[0] if threads > 1 else median
        stages = {name: seconds / tally.steps for name, seconds in tally.seconds.items()}
        per_step = tally.iterations / tally.steps
        memory = before, peak_memory()
        yield Growth(
            n, median, tally.contacts, stages, per_step, *memory, deep, threads, shared
        )  # fmt: skip


def _median(scene: Scene, state: State, steps: int) -> tuple[float, Tally]:
    """Median time of a step [s] over the last quarter of `steps`, and what those steps took."""
    simulation = scene.simulation()
    simulation.state = state
    times, tally = [], Tally()
    for k in range(steps):
        took = timed(simulation.step).wall  # of several threads, too
        if 4 * k >= 3 * steps:
            times.append(took)
            assert simulation.report is not None
            tally.add(simulation.report)
    return float(np.median(times)), tally


@contextmanager
def _threads(count: int) -> Iterator[None]:
    """Simulations made in here sweep on so many threads."""
    before = os.environ.get("DRYSTONE_THREADS")
    os.environ["DRYSTONE_THREADS"] = str(count)
    try:
        yield
    finally:
        del os.environ["DRYSTONE_THREADS"]
        if before is not None:
            os.environ["DRYSTONE_THREADS"] = before


def line(one: Growth, grown: list[Growth]) -> str:
    """One number of spheres, beside the smallest or that of 1000."""
    base = next((other for other in grown if other.n == 1000), grown[0])
    kind = " deep" if one.deep else ""
    return (
        f"{one.n:>7} spheres{kind}, {one.contacts:>7} contacts: {duration(one.step):>8}, "
        f"{duration(one.per_body):>8} ({one.per_body / base.per_body:.2f} of {base.n}), "
        f"{_shared(one, base)} on {one.threads} threads, "
        f"{one.iterations:.0f} iterations; {one.peak / 2**20:.0f} MiB"
    )


def _shared(one: Growth, base: Growth) -> str:
    """A step on all threads, and for each sphere beside that of the base."""
    if math.isnan(one.shared):
        return "?"
    return f"{duration(one.shared)} ({one.shared / one.n / (base.shared / base.n):.2f})"


def words(grown: list[Growth]) -> str:
    lines = [
        "settled spheres in ten layers (deep: as high as wide): time of a step, of a step for each "
        "body, and memory so far",
        *(f"  {line(one, grown)}" for one in grown),
    ]
    wide = [one for one in grown if not one.deep]
    if len(wide) > 1:
        lines.append(f"  grows as n^{power(wide):.2f} ({almost(wide):.2f} for n log n)")
    return "\n".join(lines)


HEADS = (
    "spheres", "heap", "contacts", "a step", "for each sphere", "of the first", "all threads",
    "iterations", "memory so far",
)  # fmt: skip


def markdown(grown: list[Growth], plot: str) -> list[str]:
    """The page kept beside the CSV. plot: name of the picture."""
    base = next((one for one in grown if one.n == 1000), grown[0])
    rows = [
        (
            f"{one.n:,}", "as high as wide" if one.deep else "ten layers", f"{one.contacts:,}",
            duration(one.step), duration(one.per_body), f"{one.per_body / base.per_body:.2f}",
            _shared(one, base), f"{one.iterations:.0f}", f"{one.peak / 2**20:,.0f} MiB",
        )
        for one in grown
    ]  # fmt: skip
    heads = tuple(f"of {base.n:,}" if head == "of the first" else head for head in HEADS)
    lines = [
        "# Growth",
        "",
        "Spheres that have come to rest in a box: the median time of a step (kernels warm, one",
        "thread), the same for each sphere and beside the first; a step on all threads that are",
        f"used by default (here {base.threads}), in brackets for each sphere beside the first;",
        "iterations of the solver in a step, and the greatest memory of the process until then.",
        "",
        *tables.lines(heads, rows),
    ]
    wide = [one for one in grown if not one.deep]
    if len(wide) > 1:
        fit = f"n^{power(wide):.2f}; n log n would be n^{almost(wide):.2f}"
        lines += ["", f"In ten layers a step grows as {fit}."]
    return [*lines, "", f"![Time of a step for each sphere, and memory]({plot})"]


def power(grown: list[Growth]) -> float:
    """p of the best fit step = c n^p."""
    return exponent((one.n, one.step) for one in grown)


def almost(grown: list[Growth]) -> float:
    """The same of n log n, for the numbers that were measured."""
    return exponent((one.n, one.n * math.log(one.n)) for one in grown)


def csv_row(one: Growth) -> dict[str, object]:
    """A row as it is kept, with the seconds of a step by stage."""
    row: dict[str, object] = {
        "spheres": one.n, "deep": int(one.deep), "contacts": one.contacts, "step_s": one.step,
        "per_body_s": one.per_body, "threads": one.threads, "shared_s": one.shared,
        "iterations": one.iterations, "before_bytes": one.before, "peak_bytes": one.peak,
    }  # fmt: skip
    return row | {f"{name}_s": seconds for name, seconds in one.stages.items()}


def save_growth(grown: list[Growth], path: Path) -> Path:
    """Cost of a step for each body, and memory, over the number of spheres."""
    deep = [one for one in grown if one.deep]
    wide = [one for one in grown if not one.deep]
    base = next((one for one in wide if one.n == 1000), grown[0])
    limit = 1.5e6 * base.per_body
    with style.figure(7.2, 3.1, layout="constrained") as fig:
        left, right = fig.subplots(1, 2)
        for some, look, name in ((wide, "-o", "ten layers"), (deep, "s", "as high as wide")):
            if some:
                per_body = [1e6 * one.per_body for one in some]
                left.plot([one.n for one in some], per_body, look, color=style.BLUE, label=name)
        if any(one.threads > 1 for one in wide):
            per_body = [1e6 * one.shared / one.n for one in wide]
            left.plot([one.n for one in wide], per_body, "--o", color=style.BLUE, alpha=0.5,
                      label=f"ten layers, {max(one.threads for one in wide)} threads")  # fmt: skip
        left.axhline(limit, color=style.QUIET, lw=0.8, ls="--")
        left.annotate(
            f"1.5 times that of {base.n}", (0.02, limit), (0, -3), color=style.QUIET, va="top",
            xycoords=("axes fraction", "data"), textcoords="offset points", fontsize=8,
        )  # fmt: skip
        top = 1.12 * max(limit, *(1e6 * one.per_body for one in grown))
        left.set(ylim=(0, top), ylabel="µs", title="time of a step, for each sphere")
        if deep or any(one.threads > 1 for one in wide):
            left.legend(frameon=False, loc="lower left")
        right.plot([g.n for g in wide], [g.peak / 2**20 for g in wide], "-o", color=style.ORANGE)
        memory = span([one.peak / 2**20 for one in wide or grown])
        right.set(yscale="log", ylim=memory, ylabel="MiB", title="greatest memory so far")
        ticks(right.yaxis, *memory, str_of=lambda value: f"{value:,.0f}")
        for axis in (left, right):
            _over_spheres(axis, [one.n for one in grown])
        return style.save(fig, path)


def _over_spheres(axis: Any, numbers: list[int]) -> None:
    """The numbers that were measured are the ticks."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    axis.set(xscale="log", xlabel="spheres", xlim=span(numbers))
    axis.xaxis.set_major_locator(FixedLocator(sorted(set(numbers))))
    axis.xaxis.set_minor_locator(NullLocator())
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axis.grid(alpha=0.25, lw=0.5)
