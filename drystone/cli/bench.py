"""``drystone bench``: how fast, how often, and beside whom."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from drystone.cli.words import NUMBER, PIPED_WIDTH, complain, duration, mistakes
from drystone.errors import MissingExtraError, OptionError

if TYPE_CHECKING:
    from drystone.cli.bench_run import Run

app = typer.Typer(help="Benchmarks; each writes its figures as CSV.", no_args_is_help=True)
TAUS = (1.0, 2.0, 5.0, 10.0, 100.0)


@app.callback()
def _group() -> None:
    """Benchmarks; each writes its figures as CSV."""


@app.command()
def solvers(
    folder: Annotated[
        Path | None,
        typer.Argument(
            help="Folder of problem files. Default: shared/problems, here or in a parent folder."
        ),
    ] = None,
    solver: Annotated[
        list[str] | None,
        typer.Option("--solver", "-s", help="Only this method; may be given several times."),
    ] = None,
    peers: Annotated[
        bool,
        typer.Option(
            "--peers",
            help="Also run Siconos' solvers on the same files with the same judge "
            "(Debian: apt-get install python3-siconos).",
        ),
    ] = False,
    peers_from: Annotated[
        Path | None,
        typer.Option(help="Compare with Siconos' times in this CSV of an earlier run."),
    ] = None,
    tol: Annotated[float, typer.Option(**NUMBER, help="Largest residual, in both forms.")] = 1e-8,
    time_limit: Annotated[float, typer.Option(**NUMBER, help="Seconds for one solve.")] = 30.0,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for CSV, Markdown and PNG.")
    ] = None,
    debug: Annotated[bool, typer.Option(help="Show the traceback of an error.")] = False,
) -> None:
    """Run all methods over a folder of problems and print a performance profile.

    Every answer is judged by the problem's own residual. Times are of the solve alone, kernels
    warm, on one thread, the fastest of several runs.
    """
    with mistakes(debug):
        place = folder if folder is not None else _usual_folder()
        if not place.is_dir():
            raise OptionError(f"{place}: not a folder")
        if output is not None:
            _make(output)
        ours, theirs = _measure(place, solver, peers, tol, time_limit, output)
        if peers_from is not None:
            from drystone.cli.bench_report import read_runs

            theirs = read_runs(peers_from)
        _report(ours, theirs, tol, time_limit, output)


def _usual_folder() -> Path:
    here = Path.cwd()
    for parent in (here, *here.parents):
        if (parent / "shared" / "problems").is_dir():
            return parent / "shared" / "problems"
    raise OptionError("no folder given, and no shared/problems here or in a parent folder")


def _make(output: Path) -> None:
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OptionError(f"--output {output}: {error.strerror or error}") from None


def _measure(
    folder: Path,
    names: list[str] | None,
    peers: bool,
    tol: float,
    time_limit: float,
    output: Path | None,
) -> tuple[list[Run], list[Run]]:
    """Ours and, side by side, Siconos'; written after every problem: a run takes long."""
    from contextlib import ExitStack

    from rich.console import Console
    from rich.progress import Progress

    from drystone.cli import bench_run
    from drystone.cli.bench_report import write_runs
    from drystone.interop.siconos_peer import Siconos

    ours: list[Run] = []
    theirs: list[Run] = []
    console = Console(stderr=True)
    methods = bench_run.methods(names, tol, time_limit)
    with ExitStack() as stack:
        stack.enter_context(bench_run.one_thread())
        siconos = stack.enter_context(Siconos()) if peers else None
        cases = bench_run.cases(folder)
        progress = stack.enter_context(
            Progress(console=console, transient=True, disable=not console.is_terminal)
        )
        task = progress.add_task("compiling kernels", total=len(cases))
        bench_run.warm(cases, names)
        for case in cases:
            progress.update(task, description=case.name)
            for method in methods:
                run = bench_run.run_ours(case, method)
                if run is not None:
                    ours.append(run)
            if siconos is not None:
                theirs.extend(bench_run.run_peers(case, siconos, tol, time_limit))
            if output is not None:
                write_runs(ours, output / "solvers.csv")
                if siconos is not None:
                    write_runs(theirs, output / "siconos.csv")
            progress.advance(task)
    return ours, theirs


def _report(
    ours: list[Run], theirs: list[Run], tol: float, time_limit: float, output: Path | None
) -> None:
    from rich.console import Console

    from drystone.cli import bench_report as report
    from drystone.plots.performance_profile import plot_profiles

    console = Console()
    if not console.is_terminal:
        console.width = PIPED_WIDTH
    times = report.times_by_solver(ours, tol)
    _print_profiles(console, report.panels(ours, times))
    rows = report.versus(ours, theirs, tol) if theirs else []
    if rows:
        text = report.versus_text(rows, tol, time_limit)
        console.print(text, markup=False, highlight=False, soft_wrap=True)
    if output is None:
        return
    if rows:
        report.write_versus(rows, output / "solvers_vs_siconos.csv")
        (output / "solvers_vs_siconos.md").write_text(text, encoding="utf-8")
    both = times | report.times_by_solver(theirs, tol, "Siconos ")
    try:
        plot_profiles(report.panels(ours, times), output / "solvers.png", title=f"to {tol:g}")
        if rows:
            place = output / "solvers_vs_siconos.png"
            plot_profiles(report.panels(ours, both), place, title=f"to {tol:g}, both forms")
    except MissingExtraError as error:
        complain(f"no plots: {error}")


def _print_profiles(console: object, panels: object) -> None:
    import numpy as np
    from rich.console import Console
    from rich.table import Table

    from drystone.plots.performance_profile import fractions

    assert isinstance(console, Console)
    assert isinstance(panels, dict)
    for group, (times, problems) in panels.items():
        table = Table(title=f"{group}: {len(problems)} problems", box=None, title_justify="left")
        table.add_column("solver")
        for name in ("solved", *(f"within {tau:g}x" for tau in TAUS), "median time"):
            table.add_column(name, justify="right")
        shares = fractions(times, problems, np.array(TAUS))
        for solver in sorted(
            times, key=lambda s: (-len(times[s].keys() & set(problems)), -shares[s].sum(), s)
        ):
            taken = [times[solver][p] for p in problems if p in times[solver]]
            table.add_row(
                solver,
                f"{len(taken)}/{len(problems)}",
                *(f"{share:.0%}" for share in shares[solver]),
                duration(float(np.median(taken)) if taken else None),
            )
        console.print(table)
        console.print()
