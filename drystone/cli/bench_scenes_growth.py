"""How a step grows with the number of bodies: settled spheres, time and memory."""

from __future__ import annotations

import csv
import gc
import math
import os
import resource
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from drystone.cli.tally import Tally
from drystone.kernels._jit import compile_seconds
from drystone.model import State
from drystone.scenes.base import Scene
from drystone.scenes.registry import scene as build
from drystone.steppers.time_stepping.threads import count_threads

LAYERS = 10  # of a wide heap
DEEP = 20_000  # spheres at most in a heap as high as wide: higher ones take an hour to settle


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


def peak_memory() -> int:
    """Greatest memory this process has held [bytes]."""
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def growth(
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
        compiled, begin = compile_seconds(), perf_counter()
        report = simulation.step()
        if 4 * k >= 3 * steps:
            times.append(perf_counter() - begin - (compile_seconds() - compiled))
            tally.add(report)
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


def exponent(rows: list[Growth]) -> float:
    """p of the best fit step = c n^p; n log n would be about 1.11 from 10^3 to 10^5."""
    if len(rows) < 2:
        return math.nan
    slope, _ = np.polyfit(np.log([r.n for r in rows]), np.log([r.step for r in rows]), 1)
    return float(slope)


def write_csv(rows: list[Growth], path: Path) -> None:
    """One line for each number of spheres, with the seconds of a step by stage."""
    parts = tuple(dict.fromkeys(name for row in rows for name in row.stages))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        stages = (f"{name}_s" for name in parts)
        writer.writerow(
            ("spheres", "deep", "contacts", "step_s", "per_body_s", "threads", "shared_s",
             "iterations", "before_bytes", "peak_bytes", *stages)
        )  # fmt: skip
        for row in rows:
            times = (f"{row.stages.get(name, 0.0):.6g}" for name in parts)
            writer.writerow(
                (row.n, int(row.deep), row.contacts, f"{row.step:.6g}", f"{row.per_body:.6g}",
                 row.threads, f"{row.shared:.6g}", f"{row.iterations:.6g}", row.before,
                 row.peak, *times)
            )  # fmt: skip
