"""Whole runs of the papers' scenes by events: `python benchmarks/event_scenes.py [SCENE ...]`.

Writes benchmarks/results/event_scenes.md. One process a scene, one thread each, one after the
other; times are those of the process. Each run is made twice for its first frames, so that kernels
are there; the slowest frame says where one was not. Runs beyond a limit are stopped, and the table
says where. A scene may be given settings: `dominoes:mu=0`.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from time import perf_counter, process_time

SCENES = (
    "bricks", "dominoes:mu=0", "dominoes:n=3", "dominoes", "destructive-chain", "chain-pivot",
    "blocks-chain", "many-blocks-chain", "jack-stairs", "dice-lattice", "collapse",
    "double-action-jack", "block-feeder", "block-feeder:n=10",
)  # fmt: skip
HEAD = (
    "scene", "duration [s]", "frames", "steps", "events", "evaluations", "contacts", "depth [m]",
    "unexplained [J]", "largest kinetic [J]", "time [s]", "frames/s", "slowest frame [s]",
)  # fmt: skip
RESULTS = Path(__file__).parent / "results" / "event_scenes.md"


def run(name: str, limit: float) -> dict[str, object]:
    """One scene from its start to its end, or until `limit` seconds have passed."""
    import drystone as ds
    from drystone.scenes.base import rough

    plain, _, rest = name.partition(":")
    settings = dict(word.split("=") for word in rest.split(",") if word)
    scene = ds.scene(plain, **{key: json.loads(value) for key, value in settings.items()})
    warm = scene.simulation(rough())
    while warm.time < 0.2 * scene.duration and process_time() < 0.2 * limit:
        warm.step()  # compiles, or loads, kernels
    sim = scene.simulation(rough())
    kinds: Counter[str] = Counter()
    total: Counter[str] = Counter()
    most: dict[str, float] = {"contacts": 0, "depth": 0.0, "kinetic": 0.0, "worst": 0.0}
    slow, unexplained, why = 0.0, 0.0, ""
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(int(limit))
    begin = process_time()
    try:
        while sim.time < scene.duration - 1e-9 and process_time() - begin < limit:
            before = process_time()
            report = sim.step()
            slow = max(slow, process_time() - before)
            total.update(frames=1, steps=report.outer, evaluations=report.evaluations)
            kinds.update(event.kind for event in report.events)
            unexplained += report.energy.unexplained
            most["contacts"] = max(most["contacts"], report.contacts)
            most["depth"] = max(most["depth"], report.infeasibility)
            most["kinetic"] = max(most["kinetic"], report.energy.kinetic)
    except (ds.DrystoneError, TimeoutError) as error:
        why = str(error)
    seconds = process_time() - begin
    return {
        "scene": name, "time": sim.time, "duration": scene.duration, **total, **most,
        "unexplained": unexplained, "seconds": seconds, "slowest": slow, "kinds": dict(kinds),
        "error": why,
    }  # fmt: skip


def _too_long(*_: object) -> None:
    raise TimeoutError("stopped")


def line(row: dict[str, object]) -> str:
    events = ", ".join(f"{n} {kind}" for kind, n in sorted(row["kinds"].items()))
    reached = f"{row['time']:.4g} of {row['duration']:.4g}"
    if row["time"] >= row["duration"] - 1e-9:
        reached = f"{row['duration']:.4g}"
    elif row["error"]:
        reached += f" ({row['error']})"
    cells = (
        f"`{row['scene']}`", reached, row["frames"], row["steps"], events, row["evaluations"],
        row["contacts"], f"{row['depth']:.1e}", f"{row['unexplained']:.1e}",
        f"{row['kinetic']:.3g}", f"{row['seconds']:.1f}", f"{row['frames'] / row['seconds']:.0f}",
        f"{row['slowest']:.2f}",
    )  # fmt: skip
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def main(names: list[str], limit: float = 300.0) -> None:
    env = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": "."}
    begin = perf_counter()
    rows = []
    for name in names:
        done = subprocess.run(
            [sys.executable, __file__, "--one", name, str(limit)],
            env=env, capture_output=True, text=True, check=True,
        )  # fmt: skip
        rows.append(json.loads(done.stdout.splitlines()[-1]))
        sys.stderr.write(line(rows[-1]) + "\n")
    head = "| " + " | ".join(HEAD) + " |\n|" + "---|" * len(HEAD)
    text = "\n".join(line(row) for row in rows)
    sys.stdout.write(f"{head}\n{text}\n\n{len(rows)} runs in {perf_counter() - begin:.0f} s\n")
    if len(names) == len(SCENES):
        intro = f"{__doc__}\nBy `drystone.scenes.base.rough()`; stopped after {limit:g} s."
        RESULTS.write_text(f"# Scenes by events\n\n{intro}\n\n{head}\n{text}\n")


if __name__ == "__main__":
    if "--one" in sys.argv:
        sys.stdout.write(json.dumps(run(sys.argv[2], float(sys.argv[3]))) + "\n")
    else:
        main(sys.argv[1:] or list(SCENES))
