"""``drystone export``: a recording as a page, an animation, a video or a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from drystone.cli.subjects import read_recording
from drystone.cli.words import NUMBER, SALVAGE, busy, mistakes, say

FILMS = ("mp4", "gif", "webp")
TABLES = ("bodies", "contacts", "joints", "reports")


FPS = Annotated[float | None, typer.Option(**NUMBER, help="Frames in a second, of all but csv.")]
SIZE = Annotated[str | None, typer.Option(help="Columns x rows of a video, such as 1280x800.")]
SPEED = Annotated[
    float | None,
    typer.Option(**NUMBER, help="Simulated seconds in one second of a video or page."),
]
START = Annotated[float | None, typer.Option(**NUMBER, help="Begin of a video or table [s].")]
END = Annotated[float | None, typer.Option(**NUMBER, help="End of a video or table [s].")]


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
    fps: FPS = None,
    size: SIZE = None,
    speed: SPEED = None,
    start: START = None,
    end: END = None,
    forces: Annotated[
        bool, typer.Option("--forces", help="Draw the contact forces in a video.")
    ] = False,
    salvage: Annotated[bool, SALVAGE] = False,
    debug: Annotated[bool, typer.Option(help="Show the traceback of an error.")] = False,
) -> None:
    """Write a recording as a file for other programs.

    html: one page that plays anywhere without a network. glb: a glTF animation, for Blender and
    slides. mp4: a video (needs ffmpeg). gif, webp: a picture that moves. csv: numbers, to
    the last bit.

    Examples:

      drystone export stack.h5 -o stack.html

      drystone export stack.h5 -o stack.mp4 --size 1280x800 --speed 0.5 --forces

      drystone export stack.h5 --to csv --table contacts --start 2.99
    """
    with mistakes(debug):
        kind, place = _target(recording, to, output)
        asked = {"fps": fps, "speed": speed, "start": start, "end": end, "size": _size(size)}
        options = {name: value for name, value in asked.items() if value is not None}
        if forces:
            options["forces"] = True
        _check(kind, options)
        replay = read_recording(str(recording), salvage)
        if kind == "csv":
            _write_csv(replay, place, table, start, end)
        else:
            from drystone.view.export import export as write

            with busy(f"writing {place}"):
                write(replay, place, kind, **options)
        say(f"wrote {place} ({place.stat().st_size / 1e6:.2f} MB)")


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

    known = {"csv": ("start", "end"), "html": ("fps", "speed"), "glb": ("fps",)}
    for name in options:
        if kind not in FILMS and name not in known[kind]:
            raise OptionError(f"--{name}: {kind} has no such option")


def _frames(time: Any, start: float | None, end: float | None) -> slice:
    """Frames from one time to another [s]."""
    import numpy as np

    from drystone.errors import OptionError

    near = 1e-9 * max(1.0, abs(float(time[-1])))
    first = 0 if start is None else int(np.searchsorted(time, start - near))
    last = len(time) if end is None else int(np.searchsorted(time, end + near, side="right"))
    if first >= last:
        asked = " ".join(
            f"--{k} {v:g}" for k, v in (("start", start), ("end", end)) if v is not None
        )
        raise OptionError(f"{asked}: no frame: they go from {time[0]:g} s to {time[-1]:g} s")
    return slice(first, last)


def _write_csv(
    replay: Any, place: Path, table: str, start: float | None, end: float | None
) -> None:
    from drystone.errors import OptionError
    from drystone.recording.tables import write_csv

    if table not in TABLES:
        raise OptionError(f"--table {table}: expected {', '.join(TABLES)}")
    try:
        write_csv(replay, place, table, _frames(replay.time, start, end))
    except OSError as error:
        raise OptionError(f"{place}: {error.strerror or error}") from None
