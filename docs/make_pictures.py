"""Draws the pictures of the documentation: ``python docs/make_pictures.py [NAME...]``."""

from __future__ import annotations

import os
import runpy
import sys
import tempfile
from pathlib import Path

import drystone as ds
from drystone.cli.demo import demo
from drystone.plots.scene_picture import save_picture

ROOT = Path(__file__).parent.parent
PICTURES = ROOT / "docs" / "pictures"


def brazil_nut() -> None:
    """What ``drystone demo`` draws."""
    with tempfile.TemporaryDirectory() as folder:
        demo(Path(folder))
        (PICTURES / "brazil_nut.png").write_bytes((Path(folder) / "brazil_nut.png").read_bytes())


def arch() -> None:
    """An arch at rest, with its line of thrust."""
    scene = ds.scene("arch", planar=True)
    sim = scene.simulation()
    sim.run(1.0)
    save_picture(sim, PICTURES / "arch.png", view=scene.view)


def card_house() -> None:
    """A house of cards that has stood for five seconds."""
    scene = ds.scene("card-house")
    sim = scene.simulation()
    sim.run(scene.duration)
    save_picture(sim, PICTURES / "card_house.png", view=scene.view)


def spheres() -> None:
    """A thousand spheres that have come to rest in a box."""
    scene = ds.scene("spheres")
    sim = scene.simulation()
    sim.run(1.5)
    save_picture(sim, PICTURES / "spheres.png", view=scene.view)


def ellipse_drop() -> None:
    """Figure 2 of Hart and Anitescu, by the example that draws it."""
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            runpy.run_path(str(ROOT / "examples" / "07_ellipse_drop.py"))
        finally:
            os.chdir(here)
        picture = (Path(folder) / "ellipse_drop.png").read_bytes()
    (PICTURES / "ellipse_drop.png").write_bytes(picture)


ALL = {f.__name__: f for f in (brazil_nut, arch, card_house, spheres, ellipse_drop)}

if __name__ == "__main__":
    for name in sys.argv[1:] or ALL:
        ALL[name]()
