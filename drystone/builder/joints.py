"""Joints of a world: described on bodies once, when they are added, and built into arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from drystone.arguments import answering
from drystone.builder.bodies import Body
from drystone.constraints.joints import Gear
from drystone.constraints.joints.base import Joint, Placed, Pose, frame_about
from drystone.constraints.joints.functions import ABOUT_Z, COUPLED, JointFunction
from drystone.dynamics import check
from drystone.dynamics.frames import rotation
from drystone.errors import ModelError
from drystone.kernels.joints import LENGTH, POINT
from drystone.kernels.joints_coupled import HOLD, LOWER, UPPER
from drystone.model import Joints
from drystone.types import Floats, Ints
from drystone.values import meant, new_name, switch

Ends = tuple[Body | None, Body | None]  # None is the world


@answering
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
    if joint.name is not None:
        return new_name("joint", joint.name, known)
    while f"joint{number}" in known:
        number += 1
    return f"joint{number}"


def find_joint(what: str, joint: Any, known: Mapping[str, JointEntry]) -> JointEntry:
    """By name or handle."""
    name = getattr(joint, "name", joint)
    found = known.get(name) if isinstance(name, str) else None
    if found is None or (isinstance(joint, JointHandle) and joint.uid != found.uid):
        hint = meant(name, known, before="; ") if found is None else ""
        raise ModelError(f"{what}: no joint is named {name!r}{hint}")
    return found


def describe_joint(name: str, uid: int, joint: Joint, dim: int, ends: Ends) -> JointEntry:
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


# The arrays of all joints of a model, gathered joint by joint.


class JointTable:
    """Collects joints; ``arrays`` makes the model's arrays of them.

    index: of bodies by uid; centre (nb, dim): centres of mass in the bodies' own frames.
    """

    def __init__(self, index: Mapping[int, int], centre: Floats) -> None:
        self.index = index
        self.centre = centre
        self.dim = int(centre.shape[1])
        self.names: list[str] = []
        self.kinds: list[str] = []
        self.heads: list[tuple[int, int, int]] = []  # uid, body a, body b
        self.placed: list[Placed] = []
        self.bearing: list[tuple[float, float]] = []
        self.gears: dict[int, tuple[Any, Any, float, tuple[int, int]]] = {}
        self._where: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self.names)

    def add(self, name: str, kind: str, uid: int, ends: Ends, placed: Placed, bearing: Any) -> None:
        """One joint; the uid of a gear's bearing is negative."""
        self._where[uid] = len(self)
        self.names.append(name)
        self.kinds.append(kind)
        self.heads.append((uid, *self.bodies(ends)))
        self.placed.append(placed)
        self.bearing.append(bearing)

    def couple(
        self, joint: int, at: Sequence[tuple[int, int]], factors: Any, start: float, ends: Ends
    ) -> None:
        """A row of `joint`: the sum of factors times coordinates (joint, number), minus start."""
        self.gears[joint] = (at, factors, start, self.bodies(ends))

    def bodies(self, ends: Ends) -> tuple[int, int]:
        a, b = (-1 if body is None else self.index[body.uid] for body in ends)
        return a, b

    def find(self, uid: int) -> int:
        return self._where[uid]

    def arrays(self) -> Joints:
        dim, n = self.dim, len(self)
        heads = np.array(self.heads, np.int64).reshape(n, 3)
        body = heads[:, 1:].copy()
        anchors = np.array([p.anchors for p in self.placed]).reshape(n, 2, dim)
        held = body >= 0
        anchors[held] -= self.centre[body[held]]
        frames = np.array([p.frames for p in self.placed]).reshape(n, 2, dim, dim)
        rows = [list(p.rows) for p in self.placed]
        for joint, (_, _, described, _) in self.gears.items():
            rows[joint].append((COUPLED, described))
        first_row, row_code, row_target = _functions(rows)
        first, code, target = _functions([p.coordinates for p in self.placed])
        row_body = np.repeat(body, np.diff(first_row), axis=0)
        coupled = self._coupled(first_row, first)
        for joint, (_, _, _, ends) in self.gears.items():
            row_body[first_row[joint]] = ends
        kinds, at, numbers, start = self._actions(first)
        return Joints(
            names=tuple(self.names),
            kind=tuple(self.kinds),
            uid=heads[:, 0].copy(),
            body=body,
            anchor_a=anchors[:, 0].copy(),
            anchor_b=anchors[:, 1].copy(),
            frame_a=frames[:, 0].copy(),
            frame_b=frames[:, 1].copy(),
            first_row=first_row,
            row_code=row_code,
            row_target=row_target,
            row_body=row_body,
            first_coordinate=first,
            coordinate_code=code,
            coordinate_target=target,
            coordinate_body=np.repeat(body, np.diff(first), axis=0),
            coordinate_name=tuple(name for p in self.placed for name in p.names),
            coupled_row=coupled[0],
            coupled_coordinate=coupled[1],
            coupled_factor=coupled[2],
            action_kind=kinds,
            action_coordinate=at,
            action_numbers=numbers,
            breaks_at=np.array(self.bearing, float).reshape(n, 2),
            start=start,
        )

    def _coupled(self, first_row: Ints, first: Ints) -> tuple[Ints, Ints, Floats]:
        """Rows that couple coordinates: the last ones of a joint, the only one of a gear."""
        rows, pairs, factors = [], [], []
        for joint, placed in enumerate(self.placed):
            for k, pair in enumerate(placed.couplings):
                rows.append(first_row[joint + 1] - len(placed.couplings) + k)
                pairs.append(tuple(first[joint] + at for at, _ in pair))
                factors.append(tuple(factor for _, factor in pair))
        for joint, (at, factor, _, _) in self.gears.items():
            rows.append(first_row[joint])
            pairs.append(tuple(first[j] + k for j, k in at))
            factors.append(factor)
        return (
            np.array(rows, np.int64),
            np.array(pairs, np.int64).reshape(-1, 2),
            np.array(factors, float).reshape(-1, 2),
        )

    def _actions(self, first: Ints) -> tuple[Ints, Ints, Floats, Floats]:
        """Kinds, coordinates and numbers of actions; where angles begin to be counted."""
        actions = [
            (kind, first[joint] + coordinate, numbers)
            for joint, placed in enumerate(self.placed)
            for coordinate, kind, numbers in placed.actions
        ]
        sums, sides = np.zeros(int(first[-1])), np.zeros(int(first[-1]))
        for kind, at, numbers in actions:
            if kind in (LOWER, UPPER, HOLD):
                sums[at] += numbers[0] * (2.0 if kind == HOLD else 1.0)
                sides[at] += 2.0 if kind == HOLD else 1.0
        start = np.where(sides == 2.0, 0.5 * sums, 0.0)  # between limits, where there are two
        return (
            np.array([a[0] for a in actions], np.int64),
            np.array([a[1] for a in actions], np.int64),
            np.array([a[2] for a in actions], float).reshape(-1, 4),
            start,
        )


def _functions(parts: Sequence[Sequence[tuple[JointFunction, float]]]) -> tuple[Ints, Ints, Floats]:
    """first (n + 1,), codes (m, 4) and targets (m,)."""
    first = np.zeros(len(parts) + 1, np.int64)
    np.cumsum([len(part) for part in parts], out=first[1:])
    flat = [function for part in parts for function in part]
    code = np.array([f.code for f, _ in flat], np.int64).reshape(-1, 4)
    return first, code, np.array([f[1] for f in flat], float)
