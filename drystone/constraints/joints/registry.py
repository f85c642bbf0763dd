"""Kinds of joints by their names in scene files: ours, and those of users.

Users add their own with ``ds.register_joint``, or with an entry point of the group
``drystone.joints`` whose object is the class.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, TypeVar

from drystone.constraints import joints as table
from drystone.constraints.joints.actions import ACTS
from drystone.constraints.joints.base import Joint
from drystone.constraints.joints.functions import check_functions
from drystone.errors import OptionError
from drystone.registry import Registry
from drystone.values import text

J = TypeVar("J", bound=type[Joint])
NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
RESERVED = ("kind", "range")  # keys of every joint in a scene file


@dataclass(frozen=True)
class JointKind:
    """A kind of joint by its name."""

    name: str
    joint: type[Joint]

    @property
    def units(self) -> dict[str, str]:
        """Of the coordinates, m or rad; those that only some joints of the kind have left out."""
        return {
            name: function.unit
            for free in self.joint.free.values()
            for name, function in free.items()
            if name not in self.joint.sometimes
        }


def _checked(joint: Any) -> JointKind:
    """The entry of a user's class."""
    if not (isinstance(joint, type) and issubclass(joint, Joint)):
        raise OptionError(f"register_joint: {text(joint)}: expected a subclass of ds.Joint")
    owner = f"register_joint: {joint.__name__}"
    if not is_dataclass(joint) or "__dataclass_params__" not in vars(joint):
        raise OptionError(f"{owner}: expected a class with @dataclass(frozen=True)")
    if not isinstance(joint.kind, str) or not NAME.fullmatch(joint.kind):
        raise OptionError(
            f"{owner}.kind = {text(joint.kind)}: expected a name for scene files, such as "
            "'ball-and-rail'"
        )
    if joint.couples:
        raise OptionError(f"{owner}.couples: only a Gear couples joints")
    for field in fields(joint):
        if field.name in RESERVED:
            raise OptionError(f"{owner}.{field.name}: another name: scene files have it already")
    if not set(joint.takes) <= set(ACTS):
        raise OptionError(f"{owner}.takes = {text(joint.takes)}: expected some of {ACTS}")
    check_functions(owner, joint.rows, joint.free)
    return JointKind(joint.kind, joint)


def _ours() -> list[JointKind]:
    found = [getattr(table, name) for name in table.OURS]
    return [JointKind(joint.kind, joint) for joint in found]


JOINTS: Registry[JointKind] = Registry("joint", "drystone.joints", _ours(), _checked)


def register_joint(joint: J) -> J:
    """Add a kind of joint of your own, a subclass of ``ds.Joint``, under its `kind`: scene files
    and recordings then know it by that name. May stand as a decorator."""
    JOINTS.register(joint)
    return joint


def other_words() -> dict[str, str]:
    """What other programs call our joints, with our names in scene files."""
    return {word: getattr(table, name).kind for word, name in table.ALSO.items()}
