"""What a command is to work on: a scene of the gallery, a scene file, or a recording."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from drystone.errors import OptionError

RECORDINGS = (".h5", ".hdf5")
SCENE_FILES = (".yaml", ".yml", ".json")


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
    from drystone.cli.words import report_damage

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


def complete_scene(incomplete: str) -> list[str]:
    """Names of the gallery that begin so, for the shell."""
    from drystone.scenes.registry import SCENES

    return [name for name in SCENES if name.startswith(incomplete)]
