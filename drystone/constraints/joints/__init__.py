"""Joints between bodies: one file for each kind, which says everything about it.

This is the table of ours. Classes load when they are asked for: the file of one is its name in
small letters. ``registry`` knows them by their names in scene files, together with those of users.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from drystone.constraints.joints.actions import Motor
    from drystone.constraints.joints.ball import Ball
    from drystone.constraints.joints.base import AlignedJoint, AxisJoint, Joint
    from drystone.constraints.joints.cylindrical import Cylindrical
    from drystone.constraints.joints.distance import Distance
    from drystone.constraints.joints.fixed import Fixed, Weld
    from drystone.constraints.joints.functions import JointFunction
    from drystone.constraints.joints.gear import Gear
    from drystone.constraints.joints.hinge import Hinge
    from drystone.constraints.joints.pin import Pin
    from drystone.constraints.joints.planar_joint import PlanarJoint
    from drystone.constraints.joints.point_on_line import PointOnLine
    from drystone.constraints.joints.point_on_plane import PointOnPlane
    from drystone.constraints.joints.registry import register_joint
    from drystone.constraints.joints.screw import Screw
    from drystone.constraints.joints.slider import Slider
    from drystone.constraints.joints.slot import Slot
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

ELSEWHERE = {  # names in the table that are no kind of joint, or another name of one
    "Weld": "fixed",
    "Motor": "actions",
    "Joint": "base",
    "AxisJoint": "base",
    "AlignedJoint": "base",
    "JointFunction": "functions",
    "register_joint": "registry",
}
OURS = tuple(name for name in __all__ if name not in ELSEWHERE)
ALSO = {  # what other programs call them
    **dict.fromkeys(("revolute", "revolutejoint", "hingejoint"), "Hinge"),
    **dict.fromkeys(("prismatic", "prismaticjoint", "slide", "sliderjoint"), "Slider"),
    **dict.fromkeys(("spherical", "balljoint", "point2point", "sphericaljoint"), "Ball"),
    **dict.fromkeys(("weldjoint", "fixedjoint", "rigid"), "Fixed"),
    **dict.fromkeys(("cardan", "universaljoint"), "Universal"),
    **dict.fromkeys(("rope", "rod", "distancejoint"), "Distance"),
}


def home(name: str) -> str:
    """The module of a name in the table: "point_on_line"."""
    return ELSEWHERE.get(name) or re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def _load(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    value = getattr(import_module(f"{__name__}.{home(name)}"), name)
    globals()[name] = value
    return value


if not TYPE_CHECKING:  # a type checker must see that a name does not exist
    __getattr__ = _load
