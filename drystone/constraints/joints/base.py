"""What all joints share: the two frames, the free coordinates, and what acts on them.

A joint holds a frame on body a to a frame on body b. Users place it in one of two ways:

    anchor, axis                world coordinates, at the poses that ``add_body`` was given
    anchor_a, anchor_b, axis_a, axis_b     each in its body's own frame (world coordinates for the
                                world); the bodies need not fit yet: ``assemble`` moves them

Angles are zero at the poses of the description; displacements are those from b's anchor to a's.

A kind of joint is a subclass that says what it holds and what it leaves free, as functions of the
two frames (``functions``): everything else follows from that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from drystone.constraints.joints.actions import ACTS, Action, Motor, actions_of
from drystone.constraints.joints.functions import (
    COUPLED,
    Free,
    JointFunction,
    Rows,
    check_functions,
)
from drystone.dynamics import check
from drystone.errors import ArgumentError, DrystoneError, ModelError
from drystone.kernels.joints import ANGLE_A, SPIN, TURN
from drystone.registry import misfit, once_a_class, unfit
from drystone.types import BodyLike, Floats, Real, VectorLike
from drystone.values import among, real, reals, text

End = BodyLike | tuple[BodyLike, str]  # a body; of gears a joint, or one coordinate of it
Limits = Sequence[Real | None]  # (lowest, highest)
Coupling = tuple[tuple[int, float], tuple[int, float]]  # coordinates and their factors
WORDS = {2: "planar", 3: "spatial"}
PERPENDICULAR = 1e-6  # cosine of what still counts as a right angle
ORTHONORMAL = 1e-9  # entries of R'R - 1 of a frame: rounding of a few products
# methods that a kind of joint may override
HOOKS = (
    "functions", "target", "couplings", "act", "find_anchors", "default_anchors", "find_frames",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Pose:
    """Of a body's own frame in the world: position (dim,), rotation (dim, dim), planar angle."""

    position: Floats
    rotation: Floats
    angle: float = 0.0

    @staticmethod
    def world(dim: int) -> Pose:
        return Pose(np.zeros(dim), np.eye(dim))

    def local(self, point: Floats) -> Floats:
        """Of a world point."""
        out: Floats = self.rotation.T @ (point - self.position)
        return out

    def point(self, local: Floats) -> Floats:
        """In the world."""
        out: Floats = self.position + self.rotation @ local
        return out


