"""A smooth phase: contacts that stay closed, who of them sticks and who slides, the index set L.

Between events the forces are those of one L, whether its conditions hold or not: smooth functions
of the state, so that an integrator of high order keeps its order. ``margins`` says by how much the
conditions hold; where one is about to fail, the phase ends.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg.lapack import dgecon, dgesv

from drystone.constraints.kinematics import ContactKinematics
from drystone.errors import SimulationError
from drystone.kernels import event_forces as kernels
from drystone.kernels.event_forces import powers
from drystone.kernels.event_margins import Conditions, ContactRows, margins
from drystone.model import Contacts, Model, State
from drystone.steppers.event_driven.active_contacts import ContactSet, Rows
from drystone.steppers.event_driven.forces import ContactForces, Forces, Kind, Tolerances
from drystone.steppers.event_driven.forces.index_set import solved
from drystone.steppers.event_driven.forces.results import contact_motion
from drystone.steppers.event_driven.vector import FRICTION, LOADS
from drystone.types import Bools, Floats, Ints

# of a body's size a second, of gravity: smaller speeds and accelerations count as zero
RESTING_SPEED = 1e-9
LEAVES = 10.0  # times the speed of rest: a closed contact that moves so has other features, or
LEAVES_BY_ERROR = 1e4  # times rtol, of the fastest body's speed, where that is more
WEAK_CONDITION = 1e-9  # reciprocal condition below which rows may depend on each other
# Of the largest singular value, units scaled out: what rows still resist, about the square of how
# far a linkage is from a dead point [rad]. There it is free to go either way, and continues as it
# moves; closer to it a row's force would be that of its rounding.
INDEX_SET_RANK = 1e-10


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


class Law:
    """Forces of a phase by the index sets of its islands. What stays the same for the whole phase
    is laid out once: equations and unknowns of every island, constant forces, tied friction.

    N rows: d of each of n contacts, normal first, then nj of joints.

    contacts (n,): numbers among those of the forces; resting: islands that are left out.
    body (N, 2): of the rows. tied (n,), direction (n, d - 1): contacts whose friction follows the
    normal force, and where to if their static friction gives way.
    """

    def __init__(
        self, model: Model, forces: Forces, contacts: Ints, body: Ints, resting: Container[int]
    ) -> None:
        self.model, self.body = model, body
        n, d = contacts.size, model.dim
        self.n, self.d = n, d
        place = np.full(len(forces.states), -1)
        place[contacts] = np.arange(n)
        self.tied, self.direction = np.zeros(n, bool), np.zeros((n, d - 1))
        self.moves = np.asarray(model.inverse_mass > 0)
        held = np.zeros(body.shape[0])
        # equations, unknown rows, their shares, all equations with those that follow from others
        self._parts: list[tuple[Ints, Ints, Floats, Ints]] = []
        for i, part in enumerate(forces.islands):
            L, system = part.index_set, part.system
            if i in resting or L is None:
                continue
            at = place[system.contacts]
            rows_of = np.concatenate([
                (d * at[:, None] + np.arange(d)).ravel(), n * d + system.joints,
            ])  # fmt: skip
            bears = np.flatnonzero(L.share) if L.share.any() else L.rows
            spare = np.setdiff1d(system.m - 1 - np.arange(system.joints.size), L.rows)
            if bears.size:
                every = rows_of[np.concatenate([L.rows, spare])]
                self._parts.append((rows_of[L.rows], rows_of[bears], L.share[bears], every))
            mine = at >= 0
            self.tied[at[mine]] = (L.closed & ~L.stick)[mine]
            self.direction[at[mine]] = L.direction[mine]
            given = np.flatnonzero(L.held)
            held[rows_of[given]] = L.held[given]
        tangents = held[: n * d].reshape(n, d)[:, 1:]
        tangents[self.tied] = 0.0
        self._given = np.flatnonzero(held)
        self._force = held[self._given]
        self.condition = 1.0  # reciprocal, of the worst island, where forces were found last

    def forces(
        self,
        J: Floats,
        bias: Floats,
        soft: Floats,
        friction: Floats,
        inverse_inertia: Floats,
        a: Floats,
    ) -> Floats:
        """r (N,) [N], and what r does to the bodies is added to a (nb, dof).

        J (N, 2, dof), bias, soft (N,); friction (n, d - 1): r_t / r_n of tied contacts, zeros of
        the others; inverse_inertia in world axes; a: without forces on the rows.
        """
        model, n, d = self.model, self.n, self.d
        k = 1 if d == 2 else 3
        S = np.empty_like(J)
        kernels.responses(self.body, J, model.inverse_mass, inverse_inertia.reshape(-1, k, k), S)
        kernels.tie(friction, self.tied, S)
        r, self.condition = np.zeros(bias.size), 1.0
        r[self._given] = self._force
        kernels.add_rows(self._given, self._force, self.body, S, a)
        for equations, unknown, share, every in self._parts:
            given = self.body, self.moves, J, S, bias, soft, a
            B, load = _equations(equations, unknown, *given)
            f, condition = _unknown(B, load, share)
            self.condition = min(self.condition, condition)
            if condition <= WEAK_CONDITION and every.size > equations.size:
                unknown = every  # those that were chosen to bear the load depend on each other here
                f = _least(*_equations(every, every, *given))
            r[unknown] = f
            kernels.add_rows(unknown, f, self.body, S, a)
        f = r[: n * d].reshape(n, d)
        f[self.tied, 1:] = friction[self.tied] * f[self.tied, :1]
        return r


def _equations(equations: Ints, unknown: Ints, *given: Any) -> tuple[Floats, Floats]:
    """B and load of B'f = load; given: as ``kernels.equations`` has it."""
    B, load = np.empty((unknown.size, equations.size)), np.empty(equations.size)
    kernels.equations(equations, unknown, *given, B, load)
    return B, load


