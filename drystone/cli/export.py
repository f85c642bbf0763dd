"""``drystone export``: a recording as a page, an animation, a video or a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from drystone.cli.subjects import read_recording
from drystone.cli.words import mistakes

FILMS = ("mp4", "gif", "webp")
TABLES = ("bodies", "contacts", "joints", "reports")


def export(
    recording: Annotated[Path, typer.Argument(help="A recording (.h5).", show_default=False)],
    to: Annotated[
        str | None,
        typer.Option(help="csv, html, glb, mp4, gif or webp; by default what -o ends in."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The file; by default beside the recording."),
    ] = None,
    table: Annotated[
        str, typer.Option(help="Of csv: bodies, contacts, joints or reports.")
    ] = "bodies",
    fps: Annotated[float | None, typer.Option(help="Frames in a second, of all but csv.")] = None,
    size: Annotated[
        str | None, typer.Option(help="Columns x rows of a video, such as 1280x800.")
    ] = None,
    speed: Annotated[
        float | None, typer.Option(help="Simulated seconds in one second of a video or page.")
    ] = None,
    start: Annotated[float | None, typer.Option(help="Begin of a video [s].")] = None,
    end: Annotated[float | None, typer.Option(help="End of a video [s].")] = None,
    forces: Annotated[
        bool, typer.Option("--forces", help="Draw the contact forces in a video.")
    ] = False,
    debug: Annotated[bool, typer.Option(help="Show the traceback of an error.")] = False,
) -> None:
    """Write a recording as a file for other programs.

    html: one page that plays anywhere without a network. glb: a glTF animation, for Blender and
    slides. mp4: a video (needs ffmpeg). gif, webp: a picture that moves. csv: numbers, to
    the last bit.

    Examples:

      drystone export stack.h5 -o stack.html

      drystone export stack.h5 -o stack.mp4 --size 1280x800 --speed 0.5 --forces

      drystone export stack.h5 --to csv --table contacts
    """
    with mistakes(debug):
        kind, place = _target(recording, to, output)
        asked = {"fps": fps, "speed": speed, "start": start, "end": end, "size": _size(size)}
        options = {name: value for name, value in asked.items() if value is not None}
        if forces:
            options["forces"] = True
        _check(kind, options)
        replay = read_recording(str(recording))
        if kind == "csv":
            _write_csv(replay, place, table)
        else:
            from drystone.view.export import export as write

            write(replay, place, kind, **options)
        typer.echo(f"wrote {place} ({place.stat().st_size / 1e6:.2f} MB)")


def _target(recording: Path, to: str | None, output: Path | None) -> tuple[str, Path]:
    """The kind of file, and its place."""
    from drystone.errors import OptionError

    kinds = ("csv", "html", "glb", *FILMS)
    kind = (to or (output.suffix.lstrip(".") if output else "")).lower()
    if kind not in kinds:
        told = f"--to {to}" if to else f"-o {output}" if output else "no file"
        raise OptionError(f"{told}: expected --to {', '.join(kinds[:-1])} or {kinds[-1]}")
    return kind, output or recording.with_suffix(f".{kind}")


def _size(text: str | None) -> tuple[int, int] | None:
    from drystone.errors import OptionError

    if text is None:
        return None
    parts = text.lower().split("x")
    if len(parts) != 2 or not all(part.isdecimal() for part in parts):
        raise OptionError(f"--size {text}: expected columns x rows, such as 1280x800")
    return int(parts[0]), int(parts[1])


def _check(kind: str, options: dict[str, Any]) -> None:
    """Options that a kind of file does not have are refused, not ignored."""
    from drystone.errors import OptionError

    known = {"csv": (), "html": ("fps", "speed"), "glb": ("fps",)}
    for name in options:
        if kind not in FILMS and name not in known[kind]:
            raise OptionError(f"--{name}: {kind} has no such option")


def _write_csv(replay: Any, place: Path, table: str) -> None:
    from drystone.errors import OptionError
    from drystone.recording.tables import write_csv

    if table not in TABLES:
        raise OptionError(f"--table {table}: expected {', '.join(TABLES)}")
    try:
        write_csv(replay, place, table)
    except OSError as error:
        raise OptionError(f"{place}: {error.strerror or error}") from None
