"""Scene files: read, validated, and written for editing."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from drystone.arguments import answering
from drystone.errors import SceneFileError
from drystone.scene_files.kinds import SCENE_VERSION
from drystone.scene_files.methods import method_from
from drystone.scene_files.text import ENDINGS, Place, parse, read_text
from drystone.values import as_path
from drystone.world import World

LINE_WIDTH = 100  # columns of a line, as in the sources
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_. /+*()^=-]*[A-Za-z0-9_)]|[A-Za-z]")
_RESERVED = {
    "true", "false", "null", "yes", "no", "on", "off", "y", "n", "inf", "nan",
}  # fmt: skip


@answering
@dataclass(frozen=True)
class SceneFile:
    """A scene as a file describes it. method, duration [s]: None if it says nothing; view: hints
    for drawing, as of ``ds.Scene``; title, about, source: texts, empty if not given;
    document: what it was built from."""

    world: World
    method: Any = None
    duration: float | None = None
    view: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""
    about: str = ""
    source: str = ""
    document: Mapping[str, Any] = field(default_factory=dict, repr=False)


def read(path: str | os.PathLike[str]) -> SceneFile:
    """The scene in a .yaml or .json file; SceneFileError says what is wrong, and where."""
    place = as_path("read_scene", path, SceneFileError)
    data, lines = parse(read_text(place), str(place))
    return load(data, place.parent, str(place), lines)


def load(
    document: Any,
    folder: str | os.PathLike[str] | None = None,
    name: str = "scene",
    lines: Place | None = None,
) -> SceneFile:
    """The scene of a document. folder: where its meshes are; name: what errors call it; lines:
    where its values stand."""
    from pydantic import ValidationError

    from drystone.scene_files.build import Builder
    from drystone.scene_files.models import scene_model
    from drystone.scene_files.validation import scene_file_error

    place = Place(0) if lines is None else lines
    if not isinstance(document, dict):
        raise SceneFileError(f"{name}: expected keys and values, such as 'bodies: [...]'")
    version = document.get("drystone")
    if isinstance(version, int) and version > SCENE_VERSION:
        raise SceneFileError(
            f"{name}: written for a later version of Drystone (drystone: {version})"
        )
    try:
        scene = scene_model().model_validate(document)
    except ValidationError as error:
        raise scene_file_error(error, document, name, place) from None
    builder = Builder(scene, name, place, None if folder is None else Path(folder))
    method = None
    if scene.method is not None:
        with builder.at("method"):
            method = method_from(document["method"])
    world = builder.world()
    view = {} if scene.view is None else _tuples(document["view"])
    texts = (scene.title or "", scene.about or "", scene.source or "")
    return SceneFile(world, method, scene.duration, view, *texts, document)


def write(path: str | os.PathLike[str], document: Mapping[str, Any]) -> Path:
    """Write a document as YAML or JSON, as the name says."""
    place = as_path("write_scene", path, SceneFileError)
    if place.suffix.lower() not in ENDINGS:
        raise SceneFileError(f"{place}: expected a name ending in {', '.join(ENDINGS)}")
    text = json_text(document) if place.suffix.lower() == ".json" else yaml_text(document)
    try:
        place.write_text(text, encoding="utf-8")
    except OSError as error:
        raise SceneFileError(f"{place}: {error.strerror or error}") from None
    return place


def schema() -> dict[str, Any]:
    """JSON Schema of scene files, for editors."""
    from drystone.scene_files.models import schema as made

    return made()


def _tuples(value: Any) -> Any:
    """Lists as tuples, at every depth but the outermost."""
    if isinstance(value, dict):
        return {key: _tuples(entry) for key, entry in value.items()}
    return tuple(_tuples(entry) for entry in value) if isinstance(value, list) else value


def json_text(document: Mapping[str, Any]) -> str:
    """JSON, an entry of a list on each line."""
    parts = []
    for key, value in document.items():
        if isinstance(value, list) and value and isinstance(value[0], dict | list):
            rows = ",\n".join(f"    {_json(entry)}" for entry in value)
            parts.append(f"  {_json(key)}: [\n{rows}\n  ]")
        else:
            parts.append(f"  {_json(key)}: {_json(value)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _json(value: Any) -> str:
    return json.dumps(value, allow_nan=False, ensure_ascii=False)


def yaml_text(document: Mapping[str, Any]) -> str:
    """YAML that readers of versions 1.1 and 1.2 agree on."""
    return "\n".join(_block(document, 0)) + "\n"


def _block(value: Mapping[str, Any], depth: int) -> Iterable[str]:
    pad = "  " * depth
    for key, entry in value.items():
        line = f"{pad}{_scalar(key)}: {_flow(entry)}"
        if isinstance(entry, dict) and entry and len(line) > LINE_WIDTH:
            yield f"{pad}{_scalar(key)}:"
            yield from _block(entry, depth + 1)
        elif isinstance(entry, list) and entry and _is_long(entry, line):
            yield f"{pad}{_scalar(key)}:"
            yield from _items(entry, depth + 1)
        elif isinstance(entry, str) and "\n" in entry and entry.strip() == entry:
            yield from _paragraph(f"{pad}{_scalar(key)}: ", entry, depth + 1, line)
        else:
            yield line


def _is_long(entry: list[Any], line: str) -> bool:
    return len(line) > LINE_WIDTH or any(isinstance(item, dict) for item in entry)


def _items(entries: list[Any], depth: int) -> Iterable[str]:
    pad = "  " * depth
    for entry in entries:
        line = f"{pad}- {_flow(entry)}"
        if len(line) <= LINE_WIDTH or not entry or not isinstance(entry, dict | list):
            yield line
            continue
        inner = _block(entry, depth + 1) if isinstance(entry, dict) else _items(entry, depth + 1)
        for k, text in enumerate(inner):
            yield f"{pad}- {text.lstrip()}" if k == 0 else text


def _paragraph(head: str, text: str, depth: int, line: str) -> Iterable[str]:
    """A text of several lines, as it is; in quotes where that could change it."""
    rows = text.split("\n")
    printable = all(row == row.rstrip() and row.isprintable() for row in rows)
    if not printable or rows[0].startswith(" "):
        yield line
        return
    yield f"{head}|-"
    for row in rows:
        yield f"{'  ' * depth}{row}" if row else ""


def _flow(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_scalar(k)}: {_flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_flow(entry) for entry in value) + "]"
    return _scalar(value)


def _scalar(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, int):
        return str(value)
    text = str(value)
    if _PLAIN.fullmatch(text) and text.lower() not in _RESERVED and ": " not in text:
        return text
    return json.dumps(text, ensure_ascii=True)


def _float(value: float) -> str:
    """Exact, and a number for readers of YAML 1.1 too, which want a point before an exponent."""
    text = repr(value)
    mantissa, e, exponent = text.partition("e")
    if e and "." not in mantissa:
        mantissa += ".0"
    if e and exponent[0] not in "+-":
        exponent = f"+{exponent}"
    return mantissa + e + exponent
