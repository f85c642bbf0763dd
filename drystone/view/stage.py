"""Bodies, ground and light in the browser's scene, moved to where a state has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from drystone.draw import meshes as drawing
from drystone.dynamics.frames import rotations
from drystone.geometry.shapes import UNBOUNDED
from drystone.model import Model, State
from drystone.types import Bools, Floats
from drystone.view import look
from drystone.view.templates import Template, templates

FLOOR = 0.35  # half-spaces steeper than this cosine are walls: drawn they would hide what they hold
DEPTH = 0.04  # thickness of a planar scene, of its height: later bodies lie over earlier ones
NARROW = 0.14  # [rad] field of view of planar scenes: nearly parallel rays
WIDE = 0.8  # [rad] of spatial ones
MANY = 500  # bodies whose shadows take too long while they move


@dataclass(frozen=True)
class Frame:
    """Where the camera stands, and how large the scene is [m]."""

    eye: Floats
    target: Floats
    up: tuple[float, float, float]
    fov: float
    size: float


def quaternions(state: State) -> Floats:
    """(nb, 4) of planar or spatial bodies."""
    if state.orientation.ndim == 2:
        return state.orientation
    half = 0.5 * state.orientation
    nought = np.zeros_like(half)
    return np.column_stack([np.cos(half), nought, nought, np.sin(half)])


def frame(model: Model, state: State, view: Mapping[str, Any], aspect: float = 1.4) -> Frame:
    """The camera that the view asks for, or one that sees all bounded bodies; aspect: width of
    the picture over its height."""
    low, high = bounds(model, state)
    if model.dim == 2:
        (x0, x1), (y0, y1) = view.get("limits") or _loose(low, high)
        tall = max(y1 - y0, (x1 - x0) / aspect)
        middle = np.array([0.5 * (x0 + x1), 0.5 * (y0 + y1), 0.0])
        away = 0.5 * tall / np.tan(0.5 * NARROW)
        eye = np.array([middle[0], middle[1], away])
        return Frame(eye, middle, (0.0, 1.0, 0.0), NARROW, tall)
    middle, size = 0.5 * (low + high), max(float(np.linalg.norm(high - low)), 1e-6)
    eye = np.array(view.get("camera", middle + size * np.array([0.55, -1.5, 0.6])), float)
    target = np.array(view.get("target", middle), float)
    away = eye - target
    enough = 0.62 * size / np.tan(0.5 * WIDE) * max(1.0, 1.15 / aspect)
    eye = target + away * enough / max(float(np.linalg.norm(away)), 1e-12)
    return Frame(eye, target, (0.0, 0.0, 1.0), WIDE, size)


def bounds(model: Model, state: State) -> tuple[Floats, Floats]:
    """Corners (dim,) of a box about the bounded geoms."""
    radius = model.geoms.radius
    held = np.isfinite(radius)
    if not held.any():
        return -np.ones(model.dim), np.ones(model.dim)
    at = drawing.frames(model, state).origin[held]
    r = radius[held, None]
    return (at - r).min(axis=0), (at + r).max(axis=0)


def _loose(low: Floats, high: Floats) -> tuple[tuple[float, float], tuple[float, float]]:
    pad = 0.08 * float(max(high - low))
    x, y = ((float(low[k] - pad), float(high[k] + pad)) for k in (0, 1))
    return x, y


class Stage:
    """What is seen without any overlay. Made once for a model; `move` brings it to a state."""

    def __init__(self, server: Any, model: Model, state: State, camera: Frame) -> None:
        self.server, self.model, self.camera = server, model, camera
        self.planar, self.many = model.dim == 2, model.nb > MANY
        self.colours = look.body_colours(model)
        line = (0.003 if self.planar else 0.0028) * camera.size
        self.templates = templates(model, line)
        self.layer = DEPTH * camera.size / max(model.nb, 1)  # height of one planar body
        self.bodies: list[tuple[Template, Any]] = []
        self._trims: list[tuple[Template, Any, float]] = []
        self._grids: list[tuple[int, Floats, Any]] = []
        self._light()
        self._ground(state)
        for k, template in enumerate(self.templates):
            self._add(k, template, state)
        self.move(state)

    def _light(self) -> None:
        scene, camera = self.server.scene, self.camera
        scene.set_up_direction(camera.up)
        initial = self.server.initial_camera
        initial.position, initial.look_at = camera.eye, camera.target
        initial.up, initial.fov = camera.up, camera.fov
        away = float(np.linalg.norm(camera.eye - camera.target))
        initial.far = 40.0 * away
        initial.near = 0.3 * away if self.planar else min(0.01 * away, 0.5)  # background: at 1 m
        scene.configure_default_lights(enabled=False)
        scene.configure_environment_map(None)
        scene.world_axes.visible = False
        if self.planar:
            scene.add_light_ambient("/light/all", intensity=look.EVEN_LIGHT)
            return
        paper = np.tile(np.array(look.PAPER, np.uint8), (4, 4, 1))
        scene.set_background_image(paper, format="png")
        scene.add_light_hemisphere(
            "/light/sky", sky_color=(255, 255, 255), ground_color=(196, 184, 160), intensity=1.5
        )
        place = tuple(camera.target + camera.size * np.array([-0.6, -0.9, 1.6]))
        self._sun = scene.add_light_directional(
            "/light/sun", position=place, intensity=2.0, cast_shadow=not self.many
        )

    def _ground(self, state: State) -> None:
        geoms = self.model.geoms
        for g in np.flatnonzero(np.isin(geoms.kind, UNBOUNDED)):
            if self.planar:
                self._half_plane(int(g))
            else:
                self._floor(int(g), state)
        if self.planar:
            (x, y, _), size = self.camera.target, self.camera.size
            corners = 40.0 * size * np.array([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)])
            self.sheet = self.server.scene.add_mesh_simple(
                "/sheet", corners, np.array([(0, 1, 2), (0, 2, 3)]),
                color=self.colour(look.PAPER), position=(x, y, -self.layer), cast_shadow=False,
            )  # fmt: skip

    def _half_plane(self, g: int) -> None:
        """A slab so long and deep that its ends are never seen, and a line on top of it, which
        other slabs hide where it runs inside them."""
        geoms, size = self.model.geoms, 40.0 * self.camera.size
        thin = 0.0022 * self.camera.size
        rectangle = np.array([(-size, -size, 0), (size, -size, 0), (size, 0, 0), (-size, 0, 0)])
        edge = np.array([(-size, 0, 0), (size, 0, 0), (size, thin, 0), (-size, thin, 0)])
        turned = []
        for part in (rectangle, edge):
            out = part.copy()
            out[:, :2] = geoms.offset[g] + part[:, :2] @ geoms.turn[g].T
            turned.append(out)
        faces = np.array([(0, 1, 2), (0, 2, 3)])
        body = geoms.body[g : g + 1]
        ground = Template(turned[0], faces, body, np.ones((1, 3)), None)
        line = Template(turned[1], faces, body, np.ones((1, 3)), None)
        top = 0.02 * self.camera.size + DEPTH * self.camera.size
        for name, template, colour, height in (
            ("slab", ground, look.GROUND, top),
            ("edge", line, look.INK, top - 0.002 * self.camera.size),
        ):
            handle = self._batch(f"/ground/{name}{g}", template, np.tile(colour, (1, 1)))
            self._trims.append((template, handle, height))

    def _floor(self, g: int, state: State) -> None:
        at = drawing.frames(self.model, state)
        normal = at.axes[g][:, 2]
        if normal[2] < FLOOR:
            return
        step = 10.0 ** np.floor(np.log10(self.camera.size / 4.0))
        grid = self.server.scene.add_grid(
            f"/ground/floor{g}", plane="xy", infinite_grid=True, plane_color=look.FLOOR,
            plane_opacity=1.0, cell_color=look.GRID, section_color=look.SECTION,
            cell_size=float(step), section_size=float(5 * step), cell_thickness=0.7,
            section_thickness=0.9, fade_distance=7.0 * self.camera.size, fade_strength=1.4,
            fade_from="origin", shadow_opacity=0.35,
        )  # fmt: skip
        self._grids.append((g, at.axes[g], grid))

    def cast_shadows(self, still: bool) -> None:
        """Of few bodies always, of many while the picture stands still: a processor that draws
        needs as long for their shadows as for the bodies."""
        wanted = still or not self.many
        if not self.planar and self._sun.cast_shadow != wanted:
            self._sun.cast_shadow = wanted

    def show_grid(self, shown: bool) -> None:
        """Lines on the floor, or a plain one."""
        for _, _, grid in self._grids:
            grid.cell_thickness = 0.7 if shown else 0.0
            grid.section_thickness = 0.9 if shown else 0.0

    def _add(self, k: int, template: Template, state: State) -> None:
        colours = self.colours[template.bodies]
        handle = self._batch(f"/bodies/{k}", template, colours)
        self.bodies.append((template, handle))
        dark = np.tile(look.FLAT_EDGE if self.planar else look.INK, (len(template.bodies), 1))
        for name, trim, height in (
            ("edges", template.edges, -0.5 * self.layer),
            ("marks", template.marks, 0.25 * self.layer),
        ):
            if trim is not None:
                mesh = trim.vertices, trim.faces
                part = Template(*mesh, template.bodies, template.scale, None, open=True)
                drawn = self._batch(f"/trim/{name}{k}", part, dark)
                self._trims.append((part, drawn, height))

    def _batch(self, name: str, template: Template, colours: Any) -> Any:
        count = len(template.bodies)
        still = np.tile([1.0, 0.0, 0.0, 0.0], (count, 1))
        return self.server.scene.add_batched_meshes_simple(
            name, template.vertices, template.faces, still, np.zeros((count, 3)),
            batched_scales=template.scale.astype(np.float32),
            batched_colors=self.shown(colours), lod="off",
            side="double" if self.planar or template.open else "front",
            cast_shadow=not self.planar and not name.startswith("/trim"),
            receive_shadow=not self.planar,
        )  # fmt: skip

    def shown(self, colours: Any) -> look.Bytes:
        """Bytes (n, 3) to send for copies of a mesh that shall have these colours."""
        return look.of_copies(colours, self.planar)

    def colour(self, colour: look.RGB) -> look.RGB:
        """The same of things that are no copies."""
        if not self.planar:
            return colour
        r, g, b = np.round(look.coded(look.in_even_light(colour))).astype(int).tolist()
        return r, g, b

    def move(self, state: State) -> None:
        """Bring all bodies to where `state` has them."""
        place, turn = self.places(state), quaternions(state).astype(np.float32)
        for template, handle in self.bodies:
            handle.batched_positions = place[template.bodies]
            handle.batched_wxyzs = turn[template.bodies]
        for template, handle, height in self._trims:
            lifted = place[template.bodies]
            lifted[:, 2] += height if self.planar else 0.0
            handle.batched_positions = lifted
            handle.batched_wxyzs = turn[template.bodies]
        if self._grids:
            origin = drawing.frames(self.model, state).origin
            for g, axes, grid in self._grids:
                n = axes[:, 2]
                across = self.camera.target - origin[g]
                grid.position = origin[g] + across - (across @ n) * n
                grid.wxyz = upright(n)

    def places(self, state: State) -> Floats:
        """(nb, 3) centres of mass; planar ones each in a layer of its own."""
        if not self.planar:
            return state.position.astype(np.float32)
        layers = self.layer * np.arange(self.model.nb)
        return np.column_stack([state.position, layers]).astype(np.float32)

    def paint(self, colours: look.Bytes) -> None:
        """Colours (nb, 3) of all bodies."""
        for template, handle in self.bodies:
            mine = self.shown(colours[template.bodies])
            if not np.array_equal(mine, handle.batched_colors):
                handle.batched_colors = mine

    def boxes(self, state: State) -> Floats:
        """Lowest and highest corners (nb, 2, 3) of bodies with bounded shapes; nan for others."""
        out = np.full((self.model.nb, 2, 3), np.nan)
        R = np.tile(np.eye(3), (self.model.nb, 1, 1))
        R[:, : self.model.dim, : self.model.dim] = rotations(state.orientation)
        place = self.places(state)
        for template, _ in self.bodies:
            b = template.bodies
            local = template.vertices[None] * template.scale[:, None]
            points = np.einsum("bij,bvj->bvi", R[b], local) + place[b][:, None]
            out[b, 0], out[b, 1] = points.min(axis=1), points.max(axis=1)
        return out

    @property
    def free(self) -> Bools:
        return drawing.moving(self.model)


def upright(normal: Floats) -> Floats:
    """Quaternion that turns z to `normal` the shortest way."""
    q = np.array([1.0 + normal[2], -normal[1], normal[0], 0.0])
    size = float(np.linalg.norm(q))
    return q / size if size > 1e-9 else np.array([0.0, 1.0, 0.0, 0.0])
