"""The Brazil nut: the pile before and after, and the height of the large grain over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from drystone.model import Model, State
from drystone.plots import style
from drystone.plots.forces_2d import force_legend, force_lines
from drystone.plots.planar_picture import draw_planar
from drystone.plots.scene_picture import thickest
from drystone.plots.style import BLUE, INK, ORANGE, QUIET
from drystone.types import Floats

NUT = "#e0a458"  # the large grain


@dataclass(frozen=True)
class Moment:
    """A state and its contacts (None before the first step)."""

    model: Model
    state: State
    contacts: Any = None


@dataclass(frozen=True)
class Rise:
    """time (n,) [s]; nut (n,): height of the large grain's centre above the floor of the box;
    middle, top (n,): those of the small grains' mean and of the highest tenth of them [m]."""

    time: Floats
    nut: Floats
    middle: Floats
    top: Floats


def heights(state: State, names: Sequence[str]) -> tuple[float, float, float]:
    """Of the nut, the mean grain and the upper tenth of the grains above the box's floor."""
    box, nut = names.index("box"), names.index("nut")
    up = state.position[:, 1] - state.position[box, 1]
    grains = np.delete(up, [box, nut])
    return float(up[nut]), float(grains.mean()), float(np.quantile(grains, 0.9))


def save_brazil_nut(start: Moment, end: Moment, rise: Rise, path: Path, half_width: float) -> Path:
    """Start and end side by side, in the frame of the box, and the rise below them.

    half_width: of the box [m].
    """
    room = max(_top(start), _top(end)) + 1.0
    low, wide = -0.06 * room, 1.1 * half_width
    across = 4.34  # of a picture [inches]
    scale = min(across / (2 * wide), 5.0 / (room - low))  # inches for a metre
    up, below = (room - low) * scale, 2.75
    height = up + below + 0.3
    thick = thickest(end.model, 72.0 * scale)
    with style.figure(9.0, height) as fig:
        for k, moment in enumerate((start, end)):
            box = (0.012 + 0.494 * k, below / height, across / 9.0, up / height)
            axes = fig.add_axes(box)
            floor = float(moment.state.position[moment.model.names.index("box"), 1])
            limits = ((-wide, wide), (floor + low, floor + room))
            forces = None
            if moment.contacts is not None:
                forces = force_lines(moment.model, moment.state, moment.contacts)
            drawn = draw_planar(
                axes, moment.model, moment.state, limits=limits, forces=forces,
                colours={"nut": NUT}, thickest=thick,
            )  # fmt: skip
            name = "start" if k == 0 else f"after {moment.state.time:.4g} s"
            axes.set_title(name, loc="left", pad=4)
            if drawn is not None and forces is not None:
                place = fig.add_axes((0.535, (below - 0.66) / height, 0.44, 0.56 / height))
                force_legend(place, drawn, float(forces.size.max()), thick)
        draw_rise(fig.add_axes((0.07, 0.5 / height, 0.66, 1.5 / height)), rise)
        return style.save(fig, path)


def draw_rise(axes: Any, rise: Rise) -> None:
    """Heights over time."""
    axes.fill_between(rise.time, 0.0, rise.top, color=style.STONE, lw=0)
    axes.plot(rise.time, rise.top, color=QUIET, lw=0.8, label="surface of the grains")
    axes.plot(rise.time, rise.middle, color=BLUE, lw=0.9, label="mean of the grains")
    axes.plot(rise.time, rise.nut, color=ORANGE, lw=1.8, label="the large one")
    axes.set(xlabel="time [s]", ylabel="height [m]", ylim=(0, None))
    axes.set_xlim(0.0, float(rise.time[-1]))
    axes.tick_params(color=INK)
    axes.legend(
        fontsize=8.0,
        frameon=False,
        loc="center left",
        bbox_to_anchor=(1.02, 0.45),
        handlelength=1.6,
    )


def _top(moment: Moment) -> float:
    names = moment.model.names
    up = moment.state.position[:, 1] - moment.state.position[names.index("box"), 1]
    radius = float(np.median(moment.model.geoms.radius[np.isfinite(moment.model.geoms.radius)]))
    return float(np.delete(up, names.index("box")).max()) + radius
