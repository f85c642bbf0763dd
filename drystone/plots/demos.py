"""Figures of the demos: grains before and after they were shaken, a pile with its force chains, the
sliding rod."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from drystone.draw.meshes import typical_radius
from drystone.model import Model, State
from drystone.plots import style
from drystone.plots.forces import ForceLines, draw_forces, force_legend, force_lines, thickest
from drystone.plots.planar_picture import draw_disks, draw_planar
from drystone.plots.style import BLUE, GROUND, INK, ORANGE, QUIET, RED, STONE, STONE_EDGE
from drystone.problems.generated import Pile
from drystone.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NUT = "#e0a458"  # the large grain
FLOOR_DEPTH = 0.5  # depth drawn
THETA = np.deg2rad(72.0)  # of the figure; length 2


@dataclass(frozen=True)
class Moment:
    """A state and its contacts (None before the first step)."""

    model: Model
    state: State
    contacts: Any = None


@dataclass(frozen=True)
class Rise:
    """time (n,) [s]; nut (n,): height of the large grain's centre above the floor of the box;
    middle, top (n,): those of the small grains' mean and of the highest tenth of them [m]."""

    time: Floats
    nut: Floats
    middle: Floats
    top: Floats


def heights(state: State, names: Sequence[str]) -> tuple[float, float, float]:
    """Of the nut, the mean grain and the upper tenth of the grains above the box's floor."""
    box, nut = names.index("box"), names.index("nut")
    up = state.position[:, 1] - state.position[box, 1]
    grains = np.delete(up, [box, nut])
    return float(up[nut]), float(grains.mean()), float(np.quantile(grains, 0.9))


def save_brazil_nut(start: Moment, end: Moment, rise: Rise, path: Path, half_width: float) -> Path:
    """Start and end side by side, in the frame of the box, and the rise below them.

    half_width: of the box [m].
    """
    room = max(_top(start), _top(end)) + 1.0
    low, wide = -0.06 * room, 1.1 * half_width
    across = 4.34  # of a picture [inches]
    scale = min(across / (2 * wide), 5.0 / (room - low))  # inches for a metre
    up, below = (room - low) * scale, 2.75
    height = up + below + 0.3
    thick = thickest(end.model, 72.0 * scale)
    with style.figure(9.0, height) as fig:
        for k, moment in enumerate((start, end)):
            box = (0.012 + 0.494 * k, below / height, across / 9.0, up / height)
            axes = fig.add_axes(box)
            floor = float(moment.state.position[moment.model.names.index("box"), 1])
            limits = ((-wide, wide), (floor + low, floor + room))
            forces = None
            if moment.contacts is not None:
                forces = force_lines(moment.model, moment.state, moment.contacts)
            drawn = draw_planar(
                axes, moment.model, moment.state, limits=limits, forces=forces,
                colours={"nut": NUT}, thickest=thick,
            )  # fmt: skip
            name = "start" if k == 0 else f"after {moment.state.time:.4g} s"
            axes.set_title(name, loc="left", pad=4)
            if drawn is not None and forces is not None:
                place = fig.add_axes((0.535, (below - 0.66) / height, 0.44, 0.56 / height))
                force_legend(place, drawn, float(forces.size.max()), thick)
        draw_rise(fig.add_axes((0.07, 0.5 / height, 0.66, 1.5 / height)), rise)
        return style.save(fig, path)


def pile_chains(pile: Pile, impulses: Floats, least: float = 1e-3) -> ForceLines:
    """Normal impulses of at least `least` of the largest, from centre to centre or to the floor."""
    r = impulses[: 2 * pile.problem.nc].reshape(-1, 2)
    normal = r[:, 0]
    shown = normal > least * max(normal.max(initial=0.0), np.finfo(float).tiny)
    a, b = pile.pairs[shown].T
    far = np.where((b >= 0)[:, None], pile.centres[b], pile.points[shown])
    bound = pile.problem.mu[shown] * normal[shown]
    share = np.divide(np.abs(r[shown, 1]), bound, out=np.zeros_like(bound), where=bound > 0)
    ends = np.stack([pile.centres[a], far], axis=1)
    return ForceLines(ends, normal[shown], np.clip(share, 0.0, 1.0))


