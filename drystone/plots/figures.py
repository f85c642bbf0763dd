"""``ds.plot``: any quantity of a run as a figure that can be printed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drystone.errors import OptionError
from drystone.plots import style
from drystone.plots.energy import draw_energy, draw_stack, draw_unexplained
from drystone.plots.paths import draw_phase, draw_trajectory, path_ratio
from drystone.plots.states import chains_ratio, draw_chains, draw_picture, picture_ratio
from drystone.plots.steps import (
    draw_contacts,
    draw_forces_over_time,
    draw_iterations,
    draw_penetration,
    draw_residual,
    draw_stages,
)
from drystone.recording.base import Replay, checked_replay
from drystone.values import as_path, meant, real, text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = (".png", ".svg", ".pdf")
DPI = 300  # dots per inch: what journals ask of colour pictures
MARGIN_INCHES = 0.06  # [inches] around a picture
LAYOUTS = 3  # layouts after which nothing moves any more


@dataclass(frozen=True)
class PlotOptions:
    """What the caller chose: bodies by name, a time [s], a coordinate, a plane, tolerances."""

    bodies: tuple[str, ...] | None = None
    time: float | None = None
    coordinate: str | None = None
    plane: str | None = None
    tol: float | None = None
    loose: float | None = None


@dataclass(frozen=True)
class PlotPanel:
    """One pair of axes: how to draw it, and its height over its width."""

    draw: Callable[[Axes, Any, PlotOptions], None]
    ratio: float | Callable[[Any, PlotOptions], float] = 0.62

    def height(self, run: Any, chosen: PlotOptions) -> float:
        return self.ratio(run, chosen) if callable(self.ratio) else self.ratio


@dataclass(frozen=True)
class Quantity:
    """Something to plot. timed: its panels share an axis of time; contacts, profile: what a run
    must have kept for it."""

    title: str
    panels: tuple[PlotPanel, ...]
    timed: bool = True
    contacts: bool = False
    profile: bool = False


QUANTITIES: dict[str, Quantity] = {
    "energy": Quantity(
        "energy and energy ledger",
        (
            PlotPanel(lambda axes, run, _: draw_energy(axes, run), 0.5),
            PlotPanel(lambda axes, run, _: draw_stack(axes, run), 0.5),
            PlotPanel(lambda axes, run, _: draw_unexplained(axes, run), 0.25),
        ),
    ),
    "gap": Quantity(
        "gaps and penetration",
        (
            PlotPanel(lambda axes, run, _: draw_penetration(axes, run), 0.5),
            PlotPanel(lambda axes, run, _: draw_contacts(axes, run), 0.3),
        ),
    ),
    "residual": Quantity(
        "residuals of the solves",
        (
            PlotPanel(
                lambda axes, run, chosen: draw_residual(axes, run, chosen.tol, chosen.loose), 0.5
            ),
            PlotPanel(lambda axes, run, _: draw_iterations(axes, run), 0.3),
        ),
    ),
    "forces": Quantity(
        "contact forces",
        (PlotPanel(lambda axes, run, chosen: draw_forces_over_time(axes, run, chosen.bodies)),),
        contacts=True,
    ),
    "chains": Quantity(
        "force chains",
        (
            PlotPanel(
                lambda axes, run, chosen: draw_chains(axes, run, chosen.time),
                lambda run, chosen: chains_ratio(run, chosen.time),
            ),
        ),
        timed=False,
        contacts=True,
    ),
    "trajectory": Quantity(
        "paths of centres of mass",
        (
            PlotPanel(
                lambda axes, run, chosen: draw_trajectory(axes, run, chosen.bodies, chosen.plane),
                lambda run, chosen: path_ratio(run, chosen.bodies, chosen.plane),
            ),
        ),
        timed=False,
    ),
    "phase": Quantity(
        "phase plot",
        (
            PlotPanel(
                lambda axes, run, chosen: draw_phase(axes, run, chosen.bodies, chosen.coordinate),
                0.8,
            ),
        ),
        timed=False,
    ),
    "timing": Quantity(
        "wall time by stage",
        (PlotPanel(lambda axes, run, _: draw_stages(axes, run)),),
        profile=True,
    ),
    "picture": Quantity(
        "bodies",
        (
            PlotPanel(
                lambda axes, run, chosen: draw_picture(axes, run, chosen.time),
                lambda run, chosen: picture_ratio(run, chosen.time),
            ),
        ),
        timed=False,
    ),
}


def quantities(what: str | Sequence[str]) -> tuple[str, ...]:
    """Names from "energy,gap" or ["energy", "gap"]; raises OptionError for unknown ones."""
    if not isinstance(what, str | list | tuple) or not all(isinstance(n, str) for n in what):
        raise OptionError(f"what = {text(what)}: expected some of {', '.join(QUANTITIES)}")
    names = what.split(",") if isinstance(what, str) else list(what)
    names = [name.strip() for name in names if name.strip()]
    if not names:
        raise OptionError(f"what = {what!r}: expected some of {', '.join(QUANTITIES)}")
    for name in names:
        if name not in QUANTITIES:
            hint = meant(name, QUANTITIES, f"expected {', '.join(QUANTITIES)}")
            raise OptionError(f"unknown quantity {name!r}: {hint}")
    return tuple(dict.fromkeys(names))


def plot(
    run: Replay,
    what: str | Sequence[str] = "energy",
    *,
    ax: Axes | None = None,
    path: str | Path | None = None,
    bodies: Sequence[str] | None = None,
    time: float | None = None,
    coordinate: str | None = None,
    plane: str | None = None,
    tol: float | None = None,
    loose: float | None = None,
    width: float | None = None,
) -> Figure | Axes:
    """Draw one or several quantities of a run: a Trajectory, a recording, a comparison's run.

    what: of "energy", "gap", "residual", "forces", "chains", "trajectory", "phase", "timing",
        "picture"; several as a list or with commas.
    ax: draw the main panel of one quantity there, and return it; otherwise a new Figure.
    path: also write it (.png, .svg, .pdf).
    bodies: names, for forces, trajectory and phase; time [s], of chains and picture: the end by
        default; coordinate: of phase plots, "x", "y", "z" or "angle"; plane: of trajectories,
        "xy", "xz" or "yz"; tol, loose: tolerances to draw with residuals.
    width [inches]: 3.5, a printed column, for one quantity and 7.2, a page, for several.
    """
    names = quantities(what)
    if bodies is not None and not (
        isinstance(bodies, list | tuple) and all(isinstance(name, str) for name in bodies)
    ):
        raise OptionError(f"bodies = {text(bodies)}: expected a list of names")
    for field, value in (("time", time), ("tol", tol), ("loose", loose), ("width", width)):
        if value is not None and real(value) is None:
            raise OptionError(f"{field} = {text(value)}: expected a number")
    for field, word in (("coordinate", coordinate), ("plane", plane)):
        if word is not None and not isinstance(word, str):
            raise OptionError(f"{field} = {text(word)}: expected a string")
    if any(QUANTITIES[name].contacts or not QUANTITIES[name].timed for name in names):
        checked_replay(run)  # where steps alone will not do
    chosen = PlotOptions(tuple(bodies) if bodies else None, time, coordinate, plane, tol, loose)
    if ax is not None:
        if not hasattr(ax, "plot"):
            raise OptionError(f"ax = {text(ax)}: expected axes of Matplotlib")
        if len(names) > 1:
            raise OptionError(f"what = {what!r}: one quantity fits into the axes given as ax")
        QUANTITIES[names[0]].panels[0].draw(ax, run, chosen)
        return ax
    place = None if path is None else check_path(path)
    columns = min(2, len(names))
    wide = (style.COLUMN if columns == 1 else style.PAGE) if width is None else float(width)
    if not 1.0 <= wide <= 40.0:
        raise OptionError(f"width = {width!r}: expected inches from 1 to 40")
    tall = _heights(run, names, chosen, columns, wide)
    with style.figure(wide, sum(tall), printed=True, layout="constrained") as fig:
        cells = fig.subfigures(len(tall), columns, squeeze=False, height_ratios=tall).ravel()
        for cell, name in zip(cells, names, strict=False):
            _fill(cell, run, QUANTITIES[name], chosen, titled=len(names) > 1)
        if len(names) == 1 and not QUANTITIES[names[0]].timed:
            trim(fig)
        if place is not None:
            style.save(fig, place, DPI)
    return fig


def trim(fig: Figure) -> None:
    """Take away the height that a picture with equal scales leaves empty.

    A layout starts from the places of the one before: what hangs on axes of equal scale, such as
    the legend of force chains, is inside the figure only after a few of them.
    """
    fig.draw_without_rendering()
    wide, tall = fig.get_size_inches()
    fig.set_size_inches(wide, min(tall, fig.get_tightbbox().height + 2 * MARGIN_INCHES))
    for _ in range(LAYOUTS):
        fig.draw_without_rendering()


def check_path(path: str | Path) -> Path:
    """The path, if its ending is one of a figure's formats."""
    place = as_path("plot", path)
    if place.suffix.lower() not in FORMATS:
        raise OptionError(f"{place}: expected a name ending in {', '.join(FORMATS)}")
    return place


def _heights(
    run: Any, names: Sequence[str], chosen: PlotOptions, columns: int, wide: float
) -> list[float]:
    """Of every row of quantities [inches]."""
    each = [
        sum((wide / columns - 0.6) * p.height(run, chosen) for p in QUANTITIES[n].panels)
        + 0.55
        + (0.25 if len(names) > 1 else 0.0)
        for n in names
    ]
    rows = math.ceil(len(names) / columns)
    return [max(each[columns * r : columns * (r + 1)]) for r in range(rows)]


def _fill(cell: Any, run: Any, quantity: Quantity, chosen: PlotOptions, titled: bool) -> None:
    """The panels of a quantity, one below the other."""
    ratios = [panel.height(run, chosen) for panel in quantity.panels]
    axes = cell.subplots(len(ratios), 1, squeeze=False, height_ratios=ratios)[:, 0]
    for axis, panel in zip(axes, quantity.panels, strict=True):
        panel.draw(axis, run, chosen)
    if quantity.timed:
        for axis in axes[:-1]:
            axis.tick_params(labelbottom=False)
            axis.set_xlabel("")
        cell.align_ylabels(axes)
    if titled:
        cell.suptitle(quantity.title, x=0.02, ha="left", fontsize=9.0, fontweight="bold")
