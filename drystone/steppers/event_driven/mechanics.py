"""A world at one instant: contacts with their kinematics, joints, loads, inertia."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from drystone.constraints.joints.forces import stored_by_joints
from drystone.constraints.joints.rows import Coordinates
from drystone.constraints.kinematics import ContactKinematics, Sides, contact_kinematics
from drystone.constraints.rows import select
from drystone.dynamics import bodies
from drystone.dynamics.energy import energy
from drystone.geometry.detector import Detector
from drystone.kernels.event_state import gap_rates
from drystone.kernels.joints_coupled import (
    FRICTION,
    HOLD,
    LOWER,
    POSITION_MOTOR,
    SPEED_MOTOR,
    SPRING,
    UPPER,
)
from drystone.model import Contacts, Model, State
from drystone.steppers.event_driven.caps import Caps
from drystone.steppers.event_driven.joint_acceleration_rows import (
    BilateralRows,
    JointActions,
    JointRates,
)
from drystone.steppers.event_driven.motion_bounds import MotionBounds
from drystone.steppers.event_driven.sleep import SleepingIslands
from drystone.steppers.event_driven.vector import prescribed_acceleration
from drystone.types import Floats, Ints

CLOSED_REACH = (
    1e-3  # of a geom's size: how far apart the points of a closed contact are searched for
)
JUMP = 1e-4  # of a body's size: a closed contact whose gap is more off is one of other features
Key = tuple[int, int, int]
ACTIONS = {
    LOWER: "lower limit", UPPER: "upper limit", HOLD: "motor", SPEED_MOTOR: "motor",
    POSITION_MOTOR: "motor", FRICTION: "friction", SPRING: "spring",
}  # fmt: skip


@dataclass(slots=True)
class Loads:
    """What moves bodies beside contacts and joints: acceleration (nb, dof) with gravity and the
    gyroscopic torque, of prescribed bodies their own; force (nb, dof) [N, N m]: all but gravity;
    inverse_inertia in world axes."""

    acceleration: Floats
    force: Floats
    inverse_inertia: Floats


@dataclass(slots=True)
class Jointed:
    """Joints at an instant; q: free coordinates."""

    bilateral: BilateralRows
    acts: JointActions
    q: Coordinates | None


class Mechanics:
    """The model, its detector and its sizes."""

    def __init__(self, model: Model, detector: Detector, touch: float, rtol: float) -> None:
        self.model, self.detector, self.rtol = model, detector, rtol
        self.caps, self.bounds = Caps(model, touch, rtol), MotionBounds(model)
        self.sizes = bodies.radii(model)
        solid = np.isfinite(self.sizes) & (self.sizes > 0)  # a body may have no shape
        finite = self.sizes[solid]
        self.size = float(np.median(finite)) if finite.size else 1.0
        self.jump = JUMP * self.size
        radius = model.geoms.radius
        self.near = CLOSED_REACH * np.where(np.isfinite(radius), radius, 0.0)
        joints = model.joints
        self.joints = None if joints is None or not len(joints) else JointRates(model, joints)
        self.turns: Floats | None = None
        self._free = _no_joints(model.dof)
        self._jointed: tuple[State, Floats | None, Jointed] | None = None
        self.sleeping = SleepingIslands(model)
        self.driven = np.zeros(model.nb, bool)  # bodies whose motion is given
        self.driven[[i for i, _ in model.motions]] = True
        self._prescribed: tuple[float, Floats] | None = None

    def contacts(self, state: State, margin: Floats | None = None, every: bool = False) -> Contacts:
        """Contacts nearer than margin[a] + margin[b], (ng,) [m]; every: of sleeping bodies too."""
        x, R = bodies.geom_poses(self.model, state)
        found = self.detector.contacts(x, R, self.near if margin is None else margin)
        if self.caps.any:
            found = self.caps.sorted(found, x, R)
        if every or not self.sleeping:
            return found
        return select(found, self.sleeping.apart(found))

    def kinematics(
        self, state: State, contacts: Contacts, sides: Sides | None = None
    ) -> ContactKinematics:
        """C, C', C'' and slip of contacts found at this state; sides: if they are known."""
        x, R = bodies.geom_poses(self.model, state)
        return contact_kinematics(
            self.model.geoms, x, R, state.position, state.velocity, contacts, sides
        )

    def gap_rates(self, state: State, contacts: Contacts) -> Floats:
        """(nc,) C' of contacts found at this state."""
        out = np.empty(len(contacts))
        gap_rates(
            self.model.geoms.body, contacts.geom_a, contacts.geom_b, contacts.point,
            contacts.normal, state.position, state.velocity, out,
        )  # fmt: skip
        return out

    def loads(self, state: State, q: Coordinates | None) -> Loads:
        model = self.model
        force = bodies.loads(model, state)
        joints = self.joints
        if joints is not None and q is not None and joints.add_springs(state, q, force):
            bodies.check_loads(model, state, force)
        inverse = bodies.inverse_inertia(model, state)
        out = bodies.accelerations(model, state, force, inverse)
        self._prescribe(state.time, out)
        return Loads(out, force, inverse)

    def _prescribe(self, t: float, out: Floats) -> None:
        """Write the accelerations of prescribed bodies into out (nb, dof); those of the time that
        was asked for last are known: an instant is asked for several times."""
        if not self.model.motions:
            return
        known = self._prescribed
        if known is None or known[0] != t:
            every = np.empty_like(out)
            prescribed_acceleration(self.model, t, every)
            known = self._prescribed = t, every[self.driven]
        out[self.driven] = known[1]

    def jointed(self, state: State) -> Jointed:
        """Joints at a state; angles are counted on from ``turns``."""
        if self.joints is None:
            return self._free
        known = self._jointed
        if known is None or known[1] is not self.turns or not same_state(known[0], state):
            bilateral, acts, q, _ = self.joints.at(state, self.turns)
            known = self._jointed = state.copy(), self.turns, Jointed(bilateral, acts, q)
        return known[2]

    def advance_turns(self, state: State) -> None:
        """Count angles of joints on from this state."""
        if self.joints is not None:
            q = self.jointed(state).q
            self.turns = None if q is None else q.value

    def speeds(self, state: State) -> Floats:
        """(nb,) that no point of a body exceeds [m/s]; of unbounded ones: of their origin."""
        size = np.where(np.isfinite(self.sizes), self.sizes, 0.0)
        v, w = state.velocity[:, : self.model.dim], state.velocity[:, self.model.dim :]
        return np.asarray(np.sqrt((v**2).sum(axis=1)) + size * np.sqrt((w**2).sum(axis=1)))

    def travel(self, before: State, after: State, touch: float) -> Floats:
        """(ng,) how far a geom's surface can have moved in a step, with something to spare."""
        h, size = after.time - before.time, self.sizes
        speed = np.maximum(self.speeds(before), self.speeds(after))
        for i, (linear, angular) in self.bounds.fastest(before.time, after.time).items():
            reach_of = size[i] if np.isfinite(size[i]) else self._farthest(before, i)
            speed[i] = max(speed[i], linear + reach_of * angular)
        moved = np.sqrt(((after.position - before.position) ** 2).sum(axis=1))
        reach: Floats = np.maximum(h * speed, moved) + 2.0 * touch
        return np.asarray(1.2 * reach[self.model.geoms.body])

    def _farthest(self, state: State, i: int) -> float:
        """How far from body i any surface is that can meet it [m]."""
        away = np.sqrt(((state.position - state.position[i]) ** 2).sum(axis=1))
        return float((away + np.where(np.isfinite(self.sizes), self.sizes, 0.0)).max())

    def stored(self, state: State) -> float:
        """Energy in springs [J]."""
        return energy(self.model, state)[2] + stored_by_joints(self.model.joints, state, self.turns)

    def energy(self, state: State) -> float:
        """Of motion, height and springs [J]."""
        return sum(energy(self.model, state)[:2]) + self.stored(state)

    def keys(self, contacts: Contacts) -> list[Key]:
        """Names of contacts that stay with them: uids of their geoms, feature."""
        uid = self.model.geoms.uid
        columns = uid[contacts.geom_a], uid[contacts.geom_b], contacts.feature
        return list(zip(*(c.tolist() for c in columns), strict=True))

    def contact_name(self, key: Key, pair: Ints | None = None) -> str:
        """What a contact is called: its bodies, (2,) if they are known, and its key."""
        geoms, names = self.model.geoms, self.model.names
        if pair is None:
            pair = geoms.body[[np.argmax(geoms.uid == uid) for uid in key[:2]]]
        return f"{names[pair[0]]}/{names[pair[1]]} ({key[0]}.{key[1]}.{key[2]})"

    def joint_of(self, action: Any) -> Any:
        """Numbers of the joints that limits, motors and friction belong to."""
        joints = self.model.joints
        if joints is None:
            raise ValueError("no joints")
        return joints.coordinate_joint[joints.action_coordinate[action]]

    def joint_name(self, action: int) -> str:
        """The name of such a joint."""
        joint = int(self.joint_of(action))
        return "" if self.model.joints is None else self.model.joints.names[joint]

    def action_name(self, action: int) -> str:
        """The name of a limit, motor or friction of a joint, unique in that joint."""
        joints = self.model.joints
        if joints is None:
            raise ValueError("no joints")
        coordinate = joints.coordinate_name[int(joints.action_coordinate[action])]
        kind = ACTIONS[int(joints.action_kind[action])]
        return f"{self.joint_name(action)} ({kind} of {coordinate}, {action})"


def same_state(a: State, b: State) -> bool:
    """The same bits; a model's forces may depend on the time too."""
    return a.time == b.time and a.velocity.tobytes() == b.velocity.tobytes() and same_pose(a, b)


def same_pose(a: State, b: State) -> bool:
    """Bodies in the same places, bit for bit."""
    same = a.position.tobytes() == b.position.tobytes()
    return same and a.orientation.tobytes() == b.orientation.tobytes()


def _no_joints(dof: int) -> Jointed:
    none, pair = np.empty(0), np.empty((0, 2), np.int64)
    J = np.empty((0, 2, dof))
    number = np.empty(0, np.int64)
    bilateral = BilateralRows(pair, J, none, none, none)
    return Jointed(
        bilateral, JointActions(number, number > 0, none, pair, J, none, none, none, none), None
    )
