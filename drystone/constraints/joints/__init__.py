"""Joints between bodies: a class for each kind, which says everything about it.

This is the table of ours. Classes load when they are asked for. ``registry`` knows them by their
names in scene files, together with those of users.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from drystone.lazy import lazily

if TYPE_CHECKING:
    from drystone.constraints.joints.actions import Motor
    from drystone.constraints.joints.base import AlignedJoint, AxisJoint, Joint
    from drystone.constraints.joints.distance import Distance
    from drystone.constraints.joints.fixed import Fixed, Weld
    from drystone.constraints.joints.functions import JointFunction
    from drystone.constraints.joints.gear import Gear
    from drystone.constraints.joints.lower_pairs import (
        Ball,
        Cylindrical,
        Hinge,
        Pin,
        PlanarJoint,
        Screw,
        Slider,
    )
    from drystone.constraints.joints.points import PointOnLine, PointOnPlane, Slot
    from drystone.constraints.joints.registry import register_joint
    from drystone.constraints.joints.universal import Universal
    from drystone.constraints.joints.wheel import Wheel

__all__ = [
    "AlignedJoint",
    "AxisJoint",
    "Ball",
    "Cylindrical",
    "Distance",
    "Fixed",
    "Gear",
    "Hinge",
    "Joint",
    "JointFunction",
    "Motor",
    "Pin",
    "PlanarJoint",
    "PointOnLine",
    "PointOnPlane",
    "Screw",
    "Slider",
    "Slot",
    "Universal",
    "Weld",
    "Wheel",
    "register_joint",
]  # fmt: skip

KINDS = {  # module: kinds of joints in it
    "lower_pairs": ("Hinge", "Pin", "Slider", "Cylindrical", "Screw", "PlanarJoint", "Ball"),
    "points": ("PointOnLine", "PointOnPlane", "Slot"),
    "distance": ("Distance",),
    "fixed": ("Fixed",),
    "gear": ("Gear",),
    "universal": ("Universal",),
    "wheel": ("Wheel",),
}
_HOMES = {name: module for module, names in KINDS.items() for name in names}
OURS = tuple(name for name in __all__ if name in _HOMES)
_HOMES |= {  # names in the table that are no kind of joint, or another name of one
    "Weld": "fixed",
    "Motor": "actions",
    **dict.fromkeys(("Joint", "AxisJoint", "AlignedJoint"), "base"),
    "JointFunction": "functions",
    "register_joint": "registry",
}
ALSO = {  # what other programs call them
    **dict.fromkeys(("revolute", "revolutejoint", "hingejoint"), "Hinge"),
    **dict.fromkeys(("prismatic", "prismaticjoint", "slide", "sliderjoint"), "Slider"),
    **dict.fromkeys(("spherical", "balljoint", "point2point", "sphericaljoint"), "Ball"),
    **dict.fromkeys(("weldjoint", "fixedjoint", "rigid"), "Fixed"),
    **dict.fromkeys(("cardan", "universaljoint"), "Universal"),
    **dict.fromkeys(("rope", "rod", "distancejoint"), "Distance"),
}


def home(name: str) -> str:
    """The module of a name in the table: "points"."""
    return _HOMES[name]


if not TYPE_CHECKING:  # a type checker must see that a name does not exist
    __getattr__ = lazily(__name__, _HOMES)
