"""What a command is to work on: a scene of the gallery, a scene file, or a recording."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from drystone.errors import OptionError
from drystone.steppers import OURS

RECORDINGS = (".h5", ".hdf5")
SCENE_FILES = (".yaml", ".yml", ".json")


def complete_scene(incomplete: str) -> list[str]:
    """Names of the gallery that begin so, for the shell."""
    from drystone.scenes.registry import SCENES

    return [name for name in SCENES if name.startswith(incomplete)]


SCENE = Annotated[
    str,
    typer.Argument(
        help="Name of a scene (see `drystone scenes`) or a scene file (.yaml, .json).",
        metavar="SCENE|FILE",
        autocompletion=complete_scene,
    ),
]
METHOD = Annotated[
    str | None,
    typer.Option(
        help=f"{', '.join(OURS)}, or one from an installed package, with its default options."
    ),
]
SETTINGS = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        "-s",
        help="A setting of the scene; may be given several times.",
        metavar="KEY=VALUE",
    ),
]


def is_recording(text: str) -> bool:
    """Whether a text names a recording: by its extension alone."""
    return Path(text).suffix.lower() in RECORDINGS


def stem(text: str) -> str:
    """A name for files made of it: the scene's, or the file's without folder and ending."""
    known = (*RECORDINGS, *SCENE_FILES)
    return Path(text).stem if Path(text).suffix.lower() in known else text


def read_recording(text: str, salvage: bool = False) -> Any:
    """The recording of that name; salvage: what of it is whole, and a line for what is not."""
    import drystone as ds
    from drystone.cli.console import report_damage

    out = ds.read_recording(text, salvage=salvage)
    report_damage(out)
    return out


def read_scene(text: str, settings: dict[str, str] | None = None, recordings: bool = False) -> Any:
    """A ds.Scene: of the gallery, with these settings, or from a scene file; recordings: whether
    the command would have taken one, for its message."""
    suffix = Path(text).suffix.lower()
    if suffix in SCENE_FILES:
        if settings:
            raise OptionError(f"--set: {text} is a scene file: change it there")
        from drystone.scenes.files import read_scene as from_file

        return from_file(text)
    if is_recording(text):
        raise OptionError(f"{text} is a recording: expected a scene (`drystone scenes`) or a file")
    from drystone.scenes.registry import SCENES, scene

    if text not in SCENES and (suffix or "/" in text or Path(text).exists()):
        endings = ", ".join((*SCENE_FILES, *(RECORDINGS if recordings else ())))
        raise OptionError(f"{text}: expected a scene (`drystone scenes`) or a file ({endings})")
    return scene(text, **(settings or {}))


def read_settings(texts: list[str] | None) -> dict[str, str]:
    """KEY=VALUE texts as a dictionary; the scene converts the values."""
    out: dict[str, str] = {}
    for text in texts or ():
        key, equals, value = text.partition("=")
        if not equals or not key.strip() or not value.strip():
            raise OptionError(f"--set {text}: expected KEY=VALUE, such as n=1000")
        out[key.strip().replace("-", "_")] = value.strip()
    return out


def named_method(name: str | None) -> Any:
    """A method with its defaults, None for the scene's own."""
    from drystone.steppers.registry import METHODS

    return None if name is None else METHODS.find(name, "--method")()