@dataclass(slots=True)
class Placed:
    """A joint on two bodies, in their own frames: anchors (2, dim), frames (2, dim, dim).

    rows, coordinates: functions with their targets; names: of coordinates; actions: on
    coordinates; couplings: what the last rows sum up.
    """

    anchors: Floats
    frames: Floats
    rows: list[tuple[JointFunction, float]]
    coordinates: list[tuple[JointFunction, float]]
    names: tuple[str, ...]
    actions: list[Action] = field(default_factory=list)
    couplings: list[Coupling] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Joint:
    """Base of all joints.

    a, b: bodies, by name or handle; b may be ``"world"``, and so may a.
    anchor (dim,) [m]: in the world, at the described poses; or anchor_a, anchor_b (dim,): in each
        body's own frame, the origin if only one is given.
    limits, motor, friction, spring: of the joint's free coordinate; a joint with several takes a
        dict {coordinate: ...}. limits (lowest, highest) [m or rad], None for none; motor: Motor;
        friction: largest force [N] or torque [N m]; spring (stiffness, damping[, rest]).
    breaks_at: force [N], or (force, torque [N m]), beyond which the joint is gone.
    collide: whether its two bodies collide with each other.

    What a kind of joint says about itself, once for all (class variables):
    kind: its name in scene files. keeps: what it holds, in a few words.
    rows {dim: (function, ...)}: held; free {dim: {name: function}}: its coordinates.
    sometimes {name: when}: coordinates that only some joints of the kind have, see ``functions``.
    takes: which of limits, motor, friction, spring make sense.
    meant {"motor": (coordinate, ...)}: what a value that is no dict is about, if not clear.
    couples: its ends are coordinates of other joints, not bodies.
    """

    a: End
    b: End = check.WORLD
    _: KW_ONLY
    anchor: VectorLike | None = None
    anchor_a: VectorLike | None = None
    anchor_b: VectorLike | None = None
    name: str | None = None
    limits: Limits | Mapping[str, Limits] | None = None
    motor: Motor | Mapping[str, Motor] | None = None
    friction: Real | Mapping[str, Real] | None = None
    spring: VectorLike | Mapping[str, VectorLike] | None = None
    breaks_at: Real | tuple[Real | None, Real | None] | None = None
    collide: bool = False
    kind: ClassVar[str] = ""
    keeps: ClassVar[str] = ""
    rows: ClassVar[Rows] = {}
    free: ClassVar[Free] = {}
    sometimes: ClassVar[Mapping[str, str]] = {}
    takes: ClassVar[tuple[str, ...]] = ACTS
    meant: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    couples: ClassVar[bool] = False

    def __new__(cls, *args: Any, **fields: Any) -> Self:
        wrong = unfit(cls)
        if wrong is not None:
            raise ArgumentError(f"{cls.__name__} {wrong}")
        return object.__new__(cls)

    @property
    def dims(self) -> tuple[int, ...]:
        """Of the worlds that it makes sense in."""
        return tuple(self.rows)

    def check_dim(self, owner: str, dim: int) -> None:
        """ModelError unless the joint makes sense in a world of this dimension."""
        wrong = misfit(type(self), Joint, *HOOKS)
        if wrong is not None:
            raise ModelError(f"{owner}: {type(self).__name__} {wrong}")
        check_tables(type(self).__name__, type(self))
        if dim not in self.rows:
            kind = type(self).__name__
            raise ModelError(
                f"{owner}: {kind} is a {WORDS[self.dims[0]]} joint, the world is {WORDS[dim]}"
            )

    def place(self, owner: str, dim: int, poses: tuple[Pose, Pose]) -> Placed:
        """The joint on bodies at their described poses; ModelError if it makes no sense."""
        self.check_dim(owner, dim)
        answers = _Answers(owner, self, dim)
        anchors = answers.array("find_anchors", (2, dim), dim, poses)
        frames = answers.frames(poses)
        local = np.array([pose.rotation.T @ f for pose, f in zip(poses, frames, strict=True)])
        held, free = answers.functions()
        given = poses, anchors
        rows = [(f, answers.target(f, *given)) for f in held]
        left = [(f, answers.target(f, *given)) for f in free.values()]
        placed = Placed(anchors, local, rows, left, tuple(free))
        placed.actions = answers.sequence("act", placed.names)
        for factors in answers.sequence("couplings"):
            placed.couplings.append(_coupling(owner, factors, free))
            placed.rows.append((COUPLED, 0.0))
        return placed

    def functions(
        self, owner: str, dim: int
    ) -> tuple[tuple[JointFunction, ...], Mapping[str, JointFunction]]:
        """What this joint holds and what it leaves free: all of its kind's rows and coordinates."""
        return self.rows[dim], self.free[dim]

    def target(
        self, owner: str, function: JointFunction, poses: tuple[Pose, Pose], anchors: Floats
    ) -> float:
        """What a function is measured from, or held at: zero, but planar angles start at the
        described turn [rad]. anchors (2, dim): in the bodies' own frames."""
        planar = poses[0].position.size == 2
        angular = function.kind in (ANGLE_A, TURN)
        return poses[0].angle - poses[1].angle if planar and angular else 0.0

    def couplings(self, owner: str) -> Sequence[Mapping[str, float]]:
        """Sums of two coordinates that are held as well, each {coordinate: factor}."""
        return ()

    def act(self, owner: str, names: Sequence[str]) -> list[Action]:
        """What acts on the coordinates."""
        said = []
        for act in ACTS:
            value = getattr(self, act)
            if value is not None and act not in self.takes:
                kind = type(self).__name__
                raise ModelError(f"{owner}: {act} = {value!r}: a {kind} has none")
            if value is not None and act in self.meant and not isinstance(value, Mapping):
                value = dict.fromkeys(self.meant[act], value)
            said.append(value)
        return actions_of(owner, names, *said)

    def find_anchors(self, owner: str, dim: int, poses: tuple[Pose, Pose]) -> Floats:
        """(2, dim) in the bodies' own frames."""
        if self.anchor is None and self.anchor_a is None and self.anchor_b is None:
            return self.default_anchors(owner, dim, poses)
        if self.anchor is not None:
            if self.anchor_a is not None or self.anchor_b is not None:
                raise ModelError(f"{owner}: both anchor and anchor_a or anchor_b: give one kind")
            place = np.array(check.vector(owner, "anchor", self.anchor, dim))
            return np.array([pose.local(place) for pose in poses])
        origin = (0.0,) * dim
        given = {"anchor_a": self.anchor_a, "anchor_b": self.anchor_b}
        return np.array(
            [check.vector(owner, f, origin if v is None else v, dim) for f, v in given.items()]
        )

    def default_anchors(self, owner: str, dim: int, poses: tuple[Pose, Pose]) -> Floats:
        raise ModelError(f"{owner}: has no anchor: give anchor, or anchor_a and anchor_b")

    def find_frames(self, owner: str, dim: int, poses: tuple[Pose, Pose]) -> tuple[Floats, Floats]:
        """World axes of the joint's frames on a and b, columns; here those of the world."""
        return np.eye(dim), np.eye(dim)

    def bearing(self, owner: str) -> tuple[float, float]:
        """Force [N] and torque [N m] at which it breaks."""
        value = self.breaks_at
        if value is None:
            return math.inf, math.inf
        if not isinstance(value, tuple | list):
            return check.positive(owner, "breaks_at", value), math.inf
        if len(value) != 2:
            raise ModelError(f"{owner}: breaks_at = {value}: expected a force, or (force, torque)")
        force, torque = (
            math.inf if v is None or v == math.inf else check.positive(owner, "breaks_at", v)
            for v in value
        )
        return force, torque


