"""``python -m benchmarks compile``: what the first run on a new machine waits for."""

from __future__ import annotations

import tempfile
from time import perf_counter
from typing import Annotated, Any

import typer
from numba.core import event

from benchmarks import options, tables
from benchmarks.processes import alone
from benchmarks.sampler import dispatchers, kernel_name
from drystone.errors import OptionError
from drystone.scenes.registry import SCENES, scene

GALLERY = (  # the first is the scene of ``drystone demo``
    "brazil-nut", "disks-21", "spheres", "rolling-ball", "pyramid", "mass-ratio", "wall", "arch",
    "dominoes", "incline", "billiard-three", "chain", "tippe-top", "rattleback",
)  # fmt: skip
STEPS = 5  # the first ones: contacts come and go
HEADS = ("process", "scene", "seconds", "compiling", "kernels", "slowest", "again")
PAGE = """# Compiling

Seconds to build a scene and take its first steps. Alone: a process from its start,
with an empty folder of kernels. In a row: one process, scene after scene, another
empty folder. Again: kernels that were compiled for other arguments before.
"""


def compiling(
    only: Annotated[
        list[str] | None,
        typer.Option("--only", help="This scene instead of the usual ones; several in order."),
    ] = None,
    output: options.Output = None,
) -> None:
    """Compile into an empty folder: the demo's first steps, then scene after scene.

    Scenes of kinds that came before compile nothing. "again" names kernels that were compiled for
    other arguments before.
    """
    for name in only or ():
        if name not in SCENES:
            raise OptionError(f"--only {name}: no scene of that name")
    folder = options.folder(output)
    rows = [cells(process, row) for process, row in measure(tuple(only or GALLERY))]
    tables.show(tables.table(HEADS, rows, right=HEADS[2:5]))
    if folder is not None:
        tables.write_page(folder / "compile.md", [PAGE, *tables.lines(HEADS, rows)])


def measure(scenes: tuple[str, ...]) -> list[tuple[str, dict[str, Any]]]:
    """Rows with the process they belong to: the first scene alone, all of them in a row, and all
    again with everything compiled; each begins with an empty or a full folder of kernels."""
    out = []
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        begin = perf_counter()
        (row,) = compiled(scenes[:1], first)
        row["seconds"] = perf_counter() - begin  # with the start of the process and all imports
        out.append(("alone", row))
        out += [("in a row", row) for row in compiled(scenes, second)]
        out += [("from the cache", row) for row in compiled(scenes, second)]
    return out


def compiled(scenes: tuple[str, ...], folder: str | None = None) -> list[dict[str, Any]]:
    """First steps of scenes in a process of its own, whose kernels are kept in `folder`, or where
    they always are."""
    environment = {} if folder is None else {"NUMBA_CACHE_DIR": folder}
    found: list[dict[str, Any]] = alone(first_steps, scenes, environment=environment)
    return found


def first_steps(scenes: list[str]) -> list[dict[str, Any]]:
    """What this process compiles for some scenes, in order, and the time it takes. new: kernels
    that no scene before needed, compiled or loaded; again: for other arguments than before."""
    watch, out = Watch(), []
    for name in scenes:
        before, known, begin = dict(watch.seconds), signatures(), perf_counter()
        simulation = scene(name).simulation()
        for _ in range(STEPS):
            simulation.step()
        took, now = perf_counter() - begin, signatures()
        fresh = {k: s for k, s in watch.seconds.items() if s != before.get(k)}
        out.append({
            "scene": name, "seconds": took, "compiling": sum(fresh.values()),
            "kernels": len(fresh), "new": sorted(now.keys() - known.keys()),
            "again": sorted(k for k, n in now.items() if k in known and n > known[k]),
            "slowest": sorted(fresh.items(), key=lambda item: -item[1])[:3],
        })  # fmt: skip
    return out


class Watch(event.Listener):
    """Listens to the compiler: seconds in each kernel, without those compiled for it."""

    def __init__(self) -> None:
        self.open: list[list[float]] = []
        self.seconds: dict[str, float] = {}
        event.register("numba:compile", self)

    def on_start(self, event: Any) -> None:
        self.open.append([perf_counter(), 0.0])

    def on_end(self, event: Any) -> None:
        begin, inner = self.open.pop()
        took = perf_counter() - begin
        if self.open:
            self.open[-1][1] += took
        name = kernel_name(event.data["dispatcher"])
        self.seconds[name] = self.seconds.get(name, 0.0) + took - inner


def signatures() -> dict[str, int]:
    """How many kinds of arguments each loaded kernel has been compiled or loaded for."""
    forms = {one: (one.code, one.entered, one.called) for one in dispatchers()}
    known = {
        one: len({args for form in made for args in form.known}) for one, made in forms.items()
    }
    return {kernel_name(one): count for one, count in known.items() if count}


def cells(process: str, row: dict[str, Any]) -> tuple[str, ...]:
    return (
        process,
        row["scene"],
        f"{row['seconds']:.2f}",
        f"{row['compiling']:.2f}",
        str(row["kernels"]),
        ", ".join(f"{name} {took:.1f}" for name, took in row["slowest"]),
        ", ".join(row["again"]),
    )
