"""The one way in which times are taken here.

What is compared runs in the same process, one run of each in turn, and the fastest run of each
counts: what other processes took of the machine in one run is not there in another. Compiling is
not counted. On one thread the smaller of wall and CPU time is the run's own.
"""

from __future__ import annotations

import math
import resource
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from time import perf_counter, process_time, thread_time

import numpy as np

from drystone.cli.bench import one_thread as one_thread
from drystone.kernels._jit import compile_seconds


@dataclass(frozen=True)
class Took:
    """Seconds of a call: on the wall, of the calling thread, of all threads together."""

    wall: float
    thread: float
    process: float

    @property
    def seconds(self) -> float:
        return min(self.wall, self.process)

    def least(self, other: Took) -> Took:
        """The smaller of each."""
        return Took(
            min(self.wall, other.wall),
            min(self.thread, other.thread),
            min(self.process, other.process),
        )


def timed(call: Callable[[], object]) -> Took:
    """Run a call once."""
    compiled = compile_seconds()
    wall, thread, process = perf_counter(), thread_time(), process_time()
    call()
    took = perf_counter() - wall, thread_time() - thread, process_time() - process
    compiling = compile_seconds() - compiled
    return Took(*(max(0.0, one - compiling) for one in took))


def in_turn(
    calls: Mapping[str, Callable[[], Callable[[], object]]],
    *,
    repeats: int,
    enough: float = math.inf,
) -> dict[str, Took]:
    """The fastest run of each, one of each in turn.

    An entry makes ready what is timed and returns it. enough [s]: once all together took so long,
    they are not repeated.
    """
    out: dict[str, Took] = {}
    spent = 0.0
    for _ in range(repeats):
        for name, ready in calls.items():
            took = timed(ready())
            out[name] = took.least(out.get(name, took))
            spent += took.wall
        if spent > enough:
            break
    return out


def fastest(call: Callable[[], object], *, repeats: int, enough: float = math.inf) -> float:
    """Seconds of the fastest of several calls."""
    return in_turn({"": lambda: call}, repeats=repeats, enough=enough)[""].seconds


def peak_memory() -> int:
    """Greatest memory this process has held [bytes]."""
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def exponent(points: Iterable[tuple[float, float]]) -> float:
    """p of the best fit y = c x^p to points (x, y); nan for less than two."""
    known = [(x, y) for x, y in points if x > 0 and y > 0]
    if len(known) < 2:
        return math.nan
    x, y = np.log(np.array(known)).T
    return float(np.polyfit(x, y, 1)[0])
