"""Runs of a comparison over each other, and their states side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from drystone.comparison.measures import errors
from drystone.comparison.runs import ComparedRun
from drystone.draw.meshes import bounds
from drystone.escaping import for_figure
from drystone.plots import style
from drystone.plots.axes import LOG_FLOOR, log_scale, unit
from drystone.plots.figures import DPI, check_path, trim
from drystone.plots.planar_picture import Limits, draw_planar, planar_limits
from drystone.plots.run_data import frame, series
from drystone.plots.states import (
    LEGEND_WIDTH,
    SPATIAL_RATIO,
    draw_chains,
    draw_picture,
    limits_ratio,
)
from drystone.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from drystone.comparison.compare import Comparison

PICTURE_EXTENT = 4.0  # sizes of a usual picture that all of them together may have
LEGEND = 0.6  # height of the legend of a picture with forces [inches]


def draw_comparison(
    comparison: Comparison, path: str | Path | None, width: float | None = None
) -> Figure:
    """Four panels over time, one line a method, and below them what each cost."""
    place = None if path is None else check_path(path)
    wide = style.PAGE if width is None else width
    with style.figure(wide, 0.86 * wide, printed=True, layout="constrained") as fig:
        axes = fig.subplots(3, 2, height_ratios=(1.0, 1.0, 0.75))
        _errors(axes[0, 0], comparison)
        _energy(axes[0, 1], comparison)
        _worst(axes[1, 0], comparison, "penetration", "penetration [m]")
        _worst(axes[1, 1], comparison, "residual", "residual")
        _bars(axes[2, 0], comparison, "wall", "wall time [s]")
        _bars(axes[2, 1], comparison, "error", "greatest error [m]")
        handles, labels = axes[0, 1].get_legend_handles_labels()
        fig.legend(
            handles, labels, loc="outside upper left", ncols=2, title=for_figure(comparison.title),
            alignment="left", title_fontproperties={"weight": "bold", "size": 9.0},
        )  # fmt: skip
        if place is not None:
            style.save(fig, place, DPI)
    return fig


def _lines(
    axes: Axes,
    comparison: Comparison,
    curve: Callable[[ComparedRun], tuple[Floats, Floats]],
    **look: Any,
) -> None:
    """One line for each run, each with its own colour and, unless `look` says so, dashes."""
    end = 0.0
    for k, row in enumerate(comparison.rows):
        if row.method not in comparison.runs:
            continue
        run = comparison.runs[row.method]
        t, values = curve(run)
        mark = " (reference)" if row.reference else ""
        axes.plot(t, values, **{**style.line(k), **look}, label=for_figure(f"{row.method}{mark}"))
        end = max(end, float(series(run, "time")[-1]))
    axes.set(xlabel="time [s]", xlim=(0, end) if end > 0 else None)
    axes.grid(alpha=0.25, lw=0.6)


def _errors(axes: Axes, comparison: Comparison) -> None:
    held = None if comparison.reference is None else comparison.runs[comparison.reference]

    def curve(run: ComparedRun) -> tuple[Floats, Floats]:
        if held is None or held is run:
            return np.empty(0), np.empty(0)
        t, values = errors(run, held)
        return t, np.where(values > 0.0, values, np.nan)

    _lines(axes, comparison, curve)
    axes.set_ylabel("position error [m]")
    log_scale(axes)


def _energy(axes: Axes, comparison: Comparison) -> None:
    totals = {
        label: series(run, "kinetic") + series(run, "potential")
        for label, run in comparison.runs.items()
    }
    factor, name = unit(max((float(np.abs(v).max()) for v in totals.values()), default=1.0))
    _lines(axes, comparison, lambda run: (series(run, "time"), factor * totals[run.title]))
    axes.set_ylabel(f"energy [{name}]")


def _worst(axes: Axes, comparison: Comparison, name: str, label: str) -> None:
    def curve(run: ComparedRun) -> tuple[Floats, Floats]:
        values = series(run, name)
        return series(run, "time"), np.where(values > 0.0, np.maximum(values, LOG_FLOOR), np.nan)

    _lines(axes, comparison, curve, ls="-", lw=0.7)  # dashes would hide how it jumps
    axes.set_ylabel(label)
    log_scale(axes, 4.0)


def _bars(axes: Axes, comparison: Comparison, name: str, label: str) -> None:
    """One bar a method, from the top in the order of the table; rows without it say so."""
    values = [getattr(row, name) for row in comparison.rows]
    known = [value for value in values if value]
    low = 0.3 * min(known, default=1.0)
    for k, (row, value) in enumerate(zip(comparison.rows, values, strict=True)):
        if value:
            axes.barh(k, value - low, left=low, color=style.line(k)["color"], height=0.62)
            axes.text(1.1 * value, k, f"{value:.2g}", va="center", fontsize=7.0)
            continue
        failed = bool(row.failed) and row.method not in comparison.runs
        words = "did not run" if failed else "reference" if row.reference else "none"
        axes.text(1.1 * low, k, words, va="center", fontsize=7.0, color=style.QUIET)
    axes.set(xscale="log", xlabel=label, yticks=[])
    axes.xaxis.set_minor_formatter("")
    axes.set_xlim(low, 4.0 * max(known, default=10.0))
    axes.set_ylim(len(values) - 0.4, -0.6)
    axes.grid(alpha=0.25, lw=0.6, axis="x")


def draw_states(
    comparison: Comparison, path: str | Path | None, time: float | None, width: float | None = None
) -> Figure:
    """A picture for each run at a time [s], the end by default, with the forces if planar."""
    place = None if path is None else check_path(path)
    runs = comparison.runs
    first = next(iter(runs.values()))
    low, high = box = _box(runs, time)
    limits: Limits = ((low[0], high[0]), (low[1], high[1]))
    planar = first.model.dim == 2
    ratio = limits_ratio(limits) if planar else SPATIAL_RATIO
    legend = LEGEND if planar and first.keeps_contacts else 0.0
    wide = style.PAGE if width is None else width
    columns = min(len(runs), 2 if ratio < 0.9 else 3)
    if legend:
        columns = max(1, min(columns, int(wide / LEGEND_WIDTH)))
    rows = math.ceil(len(runs) / columns)
    tall = rows * (wide / columns * ratio + legend + 0.3)
    with style.figure(wide, tall, printed=True, layout="constrained") as fig:
        cells = fig.subplots(rows, columns, squeeze=False).ravel()
        for cell, (label, run) in zip(cells, runs.items(), strict=False):
            k = _frame(run, time)
            at = float(run.time[k])
            if planar and run.keeps_contacts:
                draw_chains(cell, run, at, limits)
            elif planar:
                draw_planar(cell, run.model, run.state(k), limits=limits)
            else:
                draw_picture(cell, run, at, box)
            cell.set_title(f"{for_figure(label)}, t = {at:.4g} s", loc="left")
        for cell in cells[len(runs) :]:
            cell.set_axis_off()
        trim(fig)
        if place is not None:
            style.save(fig, place, DPI)
    return fig


def _box(runs: Mapping[str, ComparedRun], time: float | None) -> tuple[Floats, Floats]:
    """Lowest and highest corner (dim,) of the part of the world that all pictures show: what the
    scene says, what all runs need, or, if somebody went far, what most do."""
    first = next(iter(runs.values()))
    if first.model.dim == 2 and "limits" in first.view:
        low, high = np.transpose(first.view["limits"])
        return low, high
    boxes = np.array([_bounds(run, _frame(run, time)) for run in runs.values()])
    low, high = boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)
    usual = np.median(boxes, axis=0)
    if (high - low > PICTURE_EXTENT * (usual[1] - usual[0]).max()).any():
        low, high = usual
    return low, high


def _bounds(run: ComparedRun, k: int) -> tuple[Floats, Floats]:
    """Lowest and highest corner (dim,) of the bodies of a frame."""
    low, high = bounds(run.model, run.state(k))
    if run.model.dim == 2:
        low, high = np.transpose(planar_limits(run.model, run.state(k)))
    return low, high


def _frame(run: ComparedRun, time: float | None) -> int:
    """A run that stopped early shows its last frame."""
    return frame(run, None if time is None or time > run.time[-1] else time)
