"""Joints between bodies: what holds them, what is left free, and what acts on what is left."""

from drystone.constraints.joints.actions import Motor
from drystone.constraints.joints.base import Joint
from drystone.constraints.joints.coupled import Gear, Screw
from drystone.constraints.joints.fixed import Fixed, Weld
from drystone.constraints.joints.points import Ball, Distance, PointOnLine, PointOnPlane
from drystone.constraints.joints.sliding import Cylindrical, PlanarJoint, Slider, Slot, Wheel
from drystone.constraints.joints.turning import Hinge, Pin, Universal

KINDS: tuple[type[Joint], ...] = (
    Ball,
    Hinge,
    Slider,
    Cylindrical,
    Universal,
    Fixed,
    Distance,
    PointOnLine,
    PointOnPlane,
    PlanarJoint,
    Screw,
    Gear,
    Pin,
    Slot,
    Wheel,
)

__all__ = [
    "KINDS", "Ball", "Cylindrical", "Distance", "Fixed", "Gear", "Hinge", "Joint", "Motor", "Pin",
    "PlanarJoint", "PointOnLine", "PointOnPlane", "Screw", "Slider", "Slot", "Universal", "Weld",
    "Wheel",
]  # fmt: skip
