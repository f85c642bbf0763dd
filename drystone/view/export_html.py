"""A replay, or several side by side, as one HTML file that plays anywhere without a network.

The page holds its script, its style and all data, and its own policy forbids everything else:
only the script whose hash stands in the policy runs, and nothing is fetched.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any

from drystone.arguments import answering
from drystone.errors import OptionError
from drystone.escaping import for_html, for_line
from drystone.recording.base import Replay
from drystone.values import text, whole, writing
from drystone.view.player.replays import as_json, pack

SCRIPTS = ("decode", "algebra", "camera", "shaders", "spatial", "planar", "series", "main")


@answering
def write_html(replays: Any, path: str | Path, **options: Any) -> Path:
    """Write the page of one or several replays; returns its path. Options are those of ``page``."""
    return _write(page(replays, **options), path)


def _write(text: str, path: str | Path) -> Path:
    place = Path(path)
    with writing(place):
        place.write_text(text, encoding="utf-8")
    return place


class Embedded:
    """A page for a notebook: shown in the cell, kept in the saved notebook, playable offline."""

    def __init__(self, text: str, height: int) -> None:
        self.text, self.height = text, height

    def save(self, path: str | Path) -> Path:
        """Write the page as a file."""
        return _write(self.text, path)

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{html.escape(self.text)}" sandbox="allow-scripts" width="100%" '
            f'height="{self.height}" style="border:1px solid #e3ded3;border-radius:8px"></iframe>'
        )


def embed(replays: Replay | Sequence[Replay], *, height: int = 520, **options: Any) -> Embedded:
    """The page of one or several replays for a notebook's cell; height [pixels]; options as of
    ``write_html``. Nothing is served: the notebook holds all of it."""
    pixels = whole(height)
    if pixels is None or not 1 <= pixels <= 100_000:
        raise OptionError(f"embed: height = {text(height)}: expected pixels")
    return Embedded(page(replays, **options), pixels)


@answering
def page(
    replays: Any,
    *,
    title: str | None = None,
    about: str | None = None,
    labels: Sequence[str] | None = None,
    fps: float = 60.0,
    forces: bool = True,
    view: Mapping[str, Any] | None = None,
    colours: Mapping[str, str] | None = None,
    play: bool = True,
    speed: float = 1.0,
) -> str:
    """The page as text.

    replays: a Trajectory or a recording, or a sequence of them, seen side by side with one clock;
    labels: of each. title, about: heading and the line beside it, by default what the replay
    knows of itself. fps: frames kept of each second; forces: keep the contacts; view: hints of a
    scene ("limits", "camera", "target"); colours: "#rrggbb" of bodies by name; play: begin by
    itself; speed: simulated seconds in one second.
    """
    shown = list(replays) if isinstance(replays, list | tuple) else [replays]
    if not shown:
        raise OptionError("write_html: no replays given")
    for name, value in (("fps", fps), ("speed", speed)):
        if not 0 < value < float("inf"):
            raise OptionError(f"write_html: {name} = {value!r}: expected a positive number")
    tags = list(labels) if labels is not None else [label_of(r) for r in shown]
    if len(tags) != len(shown):
        raise OptionError(f"write_html: {len(tags)} labels for {len(shown)} replays")
    packed = [
        pack(replay, label=tag, fps=fps, forces=forces, view=view, colours=colours)
        for replay, tag in zip(shown, tags, strict=True)
    ]
    version = str(import_module("drystone").__version__)  # above this layer: not by name
    heading = for_line(title if title is not None else title_of(shown[0]))
    page = {
        "title": heading, "about": for_line(about if about is not None else about_of(shown)),
        "version": version, "play": bool(play), "speed": float(speed),
        "replays": [meta for meta, _ in packed],
    }  # fmt: skip
    return _assembled(heading, version, page, [text for _, text in packed])


def with_this_player(text: str) -> str:
    """A page that ``page`` made, also by an earlier version, with the player of this version."""
    found = re.search(r'<script type="application/json" id="replays">(.*?)</script>', text, re.S)
    data = re.findall(r'id="data-\d+">(.*?)</script>', text, re.S)
    try:
        page = json.loads(found[1] if found else "")
        title, replays = str(page["title"]), len(page["replays"])
    except (ValueError, KeyError, TypeError):
        raise OptionError("with_this_player: not a page of replays") from None
    if len(data) != replays:
        raise OptionError(f"with_this_player: {len(data)} blocks of data for {replays} replays")
    if not all(re.fullmatch(r"[A-Za-z0-9+/=\s]*", part) for part in data):
        raise OptionError("with_this_player: the data of a replay is not what this program writes")
    return _assembled(title, str(page.get("version", "")), page, data)


def title_of(replay: Any) -> str:
    """What a replay calls itself, or its scene."""
    return str(getattr(replay, "title", None) or getattr(replay, "scene", None) or "Drystone")


def label_of(replay: Any) -> str:
    """The method of a replay, as far as it is known."""
    method = getattr(replay, "method", None)
    if isinstance(method, Mapping):
        named = [str(method.get("name", ""))]
        named += [f"{k} {v}" for k, v in method.items() if k not in ("name", "dt")]
        return ", ".join(part for part in named if part)
    return title_of(replay)


def about_of(replays: Sequence[Any]) -> str:
    """Method and settings of a single replay in one line."""
    if len(replays) != 1:
        return f"{len(replays)} runs, synchronised"
    replay = replays[0]
    parts = []
    method = getattr(replay, "method", None)
    if isinstance(method, Mapping):
        parts.append(label_of(replay))
        if isinstance(method.get("dt"), int | float):
            parts.append(f"dt = {1e3 * method['dt']:.4g} ms")
    settings = getattr(replay, "settings", None) or {}
    parts += [f"{name} = {value}" for name, value in settings.items()]
    parts.append(f"{replay.model.nb} bodies")
    return " · ".join(parts)


def _assembled(title: str, version: str, page: Mapping[str, Any], data: Sequence[str]) -> str:
    """The template with everything in its place; only `title` and the data come from outside."""
    folder = files("drystone.view.player")
    style = folder.joinpath("page.css").read_text(encoding="utf-8")
    parts = [folder.joinpath(f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS]
    script = '"use strict";\n' + "\n".join(parts)
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    blocks = [
        f'<script type="application/octet-stream" id="data-{i}">{text}</script>'
        for i, text in enumerate(data)
    ]
    pieces = {
        "POLICY": policy,
        "VERSION": for_html(version),
        "TITLE": for_html(title),
        "STYLE": style,
        "REPLAYS": _harmless(as_json(page)),
        "DATA": "\n".join(blocks),
        "SCRIPT": script,
    }
    out = []
    for part in folder.joinpath("page.html").read_text(encoding="utf-8").split("@"):
        out.append(pieces.get(part, part))  # names stand between two @; no other @ is there
    return "".join(out)


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


def _harmless(text: str) -> str:
    """JSON that cannot end the element that holds it, whatever bodies are called."""
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text