def draw_pile(axes: Axes, legend: Axes, pile: Pile, impulses: Floats, thickest: float) -> None:
    """Disks on a floor, and the impulses between them; the strongest is `thickest` points thick."""
    found = pile_chains(pile, impulses)
    draw_disks(axes, pile.centres, 2.0 * pile.radii, STONE)
    drawn = draw_forces(axes, found, thickest=thickest)
    radius = float(pile.radii.max())
    # over the chains, so that their round ends stop at the floor
    axes.axhspan(-10.0 * radius, 0.0, color=GROUND, lw=0, zorder=5)
    axes.axhline(0.0, color=INK, lw=1.0, zorder=5)
    low, high = pile.centres.min(axis=0) - radius, pile.centres.max(axis=0) + radius
    axes.set_xlim(low[0] - radius, high[0] + radius)
    axes.set_ylim(-0.9 * radius, high[1] + 0.5 * radius)
    axes.set_aspect("equal")
    axes.axis("off")
    strongest = float(found.size.max(initial=0.0))
    force_legend(legend, drawn, strongest, thickest, "normal impulse [N s]")


def draw_rise(axes: Any, rise: Rise) -> None:
    """Heights over time."""
    axes.fill_between(rise.time, 0.0, rise.top, color=style.STONE, lw=0)
    axes.plot(rise.time, rise.top, color=QUIET, lw=0.8, label="surface of the grains")
    axes.plot(rise.time, rise.middle, color=BLUE, lw=0.9, label="mean of the grains")
    axes.plot(rise.time, rise.nut, color=ORANGE, lw=1.8, label="the large one")
    axes.set(xlabel="time [s]", ylabel="height [m]", ylim=(0, None))
    axes.set_xlim(0.0, float(rise.time[-1]))
    axes.tick_params(color=INK)
    axes.legend(
        fontsize=8.0,
        frameon=False,
        loc="center left",
        bbox_to_anchor=(1.02, 0.45),
        handlelength=1.6,
    )


def _top(moment: Moment) -> float:
    names = moment.model.names
    up = moment.state.position[:, 1] - moment.state.position[names.index("box"), 1]
    return float(np.delete(up, names.index("box")).max()) + typical_radius(moment.model.geoms)


def draw_rod_conditions(
    axes: Axes, A: float, b: float, solutions: Floats, ray: Floats | None
) -> None:
    """a_N over f_N: allowed half-axes, the rod's line, its solutions, or the ray it runs along.

    Force in units of the rod's mass, so that the solutions of figure 10.2 are 0 and 1.
    """
    span, top, bottom = 2.0, 1.45, min(-1.6, b - 1.9)
    axes.axhspan(bottom, 0.0, color=RED, alpha=0.06, lw=0)
    axes.text(0.06, -0.12, r"$a_N<0$: into the floor", va="top", color=RED, fontsize=8.0)
    axes.axhline(0.0, color=QUIET, lw=0.8)
    allowed = {"color": BLUE, "lw": 5.0, "alpha": 0.28, "solid_capstyle": "butt"}
    axes.plot([0.0, 0.0], [0.0, top], **allowed)  # type: ignore[arg-type]
    axes.plot([0.0, span], [0.0, 0.0], **allowed)  # type: ignore[arg-type]
    f = np.array([0.0, span])
    axes.plot(f, A * f + b, color=INK, lw=1.4)
    for k, value in enumerate(solutions):
        axes.plot(value, A * value + b, "o", ms=8, mfc=ORANGE, mec=INK, mew=0.9, zorder=5)
        name = "$f_N=0$: the tip lifts off" if k == 0 else "$f_N=m$: it keeps sliding"
        axes.annotate(
            name,
            (value, A * value + b),
            xytext=(10, 7),
            textcoords="offset points",
            fontsize=8.5,
        )
    if ray is not None:
        start = np.array([0.45, A * 0.45 + b])
        end = start + 0.85 * np.array([1.0, A])
        style = {"arrowstyle": "-|>,head_width=0.28,head_length=0.55", "color": RED, "lw": 2.2}
        axes.annotate("", tuple(end), tuple(start), arrowprops=style)
        label = "a ray: pushing harder only drives it in"
        axes.text(start[0] + 0.12, start[1] + 0.06, label, color=RED, fontsize=8.5)
    axes.set_xlim(-0.12, span)
    axes.set_ylim(bottom, top)
    axes.set_xticks([0.0, 1.0, 2.0], labels=["0", "$m$", "$2m$"])
    axes.set_yticks(np.arange(np.ceil(bottom), top))
    axes.set_xlabel("normal force $f_N$", labelpad=2)
    axes.set_ylabel("normal acceleration $a_N$", labelpad=2)


