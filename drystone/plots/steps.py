"""Numbers of every step over time: contacts and their forces, gaps, residuals, iterations,
and seconds by stage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from drystone.errors import OptionError
from drystone.escaping import for_figure
from drystone.plots import style
from drystone.plots.axes import (
    LOG_FLOOR,
    legend_above,
    legend_beside,
    line,
    logarithmic,
    over_time,
    power,
    unit,
)
from drystone.plots.run_data import chosen, contacts, forces_read, series, stages, unsolved
from drystone.plots.style import BLUE, CYCLE, ORANGE, QUIET, RED
from drystone.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_BINS = 120  # columns of a plot of times
MIN_STEPS = 4  # steps that a column is the mean of


def draw_contacts(axes: Axes, run: Any) -> None:
    """Contacts and islands of every step."""
    t, contacts, islands = (series(run, name) for name in ("time", "contacts", "islands"))
    line(axes, t, contacts, color=BLUE, lw=1.1, label="contacts")
    if islands.max() > 0.02 * contacts.max():
        line(axes, t, islands, color=QUIET, lw=1.0, label="islands")
        legend_above(axes)
    axes.set(xlabel="time [s]", ylabel="contacts", ylim=(0, 1.08 * max(1.0, float(contacts.max()))))
    over_time(axes, t)


def draw_penetration(axes: Axes, run: Any) -> None:
    """Greatest depth at the start of each step, and the worst opening of a joint after it."""
    t, depth, joints = (series(run, name) for name in ("time", "penetration", "joint_error"))
    if joints.any():
        logarithmic(axes, t, joints, ORANGE, label="joints [m or rad]")
    logarithmic(axes, t, depth, BLUE, label="contacts [m]")
    if joints.any():
        legend_above(axes)
    axes.set(xlabel="time [s]", ylabel="penetration" + ("" if joints.any() else " [m]"))


def draw_residual(
    axes: Axes, run: Any, tol: float | None = None, loose: float | None = None
) -> None:
    """Residual of each step's solve; steps that missed their tolerance are marked.

    loose: tolerance of large islands that move, drawn if a step made use of it.
    """
    t, residual = series(run, "time"), series(run, "residual")
    bad = unsolved(run)
    if bad.any():
        name = f"{bad.sum()} of {bad.size} unsolved"
        axes.plot(t[bad], np.maximum(residual[bad], LOG_FLOOR), "o", ms=2.5, color=RED, label=name)
    if tol is not None:
        axes.axhline(tol, color=ORANGE, lw=1.0, label=f"tolerance {power(tol)}")
        if loose is not None and (residual[~bad] > tol).any():
            name = f"{power(loose)} for large islands on the move"
            axes.axhline(loose, color=ORANGE, lw=1.0, ls=(0, (4, 2)), label=name)
    logarithmic(axes, t, residual, BLUE)  # last: its scale takes in the tolerances
    if bad.any() or tol is not None:
        legend_above(axes)
    axes.set(xlabel="time [s]", ylabel="residual")


def draw_iterations(axes: Axes, run: Any) -> None:
    """Iterations of all islands of a step together."""
    t, count = series(run, "time"), series(run, "iterations")
    line(axes, t, count, color=BLUE, lw=0.8)
    axes.set(xlabel="time [s]", ylabel="iterations", ylim=(0, 1.08 * max(1.0, float(count.max()))))
    over_time(axes, t)


def draw_stages(axes: Axes, run: Any) -> None:
    """Milliseconds of a step, stage on stage, averaged over a few steps each."""
    found = stages(run)
    if not found:
        raise OptionError("no step of this run was timed: set sim.profile = True before it")
    t = series(run, "time")
    edges = np.linspace(0, t.size, max(1, min(MAX_BINS, t.size // MIN_STEPS)) + 1).astype(int)
    count = np.diff(edges)
    middle = np.add.reduceat(t, edges[:-1]) / count
    whole = sum(float(values.sum()) for values in found.values())
    order = sorted(found, key=lambda name: (-found[name].sum(), name))
    small = [name for name in order if found[name].sum() < 0.01 * whole]
    floor = np.zeros(middle.size)
    pieces = {name: found[name] for name in order if name not in small}
    if small:
        pieces["other"] = np.sum([found[name] for name in small], axis=0)
    for k, (name, values) in enumerate(pieces.items()):
        high = floor + 1e3 * np.add.reduceat(values, edges[:-1]) / count
        colour = QUIET if name == "other" else CYCLE[k % len(CYCLE)]
        share = f"{name} ({100 * values.sum() / max(whole, 1e-300):.0f} %)"
        axes.fill_between(middle, floor, high, color=colour, lw=0, alpha=0.85, label=share)
        floor = high
    axes.set(xlabel="time [s]", ylabel="wall time [ms per step]", ylim=(0, _top(floor)))
    over_time(axes, middle)
    handles, labels = axes.get_legend_handles_labels()
    legend_beside(axes, handles=handles[::-1], labels=labels[::-1])


def _top(values: Floats) -> float:
    """Where the axis ends: single steps that took far longer than others (first touch, kernels
    that were compiled) leave the picture."""
    usual, most = float(np.quantile(values, 0.97)), float(values.max())
    return 1.05 * most if most < 4.0 * usual else 2.0 * usual


def normal_forces(table: Any) -> Floats:
    """(nc,) normal parts of the forces of a table of contacts [N]."""
    out: Floats = np.einsum("ki,ki->k", table["force"], table["normal"])
    return out


def force_on(table: Any, name: str) -> Floats:
    """(dim,) what all contacts together do to a body [N]."""
    on_first, on_second = (table["bodies"][:, side] == name for side in (0, 1))
    out: Floats = table["force"][on_first].sum(axis=0) - table["force"][on_second].sum(axis=0)
    return out


def over_frames(run: Any, names: Sequence[str]) -> tuple[Floats, Floats, Floats]:
    """Frames after the first: sum of the normal forces (n,), the greatest of them (n,), and the
    size of the force on each named body (n, bodies) [N]."""
    total, most, on = [], [], []
    for k in range(1, len(run.time)):
        table = contacts(run, k)
        f_n = normal_forces(table)
        total.append(f_n.sum())
        most.append(f_n.max(initial=0.0))
        on.append([float(np.linalg.norm(force_on(table, name))) for name in names])
    return np.array(total), np.array(most), np.array(on).reshape(len(total), len(names))


def draw_forces_over_time(axes: Axes, run: Any, bodies: Sequence[str] | None = None) -> None:
    """Sum and greatest of the normal forces; the force on each body if bodies are named."""
    names = list(bodies or ())
    chosen(run, names or None)  # raises where a name is unknown
    total, most, on = over_frames(run, names)
    t, read = np.asarray(run.time)[1:], forces_read(run, len(run.time) - 1)
    factor, name = unit(float(max(on.max(initial=0.0), total.max(initial=0.0) * (not names))), "N")
    if names:
        for k, body in enumerate(names):
            line(axes, t, factor * on[:, k], **style.line(k), lw=1.0, label=for_figure(body))
        label = f"contact force on a body{read} [{name}]"
    else:
        line(axes, t, factor * total, color=style.BLUE, lw=1.0, label="sum of normal forces")
        line(axes, t, factor * most, color=style.ORANGE, lw=1.0, label="greatest")
        label = f"contact force{read} [{name}]"
    axes.set(xlabel="time [s]", ylabel=label, ylim=(0, None))
    over_time(axes, t)
    legend_above(axes, 3)
