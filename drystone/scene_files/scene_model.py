"""The model of a whole scene file."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, ForwardRef, Literal

from pydantic import ConfigDict, Field

from drystone.constraints.joints.registry import JOINTS
from drystone.geometry.shapes import SHAPES
from drystone.scene_files.kinds import SCENE_VERSION
from drystone.scene_files.models import (
    MAX_BODIES,
    Entry,
    NotNegative,
    Number,
    Orientation,
    Pair,
    Positive,
    Switch,
    Text,
    Vector,
    Whole,
    force_entry,
    joint_entry,
    listed,
    made,
    method_entry,
    motion_entry,
    one_of,
    shape_entries,
    union,
)
from drystone.scene_files.repeated import Grid, Range
from drystone.solvers.registry import SOLVERS
from drystone.steppers.registry import METHODS

Long = Annotated[str, Field(strict=True, max_length=100_000)]
Layer = Whole | list[Whole]
Friction = NotNegative | Pair
Uids = list[Annotated[int, Field(strict=True, ge=0, lt=2**53)]]


class GroundEntry(Entry):
    """All that lies up to `height` [m] along `normal`, which points up by default. Fixed."""

    kind: Literal["ground"]
    height: Number | None = None
    normal: Vector | None = None


class MeshFileEntry(Entry):
    """A mesh (.obj, .stl, .ply, .off) in the scene's folder, `scale` times its size.

    use: "surface" for ground that does not move, "hull" for the convex hull of its points,
    "convex" for a mesh that is convex already, "parts" to cut it into convex parts.
    """

    kind: Literal["mesh-file"]
    file: Text
    use: Literal["surface", "hull", "convex", "parts"] = "surface"
    scale: Positive | None = None
    thickness: Positive | None = None


class Cone(Entry):
    """Friction that differs along and across the body's cone_axis."""

    kind: Literal["circular", "elliptic"] = "elliptic"
    ratios: Pair | None = None
    angle: Number | None = None


class Material(Entry):
    """What bodies share that name it; what a body says itself goes before."""

    density: Positive | None = None
    friction: Friction | None = None
    restitution: NotNegative | Pair | None = None


class PairRule(Entry):
    """Friction and restitution between two bodies."""

    between: list[Text] = Field(min_length=2, max_length=2)
    friction: Friction | None = None
    restitution: NotNegative | Pair | None = None


class View(Entry):
    """How to look at it: limits ((x0, x1), (y0, y1)) of a planar world, camera and target points
    [m] of a spatial one; viewers may know more."""

    model_config = ConfigDict(extra="allow", frozen=True)
    limits: list[Pair] | None = Field(None, min_length=2, max_length=2)
    camera: Vector | None = None
    target: Vector | None = None


class UidsEntry(Entry):
    """Numbers of bodies, geoms and joints of a world that others were removed from."""

    bodies: Uids
    geoms: Uids
    joints: Uids
    next: Uids = Field(min_length=3, max_length=3)


def scene_model() -> Any:
    """The model; made when first asked for, and anew when users have added to what it may hold."""
    return _scene_model(*(tuple(table) for table in (JOINTS, SOLVERS, SHAPES, METHODS)))


@cache
def _scene_model(*known: tuple[str, ...]) -> Any:
    needed = {"bodies": (listed(_body(), max_length=MAX_BODIES), ...)}
    first = {
        "drystone": (Annotated[int, Field(strict=True, ge=1, le=SCENE_VERSION)], SCENE_VERSION),
        "planar": (Switch, False),
    }
    optional = {
        "title": Text,
        "about": Long,
        "source": Text,
        "duration": Positive,
        "gravity": Vector,
        "method": method_entry(),
        "view": View,
        "materials": dict[Text, Material],
        "joints": listed(joint_entry(Range)),
        "forces": listed(force_entry(Range)),
        "pairs": listed(PairRule),
        "ignore": listed(listed(Text, min_length=2, max_length=2)),
        "uids": UidsEntry,
    }
    values = first | {name: (kind | None, None) for name, kind in optional.items()} | needed
    about = "A scene of Drystone: SI units, z up, y up in the plane, quaternions (w, x, y, z)."
    return made("Scene", about, values)


def _body() -> Any:
    values = {
        "name": Text,
        "shape": _shape(),
        "material": Text,
        "density": Positive,
        "mass": Positive,
        "inertia": Number | Vector | list[Vector],
        "inertia_frame": Orientation,
        "centre_of_mass": Vector,
        "position": Vector,
        "orientation": Orientation,
        "velocity": Vector,
        "angular_velocity": Number | Vector,
        "friction": Friction,
        "restitution": NotNegative | Pair,
        "cone": Cone,
        "cone_axis": Vector,
        "layer": Layer,
        "fixed": Switch,
        "motion": motion_entry(),
        "grid": Grid,
        "range": Range,
    }
    about = "A body: dynamic, fixed, or with a motion; as the arguments of World.add_body."
    return made("BodyEntry", about, {name: (kind | None, None) for name, kind in values.items()})


def _shape() -> Any:
    """Any shape; a compound holds others."""
    inner: Any = ForwardRef("AnyShape")
    place = {"position": (Vector | None, None), "orientation": (Orientation | None, None)}
    about = "A shape, and where it stands in the compound."
    part = made("PartEntry", about, {"shape": (inner, ...)} | place)
    parts = {"kind": (one_of("compound"), ...), "parts": (listed(part, min_length=1), ...)}
    compound = made("CompoundEntry", "Several shapes made one.", parts)
    shape = union([*shape_entries(), GroundEntry, MeshFileEntry, compound])
    part.model_rebuild(_types_namespace={"AnyShape": shape})
    compound.model_rebuild(force=True, _types_namespace={"AnyShape": shape})
    return shape


def schema() -> dict[str, Any]:
    """JSON Schema of scene files, for editors."""
    out: dict[str, Any] = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return out | scene_model().model_json_schema()
