"""Engines beside each other: wall time against error, scene by scene; and growth with bodies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from drystone.plots import style

FLOOR = 1e-10  # errors below it are drawn here
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


def save_comparison(rows: Sequence[Measured], path: Path, *, ours: str) -> Path:
    """A panel for each scene and world: error to the right, wall seconds a simulated one upwards,
    both logarithmic, so that down and left is better. Ours is a line over its steps."""
    panels: dict[tuple[str, str], list[Measured]] = {}
    for row in rows:
        if row.wall is not None and math.isfinite(row.error):
            panels.setdefault((row.case, row.world), []).append(row)
    panels = {key: here for key, here in panels.items() if any(r.engine != ours for r in here)}
    others = list(dict.fromkeys(row.engine for row in rows if row.engine != ours))
    looks = {name: (MARKS[k % 8], TINTS[k % 8]) for k, name in enumerate(others)}
    columns = min(4, max(1, len(panels)))
    lines = max(1, math.ceil(len(panels) / columns))
    with style.figure(3.1 * columns, 2.7 * lines + 0.5, layout="constrained") as fig:
        axes = fig.subplots(lines, columns, squeeze=False).ravel()
        for axis, ((case, world), here) in zip(axes, panels.items(), strict=False):
            _panel(axis, here, ours, looks)
            axis.set_title(f"{case} ({world})", loc="left")
            axis.set_xlabel(f"{here[0].label} [{here[0].unit}]" if here[0].unit else here[0].label)
        for axis in axes[len(panels) :]:
            axis.set_axis_off()
        for axis in axes[::columns]:
            axis.set_ylabel("wall s / simulated s")
        handles = {h.get_label(): h for a in axes for h in a.get_legend_handles_labels()[0]}
        if handles:
            fig.legend(
                handles.values(), handles.keys(), loc="outside lower center", ncols=8,
                frameon=False,
            )  # fmt: skip
        return style.save(fig, path)


def _panel(
    axis: Any, here: Sequence[Measured], ours: str, looks: dict[str, tuple[str, str]]
) -> None:
    mine = sorted((row for row in here if row.engine == ours), key=lambda row: row.dt)
    axis.set(xscale="log", yscale="log")
    if mine:
        x, y = [max(r.error, FLOOR) for r in mine], [r.wall for r in mine]
        axis.plot(x, y, "-o", color=style.BLUE, ms=3.5, lw=1.3, label=ours)
        first = next(row for row in here if row.engine == ours)
        at = max(first.error, FLOOR), first.wall
        axis.plot(*at, "o", color=style.BLUE, ms=8, label=f"{ours}, default step")
    for row in here:
        if row.engine != ours:
            mark, tint = looks[row.engine]
            at = max(row.error, FLOOR), row.wall
            axis.plot(*at, mark, color=tint, ms=6, ls="none", label=row.engine)
    axis.grid(alpha=0.25, lw=0.5)


def save_growth(grown: Sequence[Grown], path: Path) -> Path:
    """Cost of a step for each body, and memory, over the number of spheres."""
    deep = [one for one in grown if one.deep]
    grown = [one for one in grown if not one.deep]
    n = [one.n for one in grown]
    with style.figure(7.0, 3.0, layout="constrained") as fig:
        left, right = fig.subplots(1, 2)
        left.plot(
            n, [1e6 * one.per_body for one in grown], "-o", color=style.BLUE, label="ten layers"
        )
        if deep:
            per_body = [1e6 * one.per_body for one in deep]
            left.plot([one.n for one in deep], per_body, "s", color=style.BLUE, label="a cube")
            left.legend(frameon=False)
        base = next((one for one in grown if one.n == 1000), grown[0])
        left.axhline(1.5e6 * base.per_body, color=style.QUIET, lw=0.8, ls="--")
        left.text(n[0], 1.53e6 * base.per_body, f"1.5 times that of {base.n}", color=style.QUIET)
        left.set(xscale="log", ylim=(0, None), xlabel="spheres", title="us a step, for each sphere")
        right.plot(n, [one.peak / 2**20 for one in grown], "-o", color=style.ORANGE)
        right.set(xscale="log", yscale="log", xlabel="spheres", title="greatest memory [MiB]")
        for axis in (left, right):
            axis.grid(alpha=0.25, lw=0.5)
        return style.save(fig, path)
