"""Kinds of joints by their names in scene files: ours, and those of users.

Users add their own with ``ds.register_joint``, or with an entry point of the group
``drystone.joints`` whose object is the class.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, TypeVar

import drystone.constraints.joints as table
from drystone.constraints.joints.base import HOOKS, Joint, check_tables
from drystone.errors import OptionError
from drystone.registry import Registry, check_name, check_registered
from drystone.values import text

J = TypeVar("J", bound=type[Joint])
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
    check_registered(owner, joint, Joint, *HOOKS)
    check_name(f"{owner}.kind", joint.kind, "ball-and-rail")
    if joint.couples:
        raise OptionError(f"{owner}.couples: only a Gear couples joints")
    for field in fields(joint):
        if field.name in RESERVED:
            raise OptionError(f"{owner}.{field.name}: another name: scene files have it already")
    check_tables(owner, joint)
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
