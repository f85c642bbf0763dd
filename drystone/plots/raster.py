"""Which surface each pixel of a picture shows: a depth buffer for triangles, spheres and planes.

A painter's order of faces goes wrong where bodies touch, which here they always do.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from drystone.types import Floats

Singles = NDArray[np.float32]  # a pixel needs no more


@dataclass(frozen=True)
class Camera:
    """Looks from `eye` to `target` (3,) [m]; parallel rays if `width` [m] of the sheet is given,
    otherwise an opening of `angle` [degrees] across the picture's larger side."""

    eye: Floats
    target: Floats
    pixels: tuple[int, int]  # columns, rows
    angle: float = 28.0
    width: float | None = None
    axes: Floats = field(init=False)  # rows: right, up, forward

    def __post_init__(self) -> None:
        forward = self.target - self.eye
        forward = forward / np.linalg.norm(forward)
        up = np.array([0.0, 0.0, 1.0]) if abs(forward[2]) < 0.999 else np.array([0.0, 1.0, 0.0])
        right = np.cross(forward, up)
        right /= np.linalg.norm(right)
        axes = np.array([right, np.cross(right, forward), forward])
        object.__setattr__(self, "axes", axes)

    @property
    def scale(self) -> float:
        """Pixels per metre with parallel rays, otherwise per metre at a distance of one."""
        if self.width is not None:
            return self.pixels[0] / self.width
        return 0.5 * max(self.pixels) / float(np.tan(np.radians(0.5 * self.angle)))

    def project(self, points: Floats) -> tuple[Floats, Floats]:
        """Pixels (..., 2) and nearness (...), greater in front and linear over a flat face."""
        axes, eye = self.axes.astype(points.dtype), self.eye.astype(points.dtype)
        local = (points - eye) @ axes.T
        middle = np.array(self.pixels, points.dtype) / 2
        if self.width is not None:
            flat = local[..., :2] * np.array([self.scale, -self.scale], points.dtype)
            return middle + flat, -local[..., 2]
        ahead = np.where(local[..., 2] > 1e-12, local[..., 2], np.nan)
        flat = local[..., :2] / ahead[..., None] * (self.scale, -self.scale)
        return middle + flat, 1.0 / ahead

    @cached_property
    def rays(self) -> Singles:
        """(rows, columns, 3) directions, one long along the view axis; not for parallel ones."""
        columns, rows = self.pixels
        x = ((np.arange(columns) + 0.5 - 0.5 * columns) / self.scale).astype(np.float32)
        y = ((0.5 * rows - np.arange(rows) - 0.5) / self.scale).astype(np.float32)
        right, up, forward = self.axes.astype(np.float32)
        return forward + x[None, :, None] * right + y[:, None, None] * up


@dataclass
class Buffer:
    """nearness (rows, columns), -inf where nothing is; item: what is seen there, -1 for nothing.

    Items are numbered: triangles, then spheres, then planes.
    """

    camera: Camera
    near: Singles
    item: NDArray[np.int32]

    @staticmethod
    def empty(camera: Camera) -> Buffer:
        columns, rows = camera.pixels
        return Buffer(
            camera,
            np.full((rows, columns), -np.inf, np.float32),
            np.full((rows, columns), -1, np.int32),
        )

    def add_triangles(self, corners: Floats, first: int = 0) -> None:
        """Corners (nt, 3, 3) in the world; those that face away are left out."""
        if not len(corners):
            return
        pixel, near = self.camera.project(corners)
        a, b, c = pixel[:, 0], pixel[:, 1], pixel[:, 2]
        u, v = b - a, c - a
        area = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
        slope = near[:, 1:] - near[:, :1]
        limit = np.array(self.camera.pixels)
        low = np.clip(np.floor(pixel.min(axis=1)), 0, limit)
        high = np.clip(np.ceil(pixel.max(axis=1)), 0, limit)
        # rows run downwards: what is counter-clockwise in space has a negative area here
        seen = np.isfinite(near).all(axis=1) & (area < 0) & (high > low).all(axis=1)
        for k in np.flatnonzero(seen):
            (x0, y0), (x1, y1) = low[k].astype(int), high[k].astype(int)
            x = np.arange(x0, x1) + 0.5 - a[k, 0]
            y = (np.arange(y0, y1) + 0.5 - a[k, 1])[:, None]
            s = (x * v[k, 1] - y * v[k, 0]) / area[k]
            t = (y * u[k, 0] - x * u[k, 1]) / area[k]
            inside = (s >= -1e-9) & (t >= -1e-9) & (s + t <= 1 + 1e-9)
            depth = near[k, 0] + s * slope[k, 0] + t * slope[k, 1]
            self._take(x0, x1, y0, y1, inside, depth, first + k)

    def add_spheres(self, centres: Floats, radii: Floats, first: int) -> None:
        pixel, near = self.camera.project(centres)
        parallel = self.camera.width is not None
        rays = None if parallel else self.camera.rays
        for k in np.flatnonzero(np.isfinite(near)):
            if parallel:
                reach = radii[k] * self.camera.scale
            else:
                distance = 1.0 / near[k]
                if distance <= 2.0 * radii[k]:
                    continue
                # a sphere off the axis is seen as an ellipse: a little more room for it
                reach = 1.25 * radii[k] * self.camera.scale / (distance - radii[k])
            box = self._window(pixel[k], reach)
            if box is None:
                continue
            x0, x1, y0, y1 = box
            if rays is None:
                x = (np.arange(x0, x1) + 0.5 - pixel[k, 0]) / self.camera.scale
                y = ((np.arange(y0, y1) + 0.5 - pixel[k, 1]) / self.camera.scale)[:, None]
                below = radii[k] ** 2 - x * x - y * y
                depth = near[k] + np.sqrt(np.maximum(below, 0.0))
            else:
                d, c = rays[y0:y1, x0:x1], centres[k] - self.camera.eye
                dd, dc = np.einsum("yxi,yxi->yx", d, d), d @ c
                below = dc * dc - dd * (c @ c - radii[k] ** 2)
                depth = dd / (dc - np.sqrt(np.maximum(below, 0.0)))
            self._take(x0, x1, y0, y1, below > 0.0, depth, first + k)

    def add_planes(self, points: Floats, normals: Floats, first: int) -> None:
        """Planes without end, seen from their outer side."""
        rays = self.camera.rays
        rows, columns = self.near.shape
        for k, (point, normal) in enumerate(zip(points, normals, strict=True)):
            facing = rays @ normal
            height = float((point - self.camera.eye) @ normal)
            if height < 0.0:
                depth = np.where(facing < 0.0, facing / np.float32(height), -np.inf)
                self._take(0, columns, 0, rows, depth > 0.0, depth, first + k)

    def _window(self, centre: Floats, reach: float) -> tuple[int, int, int, int] | None:
        columns, rows = self.camera.pixels
        x0, x1 = max(0, int(centre[0] - reach)), min(columns, int(centre[0] + reach) + 2)
        y0, y1 = max(0, int(centre[1] - reach)), min(rows, int(centre[1] + reach) + 2)
        return (x0, x1, y0, y1) if x0 < x1 and y0 < y1 else None

    def _take(self, x0: int, x1: int, y0: int, y1: int, inside: Any, depth: Any, item: Any) -> None:
        near = self.near[y0:y1, x0:x1]
        wins = inside & (depth > near)
        near[wins] = depth[wins]
        self.item[y0:y1, x0:x1][wins] = item