def _unknown(B: Floats, load: Floats, share: Floats) -> tuple[Floats, float]:
    """Forces f with B'f = load: those that share the load, the only ones, or the least; and the
    reciprocal condition of B, 1 where they share it."""
    if load.size < B.shape[0]:
        return solved(B.T, load, share), 1.0
    lu, _, f, info = dgesv(B.T, load)
    condition = 0.0 if info else float(dgecon(lu, np.abs(B).sum(axis=1).max(initial=0.0))[0])
    return (np.asarray(f) if condition > WEAK_CONDITION else _least(B, load)), condition


def _least(B: Floats, load: Floats) -> Floats:
    """Least forces f with B'f = load, units scaled out."""
    unit = np.sqrt(np.maximum(np.abs(B.diagonal()), 1e-300))
    scaled = B.T / unit[:, None] / unit
    return np.asarray(np.linalg.lstsq(scaled, load / unit, rcond=INDEX_SET_RANK)[0] / unit)


@dataclass(slots=True)
class Evaluation:
    """Forces f (nc, d), joint (nj,), accelerations (nb, dof) at a state; condition: reciprocal, of
    the equations that gave them."""

    state: State
    rows: Rows
    f: Floats
    joint: Floats
    acceleration: Floats
    power: Floats
    condition: float = 1.0


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
        self.races = False  # whether contact points race over nearly flat surfaces
        self._last: Evaluation | None = None
        self.resting: dict[int, tuple[Floats, Floats]] = {}  # forces of islands in equilibrium
        self._law: Law | None = None
        states = np.array(forces.states, np.int64)
        self.sticks: Bools = states == Kind.STICKING
        self.closed: Bools = self.sticks | (states == Kind.YIELDING) | (states == Kind.SLIDING)
        a = np.abs(forces.contact_acceleration)
        self.idle: Bools = (states == Kind.OPEN) & (a[:, 0] <= RESTING_SPEED * a.max(initial=1.0))
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

    def leaving_speed(self, state: State) -> float:
        """At which a closed contact is one of other features [m/s]: far beyond rest, and beyond the
        integrator's error within a step; none where contact points race over flat spots, and what
        is taken from their velocities tells whether they can be crossed."""
        if self.races:
            return np.inf
        mechanics = self.contact_set.mechanics
        fastest = float(mechanics.speeds(state).max(initial=0.0))
        return max(LEAVES * self.tolerances.normal, LEAVES_BY_ERROR * mechanics.rtol * fastest)

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
        condition = 1.0 if self._law is None else self._law.condition
        self._last = Evaluation(state, rows, f, joint, acceleration, power, condition)
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
            quiet = np.abs(v).max(initial=0.0) <= RESTING_SPEED * mechanics.size
            if quiet and np.abs(rate).max(initial=0.0) <= RESTING_SPEED * size:
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
