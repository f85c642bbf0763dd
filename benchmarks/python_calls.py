"""``python -m benchmarks python-calls``: what a program in Python feels."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

import drystone as ds
from benchmarks import options, python_calls_worker, tables

HERE = Path(__file__).resolve().parent
ABOUT = (
    "`python -m benchmarks python-calls`: medians of CPU time in microseconds a call (of runs: a",
    "step). *Before* is the checkout given as `--beside`; each measurement is made in turn in a",
    "process of either, and the ratio is the median of those of neighbouring measurements.",
)


class Worker:
    """A process with a checkout of the package."""

    def __init__(self, place: Path) -> None:
        env = {**os.environ, "PYTHONPATH": str(place), "NUMBA_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "python_calls_worker.py")], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, env=env, cwd=place,
        )  # fmt: skip

    def measure(self, name: str) -> float | None:
        """Microseconds of a call; None if this version does not have it."""
        pipes = self.process.stdin, self.process.stdout
        if pipes[0] is None or pipes[1] is None:
            return None
        print(json.dumps(name), file=pipes[0], flush=True)
        found: float | None = json.loads(pipes[1].readline())
        return found

    def end(self) -> None:
        self.process.communicate()


def compare(name: str, here: Worker, there: Worker | None, rounds: int) -> dict[str, str]:
    """The row of a call."""
    now: list[float] = []
    was: list[float] = []
    ratio: list[float] = []
    for k in range(rounds):
        before = there.measure(name) if there is not None and k % 2 else None
        after = here.measure(name)
        if there is not None and not k % 2:
            before = there.measure(name)
        if after is not None:
            now.append(after)
        if after is not None and before is not None:
            was.append(before)
            ratio.append(after / before)
    shown = [f"{statistics.median(x):.2f}" if x else "" for x in (was, now, ratio)]
    columns = dict(zip(("before [us]", "now [us]", "ratio"), shown, strict=True))
    if there is None:
        columns = {"now [us]": shown[1]}
    return {"call": name} | columns


def python_calls(
    beside: Annotated[
        Path | None, typer.Option(help="Another checkout of the package, measured in turn.")
    ] = None,
    rounds: Annotated[int, typer.Option(help="Measurements of each call.")] = 21,
    only: Annotated[
        str, typer.Option(help="Calls that have one of these words, with commas.")
    ] = "",
    output: options.Output = None,
) -> None:
    """Steps, readings and snapshots from Python, and short runs.

    Each figure is the median of many measurements of CPU time, in microseconds a call. With another
    checkout beside this one, each measurement is made in turn in a process of either, and the ratio
    is the median of ratios of two that follow each other: what the machine does meanwhile concerns
    both. Figures are of speed alone; tests hold the answers.
    """
    words = [word.strip() for word in only.split(",") if word.strip()]
    names = [
        name for name in python_calls_worker.cases(ds)
        if not words or any(word in name for word in words)
    ]  # fmt: skip
    here = Worker(HERE.parent)
    there = None if beside is None else Worker(beside.resolve())
    rows = []
    for name in names:
        rows.append(compare(name, here, there, rounds))
        tables.tell(tables.row_text(rows[-1]))
    for worker in (here, there):
        if worker is not None:
            worker.end()
    heads = list(rows[0]) if rows else []
    cells = [list(row.values()) for row in rows]
    tables.show(tables.table(heads, cells, right=heads[1:]))
    folder = options.folder(output)
    if folder is not None:
        page = ["# Calls from Python", "", *ABOUT, "", *tables.lines(heads, cells)]
        tables.write_page(folder / "python_calls.md", page)
