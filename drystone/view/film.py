"""Frames of a film of a replay, by our own compiled rasteriser: no browser and no window needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from os import cpu_count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from drystone import drawing
from drystone.dynamics.frames import rotations
from drystone.errors import OptionError
from drystone.geometry import kinds
from drystone.kernels import picture_raster as raster
from drystone.kernels import picture_shade as light
from drystone.model import Model, State
from drystone.plots.raster import Camera
from drystone.types import Floats, Ints
from drystone.view.look import GROUND, rgb
from drystone.view.player import states
from drystone.view.player.contacts import contacts_of, force_lines
from drystone.view.player.replays import bounds_of, colours_of
from drystone.view.player.shapes import Solid, groups, instances, solids

Picture = NDArray[np.uint8]
PAPER, INK = np.array(rgb("#fbfaf7")) / 255, np.array(rgb("#22303c")) / 255
RAMP = np.array([rgb(c) for c in ("#1f5f8b", "#5b9fc0", "#e8c867", "#df8b3f", "#a92b26")]) / 255
SHADOW = 1280  # pixels of the shadow map, along a side
PALE = 0.62  # how far bodies fade behind forces


class Film:
    """Pictures (rows, columns, 3) of a replay at chosen times, from one place.

    pixels: columns, rows; view: hints of a scene ("limits", "camera", "target"); colours:
    "#rrggbb" of bodies by name; forces: draw the contact forces, where the replay has contacts.
    """

    def __init__(
        self,
        replay: Any,
        pixels: tuple[int, int] = (960, 600),
        *,
        view: Mapping[str, Any] | None = None,
        colours: Mapping[str, str] | None = None,
        forces: bool = False,
    ) -> None:
        if not (min(pixels) >= 16 and max(pixels) <= 8192):
            raise OptionError(f"size = {pixels!r}: expected 16 to 8192 columns and rows of pixels")
        self.model: Model = replay.model
        self.replay, self.pixels, self.forces = replay, pixels, forces
        self.time = np.asarray(replay.time, dtype=float)
        if not len(self.time):
            raise OptionError("this replay has no frames to show")
        self.position = np.nan_to_num(np.asarray(replay.position))
        self.orientation = np.nan_to_num(np.asarray(replay.orientation))
        self.view = view if view is not None else getattr(replay, "view", None) or {}
        self.palette = colours_of(self.model, colours or {}) / 255.0
        self.low, self.high = bounds_of(self.model, self.position, self.orientation, self.view)
        self.free = drawing.moving(self.model)
        self.names = np.array(self.model.names, dtype=np.str_)

    def pictures(self, times: Floats) -> Iterator[Picture]:
        """Pictures at these times [s] one after the other, drawn by all cores."""
        with ThreadPoolExecutor(cpu_count() or 1) as pool:
            yield from pool.map(self.picture, times.tolist())

    def picture(self, time: float) -> Picture:
        """The picture at a time [s], between two frames where it is."""
        state, k = self.state(time)
        image = (self._flat if self.model.dim == 2 else self._solid)(state)
        if self.forces:
            self._draw_forces(image, state, k)
        return np.rint(255 * np.clip(image, 0.0, 1.0)).astype(np.uint8)

    def state(self, time: float) -> tuple[State, int]:
        """The state at a time, and the last frame not after it."""
        k = int(np.clip(np.searchsorted(self.time, time, "right") - 1, 0, len(self.time) - 1))
        after = min(k + 1, len(self.time) - 1)
        span = self.time[after] - self.time[k]
        share = float(np.clip((time - self.time[k]) / span, 0.0, 1.0)) if span > 0 else 0.0
        place = self.position[k] + share * (self.position[after] - self.position[k])
        turn, next_turn = self.orientation[k], self.orientation[after]
        if self.model.dim == 3:
            sign = np.where(np.einsum("bi,bi->b", turn, next_turn) < 0, -1.0, 1.0)[:, None]
            turn = turn + share * (sign * next_turn - turn)
            turn = turn / np.maximum(np.linalg.norm(turn, axis=1, keepdims=True), 1e-300)
        else:
            turn = turn + share * (next_turn - turn)
        return State(time, place, turn, np.empty(0)), k

    @cached_property
    def _shapes(self) -> list[tuple[Solid, Ints, Floats, Floats]]:
        """Each mesh of a spatial model but balls, with bodies, offsets and axes of its wearers."""
        out = []
        for solid in solids(self.model.geoms):
            if solid.ball:
                continue
            worn = instances(self.model.geoms, solid)
            body = np.array([b for b, *_ in worn])
            turn = np.array([q for _, _, q, _ in worn])[:, [3, 0, 1, 2]]
            out.append((solid, body, np.array([o for _, o, _, _ in worn]), rotations(turn)))
        return out

    @cached_property
    def _balls(self) -> Ints:
        return np.flatnonzero(self.model.geoms.kind == kinds.SPHERE)

    @cached_property
    def camera(self) -> Camera:
        """As far away as it takes to see the bounds; a sheet face on for planar worlds."""
        if self.model.dim == 2:
            middle = np.array([*(0.5 * (self.low + self.high)), 0.0])
            size, (columns, rows) = self.high - self.low, self.pixels
            wide = float(max(size[0], size[1] * columns / rows, 1e-9)) / 0.98
            eye = middle + np.array([0.0, 0.0, 1.0])
            return Camera(eye, middle, (3 * columns, 3 * rows), width=wide)
        at = states.camera(self.view, self.low, self.high)
        eye, target = np.array(at["eye"]), np.array(at["target"])
        away = (eye - target) / np.linalg.norm(eye - target)
        middle, pixels = 0.5 * (self.low + self.high), (2 * self.pixels[0], 2 * self.pixels[1])
        right, up, _ = Camera(middle + away, middle, pixels).axes
        tall = np.tan(np.radians(14.0)) * np.array(pixels) / max(pixels)
        bits = np.array([[i & 1, i >> 1 & 1, i >> 2] for i in range(8)])
        corner = self.low + bits * (self.high - self.low) - middle
        out = np.maximum(np.abs(corner @ right) / tall[0], np.abs(corner @ up) / tall[1])
        distance = float((corner @ away + out / 0.9).max())
        return Camera(middle + max(distance, 1e-6) * away, middle, pixels)

    @cached_property
    def sun(self) -> Camera:
        """The light: behind the viewer's left shoulder, over all that happens."""
        back = -self.camera.axes[2]
        angle, high = np.arctan2(back[1], back[0]) - 0.66, 0.86
        way = np.array([np.cos(high) * np.cos(angle), np.cos(high) * np.sin(angle), np.sin(high)])
        middle, size = 0.5 * (self.low + self.high), float(np.linalg.norm(self.high - self.low))
        size = max(size, 1e-9)
        return Camera(middle + 2 * size * way, middle, (SHADOW, SHADOW), width=1.5 * size)

    def _triangles(self, state: State) -> tuple[Floats, Floats, Ints]:
        """Corners and normals (nt, 3, 3) and bodies (nt,) of all meshes in the world."""
        R = rotations(state.orientation)
        corners, normals = [np.empty((0, 3, 3))], [np.empty((0, 3, 3))]
        bodies = [np.empty(0, np.int64)]
        for solid, body, offset, axes in self._shapes:
            turn = R[body] @ axes
            origin = state.position[body] + np.einsum("nij,nj->ni", R[body], offset)
            points = np.einsum("nij,vj->nvi", turn, solid.vertices) + origin[:, None]
            ways = np.einsum("nij,vj->nvi", turn, solid.normals)
            corners.append(points[:, solid.faces].reshape(-1, 3, 3))
            normals.append(ways[:, solid.faces].reshape(-1, 3, 3))
            bodies.append(np.repeat(body, len(solid.faces)))
        return np.concatenate(corners), np.concatenate(normals), np.concatenate(bodies)

    def _solid(self, state: State) -> Floats:
        """A spatial state, shaded, (rows, columns, 3) from 0 to 1."""
        camera, sun, geoms = self.camera, self.sun, self.model.geoms
        mesh = self._triangles(state)
        at = drawing.frames(self.model, state)
        ball = self._balls
        balls = at.origin[ball], geoms.numbers[geoms.first[ball]], at.axes[ball], geoms.body[ball]
        cast = _Sheets(sun, shown=False)
        cast.fill(mesh, balls)
        seen = _Sheets(camera, shown=True)
        seen.fill(mesh, balls)
        for point, normal in zip(*drawing.half_spaces(self.model, state), strict=True):
            if normal[2] > states.FLOOR:
                raster.fill_plane(
                    point, normal, camera.eye, camera.axes, camera.scale, seen.near, seen.owner,
                    seen.way,
                )  # fmt: skip
        palette = self.palette
        if self.forces:
            palette = palette + PALE * (0.95 - palette)
        colour = np.empty((*seen.near.shape, 3), np.float32)
        reach = 0.5 * float(np.linalg.norm(self.high - self.low))
        light.shade(
            camera.eye, camera.axes, camera.scale, seen.near, seen.owner, seen.way, seen.tone,
            palette, sun.axes, sun.eye, sun.scale, cast.near, 0.5 * (self.low + self.high), reach,
            colour,
        )  # fmt: skip
        return self._developed(seen, colour)

    def _developed(self, seen: _Sheets, colour: Any) -> Floats:
        out = np.zeros((self.pixels[1], self.pixels[0], 3))
        fine = np.int64(seen.near.shape[0] // self.pixels[1])
        light.develop(seen.owner, seen.way, colour, fine, out)
        return out

    def _flat(self, state: State) -> Floats:
        """A planar state: outlines in ink on paper."""
        model, geoms, camera = self.model, self.model.geoms, self.camera
        at = drawing.frames(model, state)
        corners, bodies, marks = [np.empty((0, 3, 3))], [np.empty(0, np.int64)], []
        for (kind, *_), members in groups(geoms).items():
            for g in members:
                line = at.world(g, drawing.outline(geoms, g, 64))
                points, faces, _ = drawing.flat_mesh(line)
                corners.append(points[faces])
                bodies.append(np.full(len(faces), geoms.body[g]))
                if kind == kinds.DISK:
                    radius = float(drawing.numbers(geoms, g)[0])
                    way = at.axes[g][:, 0]
                    marks.append(at.origin[g] + np.outer([0.55 * radius, 0.9 * radius], way))
        for point, normal in zip(*drawing.half_spaces(model, state), strict=True):
            corners.append(self._ground(point, normal))
            bodies.append(np.full(2, model.nb))
        whole = np.concatenate(corners)
        seen = _Sheets(camera, shown=True)
        normal = np.tile([0.0, 0.0, 1.0], (len(whole), 3, 1))
        seen.fill((whole, normal, np.concatenate(bodies)), None)
        table = np.vstack([self.palette, np.array(GROUND) / 255, PAPER])  # the last for nothing
        image = self._developed(seen, table[seen.owner].astype(np.float32))
        if marks:
            ends = np.stack(marks)
            pixels = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1) * camera.scale / 3
            half = np.clip(0.1 * pixels, 0.3, 0.9)
            self._lines(image, ends, half, np.full((len(ends), 3), 0.62))
        return image

    def _ground(self, point: Floats, normal: Floats) -> Floats:
        """A half-plane as two triangles, before everything."""
        reach = 4.0 * float(np.linalg.norm(self.high - self.low))
        along = np.array([normal[1], -normal[0]])
        foot = point + ((0.5 * (self.low + self.high) - point) @ along) * along
        a, b = foot - reach * along, foot + reach * along
        ends = [a, a - reach * normal, b - reach * normal, b]
        corners = np.column_stack([ends, np.full(4, 0.01)])
        return corners[[[0, 1, 2], [0, 2, 3]]]

    def _draw_forces(self, image: Floats, state: State, k: int) -> None:
        table = contacts_of(self.replay, k)
        if table is None or not len(table):
            return
        ends, size, share = force_lines(table, self.names, self.free, state.position)
        if not size.size:
            return
        x = 4 * np.clip(share, 0.0, 1.0)
        low = np.minimum(x.astype(int), 3)
        tint = RAMP[low] + (x - low)[:, None] * (RAMP[low + 1] - RAMP[low])
        half = 0.5 * np.clip(6.0 * size / self._strongest, 0.6, 9.0) * self.pixels[0] / 960
        self._lines(image, ends, half, tint)

    @cached_property
    def _strongest(self) -> float:
        """A force few exceed, whatever single blows the run has."""
        kept = np.unique(np.linspace(0, len(self.time) - 1, 24).astype(int))
        tables = [contacts_of(self.replay, int(k)) for k in kept]
        sizes = [np.linalg.norm(t["force"], axis=1) for t in tables if t is not None]
        return float(np.percentile(np.concatenate([*sizes, [0.0]]), 97)) or 1.0

    def _lines(self, image: Floats, ends: Floats, half: Floats, tint: Floats) -> None:
        """Draw lines (n, 2, dim) [m] over a picture."""
        flat = np.zeros((*ends.shape[:2], 3))
        flat[:, :, : ends.shape[2]] = ends
        pixel, _ = self.camera.project(flat)
        fine = self.camera.pixels[0] / self.pixels[0]
        light.draw_lines(pixel / fine, half, tint, INK, image)


class _Sheets:
    """The buffers of ``kernels.picture_raster`` for a camera."""

    def __init__(self, camera: Camera, shown: bool) -> None:
        columns, rows = camera.pixels
        self.camera = camera
        self.near = np.full((rows, columns), -np.inf, np.float32)
        self.owner = np.full((rows, columns), raster.NOTHING, np.int32)
        deep = (rows, columns) if shown else (0, 0)
        self.way = np.zeros((*deep, 3), np.float32)
        self.tone = np.ones(deep, np.float32)

    def fill(self, mesh: tuple[Floats, Floats, Ints], balls: Any) -> None:
        """Triangles (corners, normals, bodies) and balls (centres, radii, axes, bodies)."""
        camera, parallel = self.camera, self.camera.width is not None
        corners, normal, body = mesh
        pixel, depth = camera.project(corners)
        raster.fill_triangles(pixel, depth, normal, body, parallel, self.near, self.owner, self.way)
        if balls is not None and len(balls[1]):
            raster.fill_balls(
                *balls, camera.eye, camera.axes, camera.scale, parallel, self.near, self.owner,
                self.way, self.tone,
            )  # fmt: skip
