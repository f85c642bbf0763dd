"""A planar state: bodies as outlines, ground, and the contact forces between them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from drystone.draw import meshes as drawing
from drystone.geometry.shapes import BALLS, UNBOUNDED
from drystone.model import Model, State
from drystone.plots.forces import ForceLines, draw_forces
from drystone.plots.style import GROUND, INK, STONE, STONE_EDGE
from drystone.types import Bools, Floats, Ints

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection

Limits = tuple[tuple[float, float], tuple[float, float]]


def draw_planar(
    axes: Axes,
    model: Model,
    state: State,
    *,
    limits: Limits | None = None,
    forces: ForceLines | None = None,
    colours: Mapping[str, str] | None = None,
    thickest: float = 6.0,
    strongest: float | None = None,
) -> LineCollection | None:
    """Draw into axes of equal scale; returns the force lines, for a colour bar.

    limits ((x0, x1), (y0, y1)) [m]: those of the bodies by default; colours: of named bodies;
    the strongest force [N] is drawn `thickest` points thick.
    """
    (x0, x1), (y0, y1) = limits if limits is not None else planar_limits(model, state)
    axes.set_xlim(x0, x1)
    axes.set_ylim(y0, y1)
    axes.set_aspect("equal")
    axes.axis("off")
    axes.add_patch(_frame(x0, x1, y0, y1))
    _draw_bodies(axes, model, state, colours or {})
    drawn = None
    if forces is not None and forces.size.size:
        drawn = draw_forces(axes, forces, thickest=thickest, strongest=strongest)
        drawn.set_clip_on(True)
    _draw_ground(axes, model, state)
    return drawn


def planar_limits(
    model: Model, state: State, margin: float = 0.06, which: Bools | None = None
) -> Limits:
    """A rectangle about all bounded bodies, or those of `which` (nb,), with a little ground
    below."""
    low, high = drawing.bounds(model, state, which)
    pad = margin * float(max(high - low))
    return (
        (float(low[0] - pad), float(high[0] + pad)),
        (float(low[1] - pad), float(high[1] + pad)),
    )


def _frame(x0: float, x1: float, y0: float, y1: float) -> Any:
    """A very light sheet, so that a picture on white paper has an edge."""
    from matplotlib.patches import Rectangle

    return Rectangle((x0, y0), x1 - x0, y1 - y0, fc="#fbfaf7", ec="none", zorder=0)


def _draw_bodies(axes: Axes, model: Model, state: State, colours: Mapping[str, str]) -> None:
    from matplotlib.collections import LineCollection, PolyCollection
    from matplotlib.colors import to_rgba

    geoms, at = model.geoms, drawing.frames(model, state)
    free = drawing.moving(model)

    def face(which: Ints) -> Any:
        plain = [STONE if free[b] else GROUND for b in geoms.body[which]]
        names = [model.names[b] for b in geoms.body[which]]
        return [to_rgba(colours.get(n, p)) for n, p in zip(names, plain, strict=True)]

    disks = np.flatnonzero(np.isin(geoms.kind, BALLS))
    size = 2.0 * geoms.numbers[geoms.first[disks]]
    if disks.size:
        draw_disks(axes, at.origin[disks], size, face(disks))
        axes.add_collection(
            LineCollection(_marks(at, disks, size), colors=STONE_EDGE, linewidths=0.7, zorder=1.5)
        )
    others = np.flatnonzero(np.isin(geoms.kind, (*BALLS, *UNBOUNDED), invert=True))
    if others.size:
        axes.add_collection(
            PolyCollection(
                [at.world(g, drawing.outline(geoms, g)) for g in others],
                facecolors=face(others),
                edgecolors=STONE_EDGE,
                linewidths=0.8,
                zorder=1,
            )
        )


def draw_disks(axes: Axes, centres: Floats, size: Floats, colours: Any) -> None:
    """Disks at centres (n, 2), of diameters size (n,) [m]."""
    from matplotlib.collections import EllipseCollection

    axes.add_collection(
        EllipseCollection(
            size, size, np.zeros_like(size), units="xy", offsets=centres,
            offset_transform=axes.transData, facecolors=colours, edgecolors=STONE_EDGE,
            linewidths=0.6, zorder=1,
        )
    )  # fmt: skip


def _marks(at: drawing.GeomFrames, disks: Ints, size: Floats) -> list[Floats]:
    """A short radius on each disk, from which its rotation can be seen."""
    way = at.axes[disks][:, :, 0]
    ends = at.origin[disks][:, None] + np.array([0.28, 0.46])[:, None] * (
        size[:, None, None] * way[:, None]
    )
    return list(ends)


def _draw_ground(axes: Axes, model: Model, state: State) -> None:
    """Half-planes, over the forces, so that their round ends stop at the surface."""
    from matplotlib.patches import Polygon

    (x0, x1), (y0, y1) = axes.get_xlim(), axes.get_ylim()
    middle = np.array([0.5 * (x0 + x1), 0.5 * (y0 + y1)])
    reach = float(np.hypot(x1 - x0, y1 - y0))
    surfaces = []
    for point, normal in zip(*drawing.half_spaces(model, state), strict=True):
        along = np.array([normal[1], -normal[0]])
        foot = point + ((middle - point) @ along) * along
        ends = foot - reach * along, foot + reach * along
        corners = [*ends, ends[1] - reach * normal, ends[0] - reach * normal]
        axes.add_patch(Polygon(corners, closed=True, fc=GROUND, ec="none", lw=0, zorder=5))
        surfaces.append((ends, point, normal))
    for (start, end), point, _ in surfaces:
        line = start + np.linspace(0.0, 1.0, 801)[:, None] * (end - start)
        for _, other, way in surfaces:  # not inside another half-plane
            if other is not point:
                line[(line - other) @ way < -1e-9 * reach] = np.nan
        axes.plot(*line.T, color=INK, lw=1.0, zorder=5.5, scalex=False, scaley=False)
