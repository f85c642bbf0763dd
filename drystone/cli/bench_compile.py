"""``drystone bench compile``: what the first run on a new machine waits for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from drystone.cli.words import PIPED_WIDTH, make_folder, mistakes
from drystone.errors import OptionError, SimulationError

GALLERY = (  # the first is the scene of ``drystone demo``
    "brazil-nut", "disks-21", "spheres", "rolling-ball", "pyramid", "mass-ratio", "wall", "arch",
    "dominoes", "incline", "billiard-three", "chain", "tippe-top", "rattleback",
)  # fmt: skip


def compiling(
    only: Annotated[
        list[str] | None,
        typer.Option("--only", help="This scene instead of the usual ones; several in order."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for compile.md.")
    ] = None,
    debug: Annotated[bool, typer.Option(help="Show the traceback of an error.")] = False,
) -> None:
    """Compile into an empty folder: the demo's first steps, then scene after scene.

    Scenes of kinds that came before compile nothing. "again" names kernels that were compiled for
    other arguments before.
    """
    with mistakes(debug):
        from drystone.scenes.registry import SCENES

        for name in only or ():
            if name not in SCENES:
                raise OptionError(f"--only {name}: no scene of that name")
        if output is not None:
            make_folder("--output", output)
        report(measure(tuple(only or GALLERY)), output)


def measure(scenes: tuple[str, ...]) -> list[tuple[str, dict[str, Any]]]:
    """Rows with the process they belong to: the first scene alone, all of them in a row, and all
    again with everything compiled; each begins with an empty or a full folder of kernels."""
    out = []
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        out += [("alone", row) for row in worker(scenes[:1], first)]
        out += [("in a row", row) for row in worker(scenes, second)]
        out += [("from the cache", row) for row in worker(scenes, second)]
    return out


def worker(scenes: tuple[str, ...], folder: str | None = None) -> list[dict[str, Any]]:
    """First steps of scenes in a process of its own, whose kernels are kept in `folder`, or where
    they always are. "new": kernels that no scene before it needed."""
    command = [sys.executable, "-m", "drystone.cli.bench_compile_worker", *scenes]
    begin = perf_counter()
    environment = dict(os.environ) | {"DRYSTONE_QUIET": "1"}
    if folder is not None:
        environment["NUMBA_CACHE_DIR"] = folder
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise SimulationError(f"compiling {', '.join(scenes)} failed: {last}")
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if len(rows) == 1:  # with the start of the process and all imports
        rows[0]["seconds"] = perf_counter() - begin
    return rows


HEADS = ("process", "scene", "seconds", "compiling", "kernels", "slowest", "again")


def cells(process: str, row: dict[str, Any]) -> tuple[str, ...]:
    slowest = ", ".join(f"{name} {took:.1f}" for name, took in row["slowest"][:3])
    return (
        process,
        row["scene"],
        f"{row['seconds']:.2f}",
        f"{row['compiling']:.2f}",
        str(row["kernels"]),
        slowest,
        ", ".join(row["again"]),
    )


def report(rows: list[tuple[str, dict[str, Any]]], output: Path | None) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in HEADS:
        table.add_column(name, justify="right" if name in HEADS[2:5] else "left")
    for process, row in rows:
        table.add_row(*cells(process, row))
    console = Console()
    if not console.is_terminal:
        console.width = PIPED_WIDTH
    console.print(table)
    if output is not None:
        lines = [
            "# Compiling",
            "",
            "Seconds to build a scene and take its first steps. Alone: a process from its start,",
            "with an empty folder of kernels. In a row: one process, scene after scene, another",
            "empty folder. Again: kernels that were compiled for other arguments before.",
            "",
            f"| {' | '.join(HEADS)} |",
            "|" + "---|" * len(HEADS),
            *(f"| {' | '.join(cells(process, row))} |" for process, row in rows),
        ]
        (output / "compile.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
