"""What a process compiles for some scenes, in order: run by ``drystone bench compile``.

    python -m drystone.cli.bench_compile_worker SCENE...

One JSON object a line: for each scene the kernels that were compiled or loaded, and the time.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from numba.core import event

from drystone.cli.bench_scenes_profile import kernel_name
from drystone.cli.native_sampler import dispatchers
from drystone.scenes.registry import scene

STEPS = 5  # the first ones: contacts come and go


class Watch(event.Listener):
    """Listens to the compiler: seconds in each kernel, without those compiled for it."""

    def __init__(self) -> None:
        self.open: list[list[float]] = []
        self.seconds: dict[str, float] = {}
        event.register("numba:compile", self)

    def on_start(self, event: Any) -> None:
        self.open.append([time.perf_counter(), 0.0])

    def on_end(self, event: Any) -> None:
        begin, inner = self.open.pop()
        took = time.perf_counter() - begin
        if self.open:
            self.open[-1][1] += took
        name = kernel_name(event.data["dispatcher"])
        self.seconds[name] = self.seconds.get(name, 0.0) + took - inner


def signatures() -> dict[str, int]:
    """How many kinds of arguments each loaded kernel has been compiled or loaded for."""
    return {kernel_name(one): len(one.overloads) for one in dispatchers() if one.overloads}


def first_steps(name: str, **settings: Any) -> None:
    """Build a scene and take its first steps."""
    simulation = scene(name, **settings).simulation()
    for _ in range(STEPS):
        simulation.step()


def main(scenes: list[str]) -> None:
    watch = Watch()
    for name in scenes:
        before, begin = dict(watch.seconds), time.perf_counter()
        known = signatures()
        first_steps(name)
        took = time.perf_counter() - begin
        now = signatures()
        fresh = {k: s for k, s in watch.seconds.items() if s != before.get(k)}
        again = sorted(k for k, n in now.items() if k in known and n > known[k])
        line = {
            "scene": name, "seconds": took, "compiling": sum(fresh.values()),
            "kernels": len(fresh), "new": sorted(now.keys() - known.keys()), "again": again,
            "slowest": sorted(fresh.items(), key=lambda item: -item[1])[:5],
        }  # fmt: skip
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
