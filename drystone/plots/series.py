"""A run over time: its energy and where that went, contacts, depths and residuals."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from drystone.errors import OptionError
from drystone.plots import style
from drystone.plots.style import BLUE, INK, ORANGE, QUIET, RED
from drystone.steppers.base import StepReport
from drystone.trajectory import Trajectory
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
SHOWN = 2e-3  # parts of the ledger below this share of the largest are left out
FLOOR = 1e-16  # logarithms end here: rounding


def save_series(
    run: Trajectory | Sequence[StepReport],
    folder: str | Path,
    *,
    tol: float | None = None,
    loose: float | None = None,
) -> list[Path]:
    """Write ``energy.png`` and ``steps.png``; tol, loose: the residuals asked for, as lines."""
    place = Path(folder)
    energy = save_energy(run, place / "energy.png")
    return [energy, save_steps(run, place / "steps.png", tol=tol, loose=loose)]


def save_energy(run: Trajectory | Sequence[StepReport], path: str | Path) -> Path:
    """Energies on the left; on the right what changed their sum, summed over the run."""
    reports = _reports(run)
    with style.figure(9.0, 3.4) as fig:
        draw_energy(fig.add_axes((0.065, 0.15, 0.355, 0.74)), reports)
        draw_ledger(fig.add_axes((0.495, 0.15, 0.355, 0.74)), reports)
        return style.save(fig, Path(path), 140)


def save_steps(
    run: Trajectory | Sequence[StepReport],
    path: str | Path,
    *,
    tol: float | None = None,
    loose: float | None = None,
) -> Path:
    """Contacts, infeasibility and residual of every step, one below the other."""
    reports = _reports(run)
    with style.figure(9.0, 5.4) as fig:
        top, middle, bottom = (fig.add_axes((0.085, y, 0.9, 0.245)) for y in (0.71, 0.4, 0.09))
        draw_contacts(top, reports)
        draw_infeasibility(middle, reports)
        draw_residual(bottom, reports, tol, loose)
        for axes in (top, middle):
            axes.tick_params(labelbottom=False)
        bottom.set_xlabel("time [s]", labelpad=2)
        fig.align_ylabels()
        return style.save(fig, Path(path), 140)


def draw_energy(axes: Axes, run: Trajectory | Sequence[StepReport]) -> None:
    """Kinetic, potential and total energy."""
    reports = _reports(run)
    t = _time(reports)
    lines = {n: np.array([getattr(r.energy, n) for r in reports]) for n in ENERGIES}
    factor, unit = _unit(max(float(np.abs(v).max()) for v in lines.values()))
    for name, values in lines.items():
        width = 1.6 if name == "total" else 1.1
        axes.plot(t, factor * values, color=ENERGIES[name], lw=width, label=name)
    axes.set(xlabel="time [s]", ylabel=f"[{unit}]")
    axes.set_title("energy", loc="left")
    _grid(axes, t)
    _above(axes)


def draw_ledger(axes: Axes, run: Trajectory | Sequence[StepReport]) -> None:
    """What every joule was spent on, summed from the start; what is left is rounding."""
    reports = _reports(run)
    t = _time(reports)
    sums = {name: np.cumsum([getattr(r.energy, name) for r in reports]) for name in PARTS}
    change = np.cumsum([r.energy.change for r in reports])
    most = max(float(np.abs(values).max()) for values in (change, *sums.values()))
    factor, unit = _unit(most)
    for name, values in sums.items():
        if np.abs(values).max() > SHOWN * most:
            axes.plot(t, factor * values, color=PARTS[name], lw=1.3, label=name)
    axes.plot(t, factor * change, color=INK, lw=1.6, label="sum: change")
    worst = float(np.abs(change - sum(sums.values())).max())
    axes.set(xlabel="time [s]", ylabel=f"[{unit}]")
    axes.set_title("where it came from and went", loc="left")
    axes.axhline(0.0, color=QUIET, lw=0.6, zorder=0)
    _grid(axes, t)
    axes.plot([], [], " ", label=f"unexplained\n{worst:.0e} J at most")
    axes.legend(
        fontsize=7.5, frameon=False, handlelength=1.4, loc="upper left", bbox_to_anchor=(1.0, 1.0)
    )


def draw_contacts(axes: Axes, run: Trajectory | Sequence[StepReport]) -> None:
    reports = _reports(run)
    t = _time(reports)
    axes.plot(t, [r.contacts for r in reports], color=BLUE, lw=1.1, label="contacts")
    islands = np.array([r.islands for r in reports])
    if islands.max() > 0.02 * max(r.contacts for r in reports):
        axes.plot(t, islands, color=QUIET, lw=1.0, label="islands")
        _above(axes)
    axes.set(ylabel="contacts", ylim=(0, 1.08 * max(1, *(r.contacts for r in reports))))
    _grid(axes, t)


def draw_infeasibility(axes: Axes, run: Trajectory | Sequence[StepReport]) -> None:
    """Greatest depth at the start of each step, on a logarithmic scale."""
    reports = _reports(run)
    t, depth = _time(reports), np.array([r.infeasibility for r in reports])
    _logarithmic(axes, t, depth, BLUE)
    axes.set(ylabel="infeasibility [m]")


def draw_residual(
    axes: Axes,
    run: Trajectory | Sequence[StepReport],
    tol: float | None = None,
    loose: float | None = None,
) -> None:
    """Residual of each step's solve; steps that missed their tolerance are marked.

    loose: tolerance of large islands that move, drawn if a step made use of it.
    """
    reports = _reports(run)
    t, residual = _time(reports), np.array([r.residual for r in reports])
    _logarithmic(axes, t, residual, BLUE)
    bad = np.array([not r.ok for r in reports])
    if bad.any():
        name = f"{bad.sum()} of {bad.size} unsolved"
        axes.plot(t[bad], np.maximum(residual[bad], FLOOR), "o", ms=2.5, color=RED, label=name)
    if tol is not None:
        axes.axhline(tol, color=ORANGE, lw=1.0, label=f"tolerance {tol:g}")
        if loose is not None and (residual[~bad] > tol).any():
            name = f"{loose:g} for large islands on the move"
            axes.axhline(loose, color=ORANGE, lw=1.0, ls=(0, (4, 2)), label=name)
    if bad.any() or tol is not None:
        _above(axes)
    axes.set(ylabel="residual")


def _logarithmic(axes: Axes, t: Floats, values: Floats, colour: str) -> None:
    """Zeros are breaks of the line, not a drop to the bottom of the picture."""
    axes.plot(t, np.where(values > 0.0, np.maximum(values, FLOOR), np.nan), color=colour, lw=1.0)
    axes.set_yscale("log")
    shown = np.maximum(values[values > 0.0], FLOOR)
    if shown.size == 0 or shown.max() < 1.01 * shown.min():  # nothing, or a level line
        level = 1e-8 if shown.size == 0 else float(shown[0])
        axes.set_ylim(0.1 * level, 10.0 * level)
    _grid(axes, t)


def _grid(axes: Axes, t: Floats) -> None:
    axes.grid(alpha=0.25, lw=0.6)
    axes.set_xlim(0.0 if 0.0 <= t[0] < 0.1 * t[-1] else t[0], t[-1])


def _above(axes: Axes) -> None:
    """A legend that no line can cross."""
    axes.legend(
        fontsize=7.5, frameon=False, ncols=4, handlelength=1.6, columnspacing=1.4,
        loc="lower right", bbox_to_anchor=(1.0, 0.97), borderaxespad=0.0,
    )  # fmt: skip


def _unit(most: float) -> tuple[float, str]:
    """Factor and unit that keep the numbers on an axis short."""
    for factor, unit in ((1e-9, "GJ"), (1e-6, "MJ"), (1e-3, "kJ"), (1.0, "J"), (1e3, "mJ")):
        if most * factor >= 1.0:
            return factor, unit
    return 1e6, "µJ"


def _time(reports: Sequence[StepReport]) -> Floats:
    return np.array([r.time for r in reports])


def _reports(run: Any) -> Sequence[StepReport]:
    reports: Sequence[StepReport] = run.reports if isinstance(run, Trajectory) else run
    if not len(reports):
        raise OptionError("a plot over time needs a run of one step or more")
    return reports
