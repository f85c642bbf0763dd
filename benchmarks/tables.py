"""The one way in which figures are printed and kept: CSV for programs, Markdown for people."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from drystone.cli.console import PIPED_WIDTH, complain

RESULTS = Path(__file__).parent / "results"  # kept in the repository
Row = Mapping[str, Any]


def write_csv(path: Path, rows: Iterable[Row]) -> None:
    """A line for each row; columns in the order in which they come up."""
    known = [dict(row) for row in rows]
    heads = list(dict.fromkeys(name for row in known for name in row))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, heads, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: _cell(value) for name, value in row.items()} for row in known)


def _cell(value: object) -> object:
    """Six digits; nothing for what is not known."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return f"{value:.6g}" if isinstance(value, float) else value


def read_csv(path: Path) -> list[dict[str, str]]:
    """The rows of a file, nothing if there is none."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def lines(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """A table in Markdown."""
    return [
        f"| {' | '.join(heads)} |",
        "|" + "---|" * len(heads),
        *(f"| {' | '.join(str(cell) for cell in row)} |" for row in rows),
    ]


def table(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    title: str | None = None,
    right: Iterable[str] = (),
) -> Table:
    """The same for a terminal. right: heads of columns of numbers."""
    out = Table(title=title, box=None, header_style="bold", pad_edge=False, title_justify="left")
    numbers = set(right)
    for name in heads:
        out.add_column(name, justify="right" if name in numbers else "left")
    for row in rows:
        out.add_row(*row)
    return out


def show(*parts: object) -> None:
    """Print tables and text, each followed by an empty line where more comes."""
    console = Console()
    if not console.is_terminal:
        console.width = PIPED_WIDTH
    for k, part in enumerate(parts):
        if k:
            console.print()
        if isinstance(part, str):
            console.print(part, markup=False, highlight=False, soft_wrap=True)
        else:
            console.print(part)


def write_page(path: Path, text: Iterable[str]) -> None:
    """A page of Markdown from its lines."""
    path.write_text("\n".join(text).rstrip("\n") + "\n", encoding="utf-8")


def row_text(row: Row) -> str:
    """A row on one line, as printed while a benchmark runs."""
    return " ".join(f"{name}={_cell(value)}" for name, value in row.items())


def tell(line: str) -> None:
    """Say on standard error how far a benchmark is."""
    complain(line)
