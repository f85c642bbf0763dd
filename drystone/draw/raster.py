"""A spatial state as a shaded picture: one light with its shadows, ink where bodies meet.

A painter's order of faces goes wrong where bodies touch, which here they always do: so there is a
depth buffer (``kernels.picture``), for the viewer's eye and for the sun.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from drystone.draw.camera import Camera
from drystone.draw.meshes import WALL_COSINE, Mesh, Scenery
from drystone.kernels import picture
from drystone.model import State
from drystone.types import Floats, Ints

Singles = NDArray[np.float32]  # a pixel needs no more
FINER = 2  # pixels for each one of the picture, along a side
SHADOW = 1280  # pixels of the shadow map, along a side
SCREEN = np.array([(0.985, 0.982, 0.972), (0.945, 0.936, 0.915), (0.985, 0.978, 0.962)])
PRINT = np.array([(1.0, 1.0, 1.0), (1.0, 1.0, 1.0), (0.970, 0.964, 0.952)])


@dataclass(frozen=True)
class Balls:
    """centre (n, 3), radius (n,), axes (n, 3, 3) as columns, body (n,)."""

    centre: Floats
    radius: Floats
    axes: Floats
    body: Ints


class Raster:
    """The sheets of ``kernels.picture`` for a camera. shown: a shadow map needs depths alone."""

    def __init__(self, camera: Camera, shown: bool = True) -> None:
        columns, rows = camera.pixels
        self.camera = camera
        self.view = picture.View(camera.eye, camera.axes, camera.scale, camera.width is not None)
        deep = (rows, columns) if shown else (0, 0)
        self.sheets = picture.Sheets(
            near=np.full((rows, columns), -np.inf, np.float32),
            owner=np.full((rows, columns), picture.NO_OWNER, np.int32),
            way=np.zeros((*deep, 3), np.float32),
            tone=np.ones(deep, np.float32),
        )

    def add_triangles(self, mesh: Mesh) -> None:
        """Those that face away are left out."""
        pixel, depth = self.camera.project(mesh.corners)
        parallel = self.view.parallel
        picture.fill_triangles(pixel, depth, mesh.normal, mesh.body, parallel, self.sheets)

    def add_balls(self, balls: Balls) -> None:
        if len(balls.radius):
            found = balls.centre, balls.radius, balls.axes, balls.body
            picture.fill_balls(*found, self.view, self.sheets)

    def add_plane(self, point: Floats, normal: Floats) -> None:
        """Without end, seen from its outer side."""
        picture.fill_plane(point, normal, self.view, self.sheets)

    def developed(self, colour: Singles, pixels: tuple[int, int]) -> Floats:
        """(rows, columns, 3): colours of all pixels, fine ones averaged, with ink at edges."""
        out = np.zeros((pixels[1], pixels[0], 3))
        fine = np.int64(self.sheets.near.shape[0] // pixels[1])
        picture.develop(self.sheets, colour, fine, out)
        return out


def sunlight(camera: Camera, low: Floats, high: Floats, room: float = 1.5) -> Camera:
    """The light as a camera: behind the viewer's left shoulder, over the box from `low` to `high`
    (3,) and `room` times its diagonal wide."""
    back = -camera.axes[2]
    angle, up = np.arctan2(back[1], back[0]) - 0.66, 0.86
    way = np.array([np.cos(up) * np.cos(angle), np.cos(up) * np.sin(angle), np.sin(up)])
    middle, size = 0.5 * (low + high), max(float(np.linalg.norm(high - low)), 1e-9)
    return Camera(middle + 2 * size * way, middle, (SHADOW, SHADOW), width=room * size)


def draw_solids(
    scenery: Scenery,
    state: State,
    camera: Camera,
    sun: Camera,
    palette: Floats,
    pixels: tuple[int, int],
    box: tuple[Floats, Floats],
    paper: Floats = SCREEN,
) -> Floats:
    """A spatial state, (rows, columns, 3) from 0 to 1.

    camera: of FINER times as many pixels; palette (nb, 3); box: corners of what happens, beyond
    which the floor fades; paper (3, 3): colours at the top, at the bottom, and of the floor.
    """
    mesh, balls = scenery.triangles(state), Balls(*scenery.balls(state))
    cast, seen = Raster(sun, shown=False), Raster(camera)
    for view in (cast, seen):
        view.add_triangles(mesh)
        view.add_balls(balls)
    for point, normal in zip(*scenery.planes(state), strict=True):
        if normal[2] > WALL_COSINE:
            seen.add_plane(point, normal)
    low, high = box
    colour = np.empty((*seen.sheets.near.shape, 3), np.float32)
    reach = max(0.5 * float(np.linalg.norm(high - low)), 1e-300)
    picture.shade(
        seen.view, seen.sheets, palette, cast.view, cast.sheets.near, 0.5 * (low + high), reach,
        paper, colour,
    )  # fmt: skip
    return seen.developed(colour, pixels)


def draw_lines(
    image: Floats, camera: Camera, ends: Floats, half: Any, tint: Floats, rim: Floats
) -> None:
    """Lines (n, 2, dim) [m] with round ends over a picture: half width (n,) [pixels], colours
    tint (n, 3), rim (3,) of their outline."""
    flat = np.zeros((*ends.shape[:2], 3))
    flat[:, :, : ends.shape[2]] = ends
    pixel, _ = camera.project(flat)
    fine = camera.pixels[0] / image.shape[1]
    picture.draw_lines(pixel / fine, half, tint, rim, image)
