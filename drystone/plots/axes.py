"""Small things that many plots do to their axes: grids, legends, units, logarithms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from drystone.plots.decimation import peaks
from drystone.plots.style import QUIET
from drystone.types import Bools, Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LOG_FLOOR = 1e-16  # logarithms end here: rounding
LARGEST_SHOWN = 1e100  # limits of axes beyond it overflow: SI units of anything are far below
PICTURE_COLUMNS = 2400  # of a picture, in each of which a line has a least and a greatest value
PREFIXES = ("G", "M", "k", "", "m", "µ", "n", "p", "f")


def unit(most: float, name: str = "J") -> tuple[float, str]:
    """Factor and unit that keep the numbers on an axis short."""
    for k, prefix in enumerate(PREFIXES):
        factor = 10.0 ** (3 * (k - 3))
        if most * factor >= 1.0:
            return factor, prefix + name
    return 1.0, name


def power(value: float) -> str:
    """A number as a reader writes it: 1e-08 is a power of ten."""
    mantissa, _, exponent = f"{value:.1e}".partition("e")
    if 1e-3 <= abs(value) < 1e4 or value == 0.0:
        return f"{value:g}"
    head = "" if mantissa == "1.0" else rf"{float(mantissa):g}\cdot"
    return rf"${head}10^{{{int(exponent)}}}$"


def over_time(axes: Axes, t: Floats) -> None:
    """Grid, and limits that begin at zero where the run does."""
    axes.grid(alpha=0.25, lw=0.6)
    start = 0.0 if 0.0 <= t[0] < 0.1 * t[-1] else float(t[0])
    if t[-1] > start:
        axes.set_xlim(start, t[-1])


def line(axes: Axes, t: Floats, values: Floats, **options: Any) -> None:
    """A line over time, of no more points than can be told apart: peaks are among them."""
    kept = peaks(values, PICTURE_COLUMNS)
    axes.plot(t[kept], values[kept], **options)


def legend_above(axes: Axes, columns: int = 4, **options: Any) -> None:
    """A legend that no line can cross."""
    axes.legend(
        fontsize=7.5, frameon=False, ncols=columns, handlelength=1.6, columnspacing=1.4,
        loc="lower right", bbox_to_anchor=(1.0, 0.97), borderaxespad=0.0, **options,
    )  # fmt: skip


def legend_beside(axes: Axes, **options: Any) -> None:
    """A legend to the right of the axes, top aligned."""
    axes.legend(
        fontsize=7.0, frameon=False, handlelength=1.4, loc="upper left",
        bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2, **options,
    )  # fmt: skip


def logarithmic(axes: Axes, t: Floats, values: Floats, colour: str, **options: Any) -> None:
    """Zeros are breaks of the line, not a drop to the bottom of the picture."""
    shown = np.where(drawable(values) & (values > 0.0), np.maximum(values, LOG_FLOOR), np.nan)
    line(axes, t, shown, color=colour, **{"lw": 1.0, **options})
    log_scale(axes, 2.0)
    over_time(axes, t)


def log_scale(axes: Axes, decades: float = 0.0) -> None:
    """A logarithmic scale upwards, also for lines that are level or hold nothing above zero.

    decades: it spans that many or more, so that rounding looks like rounding.
    """
    drawn = [np.asarray(line.get_ydata(), dtype=float) for line in axes.get_lines()]
    values = np.concatenate([np.empty(0), *drawn])
    some = values[drawable(values) & (values > 0.0)]
    low, high = (float(some.min()), float(some.max())) if some.size else (1e-8, 1e-8)
    if high < 1.01 * low:
        low, high = 0.1 * low, 10.0 * high
    else:
        low, high = low / (high / low) ** 0.05, high * (high / low) ** 0.05
    axes.set_ylim(low, max(high, low * 10.0**decades))
    axes.set_yscale("log")
    if not some.size:
        note(axes, "zero throughout")


def drawable(values: Floats) -> Bools:
    """Which values are drawn: not those of a motion without bounds."""
    out: Bools = np.abs(values) < LARGEST_SHOWN
    return out


def note(axes: Axes, text: str) -> None:
    """A quiet sentence in the middle of axes that have nothing to show."""
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color=QUIET)
