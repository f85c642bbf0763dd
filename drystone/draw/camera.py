"""Where a picture is seen from, and where points of the world lie in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from drystone.types import Floats

IN_FRONT = np.array([0.5, -1.8, 0.7])  # of the target, and above: where a view says nothing else
FILLED = 0.9  # of a picture, along one side, by the box that it shows
CORRECTIONS = 4  # of where a fitted camera stands: the picture is filled to a few pixels


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


def viewpoint(view: Mapping[str, Any], low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Eye and target (3,) of a spatial view: those of its hints, or the middle of the box from
    `low` to `high` (3,), from the front and above."""
    target = np.array(view.get("target", 0.5 * (low + high)), dtype=float)
    eye = np.array(view.get("camera", target + IN_FRONT), dtype=float)
    return (eye if np.linalg.norm(eye - target) > 0 else target + IN_FRONT), target


def fitted(view: Mapping[str, Any], low: Floats, high: Floats, pixels: tuple[int, int]) -> Camera:
    """A camera that looks the way the view does, as near as it sees all of the box."""
    eye, target = viewpoint(view, low, high)
    away = (eye - target) / np.linalg.norm(eye - target)
    middle, size = 0.5 * (low + high), max(float(np.linalg.norm(high - low)), 1e-6)
    corner = low + np.array(list(np.ndindex(2, 2, 2))) * (high - low)
    camera, half = Camera(middle + 4.0 * size * away, middle, pixels), 0.5 * np.array(pixels)
    for _ in range(CORRECTIONS):
        spot, _ = camera.project(corner)
        used = float((np.abs(spot - half) / (FILLED * half)).max())
        shift = 0.5 * (spot.min(axis=0) + spot.max(axis=0)) - half
        distance = float(np.linalg.norm(camera.eye - camera.target))
        right, up, _ = camera.axes
        aim = camera.target + (shift[0] * right - shift[1] * up) * distance / camera.scale
        camera = Camera(aim + max(used, 0.05) * distance * away, aim, pixels)
    return camera
