"""``drystone sweep``: a scene over a grid of settings, as a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from drystone.cli.console import (
    COUNT,
    DURATION,
    command,
    make_console,
    make_folder,
    make_table,
    plain,
    say,
    say_json,
    warnings_in_table,
)
from drystone.cli.inputs import complete_scene, read_settings
from drystone.errors import OptionError

ROWS_SHOWN = 40  # rows printed; a longer table is for its file


SCENE = Annotated[
    str,
    typer.Argument(
        help="Name of a scene: see `drystone scenes`.",
        metavar="SCENE",
        autocompletion=complete_scene,
    ),
]
SETTINGS = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        "-s",
        help="KEY=FIRST:LAST:COUNT, KEY=A,B,C or KEY=VALUE; may be given several times.",
        metavar="KEY=VALUES",
    ),
]
METHODS = Annotated[
    list[str] | None,
    typer.Option(
        "--with", "-w", help="Method, as in `drystone compare`; own by default.", metavar="METHOD"
    ),
]
MEASURES = Annotated[
    list[str] | None,
    typer.Option(
        "--measure",
        "-m",
        help="[end|start|max|min|mean|sum]:NAME, a number of the "
        "step's reports, or BODY.x, .y, .z, .vx, .speed, .angle, .path.",
        metavar="MEASURE",
    ),
]
JOBS = Annotated[
    int | None,
    typer.Option("--jobs", "-j", **COUNT, help="Processes; one per core by default."),
]
SCHEDULER = Annotated[str | None, typer.Option(help="Address of a Dask scheduler to use instead.")]
OUTPUT = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="CSV file; an interrupted sweep is resumed."),
]
AS_JSON = Annotated[
    bool, typer.Option("--json", help="Print one JSON object per row, one per line.")
]


@command
def sweep(
    scene: SCENE,
    settings: SETTINGS = None,
    methods: METHODS = None,
    measures: MEASURES = None,
    duration: DURATION = None,
    jobs: JOBS = None,
    scheduler: SCHEDULER = None,
    output: OUTPUT = None,
    as_json: AS_JSON = False,
) -> None:
    """Run a scene at every point of a grid of settings and tabulate the results.

    Runs are distributed over processes; the table does not depend on their number.

    Examples:

      drystone sweep incline --set mu=0.1:0.9:9 --measure end:block.path -o slope.csv

      drystone sweep arch --set ratio=0.08:0.14:7 --set planar=true -m max:kinetic
    """
    from drystone.sweeps.measures import DEFAULT
    from drystone.sweeps.sweep import OWN
    from drystone.sweeps.sweep import sweep as run

    if output is not None:
        if output.suffix.lower() != ".csv":
            raise OptionError(f"--output {output}: expected a name ending in .csv")
        make_folder("--output", output.parent)
    with warnings_in_table():
        found = run(
            scene, read_settings(settings), methods=methods or (OWN,),
            measures=measures or DEFAULT, duration=duration, jobs=jobs, scheduler=scheduler,
            path=output, progress=None if as_json else _progress(),
        )  # fmt: skip
    if as_json:
        for row, trouble in zip(found.rows, found.trouble, strict=True):
            out = dict(zip(found.columns, row, strict=True)) | {"trouble": trouble}
            say_json(out)
        return
    _print(found)
    if output is not None:
        say(f"wrote {output}")


def _progress() -> Any:
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        return None
    return lambda done, of: console.print(f"{done}/{of}", end="\r", style="dim", highlight=False)


def _print(found: Any) -> None:
    console = make_console()
    table = make_table()
    failed = any(row[-1] for row in found.rows)
    for name in found.columns[: None if failed else -1]:
        table.add_column(plain(name), justify="left" if name in ("method", "failed") else "right")
    for row in found.rows[:ROWS_SHOWN]:
        cells = [f"{v:.5g}" if isinstance(v, float) else "-" if v is None else v for v in row]
        table.add_row(*(plain(c) for c in cells[: None if failed else -1]))
    console.print(table)
    if len(found.rows) > ROWS_SHOWN:
        console.print(f"... and {len(found.rows) - ROWS_SHOWN} more", style="dim")
    for k, text in [(k, text) for k, text in enumerate(found.trouble) if text][:ROWS_SHOWN]:
        console.print(f"[yellow]row {k}[/]: {plain(text)}", soft_wrap=True)
