"""``python -m benchmarks scenes``: against the clock, the closed forms, and other engines."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from benchmarks import options, tables
from benchmarks.clock import one_thread
from benchmarks.peers import engine as peers_here
from benchmarks.scenes import picture, report, run
from benchmarks.scenes.cases import Case, by_name
from benchmarks.scenes.profile import kernel_table, profile
from drystone.cli.console import NUMBER, complain


def scenes(
    only: Annotated[
        list[str] | None, typer.Option("--only", help="Only this case; may be given several times.")
    ] = None,
    profiled: Annotated[
        bool, typer.Option("--profile", help="Also print what each stage and each kernel costs.")
    ] = False,
    peers: Annotated[
        bool,
        typer.Option(
            "--peers",
            help="Also run MuJoCo, PyBullet, Exudyn, pymunk and Box2D, as far as they are "
            "installed, on the same bodies with the same judge; ours also at other steps.",
        ),
    ] = False,
    repeats: options.Repeats = 3,
    shorter: options.Shorter = 1.0,
    limit: Annotated[
        float, typer.Option(**NUMBER, help="Seconds after which a peer is stopped.")
    ] = 120.0,
    output: options.Output = None,
) -> None:
    """Run the gallery and print wall time, residuals, depths and the figure each scene is for.

    Kernels warm, one thread, the fastest of several runs. Figures are errors against closed
    forms, or what must not move: smaller is better, but for rows that name a speed or a rise.
    """
    pace = run.Pace(repeats, options.shortened(shorter), limit)
    cases, folder = by_name(only), options.folder(output)
    found = _measure(cases, _engines() if peers else [], pace, profiled, folder)
    parts: list[object] = [report.table(found.rows)]
    if shorter < 1.0:
        parts.append(report.shortened(shorter))
    parts += report.verdict_words(found.rows)
    if found.profiles:
        parts.append(report.profile_table(found.rows))
    tables.show(*parts, *map(kernel_table, found.profiles))


def _engines() -> list[type[peers_here.Engine]]:
    absent = peers_here.missing()
    if absent:
        complain(f"not installed, left out: {', '.join(absent)}")
    return [engine for found in peers_here.installed().values() for engine in found]


def _measure(
    cases: list[Case],
    engines: list[type[peers_here.Engine]],
    pace: run.Pace,
    profiled: bool,
    folder: Path | None,
) -> report.Results:
    """Everything, written after every case: a run takes minutes."""
    out = report.Results(shorter=pace.shorter)
    console = Console(stderr=True)
    with one_thread(), console.status("") as status:
        for case in cases:
            for row in run.compare(case, engines, pace, status.update):
                out.rows.append(row)
                console.print(report.line(row), markup=False, highlight=False, soft_wrap=True)
            if profiled and out.rows[-1].wall is not None:
                status.update(f"{case.name}: profile")
                out.profiles.append(profile(case, shorter=pace.shorter))
            if folder is not None:
                _write(out, folder)
    return out


def _write(found: report.Results, folder: Path) -> None:
    """All that there is so far; a picture only with peers beside ours."""
    tables.write_csv(folder / "scenes.csv", map(report.csv_row, found.rows))
    plot = None
    if any(row.engine != run.OURS and row.wall is not None for row in found.rows):
        plot = picture.save_comparison(found.rows, folder / "scenes.png").name
    tables.write_page(folder / "scenes.md", report.markdown(found, plot))
