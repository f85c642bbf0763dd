"""Scenes from files and into files, as those of the gallery are."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from drystone import scene_files
from drystone.errors import OptionError
from drystone.scenes.base import Scene
from drystone.steppers.base import Method
from drystone.steppers.time_stepping.options import TimeStepping
from drystone.values import text
from drystone.world import World

DURATION = 5.0  # [s] of a file that says none


def read_scene(path: str | os.PathLike[str]) -> Scene:
    """The scene in a .yaml or .json file; SceneFileError says what is wrong with it, and where.

    Without a method it has ds.TimeStepping(), without a duration 5 s.
    """
    found = scene_files.read(path)
    return as_scene(found, Path(path).stem)


def as_scene(found: scene_files.SceneFile, name: str) -> Scene:
    """A document that was built, as a scene called `name`."""
    return Scene(
        name=name,
        world=found.world,
        method=TimeStepping() if found.method is None else found.method,
        duration=DURATION if found.duration is None else found.duration,
        summary=found.title or "a scene from a file",
        paper=found.source,
        settings=MappingProxyType({}),
        view=MappingProxyType(dict(found.view)),
    )


def write_scene(
    path: str | os.PathLike[str],
    scene: Scene | World,
    method: str | Method | None = None,
    duration: float | None = None,
    view: Mapping[str, object] | None = None,
    title: str | None = None,
) -> Path:
    """Write a world, or a scene of the gallery with its method, duration and view, to a .yaml or
    .json file, from which it runs to the same bits.

    What is given goes before what the scene says. DescriptionError: the world holds a Python
    function.
    """
    if view is not None and not isinstance(view, Mapping):
        raise OptionError(f"write_scene: view = {text(view)}: expected hints by name")
    if isinstance(scene, World):
        document = scene_files.document(scene, method, duration, view, title=title)
        return scene_files.write(path, document)
    if not isinstance(scene, Scene):
        raise OptionError(f"write_scene: {text(scene)}: expected a ds.World or a ds.Scene")
    return scene_files.write(path, scene_document(scene, method, duration, view, title))


def scene_document(
    scene: Scene,
    method: str | Method | None = None,
    duration: float | None = None,
    view: Mapping[str, object] | None = None,
    title: str | None = None,
) -> dict[str, Any]:
    """The document of a scene."""
    hints = dict(scene.view if view is None else view)
    if "settings" in hints.get("play", {}):  # of the gallery: a file has none
        hints.pop("play")
    return scene_files.document(
        scene.world,
        scene.method if method is None else method,
        scene.duration if duration is None else duration,
        hints,
        title=title or scene.summary or None,
        source=scene.paper or None,
    )
