"""``python -m benchmarks solvers``: all our methods over a folder of problems, Siconos beside."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from benchmarks import options, tables
from benchmarks.clock import one_thread
from benchmarks.peers.siconos import SOLVERS, PeerRun, Siconos
from benchmarks.siconos_report import page, versus
from drystone.cli import bench
from drystone.cli.bench import Case, Run

CUT_FACTOR, CUT_SECONDS = 20.0, 2.0  # a peer slower than both beside the best is not waited for


def solvers(
    folder: bench.Folder = None,
    solver: bench.Solvers = None,
    peers: Annotated[
        bool,
        typer.Option(
            "--peers",
            help="Also run Siconos' solvers on the same files with the same judge "
            "(Debian: apt-get install python3-siconos).",
        ),
    ] = False,
    tol: bench.Tol = 1e-8,
    time_limit: bench.TimeLimit = 30.0,
    output: options.Output = None,
) -> None:
    """Run all methods over a folder of problems and print a performance profile.

    As `drystone bench solvers`, with Siconos beside. Every answer is judged by the problem's own
    residual. Times are of the solve alone, kernels warm, on one thread, the fastest of several
    runs.
    """
    methods, cases = bench.chosen_methods(solver, tol, time_limit), bench.cases(folder)
    place = options.folder(output)
    ours: list[Run] = []
    theirs: list[Run] = []
    with ExitStack() as stack:
        stack.enter_context(one_thread())
        siconos = stack.enter_context(Siconos()) if peers else None
        tables.tell("compiling kernels ...")
        bench.warm(cases, solver)
        for case in cases:
            tables.tell(f"{case.name} ...")
            ours += bench.measured(case, methods)
            if siconos is not None:
                theirs += run_peers(case, siconos, tol, time_limit)
            if place is not None:  # after every problem: a run takes long
                write(ours, theirs, place)
    tables.show(*bench.profiles(ours, tol))
    if place is not None:
        bench.save_profiles(ours, tol, place / "solvers.png")
    if theirs:
        report(ours, theirs, tol, time_limit, place)


def write(ours: list[Run], theirs: list[Run], folder: Path) -> None:
    bench.write_runs(ours, folder / "solvers.csv")
    if theirs:
        bench.write_runs(theirs, folder / "siconos.csv")


def report(
    ours: list[Run], theirs: list[Run], tol: float, time_limit: float, folder: Path | None
) -> None:
    """What the comparison comes to."""
    rows = versus(ours, theirs, tol)
    text = page(rows, tol, time_limit)
    tables.show("\n".join(text))
    if folder is not None:
        tables.write_csv(folder / "solvers_vs_siconos.csv", map(asdict, rows))
        tables.write_page(folder / "solvers_vs_siconos.md", text)
        others = bench.times_by_solver(theirs, tol, "Siconos ")
        bench.save_profiles(ours, tol, folder / "solvers_vs_siconos.png", others)


def read_runs(path: Path) -> list[Run]:
    """Runs that were kept."""
    return [
        Run(
            row["problem"], row["kind"], int(row["size"]), row["solver"], row["status"],
            float(row["seconds"]) if row["seconds"] else None,
            float(row["residual"] or "inf"), float(row["residual_unit"] or "inf"),
            int(row["iterations"]), row["methods"],
        )
        for row in tables.read_csv(path)
    ]  # fmt: skip


def run_peers(case: Case, siconos: Siconos, tol: float, time_limit: float) -> Iterator[Run]:
    """All of Siconos' solvers for the problem; the default one has the whole time limit.

    The others stop once they are hopelessly behind the best one so far: they cannot become the
    fastest, and waiting for them would take hours.
    """
    best = math.inf
    for k, name in enumerate(SOLVERS.get(case.kind, ())):
        limit = time_limit if k == 0 else min(time_limit, max(CUT_SECONDS, CUT_FACTOR * best))
        source = case.path if case.problem.kind == "mixed-lcp" else None
        runs = siconos.run(case.problem, case.kind, name, tol=tol, time_limit=limit, source=source)
        for run in runs:
            if run.solved(tol) and run.seconds is not None:
                best = min(best, run.seconds)
            yield _peer_row(case, run, tol)


def _peer_row(case: Case, run: PeerRun, tol: float) -> Run:
    if run.seconds is None:
        status = " ".join(run.note.split())[:60]
    else:
        status = "solved" if run.solved(tol) else "inaccurate"
    return Run(
        case.name,
        case.kind,
        case.size,
        run.solver,
        status,
        run.seconds,
        run.residual,
        run.residual_unit,
        run.iterations,
        f"tol={run.tol:.0e}",
    )
