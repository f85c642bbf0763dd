"""Contact kinematics of the force level: gaps with two time derivatives, slip, rolling."""

from drystone.constraints.kinematics.contact import (
    ContactKinematics,
    Feature,
    Flag,
    contact_kinematics,
    contact_system,
    frames_and_velocities,
    jacobians,
    pieces_changed,
    rolling,
)

__all__ = [
    "ContactKinematics",
    "Feature",
    "Flag",
    "contact_kinematics",
    "contact_system",
    "frames_and_velocities",
    "jacobians",
    "pieces_changed",
    "rolling",
]
