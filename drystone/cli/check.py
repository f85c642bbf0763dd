"""``drystone check``: validates scene files, problem files and recordings, and compares scenes of
the gallery with their claims."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from drystone.cli.console import (
    DEBUG,
    EXIT_FAILED,
    EXIT_WRONG,
    command,
    complain,
    ignored_restitution,
    kind_of,
    say,
    say_json,
    size_of,
)
from drystone.cli.inputs import SCENE_FILES, named_method, read_settings
from drystone.errors import DrystoneError, OptionError, RecordingError
from drystone.plain_files import kind_of as kind_of_file
from drystone.values import finite

TABLES = (".hdf5", ".h5")  # problems of FCLIB, or recordings
PROBLEMS = (".dat", ".npz")
MAX_TURNS = 2  # beyond them an angle is pointed out


@command
def check(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="Scenes (.yaml, .json), problems (.hdf5, .dat, .npz), recordings (.h5), or names "
            "of the gallery.",
            metavar="FILE|SCENE",
        ),
    ],
    method: Annotated[
        str | None,
        typer.Option(help="Method for scenes given by name; their own by default."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", "-s", help="A setting of the scene.", metavar="KEY=VALUE"),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per file, one per line.")
    ] = False,
    debug: DEBUG = False,
) -> None:
    """Validate files, or compare scenes of the gallery with their papers.

    Files are read and summarised, not simulated or solved. Errors give file, line, key and value;
    the exit code is 2 if any file is invalid. All checksums of recordings are verified. Scenes of
    Baraff (1989, 1992, 1994), given by name, are run and compared with what the paper reports; the
    exit code is 1 if they disagree.

    Examples:

      drystone check wall.yaml

      drystone check problems/*.hdf5 --json

      drystone check bricks --set shift=0.02
    """
    named = [path for path in files if _is_scene(path)]
    if (method is not None or settings) and len(named) < len(files):
        raise OptionError("--method, --set: only for scenes given by name")
    wrong = failed = False
    for path in files:
        if _is_scene(path):
            failed |= not _check_scene(str(path), method, settings, as_json)
        else:
            wrong |= not _file(path, as_json, debug)
    if wrong or failed:
        raise typer.Exit(EXIT_WRONG if wrong else EXIT_FAILED)


def _is_scene(path: Path) -> bool:
    """Whether a name of the gallery is meant: it has no ending, and no file has that name."""
    from drystone.scenes.registry import SCENES

    return str(path) in SCENES and not path.exists()


def _check_scene(name: str, method: str | None, settings: list[str] | None, as_json: bool) -> bool:
    """Run a scene and print its claims; whether all hold."""
    from drystone.scenes.registry import scene

    found = scene(name, **read_settings(settings)).check(named_method(method))
    if as_json:
        claims = [
            {
                "words": c.words,
                "found": finite(c.found),
                "low": finite(c.low),
                "high": finite(c.high),
            }
            | {"ok": c.ok}
            for c in found.claims
        ]
        said = {"scene": name, "method": found.method, "ok": found.ok, "claims": claims}
        say_json(said)
    else:
        say(str(found))
    return found.ok


def _file(path: Path, as_json: bool, debug: bool) -> bool:
    """Say what a file holds, or what is wrong with it; whether it is right."""
    try:
        found = examine(path)
    except DrystoneError as error:
        if debug:
            raise
        _say_wrong(path, getattr(error, "problems", (str(error),)), as_json)
        return False
    if as_json:
        say_json({"file": str(path), "ok": True} | found)
        return True
    say(f"{path}: {found['words']}")
    for hint in found.get("hints", ()):
        complain(hint)
    return True


def _say_wrong(path: Path, lines: tuple[str, ...], as_json: bool) -> None:
    if as_json:
        say_json({"file": str(path), "ok": False, "errors": list(lines)})
        return
    for line in lines:
        complain(line)


class DamagedError(RecordingError):
    """A recording of which not everything is what was written; problems: a line for each part."""

    def __init__(self, recording: Any) -> None:
        found, whole, n = recording.damage, len(recording), len(recording.ends)
        self.problems = (
            *(f"{recording.path}: damaged: {line}" for line in found),
            f"{recording.path}: {whole} of {n} frames are whole, and can be read with --salvage",
        )
        super().__init__(self.problems[0])


def examine(path: Path) -> dict[str, Any]:
    """What a file holds, "kind" and "words" first; DrystoneError if it is wrong."""
    suffix = path.suffix.lower()
    known: dict[tuple[str, ...], Callable[[Path], dict[str, Any]]] = {
        SCENE_FILES: _scene,
        PROBLEMS: _problem,
        TABLES: _table,
    }
    for endings, reader in known.items():
        if suffix in endings:
            return reader(path)
    endings_known = ", ".join(ending for endings in known for ending in endings)
    raise OptionError(f"{path}: expected a name ending in {endings_known}")


def _scene(path: Path) -> dict[str, Any]:
    from drystone.cli.summary import method_object
    from drystone.scenes.files import read_scene
    from drystone.simulation import Simulation

    scene = read_scene(path)
    # overlaps, pairs without a kernel, joints that do not fit
    hint = ignored_restitution(Simulation(scene.world, scene.method))
    world = scene.world
    parts = [f"{len(world)} {'body' if len(world) == 1 else 'bodies'}"]
    for count, word in ((len(world.joints), "joint"), (len(world.forces), "force")):
        if count:
            parts.append(f"{count} {word}{'s' * (count > 1)}")
    where = "planar" if world.planar else "spatial"
    words = f"{where} scene, {', '.join(parts)}, {world.total_mass:.6g} kg; {scene.method.name}"
    return {
        "kind": "scene",
        "words": f"{words}, dt {scene.method.dt:.4g} s, {scene.duration:g} s",
        "title": scene.summary,
        "planar": world.planar,
        "bodies": len(world),
        "joints": len(world.joints),
        "forces": len(world.forces),
        "mass": world.total_mass,
        "method": method_object(scene.method),
        "duration": scene.duration,
        "hints": _degrees(path) + ([f"{path}: {hint}"] if hint else []),
    }


def _degrees(path: Path) -> list[str]:
    """Angles of several turns: they may be right, but were probably meant in degrees."""
    from drystone.constraints.joints.registry import JOINTS
    from drystone.scene_files.text import parse, read_text
    from drystone.scene_files.validation import where

    data, place = parse(read_text(path), path.name)
    angles: list[tuple[tuple[Any, ...], Any]] = []
    for k, body in enumerate(data.get("bodies") or ()):
        angles.append((("bodies", k, "orientation"), body.get("orientation")))
    for k, joint in enumerate(data.get("joints") or ()):
        kind, limits = JOINTS.get(joint.get("kind")), joint.get("limits")
        units = {} if kind is None else kind.units
        if isinstance(limits, list) and set(units.values()) == {"rad"}:
            angles += [(("joints", k, "limits"), value) for value in limits]
    out = []
    for at, value in angles:
        if isinstance(value, int | float) and abs(value) > MAX_TURNS * math.tau:
            turns = f"{value:g} rad are {value / math.tau:.3g} turns"
            out.append(f"{where(str(path), place, at)}: {turns}: {math.radians(value):.4g} if "
                       f"{value:g} degrees are meant")  # fmt: skip
    return out


def _problem(path: Path) -> dict[str, Any]:
    from drystone.problems.files import read_problem

    problem = read_problem(path)
    kind, size = kind_of(problem), size_of(problem)
    unit = "contacts" if kind[-1] == "d" else "unknowns"
    return {"kind": "problem", "words": f"{kind} problem, {size} {unit}", "type": kind, unit: size}


def _table(path: Path) -> dict[str, Any]:
    """An HDF5 file: a recording if it says so, a problem otherwise."""
    if not _is_recording(path):
        return _problem(path)
    from drystone.recording.reader import read_recording

    recording = read_recording(path, salvage=True)
    if recording.damage:
        raise DamagedError(recording)
    frames, bodies = len(recording), len(recording.names)
    time = recording.time
    seconds = float(time[-1] - time[0]) if frames else 0.0
    ended = "complete" if recording.complete else "stopped before its end"
    return {
        "kind": "recording",
        "words": f"recording of {seconds:g} s, {frames} frames, {bodies} bodies, {ended}",
        "frames": frames,
        "bodies": bodies,
        "seconds": seconds,
        "complete": bool(recording.complete),
        "scene": recording.scene,
        "method": dict(recording.method or {}),
    }


def _is_recording(path: Path) -> bool:
    """Whether an HDF5 file is one of ours; the readers say what is wrong with others."""
    import h5py

    if kind_of_file(path):
        return path.suffix.lower() == ".h5"
    try:
        with h5py.File(path, "r") as file:
            return "fclib_local" not in file and "fclib_global" not in file
    except (OSError, RuntimeError):
        return path.suffix.lower() == ".h5"
