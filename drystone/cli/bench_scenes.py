"""``drystone bench scenes``: the gallery against the clock, the closed forms, and other engines."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from drystone.cli.words import COUNT, NUMBER, PIPED_WIDTH, complain, make_folder, mistakes
from drystone.errors import MissingExtraError, OptionError

if TYPE_CHECKING:
    from drystone.cli.bench_scenes_cases import Case
    from drystone.cli.bench_scenes_report import Results


def scenes(
    only: Annotated[
        list[str] | None, typer.Option("--only", help="Only this case; may be given several times.")
    ] = None,
    profile: Annotated[
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
    grow: Annotated[
        bool,
        typer.Option("--growth", help="Also measure settled spheres, as many as --sizes says."),
    ] = False,
    no_cases: Annotated[
        bool, typer.Option("--no-cases", help="Run no case: only what --growth asks for.")
    ] = False,
    sizes: Annotated[
        str, typer.Option(help="Numbers of spheres for --growth, with commas.")
    ] = "100,1000,10000",
    repeats: Annotated[
        int, typer.Option(**COUNT, help="Runs of each case; the fastest counts.")
    ] = 3,
    shorter: Annotated[
        float, typer.Option(**NUMBER, help="Factor on all durations, for a quick look.")
    ] = 1.0,
    limit: Annotated[
        float, typer.Option(**NUMBER, help="Seconds after which a peer is stopped.")
    ] = 120.0,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Folder for scenes.csv, .md and .png; growth.csv, .md and .png."
        ),
    ] = None,
    debug: Annotated[bool, typer.Option(help="Show the traceback of an error.")] = False,
) -> None:
    """Run the gallery and print wall time, residuals, depths and the figure each scene is for.

    Kernels warm, one thread, the fastest of several runs. Figures are errors against closed
    forms, or what must not move: smaller is better, but for rows that name a speed or a rise.
    """
    with mistakes(debug):
        from drystone.cli.bench_scenes_cases import by_name

        cases = [] if no_cases else by_name(only)
        if not 0 < shorter <= 1:
            raise OptionError(f"--shorter {shorter:g}: expected a number above 0, up to 1")
        ask = Wishes(peers, profile, _sizes(sizes) if grow else (), repeats, shorter, limit)
        if output is not None:
            make_folder("--output", output)
        _print(_measure(cases, ask, output))


@dataclass(frozen=True)
class Wishes:
    """What the options ask for."""

    peers: bool
    profile: bool
    sizes: tuple[int, ...]
    repeats: int
    shorter: float
    limit: float


def _sizes(text: str) -> tuple[int, ...]:
    try:
        out = tuple(int(float(part)) for part in text.split(","))
    except ValueError:
        out = ()
    if not out or min(out) < 1:
        raise OptionError(f"--sizes {text}: expected numbers such as 1000,10000,100000")
    return out


def _measure(cases: list[Case], ask: Wishes, output: Path | None) -> Results:
    """Everything, written after every case: a run takes minutes."""
    from rich.console import Console

    from drystone.cli import bench_scenes_report as report
    from drystone.cli import bench_scenes_run as runs
    from drystone.cli.bench_run import one_thread
    from drystone.cli.bench_scenes_growth import growth
    from drystone.cli.bench_scenes_profile import profile

    engines = _engines() if ask.peers else []
    out = report.Results(shorter=ask.shorter)
    console = Console(stderr=True)

    def say(line: str) -> None:
        console.print(line, markup=False, highlight=False, soft_wrap=True)

    with one_thread(), console.status("") as status:
        for case in cases:
            pace = ask.repeats, ask.shorter, ask.limit
            for row in runs.compare(case, engines, *pace, status.update):
                out.rows.append(row)
                say(report.line(row))
            if ask.profile and out.rows[-1].wall is not None:
                status.update(f"{case.name}: profile")
                out.profiles.append(profile(case, shorter=ask.shorter))
            _write(out, output)
        for one in growth(ask.sizes, tell=status.update) if ask.sizes else ():
            out.grown.append(one)
            say(report.growth_line(one, out.grown))
            _write(out, output)
    return out


def _write(found: Results, output: Path | None) -> None:
    """What there is of each kind: files of cases only if cases ran, of growth only if it did."""
    from drystone.cli import bench_scenes_report as report
    from drystone.cli.bench_scenes_growth import write_csv as write_growth

    if output is None:
        return
    plots = _plots(found, output)
    if found.rows:
        report.write_csv(found.rows, output / "scenes.csv")
        text = report.markdown(found, plots.get("scenes"))
        (output / "scenes.md").write_text(text, encoding="utf-8")
    if found.grown:
        write_growth(found.grown, output / "growth.csv")
        text = report.growth_markdown(found.grown, plots.get("growth"))
        (output / "growth.md").write_text(text, encoding="utf-8")


def _plots(found: Results, output: Path) -> dict[str, str]:
    """Draw what there is: names of the pictures; none of the scenes without peers beside ours."""
    from drystone.cli.bench_scenes_run import OURS
    from drystone.plots import engine_comparison as plots

    drawn = {}
    try:
        if found.grown:
            drawn["growth"] = plots.save_growth(found.grown, output / "growth.png").name
        if any(row.engine != OURS and row.wall is not None for row in found.rows):
            path = output / "scenes.png"
            drawn["scenes"] = plots.save_comparison(found.rows, path, ours=OURS).name
    except MissingExtraError as error:
        complain(f"no plots: {error}")
    return drawn


def _engines() -> list[Any]:
    from drystone.interop import engine_peers

    absent = engine_peers.missing()
    if absent:
        complain(f"not installed, left out: {', '.join(absent)}")
    return [engine for found in engine_peers.installed().values() for engine in found]


def _print(found: Results) -> None:
    from rich.console import Console

    from drystone.cli import bench_scenes_report as report
    from drystone.cli.bench_scenes_profile import kernel_table

    console = Console()
    if not console.is_terminal:
        console.width = PIPED_WIDTH
    if found.rows:
        console.print(report.table(found.rows))
    if found.shorter < 1.0:
        console.print(report.shortened(found.shorter), markup=False, highlight=False)
    for line in report.verdict_words(found.rows):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    if found.profiles:
        console.print()
        console.print(report.profile_table(found.rows))
    for one in found.profiles:
        console.print()
        console.print(kernel_table(one))
    if found.grown:
        console.print()
        console.print(report.growth_words(found.grown), markup=False, highlight=False)
