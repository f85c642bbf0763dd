"""A spatial state as a picture for print: on white paper, as large as it fits."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from drystone.draw.camera import fitted
from drystone.draw.meshes import Scenery, bounds, moving
from drystone.draw.raster import FINER, PRINT, draw_solids, sunlight
from drystone.escaping import for_figure
from drystone.model import Model, State
from drystone.plots import style
from drystone.types import Floats

STONES = ("#efe8d8", "#e3d5ba", "#d9c5a0", "#e9decb", "#d3c2a3", "#f1e9d7", "#decdaf")


def save_spatial(
    model: Model,
    state: State,
    path: Path,
    *,
    view: Mapping[str, Any],
    title: str = "",
    colours: Mapping[str, str] | None = None,
    width: float = 8.0,
    height: float = 5.0,
    dpi: int = 160,
) -> Path:
    """Draw to an image file; width and height in inches."""
    pixels = int(width * dpi), int(height * dpi)
    image = render(model, state, pixels, view=view, colours=colours)
    head = 0.32 if title else 0.0
    with style.figure(width, height + head) as fig:
        axes = fig.add_axes((0.0, 0.0, 1.0, height / (height + head)))
        axes.imshow(image, interpolation="none", aspect="auto")
        axes.axis("off")
        if title:
            fig.text(
                0.012, 1 - 0.23 / (height + head), for_figure(title), weight="bold", fontsize=10
            )
        return style.save(fig, path, dpi)


def render(
    model: Model,
    state: State,
    pixels: tuple[int, int] = (1280, 800),
    *,
    view: Mapping[str, Any],
    colours: Mapping[str, str] | None = None,
    box: tuple[Floats, Floats] | None = None,
) -> Floats:
    """(rows, columns, 3) colours from 0 to 1; box: lowest and highest corner (3,) of what is to be
    seen [m], that of the bodies by default."""
    count = len(model.geoms)
    scenery = Scenery(model, 64 if count < 50 else 24 if count < 1000 else 12)
    box = box or bounds(model, state)
    camera = fitted(view, *box, (FINER * pixels[0], FINER * pixels[1]))
    sun = sunlight(camera, *box, room=1.1)
    palette = _palette(model, colours or {})
    image = draw_solids(scenery, state, camera, sun, palette, pixels, box, PRINT)
    return np.clip(image, 0.0, 1.0)


def _palette(model: Model, colours: Mapping[str, str]) -> Floats:
    """(nb, 3): stones that differ a little, so that neighbours can be distinguished."""
    from matplotlib.colors import to_rgb

    free = moving(model)
    out = np.array([to_rgb(STONES[(5 * b + b // 7) % len(STONES)]) for b in range(model.nb)])
    out = out.reshape(-1, 3)
    out[~free] = to_rgb(style.GROUND)
    for name, colour in colours.items():
        if name in model.names:
            out[model.names.index(name)] = to_rgb(colour)
    return out
