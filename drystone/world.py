"""World: the bodies and forces of a scene, as its user describes them.

``build`` turns the description into the arrays that steppers work on. The world itself never
moves: a simulation does, and notices by ``version`` that its world was edited.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Self
from weakref import WeakValueDictionary

from drystone.arguments import answering
from drystone.builder.arrays import Parts, build
from drystone.builder.bodies import (
    Body,
    Template,
    changed,
    describe_body,
    friction_of,
    restitution_of,
)
from drystone.builder.joints import (
    JointEntry,
    JointHandle,
    describe_gear,
    describe_joint,
    find_joint,
    new_joint_name,
)
from drystone.builder.units import warn_of_body, warn_of_joint
from drystone.constraints.joints import Gear
from drystone.constraints.joints.base import Joint
from drystone.dynamics import check
from drystone.dynamics.forces import Force
from drystone.dynamics.motions import Motion
from drystone.errors import ModelError
from drystone.geometry.shapes import HalfPlane, HalfSpace, Shape
from drystone.geometry.shapes.compound import PartLike
from drystone.model import Model, State
from drystone.problems.cones import CircularCone, EllipticCone
from drystone.types import GRAVITY, MatrixLike, Real, VectorLike
from drystone.values import meant, new_name, switch, text, whole

NAN = float("nan")
Layers = int | Collection[int]  # of a body: bodies collide if they share one


@answering
@dataclass(frozen=True, slots=True)
class BodyHandle:
    """What ``add_body`` returns: accepted wherever a body's name is; the uid is never reused."""

    name: str
    uid: int


@answering
@dataclass(frozen=True, slots=True)
class ForceHandle:
    """What ``add_force`` returns, for ``remove_force``."""

    uid: int
    force: Force


