"""Bodies, ground and light in the browser's scene, moved to where a state has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from drystone.draw import meshes as drawing
from drystone.draw.camera import FILLED, viewpoint
from drystone.geometry.shapes import BALLS, HOLLOW, UNBOUNDED, codes
from drystone.model import Geoms, Model, State
from drystone.types import Bools, Floats, Ints
from drystone.view import palette

PLANAR_THICKNESS = 0.04  # of its height: later bodies lie over earlier ones
PLANAR_VIEW_ANGLE = 0.14  # [rad] field of view of planar scenes: nearly parallel rays
SPATIAL_VIEW_ANGLE = 0.8  # [rad] of spatial ones
SHADOW_BODIES = 500  # bodies whose shadows take too long while they move
ROUND = codes(lambda kind: kind.stretched)
MARKED = 400  # balls up to which each carries a band
TRIANGLES = 150_000  # of all balls together: a processor draws a third of a million in a second
EDGE_COSINE = 0.8  # cosine between faces below which their edge is drawn
MITRE = 1.5  # how far an outline's corner may stick out, about, in widths


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
    """A camera that looks as the view asks, if it does, and sees all bounded bodies, in space
    however it is turned about its target; aspect: width of the picture over its height."""
    low, high = drawing.bounds(model, state)
    if model.dim == 2:
        (x0, x1), (y0, y1) = view.get("limits") or _loose(low, high)
        tall = max(y1 - y0, (x1 - x0) / aspect)
        middle = np.array([0.5 * (x0 + x1), 0.5 * (y0 + y1), 0.0])
        away = 0.5 * tall / np.tan(0.5 * PLANAR_VIEW_ANGLE)
        eye = np.array([middle[0], middle[1], away])
        return Frame(eye, middle, (0.0, 1.0, 0.0), PLANAR_VIEW_ANGLE, tall)
    size = max(float(np.linalg.norm(high - low)), 1e-6)
    eye, target = viewpoint(view, low, high)
    away = eye - target
    corner = low + np.array(list(np.ndindex(2, 2, 2))) * (high - low)
    reach = float(np.linalg.norm(corner - target, axis=1).max())  # of the box, from the target
    half = np.arctan(np.tan(0.5 * SPATIAL_VIEW_ANGLE) * min(aspect, 1.0))
    enough = max(reach, 1e-6) / (FILLED * np.sin(half))
    eye = target + away * enough / np.linalg.norm(away)
    return Frame(eye, target, (0.0, 0.0, 1.0), SPATIAL_VIEW_ANGLE, size)


def _loose(low: Floats, high: Floats) -> tuple[tuple[float, float], tuple[float, float]]:
    pad = 0.08 * float(max(high - low))
    x, y = ((float(low[k] - pad), float(high[k] + pad)) for k in (0, 1))
    return x, y


class Stage:
    """What is seen without any overlay. Made once for a model; `move` brings it to a state."""

    def __init__(self, server: Any, model: Model, state: State, camera: Frame) -> None:
        self.server, self.model, self.camera = server, model, camera
        self.planar, self.many = model.dim == 2, model.nb > SHADOW_BODIES
        self.colours = palette.body_colours(model)
        line = (0.003 if self.planar else 0.0028) * camera.size
        self.templates = templates(model, line)
        self.layer = PLANAR_THICKNESS * camera.size / max(model.nb, 1)  # height of one planar body
        self.bodies: list[tuple[BodyMesh, Any]] = []
        self._trims: list[tuple[BodyMesh, Any, float]] = []
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
            scene.add_light_ambient("/light/all", intensity=palette.EVEN_LIGHT)
            return
        paper = np.tile(np.array(palette.PAPER, np.uint8), (4, 4, 1))
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
                color=self.colour(palette.PAPER), position=(x, y, -self.layer), cast_shadow=False,
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
        ground = BodyMesh(turned[0], faces, body, np.ones((1, 3)), None)
        line = BodyMesh(turned[1], faces, body, np.ones((1, 3)), None)
        top = 0.02 * self.camera.size + PLANAR_THICKNESS * self.camera.size
        for name, template, colour, height in (
            ("slab", ground, palette.GROUND, top),
            ("edge", line, palette.INK, top - 0.002 * self.camera.size),
        ):
            handle = self._batch(f"/ground/{name}{g}", template, np.tile(colour, (1, 1)))
            self._trims.append((template, handle, height))

    def _floor(self, g: int, state: State) -> None:
        at = drawing.frames(self.model, state)
        normal = at.axes[g][:, 2]
        if normal[2] < drawing.WALL_COSINE:
            return
        step = 10.0 ** np.floor(np.log10(self.camera.size / 4.0))
        grid = self.server.scene.add_grid(
            f"/ground/floor{g}", plane="xy", infinite_grid=True, plane_color=palette.FLOOR,
            plane_opacity=1.0, cell_color=palette.GRID, section_color=palette.SECTION,
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

    def _add(self, k: int, template: BodyMesh, state: State) -> None:
        colours = self.colours[template.bodies]
        handle = self._batch(f"/bodies/{k}", template, colours)
        self.bodies.append((template, handle))
        dark = np.tile(palette.FLAT_EDGE if self.planar else palette.INK, (len(template.bodies), 1))
        for name, trim, height in (
            ("edges", template.edges, -0.5 * self.layer),
            ("marks", template.marks, 0.25 * self.layer),
        ):
            if trim is not None:
                mesh = trim.vertices, trim.faces
                part = BodyMesh(*mesh, template.bodies, template.scale, None, open=True)
                drawn = self._batch(f"/trim/{name}{k}", part, dark)
                self._trims.append((part, drawn, height))

    def _batch(self, name: str, template: BodyMesh, colours: Any) -> Any:
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

    def shown(self, colours: Any) -> palette.Bytes:
        """Bytes (n, 3) to send for copies of a mesh that shall have these colours."""
        return palette.of_copies(colours, self.planar)

    def colour(self, colour: palette.RGB) -> palette.RGB:
        """The same of things that are no copies."""
        if not self.planar:
            return colour
        r, g, b = np.round(palette.coded(palette.in_even_light(colour))).astype(int).tolist()
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

    def paint(self, colours: palette.Bytes) -> None:
        """Colours (nb, 3) of all bodies."""
        for template, handle in self.bodies:
            mine = self.shown(colours[template.bodies])
            if not np.array_equal(mine, handle.batched_colors):
                handle.batched_colors = mine

    def boxes(self, state: State) -> Floats:
        """Lowest and highest corners (nb, 2, 3) of bodies with bounded shapes; nan for others."""
        out = np.full((self.model.nb, 2, 3), np.nan)
        body, low, high = drawing.boxes(self.model, state)
        for k, (corners, extreme) in enumerate(((low, np.fmin), (high, np.fmax))):
            extreme.at(out[:, k, : self.model.dim], body, corners)
        return out

    @property
    def free(self) -> Bools:
        return drawing.moving(self.model)


def upright(normal: Floats) -> Floats:
    """Quaternion that turns z to `normal` the shortest way."""
    q = np.array([1.0 + normal[2], -normal[1], normal[0], 0.0])
    size = float(np.linalg.norm(q))
    return q / size if size > 1e-9 else np.array([0.0, 1.0, 0.0, 0.0])


@dataclass(frozen=True)
class Trim:
    """Lines that belong to a template: triangles of their own."""

    vertices: Floats
    faces: Ints


@dataclass(frozen=True)
class BodyMesh:
    """A mesh in the frame of a body's centre of mass, and the bodies that look like it.

    vertices (nv, 3) [m]; faces (nf, 3); bodies (k,); scale (k, 3); edges: None if it has none;
    marks: of round bodies, so that their turning is seen; open: its inside can be seen.
    """

    vertices: Floats
    faces: Ints
    bodies: Ints
    scale: Floats
    edges: Trim | None
    marks: Trim | None = None
    open: bool = False


def templates(model: Model, line: float) -> list[BodyMesh]:
    """All bodies with bounded shapes; line: width of edges [m]."""
    geoms = model.geoms
    n = sides(model)
    found: dict[tuple[object, ...], list[tuple[int, Floats]]] = {}
    order = np.argsort(geoms.body, kind="stable")
    order = order[np.isfinite(geoms.radius[order])]
    for part in np.split(order, np.flatnonzero(np.diff(geoms.body[order])) + 1):
        if part.size:
            key, scale = _key(geoms, part)
            found.setdefault(key, []).append((int(part[0]), scale))
    return [_template(model, entries, n, line) for entries in found.values()]


def sides(model: Model) -> int:
    """Of round shapes: as many as so many bodies can be drawn with, without a graphics card too."""
    if model.dim == 2:
        return 48 if model.nb < 100 else 28 if model.nb < 1000 else 16
    return next((n for n in (48, 28, 20, 16, 12) if model.nb * n * (n - 2) <= TRIANGLES), 10)


def _key(geoms: Geoms, part: Ints) -> tuple[tuple[object, ...], Floats]:
    """What bodies of one template have in common, and the scale of this one."""
    g, dim = int(part[0]), geoms.dim
    centred = not geoms.offset[g].any() and np.array_equal(geoms.turn[g], np.eye(dim))
    if part.size == 1 and centred and geoms.kind[g] in ROUND:
        size = np.array(drawing.numbers(geoms, g))
        scale = np.full(3, size[0])
        scale[: size.size] = size
        # bodies of very different size get their own template: edges scale with the body
        return ("round", dim, round(np.log2(size.max()))), scale
    pieces = [
        (
            int(geoms.kind[i]),
            drawing.numbers(geoms, i).tobytes(),
            geoms.ints[geoms.first_int[i] : geoms.first_int[i + 1]].tobytes(),
            geoms.offset[i].tobytes(),
            geoms.turn[i].tobytes(),
        )
        for i in part
    ]
    return tuple(pieces), np.ones(3)


def _template(model: Model, entries: list[tuple[int, Floats]], n: int, line: float) -> BodyMesh:
    geoms = model.geoms
    first, scale = entries[0][0], np.array([s for _, s in entries])
    bodies = geoms.body[[g for g, _ in entries]]
    mine = np.flatnonzero((geoms.body == geoms.body[first]) & np.isfinite(geoms.radius))
    vertices: list[Floats] = []
    faces: list[Ints] = []
    lines: list[Trim] = []
    for g in mine:
        points, triangles, _ = drawing.geom_mesh(geoms, g, n)
        points = points / scale[0]  # the first one's size is taken out, and given back by `scale`
        thin = line / float(scale[0].max())
        if geoms.dim == 2:
            lines.append(_flat_edges(points, thin))
        else:
            lines.append(_creases(points, triangles, thin))
        faces.append(triangles + sum(len(v) for v in vertices))
        vertices.append(_placed(geoms, int(g), points))
        lines[-1] = Trim(_placed(geoms, int(g), lines[-1].vertices), lines[-1].faces)
    mesh = np.concatenate(vertices), np.concatenate(faces)
    marks = _mark(geoms.dim, n, model.nb) if geoms.kind[first] in BALLS and len(mine) == 1 else None
    hollow = bool(np.isin(geoms.kind[mine], HOLLOW).any() or geoms.tile.size > 0)
    return BodyMesh(*mesh, bodies, scale, _joined(lines), marks, hollow)


def _mark(dim: int, n: int, count: int) -> Trim | None:
    """A short radius on a disk of radius 1; a band round the equator of a ball, slightly raised."""
    if dim == 2:
        corners = np.array([(0.5, -0.025), (0.93, -0.025), (0.93, 0.025), (0.5, 0.025)])
        vertices, faces, _ = drawing.flat_mesh(corners)
        return Trim(vertices, faces)
    if count > MARKED:
        return None
    angle = np.linspace(0.0, 2.0 * np.pi, 2 * n, endpoint=False)
    high = 0.06
    wide = 1.006 * np.sqrt(1.0 - high**2)
    ring = np.column_stack([wide * np.cos(angle), wide * np.sin(angle), np.full(2 * n, high)])
    middle = ring * [1.006 / wide, 1.006 / wide, 0.0]
    k, m = np.arange(2 * n), (np.arange(2 * n) + 1) % (2 * n)
    strip = [np.column_stack([k, m, m + 2 * n]), np.column_stack([k, m + 2 * n, k + 2 * n])]
    faces = np.concatenate([*strip, *(s + 2 * n for s in strip)])
    return Trim(np.concatenate([ring * [1, 1, -1], middle, ring]), faces)


def _placed(geoms: Geoms, g: int, points: Floats) -> Floats:
    """Points of a geom's frame in the body's."""
    out, dim = points.copy(), geoms.dim
    out[:, :dim] = geoms.offset[g] + points[:, :dim] @ geoms.turn[g].T
    return out


def _joined(parts: list[Trim]) -> Trim | None:
    starts = np.cumsum([0, *(len(t.vertices) for t in parts)])
    faces = [t.faces + s for t, s in zip(parts, starts[:-1], strict=True)]
    if not any(len(f) for f in faces):
        return None
    return Trim(np.concatenate([t.vertices for t in parts]), np.concatenate(faces))


def _flat_edges(points: Floats, width: float) -> Trim:
    """The same outline, wider by `width`: it lies below the body, so that of parts that overlap
    only the common outline is seen."""
    p = points[:, :2]
    along = np.roll(p, -1, axis=0) - p
    along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-300)
    out = np.column_stack([along[:, 1], -along[:, 0]])
    before = np.roll(out, 1, axis=0)
    wider: list[Floats] = []
    for corner, m, n in zip(p, before, out, strict=True):
        share = 1.0 + float(m @ n)  # small at a sharp corner, which is cut off
        ends = [(m + n) / share] if share > 1.0 / MITRE else [m, n]
        wider += [corner + width * end for end in ends]
    vertices, faces, _ = drawing.flat_mesh(np.array(wider))
    return Trim(vertices, faces)


def _creases(vertices: Floats, faces: Ints, width: float) -> Trim:
    """Thin bars along all sharp edges of a mesh."""
    rows, welded = np.unique(np.round(vertices, 9), axis=0, return_inverse=True)
    corner = welded.reshape(-1)[faces]
    p = rows[corner]
    normal = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
    sides: dict[tuple[int, int], list[int]] = {}
    for t, (a, b, c) in enumerate(corner.tolist()):
        for u, v in ((a, b), (b, c), (c, a)):
            if u != v:
                sides.setdefault((min(u, v), max(u, v)), []).append(t)
    ends = [
        edge
        for edge, at in sides.items()
        if len(at) != 2 or float(normal[at[0]] @ normal[at[1]]) < EDGE_COSINE
    ]
    if not ends or len(ends) > 400:
        return Trim(np.empty((0, 3)), np.empty((0, 3), np.int64))
    return _bars(rows[np.array(ends)], width)


def _bars(ends: Floats, width: float) -> Trim:
    """Prisms (n) of a square section about segments (n, 2, 3)."""
    way = ends[:, 1] - ends[:, 0]
    way /= np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-300)
    helper = np.eye(3)[np.argmin(np.abs(way), axis=1)]
    u = np.cross(way, helper)
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    v = np.cross(way, u)
    ring = np.stack([u + v, v - u, -u - v, u - v], axis=1) * (0.5 * width)
    vertices = (ends[:, :, None, :] + ring[:, None]).reshape(-1, 3)
    walls = [(k, (k + 1) % 4, 4 + (k + 1) % 4, 4 + k) for k in range(4)]
    one = np.array([t for a, b, c, d in walls for t in ((a, b, c), (a, c, d))])
    faces = (one[None] + 8 * np.arange(len(ends))[:, None, None]).reshape(-1, 3)
    return Trim(vertices, faces)
