"""Engines beside each other: wall time against error, scene by scene; and growth with bodies."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from drystone.plots import style

FLOOR = 1e-9  # errors below it are equal, and drawn here
SPAN = 12.0  # an axis shows at least this factor: what is nearly equal looks so
ROOM = 0.08  # share of an axis that is free on either side
EVEN = 1.1  # errors within this factor are equal
FALLS = 6.0  # factor by which those that fell stand right of the greatest error
WAY = (
    "Lower and further left is better. Grey: slower and less accurate than drystone's default "
    "step. Red: faster and more accurate."
)
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
TINTS = ("#d9822b", "#b3322c", "#6b5b95", "#4b8b5b", "#8a97a3", "#c2a83e", "#7d4f2a", "#3b9ea5")


class Measured(Protocol):
    """What is drawn of a run."""

    @property
    def case(self) -> str: ...
    @property
    def engine(self) -> str: ...
    @property
    def world(self) -> str: ...
    @property
    def dt(self) -> float: ...
    @property
    def wall(self) -> float | None: ...
    @property
    def error(self) -> float: ...
    @property
    def label(self) -> str: ...
    @property
    def unit(self) -> str: ...


class Grown(Protocol):
    """What is drawn of a number of spheres."""

    @property
    def n(self) -> int: ...
    @property
    def per_body(self) -> float: ...
    @property
    def peak(self) -> int: ...
    @property
    def deep(self) -> bool: ...
    @property
    def shared(self) -> float: ...
    @property
    def threads(self) -> int: ...


def save_comparison(rows: Sequence[Measured], path: Path, *, ours: str) -> Path:
    """A panel for each scene and world: error to the right, wall time of a simulated second
    upwards, both logarithmic, so that down and left is better; who let the bodies fall stands
    at the right edge. Ours is a line over its steps."""
    panels: dict[tuple[str, str], list[Measured]] = {}
    for row in rows:
        if row.wall is not None and not math.isnan(row.error):
            panels.setdefault((row.case, row.world), []).append(row)
    panels = {key: here for key, here in panels.items() if any(r.engine != ours for r in here)}
    others = list(dict.fromkeys(row.engine for row in rows if row.engine != ours))
    looks = {name: (MARKS[k % 8], TINTS[k % 8]) for k, name in enumerate(others)}
    columns = min(4, max(1, len(panels)))
    lines = max(1, math.ceil(len(panels) / columns))
    with style.figure(3.1 * columns, 2.6 * lines + 0.9, layout="constrained") as fig:
        axes = fig.subplots(lines, columns, squeeze=False).ravel()
        for axis, ((case, world), here) in zip(axes, panels.items(), strict=False):
            _panel(axis, here, ours, looks)
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


def _panel(
    axis: Any, here: Sequence[Measured], ours: str, looks: dict[str, tuple[str, str]]
) -> None:
    mine = sorted((row for row in here if row.engine == ours), key=lambda row: row.dt)
    known = [max(row.error, FLOOR) for row in here if math.isfinite(row.error)]
    fell = any(math.isinf(row.error) for row in here)
    edge = FALLS * max(known, default=1.0)

    def place(row: Measured) -> tuple[float, float]:
        return min(max(row.error, FLOOR), edge), row.wall or math.nan

    places = [place(row) for row in here]
    across = _span([x for x, _ in places])
    up = _span([y for _, y in places])
    axis.set(xscale="log", yscale="log", xlim=across, ylim=up)
    if mine:
        first = place(next(row for row in here if row.engine == ours))
        _shade(axis, first, across, up)
        axis.plot(*zip(*map(place, mine), strict=True), "-o", color=style.BLUE, ms=3, lw=1.0,
                  alpha=0.75, label=f"{ours}, other steps")  # fmt: skip
        axis.plot(*first, "o", color=style.BLUE, ms=8, label=f"{ours}, default step")
    for row in here:
        if row.engine != ours:
            mark, tint = looks[row.engine]
            axis.plot(*place(row), mark, color=tint, ms=6, ls="none", label=row.engine)
    _ticks(axis.xaxis, *across, str_of=_plain)
    _ticks(axis.yaxis, *up, str_of=_seconds)
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


def _span(values: Sequence[float]) -> tuple[float, float]:
    """Limits of a logarithmic axis with room on both sides."""
    low, high = min(values), max(values)
    wider = math.sqrt(max(1.0, SPAN * low / high))
    room = wider * (wider * wider * high / low) ** ROOM
    return low / room, high * room


def _ticks(axis: Any, low: float, high: float, *, str_of: Callable[[float], str]) -> None:
    """Few ticks that can be read: whole decades, also thirds of them where there are not two."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    first, last = math.ceil(math.log10(low)), math.floor(math.log10(high))
    every = max(1, math.ceil((last - first + 1) / 4))
    ticks = [10.0**k for k in range(first, last + 1, every)]
    if len(ticks) < 2:
        ticks = [f * 10.0**k for k in range(first - 1, last + 1) for f in (1, 3)]
    axis.set_major_locator(FixedLocator([tick for tick in ticks if low <= tick <= high]))
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


def save_growth(grown: Sequence[Grown], path: Path) -> Path:
    """Cost of a step for each body, and memory, over the number of spheres."""
    deep = [one for one in grown if one.deep]
    wide = [one for one in grown if not one.deep]
    base = next((one for one in wide if one.n == 1000), grown[0])
    limit = 1.5e6 * base.per_body
    with style.figure(7.2, 3.1, layout="constrained") as fig:
        left, right = fig.subplots(1, 2)
        for some, look, name in ((wide, "-o", "ten layers"), (deep, "s", "as high as wide")):
            if some:
                per_body = [1e6 * one.per_body for one in some]
                left.plot([one.n for one in some], per_body, look, color=style.BLUE, label=name)
        if any(one.threads > 1 for one in wide):
            per_body = [1e6 * one.shared / one.n for one in wide]
            left.plot([one.n for one in wide], per_body, "--o", color=style.BLUE, alpha=0.5,
                      label=f"ten layers, {max(one.threads for one in wide)} threads")  # fmt: skip
        left.axhline(limit, color=style.QUIET, lw=0.8, ls="--")
        left.annotate(
            f"1.5 times that of {base.n}", (0.02, limit), (0, -3), color=style.QUIET, va="top",
            xycoords=("axes fraction", "data"), textcoords="offset points", fontsize=8,
        )  # fmt: skip
        top = 1.12 * max(limit, *(1e6 * one.per_body for one in grown))
        left.set(ylim=(0, top), ylabel="µs", title="time of a step, for each sphere")
        if deep or any(one.threads > 1 for one in wide):
            left.legend(frameon=False, loc="lower left")
        right.plot([g.n for g in wide], [g.peak / 2**20 for g in wide], "-o", color=style.ORANGE)
        memory = _span([one.peak / 2**20 for one in wide or grown])
        right.set(yscale="log", ylim=memory, ylabel="MiB", title="greatest memory so far")
        _ticks(right.yaxis, *memory, str_of=lambda value: f"{value:,.0f}")
        for axis in (left, right):
            _over_spheres(axis, [one.n for one in grown])
        return style.save(fig, path)


def _over_spheres(axis: Any, numbers: Sequence[int]) -> None:
    """The numbers that were measured are the ticks."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    axis.set(xscale="log", xlabel="spheres", xlim=_span(numbers))
    axis.xaxis.set_major_locator(FixedLocator(sorted(set(numbers))))
    axis.xaxis.set_minor_locator(NullLocator())
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axis.grid(alpha=0.25, lw=0.5)
