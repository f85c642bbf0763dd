"""Options that several benchmarks have, and what they refuse."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from drystone.cli.console import COUNT, NUMBER, make_folder
from drystone.errors import OptionError

Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Folder for CSV, Markdown and PNG; without it: printed."),
]
Shorter = Annotated[
    float, typer.Option(**NUMBER, help="Factor on all durations, for a quick look.")
]
Repeats = Annotated[int, typer.Option(**COUNT, help="Runs of each; the fastest counts.")]
Sizes = Annotated[str, typer.Option("--sizes", help="Whole numbers, with commas: 100,1e3,10000.")]


def folder(output: Path | None) -> Path | None:
    """The folder, made if it is not there."""
    if output is not None:
        make_folder("--output", output)
    return output


def shortened(shorter: float) -> float:
    if not 0 < shorter <= 1:
        raise OptionError(f"--shorter {shorter:g}: expected a number above 0, up to 1")
    return shorter


def numbers(text: str) -> tuple[int, ...]:
    """The numbers of --sizes, ascending."""
    try:
        out = tuple(sorted(int(float(part)) for part in text.split(",")))
    except (ValueError, OverflowError):
        out = ()
    if not out or out[0] < 1:
        raise OptionError(f"--sizes {text}: expected numbers such as 1000,10000,100000")
    return out
