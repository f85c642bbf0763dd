"""Shapes of bodies, planar and spatial: one file for each, with all that others ask about it.

This is the table of ours. Classes load when they are asked for: the file of one is its name in
small letters. ``registry`` knows them by their names in scene files, together with those of users,
and the kinds of geoms that they are made of by code.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from drystone.lazy import lazily

if TYPE_CHECKING:
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
    from drystone.geometry.shapes.registry import BALLS as BALLS
    from drystone.geometry.shapes.registry import HOLLOW as HOLLOW
    from drystone.geometry.shapes.registry import KINDS as KINDS
    from drystone.geometry.shapes.registry import SHAPES as SHAPES
    from drystone.geometry.shapes.registry import UNBOUNDED as UNBOUNDED
    from drystone.geometry.shapes.registry import codes as codes
    from drystone.geometry.shapes.registry import register_shape as register_shape
    from drystone.geometry.shapes.sphere import Sphere as Sphere
    from drystone.geometry.shapes.superquadric import Superquadric as Superquadric
    from drystone.geometry.shapes.support import SupportShape as SupportShape
    from drystone.geometry.shapes.surface import ImplicitShape as ImplicitShape
    from drystone.geometry.shapes.surface import ImplicitSurface as ImplicitSurface
    from drystone.geometry.shapes.triangle_mesh import TriangleMesh as TriangleMesh

__all__ = [
    "Bowl",
    "Box",
    "Capsule",
    "Capsule2D",
    "Compound",
    "Cone",
    "ConvexPolyhedron",
    "Cylinder",
    "Disk",
    "Ellipse",
    "Ellipsoid",
    "HalfPlane",
    "HalfSpace",
    "ImplicitShape",
    "ImplicitSurface",
    "ParametricSurface",
    "Polygon",
    "Rectangle",
    "RegularPolygon",
    "Sphere",
    "Superquadric",
    "SupportShape",
    "TriangleMesh",
    "register_shape",
]  # fmt: skip

ELSEWHERE = {  # names that do not stand in the file of their name
    "Piece": "base",
    "PlanarShape": "base",
    "Shape": "base",
    "SpatialShape": "base",
    "Capsule2D": "capsule_2d",
    "ParametricSurface": "parametric",
    "Rectangle": "polygon",
    "RegularPolygon": "polygon",
    "Box": "polyhedron",
    "ConvexPolyhedron": "polyhedron",
    "SupportShape": "support",
    "ImplicitShape": "surface",
    "ImplicitSurface": "surface",
    **dict.fromkeys(
        ("SHAPES", "KINDS", "UNBOUNDED", "BALLS", "HOLLOW", "codes", "register_shape"), "registry"
    ),
}


def home(name: str) -> str:
    """The module of a name: "half_plane"."""
    return ELSEWHERE.get(name) or re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


if not TYPE_CHECKING:  # a type checker must see that a name does not exist
    __getattr__ = lazily(__name__, {name: home(name) for name in (*__all__, *ELSEWHERE)})
