"""``drystone run``: a scene of the gallery or a file, from its start to a summary."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from drystone.cli.console import (
    DURATION,
    EXIT_FAILED,
    NUMBER,
    check_plots,
    check_seconds,
    check_writable,
    command,
    complain,
    ignored_restitution,
    keep_open,
    make_folder,
    say_json,
    tolerances,
)
from drystone.cli.inputs import (
    METHOD,
    SCENE,
    SETTINGS,
    named_method,
    read_scene,
    read_settings,
)
from drystone.errors import OptionError

if TYPE_CHECKING:
    from drystone.cli.progress import RunOutcome
    from drystone.scenes.base import Scene
    from drystone.simulation import Simulation
    from drystone.steppers.base import Method

DT = Annotated[float | None, typer.Option("--dt", **NUMBER, help="Step [s].")]


FORMULATION = Annotated[str | None, typer.Option(help="coulomb or convex.")]
CONE = Annotated[str | None, typer.Option(help="circular, or an even number of directions.")]
SOLVER = Annotated[
    str | None,
    typer.Option(help="Solver of the friction problems: auto, nsgs, newton, lemke, dantzig, ..."),
]
RESTITUTION = Annotated[str | None, typer.Option(help="none, newton, poisson or poisson-shortcut.")]
TOL = Annotated[float | None, typer.Option(**NUMBER, help="Residual that a solve must reach.")]
STABILIZE = Annotated[
    bool | None,
    typer.Option(help="Constraint stabilisation; without it, the velocity scheme of 1998."),
]
ON_FAILURE = Annotated[str | None, typer.Option(help="If a solve fails: report, raise or retry.")]
RECORD = Annotated[
    Path | None, typer.Option("--record", "-r", help="Record the run to this file (.h5).")
]
OVERWRITE = Annotated[
    bool, typer.Option("--overwrite", "-f", help="Replace an existing file (--record).")
]
VIEW = Annotated[bool, typer.Option("--view", help="Show the run in the browser.")]
PICTURE = Annotated[Path | None, typer.Option(help="Draw the final state (.png, .pdf, .svg).")]
PLOTS = Annotated[
    Path | None, typer.Option(help="Folder for plots of energy, penetration and residual.")
]
JSON = Annotated[bool, typer.Option("--json", help="Print one JSON object and no progress bar.")]


@command
def run(
    scene: SCENE,
    method: METHOD = None,
    dt: DT = None,
    duration: DURATION = None,
    formulation: FORMULATION = None,
    cone: CONE = None,
    solver: SOLVER = None,
    restitution: RESTITUTION = None,
    tol: TOL = None,
    stabilize: STABILIZE = None,
    on_failure: ON_FAILURE = None,
    settings: SETTINGS = None,
    record: RECORD = None,
    overwrite: OVERWRITE = False,
    view: VIEW = False,
    picture: PICTURE = None,
    plots: PLOTS = None,
    as_json: JSON = False,
) -> None:
    """Simulate a scene of the gallery or a scene file and print a summary.

    Options override those of the scene. Ctrl-C ends the run after the current step and still
    writes the summary and the recording.

    Examples:

      drystone run brazil-nut

      drystone run spheres --set n=1000 --duration 1 --picture spheres.png

      drystone run arch --set ratio=0.09 --plots arch/

      drystone run mine.yaml --method event-driven --record mine.h5

      drystone run wall --solver newton --dt 0.002 --json
    """
    options = {
        "dt": dt, "formulation": formulation, "cone": cone, "solver": solver, "tol": tol,
        "restitution": restitution, "stabilize": stabilize, "on_failure": on_failure,
    }  # fmt: skip
    chosen = read_scene(scene, read_settings(settings))
    check_seconds("--duration", duration)
    seconds = chosen.duration if duration is None else duration
    _check_places(picture, plots, record, overwrite)
    simulation = begin(chosen, method, options)
    hint = ignored_restitution(simulation)
    if hint and restitution is None and not as_json:
        complain(hint)
    if view:
        _show(chosen, simulation)
        return
    _run(chosen, simulation, seconds, (record, picture, plots), as_json, overwrite)


def begin(scene: Scene, method: str | None, options: dict[str, Any]) -> Simulation:
    """The scene at its start, by its own method or one of that name, with options changed."""
    chosen = named_method(method) or scene.method
    return scene.simulation(chosen, **read_options(chosen, options))


def read_options(method: Method, given: dict[str, Any]) -> dict[str, Any]:
    """Options that were given, as the method calls them, with choices checked and the cone's number
    read."""
    from drystone.scenes.base import unknown
    from drystone.steppers.registry import choices

    known, out = {field.name for field in fields(method)}, {}
    for name, value in given.items():
        if value is None:
            continue
        option = f"--{name.replace('_', '-')}"
        key = "contact_forces" if name == "solver" and name not in known else name
        if key not in known:
            raise OptionError(f"{option} {value}: {method.name} has no such option")
        words, number = choices(type(method), key), str(value).strip()
        if key == "cone" and number.lstrip("+-").isdigit():
            out[key] = int(number)
            continue
        if key == "cone" and value not in words:
            expected = "expected circular, or an even number of directions"
            raise OptionError(f"{option} {value}: {expected}")
        if words and value not in words:
            raise OptionError(f"{option}: {unknown('choice', value, dict.fromkeys(words))}")
        out[key] = value
    return out


def _check_places(
    picture: Path | None, plots: Path | None, record: Path | None, overwrite: bool
) -> None:
    """Said before the run, not after it."""
    if record is not None and record.suffix.lower() not in (".h5", ".hdf5"):
        raise OptionError(f"--record {record}: expected a name ending in .h5")
    if record is not None:
        if record.exists() and not overwrite:
            raise OptionError(
                f"--record {record}: exists: --overwrite (-f) replaces it, "
                f"`drystone resume {record}` resumes it"
            )
        check_writable("--record", record)
    if picture is not None and picture.suffix.lower() not in (".png", ".pdf", ".svg"):
        raise OptionError(f"--picture {picture}: expected a name ending in .png, .pdf or .svg")
    if picture is not None or plots is not None:
        check_plots()
    if plots is not None:
        make_folder("--plots", plots)
    if picture is not None:
        check_writable("--picture", picture)


def _show(scene: Scene, simulation: Simulation) -> None:
    """Live in the browser, until Ctrl-C."""
    from drystone.view import show

    keep_open(show(simulation, view=scene.view, title=scene.name, playing=True, browser=True))


def _run(
    scene: Scene,
    simulation: Simulation,
    seconds: float,
    places: tuple[Path | None, Path | None, Path | None],
    as_json: bool,
    overwrite: bool,
) -> None:
    from drystone.cli.progress import watch
    from drystone.cli.summary import as_object, print_summary

    record, picture, plots = places
    keep = plots is not None
    start = simulation.state.copy()
    done = watch(
        simulation, seconds, title=scene.name, bar=not as_json, keep=keep, record=record,
        overwrite=overwrite,
    )  # fmt: skip
    written = [] if record is None else [record]
    written += _draw(scene, simulation, done, picture, plots)
    if done.stopped:
        complain(f"stopped at {done.simulated:g} s of {seconds:g} s")
        if record is not None:
            complain(f"drystone resume {record} resumes it")
    if as_json:
        say_json(as_object(scene, simulation, done, written, start))
    else:
        print_summary(scene, simulation, done, written, start)
    if done.stopped:
        raise typer.Exit(EXIT_FAILED)


def _draw(
    scene: Scene, simulation: Simulation, done: RunOutcome, picture: Path | None, plots: Path | None
) -> list[Path]:
    written: list[Path] = []
    if picture is not None:
        from drystone.plots.scene_picture import save_picture

        title = f"{scene.name}, t = {simulation.time:.4g} s"
        written.append(save_picture(simulation, picture, view=scene.view, title=title))
    if plots is not None and done.reports:
        from drystone.plots.series import save_series

        written += save_series(done.reports, plots, **tolerances(simulation.method))
    return written
