"""``drystone bench scenes``: the gallery against the clock, the closed forms, and other engines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from drystone.cli.words import PIPED_WIDTH, complain, make_folder, mistakes
from drystone.errors import MissingExtraError, OptionError

if TYPE_CHECKING:
    from drystone.cli.bench_scenes_cases import Case
    from drystone.cli.bench_scenes_growth import Growth
    from drystone.cli.bench_scenes_run import Row


def scenes(
    only: Annotated[
        list[str] | None, typer.Option("--only", help="Only this case; may be given several times.")
    ] = None,
    profile: Annotated[
        bool, typer.Option("--profile", help="Also print what each stage of a step costs.")
    ] = False,
    peers: Annotated[
        bool,
        typer.Option(
            "--peers",
            help="Also run MuJoCo, PyBullet, Exudyn, pymunk and Box2D, as far as they are "
            "installed, on the same bodies with the same judge; ours also at other steps.",
        ),
    ] = False,
    grow: Annotated[
        bool, typer.Option("--growth", help="Also measure 10^3, 10^4 and 10^5 settled spheres.")
    ] = False,
    sizes: Annotated[
        str, typer.Option(help="Numbers of spheres for --growth, with commas.")
    ] = "100,1000,10000",
    repeats: Annotated[int, typer.Option(min=1, help="Runs of each case; the fastest counts.")] = 3,
    shorter: Annotated[
        float, typer.Option(help="Factor on all durations, for a quick look.")
    ] = 1.0,
    limit: Annotated[float, typer.Option(help="Seconds after which a peer is stopped.")] = 120.0,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder for scenes.csv, scenes.md and plots."),
    ] = None,
    debug: Annotated[bool, typer.Option(help="Show the traceback of an error.")] = False,
) -> None:
    """Run the gallery and print wall time, residuals, depths and the figure each scene is for.

    Kernels warm, one thread, the fastest of several runs. Figures are errors against closed
    forms, or what must not move: smaller is better, but for rows that name a speed or a rise.
    """
    with mistakes(debug):
        from drystone.cli.bench_scenes_cases import by_name

        cases = by_name(only)
        if not 0 < shorter <= 1:
            raise OptionError(f"--shorter {shorter:g}: expected a number above 0, up to 1")
        numbers = _sizes(sizes) if grow else ()
        if output is not None:
            make_folder("--output", output)
        rows, grown = _measure(cases, peers, numbers, repeats, shorter, limit, output)
        _print(rows, grown, profile)


def _sizes(text: str) -> tuple[int, ...]:
    try:
        out = tuple(int(float(part)) for part in text.split(","))
    except ValueError:
        out = ()
    if not out or min(out) < 1:
        raise OptionError(f"--sizes {text}: expected numbers such as 1000,10000,100000")
    return out


def _measure(
    cases: list[Case],
    peers: bool,
    sizes: tuple[int, ...],
    repeats: int,
    shorter: float,
    limit: float,
    output: Path | None,
) -> tuple[list[Row], list[Growth]]:
    """Everything, written after every case: a run takes minutes."""
    from rich.console import Console

    from drystone.cli import bench_scenes_report as report
    from drystone.cli import bench_scenes_run as runs
    from drystone.cli.bench_run import one_thread
    from drystone.cli.bench_scenes_growth import growth

    engines = _engines() if peers else []
    rows: list[Row] = []
    grown: list[Growth] = []
    console = Console(stderr=True)

    def write() -> None:
        if output is not None:
            report.write_csv(rows, output / "scenes.csv")
            plot = _plots(rows, grown, output)
            text = report.markdown(rows, grown, plot)
            (output / "scenes.md").write_text(text, encoding="utf-8")

    with one_thread(), console.status("") as status:
        for case in cases:
            for row in runs.compare(case, engines, repeats, shorter, limit, status.update):
                rows.append(row)
            write()
        for one in growth(sizes, tell=status.update) if sizes else ():
            grown.append(one)
            write()
    return rows, grown


def _plots(rows: list[Row], grown: list[Growth], output: Path) -> str | None:
    """Draw what there is; the name of the comparison's picture, if it has anybody to compare."""
    from drystone.cli.bench_scenes_run import OURS
    from drystone.plots import engine_comparison as plots

    try:
        if grown:
            plots.save_growth(grown, output / "growth.png")
        if any(row.engine != OURS and row.wall is not None for row in rows):
            plots.save_comparison(rows, output / "scenes.png", ours=OURS)
            return "scenes.png"
    except MissingExtraError as error:
        complain(f"no plots: {error}")
    return None


def _engines() -> list[Any]:
    from drystone.interop import engine_peers

    absent = engine_peers.missing()
    if absent:
        complain(f"not installed, left out: {', '.join(absent)}")
    return [engine for found in engine_peers.installed().values() for engine in found]


def _print(rows: list[Row], grown: list[Growth], profile: bool) -> None:
    from rich.console import Console

    from drystone.cli import bench_scenes_report as report

    console = Console()
    if not console.is_terminal:
        console.width = PIPED_WIDTH
    console.print(report.table(rows))
    for line in report.verdict_words(rows):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    if profile:
        console.print()
        console.print(report.profile_table(rows))
    if grown:
        console.print()
        console.print(report.growth_words(grown), markup=False, highlight=False)
