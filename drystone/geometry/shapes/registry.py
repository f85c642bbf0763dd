"""Shapes by their names in scene files, and the kinds of geoms that they are made of.

``SHAPES`` are those that scene files can hold, by what files call them: ours, and those of users,
who add theirs with ``ds.register_shape`` or with an entry point of the group ``drystone.shapes``.
``KINDS`` are the kinds of geoms, by code.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, cast

import numpy as np

from drystone.errors import OptionError
from drystone.geometry import shapes as table
from drystone.geometry.kinds import Kind
from drystone.geometry.shapes.base import Shape
from drystone.geometry.shapes.support import SupportShape
from drystone.geometry.shapes.surface import ImplicitShape
from drystone.registry import Registry, check_name, check_registered
from drystone.types import Ints
from drystone.values import text


@dataclass(frozen=True)
class ShapeEntry:
    """A shape by what scene files call it."""

    shape: type[Shape]

    @property
    def name(self) -> str:
        return self.shape.kind

    @property
    def about(self) -> str:
        """The first sentences of its description."""
        return " ".join((inspect.getdoc(self.shape) or "").split("\n\n")[0].split())


def _entry(shape: Any) -> ShapeEntry:
    """The entry of a user's class."""
    if not (isinstance(shape, type) and issubclass(shape, Shape)):
        raise OptionError(
            f"register_shape: {text(shape)}: expected a class derived from ds.SupportShape or "
            "ds.ImplicitShape"
        )
    owner = f"register_shape: {shape.__name__}"
    if inspect.isabstract(shape):
        lacking = ", ".join(sorted(shape.__abstractmethods__))
        raise OptionError(f"{owner} lacks {lacking}")
    formula: dict[Any, str] = {SupportShape: "support_function", ImplicitShape: "F"}
    base = next((one for one in formula if issubclass(shape, one)), Shape)
    check_registered(owner, shape, base, *filter(None, ("mass_properties", formula.get(base))))
    if "kind" in (field.name for field in fields(cast(Any, shape))):
        raise OptionError(f"{owner}.kind: another name: scene files have it already")
    check_name(f"{owner}.kind", shape.kind, "double-cone")
    return ShapeEntry(shape)


def register_shape(shape: type[Shape]) -> type[Shape]:
    """Add a shape of your own, a frozen dataclass derived from ``ds.SupportShape`` or
    ``ds.ImplicitShape``, under its `kind`: scene files and recordings then know it by that name.
    May stand as a decorator."""
    SHAPES.register(shape)
    return shape


OURS: tuple[type[Shape], ...] = tuple(
    found
    for found in (getattr(table, name) for name in table.__all__ if name != register_shape.__name__)
    if not inspect.isabstract(found)
)
SHAPES: Registry[ShapeEntry] = Registry(
    "shape", "drystone.shapes", (ShapeEntry(shape) for shape in OURS if shape.kind), _entry
)


KINDS: dict[int, Kind] = {s.geom.code: s.geom for s in OURS if s.geom is not None}


def codes(of: Callable[[Kind], bool]) -> Ints:
    """Codes of the kinds that answer yes."""
    return np.array([code for code, kind in KINDS.items() if of(kind)], np.int64)


UNBOUNDED = codes(lambda kind: not kind.bounded)
BALLS = codes(lambda kind: kind.ball)
HOLLOW = codes(lambda kind: kind.hollow)
