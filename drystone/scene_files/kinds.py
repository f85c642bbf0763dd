"""What scene files call forces, motions and methods. Shapes and joints have their own tables
(``geometry.shapes.SHAPES``, ``constraints.joints.registry.JOINTS``)."""

from __future__ import annotations

from typing import Any

from drystone.dynamics.forces import ConstantForce, Damper
from drystone.dynamics.keyframes import Rocking, Waypoints
from drystone.dynamics.motions import ConstantVelocity, Oscillation
from drystone.dynamics.springs import Spring, TorsionSpring
from drystone.problems import CircularCone, EllipticCone, PolyhedralCone, SoftFingerCone
from drystone.steppers.event_driven.options import EventDriven
from drystone.steppers.penalty.options import Penalty
from drystone.steppers.time_stepping.options import TimeStepping

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
METHODS: dict[str, Any] = {
    "time-stepping": TimeStepping,
    "event-driven": EventDriven,
    "penalty": Penalty,
}


def kind_of(value: Any, kinds: dict[str, Any]) -> str | None:
    """The name of an object's own class, None if it has none here."""
    return next((kind for kind, cls in kinds.items() if type(value) is cls), None)
