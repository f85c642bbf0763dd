"""Pictures of the viewer and of an exported page, as a browser shows them.

Needs Chromium, Playwright and ``drystone[view]``:  python docs/viewer_pictures.py [NAME ...]
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from make_movie import VIEW, tower
from playwright.sync_api import Page, sync_playwright

import drystone as ds
from drystone import view

PICTURES = Path(__file__).parent / "pictures"
FLAGS = [
    "--headless", "--no-sandbox", "--enable-unsafe-swiftshader", "--use-gl=angle",
    "--use-angle=swiftshader",
]  # fmt: skip
WAIT = 12_000  # [ms] for a page to load, and for frames that are drawn without a graphics card


@contextmanager
def browser(width: int, height: int) -> Iterator[Page]:
    with sync_playwright() as started:
        opened = started.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        yield opened.new_page(viewport={"width": width, "height": height})
        opened.close()


def viewed(
    name: str, seconds: float, place: Path, switches: tuple[str, ...], selected: str, **set_to: Any
) -> None:
    """The viewer with a scene after some time, with overlays and a selected body."""
    scene = ds.scene(name, **set_to)
    sim = scene.simulation()
    every = max(1, round(1 / 60 / scene.method.dt))
    run = sim.run(seconds, record=True, contacts=True, every=every)
    opened = view.show(run, port=0, playing=False, title=name, view=scene.view)
    with opened as viewer, browser(1400, 820) as page:
        page.goto(viewer.url)
        page.wait_for_timeout(WAIT)
        for notice in page.locator(".mantine-Notification-closeButton").all():
            notice.click()  # that there is no graphics card
        viewer.do("seek", float(run.time[-1]))
        for kind in switches:
            viewer.panel.boxes[kind].value = True
        if selected:
            viewer.do("pick", "body", run.model.names.index(selected))
        page.wait_for_timeout(WAIT)
        page.screenshot(path=place)


def viewer_arch(folder: Path) -> None:
    viewed("arch", 2.0, folder / "viewer_arch.png", ("points", "forces"), "voussoir7")


def viewer_brazil_nut(folder: Path) -> None:
    viewed("brazil-nut", 30.0, folder / "viewer_brazil_nut.png", ("forces",), "nut")


def viewer_joints(folder: Path) -> None:
    """Not in the documentation: for a look at the other overlays."""
    shown = ("joints", "boxes", "normals", "cones")
    viewed("gripper", 1.0, folder / "viewer_joints.png", shown, "")


def page(folder: Path) -> None:
    """The exported page a moment after a ball has struck a tower."""
    run = ds.Simulation(tower()).run(2.0, record=True, contacts=True, every=4)
    with TemporaryDirectory() as place, browser(1180, 720) as seen:
        about = "12 courses of 14 bricks, friction 0.6"
        file = ds.export(
            run, Path(place) / "page.html", title="A dry tower", view=VIEW, about=about
        )
        seen.goto(file.as_uri())
        seen.wait_for_timeout(WAIT)
        seen.evaluate("player.toggle(); player.seek(0.42); player.choose(130)")
        seen.wait_for_timeout(WAIT)
        seen.screenshot(path=folder / "page.png")


DOCUMENTED = {f.__name__: f for f in (viewer_arch, viewer_brazil_nut, page)}
ALL = DOCUMENTED | {"viewer_joints": viewer_joints}

if __name__ == "__main__":
    for chosen in sys.argv[1:] or DOCUMENTED:
        ALL[chosen](PICTURES)
