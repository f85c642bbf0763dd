"""Contact forces as lines: where they act, how strong, how near to slip.

In the plane points of one face make one force, at their centre of pressure. It is drawn along its
line of action, from abreast of one body's centre to abreast of the other's: in a pile of disks
these are the force chains, in an arch the line of thrust. In space all contacts of two bodies make
one force; a line runs through its point from centre to centre, or ends there where the other body
is fixed. What is spatial is projected along the line of sight, with faint silhouettes of bodies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from drystone.draw.meshes import frames, geom_mesh, half_spaces, moving, typical_radius
from drystone.geometry.shapes import KINDS
from drystone.geometry.shapes.base import circle
from drystone.model import Model, State
from drystone.plots.style import GROUND, INK, STONE, STONE_EDGE
from drystone.types import Floats, Ints

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection

# of friction mobilisation, from none to slip
MOBILISATION = ("#1f5f8b", "#5b9fc0", "#e8c867", "#df8b3f", "#a92b26")


@dataclass(frozen=True)
class ForceLines:
    """One entry for each force: ends (n, 2, 2) [m]; size (n,) [N], or [N s] of impulses; share
    (n,): friction mobilisation |f_t| / (mu f_n), from 0 to 1 (slip)."""

    ends: Floats
    size: Floats
    share: Floats


def force_lines(model: Model, state: State, contacts: Any, least: float = 2e-3) -> ForceLines:
    """Forces of at least `least` of the largest, from the table ``Simulation.contacts``."""
    place = {name: i for i, name in enumerate(model.names)}
    groups: dict[tuple[Any, ...], list[int]] = {}
    for k, row in enumerate(contacts):
        if row["state"] != "open":
            # faces of one pair are told apart by their normals; half a degree is one face
            way = np.round(100 * row["normal"]).astype(int)
            groups.setdefault((*row["bodies"], *way), []).append(k)
    free = model.inverse_mass > 0
    ends, size, share, bodies = [], [], [], []
    for (a, b, *_), rows in groups.items():
        part = contacts[rows]
        force, normal = part["force"].sum(axis=0), part["normal"][0]
        f_n = np.einsum("ki,ki->k", part["force"], part["normal"])
        total = float(np.linalg.norm(force))
        if total == 0.0 or f_n.sum() <= 0.0:
            continue
        point = f_n @ part["point"] / f_n.sum()
        reach = [
            abs((state.position[place[name]] - point) @ force) / total if free[place[name]] else 0.0
            for name in (a, b)
        ]
        way = force / total
        ends.append((point + reach[0] * way, point - reach[1] * way))
        bodies.append((place[a], place[b]))
        slip = part["friction"][0] * f_n.sum()
        size.append(total)
        t = abs(force[1] * normal[0] - force[0] * normal[1])
        share.append(min(1.0, t / slip) if slip > 0 else 0.0)
    if not size:
        return ForceLines(np.empty((0, 2, 2)), np.empty(0), np.empty(0))
    lines = ForceLines(np.array(ends), np.array(size), np.array(share))
    _meet(lines.ends, np.array(bodies), model, state)
    shown = lines.size > least * lines.size.max()
    return ForceLines(lines.ends[shown], lines.size[shown], lines.share[shown])


def _meet(ends: Floats, bodies: Ints, model: Model, state: State) -> None:
    """Two forces on a body at rest meet on the vertical through its centre: join them there."""
    before = ends.copy()
    sides: dict[int, list[tuple[int, int]]] = {}
    for k, pair in enumerate(bodies):
        for side, body in enumerate(pair):
            sides.setdefault(int(body), []).append((k, side))
    for body, two in sides.items():
        if len(two) != 2 or not model.inverse_mass[body] > 0:
            continue
        (p, u), (q, v) = ((before[k, 1 - s], before[k, s] - before[k, 1 - s]) for k, s in two)
        cross = u[0] * v[1] - u[1] * v[0]
        lengths = float(np.hypot(*u) * np.hypot(*v))
        if abs(cross) <= 1e-3 * lengths:
            continue
        t = ((q[0] - p[0]) * v[1] - (q[1] - p[1]) * v[0]) / cross
        meeting = p + t * u
        away = [float(np.hypot(*(meeting - before[k, s]))) for k, s in two]
        if max(away) < 0.5 * min(float(np.hypot(*u)), float(np.hypot(*v))):
            for k, s in two:
                ends[k, s] = meeting


def thickest(model: Model, scale: float, most: float = 6.0) -> float:
    """Width [points] of the strongest force: bodies stay visible; scale [points/m]."""
    return float(np.clip(0.5 * scale * typical_radius(model.geoms), 1.2, most))


def draw_forces(
    axes: Axes, lines: ForceLines, *, thickest: float = 6.0, strongest: float | None = None
) -> LineCollection:
    """Lines as thick as their force; the strongest force [N] is `thickest` points thick."""
    from matplotlib.collections import LineCollection
    from matplotlib.colors import LinearSegmentedColormap

    most = lines.size.max(initial=0.0) if strongest is None else strongest
    order = np.argsort(lines.size, kind="stable")  # strong ones on top
    width = np.minimum(thickest * lines.size[order] / max(most, 1e-300), 1.5 * thickest)
    ends = list(lines.ends[order])
    shadow = LineCollection(
        ends,
        linewidths=width + np.clip(0.35 * width, 0.0, 0.9),
        colors=INK,
        capstyle="round",
        zorder=3,
    )
    colours = LinearSegmentedColormap.from_list("mobilisation", MOBILISATION)
    out = LineCollection(
        ends, linewidths=np.maximum(width, 0.5), cmap=colours, capstyle="round", zorder=4
    )
    out.set_array(lines.share[order])
    out.set_clim(0.0, 1.0)
    axes.add_collection(shadow)
    axes.add_collection(out)
    return out


def force_legend(
    axes: Axes,
    drawn: LineCollection,
    strongest: float,
    thickest: float = 6.0,
    what: str = "contact force [N]",
) -> None:
    """A colour bar for friction mobilisation and two widths for the force, in axes of their own."""
    from matplotlib.lines import Line2D

    axes.axis("off")
    place = axes.inset_axes((0.0, 0.45, 0.32, 0.2))
    bar = axes.figure.colorbar(drawn, cax=place, orientation="horizontal")
    bar.set_ticks([0.0, 0.5, 1.0], labels=["0", "", "1 (slips)"])
    bar.ax.tick_params(length=2.0, labelsize=7.5)
    bar.outline.set_linewidth(0.5)
    bar.ax.get_xticklabels()[-1].set_horizontalalignment("right")
    place.set_title(
        r"friction mobilisation, $|f_t|\,/\,\mu f_n$",
        fontsize=8.0,
        fontweight="normal",
        loc="left",
        pad=4,
    )
    shares = (1.0, 0.3)
    handles = [
        Line2D([], [], color=INK, lw=thickest * share, solid_capstyle="round") for share in shares
    ]
    name, unit = what.rstrip("]").split(" [")
    labels = [f"{_round(strongest * share)} {unit}" for share in shares]
    axes.legend(
        handles,
        labels,
        loc="center right",
        frameon=False,
        ncols=2,
        handlelength=2.2,
        columnspacing=1.4,
        fontsize=8.0,
        title=name,
        title_fontsize=8.0,
        alignment="right",  # away from the title of the colour bar
        borderaxespad=0.0,
    )


def _round(value: float) -> str:
    """Two digits, without an exponent where a reader expects none."""
    if value == 0.0 or not 1e-3 <= value < 1e6:
        return f"{value:.1e}"
    digits = 1 - int(np.floor(np.log10(value)))
    return f"{round(value, digits):,.{max(digits, 0)}f}"


@dataclass(frozen=True)
class Sight:
    """A parallel projection: right, up and away (3,) are unit vectors of the viewer."""

    right: Floats
    up: Floats
    away: Floats

    def flat(self, points: Floats) -> Floats:
        """(..., 2) of (..., 3)."""
        return np.stack([points @ self.right, points @ self.up], axis=-1)

    def depth(self, points: Floats) -> Floats:
        out: Floats = points @ self.away
        return out


def sight(view: Mapping[str, Any]) -> Sight:
    """Along the view's camera, level, and from the front without one: depth is lost, so that the
    chains lie in the plane that the scene is looked at in."""
    eye = np.array(view.get("camera", (0.0, -1.0, 0.0)), dtype=float)
    target = np.array(view.get("target", (0.0, 0.0, 0.0)), dtype=float)
    away = target - eye
    away[2] = 0.0
    if not np.linalg.norm(away) > 1e-9:
        away = np.array([0.0, 1.0, 0.0])
    # the nearer axis of the world: a wall seen from its corner would hide its own chains
    k = int(np.argmax(np.abs(away[:2])))
    axis = np.zeros(3)
    axis[k] = np.sign(away[k])
    up = np.array([0.0, 0.0, 1.0])
    return Sight(np.cross(axis, up), up, axis)


def force_lines_3d(
    model: Model, state: State, contacts: Any, look: Sight, least: float = 2e-3
) -> tuple[ForceLines, Floats]:
    """Forces of at least `least` of the largest as lines (n, 3, 2): centre, point, centre; and the
    depth (n,) of their points."""
    place = {name: i for i, name in enumerate(model.names)}
    groups: dict[tuple[str, str], list[int]] = {}
    for k, row in enumerate(contacts):
        if row["state"] != "open":
            groups.setdefault((str(row["bodies"][0]), str(row["bodies"][1])), []).append(k)
    free = moving(model)
    ends, size, share, depth = [], [], [], []
    for names, rows in groups.items():
        part = contacts[rows]
        f_n = np.einsum("ki,ki->k", part["force"], part["normal"])
        if not f_n.sum() > 0.0:
            continue
        point = f_n @ part["point"] / f_n.sum()
        way = [state.position[place[n]] if free[place[n]] else point for n in names]
        ends.append(look.flat(np.array([way[0], point, way[1]])))
        depth.append(float(look.depth(point)))
        size.append(float(np.linalg.norm(part["force"].sum(axis=0))))
        tangential = np.linalg.norm(part["force"] - f_n[:, None] * part["normal"], axis=1).sum()
        slip = float(part["friction"] @ f_n)
        share.append(min(1.0, tangential / slip) if slip > 0 else 0.0)
    lines = ForceLines(np.array(ends).reshape(-1, 3, 2), np.array(size), np.array(share))
    shown = lines.size > least * lines.size.max(initial=0.0)
    kept = ForceLines(lines.ends[shown], lines.size[shown], lines.share[shown])
    return kept, np.array(depth)[shown]


def silhouettes(model: Model, state: State, look: Sight) -> list[tuple[int, float, Floats]]:
    """Body, depth and outline (k, 2) of every bounded geom, the farthest first."""
    geoms, at = model.geoms, frames(model, state)
    ring = circle(48)
    out = []
    for g in np.flatnonzero(np.isfinite(geoms.radius)):
        depth = float(look.depth(at.origin[g]))
        if KINDS[int(geoms.kind[g])].ball:
            edge = look.flat(at.origin[g]) + geoms.numbers[geoms.first[g]] * ring
        else:
            vertices = geom_mesh(geoms, int(g), 24)[0]
            edge = _hull(look.flat(at.world(int(g), vertices)))
        out.append((int(geoms.body[g]), depth, edge))
    return sorted(out, key=lambda item: -item[1])


def _hull(points: Floats) -> Floats:
    try:
        return points[ConvexHull(points).vertices]
    except QhullError:  # a plate seen edge on: a line
        far = int(np.argmax(np.linalg.norm(points - points[0], axis=1)))
        return points[[0, far]]


def draw_silhouettes(axes: Axes, model: Model, state: State, look: Sight) -> None:
    """Faint bodies, the ground, and limits about all that moves."""
    from matplotlib.collections import PolyCollection

    shapes = silhouettes(model, state, look)
    free = moving(model)
    face = [STONE if free[body] else GROUND for body, _, _ in shapes]
    edges = [edge for _, _, edge in shapes]
    axes.add_collection(
        PolyCollection(
            edges, facecolors=face, edgecolors=STONE_EDGE, linewidths=0.4, alpha=0.55, zorder=1
        )
    )
    inner = [edge for body, _, edge in shapes if free[body]] or edges or [np.zeros((1, 2))]
    points = np.vstack(inner)
    low, high = points.min(axis=0), points.max(axis=0)
    pad = 0.05 * float(max(high - low)) or 1.0
    axes.set_xlim(low[0] - pad, high[0] + pad)
    axes.set_ylim(low[1] - pad, high[1] + pad)
    axes.set_aspect("equal")
    axes.axis("off")
    for point, normal in zip(*half_spaces(model, state), strict=True):
        if normal[2] > 0.999:
            height = float(point[2])
            bottom = min(low[1] - pad, height - pad)
            axes.axhspan(bottom - pad, height, fc=GROUND, lw=0, zorder=5)
            axes.axhline(height, color=INK, lw=1.0, zorder=5.5)
