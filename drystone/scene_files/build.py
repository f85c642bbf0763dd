"""From a checked document to a world: every entry becomes a call that a user could have made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from drystone.constraints.joints import Motor
from drystone.constraints.joints.registry import JOINTS
from drystone.errors import DrystoneError, MissingExtraError, ModelError, SceneFileError
from drystone.geometry.shapes import SHAPES, Compound, HalfPlane, HalfSpace, Shape
from drystone.problems import CircularCone, EllipticCone
from drystone.scene_files.complaints import where
from drystone.scene_files.kinds import FORCES, MOTIONS
from drystone.scene_files.meshes import mesh_shape
from drystone.scene_files.models import MAX_BODIES, Entry, GearPart, Turn
from drystone.scene_files.models import Motor as MotorEntry
from drystone.scene_files.plain import fixed_numbers
from drystone.scene_files.repeated import copies, turned
from drystone.scene_files.text import Place
from drystone.world import World


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
                values = fixed_numbers(rule.said())
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
        out = entry.said()
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
        values: dict[str, Any] = known[name].said()
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
        values = entry.said()
        values.pop("kind", None)
        return {key: fixed_numbers(value) for key, value in values.items()}

    def _many(self, key: str, world: World, add: Callable[..., None]) -> None:
        uids, count = self.scene.uids, 0
        for k, entry in enumerate(getattr(self.scene, key) or ()):
            with self.at(key, k):
                if uids is not None and key == "joints":
                    world.skip_uids(joint=uids.joints[k])
                values = entry.said()
                kind = values.pop("kind")
                for copy in copies(values, self.dim):
                    if count >= MAX_BODIES:
                        raise ModelError(f"more than {MAX_BODIES} {key}")
                    count += 1
                    add(world, kind, copy)

    def _joint(self, world: World, kind: str, values: dict[str, Any]) -> None:
        for side in ("a", "b"):
            if isinstance(values.get(side), GearPart):
                values[side] = self._geared(world, values[side])
        if "motor" in values:
            values["motor"] = _motor(values["motor"])
        if "orientation" in values:
            values["orientation"] = self._orientation(values["orientation"])
        motor = values.pop("motor", None)
        given = {key: fixed_numbers(value) for key, value in values.items()}
        world.add_joint(JOINTS[kind].joint(**given, motor=motor))

    def _geared(self, world: World, part: GearPart) -> Any:
        if part.joint is not None:
            return part.joint if part.coordinate is None else (part.joint, part.coordinate)
        return world.handle(part.body or "")

    def _force(self, world: World, kind: str, values: dict[str, Any]) -> None:
        given = {key: fixed_numbers(value) for key, value in values.items()}
        world.add_force(FORCES[kind](**given))


def _motor(value: Any) -> Any:
    if isinstance(value, MotorEntry):
        return Motor(**{key: fixed_numbers(entry) for key, entry in value.said().items()})
    return {name: _motor(entry) for name, entry in value.items()}
