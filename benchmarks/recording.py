"""``python -m benchmarks recording``: runs with and without recording, in turn."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import options, tables
from benchmarks.clock import Took, in_turn, timed
from drystone.recording.reader import read_recording
from drystone.scenes.registry import scene

CASES: tuple[tuple[str, dict[str, Any], float], ...] = (
    ("brazil-nut", {}, 75.0),
    ("spheres", {"n": 1000}, 2.0),
)
HEADS = (
    "scene", "simulated", "wall: without, with", "busy: without, with", "cost: wall, busy, all",
    "frames", "file", "to open and read all states",
)  # fmt: skip
PAGE = """# Cost of recording

Runs without and with `record=`, in turn, the fastest of each, at the default rate of
frames, with all contacts; made by `python -m benchmarks recording`. Busy: processor time
of the thread that simulates; all: with the writer, which has another core if there is
one. {cores} cores; processes that wanted one when it began: {load:.1f} on the mean of a minute.
"""


def recording(
    shorter: options.Shorter = 1.0, repeats: options.Repeats = 9, output: options.Output = None
) -> None:
    """What recording costs: runs with and without it, in turn, and the share of time it adds.

    On the wall, by the processor time of the thread that simulates, and by that of all threads
    together, which is what recording costs where there is no other core for the writer.
    """
    folder, factor = options.folder(output), options.shortened(shorter)
    text = PAGE.format(cores=os.cpu_count(), load=os.getloadavg()[0])
    with tempfile.TemporaryDirectory() as place:
        rows = [
            measure(name, settings, factor * duration, repeats, Path(place) / f"{name}.h5")
            for name, settings, duration in CASES
        ]
    tables.show(tables.table(HEADS, rows))
    if folder is not None:
        tables.write_page(folder / "recording.md", [text, *tables.lines(HEADS, rows)])


def measure(
    name: str, settings: dict[str, Any], duration: float, repeats: int, path: Path
) -> tuple[str, ...]:
    """A row of the table."""

    def ready(record: Path | None) -> Callable[[], object]:
        sim = scene(name, **settings).simulation()
        sim.run(2 * sim.method.dt)  # kernels are loaded
        if record is not None:
            record.unlink(missing_ok=True)  # to free the blocks of a file takes time, too
        return partial(sim.run, duration, record=False if record is None else record)

    turns = {"plain": partial(ready, None), "recorded": partial(ready, path)}
    took = in_turn(turns, repeats=repeats)
    plain, recorded = took["plain"], took["recorded"]
    frames: list[int] = []

    def read() -> None:
        with read_recording(path) as kept:
            frames.append(len(kept.position))

    reading = timed(read).wall
    return (
        name + "".join(f" {key}={value}" for key, value in settings.items()),
        f"{duration:g} s",
        f"{plain.wall:.2f} s, {recorded.wall:.2f} s",
        f"{plain.thread:.2f} s, {recorded.thread:.2f} s",
        ", ".join(f"{100 * share:.1f} %" for share in _added(plain, recorded)),
        str(frames[0]),
        f"{path.stat().st_size / 1e6:.0f} MB",
        f"{reading:.2f} s",
    )


def _added(plain: Took, recorded: Took) -> tuple[float, ...]:
    return (
        recorded.wall / plain.wall - 1,
        recorded.thread / plain.thread - 1,
        recorded.process / plain.process - 1,
    )
