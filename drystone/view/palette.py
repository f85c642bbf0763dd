"""Colours and sizes of the viewer, the same stones as in the pictures."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from drystone.model import Model
from drystone.plots import style
from drystone.types import Floats

RGB = tuple[int, int, int]
Bytes = NDArray[np.uint8]


def rgb(text: str) -> RGB:
    """#rrggbb as three bytes."""
    return int(text[1:3], 16), int(text[3:5], 16), int(text[5:7], 16)


INK, BLUE, ORANGE, RED = map(rgb, (style.INK, style.BLUE, style.ORANGE, style.RED))
PAPER = rgb("#fbfaf7")
FLOOR = rgb("#e7e1d5")
GRID, SECTION = rgb("#d9d2c4"), rgb("#c9c0af")
STONES = tuple(
    map(rgb, ("#d9c9a6", "#cbb892", "#e4d8bd", "#c4ab80", "#d3c2a3", "#e9dfc8", "#bfae8e"))
)
FLAT, FLAT_EDGE = rgb(style.STONE), rgb("#8f8674")
GROUND = rgb("#cfc8ba")
FIXED = rgb("#a9a294")
DRIVEN = rgb("#7f9bb0")  # moves as prescribed
PICKED = rgb("#f0a03c")
FORCE, NORMAL, CONE, POINT = RED, BLUE, ORANGE, rgb("#4a5a68")
JOINT, HAND = BLUE, RED
ISLANDS = tuple(
    map(
        rgb,
        (
            "#4c8fbd", "#e0913f", "#5aa469", "#c16a9b", "#7cc0e0", "#e3bd4f", "#8b7fc7",
            "#b5654a", "#6fb6a6", "#a3b04e",
        ),
    )
)  # fmt: skip


# what the browser makes of light (the ACES curve), so that flat scenes have exact colours
EVEN_LIGHT = 16.0  # intensity of the ambient light of planar scenes
_EXPOSURE = 0.6  # of the ACES tone mapping of three.js, which is undone here
_IN = np.array(
    [[0.59719, 0.35458, 0.04823], [0.07600, 0.90834, 0.01566], [0.02840, 0.13383, 0.83777]]
)
_OUT = np.array(
    [[1.60475, -0.53108, -0.07367], [-0.10208, 1.10813, -0.00605], [-0.00327, -0.07276, 1.07602]]
)


def linear(colours: Any) -> Floats:
    """Light of colours (..., 3), bytes."""
    shown = np.asarray(colours, float) / 255.0
    out: Floats = np.where(shown <= 0.04045, shown / 12.92, ((shown + 0.055) / 1.055) ** 2.4)
    return out


def coded(light: Floats) -> Floats:
    """The inverse of `linear`, not yet whole."""
    out: Floats = 255.0 * np.where(
        light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055
    )
    return out


def of_copies(colours: Any, flat: bool) -> Bytes:
    """Bytes (n, 3) to send for copies of a mesh that shall have these colours: of copies the
    browser takes them for amounts of light. flat: in even light."""
    light = in_even_light(colours) if flat else linear(colours)
    return np.round(255.0 * light).astype(np.uint8)


def in_even_light(colours: Any) -> Floats:
    """Albedo (..., 3) of what shall appear in `colours` on the screen."""
    y = np.clip(linear(colours) @ np.linalg.solve(_OUT, np.eye(3)).T, 0.0, 0.99)
    # y = (v (v + 0.0245786) - 0.000090537) / (v (0.983729 v + 0.4329510) + 0.238081), for v
    a, b, c = 0.983729 * y - 1.0, 0.4329510 * y - 0.0245786, 0.238081 * y + 0.000090537
    v = (-b - np.sqrt(np.maximum(b * b - 4.0 * a * c, 0.0))) / (2.0 * a)
    light = _EXPOSURE * v @ np.linalg.solve(_IN, np.eye(3)).T
    out: Floats = np.clip(light * np.pi / EVEN_LIGHT, 0.0, 1.0)
    return out


def body_colours(model: Model) -> Bytes:
    """(nb, 3) bytes: stones of changing shades in space, even ones in the plane."""
    out = np.empty((model.nb, 3), np.uint8)
    driven = {i for i, _ in model.motions}
    for b in range(model.nb):
        if model.inverse_mass[b] > 0:
            out[b] = FLAT if model.dim == 2 else STONES[(b * 5) % len(STONES)]
        else:
            out[b] = DRIVEN if b in driven else GROUND if model.dim == 2 else FIXED
    return out
