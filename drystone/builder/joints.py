"""Joints of a world: described on bodies once, when they are added, and built into arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

import numpy as np

from drystone.builder.bodies import Body
from drystone.builder.joint_arrays import JointTable
from drystone.constraints.joints import Gear
from drystone.constraints.joints.base import Joint, Placed, Pose, frame_about
from drystone.constraints.joints.functions import ABOUT_Z
from drystone.dynamics import check
from drystone.dynamics.frames import rotation
from drystone.errors import ModelError
from drystone.kernels.joints import LENGTH, POINT
from drystone.model import Joints
from drystone.types import Floats
from drystone.values import switch

Ends = tuple[Body | None, Body | None]  # None is the world


@dataclass(frozen=True, slots=True)
class JointHandle:
    """What ``add_joint`` returns: accepted wherever a joint's name is; the uid is never reused."""

    name: str
    uid: int


@dataclass(frozen=True, slots=True)
class GearPart:
    """A coordinate that a gear couples: number `coordinate` of the joint with this uid, or of the
    bearing (a body and the world) that the gear brings with it, where `placed` is given.
    value: at the described poses [m or rad]."""

    uid: int
    coordinate: int
    ends: Ends
    value: float = 0.0
    placed: Placed | None = None


@dataclass(frozen=True, slots=True)
class JointEntry:
    """A checked joint of a world. parts: of a gear; factor: minus its ratio."""

    name: str
    uid: int
    joint: Joint
    ends: Ends
    placed: Placed
    bearing: tuple[float, float]
    parts: tuple[GearPart, ...] = ()
    factor: float = 0.0

    def with_body(self, before: Body, after: Body) -> JointEntry:
        """The same joint where a body is described anew."""
        if before not in self.ends:
            return self
        a, b = (after if end == before else end for end in self.ends)
        return replace(self, ends=(a, b))

    @property
    def pair(self) -> tuple[int, int] | None:
        """Uids of two bodies that the joint keeps from colliding."""
        a, b = self.ends
        if self.joint.collide or a is None or b is None:
            return None
        return min(a.uid, b.uid), max(a.uid, b.uid)


def new_joint_name(joint: Joint, known: Mapping[str, JointEntry], number: int) -> str:
    """The joint's own name, or one with a number that no other joint has."""
    name = joint.name
    if name is None:
        while f"joint{number}" in known:
            number += 1
        return f"joint{number}"
    if not isinstance(name, str) or not name:
        raise ModelError(f"joint name {name!r}: expected a text")
    if name in known:
        raise ModelError(f"joint {name!r}: another joint has this name")
    return name


def find_joint(what: str, joint: Any, known: Mapping[str, JointEntry]) -> JointEntry:
    """By name or handle."""
    name = getattr(joint, "name", joint)
    found = known.get(name) if isinstance(name, str) else None
    if found is None or (isinstance(joint, JointHandle) and joint.uid != found.uid):
        near = get_close_matches(str(name), list(known), n=1)
        hint = f"; did you mean {near[0]!r}?" if near and found is None else ""
        raise ModelError(f"{what}: no joint is named {name!r}{hint}")
    return found


def describe(name: str, uid: int, joint: Joint, dim: int, ends: Ends) -> JointEntry:
    """Any joint but a gear, on two ends; ModelError names the joint and its bodies."""
    owner = owner_of(name, joint, ends)
    check_ends(owner, ends)
    switch(owner, "collide", joint.collide, ModelError)
    placed = joint.place(owner, dim, (pose_of(ends[0], dim), pose_of(ends[1], dim)))
    return JointEntry(name, uid, joint, ends, placed, joint.bearing(owner))


def owner_of(name: str, joint: Joint, ends: Sequence[Body | None]) -> str:
    a, b = (check.WORLD if body is None else body.name for body in ends)
    return f"joint {name!r} ({type(joint).__name__} from {a!r} to {b!r})"


def check_ends(owner: str, ends: Ends) -> None:
    if ends[0] is ends[1]:
        raise ModelError(f"{owner}: expected two different bodies")
    if all(body is None or body.matter is None for body in ends):
        kinds = ["the world" if body is None else f"{body.name!r} is {body.kind}" for body in ends]
        raise ModelError(f"{owner}: neither end can move: {kinds[0]}, {kinds[1]}")


def pose_of(body: Body | None, dim: int) -> Pose:
    """Of a body's own frame as described; kinematic bodies where they are at time 0."""
    if body is None:
        return Pose.world(dim)
    if body.motion is not None:
        position, orientation = body.motion.pose(0.0)
    else:
        position, orientation = np.array(body.position), np.array(body.orientation)
    angle = float(orientation) if dim == 2 else 0.0
    return Pose(np.asarray(position, float), rotation(orientation), angle)


