"""Scenes of the gallery in ``drystone check``: each is run, and its claims are told."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import typer

from drystone.cli.words import say


def is_scene(path: Path) -> bool:
    """Whether a name of the gallery is meant: it has no ending, and no file has that name."""
    from drystone.scenes.registry import SCENES

    return str(path) in SCENES and not path.exists()


def check_scene(name: str, method: str | None, settings: list[str] | None, as_json: bool) -> bool:
    """Run a scene and print its claims; whether all hold."""
    from drystone.cli.run import read_settings
    from drystone.errors import OptionError
    from drystone.scenes.base import unknown
    from drystone.scenes.registry import scene
    from drystone.simulation import METHODS

    if method is not None and method not in METHODS:
        raise OptionError(f"--method: {unknown('method', method, METHODS)}")
    built = scene(name, **read_settings(settings))
    found = built.check(None if method is None else METHODS[method]())
    if as_json:
        claims = [
            {"words": c.words, "found": _json(c.found), "low": _json(c.low), "high": _json(c.high)}
            | {"ok": c.ok}
            for c in found.claims
        ]
        said = {"scene": name, "method": found.method, "ok": found.ok, "claims": claims}
        typer.echo(json.dumps(said, allow_nan=False))
    else:
        say(str(found))
    return found.ok


def _json(value: Any) -> float | None:
    number = float(value)
    return number if math.isfinite(number) else None
