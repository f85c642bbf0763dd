"""The gallery: its page, pictures and replays, all from ``docs/gallery/claims.toml``.

    python docs/make_gallery.py                       the page, and replays that are out of date
    python docs/make_gallery.py --pictures [NAME...]  the pictures, which are kept in the repository
    python docs/make_gallery.py --page                the page alone

Replays are for the site only and are not kept: ``docs/gallery/replays`` is ignored. A scene is run
again when its entry, its source or what packs its data has changed; where the player alone has, its
data get the new player, which takes no time.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
import time
import tomllib
from concurrent.futures import ProcessPoolExecutor
from itertools import cycle, groupby
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent / "gallery"
ROOT = HERE.parents[1]
PACKAGE = ROOT / "drystone"
PLAYER = PACKAGE / "view" / "player"
PAGE, PICTURES, REPLAYS = HERE / "index.md", HERE / "pictures", HERE / "replays"
PIXELS = (640, 400)
STONES = ("#c8b48e", "#b79c70", "#d9caa9", "#a88a5c")
FRAMES = 30.0  # of a replay in a second of watching

HEAD = """\
# Gallery

Every scene by name: what its source claims, what comes out here, and the command that shows it. The
figures are asserted by the test named beside them. On the site each picture has a replay below it.
What the papers leave open, and what was chosen, is described in [scenes](../scenes.md); the papers'
figures one by one are in [reproducing the papers](../reproducing.md).

<!-- Made by docs/make_gallery.py from claims.toml: change that, then run it. -->
"""


def claims() -> dict[str, dict[str, Any]]:
    """Entries of the gallery by scene."""
    return tomllib.loads((HERE / "claims.toml").read_text(encoding="utf-8"))


def page() -> str:
    """The page in Markdown; the site adds the replays to it."""
    from drystone.scenes import SCENES

    out = [HEAD]
    for group, entries in groupby(claims().items(), key=lambda item: item[1]["group"]):
        out.append(f"\n## {group}\n")
        for name, entry in entries:
            scene = SCENES[name]
            shown = "".join(
                f", {key} {_plain(value)}" for key, value in entry.get("set", {}).items()
            )
            out.append(
                f"\n### {name}\n\n![{name}: {scene.summary}](pictures/{name}.webp)\n\n"
                f"*{scene.summary[0].upper()}{scene.summary[1:]}* ({scene.paper}). "
                f"Shown at {entry['moment']:g} s{shown}.\n\n"
                f"| claim | here |\n|---|---|\n| {entry['claim']} | {entry['got']} |\n\n"
                f"```sh\n{entry['command']}\n```\n\n"
                f"Asserted by `{entry['test']}`.\n"
            )
    return "".join(out)


def _plain(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value:g}"


def replay(name: str, entry: dict[str, Any], until: float) -> Any:
    """The scene, run in memory until a time [s]; at most so many frames as the page can show."""
    import drystone as ds

    method = ds.TimeStepping(restitution="newton") if entry.get("stepped") else None
    sim = ds.scene(name, **entry.get("set", {})).simulation(method)
    apart = FRAMES / entry.get("speed", 1.0) * sim.method.dt
    every = max(1, int(1 / apart))
    return sim.run(max(until, sim.method.dt), record=True, contacts=True, every=every)


def draw(name: str) -> str:
    """One picture of the page."""
    from PIL import Image

    from drystone.view.export_video import Film

    start, entry = time.perf_counter(), claims()[name]
    kept = replay(name, entry, entry["moment"])
    flat = kept.model.dim == 2
    forces = entry.get("forces", flat)
    view = {**(kept.view or {}), **({"limits": entry["limits"]} if "limits" in entry else {})}
    tints = dict(zip(kept.model.names, cycle(STONES))) if flat and not forces else {}
    film = Film(kept, PIXELS, forces=forces, view=view, colours=tints)
    times = np.linspace(entry["moment"], 0.0, entry.get("trail", 1))[::-1]
    picture = layered([film.picture(t) for t in times])
    place = PICTURES / f"{name}.webp"
    place.parent.mkdir(exist_ok=True)
    Image.fromarray(picture).save(place, quality=82, method=6)
    size = place.stat().st_size / 1024
    return f"{name}: picture, {size:.0f} kB, {time.perf_counter() - start:.1f} s"


def layered(pictures: list[Any]) -> Any:
    """Several moments in one picture, the earlier the fainter, the last in front."""
    if len(pictures) == 1:
        return pictures[0]
    empty = np.median(pictures, axis=0)  # what does not move
    out = empty.copy()
    for age, picture in zip(np.linspace(0.35, 1.0, len(pictures)), pictures, strict=True):
        away = picture - empty
        there = np.abs(away).max(axis=2) > 5
        out[there] = (empty + age * away)[there]
    return np.rint(np.clip(out, 0, 255)).astype(np.uint8)


def write_replay(name: str) -> str:
    """One replay of the site, unless what is there is up to date."""
    from drystone.view.export_html import with_this_player, write_html

    start, entry = time.perf_counter(), claims()[name]
    place, stamp = REPLAYS / f"{name}.html", REPLAYS / f"{name}.stamp"
    key = " ".join((fingerprint(name, entry), player_fingerprint()))
    known = stamp.read_text() if place.exists() and stamp.exists() else ""
    if known == key:
        return f"{name}: up to date"
    if known.split(" ")[0] == key.split(" ")[0]:
        place.write_text(with_this_player(place.read_text(encoding="utf-8")), encoding="utf-8")
        stamp.write_text(key)
        return f"{name}: the same run in the new player"
    kept = replay(name, entry, entry["until"])
    speed = float(entry.get("speed", 1.0))
    write_html(kept, place, fps=FRAMES / speed, speed=speed, play=True)
    stamp.write_text(key)
    size = place.stat().st_size / 1024
    return f"{name}: replay, {size:.0f} kB, {time.perf_counter() - start:.1f} s"


def fingerprint(name: str, entry: dict[str, Any]) -> str:
    """Of all that the data of a replay are made of, but for the engine: a change of its last digits
    is no reason to wait for all of them again; remove the folder to have that."""
    from drystone.scenes import SCENES

    sources = [PACKAGE / "scenes" / f"{SCENES[name].module}.py", *sorted(PLAYER.glob("*.py"))]
    return _digest(repr(sorted(entry.items())), sources)


def player_fingerprint() -> str:
    """Of what shows the data."""
    pages = sorted(p for p in PLAYER.iterdir() if p.suffix in (".js", ".css", ".html"))
    return _digest("", [*pages, PACKAGE / "view" / "export_html.py"])


def _digest(text: str, sources: list[Path]) -> str:
    digest = hashlib.sha256(text.encode())
    for source in sources:
        digest.update(source.read_bytes())
    return digest.hexdigest()


def main(arguments: list[str]) -> None:
    """What the words at the top say."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="scenes; all if none are given")
    parser.add_argument("--pictures", action="store_true", help="draw pictures, not replays")
    parser.add_argument("--page", action="store_true", help="the page alone")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    options = parser.parse_args(arguments)
    if not options.pictures:
        PAGE.write_text(page(), encoding="utf-8")
    if options.page:
        return
    names = options.names or list(claims())
    with ProcessPoolExecutor(options.jobs, get_context("spawn")) as pool:
        for line in pool.map(draw if options.pictures else write_replay, names):
            print(line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
