"""Performance profiles (Dolan and Moré 2002): which solver is fast, and which gets there at all.

For problem p and solver s with time t_ps (infinite if not solved), the ratio to the best solver
on that problem is t_ps / min_s t_ps; a profile is the fraction of problems with a ratio up to tau.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from drystone.escaping import for_figure
from drystone.plots import style
from drystone.types import Floats

Times = Mapping[str, Mapping[str, float]]  # seconds by solver and problem; absent: not solved
CURVES_SHOWN = 8  # curves in a panel; more cannot be told apart
TINTS = tuple(tint for tint in style.CYCLE if tint != style.INK)  # ink is for the automatic choice


def ratios(times: Times, problems: list[str]) -> dict[str, Floats]:
    """t_ps / min over s, for each solver; infinite where it did not solve the problem."""
    table = np.array([[row.get(p, np.inf) for p in problems] for row in times.values()])
    if table.size == 0:
        return {name: np.empty(0) for name in times}
    best = table.min(axis=0)
    unsolved = ~np.isfinite(best)
    scaled = table / np.where(unsolved, 1.0, best)
    return dict(zip(times, scaled, strict=True))


def fractions(times: Times, problems: list[str], taus: Floats) -> dict[str, Floats]:
    """Fraction of the problems that each solver solves within tau times the best, for each tau."""
    count = max(len(problems), 1)
    return {
        name: (row[:, None] <= np.asarray(taus)).sum(axis=0) / count
        for name, row in ratios(times, problems).items()
    }


def plot_profiles(
    panels: Mapping[str, tuple[Times, list[str]]], path: str | Path, *, title: str = ""
) -> None:
    """One panel for each group of problems, written to an image file. Solvers are listed in the
    order of their curves, with how many problems each solves at all."""
    count = max(len(panels), 1)
    taus = np.logspace(0, 4, 400)
    curves = {name: fractions(times, problems, taus) for name, (times, problems) in panels.items()}
    order = {
        name: sorted(some, key=lambda s: (-some[s].mean(), s)) for name, some in curves.items()
    }
    known: dict[str, int] = {}
    with style.figure(4.1 * count, 4.9, layout="constrained") as figure:
        axes = figure.subplots(1, count, squeeze=False)[0]
        for axis, (name, (times, problems)) in zip(axes, panels.items(), strict=False):
            looks = _looks(order[name][:CURVES_SHOWN], known)
            for solver in order[name][:CURVES_SHOWN]:
                solved = len(times[solver].keys() & set(problems))
                label = for_figure(f"{solver} ({solved})")
                axis.step(taus, curves[name][solver], where="post", label=label, **looks[solver])
            more = (
                f", best {CURVES_SHOWN} of {len(order[name])}"
                if len(order[name]) > CURVES_SHOWN
                else ""
            )
            axis.set_title(f"{name}: {len(problems)} problems{more}")
            _dress(axis)
        axes[0].set_ylabel("share of the problems solved")
        if title:
            figure.suptitle(f"{title}; up and left is better")
        style.save(figure, Path(path), dpi=130)


def _looks(solvers: list[str], known: dict[str, int]) -> dict[str, dict[str, Any]]:
    """A look for each solver of a panel, no two alike; that of earlier panels where it is free."""
    plain = [solver for solver in solvers if not solver.startswith("auto")]
    taken: dict[int, str] = {}
    for solver in plain:
        if solver in known:
            taken.setdefault(known[solver], solver)
    free = iter([k for k in range(len(TINTS) + len(plain)) if k not in taken])
    for solver in plain:
        if taken.get(known.get(solver, -1)) != solver:
            taken[next(free)] = solver
    known |= {solver: k for k, solver in taken.items()}
    out: dict[str, dict[str, Any]] = {
        solver: {"color": style.INK, "lw": 2.4, "zorder": 3} for solver in solvers
    }
    for solver in plain:
        k = known[solver]
        dashes = style.DASHES[(k + 2 * (k // len(TINTS))) % len(style.DASHES)]
        out[solver] = {"color": TINTS[k % len(TINTS)], "ls": dashes, "lw": 1.3, "zorder": 2}
    return out


def _dress(axis: Any) -> None:
    from matplotlib.ticker import FuncFormatter, PercentFormatter

    axis.set(xscale="log", xlim=(1, 1e4), ylim=(0, 1.02))
    axis.set_xlabel("time, over that of the fastest on a problem")
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}x"))
    axis.yaxis.set_major_formatter(PercentFormatter(1.0))
    axis.grid(alpha=0.25, lw=0.5)
    axis.legend(
        fontsize=7.5, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2, frameon=False,
        handlelength=2.6,
    )  # fmt: skip
