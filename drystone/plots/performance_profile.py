"""Performance profiles (Dolan and Moré 2002): which solver is fast, and which gets there at all.

For problem p and solver s with time t_ps (infinite if not solved), the ratio to the best solver
on that problem is t_ps / min_s t_ps; a profile is the fraction of problems with a ratio up to tau.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from drystone.errors import MissingExtraError
from drystone.types import Floats

Times = Mapping[str, Mapping[str, float]]  # seconds by solver and problem; absent: not solved
SHOWN = 12  # curves in a panel; more cannot be told apart


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
    """One panel for each group of problems, written to an image file."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        raise MissingExtraError("plots need matplotlib: pip install 'drystone[plot]'") from None
    figure, axes = pyplot.subplots(
        1, max(len(panels), 1), figsize=(5.2 * max(len(panels), 1), 5.6), squeeze=False
    )
    taus = np.logspace(0, 4, 400)
    for axis, (name, (times, problems)) in zip(axes[0], panels.items(), strict=False):
        curves = fractions(times, problems, taus)
        order = sorted(curves, key=lambda s: (-curves[s].mean(), s))[:SHOWN]
        for k, solver in enumerate(order):
            style = ("-", "--", ":", "-.")[(k // 10) % 4]
            width = 2.6 if solver.startswith("auto") else 1.3
            axis.step(taus, curves[solver], style, where="post", lw=width, label=solver)
        best = f", best {SHOWN} of {len(curves)} solvers" if len(curves) > SHOWN else ""
        heading = f"{name}: {len(problems)} problems{best}"
        axis.set(xscale="log", xlim=(1, 1e4), ylim=(0, 1.02))
        axis.set_title(heading, fontsize=10)
        axis.set_xlabel("time / time of the fastest solver on that problem")
        axis.grid(alpha=0.3)
        axis.legend(fontsize=7.5, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=3)
    axes[0][0].set_ylabel("fraction of problems solved")
    if title:
        figure.suptitle(title)
    figure.tight_layout()
    figure.savefig(path, dpi=130)
    pyplot.close(figure)
