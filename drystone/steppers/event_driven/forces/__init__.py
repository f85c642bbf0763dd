"""Contact forces at the level of accelerations: one instant in, forces out."""

from drystone.steppers.event_driven.forces.choices import Alternative, solutions
from drystone.steppers.event_driven.forces.compute import ContactForces, ForceOptions
from drystone.steppers.event_driven.forces.results import Forces, Statistics
from drystone.steppers.event_driven.forces.state import ContactState, Kind, Tolerances

__all__ = [
    "Alternative",
    "ContactForces",
    "ContactState",
    "ForceOptions",
    "Forces",
    "Kind",
    "Statistics",
    "Tolerances",
    "solutions",
]
