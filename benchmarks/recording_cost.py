"""What recording costs: runs with and without it, in turn, and the share of time it adds.

    python benchmarks/recording_cost.py          # writes results/recording.md

Compiling is done before. Runs with and without take turns; the fastest of each are compared, on
the wall and by the processor time of the thread that simulates (the writer has another core).
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from drystone.recording.reader import read_recording
from drystone.scenes import scene

CASES = (("brazil-nut", {}, 75.0), ("spheres", {"n": 1000}, 2.0))
REPEATS = 8
RESULTS = Path(__file__).parent / "results" / "recording.md"


def seconds(
    name: str, settings: dict[str, int], duration: float, path: Path | None
) -> tuple[float, float]:
    """Wall time, and processor time of this thread."""
    sim = scene(name, **settings).simulation()
    sim.run(2 * sim.method.dt)  # kernels are loaded
    begin, busy = time.perf_counter(), time.thread_time()
    if path is None:
        sim.run(duration)
    else:
        sim.run(duration, record=path)
    return time.perf_counter() - begin, time.thread_time() - busy


def measure() -> list[str]:
    lines = [
        "# Cost of recording",
        "",
        "Runs without and with `record=`, in turn, the fastest of each, at the default rate of",
        "frames, with all contacts; made by `benchmarks/recording_cost.py`. Busy: processor time",
        "of the thread that simulates; the writer needs another core.",
        "",
        "| scene | simulated | wall: without, with | busy: without, with | cost: wall, busy | "
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
            wall, busy = ((min(x[k] for x in plain), min(x[k] for x in recorded)) for k in (0, 1))
            cost = [f"{100 * (b / a - 1):.1f} %" for a, b in (wall, busy)]
            begin = time.perf_counter()
            with read_recording(path) as rec:
                frames = len(rec.position)
            read = time.perf_counter() - begin
            label = name + "".join(f" {key}={value}" for key, value in settings.items())
            lines.append(
                f"| {label} | {duration:g} s | {wall[0]:.2f} s, {wall[1]:.2f} s | {busy[0]:.2f} s, "
                f"{busy[1]:.2f} s | {', '.join(cost)} | {frames} | "
                f"{os.path.getsize(path) / 1e6:.0f} MB | {read:.2f} s |"
            )
            print(lines[-1], flush=True)
    return lines


if __name__ == "__main__":
    RESULTS.write_text("\n".join(measure()) + "\n")
