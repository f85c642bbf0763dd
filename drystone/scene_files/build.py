"""From a checked document to a world: every entry becomes a call that a user could have made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from drystone.constraints.joints import Motor
from drystone.constraints.joints.registry import JOINTS
from drystone.errors import DrystoneError, MissingExtraError, ModelError, SceneFileError, ShapeError
from drystone.geometry.decomposition import decompose
from drystone.geometry.shapes import (
    SHAPES,
    Compound,
    ConvexPolyhedron,
    HalfPlane,
    HalfSpace,
    Shape,
    TriangleMesh,
)
from drystone.plain_files import open_plain
from drystone.problems import CircularCone, EllipticCone
from drystone.scene_files.json_values import fixed_numbers
from drystone.scene_files.kinds import FORCES, MOTIONS
from drystone.scene_files.models import MAX_BODIES, Entry, GearPartEntry, MotorEntry, Turn
from drystone.scene_files.repeated import copies, turned
from drystone.scene_files.text import MAX_BYTES, Place
from drystone.scene_files.validation import where
from drystone.world import World

ENDINGS = (".obj", ".stl", ".ply", ".off")
MAX_TRIANGLES = 500_000  # each becomes a geom; more would take minutes to build


class Builder:
    """Builds the world of one document. name: of the file; place: where its values stand."""

    def __init__(self, scene: Any, name: str, place: Place, folder: Path | None) -> None:
        self.scene, self.name, self.place, self.folder = scene, name, place, folder
        self.dim = 2 if scene.planar else 3
        self.shapes: dict[int, Shape] = {}

    @contextmanager
    def at(self, *path: Any) -> Iterator[None]:
        """Errors in here are about this place of the file."""
        try:
            yield
        except MissingExtraError:
            raise
        except DrystoneError as error:
            raise SceneFileError(f"{where(self.name, self.place, path)}: {error}") from None
        except (ValueError, TypeError, ArithmeticError, np.linalg.LinAlgError) as error:
            raise SceneFileError(f"{where(self.name, self.place, path)}: {error}") from None
        except (MemoryError, RecursionError):
            raise SceneFileError(f"{where(self.name, self.place, path)}: too large") from None

    def world(self) -> World:
        """All of it, in the order of the file; numbers that overflow are refused by name."""
        with np.errstate(all="ignore"):
            return self._world()

    def _world(self) -> World:
        scene = self.scene
        with self.at("gravity"):
            world = World(scene.gravity, planar=scene.planar)
        self._bodies(world)
        self._many("joints", world, self._joint)
        self._many("forces", world, self._force)
        for k, rule in enumerate(scene.pairs or ()):
            with self.at("pairs", k):
                values = fixed_numbers(rule.given())
                world.set_pair(*values.pop("between"), **values)
        for k, pair in enumerate(scene.ignore or ()):
            with self.at("ignore", k):
                world.ignore(*pair)
        if scene.uids is not None:
            world.skip_uids(*scene.uids.next)
        with self.at():
            world.build()  # what is wrong with the whole is said now
        return world

    def _bodies(self, world: World) -> None:
        uids = self.scene.uids
        if uids is not None:
            with self.at("uids"):
                self._check_uids(uids)
        for k, entry in enumerate(self.scene.bodies):
            with self.at("bodies", k):
                for values in copies(self._said(entry), self.dim):
                    if len(world) >= MAX_BODIES:
                        raise ModelError(f"more than {MAX_BODIES} bodies")
                    if uids is not None:
                        world.skip_uids(body=uids.bodies[k], geom=uids.geoms[k])
                    world.add_body(**values)

    def _check_uids(self, uids: Any) -> None:
        counts = len(self.scene.bodies), len(self.scene.bodies), len(self.scene.joints or ())
        for name, count in zip(("bodies", "geoms", "joints"), counts, strict=True):
            numbers = getattr(uids, name)
            if len(numbers) != count:
                raise ModelError(f"uids.{name}: {len(numbers)} numbers for {count} entries")

    def _said(self, entry: Any) -> dict[str, Any]:
        """Arguments of add_body, but for copies."""
        out = entry.given()
        material = out.pop("material", None)
        if material is not None:
            out = self._material(material, out) | out
        shape = out.pop("shape", None)
        if shape is not None:
            out["shape"] = self._shape(shape)
            if shape.kind == "ground":
                out.setdefault("fixed", True)
        for key in ("orientation", "inertia_frame"):
            if key in out:
                out[key] = self._orientation(out[key])
        if "motion" in out:
            motion = out["motion"]
            out["motion"] = MOTIONS[motion.kind](**self._values(motion))
        if "cone" in out:
            out["cone"] = self._cone(out["cone"])
        return {key: fixed_numbers(value) for key, value in out.items()}

    def _material(self, name: str, out: dict[str, Any]) -> dict[str, Any]:
        known = self.scene.materials or {}
        if name not in known:
            names = ", ".join(known) or "there are none"
            raise ModelError(f"material = {name!r}: expected one of {names}")
        values: dict[str, Any] = known[name].given()
        if "mass" in out:
            values.pop("density", None)
        return values

    def _cone(self, entry: Any) -> Any:
        if entry.kind == "circular":
            return CircularCone()
        values = {"ratios": entry.ratios and tuple(entry.ratios), "angle": entry.angle}
        return EllipticCone(**{k: v for k, v in values.items() if v is not None})

    def _orientation(self, value: Any) -> Any:
        return turned(value, self.dim) if isinstance(value, Turn) else value

    def _shape(self, entry: Any) -> Shape:
        if entry.kind == "ground":
            up = (0.0,) * (self.dim - 1) + (1.0,)
            normal = up if entry.normal is None else tuple(entry.normal)
            flat = HalfPlane if self.dim == 2 else HalfSpace
            return flat(normal, 0.0 if entry.height is None else entry.height)
        if entry.kind == "mesh-file":
            return mesh_shape(entry, self.folder)
        if entry.kind == "compound":
            return Compound([self._part(part) for part in entry.parts])
        values = self._values(entry)
        if "faces" in values:
            values["faces"] = np.array(values["faces"], np.int64)
        shape: Shape = SHAPES[entry.kind].shape(**values)
        return shape

    def _part(self, entry: Any) -> Any:
        shape = self._shape(entry.shape)
        position = tuple(entry.position) if entry.position else (0.0,) * shape.dim
        if entry.orientation is None:
            return shape, position
        return shape, position, fixed_numbers(self._orientation(entry.orientation))

    def _values(self, entry: Entry) -> dict[str, Any]:
        values = entry.given()
        values.pop("kind", None)
        return {key: fixed_numbers(value) for key, value in values.items()}

    def _many(self, key: str, world: World, add: Callable[..., None]) -> None:
        uids, count = self.scene.uids, 0
        for k, entry in enumerate(getattr(self.scene, key) or ()):
            with self.at(key, k):
                if uids is not None and key == "joints":
                    world.skip_uids(joint=uids.joints[k])
                values = entry.given()
                kind = values.pop("kind")
                for copy in copies(values, self.dim):
                    if count >= MAX_BODIES:
                        raise ModelError(f"more than {MAX_BODIES} {key}")
                    count += 1
                    add(world, kind, copy)

    def _joint(self, world: World, kind: str, values: dict[str, Any]) -> None:
        for side in ("a", "b"):
            if isinstance(values.get(side), GearPartEntry):
                values[side] = self._geared(world, values[side])
        if "motor" in values:
            values["motor"] = _motor(values["motor"])
        if "orientation" in values:
            values["orientation"] = self._orientation(values["orientation"])
        motor = values.pop("motor", None)
        given = {key: fixed_numbers(value) for key, value in values.items()}
        world.add_joint(JOINTS[kind].joint(**given, motor=motor))

    def _geared(self, world: World, part: GearPartEntry) -> Any:
        if part.joint is not None:
            return part.joint if part.coordinate is None else (part.joint, part.coordinate)
        return world.handle(part.body or "")

    def _force(self, world: World, kind: str, values: dict[str, Any]) -> None:
        given = {key: fixed_numbers(value) for key, value in values.items()}
        world.add_force(FORCES[kind](**given))


def _motor(value: Any) -> Any:
    if isinstance(value, MotorEntry):
        return Motor(**{key: fixed_numbers(entry) for key, entry in value.given().items()})
    return {name: _motor(entry) for name, entry in value.items()}


def mesh_shape(entry: Any, folder: Path | None) -> Shape:
    """The shape of a mesh-file entry."""
    path = inside(entry.file, folder)
    vertices, faces = read_mesh(path)
    if entry.scale is not None:
        vertices = vertices * entry.scale
    if entry.use == "surface":
        return TriangleMesh(vertices, faces, entry.thickness)
    if entry.use == "hull":
        return ConvexPolyhedron.hull(np.unique(vertices, axis=0))
    if entry.use == "convex":
        try:
            return ConvexPolyhedron(np.unique(vertices, axis=0))
        except ShapeError as error:
            why = str(error).partition(";")[0]
            raise SceneFileError(
                f"file = {entry.file!r}: {why}; 'use: hull' takes its convex hull, 'use: parts' "
                "several convex parts"
            ) from None
    return decompose(vertices, faces)


def inside(name: str, folder: Path | None) -> Path:
    """The file of that name in the scene's folder; SceneFileError if it lies elsewhere, also by
    way of a link."""
    if folder is None:
        raise SceneFileError(f"file = {name!r}: the scene has no folder to look in")
    given = Path(name)
    if "\0" in name or given.is_absolute() or ".." in given.parts or "\\" in name or ":" in name:
        raise SceneFileError(f"file = {name!r}: expected a path inside the scene's folder")
    if given.suffix.lower() not in ENDINGS:
        raise SceneFileError(f"file = {name!r}: expected a name ending in {', '.join(ENDINGS)}")
    try:
        home, path = folder.resolve(), (folder / given).resolve()
        if not path.is_relative_to(home):
            raise SceneFileError(f"file = {name!r}: leads out of the scene's folder")
        if not path.is_file():
            raise SceneFileError(f"file = {name!r}: no such file in the scene's folder")
        if path.stat().st_size > MAX_BYTES:
            raise SceneFileError(f"file = {name!r}: more than {MAX_BYTES // 2**20} MB")
    except (OSError, RuntimeError) as error:
        raise SceneFileError(f"file = {name!r}: {error}") from None
    return path


def read_mesh(path: Path) -> tuple[Any, Any]:
    """Vertices (nv, 3) and triangles (nt, 3) of a file; nothing that it points to is read."""
    try:
        import trimesh
    except ImportError:
        raise MissingExtraError(
            "meshes in scenes need trimesh: pip install drystone[mesh]"
        ) from None
    try:
        with open_plain(path) as file:
            kind = path.suffix.lower()[1:]
            options = {"skip_materials": True} if kind == "obj" else {}
            mesh: Any = trimesh.load_mesh(file, file_type=kind, process=False, **options)
        vertices, faces = np.array(mesh.vertices, float), np.array(mesh.faces, np.int64)
    except Exception as error:  # of whatever kind a reader of four formats may raise
        why = " ".join(str(error).split())[:200] or type(error).__name__
        raise SceneFileError(f"file = {path.name!r}: cannot be read: {why}") from None
    if not 0 < len(faces) <= MAX_TRIANGLES or vertices.ndim != 2:
        raise SceneFileError(
            f"file = {path.name!r}: {len(faces)} triangles: expected 1 to {MAX_TRIANGLES}"
        )
    return vertices, faces
