"""``drystone compare``: one scene by several methods: a table, figures, a page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from drystone.cli.console import (
    DURATION,
    EXIT_FAILED,
    NUMBER,
    busy,
    check_seconds,
    command,
    make_console,
    make_folder,
    make_table,
    plain,
    say,
    say_json,
    warnings_in_table,
)
from drystone.cli.console import duration as seconds_text
from drystone.cli.inputs import SCENE, SETTINGS, read_scene, read_settings
from drystone.escaping import for_cell

if TYPE_CHECKING:
    from drystone.comparison.compare import Comparison
    from drystone.comparison.measures import Row


METHODS = Annotated[
    list[str] | None,
    typer.Option(
        "--with",
        "-w",
        help="METHOD[:WORD,KEY=VALUE,...]; may be given several times.",
        metavar="METHOD",
    ),
]
REFERENCE = Annotated[
    str | None,
    typer.Option(
        help="Reference for errors; the most accurate method by default.", metavar="METHOD"
    ),
]
LIMIT = Annotated[float, typer.Option(**NUMBER, help="Wall-time limit per method [s].")]
OUTPUT = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="Folder for comparison.png, states.png, table.csv, page.html.",
    ),
]
AS_JSON = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@command
def compare(
    scene: SCENE,
    methods: METHODS = None,
    duration: DURATION = None,
    settings: SETTINGS = None,
    reference: REFERENCE = None,
    limit: LIMIT = 60.0,
    output: OUTPUT = None,
    as_json: AS_JSON = False,
) -> None:
    """Run one scene by several methods and compare the runs.

    METHOD is time-stepping, event-driven, penalty, or own (the scene's), followed by a colon and
    options separated by commas: time-stepping:convex, event-driven:lemke,
    time-stepping:dt=1/480,solver=nsgs. Without --with, a few suitable methods are compared.
    A method that fails has a row that says why.

    Examples:

      drystone compare ellipse-drop -o ellipse/

      drystone compare arch --with time-stepping:coulomb --with time-stepping:convex
    """
    from drystone.comparison.compare import compare as run

    check_seconds("--limit", limit)
    check_seconds("--duration", duration)
    if output is not None:
        make_folder("--output", output)
    chosen = read_scene(scene, read_settings(settings))
    with warnings_in_table():
        found = run(
            chosen, methods or None, duration=duration, reference=reference, limit=limit,
            contacts=output is not None, progress=None if as_json else _progress(),
        )  # fmt: skip
    with busy("drawing"):
        written = [] if output is None else write(found, output)
    if as_json:
        out = found.as_json() | {"files": [str(path) for path in written]}
        say_json(out)
    else:
        print_table(found)
        for path in written:
            say(f"wrote {path}")
    if not found.runs:
        raise typer.Exit(EXIT_FAILED)


def _progress() -> Any:
    """Names each method on the terminal's last line while it runs."""
    from rich.console import Console

    console = Console(stderr=True)
    return (
        (lambda label: console.print(f"{plain(label)} ...", style="dim"))
        if console.is_terminal
        else None
    )


def write(found: Comparison, folder: Path) -> list[Path]:
    """Figures, the table, and a page that replays all runs side by side."""
    written = [folder / "table.csv"]
    _write_csv(found, written[0])
    if found.runs:
        found.plot(folder / "comparison.png")
        found.plot_states(folder / "states.png")
        written += [folder / "comparison.png", folder / "states.png"]
        from drystone.view.export_html import write_html

        page = folder / "page.html"
        write_html(list(found.runs.values()), page, title=found.title, labels=list(found.runs))
        written.append(page)
    return written


def _write_csv(found: Comparison, path: Path) -> None:
    import csv
    from dataclasses import asdict, fields

    from drystone.comparison.measures import Row

    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, [item.name for item in fields(Row)])
        table.writeheader()
        for row in found.rows:
            table.writerow({name: for_cell(value) for name, value in asdict(row).items()})


def print_table(found: Comparison) -> None:
    """The rows for people; what failed, below, with its reason."""
    from rich.markup import escape

    console = make_console()
    console.print(f"[bold]{plain(found.title)}[/], {found.duration:g} s")
    rows = [[row.method, *_cells(row)] for row in found.rows]
    shown, left = _fitting(rows, console.width)
    table = make_table()
    for k in shown:
        name = ("method", *HEADS)[k]
        table.add_column(escape(_heading(name)), justify="right" if k else "left", no_wrap=True)
    for cells in rows:
        table.add_row(*(plain(cells[k]) for k in shown))
    console.print(table)
    if left:
        console.print(f"no room for {', '.join(left)}: see --json or -o", style="dim")
    for row in found.rows:
        if row.failed:
            console.print(f"[yellow]{plain(row.method)}[/]: {plain(row.failed)}")
        run = found.runs.get(row.method)
        if run is not None and not run.summary.ok:
            console.print(f"[yellow]{plain(row.method)}[/]: {plain(str(run.summary))}")


HEADS = (
    "wall",
    "steps",
    "error [m]",
    "energy [J]",
    "energy error [J]",
    "energy gain [J]",
    "penetration [m]",
    "residual",
    "unsolved",
)
FIRST_TO_GO = (  # where a terminal is narrow
    "energy gain [J]",
    "unsolved",
    "energy [J]",
    "steps",
    "energy error [J]",
    "residual",
    "penetration [m]",
)


def _heading(name: str) -> str:
    """The head of a column, with the unit below."""
    return name.replace(" [", "\n[")


def _fitting(rows: list[list[str]], width: int) -> tuple[list[int], list[str]]:
    """Numbers of the columns that fit into a terminal, and names of those that had to go."""
    heads = ("method", *HEADS)
    wide = [
        max(len(text) for text in (*_heading(name).split("\n"), *(cells[k] for cells in rows))) + 2
        for k, name in enumerate(heads)
    ]
    shown, left = list(range(len(heads))), []
    for name in FIRST_TO_GO:
        if sum(wide[k] for k in shown) - 2 <= width:
            break
        shown.remove(heads.index(name))
        left.append(name)
    return shown, [name for name in heads if name in left]


def _cells(row: Row) -> list[str]:
    if not row.steps:
        return ["-"] * (len(HEADS) - 1) + ["did not run"]
    return [
        seconds_text(row.wall),
        str(row.steps),
        "reference" if row.reference else _number(row.error),
        _number(row.energy, 5),
        _number(row.energy_error),
        _number(row.gain),
        _number(row.penetration),
        _number(row.residual),
        str(row.unsolved) + (" (stopped)" if row.failed else ""),
    ]


def _number(value: float | None, digits: int = 2) -> str:
    return "-" if value is None else f"{value:.{digits}g}"
