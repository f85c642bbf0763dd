"""Replays as files for other programs, by the kind of file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from drystone.recording.base import Replay
from drystone.values import as_path
from drystone.view.formats import FORMATS, format_of


def export(
    replay: Replay | Sequence[Replay], path: str | Path, to: str | None = None, **options: Any
) -> Path:
    """Write a Trajectory or a recording as `to`: "html", "glb", "mp4", "gif", "webp", "csv", or a
    format that was registered (``ds.register_exporter``); by default what the name of the file
    ends in. Options are those of the format."""
    place = as_path("export", path)
    kind = format_of("export", place, to)
    write = kind.writer
    if kind.name not in FORMATS.ours:  # ours answer wrong words themselves
        kind.check_call(write, options)
    write(replay, place, **options)
    return place
