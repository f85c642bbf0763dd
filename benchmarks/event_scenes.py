"""``python -m benchmarks event-scenes``: whole runs of the papers' scenes by events."""

from __future__ import annotations

import json
import signal
from collections import Counter
from time import process_time
from typing import Annotated, Any

import typer

import drystone as ds
from benchmarks import options, tables
from benchmarks.processes import alone
from drystone.cli.console import COUNT
from drystone.scenes.base import rough

SCENES = (
    "bricks", "dominoes:mu=0", "dominoes:n=3", "dominoes", "destructive-chain", "chain-pivot",
    "blocks-chain", "many-blocks-chain", "jack-stairs", "dice-lattice", "collapse",
    "double-action-jack", "block-feeder", "block-feeder:n=10",
)  # fmt: skip
HEAD = (
    "scene", "duration [s]", "frames", "steps", "events", "evaluations", "contacts", "depth [m]",
    "unexplained [J]", "largest kinetic [J]", "time [s]", "frames/s", "slowest frame [s]",
)  # fmt: skip


def run(name: str, limit: float) -> dict[str, Any]:
    """One scene from its start to its end, or until `limit` seconds have passed."""
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
            most["depth"] = max(most["depth"], report.penetration)
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


def cells(row: dict[str, Any]) -> tuple[object, ...]:
    events = ", ".join(f"{n} {kind}" for kind, n in sorted(row["kinds"].items()))
    reached = f"{row['time']:.4g} of {row['duration']:.4g}"
    if row["time"] >= row["duration"] - 1e-9:
        reached = f"{row['duration']:.4g}"
    elif row["error"]:
        reached += f" ({row['error']})"
    return (
        f"`{row['scene']}`", reached, row["frames"], row["steps"], events, row["evaluations"],
        row["contacts"], f"{row['depth']:.1e}", f"{row['unexplained']:.1e}",
        f"{row['kinetic']:.3g}", f"{row['seconds']:.1f}", f"{row['frames'] / row['seconds']:.0f}",
        f"{row['slowest']:.2f}",
    )  # fmt: skip


PAGE = """# Scenes by events

`python -m benchmarks event-scenes --output benchmarks/results`: one process a scene, one thread
each, one after the other; times are those of the process. Each run is made twice for its first
frames, so that kernels are there; the slowest frame says where one was not. By
`drystone.scenes.base.rough()`; stopped after {limit} s.
"""


def event_scenes(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Scenes, with settings: dominoes:mu=0,n=3. Default: the papers'."),
    ] = None,
    limit: Annotated[int, typer.Option(**COUNT, help="Seconds after which one is stopped.")] = 300,
    output: options.Output = None,
) -> None:
    """Whole runs of the papers' scenes by events: frames, events, depth, energy and time."""
    folder = options.folder(output)
    rows = []
    for name in names or SCENES:
        rows.append(cells(alone(run, name, limit, environment={"OPENBLAS_NUM_THREADS": "1"})))
        tables.tell(" | ".join(map(str, rows[-1])))
    table = tables.lines(HEAD, rows)
    tables.show("\n".join(table))
    if folder is not None:
        tables.write_page(folder / "event_scenes.md", [PAGE.format(limit=limit), *table])
