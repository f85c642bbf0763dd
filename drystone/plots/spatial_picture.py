"""A spatial state as a shaded picture: one light with its shadows, edges drawn in ink."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from drystone import drawing
from drystone.escaping import for_figure
from drystone.model import Model, State
from drystone.plots import style
from drystone.plots.raster import Buffer, Camera, Singles
from drystone.types import Bools, Floats, Ints

FLOOR = 0.35  # planes steeper than this cosine are walls of a box: not drawn, they would hide it
STONES = ("#efe8d8", "#e3d5ba", "#d9c5a0", "#e9decb", "#d3c2a3", "#f1e9d7", "#decdaf")
FINER = 2  # pixels for each one of the picture, along a side
SHADOW = 1400  # pixels of the shadow map, along a side


@dataclass(frozen=True)
class Solids:
    """Everything to draw, in the world; items are numbered triangles, spheres, planes."""

    mesh: drawing.Mesh
    centre: Floats
    radius: Floats
    sphere_body: Ints
    point: Floats
    normal: Floats

    @property
    def counts(self) -> tuple[int, int, int]:
        return len(self.mesh.body), len(self.radius), len(self.point)

    def bounds(self) -> tuple[Floats, Floats]:
        """Lowest and highest corner (3,) of all bounded bodies."""
        corners = [self.mesh.corners.reshape(-1, 3)]
        corners += [self.centre - self.radius[:, None], self.centre + self.radius[:, None]]
        points = np.concatenate(corners)
        if not len(points):
            return -np.ones(3), np.ones(3)
        return points.min(axis=0), points.max(axis=0)


def gather(model: Model, state: State) -> Solids:
    point, normal = drawing.half_spaces(model, state)
    floor = normal[:, 2] > FLOOR
    centre, radius, body = drawing.spheres(model, state)
    mesh = drawing.meshes(model, state)
    return Solids(mesh, centre, radius, body, point[floor], normal[floor])


def save_spatial(
    model: Model,
    state: State,
    path: Path,
    *,
    view: Mapping[str, Any],
    title: str = "",
    colours: Mapping[str, str] | None = None,
    width: float = 8.0,
    height: float = 5.0,
    dpi: int = 160,
) -> Path:
    """Draw to an image file; width and height in inches."""
    pixels = int(width * dpi), int(height * dpi)
    image = render(model, state, pixels, view=view, colours=colours)
    head = 0.32 if title else 0.0
    with style.figure(width, height + head) as fig:
        axes = fig.add_axes((0.0, 0.0, 1.0, height / (height + head)))
        axes.imshow(image, interpolation="none", aspect="auto")
        axes.axis("off")
        if title:
            fig.text(
                0.012, 1 - 0.23 / (height + head), for_figure(title), weight="bold", fontsize=10
            )
        return style.save(fig, path, dpi)


def render(
    model: Model,
    state: State,
    pixels: tuple[int, int] = (1280, 800),
    *,
    view: Mapping[str, Any],
    colours: Mapping[str, str] | None = None,
) -> Floats:
    """(rows, columns, 3) colours from 0 to 1."""
    things = gather(model, state)
    camera = _camera(things, (FINER * pixels[0], FINER * pixels[1]), view)
    buffer = Buffer.empty(camera)
    _fill(buffer, things)
    nt, ns, _ = things.counts
    if len(things.point):
        buffer.add_planes(things.point, things.normal, nt + ns)
    image = _shade(buffer, things, _palette(model, colours or {}))
    rows, columns = pixels[1], pixels[0]
    out: Floats = image.reshape(rows, FINER, columns, FINER, 3).mean(axis=(1, 3))
    return np.clip(out, 0.0, 1.0)


def _fill(buffer: Buffer, things: Solids) -> None:
    buffer.add_triangles(things.mesh.corners)
    buffer.add_spheres(things.centre, things.radius, len(things.mesh.body))


def _camera(things: Solids, pixels: tuple[int, int], view: Mapping[str, Any]) -> Camera:
    """The view's direction, and as far away as it takes to see all bodies."""
    low, high = things.bounds()
    middle = 0.5 * (low + high)
    eye = np.array(view.get("camera", middle + np.array([0.5, -1.8, 0.7])), dtype=float)
    target = np.array(view.get("target", middle), dtype=float)
    away = (eye - target) / np.linalg.norm(eye - target)
    size = float(np.linalg.norm(high - low))
    camera = Camera(middle + 4.0 * size * away, middle, pixels)
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
    for _ in range(4):  # closer until the corners of the bounds fill the picture
        spot, _ = camera.project(low + corners * (high - low))
        half = 0.5 * np.array(pixels)
        used = float((np.abs(spot - half) / (0.90 * half)).max())
        shift = 0.5 * (spot.min(axis=0) + spot.max(axis=0)) - half
        distance = float(np.linalg.norm(camera.eye - camera.target))
        right, up, _ = camera.axes
        aim = camera.target + (shift[0] * right - shift[1] * up) * distance / camera.scale
        camera = Camera(aim + max(used, 0.05) * distance * away, aim, pixels)
    return camera


