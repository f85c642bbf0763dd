"""Draws the pictures of the documentation: ``python docs/make_pictures.py [NAME...]``."""

from __future__ import annotations

import os
import runpy
import sys
import tempfile
from pathlib import Path

import numpy as np

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


def ragdoll() -> None:
    """A figure of fifteen bodies on its way down."""
    _moment("ragdoll", 0.75)


def vehicle() -> None:
    """Front wheels on the second bump."""
    _moment("vehicle", 1.29)


def gripper() -> None:
    """A cube that friction alone holds."""
    _moment("gripper", 1.5)


def geneva() -> None:
    """The pin in a slot, with the force it exerts."""
    _moment("geneva", 0.95)


def chain_whip() -> None:
    """A chain with a heavy bob, let go from horizontal, ten times a second."""
    from drystone.plots import style

    scene = ds.scene("chain-whip", planar=True)
    sim = scene.simulation(dt=1 / 1000)
    with style.figure(7.0, 4.4) as fig:
        axes = fig.add_axes((0, 0, 1, 1))
        axes.set_aspect("equal")
        axes.axis("off")
        for k in range(17):
            x = np.vstack([(0, 0), sim.state.position])
            shade = str(0.75 - 0.7 * k / 16)
            axes.plot(*x.T, color=shade, lw=1.0)
            axes.plot(*x[-1], "o", color=shade, ms=7)
            sim.run(0.1)
        style.save(fig, PICTURES / "chain_whip.png")


def _moment(name: str, time: float) -> None:
    """A scene of the gallery after `time` seconds."""
    scene = ds.scene(name)
    sim = scene.simulation()
    sim.run(time)
    save_picture(sim, PICTURES / f"{name}.png", view=scene.view)


GALLERY = (brazil_nut, arch, card_house, spheres, ellipse_drop)
MECHANISMS = (ragdoll, vehicle, gripper, geneva, chain_whip)
ALL = {f.__name__: f for f in (*GALLERY, *MECHANISMS)}

if __name__ == "__main__":
    for name in sys.argv[1:] or ALL:
        ALL[name]()
