"""Force chains of a spatial state, projected along the line of sight.

The contacts of two bodies make one force, at their centre of pressure; a line runs through it from
centre to centre, or ends there where the other body is fixed. Bodies are faint silhouettes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from drystone.draw.meshes import frames, geom_mesh, half_spaces, moving
from drystone.geometry.shapes import KINDS
from drystone.geometry.shapes.base import circle
from drystone.model import Model, State
from drystone.plots.forces_2d import ForceLines
from drystone.plots.style import GROUND, INK, STONE, STONE_EDGE
from drystone.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
