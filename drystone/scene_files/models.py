"""What a scene file may hold, as pydantic models: one schema for YAML, JSON and editors.

Entries for shapes, joints, forces, motions and options are made from the classes they build, so
that no field can be forgotten; `TYPES` says what each field may be.
"""

from __future__ import annotations

import inspect
import math
import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache, reduce
from operator import or_
from typing import (
    Annotated,
    Any,
    ForwardRef,
    Literal,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator
from pydantic_core import PydanticCustomError

from drystone.constraints.joints.registry import JOINTS
from drystone.geometry.shapes import SHAPES
from drystone.geometry.shapes.base import parameters
from drystone.scene_files.kinds import CONES, FORCES, MOTIONS, SCENE_VERSION
from drystone.solvers.base import Solver
from drystone.solvers.registry import SOLVERS, by_name
from drystone.steppers.registry import METHODS
from drystone.types import VectorLike
from drystone.values import NAME_CHARACTERS, meant

MAX_BODIES = 200_000  # with copies: a short file must not fill the memory
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Positive = Annotated[float, Field(strict=True, allow_inf_nan=False, gt=0)]
NotNegative = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0)]
Whole = Annotated[int, Field(strict=True)]
Count = Annotated[int, Field(strict=True, ge=1, le=MAX_BODIES)]
Switch = Annotated[bool, Field(strict=True)]
Text = Annotated[str, Field(strict=True, min_length=1, max_length=NAME_CHARACTERS)]
Vector = Annotated[list[Number], Field(min_length=2, max_length=3)]
Pair = Annotated[list[Number], Field(min_length=2, max_length=2)]
Bound = Number | Literal["inf", "-inf"] | None
Bounds = Annotated[list[Bound], Field(min_length=2, max_length=2)]
Strength = NotNegative | Literal["inf"]
Numbers = list[Number]
Points = list[Vector]


class Entry(BaseModel):
    """Base of all entries: unknown keys are refused, with the one probably meant."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, data: Any) -> Any:
        if isinstance(data, dict) and cls.model_config.get("extra") != "allow":
            for key in data:
                if key not in cls.model_fields:
                    known = f"expected one of {', '.join(cls.model_fields)}"
                    hint = meant(key, cls.model_fields, known)
                    raise PydanticCustomError(
                        "unknown_key", "unknown key; {hint}", {"key": key, "hint": hint}
                    )
        return data

    def given(self) -> dict[str, Any]:
        """What the file says, without what it leaves to the default."""
        values = {name: getattr(self, name) for name in type(self).model_fields}
        return {name: value for name, value in values.items() if value is not None}


class Turn(Entry):
    """A turn by `angle` [rad] or `degrees`, in space about `axis`."""

    angle: Number | None = None
    degrees: Number | None = None
    axis: Vector | None = None

    @model_validator(mode="after")
    def _one(self) -> Turn:
        if (self.angle is None) == (self.degrees is None):
            raise PydanticCustomError("turn", "expected angle or degrees")
        return self


Quaternion = Annotated[list[Number], Field(min_length=4, max_length=4)]
Orientation = Number | Quaternion | Turn


class MotorEntry(Entry):
    """Drives a joint's coordinate: to a speed or to a position, with at most max_force."""

    speed: Number | None = None
    position: Number | None = None
    max_force: Strength | None = None
    gain: Positive | None = None


class GearPartEntry(Entry):
    """A body, or a coordinate of a joint."""

    body: Text | None = None
    joint: Text | None = None
    coordinate: Text | None = None

    @model_validator(mode="after")
    def _one(self) -> GearPartEntry:
        if (self.body is None) == (self.joint is None):
            raise PydanticCustomError("gear", "expected body or joint")
        return self


class GridEntry(Entry):
    """Copies along the axes of the world: count of each axis, step [m] from one to the next."""

    count: list[Count] = Field(min_length=1, max_length=3)
    step: Vector

    @model_validator(mode="after")
    def _not_too_many(self) -> GridEntry:
        if math.prod(self.count) > MAX_BODIES:
            raise PydanticCustomError("grid", f"more than {MAX_BODIES} copies")
        if len(self.count) > len(self.step):
            raise PydanticCustomError("grid", "expected a step for each count")
        return self


class Around(Turn):
    """The turn from one copy to the next, about a point (the origin)."""

    about: Vector | None = None


class Range(Entry):
    """Copies in a row: how many, the number of the first, and how each differs from the last."""

    count: Count
    first: Whole = 0
    add: dict[Text, Number | Vector] | None = None
    times: dict[Text, Number] | None = None
    turn: Around | None = None


def _by_coordinate(value: Any) -> Any:
    return value | dict[Text, value]


TYPES: dict[str, Any] = {  # by field; others follow from the class
    "points": Points, "vertices": Points,
    "faces": list[Annotated[list[Whole], Field(min_length=3, max_length=3)]],
    "thickness": Positive, "normal": Vector, "n": Whole,
    "anchor": Vector, "anchor_a": Vector, "anchor_b": Vector, "axis": Vector, "axis_a": Vector,
    "axis_b": Vector,
    "a": Text, "b": Text, "body": Text, "name": Text, "limits": _by_coordinate(Bounds),
    "motor": _by_coordinate(MotorEntry), "friction": _by_coordinate(Strength),
    "spring": _by_coordinate(Annotated[list[Number], Field(min_length=2, max_length=3)]),
    "breaks_at": Positive | Annotated[list[Strength | None], Field(min_length=2, max_length=2)],
    "length": Positive, "orientation": Orientation,
    "force": Vector, "torque": Number | Vector, "point": Vector,
    "velocity": Vector, "angular_velocity": Number | Vector, "direction": Vector,
    "times": Numbers, "positions": Points, "orientations": list[Number] | list[Quaternion],
    "ratios": Pair, "covering": Numbers,
}  # fmt: skip


