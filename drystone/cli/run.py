"""``drystone run``: a scene of the gallery, from its start to a summary."""

from __future__ import annotations

import json
import os
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from drystone.cli.words import (
    FAILED,
    complain,
    duration,
    make_folder,
    mistakes,
    tolerance,
    tolerances,
)
from drystone.errors import OptionError

if TYPE_CHECKING:
    from drystone.cli.watch import Watched
    from drystone.scenes.base import Scene
    from drystone.simulation import Simulation

SCENE = Annotated[str, typer.Argument(help="Name of a scene: see `drystone scenes`.")]
DT = Annotated[float | None, typer.Option("--dt", help="Step [s].")]
METHOD = Annotated[
    str | None,
    typer.Option(help="time-stepping, event-driven or penalty, with its defaults."),
]
SETTINGS = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        "-s",
        help="A setting of the scene; may be given several times.",
        metavar="KEY=VALUE",
    ),
]


def run(
    scene: SCENE,
    method: METHOD = None,
    dt: DT = None,
    duration: Annotated[float | None, typer.Option(help="Simulated seconds.")] = None,
    formulation: Annotated[str | None, typer.Option(help="coulomb or convex.")] = None,
    cone: Annotated[
        str | None, typer.Option(help="circular, or an even number of directions.")
    ] = None,
    solver: Annotated[str | None, typer.Option(help="Any friction solver; auto chooses.")] = None,
    restitution: Annotated[
        str | None, typer.Option(help="none, newton, poisson or poisson-shortcut.")
    ] = None,
    tol: Annotated[float | None, typer.Option(help="Residual that a solve must reach.")] = None,
    stabilize: Annotated[
        bool | None, typer.Option(help="Gaps in the contact rows, or the bare velocity scheme.")
    ] = None,
    on_failure: Annotated[
        str | None, typer.Option(help="When a solve fails: report, raise or retry.")
    ] = None,
    settings: SETTINGS = None,
    picture: Annotated[
        Path | None, typer.Option(help="Draw the end to this file (.png, .pdf, .svg).")
    ] = None,
    plots: Annotated[
        Path | None, typer.Option(help="Folder for plots of energy, gaps and residual over time.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object, and no progress bar.")
    ] = False,
    debug: Annotated[bool, typer.Option(help="Show the traceback of an error.")] = False,
) -> None:
    """Simulate a scene of the gallery and sum up what happened.

    Only what is given differs from the scene's own method.

    Examples:

      drystone run brazil-nut

      drystone run spheres --set n=1000 --duration 1 --picture spheres.png

      drystone run arch --set ratio=0.09 --plots arch/
    """
    options = {
        "dt": dt, "formulation": formulation, "cone": cone, "solver": solver, "tol": tol,
        "restitution": restitution, "stabilize": stabilize, "on_failure": on_failure,
    }  # fmt: skip
    with mistakes(debug):
        from drystone.scenes.registry import scene as build

        chosen = build(scene, **read_settings(settings))
        given = read_options(options)
        seconds = _seconds(chosen.duration if duration is None else duration)
        _check_places(picture, plots)
        simulation = chosen.simulation(_method(method), **given)
        _run(chosen, simulation, seconds, picture, plots, as_json)


def _method(name: str | None) -> Any:
    """A method with its defaults, None for the scene's own."""
    from drystone.scenes.base import unknown
    from drystone.simulation import METHODS

    if name is not None and name not in METHODS:
        raise OptionError(f"--method: {unknown('method', name, METHODS)}")
    return None if name is None else METHODS[name]()


def read_settings(texts: list[str] | None) -> dict[str, str]:
    """KEY=VALUE texts as a dictionary; the scene converts the values."""
    out: dict[str, str] = {}
    for text in texts or ():
        key, equals, value = text.partition("=")
        if not equals or not key.strip() or not value.strip():
            raise OptionError(f"--set {text}: expected KEY=VALUE, such as n=1000")
        out[key.strip().replace("-", "_")] = value.strip()
    return out


def read_options(given: dict[str, Any]) -> dict[str, Any]:
    """Options of the method that were given, with choices checked and the cone's number read."""
    from drystone.scenes.base import unknown
    from drystone.solvers.registry import METHODS
    from drystone.steppers.time_stepping.options import CHOICES

    out = {name: value for name, value in given.items() if value is not None}
    for name in out:
        known = tuple(METHODS) if name == "solver" else CHOICES.get(name, ())
        if known and out[name] not in known:
            option = f"--{name.replace('_', '-')}"
            raise OptionError(f"{option}: {unknown('choice', out[name], dict.fromkeys(known))}")
    text = str(out.get("cone", "")).strip()
    if text.lstrip("+-").isdigit():
        out["cone"] = int(text)
    elif "cone" in out and text != "circular":
        raise OptionError(f"--cone {text}: expected circular, or an even number of directions")
    return out


