"""``drystone view``: a scene or a recording in the browser, or as one page to keep."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from drystone.cli.console import NUMBER, SALVAGE, WHOLE, busy, command, keep_open, say
from drystone.cli.inputs import (
    METHOD,
    SETTINGS,
    complete_scene,
    is_recording,
    named_method,
    read_recording,
    read_scene,
    read_settings,
    stem,
)
from drystone.cli.run import DT
from drystone.errors import OptionError


@command
def view(
    what: Annotated[
        str,
        typer.Argument(
            metavar="SCENE|FILE",
            help="A scene (`drystone scenes`), a scene file, or a recording (.h5).",
            autocompletion=complete_scene,
        ),
    ],
    html: Annotated[
        Path | None,
        typer.Option(help="Write one self-contained HTML page instead."),
    ] = None,
    method: METHOD = None,
    dt: DT = None,
    settings: SETTINGS = None,
    duration: Annotated[
        float | None,
        typer.Option(**NUMBER, help="Simulated seconds (with --html, for a scene)."),
    ] = None,
    speed: Annotated[
        float,
        typer.Option(**NUMBER, help="Playback speed relative to real time: 0.05, 0.1, ... 4."),
    ] = 1.0,
    paused: Annotated[bool, typer.Option("--paused", help="Wait for Play.")] = False,
    browser: Annotated[
        bool, typer.Option(help="Open the page in a browser, or only print its address.")
    ] = True,
    port: Annotated[int, typer.Option(**WHOLE, help="First port to try; 0 for any.")] = 8080,
    host: Annotated[
        str, typer.Option(help="Host to bind to; 0.0.0.0 admits other machines.")
    ] = "127.0.0.1",
    salvage: Annotated[bool, SALVAGE] = False,
) -> None:
    """Show a live simulation or a recording in the browser.

    In a live simulation bodies can be dragged with the mouse. The page shows contacts, forces,
    joints and curves. It is served to this machine only, unless --host is given. Ctrl-C ends it.

    Examples:

      drystone view double-action-jack

      drystone view stack.h5

      drystone view arch --html arch.html
    """
    if html is not None:
        _page(what, html, method, dt, settings, duration, salvage)
        return
    subject, hints = _subject(what, method, dt, settings, salvage)
    from drystone.view.viewer import show

    viewer = show(
        subject, view=hints, playing=not paused, speed=speed, host=host, port=port,
        browser=browser,
    )  # fmt: skip
    keep_open(viewer)


def _subject(
    what: str, method: str | None, dt: float | None, settings: list[str] | None, salvage: bool
) -> tuple[Any, dict[str, Any]]:
    """A recording, or a simulation from the start: of scenes that say how they are best played
    with, in that way, as far as nothing else is asked for."""
    if is_recording(what):
        if method or dt or settings:
            raise OptionError(f"{what} is a recording: --method, --dt and --set do not apply")
        return read_recording(what, salvage), {}
    _no_salvage(what, salvage)
    given = read_settings(settings)
    scene = read_scene(what, given, recordings=True)
    play = dict(scene.view.get("play", {}))
    if play.get("settings") and stem(what) == what:  # of the gallery: files have no settings
        scene = read_scene(what, {**play["settings"], **given})
    options: dict[str, Any] = {}
    if method is None and dt is None:
        method, options = play.get("method"), dict(play.get("options", {}))
    elif dt is not None:
        options = {"dt": dt}
    return scene.simulation(named_method(method), **options), dict(scene.view)


def _no_salvage(what: str, salvage: bool) -> None:
    if salvage:
        raise OptionError(f"--salvage: {what} is not a recording")


def _page(
    what: str,
    html: Path,
    method: str | None,
    dt: float | None,
    settings: list[str] | None,
    duration: float | None,
    salvage: bool,
) -> None:
    from drystone.view.export_html import write_html

    if is_recording(what):
        replay = read_recording(what, salvage)
    else:
        _no_salvage(what, salvage)
        scene = read_scene(what, read_settings(settings), recordings=True)
        options = {} if dt is None else {"dt": dt}
        simulation = scene.simulation(named_method(method), **options)
        every = max(1, round(1 / 60 / simulation.method.dt))
        seconds = scene.duration if duration is None else duration
        with busy(f"{scene.name}: simulating {seconds:g} s"):
            replay = simulation.run(seconds, record=True, every=every, contacts=True)
    with busy(f"writing {html}"):
        write_html(replay, html)
    say(f"wrote {html} ({html.stat().st_size / 1e6:.2f} MB)")