def draw_rod(axes: Axes, *, spinning: bool) -> None:
    """The rod on its tip, sliding to the left; its spin, or gravity alone."""
    from matplotlib.patches import Arc, FancyBboxPatch
    from matplotlib.transforms import Affine2D

    centre = np.array([np.cos(THETA), np.sin(THETA)])
    axes.axhspan(-FLOOR_DEPTH, 0.0, color=GROUND, lw=0)
    axes.plot([-1.25, 1.55], [0.0, 0.0], color=INK, lw=1.0)
    body = FancyBboxPatch(
        (-1.0, -0.045),
        2.0,
        0.09,
        boxstyle="round,pad=0,rounding_size=0.045",
        fc=STONE,
        ec=STONE_EDGE,
        lw=1.2,
    )
    turn = Affine2D().rotate(THETA).translate(*centre)
    body.set_transform(turn + axes.transData)
    axes.add_patch(body)
    axes.plot(*centre, "o", ms=3.5, color=INK)
    axes.add_patch(Arc((0, 0), 0.7, 0.7, theta1=0.0, theta2=72.0, color=QUIET, lw=0.9))
    axes.text(0.38, 0.13, r"$\theta=72°$", fontsize=8.5)
    _arrow(axes, (-0.12, 0.09), (-0.85, 0.09), BLUE)
    axes.text(-0.86, 0.16, "the tip slides", color=BLUE, fontsize=8.5)
    _arrow(axes, (-0.315, -0.42), (0.0, 0.0), ORANGE)
    axes.text(-0.1, -0.33, r"$f_N(\hat n+\mu\hat t)$", color="#a85a10", fontsize=9.0)
    _arrow(axes, tuple(centre), (centre[0], centre[1] - 0.5), INK)
    axes.text(centre[0] + 0.06, centre[1] - 0.5, "$mg$", fontsize=8.5)
    if spinning:
        bend = {"connectionstyle": "arc3,rad=-0.45"}
        _arrow(axes, (0.05, 1.35), (0.72, 1.45), BLUE, **bend)
        axes.text(0.0, 1.31, r"$\omega$", color=BLUE, fontsize=11.0, ha="right")
    axes.set_xlim(-1.25, 1.55)
    axes.set_ylim(-FLOOR_DEPTH, 2.06)
    axes.set_aspect("equal", anchor="S")
    axes.axis("off")


def _arrow(
    axes: Axes, tail: tuple[float, float], head: tuple[float, float], color: str, **more: str
) -> None:
    style = {"arrowstyle": "-|>,head_width=0.22,head_length=0.45", "color": color, "lw": 1.6}
    style |= {"shrinkA": 0.0, "shrinkB": 0.0, **more}
    axes.annotate("", head, tail, arrowprops=style)