def _seconds(value: float) -> float:
    if not 0 < value < float("inf"):
        raise OptionError(f"--duration {value:g}: expected a positive number of seconds")
    return value


def _check_places(picture: Path | None, plots: Path | None) -> None:
    """Said before the run, not after it."""
    if picture is not None and picture.suffix.lower() not in (".png", ".pdf", ".svg"):
        raise OptionError(f"--picture {picture}: expected a name ending in .png, .pdf or .svg")
    if picture is not None or plots is not None:
        from drystone.plots import style

        with style.figure(1, 1):  # raises where matplotlib is missing
            pass
    if plots is not None:
        make_folder("--plots", plots)
    if picture is not None:
        make_folder("--picture", picture.parent)
        if picture.is_dir() or not os.access(
            picture if picture.exists() else picture.parent, os.W_OK
        ):
            raise OptionError(f"--picture {picture}: cannot be written")


def _run(
    scene: Scene,
    simulation: Simulation,
    seconds: float,
    picture: Path | None,
    plots: Path | None,
    as_json: bool,
) -> None:
    from drystone.cli.watch import watch

    done = watch(simulation, seconds, title=scene.name, bar=not as_json, keep=plots is not None)
    written = _draw(scene, simulation, done, picture, plots)
    if done.stopped:
        complain(f"stopped at {done.simulated:g} s of {seconds:g} s")
    if as_json:
        typer.echo(json.dumps(as_object(scene, simulation, done, written), allow_nan=False))
    else:
        print_summary(scene, simulation, done, written)
    if done.stopped:
        raise typer.Exit(FAILED)


def _draw(
    scene: Scene, simulation: Simulation, done: Watched, picture: Path | None, plots: Path | None
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


def as_object(
    scene: Scene, simulation: Simulation, done: Watched, written: list[Path]
) -> dict[str, Any]:
    """The summary for programs."""
    return {
        "scene": scene.name,
        "settings": dict(scene.settings),
        "method": method_object(simulation.method),
        "bodies": len(simulation.bodies),
        "simulated": done.simulated,
        "seconds": done.seconds,
        "compiling": done.compiling,
        "speed": done.speed,
        "stopped": done.stopped,
        **done.tally.as_json(),
        "files": [str(path) for path in written],
    }


def method_object(method: Any) -> dict[str, Any]:
    """Name and options of a method (of time stepping the main ones); objects among them by their
    own names."""
    main = ("dt", "formulation", "cone", "restitution", "stabilize", "solver", "tol")
    out = {"name": method.name}
    for name in main if method.name == "time-stepping" else [f.name for f in fields(method)]:
        value = getattr(method, name)
        plain = value is None or isinstance(value, str | int | float)
        out[name] = value if plain else getattr(value, "name", str(value))
    return out


def print_summary(scene: Scene, simulation: Simulation, done: Watched, written: list[Path]) -> None:
    """The summary for people."""
    from rich.console import Console
    from rich.table import Table

    from drystone.cli.watch import times

    tally, method = done.tally, simulation.method
    console = Console(highlight=False)
    console.print(f"[bold]{scene.name}[/]: {scene.summary} ({scene.paper})")
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim")
    table.add_column()
    unsolved = "all solved" if not tally.unsolved else f"[yellow]{tally.unsolved} unsolved[/]"
    if tally.first_unsolved is not None:
        unsolved += f", the first at {tally.first_unsolved:.4g} s"
    compiling = f", and {done.compiling:.1f} s compiling" if done.compiling > 0.05 else ""
    rows = {
        "simulated": f"{done.simulated:g} s in {tally.steps} steps of {method.dt:.4g} s, "
        f"{len(simulation.bodies)} bodies, {getattr(method, 'formulation', method.name)}",
        "wall time": f"{duration(done.seconds)}: {times(done.speed)} real time{compiling}",
        "solves": f"{unsolved}; worst residual {tally.residual:.1e} "
        f"({tolerance(method, tally.residual)})",
        "infeasibility": f"{tally.infeasibility:.2e} m at most",
        "contacts": f"{tally.contacts} at the end, {tally.most_contacts} at most",
        "energy": energy_words(tally.ledger()),
    }
    for name, text in rows.items():
        table.add_row(name, text)
    console.print(table)
    for path in written:
        console.print(f"wrote {path}", style="bold", soft_wrap=True)


def energy_words(ledger: dict[str, float]) -> str:
    """Where the energy went [J]; what did nothing is left out."""
    scale = max((abs(value) for value in ledger.values()), default=0.0)
    parts = [
        f"{name} {ledger[name]:+.3g}"
        for name in ("driving", "loads", "friction", "impact", "constraint", "integration")
        if abs(ledger.get(name, 0.0)) > 1e-6 * scale
    ]
    because = f" = {', '.join(parts)}" if parts else ""
    return (
        f"{ledger['change']:+.4g} J{because}; unexplained {ledger['unexplained']:.0e}; "
        f"kinetic {ledger.get('kinetic', 0.0):.3g} at the end"
    )