@dataclass(frozen=True, slots=True)
class AxisJoint(Joint):
    """A joint with a direction that b carries: axis (dim,) in the world, or axis_b in b's frame.

    In space the axis is the third of the joint's frame, in the plane the first.
    """

    _: KW_ONLY
    axis: VectorLike | None = None
    axis_b: VectorLike | None = None

    def find_frames(self, owner: str, dim: int, poses: tuple[Pose, Pose]) -> tuple[Floats, Floats]:
        frame = frame_about(self.find_axis(owner, dim, "axis_b", self.axis_b, poses[1]))
        return frame, frame

    def find_axis(self, owner: str, dim: int, field: str, local: Any, pose: Pose) -> Floats:
        """The unit axis on one body, in the world."""
        if self.axis is not None:
            if local is not None:
                raise ModelError(f"{owner}: both axis and {field}: give one")
            return np.array(check.direction(owner, "axis", self.axis, dim))
        if local is None:
            raise ModelError(f"{owner}: has no axis: give axis, or {field}")
        out: Floats = pose.rotation @ np.array(check.direction(owner, field, local, dim))
        return out


@dataclass(frozen=True, slots=True)
class AlignedJoint(AxisJoint):
    """A joint that keeps an axis of a along one of b: axis, or axis_a and axis_b."""

    _: KW_ONLY
    axis_a: VectorLike | None = None

    def find_frames(self, owner: str, dim: int, poses: tuple[Pose, Pose]) -> tuple[Floats, Floats]:
        there = frame_about(self.find_axis(owner, dim, "axis_b", self.axis_b, poses[1]))
        here = self.find_axis(owner, dim, "axis_a", self.axis_a, poses[0])
        return frame_about(here, there[:, 0]), there


def crossed(
    joint: AxisJoint, owner: str, dim: int, poses: tuple[Pose, Pose], field: str, second: Any
) -> tuple[Floats, Floats]:
    """Frames of a joint whose second axis is across its first."""
    axis = joint.find_axis(owner, dim, "axis_b", joint.axis_b, poses[1])
    if second is None:
        raise ModelError(f"{owner}: has no {field}")
    other = np.array(check.direction(owner, field, second, dim))
    if abs(axis @ other) > PERPENDICULAR:
        angle = np.degrees(np.arccos(abs(axis @ other)))
        raise ModelError(
            f"{owner}: axis and {field} are at {angle:.4g} degrees: expected a right angle"
        )
    frame = frame_about(axis, other)
    return frame, frame


@once_a_class
def check_tables(owner: str, joint: type[Joint]) -> None:
    """ModelError unless what a kind of joint says about itself fits together."""
    check_functions(owner, joint.rows, joint.free)
    acts = f"some of {', '.join(ACTS)}"
    if not _names(joint.takes, ACTS):
        raise ModelError(f"{owner}.takes = {text(joint.takes)}: expected a tuple, {acts}")
    names = {name for free in joint.free.values() for name in free}
    known = ", ".join(sorted(names)) or "none"
    meant: Any = joint.meant
    if not (
        isinstance(meant, Mapping)
        and _names(tuple(meant), ACTS)
        and all(_names(of, names) for of in meant.values())
    ):
        expected = f"expected {acts}, each with a tuple of coordinates (it has {known})"
        raise ModelError(f"{owner}.meant = {text(meant)}: {expected}")
    sometimes: Any = joint.sometimes
    if not (isinstance(sometimes, Mapping) and _names(tuple(sometimes), names)):
        expected = f"expected {{coordinate: when}} (it has {known})"
        raise ModelError(f"{owner}.sometimes = {text(sometimes)}: {expected}")


