"""What a scene file may hold, as pydantic models: one schema for YAML, JSON and editors.

Entries for shapes, joints, forces, motions and options are made from the classes they build, so
that no field can be forgotten; `TYPES` says what each field may be.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from difflib import get_close_matches
from functools import cache, reduce
from operator import or_
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin, get_type_hints

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator
from pydantic_core import PydanticCustomError

from drystone.constraints.joints.registry import JOINTS
from drystone.geometry.shapes import SHAPES
from drystone.geometry.shapes.base import parameters
from drystone.scene_files.kinds import CONES, FORCES, MOTIONS
from drystone.solvers.base import Solver
from drystone.solvers.registry import SOLVERS, by_name
from drystone.steppers.registry import METHODS
from drystone.types import VectorLike
from drystone.values import NAME_CHARACTERS

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
                    near = get_close_matches(str(key), cls.model_fields, n=1)
                    hint = f"did you mean {near[0]!r}?" if near else ""
                    hint = hint or f"expected one of {', '.join(cls.model_fields)}"
                    raise PydanticCustomError(
                        "unknown_key", "unknown key; {hint}", {"key": key, "hint": hint}
                    )
        return data

    def said(self) -> dict[str, Any]:
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


class Motor(Entry):
    """Drives a joint's coordinate: to a speed or to a position, with at most max_force."""

    speed: Number | None = None
    position: Number | None = None
    max_force: Strength | None = None
    gain: Positive | None = None


class GearPart(Entry):
    """A body, or a coordinate of a joint."""

    body: Text | None = None
    joint: Text | None = None
    coordinate: Text | None = None

    @model_validator(mode="after")
    def _one(self) -> GearPart:
        if (self.body is None) == (self.joint is None):
            raise PydanticCustomError("gear", "expected body or joint")
        return self


def _by_coordinate(value: Any) -> Any:
    return value | dict[Text, value]


TYPES: dict[str, Any] = {  # by field; others follow from the class
    "points": Points, "vertices": Points,
    "faces": list[Annotated[list[Whole], Field(min_length=3, max_length=3)]],
    "thickness": Positive, "normal": Vector, "n": Whole,
    "anchor": Vector, "anchor_a": Vector, "anchor_b": Vector, "axis": Vector, "axis_a": Vector,
    "axis_b": Vector,
    "a": Text, "b": Text, "body": Text, "name": Text, "limits": _by_coordinate(Bounds),
    "motor": _by_coordinate(Motor), "friction": _by_coordinate(Strength),
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


def joint_entry(row: Any) -> Any:
    """Any joint; row: the model of ranges, for several at once."""
    ends = {"a": GearPart | Text, "b": GearPart | Text}
    models = [
        entry(kind, each.joint, own=ends if each.joint.couples else None)
        for kind, each in JOINTS.items()
    ]
    return union([made(m.__name__, m.__doc__, {"range": (row | None, None)}, m) for m in models])


def force_entry(row: Any) -> Any:
    """Any force; row: the model of ranges, for several at once."""
    models = [entry(kind, cls) for kind, cls in FORCES.items()]
    return union([made(m.__name__, m.__doc__, {"range": (row | None, None)}, m) for m in models])


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