def describe_gear(
    name: str, uid: int, gear: Gear, dim: int, parts: tuple[JointEntry | Body, JointEntry | Body]
) -> JointEntry:
    """A gear between coordinates of two joints, or turns of two bodies."""
    owner = f"joint {name!r} (Gear from {parts[0].name!r} to {parts[1].name!r})"
    gear.check_dim(owner, dim)
    switch(owner, "collide", gear.collide, ModelError)
    ratio = gear.rate(owner)
    axes = (gear.axis, gear.axis if gear.axis_of_b is None else gear.axis_of_b)
    found = []
    for end, part, axis in zip((gear.a, gear.b), parts, axes, strict=True):
        if isinstance(part, JointEntry):
            found.append(_joint_part(owner, part, end))
        else:
            found.append(_body_part(owner, uid, part, axis, dim))
    if _same(*found):
        raise ModelError(f"{owner}: expected two different coordinates")
    ends = _moving(owner, found)
    origin = np.zeros((2, dim)), np.array([np.eye(dim)] * 2)
    placed = Placed(*origin, [], [], ())
    bearing = gear.bearing(owner)
    return JointEntry(name, uid, gear, ends, placed, bearing, tuple(found), -ratio)


def _same(a: GearPart, b: GearPart) -> bool:
    if (a.placed is None) != (b.placed is None):
        return False
    if a.placed is None:
        return (a.uid, a.coordinate) == (b.uid, b.coordinate)
    return a.ends[0] is b.ends[0]


def _joint_part(owner: str, entry: JointEntry, said: Any) -> GearPart:
    names = entry.placed.names
    wanted = said[1] if isinstance(said, tuple) and len(said) == 2 else None
    if wanted is None and len(names) == 1:
        wanted = names[0]
    if wanted not in names:
        known = ", ".join(map(repr, names)) or "none"
        asked = "say which" if wanted is None else f"{wanted!r} is none of them"
        raise ModelError(f"{owner}: free coordinates of {entry.name!r} are {known}: {asked}")
    k = names.index(wanted)
    return GearPart(entry.uid, k, entry.ends, _described(entry, k))


def _described(entry: JointEntry, coordinate: int) -> float:
    """Value at the described poses: angles are zero there, displacements lie between anchors."""
    function = entry.placed.coordinates[coordinate][0]
    kind, axis = function.kind, function.i
    if kind not in (POINT, LENGTH):
        return 0.0
    anchors, dim = entry.placed.anchors, entry.placed.anchors.shape[1]
    a, b = (pose_of(body, dim) for body in entry.ends)
    d = a.point(anchors[0]) - b.point(anchors[1])
    if kind == LENGTH:
        return float(np.linalg.norm(d))
    return float(d @ b.rotation @ entry.placed.frames[1][:, axis])


def _body_part(owner: str, uid: int, body: Body, axis: Any, dim: int) -> GearPart:
    pose, angle = pose_of(body, dim), 0.0
    if dim == 2:
        if axis is not None:
            raise ModelError(f"{owner}: axis = {axis!r}: a planar world has one axis")
        frame, angle = np.eye(2), pose.angle
    elif axis is None:
        raise ModelError(f"{owner}: {body.name!r} is a body: give the axis of its turn")
    else:
        frame = frame_about(np.array(check.direction(owner, "axis", axis, dim)))
    frames = np.array([pose.rotation.T @ frame, frame])
    anchors = np.array([np.zeros(dim), pose.position])
    placed = Placed(anchors, frames, [], [(ABOUT_Z, angle)], ("turn",))
    return GearPart(uid, 0, (body, None), 0.0, placed)


def _moving(owner: str, parts: Iterable[GearPart]) -> Ends:
    """The one or two bodies that a gear pushes."""
    moving: dict[int, Body] = {}
    for part in parts:
        for body in part.ends:
            if body is not None and body.kind != "fixed":
                moving[body.uid] = body
    bodies = list(moving.values())
    if len(bodies) > 2:
        names = ", ".join(repr(body.name) for body in bodies)
        raise ModelError(f"{owner}: couples {len(bodies)} bodies that move ({names}): at most two")
    if all(body.matter is None for body in bodies):
        raise ModelError(f"{owner}: none of its bodies can move")
    return bodies[0], bodies[1] if len(bodies) > 1 else None


def build_joints(
    entries: Sequence[JointEntry], index: Mapping[int, int], centre: Floats
) -> Joints | None:
    """Arrays of all joints; index: of bodies by uid; centre (nb, dim) as in the model."""
    if not entries:
        return None
    table = JointTable(index, centre)
    for entry in entries:
        kind = entry.joint.kind or type(entry.joint).__name__
        table.add(entry.name, kind, entry.uid, entry.ends, entry.placed, entry.bearing)
    for entry in entries:
        if entry.parts:
            _couple(table, entry)
    return table.arrays()


def _couple(table: JointTable, entry: JointEntry) -> None:
    """The row of a gear, and the bearings of bodies that it brings along, after all joints."""
    at, start = [], 0.0
    for k, (part, factor) in enumerate(zip(entry.parts, (1.0, entry.factor), strict=True)):
        if part.placed is None:
            where = table.find(part.uid)
        else:
            where = len(table)
            name = f"{entry.name}.{'ab'[k]}"
            free = np.inf, np.inf
            table.add(name, Gear.kind, -1 - 2 * entry.uid - k, part.ends, part.placed, free)
        at.append((where, part.coordinate))
        start += factor * part.value
    table.couple(table.find(entry.uid), at, (1.0, entry.factor), start, entry.ends)
