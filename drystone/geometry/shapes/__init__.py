"""Shapes of bodies, planar and spatial: one file for each, with all that others ask about it.

``SHAPES`` are those that scene files can hold, by what files call them: ours, and those of users,
who add theirs with ``ds.register_shape`` or with an entry point of the group ``drystone.shapes``.
``KINDS`` are the kinds of geoms that shapes are made of, by code.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, cast

import numpy as np

from drystone.errors import OptionError
from drystone.geometry.kinds import Kind
from drystone.geometry.shapes.base import Piece as Piece
from drystone.geometry.shapes.base import PlanarShape as PlanarShape
from drystone.geometry.shapes.base import Shape as Shape
from drystone.geometry.shapes.base import SpatialShape as SpatialShape
from drystone.geometry.shapes.bowl import Bowl as Bowl
from drystone.geometry.shapes.capsule import Capsule as Capsule
from drystone.geometry.shapes.capsule_2d import Capsule2D as Capsule2D
from drystone.geometry.shapes.compound import Compound as Compound
from drystone.geometry.shapes.cone import Cone as Cone
from drystone.geometry.shapes.cylinder import Cylinder as Cylinder
from drystone.geometry.shapes.disk import Disk as Disk
from drystone.geometry.shapes.ellipse import Ellipse as Ellipse
from drystone.geometry.shapes.ellipsoid import Ellipsoid as Ellipsoid
from drystone.geometry.shapes.half_plane import HalfPlane as HalfPlane
from drystone.geometry.shapes.half_space import HalfSpace as HalfSpace
from drystone.geometry.shapes.parametric import ParametricSurface as ParametricSurface
from drystone.geometry.shapes.polygon import Polygon as Polygon
from drystone.geometry.shapes.polygon import Rectangle as Rectangle
from drystone.geometry.shapes.polygon import RegularPolygon as RegularPolygon
from drystone.geometry.shapes.polyhedron import Box as Box
from drystone.geometry.shapes.polyhedron import ConvexPolyhedron as ConvexPolyhedron
from drystone.geometry.shapes.sphere import Sphere as Sphere
from drystone.geometry.shapes.superquadric import Superquadric as Superquadric
from drystone.geometry.shapes.support import SupportShape as SupportShape
from drystone.geometry.shapes.surface import ImplicitShape as ImplicitShape
from drystone.geometry.shapes.surface import ImplicitSurface as ImplicitSurface
from drystone.geometry.shapes.triangle_mesh import TriangleMesh as TriangleMesh
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


OURS = tuple(
    found
    for found in list(globals().values())
    if isinstance(found, type) and issubclass(found, Shape) and not inspect.isabstract(found)
)
SHAPES: Registry[ShapeEntry] = Registry(
    "shape", "drystone.shapes", (ShapeEntry(shape) for shape in OURS if shape.kind), _entry
)


def register_shape(shape: type[Shape]) -> type[Shape]:
    """Add a shape of your own, a frozen dataclass derived from ``ds.SupportShape`` or
    ``ds.ImplicitShape``, under its `kind`: scene files and recordings then know it by that name.
    May stand as a decorator."""
    SHAPES.register(shape)
    return shape


KINDS: dict[int, Kind] = {s.geom.code: s.geom for s in OURS if s.geom is not None}


def codes(of: Callable[[Kind], bool]) -> Ints:
    """Codes of the kinds that answer yes."""
    return np.array([code for code, kind in KINDS.items() if of(kind)], np.int64)


UNBOUNDED = codes(lambda kind: not kind.bounded)
BALLS = codes(lambda kind: kind.ball)
HOLLOW = codes(lambda kind: kind.hollow)
