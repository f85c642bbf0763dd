"""A smooth phase: contacts that stay closed, who of them sticks and who slides, the index set L.

Between events the forces are those of one L, whether its conditions hold or not: smooth functions
of the state, so that an integrator of high order keeps its order. ``margins`` says by how much the
conditions hold; where one is about to fail, the phase ends.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drystone.constraints.kinematics import ContactKinematics
from drystone.errors import SimulationError
from drystone.kernels.event_forces import powers
from drystone.kernels.event_margins import Conditions, ContactRows, margins
from drystone.model import Contacts, State
from drystone.steppers.event_driven.active_contacts import ContactSet, Rows
from drystone.steppers.event_driven.forces import ContactForces, Forces, Kind, Tolerances
from drystone.steppers.event_driven.forces.compute import contact_motion
from drystone.steppers.event_driven.law import Law
from drystone.steppers.event_driven.vector import FRICTION, LOADS
from drystone.types import Bools, Floats, Ints

STILL = 1e-9  # of a body's size a second, of gravity: speeds and accelerations that are none


@dataclass(slots=True, eq=False)
class Sliding:
    """Who slides, and in which direction friction is taken to act.

    slides, frozen (nc,): a frozen direction stays the same vector: always in the plane, where it
    is a sign, and in space while the slip is too slow to have a direction; otherwise it is that
    of the velocity. direction (nr, dim): world vectors of contacts; way (n,): signs of actions.
    straight (nr,): frozen directions of slip that has one and keeps it to within `aside`, a part of
    it: what there is across it would die out at a rate of mu g over the slip speed, and the
    slower it slips the shorter were the steps of an integrator that follows it.
    """

    slides: Bools
    frozen: Bools
    direction: Floats
    way: Floats
    straight: Bools
    aside: float

    def __call__(self, kin: ContactKinematics, u: Floats) -> Floats:
        """(nc, d - 1) slip directions in the contacts' frames."""
        out = np.where((self.slides & ~self.frozen)[:, None], u[:, 1:], 0.0)
        nr = self.direction.shape[0]
        kept = np.einsum("iak,ik->ia", kin.frame[:, 1:], self.direction)
        stays = self.slides & self.frozen
        out[:nr][stays[:nr]] = kept[stays[:nr]]
        out[nr:, 0] = np.where(stays[nr:], self.way, 0.0)
        return out


@dataclass(slots=True)
class Evaluation:
    """Forces f (nc, d), joint (nj,), accelerations (nb, dof) at a state."""

    state: State
    rows: Rows
    f: Floats
    joint: Floats
    acceleration: Floats
    power: Floats