def _palette(model: Model, colours: Mapping[str, str]) -> Floats:
    """(nb, 3): stones that differ a little, so that neighbours can be told apart."""
    from matplotlib.colors import to_rgb

    free = drawing.moving(model)
    out = np.array([to_rgb(STONES[(5 * b + b // 7) % len(STONES)]) for b in range(model.nb)])
    out = out.reshape(-1, 3)
    out[~free] = to_rgb(style.GROUND)
    for name, colour in colours.items():
        if name in model.names:
            out[model.names.index(name)] = to_rgb(colour)
    return out


def _shade(buffer: Buffer, things: Solids, palette: Floats) -> Singles:
    """Light on every pixel: the sun where it reaches, the sky everywhere."""
    nt, ns, _ = things.counts
    camera = buffer.camera
    image = np.ones((*buffer.item.shape, 3), np.float32)
    seen = buffer.item >= 0
    point = camera.rays[seen] / buffer.near[seen][:, None] + camera.eye.astype(np.float32)
    fade = np.ones(len(point), np.float32)
    plain = buffer.item[seen] >= nt + ns
    fade[plain] = _fade(things, point[plain])
    near = fade > 0.0
    seen[seen] = near
    point, fade, plain = point[near], fade[near], plain[near]
    normal, body = _normals(things, buffer.item[seen], point)
    way = _sun(camera)
    shine = np.clip(normal @ way, 0.0, None) * _lit(things, point, normal, way)
    light = 0.54 + 0.09 * normal[:, 2] + 0.44 * shine
    colour = palette.astype(np.float32)[body]
    # the ground is white paper, with shadows that fade into it
    colour[plain] = 1.0 - fade[plain, None] * np.array([0.030, 0.036, 0.048], np.float32)
    light[plain] = 1.0 - 0.24 * fade[plain] * (1.0 - shine[plain] / way[2])
    image[seen] = colour * light[:, None]
    image[_edges(buffer, seen, normal, body)] *= 0.62
    return image


def _sun(camera: Camera) -> Singles:
    """Direction to the light: behind the viewer's left shoulder, so that front faces are lit."""
    back = -camera.axes[2, :2]
    angle = np.arctan2(back[1], back[0]) - np.radians(38.0)
    high = np.radians(48.0)
    flat = np.cos(high)
    return np.array([flat * np.cos(angle), flat * np.sin(angle), np.sin(high)], np.float32)


def _fade(things: Solids, point: Singles) -> Singles:
    """1 under the bodies, 0 far away: ground without an end would need a horizon."""
    low, high = things.bounds()
    middle, reach = 0.5 * (low + high), 0.5 * float(np.linalg.norm(high - low))
    x, y = (point[:, i] - np.float32(middle[i]) for i in (0, 1))
    away = np.hypot(x, y) / np.float32(max(reach, 1e-300))
    out: Singles = np.clip((2.6 - away) / 1.6, 0.0, 1.0)
    return out * out * (3.0 - 2.0 * out)


def _normals(things: Solids, item: Any, point: Singles) -> tuple[Singles, NDArray[np.int32]]:
    """Normals (n, 3) and bodies (n,), -1 for planes, of what pixels show."""
    nt, ns, _ = things.counts
    normal, body = np.empty_like(point), np.full(len(item), -1, np.int32)
    flat = item < nt
    if flat.any():
        k = item[flat]
        corners, at = things.mesh.corners.astype(np.float32)[k], point[flat]
        u, v, w = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0], at - corners[:, 0]
        uu, uv, vv = (np.einsum("ni,ni->n", *p) for p in ((u, u), (u, v), (v, v)))
        wu, wv = np.einsum("ni,ni->n", w, u), np.einsum("ni,ni->n", w, v)
        det = np.maximum(uu * vv - uv * uv, 1e-30)
        s, t = (vv * wu - uv * wv) / det, (uu * wv - uv * wu) / det
        share = np.clip(np.column_stack([1 - s - t, s, t]), 0.0, 1.0)
        mixed = np.einsum("nc,nci->ni", share, things.mesh.normal.astype(np.float32)[k])
        normal[flat] = mixed / np.maximum(np.linalg.norm(mixed, axis=1, keepdims=True), 1e-30)
        body[flat] = things.mesh.body[k]
    round_ = (item >= nt) & (item < nt + ns)
    k = item[round_] - nt
    normal[round_] = (point[round_] - things.centre[k]) / things.radius[k][:, None]
    body[round_] = things.sphere_body[k]
    plain = item >= nt + ns
    normal[plain] = things.normal[item[plain] - nt - ns]
    return normal, body


def _lit(things: Solids, point: Singles, normal: Singles, way: Singles) -> Singles:
    """From 0 in shadow to 1 in the sun, soft by the mean of nine places of the shadow map."""
    low, high = things.bounds()
    middle, size = 0.5 * (low + high), float(np.linalg.norm(high - low))
    width = 1.1 * size
    sun = Camera(middle + 2.0 * size * way, middle, (SHADOW, SHADOW), width=width)
    cast = Buffer.empty(sun)
    _fill(cast, things)
    pixel = width / SHADOW
    spot, near = sun.project(point + np.float32(2.5 * pixel) * normal)
    out = np.zeros(len(point), np.float32)
    # a frame of nothing about the map: outside of it all is lit
    shade = np.full((SHADOW + 8, SHADOW + 8), -np.inf, np.float32)
    shade[4:-4, 4:-4] = cast.near
    flat = shade.ravel()
    column, row = (np.clip(spot[:, i], -2.0, SHADOW + 2.0) + 4.0 for i in (0, 1))
    limit = near + np.float32(0.5 * pixel)
    for dx in (-1.2, 0.0, 1.2):
        for dy in (-1.2, 0.0, 1.2):
            x, y = (column + dx).astype(np.int32), (row + dy).astype(np.int32)
            out += flat[y * (SHADOW + 8) + x] <= limit
    return out / 9.0


def _edges(buffer: Buffer, seen: Bools, normal: Singles, body: NDArray[np.int32]) -> Bools:
    """Pixels where another body, or another face of the same one, begins."""
    rows, columns = buffer.item.shape
    owner = np.full((rows, columns), -2, np.int32)
    owner[seen] = body
    way = np.zeros((rows, columns, 3), np.float32)
    way[seen] = normal
    out = np.zeros((rows, columns), dtype=np.bool_)
    for axis in (0, 1):
        first = tuple(slice(None, -1) if i == axis else slice(None) for i in (0, 1))
        second = tuple(slice(1, None) if i == axis else slice(None) for i in (0, 1))
        other = owner[first] != owner[second]
        crease = np.einsum("yxi,yxi->yx", way[first], way[second]) < 0.85
        both = (owner[first] >= 0) & (owner[second] >= 0)
        line = (other & ((owner[first] >= 0) | (owner[second] >= 0))) | (both & crease)
        out[first] |= line
        out[second] |= line
    return out
