"""Energy over time: its kinds, what every joule was spent on, and what is left unexplained."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from drystone.plots.axes import (
    PICTURE_COLUMNS,
    drawable,
    legend_above,
    legend_beside,
    line,
    note,
    over_time,
    unit,
)
from drystone.plots.decimation import peaks
from drystone.plots.run_data import series, skipped
from drystone.plots.style import BLUE, INK, ORANGE, QUIET, RED
from drystone.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PARTS = {
    "driving": "#5f8f4e",
    "loads": "#7f6bb0",
    "friction": ORANGE,
    "impact": RED,
    "constraint": "#3f9c96",
    "integration": QUIET,
}
ENERGIES = {"kinetic": BLUE, "potential": ORANGE, "total": INK}
LEDGER_SHARE_SHOWN = 2e-3  # parts of the ledger below this share of the largest are left out


def sums(run: Any) -> tuple[Floats, dict[str, Floats], Floats]:
    """Time (n,) of every step, and from the start to it: the parts of the ledger, their change."""
    parts = {name: np.cumsum(series(run, name)) for name in PARTS}
    return series(run, "time"), parts, np.cumsum(series(run, "change"))


def draw_energy(axes: Axes, run: Any) -> None:
    """Kinetic, potential and total energy."""
    t = series(run, "time")
    kinetic, potential = series(run, "kinetic"), series(run, "potential")
    lines = {"kinetic": kinetic, "potential": potential, "total": kinetic + potential}
    factor, name = unit(max(float(np.abs(v).max()) for v in lines.values()))
    for kind, values in lines.items():
        width = 1.6 if kind == "total" else 1.1
        line(axes, t, factor * values, color=ENERGIES[kind], lw=width, label=kind)
    axes.set(xlabel="time [s]", ylabel=f"energy [{name}]")
    over_time(axes, t)
    legend_above(axes, 3)


def draw_ledger(axes: Axes, run: Any) -> None:
    """The energy ledger, summed from the start; the remainder is rounding."""
    t, parts, change = sums(run)
    most = max(float(np.abs(values).max()) for values in (change, *parts.values()))
    factor, name = unit(most)
    for part, values in parts.items():
        if np.abs(values).max() > LEDGER_SHARE_SHOWN * most:
            line(axes, t, factor * values, color=PARTS[part], lw=1.3, label=part)
    line(axes, t, factor * change, color=INK, lw=1.6, label="sum: change")
    worst = float(np.abs(change - sum(parts.values())).max())
    axes.set(xlabel="time [s]", ylabel=f"work done [{name}]")
    axes.set_title("energy ledger", loc="left")
    axes.axhline(0.0, color=QUIET, lw=0.6, zorder=0)
    over_time(axes, t)
    axes.plot([], [], " ", label=f"unexplained\n{worst:.0e} J at most")
    legend_beside(axes)


def draw_stack(axes: Axes, run: Any) -> None:
    """The same with the parts stacked: gains above zero, losses below, their sum in ink."""
    t, parts, change = sums(run)
    t = np.concatenate([[t[0] - float(series(run, "dt")[0])], t])
    if skipped(run) > 1:
        # works of steps without a report are unknown; the sum is known from the energies
        parts, total = {}, series(run, "kinetic") + series(run, "potential")
        change = total - total[0] + change[0]
        said = f"1 step in {skipped(run)} recorded: contributions unknown"
        axes.text(0.02, 0.95, said, transform=axes.transAxes, va="top", color=QUIET, fontsize=7.0)
    most = max(float(np.abs(values).max()) for values in (change, *parts.values()))
    factor, name = unit(most)
    kept = peaks(change, PICTURE_COLUMNS)
    t, change = t[np.concatenate([[0], 1 + kept])], change[kept]
    parts = {part: values[kept] for part, values in parts.items()}
    above, below = np.zeros(t.size), np.zeros(t.size)
    for part, values in parts.items():
        if not np.abs(values).max() > LEDGER_SHARE_SHOWN * most:
            continue
        values = factor * np.concatenate([[0.0], values])
        for floor, piece in ((above, values.clip(min=0.0)), (below, values.clip(max=0.0))):
            if piece.any():
                axes.fill_between(t, floor, floor + piece, color=PARTS[part], lw=0, alpha=0.75)
                floor += piece
        axes.fill_between([], [], color=PARTS[part], lw=0, alpha=0.75, label=part)
    total = np.concatenate([[0.0], factor * change])
    line(axes, t, total, color=INK, lw=1.2, label="change")
    axes.axhline(0.0, color=INK, lw=0.5)
    axes.set(xlabel="time [s]", ylabel=f"work done [{name}]")
    over_time(axes, t)
    legend_above(axes, 4)


def draw_unexplained(axes: Axes, run: Any) -> None:
    """What no part of the ledger explains, in each step, against the greatest energy: rounding."""
    t = series(run, "time")
    left = np.abs(series(run, "unexplained"))
    some = drawable(left) & (left > 0.0)
    axes.plot(t[some], left[some], ".", color=BLUE, ms=2.0, mec="none")
    axes.set_yscale("log")
    if some.any():
        low, high = float(np.quantile(left[some], 0.02)), float(left[some].max())
        axes.set_ylim(0.3 * low, 3.0 * high)
    else:
        note(axes, "zero throughout")
    axes.set(xlabel="time [s]", ylabel="unexplained\n[J per step]")
    over_time(axes, t)
