"""Where a picture is seen from, and where points of the world lie in it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from drystone.types import Floats


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
