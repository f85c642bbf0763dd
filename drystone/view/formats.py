"""The table of export formats: one line for each, from which the list of the command, its help,
documentation, dispatch and messages are made. It loads none of the writers.

Users add their own with ``ds.register_exporter``, or with an entry point of the group
``drystone.exporters`` whose object is an ``ExportFormat``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from drystone.errors import OptionError
from drystone.recording.base import Replay, checked_replay
from drystone.registry import Registry
from drystone.values import as_path, refused_call, text

Writer = Callable[..., Any]
ENDING = re.compile(r"[a-z0-9]*[a-z][a-z0-9]*")
OPTIONS = ("fps", "speed", "start", "end", "size", "forces", "table")  # that the command has


@dataclass(frozen=True)
class ExportFormat:
    """A kind of file that a replay can be written as.

    name: what `to` and the file's ending say, "csv" for .csv; about: what it is, in a sentence;
    write: called with the replay, the path and the options, or where it is, "package.module:name";
    options: of the command's (``fps``, ``speed``, ``start``, ``end``, ``size``, ``forces``,
    ``table``), those that the writer takes; from Python it is given whatever the caller gives;
    needs: what must be installed, in words.
    """

    name: str
    about: str
    write: str | Writer
    options: tuple[str, ...] = ()
    needs: str = ""

    def __post_init__(self) -> None:
        owner = "ExportFormat"
        if not isinstance(self.name, str) or not ENDING.fullmatch(self.name):
            raise OptionError(
                f"{owner}: name = {text(self.name)}: expected what files end in, such as 'csv'"
            )
        if not isinstance(self.about, str) or not self.about:
            raise OptionError(
                f"{owner} {self.name}: about = {text(self.about)}: expected a sentence"
            )
        written = isinstance(self.write, str) and ":" in self.write
        if not (callable(self.write) or written):
            raise OptionError(
                f"{owner} {self.name}: write = {text(self.write)}: expected a function, or where "
                "one is, 'package.module:name'"
            )
        known = isinstance(self.options, tuple) and all(name in OPTIONS for name in self.options)
        if not known:
            raise OptionError(
                f"{owner} {self.name}: options = {text(self.options)}: expected a tuple, some of "
                f"{', '.join(OPTIONS)}"
            )
        if not isinstance(self.needs, str):
            raise OptionError(f"{owner} {self.name}: needs = {text(self.needs)}: expected words")
        if not isinstance(self.write, str):
            self.check_call(self.write, dict.fromkeys(self.options))

    @property
    def suffix(self) -> str:
        """What the names of such files end in."""
        return f".{self.name}"

    @property
    def writer(self) -> Writer:
        """The function, found if it was given by its place."""
        if not isinstance(self.write, str):
            return self.write
        module, _, name = self.write.partition(":")
        try:
            found: Any = getattr(import_module(module), name)
        except (ImportError, AttributeError, ValueError) as error:
            whose = f"ExportFormat {self.name}: write = {self.write!r}"
            raise OptionError(f"{whose} cannot be loaded: {error}") from error
        self.check_call(found, dict.fromkeys(self.options))
        return found

    def check_call(self, write: Any, options: Mapping[str, Any]) -> None:
        """OptionError unless a writer takes a replay, a path and these options."""
        if not callable(write):
            raise OptionError(f"ExportFormat {self.name}: write = {text(write)} is no function")
        refused = refused_call(write, "replay", "path", **options)
        if refused is not None:
            raise OptionError(f"ExportFormat {self.name}: {refused}")


FILM = ("fps", "size", "speed", "start", "end", "forces")
OURS = (
    ExportFormat(
        "html",
        "one self-contained page, for any browser",
        "drystone.view.export_html:write_html",
        ("fps", "speed"),
    ),
    ExportFormat(
        "glb",
        "a glTF animation, for Blender and presentations",
        "drystone.view.export_glb:write_glb",
        ("fps",),
    ),
    ExportFormat(
        "mp4",
        "a video",
        "drystone.view.export_video:write_video",
        FILM,
        "ffmpeg, or imageio-ffmpeg of `drystone[film]`",
    ),
    ExportFormat(
        "gif",
        "an animated image",
        "drystone.view.export_video:write_animation",
        FILM,
        "Pillow, of `drystone[film]`",
    ),
    ExportFormat(
        "webp",
        "an animated image, smaller",
        "drystone.view.export_video:write_animation",
        FILM,
        "Pillow, of `drystone[film]`",
    ),
    ExportFormat(
        "csv",
        "a table of bodies, contacts, joints or reports, with all digits",
        "drystone.recording.tables:write_table",
        ("table", "start", "end"),
    ),
)


def _checked(given: Any) -> ExportFormat:
    if not isinstance(given, ExportFormat):
        raise OptionError(f"register_exporter: {text(given)}: expected a ds.ExportFormat")
    return given


FORMATS: Registry[ExportFormat] = Registry("format", "drystone.exporters", OURS, _checked)


def register_exporter(format: ExportFormat) -> ExportFormat:
    """Add a format of your own: ``ds.export`` and ``drystone export`` then know it by its name."""
    FORMATS.register(format)
    return format


def format_of(owner: str, path: Path | None, to: str | None) -> ExportFormat:
    """The format that is named, or that a file's name ends in; owner: who asked, in messages."""
    if to is not None:
        return FORMATS.find(to.lower() if isinstance(to, str) else to, owner)
    if path is None:
        raise OptionError(f"{owner}: neither a format nor a file: expected {', '.join(FORMATS)}")
    ending = path.suffix.lower().removeprefix(".")
    if ending not in FORMATS:
        known = ", ".join(f".{name}" for name in FORMATS)
        raise OptionError(f"{owner}: cannot write {path.name!r}: expected a name ending in {known}")
    return FORMATS[ending]


def export(
    replay: Replay | Sequence[Replay], path: str | Path, to: str | None = None, **options: Any
) -> Path:
    """Write a Trajectory or a recording as `to`: "html", "glb", "mp4", "gif", "webp", "csv", or a
    format that was registered (``ds.register_exporter``); by default what the name of the file
    ends in. Options are those of the format."""
    place = as_path("export", path)
    kind = format_of("export", place, to)
    write = kind.writer
    if kind.name not in FORMATS.ours:  # ours answer wrong words and runs themselves
        kind.check_call(write, options)
        for one in replay if isinstance(replay, list | tuple) else [replay]:
            checked_replay(one)
    write(replay, place, **options)
    return place
