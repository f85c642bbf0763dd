"""What scene files call forces, motions and cones. Shapes, joints, solvers and methods have tables
of their own, which users can add to (``registry.Registry``)."""

from __future__ import annotations

from typing import Any

from drystone.dynamics.forces import ConstantForce, Damper
from drystone.dynamics.motions import ConstantVelocity, Oscillation, Rocking, Waypoints
from drystone.dynamics.springs import Spring, TorsionSpring
from drystone.problems import CircularCone, EllipticCone, PolyhedralCone, SoftFingerCone

SCENE_VERSION = 1  # of the format; files of later ones are refused

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


def kind_of(value: Any, kinds: dict[str, Any]) -> str | None:
    """The name of an object's own class, None if it has none here."""
    return next((kind for kind, cls in kinds.items() if type(value) is cls), None)
