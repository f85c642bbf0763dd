"""What recording costs: runs with and without it, in turn, and the share of time it adds.

    python benchmarks/recording_cost.py          # writes results/recording.md

Compiling is done before. Runs with and without take turns; the fastest of each are compared: on
the wall, by the processor time of the thread that simulates, and by that of all threads together,
which is what recording costs where there is no other core for the writer.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from drystone.recording.reader import read_recording
from drystone.scenes import scene

CASES = (("brazil-nut", {}, 75.0), ("spheres", {"n": 1000}, 2.0))
REPEATS = 9
RESULTS = Path(__file__).parent / "results" / "recording.md"
CLOCKS = (time.perf_counter, time.thread_time, time.process_time)  # wall, busy, all


def seconds(
    name: str, settings: dict[str, int], duration: float, path: Path | None
) -> tuple[float, ...]:
    """By each of CLOCKS."""
    sim = scene(name, **settings).simulation()
    sim.run(2 * sim.method.dt)  # kernels are loaded
    if path is None:
        begin = [clock() for clock in CLOCKS]
        sim.run(duration)
    else:
        path.unlink(missing_ok=True)  # to free the blocks of a file takes time, too
        begin = [clock() for clock in CLOCKS]
        sim.run(duration, record=path)
    return tuple(clock() - at for clock, at in zip(CLOCKS, begin, strict=True))


def measure() -> list[str]:
    lines = [
        "# Cost of recording",
        "",
        "Runs without and with `record=`, in turn, the fastest of each, at the default rate of",
        "frames, with all contacts; made by `benchmarks/recording_cost.py`. Busy: processor time",
        "of the thread that simulates; all: with the writer, which has another core if there is",
        f"one. {os.cpu_count()} cores; processes that wanted one when it began:",
        f"{os.getloadavg()[0]:.1f} on the mean of a minute.",
        "",
        "| scene | simulated | wall: without, with | busy: without, with | cost: wall, busy, all | "
        "frames | file | to open and read all states |",
        "|---|---|---|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as folder:
        for name, settings, duration in CASES:
            path = Path(folder) / f"{name}.h5"
            plain, recorded = [], []
            for _ in range(REPEATS):
                plain.append(seconds(name, settings, duration, None))
                recorded.append(seconds(name, settings, duration, path))
            clocks = [(min(x[k] for x in plain), min(x[k] for x in recorded)) for k in range(3)]
            cost = [f"{100 * (b / a - 1):.1f} %" for a, b in clocks]
            begin = time.perf_counter()
            with read_recording(path) as rec:
                frames = len(rec.position)
            read = time.perf_counter() - begin
            label = name + "".join(f" {key}={value}" for key, value in settings.items())
            (wall, recorded_wall), (busy, recorded_busy) = clocks[:2]
            lines.append(
                f"| {label} | {duration:g} s | {wall:.2f} s, {recorded_wall:.2f} s | "
                f"{busy:.2f} s, {recorded_busy:.2f} s | {', '.join(cost)} | {frames} | "
                f"{os.path.getsize(path) / 1e6:.0f} MB | {read:.2f} s |"
            )
            print(lines[-1], flush=True)
    return lines


if __name__ == "__main__":
    RESULTS.write_text("\n".join(measure()) + "\n")
