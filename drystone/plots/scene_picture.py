"""Pictures of a simulation's present state, planar or spatial, with the forces that act."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from drystone.errors import OptionError
from drystone.escaping import for_figure
from drystone.model import Model, State
from drystone.plots import style
from drystone.plots.forces import force_legend, force_lines, thickest
from drystone.plots.planar_picture import draw_planar, planar_limits
from drystone.simulation import Simulation
from drystone.world import World

PICTURE_WIDTH = 8.0  # of a picture [inches]


def arrays(subject: Any) -> tuple[Model, State, Any]:
    """Model, state and contacts (None before the first step) of a Simulation or a World."""
    if isinstance(subject, Simulation):
        subject.sync()
        return subject.model, subject.state, subject.contacts if subject.report else None
    if isinstance(subject, World):
        return (*subject.build(), None)
    raise OptionError(f"a picture needs a ds.Simulation or a ds.World, not {subject!r}")


def save_picture(
    subject: Simulation | World,
    path: str | Path,
    *,
    view: Mapping[str, Any] | None = None,
    title: str = "",
    colours: Mapping[str, str] | None = None,
) -> Path:
    """Draw a state to an image file.

    view: hints of a scene: "limits" ((x0, x1), (y0, y1)) of a planar picture, "camera" and
    "target" (3,) of a spatial one [m]; found from the bodies where missing.
    colours: of bodies by name.
    """
    model, state, contacts = arrays(subject)
    place = Path(path)
    if model.dim == 2:
        return _save_planar(model, state, contacts, place, view or {}, title, colours)
    from drystone.plots.spatial_picture import save_spatial

    return save_spatial(model, state, place, view=view or {}, title=title, colours=colours)


def _save_planar(
    model: Model,
    state: State,
    contacts: Any,
    path: Path,
    view: Mapping[str, Any],
    title: str,
    colours: Mapping[str, str] | None,
) -> Path:
    forces = None if contacts is None else force_lines(model, state, contacts)
    limits = view.get("limits") or planar_limits(model, state)
    (x0, x1), (y0, y1) = limits
    tall = max(0.9, min(9.0, PICTURE_WIDTH * (y1 - y0) / (x1 - x0)))
    wide = min(PICTURE_WIDTH, tall * (x1 - x0) / (y1 - y0))
    legend = 0.62 if forces is not None and forces.size.size else 0.08
    head = 0.34 if title else 0.05
    width = max(wide, 4.6)
    height = tall + legend + head
    with style.figure(width + 0.1, height) as fig:
        axes = fig.add_axes(_box(0.05, legend, width, tall, width + 0.1, height))
        thick = thickest(model, 72.0 * min(wide / (x1 - x0), tall / (y1 - y0)))
        drawn = draw_planar(
            axes, model, state, limits=limits, forces=forces, colours=colours, thickest=thick
        )
        if title:
            fig.text(
                0.06 / (width + 0.1),
                1 - 0.24 / height,
                for_figure(title),
                weight="bold",
                fontsize=10,
            )
        if drawn is not None and forces is not None:
            below = fig.add_axes(_box(0.25, 0.02, width - 0.4, 0.56, width + 0.1, height))
            force_legend(below, drawn, float(forces.size.max()), thick)
        return style.save(fig, path)


def _box(
    x: float, y: float, width: float, height: float, whole: float, tall: float
) -> tuple[float, float, float, float]:
    """Inches as parts of the figure."""
    return x / whole, y / tall, width / whole, height / tall
