"""``drystone export``: a recording as a page, an animation, a video or a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from drystone.cli.console import NUMBER, SALVAGE, busy, command, say
from drystone.cli.inputs import read_recording
from drystone.errors import OptionError
from drystone.view.formats import FORMATS, ExportFormat, format_of

FPS = Annotated[float | None, typer.Option(**NUMBER, help="Frames per second.")]
SIZE = Annotated[str | None, typer.Option(help="Size of a video in pixels, such as 1280x800.")]
SPEED = Annotated[
    float | None,
    typer.Option(**NUMBER, help="Playback speed of a video or page relative to real time."),
]
START = Annotated[float | None, typer.Option(**NUMBER, help="Start of a video or table [s].")]
END = Annotated[float | None, typer.Option(**NUMBER, help="End of a video or table [s].")]


@command
def export(
    recording: Annotated[
        Path, typer.Argument(help="A recording (.h5).", metavar="RECORDING", show_default=False)
    ],
    to: Annotated[
        str | None,
        typer.Option(help=f"{', '.join(FORMATS.ours)}; by default the extension of -o."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Output file; by default next to the recording."),
    ] = None,
    table: Annotated[
        str | None,
        typer.Option(help="For csv: bodies (the default), contacts, joints or reports."),
    ] = None,
    fps: FPS = None,
    size: SIZE = None,
    speed: SPEED = None,
    start: START = None,
    end: END = None,
    forces: Annotated[
        bool, typer.Option("--forces", help="Draw the contact forces in a video.")
    ] = False,
    salvage: Annotated[bool, SALVAGE] = False,
) -> None:
    kind = format_of("--to" if to is not None else "-o", output, to)
    asked = {
        "fps": fps, "speed": speed, "start": start, "end": end, "size": _size(size),
        "forces": forces or None, "table": table,
    }  # fmt: skip
    options = {name: value for name, value in asked.items() if value is not None}
    for name in options:
        if name not in kind.options:
            raise OptionError(f"--{name}: {kind.name} has no such option")
    replay = read_recording(str(recording), salvage)
    place = output or recording.with_suffix(kind.suffix)
    with busy(f"writing {place}"):
        kind.writer(replay, place, **options)
    if not place.exists():
        raise OptionError(f"{place}: the writer of {kind.name} did not write it")
    say(f"wrote {place} ({place.stat().st_size / 1e6:.2f} MB)")


def _described(kind: ExportFormat) -> str:
    return f"{kind.name}: {kind.about}{f' (needs {kind.needs})' if kind.needs else ''}."


export.__doc__ = f"""Export a recording to another format.

{" ".join(_described(kind) for kind in FORMATS.ours.values())}
Installed packages may add more.

Examples:

  drystone export stack.h5 -o stack.html

  drystone export stack.h5 -o stack.mp4 --size 1280x800 --speed 0.5 --forces

  drystone export stack.h5 --to csv --table contacts --start 2.99
"""


def _size(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    parts = text.lower().split("x")
    if len(parts) != 2 or not all(part.isdecimal() for part in parts):
        raise OptionError(f"--size {text}: expected columns x rows, such as 1280x800")
    return int(parts[0]), int(parts[1])
