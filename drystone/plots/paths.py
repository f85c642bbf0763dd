"""Bodies as curves: where their centres of mass went, and coordinates against their velocities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from drystone.errors import OptionError
from drystone.escaping import for_figure
from drystone.plots import style
from drystone.plots.run_data import chosen
from drystone.types import Floats, Ints

if TYPE_CHECKING:
    from matplotlib.axes import Axes

AXES = "xyz"


def extent(run: Any, which: Ints) -> Floats:
    """(dim,) how far the chosen bodies reach along each axis over the run [m]."""
    path = np.asarray(run.position)[:, which]
    return np.ptp(path.reshape(-1, path.shape[-1]), axis=0)


def plane_of(run: Any, which: Ints, plane: str | None) -> tuple[int, int]:
    """Two axes to draw: those asked for ("xz"), or the two along which the bodies go farthest."""
    dim = run.model.dim
    if plane is not None:
        known = AXES[:dim]
        if len(plane) != 2 or plane[0] == plane[1] or any(c not in known for c in plane):
            raise OptionError(f"plane = {plane!r}: expected two of {', '.join(known)}, such as xy")
        return AXES.index(plane[0]), AXES.index(plane[1])
    if dim == 2:
        return 0, 1
    first, second = sorted(int(i) for i in np.argsort(-extent(run, which), kind="stable")[:2])
    return first, second


def draw_trajectory(
    axes: Axes, run: Any, bodies: Sequence[str] | None = None, plane: str | None = None
) -> None:
    """Paths of centres of mass, from an open ring to a dot."""
    which, said = chosen(run, bodies)
    i, j = plane_of(run, which, plane)
    path = np.asarray(run.position)
    for k, body in enumerate(which):
        x, y = path[:, body, i], path[:, body, j]
        look = style.line(k)
        axes.plot(x, y, **look, lw=1.0, label=for_figure(run.model.names[body]))
        axes.plot(x[0], y[0], "o", ms=4, mfc="white", mec=look["color"], mew=1.0)
        axes.plot(x[-1], y[-1], "o", ms=4, color=look["color"])
    axes.set(xlabel=f"{AXES[i]} [m]", ylabel=f"{AXES[j]} [m]")
    reach = extent(run, which)
    if min(reach[i], reach[j]) > 0.04 * max(reach[i], reach[j]):
        axes.set_aspect("equal")
    axes.grid(alpha=0.25, lw=0.6)
    _names(axes, which, said)


def path_ratio(run: Any, bodies: Sequence[str] | None, plane: str | None) -> float:
    """Height over width of a plot of trajectories of equal scale."""
    which, _ = chosen(run, bodies)
    i, j = plane_of(run, which, plane)
    reach = extent(run, which)
    if not min(reach[i], reach[j]) > 0.04 * max(reach[i], reach[j]):
        return 0.6
    return float(np.clip(reach[j] / reach[i], 0.3, 1.3)) + 0.1


def coordinates(run: Any) -> tuple[str, ...]:
    """Names of the coordinates of a body that have a velocity of their own."""
    return ("x", "y", "angle") if run.model.dim == 2 else ("x", "y", "z")


def draw_phase(
    axes: Axes, run: Any, bodies: Sequence[str] | None = None, coordinate: str | None = None
) -> None:
    """A coordinate of each body against its velocity, from an open ring to a dot."""
    which, said = chosen(run, bodies)
    known = coordinates(run)
    if coordinate is None:
        coordinate = known[int(np.argmax(extent(run, which)))]
    if coordinate not in known:
        raise OptionError(f"coordinate = {coordinate!r}: expected one of {', '.join(known)}")
    turns = coordinate == "angle"
    index = 2 if turns else AXES.index(coordinate)
    at = np.asarray(run.orientation) if turns else np.asarray(run.position)[:, :, index]
    speed = np.asarray(run.velocity)[:, :, index]
    for k, body in enumerate(which):
        look = style.line(k)
        x, v = at[:, body], speed[:, body]
        axes.plot(x, v, **look, lw=0.9, label=for_figure(run.model.names[body]))
        axes.plot(x[0], v[0], "o", ms=4, mfc="white", mec=look["color"], mew=1.0)
        axes.plot(x[-1], v[-1], "o", ms=4, color=look["color"])
    rate, per = ("angular velocity", "rad") if turns else (f"velocity along {coordinate}", "m")
    axes.set(xlabel=f"{coordinate} [{per}]", ylabel=f"{rate} [{per}/s]")
    axes.axhline(0.0, color=style.QUIET, lw=0.6, zorder=0)
    axes.grid(alpha=0.25, lw=0.6)
    _names(axes, which, said)


def _names(axes: Axes, which: Ints, said: str) -> None:
    columns = 3 if len(which) > 1 else 1
    axes.legend(
        title=said or None, title_fontsize=7.0, ncols=columns, loc="lower left",
        bbox_to_anchor=(0.0, 1.0), borderaxespad=0.2, frameon=False, fontsize=7.0,
    )  # fmt: skip
