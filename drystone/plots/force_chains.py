"""Force chains: which contacts of a planar pile carry the load, and how near they are to slip."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from drystone.plots.style import GROUND, INK, STONE, STONE_EDGE
from drystone.problems.generated import Pile
from drystone.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection
    from matplotlib.colors import Colormap


@dataclass(frozen=True)
class Chains:
    """What a picture of a pile shows, one entry for each contact that carries something.

    ends (n, 2, 2) centre to centre, or centre to floor [m]; normal (n,) impulse [N s];
    mobilisation (n,): |r_t| / (mu r_n), 0 at rest without friction, 1 at slip.
    """

    ends: Floats
    normal: Floats
    mobilisation: Floats


def chains(pile: Pile, impulses: Floats, least: float = 1e-3) -> Chains:
    """Contacts of a planar pile that carry at least `least` of the largest normal impulse."""
    r = impulses[: 2 * pile.problem.nc].reshape(-1, 2)
    normal = r[:, 0]
    shown = normal > least * max(normal.max(initial=0.0), np.finfo(float).tiny)
    a, b = pile.pairs[shown].T
    far = np.where((b >= 0)[:, None], pile.centres[b], pile.points[shown])
    bound = pile.problem.mu[shown] * normal[shown]
    share = np.divide(np.abs(r[shown, 1]), bound, out=np.zeros_like(bound), where=bound > 0)
    ends = np.stack([pile.centres[a], far], axis=1)
    return Chains(ends, normal[shown], np.clip(share, 0.0, 1.0))


def draw(axes: Axes, pile: Pile, impulses: Floats, thickest: float = 7.0) -> None:
    """Draw the bodies, the floor, and the chains over them; adds a colour bar and a scale."""
    from matplotlib.collections import LineCollection

    found = chains(pile, impulses)
    radius = float(pile.radii.max())
    _bodies(axes, pile)
    order = np.argsort(found.normal)  # strong chains on top
    width = thickest * found.normal[order] / max(found.normal.max(initial=0.0), 1e-300)
    # an outline keeps strong chains apart where they cross; thin ones need their colour more
    outline = LineCollection(
        list(found.ends[order]),
        linewidths=width + np.clip(0.35 * width, 0.0, 0.9),
        colors=INK,
        capstyle="round",
        zorder=3,
    )
    width = np.maximum(width, 0.6)
    lines = LineCollection(
        list(found.ends[order]), linewidths=width, cmap=colours(), capstyle="round", zorder=4
    )
    lines.set_array(found.mobilisation[order])
    lines.set_clim(0.0, 1.0)
    axes.add_collection(outline)
    axes.add_collection(lines)
    low, high = pile.centres.min(axis=0) - radius, pile.centres.max(axis=0) + radius
    axes.set_xlim(low[0] - radius, high[0] + radius)
    axes.set_ylim(-0.9 * radius, high[1] + 0.5 * radius)
    axes.set_aspect("equal")
    axes.axis("off")
    _legend(axes, lines, found, thickest)


def colours() -> Colormap:
    from matplotlib.colors import LinearSegmentedColormap

    stops = ["#1f5f8b", "#5b9fc0", "#e8c867", "#df8b3f", "#a92b26"]
    return LinearSegmentedColormap.from_list("mobilisation", stops)


def _bodies(axes: Axes, pile: Pile) -> None:
    from matplotlib.collections import EllipseCollection

    size = 2.0 * pile.radii
    disks = EllipseCollection(
        size,
        size,
        np.zeros_like(size),
        units="xy",
        offsets=pile.centres,
        offset_transform=axes.transData,
        facecolors=STONE,
        edgecolors=STONE_EDGE,
        linewidths=0.6,
        zorder=1,
    )
    axes.add_collection(disks)
    # over the chains, so that their round ends stop at the floor
    axes.axhspan(-10.0 * size.max(), 0.0, color=GROUND, lw=0, zorder=5)
    axes.axhline(0.0, color=INK, lw=1.0, zorder=5)


def _legend(axes: Axes, lines: LineCollection, found: Chains, thickest: float) -> None:
    """Colour bar for mobilisation, and three line widths for the force."""
    from matplotlib.lines import Line2D

    place = axes.inset_axes((0.03, 0.90, 0.20, 0.022))
    bar = axes.figure.colorbar(lines, cax=place, orientation="horizontal")
    bar.set_ticks([0.0, 0.5, 1.0], labels=["0 (no friction)", "", "1 (slips)"])
    bar.ax.tick_params(length=2.0, labelsize=7.5)
    bar.outline.set_linewidth(0.6)
    first, _, last = bar.ax.get_xticklabels()
    first.set_horizontalalignment("left")
    last.set_horizontalalignment("right")
    name = r"friction used, $|r_t|\,/\,\mu r_n$"
    place.set_title(name, fontsize=8.5, fontweight="normal", loc="left", pad=5)
    top = float(found.normal.max(initial=0.0))
    handles = [
        Line2D([], [], color=INK, lw=thickest * share, solid_capstyle="round")
        for share in (1.0, 0.5, 0.15)
    ]
    labels = [f"{top * share:.3g} N s" for share in (1.0, 0.5, 0.15)]
    legend = axes.legend(
        handles,
        labels,
        title="normal impulse",
        loc="upper right",
        frameon=False,
        handlelength=2.4,
        labelspacing=0.7,
        fontsize=8.0,
        title_fontsize=8.5,
    )
    legend.set_zorder(6)