def _names(value: Any, known: Any) -> bool:
    """Whether it is a tuple of some of those known."""
    return isinstance(value, tuple | list) and all(among(name, known) for name in value)


class _Answers:
    """What the methods of one joint answer, checked: users override them. A ModelError names the
    joint and the method; an error of the method's own gets a note that does."""

    def __init__(self, owner: str, joint: Joint, dim: int) -> None:
        self.owner, self.joint, self.dim = owner, joint, dim

    def ask(self, method: str, *args: Any) -> Any:
        answer: Callable[..., Any] = getattr(self.joint, method)
        try:
            return answer(self.owner, *args)
        except DrystoneError:
            raise
        except Exception as error:
            error.add_note(f"{self.owner}: in {type(self.joint).__name__}.{method}")
            raise

    def wrong(self, method: str, value: Any, expected: str) -> ModelError:
        kind = type(self.joint).__name__
        return ModelError(f"{self.owner}: {kind}.{method} gave {text(value)}: expected {expected}")

    def array(self, method: str, shape: tuple[int, ...], *args: Any) -> Floats:
        value = self.ask(method, *args)
        out = reals(value)
        if out is None or out.shape != shape or not np.isfinite(out).all():
            raise self.wrong(method, value, f"finite numbers of shape {shape}")
        return out

    def frames(self, poses: tuple[Pose, Pose]) -> Floats:
        """(2, dim, dim) in the world."""
        out = self.array("find_frames", (2, self.dim, self.dim), self.dim, poses)
        off = np.abs(np.swapaxes(out, 1, 2) @ out - np.eye(self.dim)).max()
        if off > ORTHONORMAL or (np.linalg.det(out) < 0.0).any():
            raise self.wrong("find_frames", out, "right-handed unit axes, as columns")
        return out

    def functions(self) -> tuple[tuple[JointFunction, ...], Mapping[str, JointFunction]]:
        value = self.ask("functions", self.dim)
        if not (isinstance(value, tuple | list) and len(value) == 2):
            raise self.wrong("functions", value, "(rows, {name: coordinate})")
        held, free = value
        owner = f"{self.owner}: {type(self.joint).__name__}.functions"
        check_functions(owner, {self.dim: held}, {self.dim: free})
        for name, function in free.items():
            if function in held:
                raise ModelError(f"{self.owner}: coordinate {name!r} is free, and held by a row")
        return tuple(held), free

    def target(self, *args: Any) -> float:
        value = self.ask("target", *args)
        out = real(value)
        if out is None or not math.isfinite(out):
            raise self.wrong("target", value, "a finite number")
        return out

    def sequence(self, method: str, *args: Any) -> list[Any]:
        value = self.ask(method, *args)
        if not isinstance(value, Sequence) or isinstance(value, str):
            raise self.wrong(method, value, "a list")
        return list(value)


def _coupling(owner: str, factors: Any, free: Mapping[str, JointFunction]) -> Coupling:
    """Numbers and factors of two coordinates that are coupled."""
    names = [name for name, function in free.items() if function.kind != SPIN]
    if not isinstance(factors, Mapping) or len(factors) != 2 or not set(factors) <= set(names):
        known = ", ".join(map(repr, names))
        raise ModelError(f"{owner}: couples {text(factors)}: expected two of {known}")
    numbers = [real(factor) for factor in factors.values()]
    a, b = (math.nan if number is None else number for number in numbers)
    if not (math.isfinite(a) and math.isfinite(b) and (a or b)):
        raise ModelError(f"{owner}: couples {text(factors)}: expected finite factors, not both 0")
    order = list(free)
    first, second = (order.index(name) for name in factors)
    return (first, a), (second, b)


def frame_about(axis: Floats, near: Floats | None = None) -> Floats:
    """Right-handed frame of a unit axis, columns: in the plane the axis first, in space last.

    near (3,): the direction the first axis leans to; None, or one along the axis: a fixed rule.
    """
    if axis.size == 2:
        return np.array([[axis[0], -axis[1]], [axis[1], axis[0]]])
    for lean in (near, np.eye(3)[0 if abs(axis[0]) < 0.6 else 1]):
        if lean is None:
            continue
        x = lean - (lean @ axis) * axis
        length = np.linalg.norm(x)
        if length > 1e-9:
            break
    x = x / length
    return np.column_stack([x, np.cross(axis, x), axis])
