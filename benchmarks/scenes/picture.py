"""Engines beside each other: wall time against error, scene by scene."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.scenes.run import OURS, Row
from benchmarks.scenes.verdict import EVEN, FLOOR
from drystone.plots import style

SPAN = 12.0  # an axis shows at least this factor: what is nearly equal looks so
ROOM = 0.08  # share of an axis that is free on either side
FALLS = 6.0  # factor by which those that fell stand right of the greatest error
WAY = (
    "Lower and further left is better. Grey: slower and less accurate than drystone's default "
    "step. Red: faster and more accurate."
)
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
TINTS = ("#d9822b", "#b3322c", "#6b5b95", "#4b8b5b", "#8a97a3", "#c2a83e", "#7d4f2a", "#3b9ea5")


def save_comparison(rows: Sequence[Row], path: Path) -> Path:
    """A panel for each scene and world: error to the right, wall time of a simulated second
    upwards, both logarithmic, so that down and left is better; who let the bodies fall stands
    at the right edge. Ours is a line over its steps."""
    panels: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row.wall is not None and not math.isnan(row.error):
            panels.setdefault((row.case, row.world), []).append(row)
    panels = {key: here for key, here in panels.items() if any(r.engine != OURS for r in here)}
    others = list(dict.fromkeys(row.engine for row in rows if row.engine != OURS))
    looks = {name: (MARKS[k % 8], TINTS[k % 8]) for k, name in enumerate(others)}
    columns = min(4, max(1, len(panels)))
    lines = max(1, math.ceil(len(panels) / columns))
    with style.figure(3.1 * columns, 2.6 * lines + 0.9, layout="constrained") as fig:
        axes = fig.subplots(lines, columns, squeeze=False).ravel()
        for axis, ((case, world), here) in zip(axes, panels.items(), strict=False):
            _panel(axis, here, looks)
            axis.set_title(f"{case} ({world})", loc="left")
            axis.set_xlabel(f"{here[0].label} [{here[0].unit}]" if here[0].unit else here[0].label)
        for axis in axes[len(panels) :]:
            axis.set_axis_off()
        for axis in axes[: len(panels) : columns]:
            axis.set_ylabel("time of a simulated s")
        handles = {h.get_label(): h for a in axes for h in a.get_legend_handles_labels()[0]}
        if handles:
            fig.legend(
                handles.values(), handles.keys(), loc="outside upper center", ncols=2 * columns,
                frameon=False, title=WAY if columns > 2 else None,
            )  # fmt: skip
        return style.save(fig, path)


def _panel(axis: Any, here: Sequence[Row], looks: dict[str, tuple[str, str]]) -> None:
    mine = sorted((row for row in here if row.engine == OURS), key=lambda row: row.dt)
    known = [max(row.error, FLOOR) for row in here if math.isfinite(row.error)]
    fell = any(math.isinf(row.error) for row in here)
    edge = FALLS * max(known, default=1.0)

    def place(row: Row) -> tuple[float, float]:
        return min(max(row.error, FLOOR), edge), row.wall or math.nan

    places = [place(row) for row in here]
    across = span([x for x, _ in places])
    up = span([y for _, y in places])
    axis.set(xscale="log", yscale="log", xlim=across, ylim=up)
    if mine:
        first = place(next(row for row in here if row.engine == OURS))
        _shade(axis, first, across, up)
        axis.plot(*zip(*map(place, mine), strict=True), "-o", color=style.BLUE, ms=3, lw=1.0,
                  alpha=0.75, label=f"{OURS}, other steps")  # fmt: skip
        axis.plot(*first, "o", color=style.BLUE, ms=8, label=f"{OURS}, default step")
    for row in here:
        if row.engine != OURS:
            mark, tint = looks[row.engine]
            axis.plot(*place(row), mark, color=tint, ms=6, ls="none", label=row.engine)
    ticks(axis.xaxis, *across, str_of=_plain)
    ticks(axis.yaxis, *up, str_of=_seconds)
    if fell:
        middle = math.sqrt(up[0] * up[1])
        axis.axvline(edge / math.sqrt(FALLS), color=style.QUIET, lw=0.7, ls=":")
        axis.text(edge, middle, "falls", color=style.QUIET, rotation=90, ha="center", va="center")
    axis.grid(alpha=0.25, lw=0.5)


def _shade(
    axis: Any, first: tuple[float, float], across: tuple[float, float], up: tuple[float, float]
) -> None:
    """Where somebody loses to our default in both, and where somebody wins in both."""
    x, y = first
    axis.fill_between((EVEN * x, across[1]), y, up[1], color=style.QUIET, alpha=0.13, lw=0)
    if x > FLOOR:
        axis.fill_between((across[0], x / EVEN), up[0], y, color=style.RED, alpha=0.10, lw=0)


def span(values: Sequence[float]) -> tuple[float, float]:
    """Limits of a logarithmic axis with room on both sides."""
    low, high = min(values), max(values)
    wider = math.sqrt(max(1.0, SPAN * low / high))
    room = wider * (wider * wider * high / low) ** ROOM
    return low / room, high * room


def ticks(axis: Any, low: float, high: float, *, str_of: Callable[[float], str]) -> None:
    """Few ticks that can be read: whole decades, also thirds of them where there are not two."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    first, last = math.ceil(math.log10(low)), math.floor(math.log10(high))
    every = max(1, math.ceil((last - first + 1) / 4))
    places = [10.0**k for k in range(first, last + 1, every)]
    if len(places) < 2:
        places = [f * 10.0**k for k in range(first - 1, last + 1) for f in (1, 3)]
    axis.set_major_locator(FixedLocator([tick for tick in places if low <= tick <= high]))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: str_of(value)))


def _plain(value: float) -> str:
    """0.01 to 1000 in digits, the rest as powers of ten."""
    if 0.01 <= value <= 1e3:
        return f"{value:g}"
    power = math.floor(math.log10(1.001 * value))
    factor = round(value / 10.0**power)
    return f"$10^{{{power}}}$" if factor == 1 else f"${factor} \\times 10^{{{power}}}$"


def _seconds(value: float) -> str:
    for unit, scale in (("µs", 1e6), ("ms", 1e3)):
        if value * scale < 999.0:
            return f"{value * scale:g} {unit}"
    return f"{value:g} s"
