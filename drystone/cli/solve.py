"""``drystone solve``: problem files in, solutions and their judged residuals out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from drystone.cli.console import (
    COUNT,
    DEBUG,
    EXIT_FAILED,
    EXIT_WRONG,
    NUMBER,
    command,
    complain,
    duration,
    kind_of,
    make_console,
    make_table,
    plain,
    say_json,
    size_of,
    stem_of,
)
from drystone.errors import DrystoneError, OptionError
from drystone.solvers import FRICTION, LCPS, taking
from drystone.values import finite, writing

if TYPE_CHECKING:
    from drystone.problems import Problem
    from drystone.solvers.base import Solver
    from drystone.types import Solution

HELP = (
    "Method; auto chooses and falls back by itself. "
    f"LCPs: {taking(LCPS)}. Friction: {taking(FRICTION)}. Or one from an installed package."
)


@command
def solve(
    files: Annotated[
        list[Path],
        typer.Argument(help="Problem files: FCLIB .hdf5, Siconos .dat, or .npz.", metavar="FILE"),
    ],
    solver: Annotated[str, typer.Option("--solver", "-s", help=HELP)] = "auto",
    tol: Annotated[
        float,
        typer.Option(**NUMBER, help="Largest residual, in the scaled and the unit-free form."),
    ] = 1e-8,
    time_limit: Annotated[
        float, typer.Option(**NUMBER, help="Seconds after which a solve returns its best iterate.")
    ] = 60.0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per file, one per line.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write the solution to this .npz: r,u (friction), v,r,u (global friction), "
            "z,w (LCP). With several files, a folder that gets one .npz for each.",
            metavar="OUT",
        ),
    ] = None,
    repeat: Annotated[
        int, typer.Option(**COUNT, help="Number of solves; the fastest is reported.")
    ] = 1,
    debug: DEBUG = False,
) -> None:
    """Solve problem files and verify the solutions.

    A problem counts as solved if its own residual, scaled and unit-free, is within the tolerance,
    whatever the method reports.

    Examples:

      drystone solve pile.hdf5

      drystone solve *.dat --solver nsgs --tol 1e-6 --json
    """
    from dataclasses import replace

    from drystone.solvers.registry import by_name

    method = replace(by_name(solver), tol=tol, time_limit=time_limit)
    places = _places(files, output)
    rows, wrong = _solve_all(files, places, method, repeat, as_json, debug)
    if not as_json and rows:
        _print_table(rows)
    if wrong:
        raise typer.Exit(EXIT_WRONG)
    if any(row["status"] != "solved" for row in rows):
        raise typer.Exit(EXIT_FAILED)


def _solve_all(
    files: list[Path],
    places: list[Path | None],
    method: Solver,
    repeat: int,
    as_json: bool,
    debug: bool,
) -> tuple[list[dict[str, Any]], bool]:
    """One row for each file that could be read and solved; whether any could not."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from drystone.problems.files import read_problem

    rows, wrong = [], False
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(
        *columns,
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as progress:
        task = progress.add_task("", total=len(files))
        for file, place in zip(files, places, strict=True):
            progress.update(task, description=file.name)
            try:
                problem = read_problem(_no_scene(file))
                solution = min(
                    (method.solve(problem) for _ in range(repeat)), key=lambda one: one.seconds
                )
                if place is not None:
                    _save(place, problem, solution)
            except DrystoneError as error:
                if debug:
                    raise
                message = str(error)
                complain(message if str(file) in message else f"{file}: {message}")
                wrong = True
            else:
                rows.append(_row(file, problem, solution))
                if as_json:
                    say_json(rows[-1])
            progress.advance(task)
    return rows, wrong


def _row(file: Path, problem: Problem, solution: Solution) -> dict[str, Any]:
    return {
        "file": str(file),
        "kind": kind_of(problem),
        "size": size_of(problem),
        "solver": solution.solver,
        "methods": list(solution.methods),
        "status": solution.status.name.lower(),
        "residual": finite(solution.residual),
        "residual_unit": finite(solution.residual_unit),
        "primal": finite(solution.primal),
        "gap": finite(solution.gap),
        "iterations": int(solution.iterations),
        "seconds": finite(solution.seconds),
    }


def _print_table(rows: list[dict[str, Any]]) -> None:
    table = make_table()
    table.add_column("file", no_wrap=True, min_width=12)
    table.add_column("kind", no_wrap=True)
    table.add_column("size", justify="right", no_wrap=True)
    table.add_column("methods", no_wrap=True, min_width=6)
    table.add_column("status", no_wrap=True)
    for name in ("residual", "unit-free", "steps", "time"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        colour = "green" if row["status"] == "solved" else "red"
        numbers = [
            "-" if row[k] is None else f"{row[k]:.1e}" for k in ("residual", "residual_unit")
        ]
        table.add_row(
            plain(Path(row["file"]).name),
            row["kind"],
            str(row["size"]),
            " ".join(row["methods"]),
            f"[{colour}]{row['status']}[/]",
            *numbers,
            str(row["iterations"]),
            duration(row["seconds"]),
        )
    console = make_console()
    console.print(table)
    solved = sum(row["status"] == "solved" for row in rows)
    total = sum(row["seconds"] or 0.0 for row in rows)
    console.print(f"{solved} of {len(rows)} solved in {duration(total)}")


def _places(files: list[Path], output: Path | None) -> list[Path | None]:
    """Where each file's solution goes; settled before anything is solved."""
    if output is None:
        return [None] * len(files)
    if len(files) == 1 and not output.is_dir():
        if output.suffix != ".npz":
            raise OptionError(f"--output {output}: expected a name ending in .npz, or a folder")
        return [output]
    if output.suffix == ".npz" or (output.exists() and not output.is_dir()):
        raise OptionError(f"--output {output}: {len(files)} files need a folder, not one .npz")
    places = [output / f"{stem_of(file)}.npz" for file in files]
    twice = next((place for k, place in enumerate(places) if place in places[:k]), None)
    if twice is not None:
        raise OptionError(f"--output {output}: two files would both be written to {twice.name}")
    return list(places)


def _save(place: Path, problem: Problem, solution: Solution) -> None:
    import numpy as np

    arrays = {"z": solution.value, "w": solution.dual}
    if kind_of(problem).endswith(("2d", "3d")):
        arrays = {"r": solution.value, "u": solution.dual}
    if solution.velocity is not None:
        arrays["v"] = solution.velocity
    with writing(place, "--output"):
        np.savez(place, allow_pickle=False, **arrays)


def _no_scene(file: Path) -> Path:
    from drystone.cli.inputs import SCENE_FILES

    if file.suffix.lower() in SCENE_FILES:
        raise OptionError(f"{file}: a scene file, not a problem: `drystone run {file}` runs it")
    return file
