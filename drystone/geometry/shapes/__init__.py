"""Shapes of bodies, planar and spatial."""

from drystone.geometry.shapes.base import Piece, PlanarShape, Shape, SpatialShape
from drystone.geometry.shapes.bowl import Bowl
from drystone.geometry.shapes.compound import Compound
from drystone.geometry.shapes.parametric import ParametricSurface
from drystone.geometry.shapes.planar import Capsule2D, Disk, Ellipse, HalfPlane
from drystone.geometry.shapes.polygon import Polygon, Rectangle, RegularPolygon
from drystone.geometry.shapes.polyhedron import Box, ConvexPolyhedron
from drystone.geometry.shapes.spatial import (
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    Sphere,
    Superquadric,
)
from drystone.geometry.shapes.surface import ImplicitSurface
from drystone.geometry.shapes.triangle_mesh import TriangleMesh

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
    "ImplicitSurface",
    "ParametricSurface",
    "Piece",
    "PlanarShape",
    "Polygon",
    "Rectangle",
    "RegularPolygon",
    "Shape",
    "SpatialShape",
    "Sphere",
    "Superquadric",
    "TriangleMesh",
]
