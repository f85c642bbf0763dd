"""``drystone plot``: a recording, or a scene that is run for it, as figures for print."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from drystone.cli.console import (
    NUMBER,
    SALVAGE,
    busy,
    check_plots,
    check_seconds,
    check_writable,
    command,
    complain,
    make_folder,
    say,
    say_json,
    tolerances,
)
from drystone.cli.inputs import (
    SETTINGS,
    complete_scene,
    is_recording,
    read_recording,
    read_scene,
    read_settings,
    stem,
)
from drystone.errors import OptionError

if TYPE_CHECKING:
    from drystone.comparison.runs import ComparedRun


SUBJECT = Annotated[
    str,
    typer.Argument(
        help="A recording (.h5), a scene of the gallery, or a scene file.",
        metavar="RECORDING|SCENE",
        autocompletion=complete_scene,
    ),
]
WHAT = Annotated[
    str,
    typer.Option(
        "--what",
        "-w",
        help="energy, gap, residual, forces, chains, trajectory, phase, "
        "timing, picture: one, several separated by commas, or all.",
    ),
]
OUTPUT = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="File (.png, .svg, .pdf) for one figure, or folder for one figure per quantity.",
    ),
]
BODY = Annotated[
    list[str] | None,
    typer.Option("--body", "-b", help="A body to show; may be given several times."),
]
TIME = Annotated[
    float | None,
    typer.Option(**NUMBER, help="Time of chains and picture [s]; the end by default."),
]
COORDINATE = Annotated[str | None, typer.Option(help="For phase plots: x, y, z or angle.")]
PLANE = Annotated[str | None, typer.Option(help="For trajectories: xy, xz or yz.")]
WIDTH = Annotated[
    float | None, typer.Option(**NUMBER, help="Width of the figure [inches]; 3.5 is one column.")
]
METHOD = Annotated[
    str | None,
    typer.Option(help="Method for a scene, as in `drystone compare --with`.", metavar="METHOD"),
]
DURATION = Annotated[float | None, typer.Option(**NUMBER, help="Simulated seconds of a scene.")]
AS_JSON = Annotated[bool, typer.Option("--json", help="Print one JSON object: the files written.")]


@command
def plot(
    subject: SUBJECT,
    what: WHAT = "energy",
    output: OUTPUT = None,
    body: BODY = None,
    time: TIME = None,
    coordinate: COORDINATE = None,
    plane: PLANE = None,
    width: WIDTH = None,
    method: METHOD = None,
    duration: DURATION = None,
    settings: SETTINGS = None,
    salvage: Annotated[bool, SALVAGE] = False,
    as_json: AS_JSON = False,
) -> None:
    """Plot a recording, or a scene that is simulated first.

    Energy and its ledger, gaps and penetration, residuals, contact forces, force chains,
    trajectories, phase plots, timings by stage, a picture.

    Examples:

      drystone plot run.h5 --what energy,gap,residual -o run.pdf

      drystone plot arch --what chains --duration 1 -o thrust.svg

      drystone plot double-pendulum --what phase --coordinate angle -o phase.png
    """
    from drystone.plots.figures import QUANTITIES, quantities
    from drystone.plots.figures import plot as draw
    from drystone.plots.run_data import stages

    everything = what.strip() == "all"
    names = quantities(list(QUANTITIES) if everything else what)
    word = names[0] if len(names) == 1 else "plots"
    output = output or Path(f"{stem(subject)}_{word}.png")
    places = _places(names, output)
    run = _run(subject, names, (method, duration, settings), salvage)
    if everything and not stages(run):
        untimed = [name for name in names if QUANTITIES[name].profile]
        names = tuple(name for name in names if name not in untimed)
        places = _places(names, output)
        complain(f"{subject}: left out {', '.join(untimed)}: no step was timed")
    written = []
    for group, place in places.items():
        with busy(f"drawing {place}"):
            draw(
                run, group, path=place, bodies=body, time=time, coordinate=coordinate,
                plane=plane, width=width, **_tolerances(run),
            )  # fmt: skip
        written.append(str(place))
    if as_json:
        say_json({"subject": subject, "what": list(names), "files": written})
    else:
        for name in written:
            say(f"wrote {name}")


def _places(names: tuple[str, ...], output: Path) -> dict[tuple[str, ...], Path]:
    """Which quantities go into which file; said before the run if they cannot be written."""
    from drystone.plots.figures import FORMATS, check_path

    check_plots()
    if output.suffix and not output.is_dir():
        place = check_path(output)
        check_writable("--output", place)
        return {names: place}
    make_folder("--output", output)
    return {(name,): output / f"{name}{FORMATS[0]}" for name in names}


def _run(
    subject: str,
    names: tuple[str, ...],
    asked: tuple[str | None, float | None, list[str] | None],
    salvage: bool,
) -> Any:
    """The recording, or the scene's run by the method, for the time and with the settings that
    were asked for."""
    method, duration, settings = asked
    if salvage and not is_recording(subject):
        raise OptionError(f"--salvage: {subject} is not a recording")
    if is_recording(subject):
        for option, value in (("method", method), ("duration", duration), ("set", settings)):
            if value:
                raise OptionError(f"--{option}: {subject} is a recording, its run is done")
        return read_recording(subject, salvage)
    scene = read_scene(subject, read_settings(settings), recordings=True)
    return _simulate(scene, names, method, duration)


def _simulate(
    scene: Any, names: tuple[str, ...], method: str | None, duration: float | None
) -> ComparedRun:
    from drystone.comparison.method_texts import read_method
    from drystone.comparison.runs import simulate
    from drystone.plots.figures import QUANTITIES
    from drystone.simulation import Simulation

    check_seconds("--duration", duration)
    seconds = scene.duration if duration is None else duration
    own = scene.method
    chosen = own if method is None else read_method(method, own)
    simulation = Simulation(scene.world, chosen) if chosen is not None else Simulation(scene.world)
    simulation.profile = any(QUANTITIES[name].profile for name in names)
    contacts = any(QUANTITIES[name].contacts for name in names)
    with busy(f"{scene.name}: simulating {seconds:g} s"):
        run = simulate(simulation, seconds, view=scene.view, contacts=contacts)
    if run.stopped:
        if not run.reports:
            from drystone.errors import SimulationError

            raise SimulationError(run.stopped)
        complain(f"{run.stopped}; plotted up to there")
    return run


def _tolerances(run: Any) -> dict[str, Any]:
    """Tolerances to draw with residuals."""
    method = getattr(run, "method", None)
    if isinstance(method, dict):
        from drystone.scene_files import method_from

        method = method_from(method)
    return tolerances(method) if method is not None else {}