class Mode:
    """The law of motion of one smooth phase.

    forces: the solution it starts from. closed, sticks (nc,): contacts that press, and those of
    them that do not slip; fresh (nc,): contacts that begin to slide here; idle
    (nc,): those that touch without force or acceleration.
    """

    def __init__(
        self,
        contact_set: ContactSet,
        forces: Forces,
        sliding: Sliding,
        tolerances: Tolerances,
        method: ContactForces,
        fresh: Bools,
    ) -> None:
        self.contact_set, self.forces, self.sliding = contact_set, forces, sliding
        self.tolerances, self.method, self.fresh = tolerances, method, fresh
        self._last: Evaluation | None = None
        self.resting: dict[int, tuple[Floats, Floats]] = {}  # forces of islands in equilibrium
        self._law: Law | None = None
        states = np.array(forces.states, np.int64)
        self.sticks: Bools = states == Kind.STICKING
        self.closed: Bools = self.sticks | (states == Kind.YIELDING) | (states == Kind.SLIDING)
        a = np.abs(forces.contact_acceleration)
        self.idle: Bools = (states == Kind.OPEN) & (a[:, 0] <= STILL * a.max(initial=1.0))
        self.smooth = all(part.index_set is not None for part in forces.islands)
        self._island = np.full(states.size, -1)
        self._pressing, self._sticking = np.zeros((2, states.size), bool)
        for k, part in enumerate(forces.islands):
            L, own = part.index_set, part.system.contacts
            self._island[own] = k
            if L is not None:
                self._pressing[own], self._sticking[own] = L.closed, L.stick

    @property
    def spare_joints(self) -> Ints:
        """Rows of joints that follow from others of their island, as its index set has it."""
        out = [np.empty(0, np.int64)]
        for part in self.forces.islands:
            if part.index_set is not None and part.system.joints.size:
                first = part.system.m - part.system.joints.size
                own = np.arange(first, part.system.m)
                out.append(part.system.joints[~np.isin(own, part.index_set.rows)])
        return np.concatenate(out)

    @property
    def signature(self) -> tuple[object, ...]:
        """Equal for phases with the same law of motion."""
        marks = (
            self.closed,
            self.sticks,
            self.sliding.slides,
            self.sliding.frozen,
            self.contact_set.acts,
        )
        return (tuple(self.contact_set.keys), *(mark.tobytes() for mark in marks))

    def evaluate(self, state: State, found: Contacts | None = None) -> Evaluation:
        rows = self.contact_set.rows(state, self.sliding, self.tolerances, found=found)
        if self._last is not None and self._last.rows is rows:
            return self._last
        if self.smooth:
            f, joint, acceleration = self._by_law(rows)
        else:
            result = self.method.solve(rows.state)
            f, joint, acceleration = result.f, result.joint, result.acceleration
        power = self._power(rows, f, joint, state.velocity)
        self._last = Evaluation(state, rows, f, joint, acceleration, power)
        return self._last

    def _by_law(self, rows: Rows) -> tuple[Floats, Floats, Floats]:
        """Forces of contacts and joints, and accelerations, by the index sets of the phase."""
        state = rows.state
        law = self._law
        if law is None:
            model = self.contact_set.mechanics.model
            every = np.arange(state.nc)
            law = self._law = Law(model, self.forces, every, rows.body, self.resting)
        slip, mu = state.slip_directions, state.acting
        friction = np.where(law.tied[:, None], mu[:, None] * (law.direction - slip), 0.0)
        acceleration = state.acceleration.copy()
        r = law.forces(rows.J, rows.bias, rows.soft, friction, state.inverse_inertia, acceleration)
        nd = state.nc * state.d
        f, joint = r[:nd].reshape(state.nc, state.d), r[nd:]
        if not np.isfinite(r).all():
            raise SimulationError("the index set of a phase became singular")
        for k, (mine, bilateral) in self.resting.items():
            system = self.forces.islands[k].system
            f[system.contacts], joint[system.joints] = mine, bilateral
            acceleration[system.bodies] = 0.0
        return f, joint, acceleration

    def straighten(self, state: State, slow: float) -> None:
        """Slip that stopping others has turned aside keeps the direction that it has now."""
        way = self.sliding
        if not way.straight.any():
            return
        rows = self.contact_set.rows(state, None, self.tolerances)
        for i in np.flatnonzero(way.straight).tolist():
            frame, u = rows.kin.frame[i, 1:], rows.state.u[i, 1:]
            s, speed = frame @ way.direction[i], float(np.sqrt(u @ u))
            if abs(s[0] * u[1] - s[1] * u[0]) > 0.5 * way.aside * (speed + slow):
                way.direction[i] = u @ frame / speed

    def rest(self, state: State) -> None:
        """Islands that are in equilibrium stay so for the phase; their velocities become zero, in
        place. Only where nothing but gravity, contacts with what is fixed and each other act."""
        mechanics = self.contact_set.mechanics
        model = mechanics.model
        if not self.smooth or model.forces:
            return
        busy = np.zeros(model.nb, bool)
        busy[[i for i, _ in model.motions]] = True
        if model.joints is not None:
            busy[model.joints.body[model.joints.body >= 0]] = True
        now = self.evaluate(state)
        size = float(np.abs(model.gravity).max(initial=0.0))
        for k, part in enumerate(self.forces.islands):
            system = part.system
            v, rate = state.velocity[system.bodies], now.acceleration[system.bodies]
            if busy[system.bodies].any():
                continue
            quiet = np.abs(v).max(initial=0.0) <= STILL * mechanics.size
            if quiet and np.abs(rate).max(initial=0.0) <= STILL * size:
                self.resting[k] = now.f[system.contacts], now.joint[system.joints]
                state.velocity[system.bodies] = 0.0
                self._last = self._law = None

    def _power(self, rows: Rows, f: Floats, joint: Floats, v: Floats) -> Floats:
        """Rates of the energies of ``vector`` [W]."""
        state, out, d = rows.state, np.zeros(4), rows.state.d
        mechanics = self.contact_set.mechanics
        r, u = np.concatenate([f.ravel(), joint]), np.concatenate([state.u.ravel(), state.joint_u])
        powers(state.nc, d, rows.body, mechanics.driven, rows.J, r, u, v, out)
        out[LOADS] = float((rows.loads.force * v)[mechanics.model.inverse_mass > 0].sum())
        if rows.loaded.any():  # their motion is the coordinate's own, their slip is not
            own = contact_motion(state, v)[rows.loaded, 1]
            out[LOADS] += float((f[rows.loaded, 1] * own).sum())
            out[FRICTION] -= float((f[rows.loaded, 1] * state.u[rows.loaded, 1]).sum())
        return out

    def margins(self, now: Evaluation) -> tuple[Floats, Floats, Floats]:
        """By how much the conditions of L hold, relative to the island's largest force or
        acceleration: pressing contacts pull (f_n), open ones that still touch would penetrate
        (a_n), sticking ones give way (cone); (nc,) each. Negative: violated; inf: no condition."""
        rows, state = now.rows, now.rows.state
        nc, d = state.nc, state.d
        out = np.full((3, nc), np.inf)
        pull, press, cone = out
        if not self.smooth or nc == 0:
            return pull, press, cone
        k = 1 if d == 2 else 3
        island = self._island.copy()
        for i in self.resting:
            island[island == i] = -1
        margins(
            Conditions(island, self._pressing, self._sticking, state.acting),
            ContactRows(rows.body, rows.J, rows.bias[: nc * d], rows.soft),
            state.inverse_mass, state.inverse_inertia.reshape(-1, k, k), now.acceleration,
            state.acceleration, now.f, out,
        )  # fmt: skip
        pull[rows.loaded] = press[rows.loaded] = np.inf
        press[np.abs(state.u[:, 0]) > self.tolerances.normal] = np.inf
        return pull, press, cone
