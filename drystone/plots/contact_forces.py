"""Contact forces over time: all of them together, and those on single bodies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from drystone.plots import style
from drystone.plots.axes import legend_above, line, over_time, unit
from drystone.plots.reading import chosen, contacts
from drystone.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
    t = np.asarray(run.time)[1:]
    factor, name = unit(float(max(on.max(initial=0.0), total.max(initial=0.0) * (not names))), "N")
    if names:
        for k, body in enumerate(names):
            line(axes, t, factor * on[:, k], **style.line(k), lw=1.0, label=body)
        label = f"contact force on a body [{name}]"
    else:
        line(axes, t, factor * total, color=style.BLUE, lw=1.0, label="sum of normal forces")
        line(axes, t, factor * most, color=style.ORANGE, lw=1.0, label="greatest")
        label = f"contact force [{name}]"
    axes.set(xlabel="time [s]", ylabel=label, ylim=(0, None))
    over_time(axes, t)
    legend_above(axes, 3)
