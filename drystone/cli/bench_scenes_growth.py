"""How a step grows with the number of bodies: settled spheres, time and memory."""

from __future__ import annotations

import math
import resource
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from drystone.cli.tally import Tally
from drystone.kernels._jit import compile_seconds
from drystone.scenes.registry import scene as build


@dataclass(frozen=True)
class Growth:
    """Cost of a step of n settled spheres [s], with their contacts.

    iterations: of the solver, in a step; stages [s] of a step; before, peak: greatest memory of
    the process until the world was built, and in all [bytes].
    """

    n: int
    step: float
    contacts: int
    stages: dict[str, float]
    iterations: float = math.nan
    before: int = 0
    peak: int = 0

    @property
    def per_body(self) -> float:
        return self.step / self.n

    @property
    def memory(self) -> float:
        """Bytes a sphere."""
        return (self.peak - self.before) / self.n


def peak_memory() -> int:
    """Greatest memory this process has held [bytes]."""
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def growth(
    sizes: tuple[int, ...] = (1000, 10000, 100000),
    *,
    settle: float = 2.0,
    steps: int = 48,
    tell: Callable[[str], Any] = lambda text: None,
) -> Iterator[Growth]:
    """Spheres that have come to rest in a box: seconds a step, for several numbers of them.

    They settle in steps four times as long, for `settle` seconds and longer in a higher heap (by
    the square root of its height); the clock runs over the last half of `steps`. Sizes ascend, so
    that the greatest memory so far is that of the last one.
    """
    for n in sorted(sizes):
        tell(f"{n} spheres settle")
        before = peak_memory()
        scene = build("spheres", n=n)
        rough = scene.simulation(dt=4.0 * scene.method.dt)
        rough.run(settle * max(1.0, n / 1000) ** (1 / 6))
        simulation = scene.simulation()
        simulation.state = rough.state
        tell(f"{n} spheres, measured")
        times, tally = [], Tally()
        for k in range(steps):
            compiled, begin = compile_seconds(), perf_counter()
            report = simulation.step()
            if 2 * k >= steps:
                times.append(perf_counter() - begin - (compile_seconds() - compiled))
                tally.add(report)
        stages = {name: seconds / len(times) for name, seconds in tally.seconds.items()}
        per_step = tally.iterations / tally.steps
        median = float(np.median(times))
        yield Growth(n, median, tally.contacts, stages, per_step, before, peak_memory())


def exponent(rows: list[Growth]) -> float:
    """p of the best fit step = c n^p; n log n would be about 1.11 from 10^3 to 10^5."""
    if len(rows) < 2:
        return math.nan
    slope, _ = np.polyfit(np.log([r.n for r in rows]), np.log([r.step for r in rows]), 1)
    return float(slope)
