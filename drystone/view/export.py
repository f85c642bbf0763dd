"""Replays as files for other programs, by the kind of file: html, glb, mp4, gif, webp."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from drystone.errors import OptionError
from drystone.recording.base import Replay
from drystone.values import as_path, text


def _html(replay: Any, path: Path, **options: Any) -> Path:
    from drystone.view.export_html import write_html

    return write_html(replay, path, **options)


def _glb(replay: Any, path: Path, **options: Any) -> Path:
    from drystone.view.export_glb import write_glb

    return write_glb(replay, path, **options)


def _video(replay: Any, path: Path, **options: Any) -> Path:
    from drystone.view.export_video import write_video

    return write_video(replay, path, **options)


def _animation(replay: Any, path: Path, **options: Any) -> Path:
    from drystone.view.export_video import write_animation

    return write_animation(replay, path, **options)


KINDS: dict[str, Callable[..., Path]] = {
    "html": _html, "glb": _glb, "mp4": _video, "gif": _animation, "webp": _animation,
}  # fmt: skip


def export(
    replay: Replay | Sequence[Replay], path: str | Path, to: str | None = None, **options: Any
) -> Path:
    """Write a Trajectory or a recording as `to`: "html" (``write_html``), "glb" (``write_glb``),
    "mp4" (``write_video``), "gif" or "webp" (``write_animation``); by default what the name of
    the file ends in. Options are those of these functions."""
    place = as_path("export", path)
    if to is not None and not isinstance(to, str):
        raise OptionError(f"to = {text(to)}: expected {', '.join(KINDS)}")
    kind = (to or place.suffix.lstrip(".")).lower()
    if kind not in KINDS:
        raise OptionError(f"cannot write {kind or place.name!r}: expected {', '.join(KINDS)}")
    return KINDS[kind](replay, place, **options)
