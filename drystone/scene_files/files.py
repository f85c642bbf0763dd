"""Scene files: read, validated, and written for editing."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from drystone.arguments import answering
from drystone.errors import SceneFileError
from drystone.scene_files.kinds import VERSION
from drystone.scene_files.methods import method_from
from drystone.scene_files.text import ENDINGS, Place, parse, read_text
from drystone.scene_files.writing import json_text, yaml_text
from drystone.values import as_path
from drystone.world import World


@answering
@dataclass(frozen=True)
class SceneFile:
    """A scene as a file describes it. method, duration [s]: None if it says nothing; view: hints
    for whoever draws it, as of ``ds.Scene``; title, about, source: texts, empty if not given;
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
    from drystone.scene_files.complaints import complaint
    from drystone.scene_files.scene_model import scene_model

    place = Place(0) if lines is None else lines
    if not isinstance(document, dict):
        raise SceneFileError(f"{name}: expected keys and values, such as 'bodies: [...]'")
    version = document.get("drystone")
    if isinstance(version, int) and version > VERSION:
        raise SceneFileError(
            f"{name}: written for a later version of Drystone (drystone: {version})"
        )
    try:
        scene = scene_model().model_validate(document)
    except ValidationError as error:
        raise complaint(error, document, name, place) from None
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
    from drystone.scene_files.scene_model import schema as made

    return made()


def _tuples(value: Any) -> Any:
    """Lists as tuples, at every depth but the outermost."""
    if isinstance(value, dict):
        return {key: _tuples(entry) for key, entry in value.items()}
    return tuple(_tuples(entry) for entry in value) if isinstance(value, list) else value