class World:
    """Bodies, joints, ground, forces and gravity, in SI units.

    planar: x, y and an angle, y up, gravity (0, -9.81); otherwise spatial, z up, quaternions
    (w, x, y, z), gravity (0, 0, -9.81). gravity (dim,) [m/s^2].
    """

    def __init__(self, gravity: VectorLike | None = None, *, planar: bool = False) -> None:
        self._dim = 2 if switch("World", "planar", planar, ModelError) else 3
        self._bodies: dict[str, Body] = {}
        self._forces: dict[int, Force] = {}
        self._pairs: dict[tuple[int, int], tuple[float, float, float, float]] = {}
        self._ignored: set[tuple[int, int]] = set()
        self._joints: dict[str, JointEntry] = {}
        self._templates: WeakValueDictionary[Shape, Template] = WeakValueDictionary()
        self._next_uid = self._next_geom = self._next_force = self._next_name = 0
        self._next_joint = 0
        self._version = 0
        self._warned: set[str] = set()
        self.gravity = (0.0,) * (self._dim - 1) + (-GRAVITY,) if gravity is None else gravity

    def __setattr__(self, name: str, value: Any) -> None:
        """A slip of the keyboard must not be silent: ``world.gravty = ...``."""
        if type(self) is World and name[0] != "_" and name != "gravity":
            hint = meant(name, ["gravity"], "gravity is what can be set")
            raise ModelError(f"World has no attribute {name!r}: {hint}")
        object.__setattr__(self, name, value)

    @property
    def gravity(self) -> tuple[float, ...]:
        """(dim,) [m/s^2]."""
        return self._gravity

    @gravity.setter
    def gravity(self, value: VectorLike) -> None:
        try:
            self._gravity = check.vector("World", "gravity", value, self._dim)
        except ModelError as error:
            planar = self._dim == 3 and isinstance(value, tuple | list) and len(value) == 2
            hint = "; World(planar=True) for a planar world" if planar else ""
            if isinstance(value, int | float):
                hint = f"; down is {(0,) * (self._dim - 1) + (-abs(value),)}"
            raise ModelError(f"{error}{hint}") from None
        self._version += 1

    @property
    def planar(self) -> bool:
        return self._dim == 2

    @property
    def dim(self) -> int:
        """2 or 3."""
        return self._dim

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names, in the order of the arrays that ``build`` makes."""
        return tuple(self._bodies)

    @property
    def forces(self) -> tuple[Force, ...]:
        return tuple(self._forces.values())

    @property
    def joints(self) -> tuple[str, ...]:
        """Names, in the order of the arrays that ``build`` makes."""
        return tuple(self._joints)

    @property
    def version(self) -> int:
        """Changes with every edit."""
        return self._version

    @property
    def total_mass(self) -> float:
        """Of the dynamic bodies [kg]."""
        return sum(b.matter.mass for b in self._bodies.values() if b.matter is not None)

    def add_ground(
        self,
        *,
        friction: Real | VectorLike = 0.5,
        restitution: Real | VectorLike = 0.0,
        height: float = 0.0,
        normal: VectorLike | None = None,
        name: str = "ground",
        layer: Layers | None = None,
    ) -> BodyHandle:
        """A fixed half-space (half-plane): all points up to `height` [m] along `normal`, which
        points up by default."""
        owner = f"body {name!r}"
        up = (0.0,) * (self._dim - 1) + (1.0,)
        way = check.direction(owner, "normal", up if normal is None else normal, self._dim)
        shape = (HalfPlane if self.planar else HalfSpace)(
            way, check.number(owner, "height", height)
        )
        return self.add_body(
            shape, name=name, friction=friction, restitution=restitution, layer=layer, fixed=True
        )

    def add_body(
        self,
        shape: Shape | Sequence[PartLike] | list[object] | None = None,
        *,
        name: str | None = None,
        density: float | None = None,
        mass: float | None = None,
        inertia: Real | VectorLike | MatrixLike | None = None,
        inertia_frame: VectorLike | None = None,
        centre_of_mass: VectorLike | None = None,
        position: VectorLike | None = None,
        orientation: Real | VectorLike | None = None,
        velocity: VectorLike | None = None,
        angular_velocity: Real | VectorLike | None = None,
        friction: Real | VectorLike = 0.5,
        restitution: Real | VectorLike = 0.0,
        cone: CircularCone | EllipticCone | None = None,
        cone_axis: VectorLike | None = None,
        layer: Layers | None = None,
        fixed: bool = False,
        motion: Motion | None = None,
    ) -> BodyHandle:
        """Add a body: dynamic, fixed, or kinematic with a prescribed motion.

        shape: one, or a list whose parts are shapes or (shape, position, orientation); None for a
            point-like body, with mass and inertia.
        density [kg/m^3] (planar: [kg/m^2]), 1000 by default; or mass [kg], spread over the shape.
        inertia [kg m^2] about the centre of mass: a number in the plane, (3,) or (3, 3) in space,
            along the axes of inertia_frame (a quaternion; the body's frame by default).
        centre_of_mass (dim,) [m] in the body's frame; that of the shape by default.
        position (dim,) [m], orientation (angle [rad] or quaternion), velocity (dim,) [m/s] and
            angular_velocity [rad/s] (a number or (3,), world axes): of the body's own frame.
        friction: a number, or (static, dynamic). restitution: a number, or (normal, tangential).
        cone: EllipticCone, with friction factors along and across cone_axis (3,), body frame.
        layer: whole number, or several; bodies collide if they share one; None shares all.
        """
        said = {field: value for field, value in locals().items() if field != "self"}
        said["name"] = name = self._new_name(name)
        uids = self._next_uid, self._next_geom
        body = describe_body(name, uids, self._dim, said, self._templates)
        warn_of_body(body, said, self._gravity, self._warned)
        self._bodies[name] = body
        self._next_uid += 1
        self._next_geom += 0 if body.template is None else len(body.template.pieces)
        self._version += 1
        return BodyHandle(name, body.uid)

    def _new_name(self, name: str | None) -> str:
        if name is None:
            while f"body{self._next_name}" in self._bodies:
                self._next_name += 1
            return f"body{self._next_name}"
        return new_name("body", name, self._bodies, check.WORLD)

    def remove_body(self, body: str | BodyHandle) -> None:
        """Take a body out, with the rules of its pairs; forces on it must be removed first."""
        found = self._find("remove_body", body)
        for force in self._forces.values():
            if found.name in force.bodies():
                raise ModelError(f"body {found.name!r}: {force} acts on it: remove the force first")
        for entry in self._joints.values():
            if found in entry.ends:
                raise ModelError(
                    f"body {found.name!r}: joint {entry.name!r} holds it: remove the joint first"
                )
        del self._bodies[found.name]
        self._version += 1

    def change_body(self, body: str | BodyHandle, **anew: Any) -> None:
        """Say friction, restitution or motion of a body anew, as ``add_body`` takes them."""
        before = self._find("change_body", body)
        after = changed(before, self._dim, anew, self._templates)
        self._bodies[before.name] = after
        self._joints = {k: j.with_body(before, after) for k, j in self._joints.items()}
        self._version += 1

    def set_pair(
        self,
        a: str | BodyHandle,
        b: str | BodyHandle,
        *,
        friction: Real | VectorLike | None = None,
        restitution: Real | VectorLike | None = None,
    ) -> None:
        """Friction and restitution between two bodies, instead of what follows from each.

        Without it a pair has the geometric mean of the frictions (static and dynamic apart) and
        the larger restitution. What is None stays as it was.
        """
        pair, owner = self._pair("set_pair", a, b)
        if friction is None and restitution is None:
            raise ModelError(f"{owner}: neither friction nor restitution given")
        mu, eps = (NAN, NAN), (NAN, NAN)
        if pair in self._pairs:
            mu, eps = self._pairs[pair][:2], self._pairs[pair][2:]
        if friction is not None:
            mu = friction_of(owner, friction)
        if restitution is not None:
            eps = restitution_of(owner, restitution)
        self._pairs[pair] = (*mu, *eps)
        self._version += 1

    def ignore(self, a: str | BodyHandle, b: str | BodyHandle) -> None:
        """These two bodies never collide with each other."""
        self._ignored.add(self._pair("ignore", a, b)[0])
        self._version += 1

    def add_force(self, force: Force) -> ForceHandle:
        """Add a force. The bodies it names may be added later, but before the world is built."""
        if not isinstance(force, Force):
            raise ModelError(f"add_force: {text(force)} is not a force")
        force.check(self._dim)
        handle = ForceHandle(self._next_force, force)
        self._forces[handle.uid] = force
        self._next_force += 1
        self._version += 1
        return handle

    def remove_force(self, handle: ForceHandle) -> None:
        known = isinstance(handle, ForceHandle) and whole(handle.uid) in self._forces
        if not known:
            raise ModelError(f"remove_force: {text(handle)} is not in this world")
        del self._forces[handle.uid]
        self._version += 1

    def add_joint(self, joint: Joint) -> JointHandle:
        """Add a joint between two bodies of this world, or a body and the world.

        Its anchor and axis are where the bodies are described, not where a running simulation
        has moved them: a joint for bodies on the move is placed by anchor_a and anchor_b.
        """
        if not isinstance(joint, Joint):
            raise ModelError(f"add_joint: {text(joint)} is not a joint")
        uid, dim = self._next_joint, self._dim
        name = new_joint_name(joint, self._joints, uid)
        what = f"joint {name!r} ({type(joint).__name__})"
        if isinstance(joint, Gear):
            parts = self._geared(what, joint.a), self._geared(what, joint.b)
            entry = describe_gear(name, uid, joint, dim, parts)
        else:
            ends = self._end(what, joint.a), self._end(what, joint.b)
            entry = describe_joint(name, uid, joint, dim, ends)
        warn_of_joint(entry, self._warned)
        self._joints[name] = entry
        self._next_joint += 1
        self._version += 1
        return JointHandle(name, uid)

    def remove_joint(self, joint: str | JointHandle) -> None:
        """Take a joint out; gears on it must be removed first."""
        found = find_joint("remove_joint", joint, self._joints)
        for entry in self._joints.values():
            if any(part.placed is None and part.uid == found.uid for part in entry.parts):
                raise ModelError(
                    f"joint {found.name!r}: gear {entry.name!r} couples it: remove the gear first"
                )
        del self._joints[found.name]
        self._version += 1

    def build(self, time: float = 0.0) -> tuple[Model, State]:
        """The arrays of a simulation, and its state at `time` [s] (prescribed motions move)."""
        when = check.number("World.build", "time", time)
        bodies = list(self._bodies.values())
        forces = self._forces.values()
        joints = list(self._joints.values())
        rules = self._pairs, self._ignored
        return build(self._dim, self._gravity, bodies, forces, *rules, when, joints)

    def parts(self) -> Parts:
        """What this world is made of, for those who write it down; uids: the next of a body, of a
        geom and of a joint."""
        bodies, joints = tuple(self._bodies.values()), tuple(self._joints.values())
        uids = self._next_uid, self._next_geom, self._next_joint
        ignored = frozenset(self._ignored)
        return Parts(bodies, joints, self.forces, dict(self._pairs), ignored, uids)

    def handle(self, name: str) -> BodyHandle:
        """Of a body by name, as ``add_body`` returned it."""
        found = self._find("handle", name)
        return BodyHandle(found.name, found.uid)

    def skip_uids(self, body: int = 0, geom: int = 0, joint: int = 0) -> None:
        """Count on from these, as a world does that others were removed from; never back."""
        for field, number in (("body", body), ("geom", geom), ("joint", joint)):
            if whole(number) is None:
                raise ModelError(f"skip_uids: {field} = {text(number)}: expected a whole number")
        self._next_uid = max(self._next_uid, body)
        self._next_geom = max(self._next_geom, geom)
        self._next_joint = max(self._next_joint, joint)

    def copy(self) -> Self:
        """A world to edit on its own; handles of this one are valid in it."""
        out = object.__new__(type(self))
        for field, value in vars(self).items():
            setattr(out, field, value.copy() if hasattr(value, "copy") else value)
        return out

    def __copy__(self) -> Self:
        return self.copy()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_templates"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        known = [body.template for body in self._bodies.values() if body.template is not None]
        self._templates = WeakValueDictionary({template.shape: template for template in known})

    def __len__(self) -> int:
        return len(self._bodies)

    def __contains__(self, body: object) -> bool:
        if isinstance(body, BodyHandle):
            return body.name in self._bodies and self._bodies[body.name].uid == body.uid
        return body in self._bodies

    def __repr__(self) -> str:
        kinds = [body.kind for body in self._bodies.values()]
        parts = [f"{kinds.count(k)} {k}" for k in ("dynamic", "fixed", "kinematic") if k in kinds]
        bodies = f"{len(kinds)} bodies" + (f" ({', '.join(parts)})" if parts else "")
        if len(kinds) == 1:
            bodies = f"1 {kinds[0]} body"
        text = f"World({'planar' if self.planar else 'spatial'}, gravity={self._gravity}, {bodies}"
        if self._forces:
            text += f", {len(self._forces)} force{'s' * (len(self._forces) > 1)}"
        if self._joints:
            text += f", {len(self._joints)} joint{'s' * (len(self._joints) > 1)}"
        return f"{text}, {self.total_mass:.6g} kg)"

    def _find(self, what: str, body: str | BodyHandle) -> Body:
        name = check.body_name(what, body)
        if name not in self._bodies:
            raise check.unknown(what, name, self._bodies)
        found = self._bodies[name]
        if isinstance(body, BodyHandle) and whole(body.uid) != found.uid:
            raise ModelError(f"{what}: the body {name!r} of this handle was removed")
        return found

    def _end(self, what: str, body: Any) -> Body | None:
        """A joint's body, None for the world."""
        world = check.body_name(what, body, world=True) == check.WORLD
        return None if world else self._find(what, body)

    def _geared(self, what: str, part: Any) -> JointEntry | Body:
        """What one side of a gear names: a joint, with or without a coordinate, or a body."""
        target = part[0] if isinstance(part, tuple) and len(part) == 2 else part
        name = check.body_name(what, target)
        joint = isinstance(target, JointHandle) or isinstance(part, tuple)
        if joint or (name in self._joints and not isinstance(target, BodyHandle)):
            return find_joint(what, target, self._joints)
        if name in self._bodies:
            return self._find(what, target)
        raise check.unknown(what, str(name), [*self._joints, *self._bodies])

    def _pair(
        self, what: str, a: str | BodyHandle, b: str | BodyHandle
    ) -> tuple[tuple[int, int], str]:
        first, second = self._find(what, a), self._find(what, b)
        owner = f"{what}({first.name!r}, {second.name!r})"
        if first is second:
            raise ModelError(f"{owner}: expected two bodies")
        low, high = sorted((first.uid, second.uid))
        return (low, high), owner
