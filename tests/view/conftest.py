"""A real browser for the tests of the viewer; skipped with a message where there is none."""

from __future__ import annotations

import io
import shutil
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

FLAGS = (
    "--headless", "--no-sandbox", "--enable-unsafe-swiftshader", "--use-gl=angle",
    "--use-angle=swiftshader", "--disable-background-networking",
)  # fmt: skip
LONG = 600.0  # [s] that a page may take where other programs use the machine
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="module")  # not longer: only one may run in a process at a time
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    pytest.importorskip("viser", reason="viser is not installed: drystone[view]")
    if CHROMIUM is None:
        pytest.skip("chromium is not installed: apt-get install chromium")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield opened
        opened.close()


class Seen:
    """A page of a viewer, with the camera that it reports."""

    def __init__(self, viewer: Any, page: Any) -> None:
        self.viewer, self.page = viewer, page
        self.complaints: list[str] = []
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.set_default_timeout(1e3 * LONG)
        page.goto(viewer.url)
        self.until(lambda: len(viewer.server.get_clients()) > 0)
        self.canvas = page.locator("canvas[data-engine]")
        self.until(self.settled)
        self.until(lambda: self.coloured() > 0.02)

    def until(self, true: Any, seconds: float = LONG) -> None:
        """Wait for something to come true."""
        end = time.perf_counter() + seconds
        while not true():
            assert time.perf_counter() < end, "the page did not get there in time"
            self.page.wait_for_timeout(60)

    def comes(self, true: Any, seconds: float = 3.0) -> bool:
        """Whether something comes true in this time."""
        end = time.perf_counter() + seconds
        while not true() and time.perf_counter() < end:
            self.page.wait_for_timeout(60)
        return bool(true())

    def settled(self) -> bool:
        """Whether panels have found their places and the camera has followed."""
        box, camera = self.canvas.bounding_box(), self.camera
        before = np.array(camera.position)
        self.page.wait_for_timeout(400)
        size = abs(camera.image_width - box["width"]) + abs(camera.image_height - box["height"])
        wanted = self.viewer.fitted(camera.aspect).eye
        still = np.allclose(before, camera.position) and np.allclose(
            camera.position, wanted, rtol=1e-3, atol=1e-3
        )
        return box == self.canvas.bounding_box() and size < 3 and still

    @property
    def camera(self) -> Any:
        return next(iter(self.viewer.server.get_clients().values())).camera

    def picture(self) -> np.ndarray:
        """(rows, columns, 3) of the canvas alone."""
        image = pytest.importorskip("PIL.Image")
        box = self.canvas.bounding_box()
        shot = image.open(io.BytesIO(self.page.screenshot(clip=box)))
        return np.asarray(shot.convert("RGB")).astype(int)

    def coloured(self) -> float:
        """Share of pixels that differ from the paper."""
        picture = self.picture()
        return float((np.abs(picture - picture[2, 2]).sum(axis=2) > 24).mean())

    def pixel(self, point: Any) -> tuple[float, float]:
        """Where a world point (3,) is in the canvas."""
        from viser import transforms

        camera = self.camera
        pose = transforms.SE3.from_rotation_and_translation(
            transforms.SO3(camera.wxyz), camera.position
        )
        x, y, z = pose.inverse().apply(np.asarray(point, float))
        focal = 0.5 * camera.image_height / np.tan(0.5 * camera.fov)
        box = self.canvas.bounding_box()
        scale = box["height"] / camera.image_height
        return (
            (0.5 * camera.image_width + focal * x / z) * scale,
            (0.5 * camera.image_height + focal * y / z) * scale,
        )

    def mouse(self, point: Any) -> tuple[float, float]:
        """The same in the page."""
        box = self.canvas.bounding_box()
        x, y = self.pixel(point)
        return box["x"] + x, box["y"] + y


@pytest.fixture
def look(browser: Any) -> Iterator[Any]:
    """look(subject, **options) -> Seen: a viewer, and a page that looks at it."""
    from drystone import view

    opened: list[Any] = []

    def open_page(subject: Any, **options: Any) -> Seen:
        viewer = view.show(subject, port=0, **options)
        page = browser.new_page(viewport={"width": 1000, "height": 480})
        opened.extend((page, viewer))
        return Seen(viewer, page)

    yield open_page
    for thing in opened:
        thing.close()
