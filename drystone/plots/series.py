"""Two pictures of a run over time: its energy and where that went; contacts, depths, residuals."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from drystone.plots import style
from drystone.plots.energy import draw_energy, draw_ledger
from drystone.plots.steps import draw_contacts, draw_penetration, draw_residual
from drystone.steppers.base import StepReport
from drystone.trajectory import Trajectory

Run = Trajectory | Sequence[StepReport]


def save_series(
    run: Run, folder: str | Path, *, tol: float | None = None, loose: float | None = None
) -> list[Path]:
    """Write ``energy.png`` and ``steps.png``; tol, loose: the residuals asked for, as lines."""
    place = Path(folder)
    energy = save_energy(run, place / "energy.png")
    return [energy, save_steps(run, place / "steps.png", tol=tol, loose=loose)]


def save_energy(run: Run, path: str | Path) -> Path:
    """Energies on the left; on the right what changed their sum, summed over the run."""
    with style.figure(9.0, 3.4) as fig:
        draw_energy(fig.add_axes((0.065, 0.15, 0.355, 0.74)), run)
        draw_ledger(fig.add_axes((0.515, 0.15, 0.345, 0.74)), run)
        return style.save(fig, Path(path), 140)


def save_steps(
    run: Run, path: str | Path, *, tol: float | None = None, loose: float | None = None
) -> Path:
    """Contacts, penetration and residual of every step, one below the other."""
    with style.figure(9.0, 5.4) as fig:
        top, middle, bottom = (fig.add_axes((0.085, y, 0.9, 0.245)) for y in (0.71, 0.4, 0.09))
        draw_contacts(top, run)
        draw_penetration(middle, run)
        draw_residual(bottom, run, tol, loose)
        for axes in (top, middle):
            axes.tick_params(labelbottom=False)
            axes.set_xlabel("")
        bottom.set_xlabel("time [s]", labelpad=2)
        fig.align_ylabels()
        return style.save(fig, Path(path), 140)
