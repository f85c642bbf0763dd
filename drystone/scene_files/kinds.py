"""What scene files call shapes, forces, motions and methods."""

from __future__ import annotations

from typing import Any

from drystone.dynamics.forces import ConstantForce, Damper
from drystone.dynamics.keyframes import Rocking, Waypoints
from drystone.dynamics.motions import ConstantVelocity, Oscillation
from drystone.dynamics.springs import Spring, TorsionSpring
from drystone.geometry import shapes
from drystone.problems import CircularCone, EllipticCone, PolyhedralCone, SoftFingerCone
from drystone.steppers.event_driven.options import EventDriven
from drystone.steppers.penalty.options import Penalty
from drystone.steppers.time_stepping.options import TimeStepping

VERSION = 1  # of the format; files of later ones are refused

SHAPES: dict[str, Any] = {
    "sphere": shapes.Sphere,
    "box": shapes.Box,
    "capsule": shapes.Capsule,
    "cylinder": shapes.Cylinder,
    "cone": shapes.Cone,
    "ellipsoid": shapes.Ellipsoid,
    "superquadric": shapes.Superquadric,
    "convex-polyhedron": shapes.ConvexPolyhedron,
    "triangle-mesh": shapes.TriangleMesh,
    "bowl": shapes.Bowl,
    "half-space": shapes.HalfSpace,
    "disk": shapes.Disk,
    "rectangle": shapes.Rectangle,
    "polygon": shapes.Polygon,
    "regular-polygon": shapes.RegularPolygon,
    "ellipse": shapes.Ellipse,
    "capsule-2d": shapes.Capsule2D,
    "half-plane": shapes.HalfPlane,
}
FORCES: dict[str, Any] = {
    "constant-force": ConstantForce,
    "damper": Damper,
    "spring": Spring,
    "torsion-spring": TorsionSpring,
}
MOTIONS: dict[str, Any] = {
    "constant-velocity": ConstantVelocity,
    "oscillation": Oscillation,
    "rocking": Rocking,
    "waypoints": Waypoints,
}
CONES: dict[str, Any] = {
    "circular": CircularCone,
    "elliptic": EllipticCone,
    "polyhedral": PolyhedralCone,
    "soft-finger": SoftFingerCone,
}
METHODS: dict[str, Any] = {
    "time-stepping": TimeStepping,
    "event-driven": EventDriven,
    "penalty": Penalty,
}


def kind_of(value: Any, kinds: dict[str, Any]) -> str | None:
    """The name of an object's own class, None if it has none here."""
    return next((kind for kind, cls in kinds.items() if type(value) is cls), None)