def made(name: str, about: str, values: dict[str, Any], base: Any = Entry) -> Any:
    """A model with these fields: (type, default), or ... in place of a default."""
    return create_model(name, __base__=base, __doc__=about, **values)


def one_of(*choices: Any) -> Any:
    """The type of a few texts or numbers."""
    literal: Any = Literal
    return literal[choices]


def listed(kind: Any, **limits: int) -> Any:
    """The type of lists of a kind."""
    plain_list, field = cast(Any, list), cast(Any, Field)
    return Annotated[plain_list[kind], field(**limits)]


def entry(kind: str, cls: Any, tag: str = "kind", own: Mapping[str, Any] | None = None) -> Any:
    """The model of entries that build `cls`; own: types of fields that say more than TYPES."""
    hints = get_type_hints(cls, include_extras=True)
    values: dict[str, Any] = {tag: (one_of(kind), ...)} if tag else {}
    for field in fields(cls):
        if not field.init or field.name == tag:
            continue
        kind_of_value = (
            (own or {}).get(field.name) or TYPES.get(field.name) or strict(hints[field.name])
        )
        needed = field.default is MISSING and field.default_factory is MISSING
        values[field.name] = (kind_of_value, ...) if needed else (kind_of_value | None, None)
    name = "".join(part[:1].upper() + part[1:] for part in kind.split("-")) + "Entry"
    about = " ".join((inspect.getdoc(cls) or "").split("\n\n")[0].split())
    return made(name, about, values)


def strict(hint: Any) -> Any:
    """The type of an option, taken literally: no texts for numbers, no numbers for switches."""
    simple = {float: Number, int: Whole, bool: Switch, str: Text}
    if hint in simple:
        return simple[hint]
    if hint is Solver:
        return solver_entry()
    if get_origin(hint) is Literal or hint is type(None):
        return hint
    if get_origin(hint) in (Union, types.UnionType):
        parts = list(get_args(hint))
        cones = [part for part in parts if part in CONES.values()]
        names = {str} if Solver in parts else set()  # those of solvers are listed
        found = [strict(part) for part in parts if part not in cones and part not in names]
        return reduce(or_, [*found, cone_entry()] if cones else found)
    if get_origin(hint) is tuple and Solver in get_args(get_args(hint)[0]):  # and how to use it
        (options,) = get_args(get_args(hint)[1])[1:]
        with_options = entry("used-solver", options, "")
        return made("UsedSolverEntry", "", {"method": (solver_entry(), ...)}, with_options)
    if get_origin(hint) is tuple and get_args(hint)[1:] == (...,):
        return listed(strict(get_args(hint)[0]))
    if is_dataclass(hint):
        options = cast(Any, hint)
        return entry(options.__name__, options, "")
    if get_origin(hint) in (np.floating, np.integer):
        return Number
    if hint in get_args(VectorLike):
        return Numbers
    return Any


def cone_entry() -> Any:
    """A cone: its kind and numbers."""
    return union([entry(kind, cls) for kind, cls in CONES.items()])


def union(models: list[Any], tag: str = "kind") -> Any:
    """One of several entries, distinguished by their kind."""
    return Annotated[reduce(or_, models), Field(discriminator=tag)]


def solver_entry() -> Any:
    """A solver's name, or its name and options."""
    return _solvers(tuple(SOLVERS))


@cache
def _solvers(known: tuple[str, ...]) -> Any:
    names = one_of(*known)
    models = [entry(name, type(by_name(name)), "name") for name in known if name != "ramp"]
    inner = {"inner": names | union(models, "name"), "velocity": list[Vector]}
    return names | union([*models, entry("ramp", type(by_name("ramp")), "name", inner)], "name")


def method_entry() -> Any:
    """A method: its name and options."""
    return union(
        [entry(name, cls, "name", {"dt": Positive}) for name, cls in METHODS.items()], "name"
    )


def joint_entry() -> Any:
    """Any joint, or several at once."""
    ends = {"a": GearPartEntry | Text, "b": GearPartEntry | Text}
    models = [
        entry(kind, each.joint, own=ends if each.joint.couples else None)
        for kind, each in JOINTS.items()
    ]
    return repeated(models)


def force_entry() -> Any:
    """Any force, or several at once."""
    return repeated([entry(kind, cls) for kind, cls in FORCES.items()])


def repeated(models: list[Any]) -> Any:
    """One of several entries, which may stand for a range of them."""
    row = {"range": (Range | None, None)}
    return union([made(m.__name__, m.__doc__, row, m) for m in models])


def motion_entry() -> Any:
    """Any prescribed motion that needs no function."""
    return union([entry(kind, cls) for kind, cls in MOTIONS.items()])


def shape_entries() -> list[Any]:
    """Shapes that are made of numbers."""
    out = []
    for kind, known in SHAPES.items():
        numbers = parameters(known.shape).items()
        own = {name: Number if about.get("signed") else Positive for name, about in numbers}
        out.append(entry(kind, known.shape, own=own))
    return out


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


class FrictionConeEntry(Entry):
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


class ViewEntry(Entry):
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
        "view": ViewEntry,
        "materials": dict[Text, Material],
        "joints": listed(joint_entry()),
        "forces": listed(force_entry()),
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
        "cone": FrictionConeEntry,
        "cone_axis": Vector,
        "layer": Layer,
        "fixed": Switch,
        "motion": motion_entry(),
        "grid": GridEntry,
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
