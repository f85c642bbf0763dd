"""A frame of a run as a panel: its bodies, or the forces between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from drystone.draw import meshes as drawing
from drystone.plots.axes import note
from drystone.plots.forces import (
    draw_forces,
    draw_silhouettes,
    force_legend,
    force_lines,
    force_lines_3d,
    sight,
    thickest,
)
from drystone.plots.planar_picture import Limits, draw_planar, planar_limits
from drystone.plots.run_data import contacts, forces_read, frame, state

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from drystone.model import State
    from drystone.types import Floats

LEGEND_WIDTH = 3.1  # of the legend of forces [inches]
PIXELS = 1000  # of a shaded picture, across
SPATIAL_RATIO = 0.625  # its height over its width


def draw_picture(
    axes: Axes, run: Any, time: float | None = None, box: tuple[Floats, Floats] | None = None
) -> None:
    """Bodies at a time: outlines in the plane, shaded in space, where `box` says what to show."""
    k = frame(run, time)
    model, now, view = run.model, state(run, k), view_of(run)
    axes.set_title(f"t = {run.time[k]:.4g} s", loc="left")
    if model.dim == 2:
        draw_planar(axes, model, now, limits=view.get("limits"))
        return
    from drystone.plots.spatial_picture import render

    size = PIXELS, round(PIXELS * picture_ratio(run, time))
    axes.imshow(render(model, now, size, view=view, box=box), interpolation="none")
    axes.axis("off")


def picture_ratio(run: Any, time: float | None = None) -> float:
    """Height of a picture over its width."""
    if run.model.dim == 3:
        return SPATIAL_RATIO
    now = state(run, frame(run, time))
    return limits_ratio(view_of(run).get("limits") or planar_limits(run.model, now))


def limits_ratio(limits: Limits) -> float:
    """The same of a planar picture with these limits."""
    (x0, x1), (y0, y1) = limits
    return float(np.clip((y1 - y0) / (x1 - x0), 0.08, 1.6))


def _chains_limits(run: Any, now: State) -> Limits:
    """A rectangle about the bodies that move: wide scenes would leave no room for the forces."""
    return planar_limits(run.model, now, which=drawing.moving(run.model))


def draw_chains(
    axes: Axes, run: Any, time: float | None = None, limits: Limits | None = None
) -> None:
    """Contact forces at a time as lines, as wide as they are strong; in space projected.

    limits [m] of a planar picture: about the bodies that move by default.
    """
    k = max(1, frame(run, time))
    model, now, table = run.model, state(run, k), contacts(run, k)
    axes.set_title(f"t = {run.time[k]:.4g} s", loc="left")
    if model.dim == 2:
        lines = force_lines(model, now, table)
        draw_planar(axes, model, now, limits=limits or _chains_limits(run, now))
    else:
        look = sight(view_of(run))
        lines, _ = force_lines_3d(model, now, table, look)
        draw_silhouettes(axes, model, now, look)
    if not lines.size.size:
        note(axes, "no contact forces")
        return
    thick = _thickest(axes, model)
    drawn = draw_forces(axes, lines, thickest=thick)
    what = f"contact force{forces_read(run, k)} [N]"
    force_legend(_below(axes), drawn, float(lines.size.max()), thick, what)


def _below(axes: Axes) -> Axes:
    """Axes for a legend, of fixed size [inches], whatever becomes of those above."""
    from matplotlib.transforms import ScaledTranslation

    figure = axes.figure
    middle: Any = axes.transAxes
    inches = figure.dpi_scale_trans + ScaledTranslation(0.5, 0.0, middle)
    return axes.inset_axes((-0.5 * LEGEND_WIDTH, -0.56, LEGEND_WIDTH, 0.5), transform=inches)


def chains_ratio(run: Any, time: float | None = None) -> float:
    """Height of a picture of chains over its width, with its legend."""
    now = state(run, frame(run, time))
    if run.model.dim == 2:
        return limits_ratio(_chains_limits(run, now)) + 0.25
    at = sight(view_of(run)).flat(now.position[run.model.inverse_mass > 0])
    width, height = np.ptp(at, axis=0) if len(at) else (1.0, 1.0)
    return float(np.clip((height + 1e-9) / (width + 1e-9), 0.1, 1.4)) + 0.25


def _thickest(axes: Axes, model: Any) -> float:
    """Width [points] of the strongest force: bodies stay visible."""
    (x0, x1), (y0, y1) = axes.get_xlim(), axes.get_ylim()
    box = axes.get_position()
    figure = axes.get_figure(root=True)
    width, height = figure.get_size_inches() if figure is not None else (3.5, 3.5)
    scale = 72.0 * min(width * box.width / (x1 - x0), height * box.height / (y1 - y0))
    return thickest(model, scale, 5.0)


def view_of(run: Any) -> dict[str, Any]:
    """The hints of its scene, empty for runs without."""
    return dict(getattr(run, "view", None) or {})
