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
from drystone.model import Contacts, State
from drystone.steppers.event_driven.forces import ContactForces, Forces, Tolerances
from drystone.steppers.event_driven.forces.compute import contact_motion, scatter
from drystone.steppers.event_driven.forces.methods import acting
from drystone.steppers.event_driven.forces.system import System
from drystone.steppers.event_driven.touch import Held, Rows
from drystone.steppers.event_driven.vector import CONSTRAINT, DRIVING, FRICTION, LOADS
from drystone.types import Bools, Floats

STILL = 1e-9  # of a body's size a second, of gravity: speeds and accelerations that are none


@dataclass(slots=True, eq=False)
class Sliding:
    """Who slides, and in which direction friction is taken to act.

    slides, frozen (nc,): a frozen direction stays the same vector: always in the plane, where it
    is a sign, and in space while the slip is too slow to have a direction; otherwise it is that
    of the velocity. direction (nr, dim): world vectors of contacts; way (n,): signs of actions.
    """

    slides: Bools
    frozen: Bools
    direction: Floats
    way: Floats

    def __call__(self, kin: ContactKinematics, u: Floats) -> Floats:
        """(nc, d - 1) slip directions in the contacts' frames."""
        out = np.where((self.slides & ~self.frozen)[:, None], u[:, 1:], 0.0)
        nr = self.direction.shape[0]
        held = np.einsum("iak,ik->ia", kin.frame[:, 1:], self.direction)
        stays = self.slides & self.frozen
        out[:nr][stays[:nr]] = held[stays[:nr]]
        out[nr:, 0] = np.where(stays[nr:], self.way, 0.0)
        return out


@dataclass(slots=True)
class Evaluation:
    """Forces f (nc, d), joint (nj,), accelerations (nb, dof) at a state; contact accelerations."""

    state: State
    rows: Rows
    f: Floats
    joint: Floats
    acceleration: Floats
    power: Floats
    parts: list[tuple[System, Floats, Floats]]


class Mode:
    """The law of motion of one smooth phase.

    forces: the solution it starts from. closed, sticks (nc,): contacts that press, and those of
    them that do not slip; fresh (nc,): contacts that begin to slide here; idle
    (nc,): those that touch without force or acceleration.
    """

    def __init__(
        self,
        held: Held,
        forces: Forces,
        sliding: Sliding,
        tolerances: Tolerances,
        method: ContactForces,
        fresh: Bools,
    ) -> None:
        self.held, self.forces, self.sliding = held, forces, sliding
        self.tolerances, self.method, self.fresh = tolerances, method, fresh
        self._last: Evaluation | None = None
        self.resting: dict[int, tuple[System, Floats, Floats]] = {}
        word = np.array(forces.word, dtype="<U9")
        self.closed: Bools = np.isin(word, ("stick", "onset", "slide"))
        self.sticks: Bools = word == "stick"
        a = np.abs(forces.contact_acceleration)
        self.idle: Bools = (word == "open") & (a[:, 0] <= STILL * a.max(initial=1.0))
        self.smooth = all(part.index_set is not None for part in forces.islands)

    @property
    def signature(self) -> tuple[object, ...]:
        """Equal for phases with the same law of motion."""
        marks = (self.closed, self.sticks, self.sliding.slides, self.sliding.frozen, self.held.acts)
        return (tuple(self.held.keys), *(mark.tobytes() for mark in marks))

    def evaluate(self, state: State, found: Contacts | None = None) -> Evaluation:
        rows = self.held.rows(state, self.sliding, self.tolerances, found=found)
        if self._last is not None and self._last.rows is rows:
            return self._last
        now = rows.state
        if not self.smooth:
            result = self.method.solve(now)
            f, joint, acceleration, parts = result.f, result.joint, result.acceleration, []
        else:
            f, joint = np.zeros((now.nc, now.d)), np.zeros(now.nj)
            acceleration, parts = now.acceleration.copy(), self._parts(rows)
            for system, r, _ in parts:
                scatter(system, r, f, joint)
                system.add_motion(r, acceleration)
            for system, _, _ in self.resting.values():
                acceleration[system.bodies] = 0.0
        power = self._power(rows, f, joint, state.velocity)
        self._last = Evaluation(state, rows, f, joint, acceleration, power, parts)
        return self._last

    def rest(self, state: State) -> None:
        """Islands that are in equilibrium stay so for the phase; their velocities become zero, in
        place. Only where nothing but gravity, contacts with what is fixed and each other act."""
        scene = self.held.scene
        model = scene.model
        if not self.smooth or model.forces:
            return
        busy = np.zeros(model.nb, bool)
        busy[[i for i, _ in model.motions]] = True
        if model.joints is not None:
            busy[model.joints.body[model.joints.body >= 0]] = True
        now = self.evaluate(state)
        size = float(np.abs(model.gravity).max(initial=0.0))
        for k, (system, r, a) in enumerate(now.parts):
            v, rate = state.velocity[system.bodies], now.acceleration[system.bodies]
            if busy[system.bodies].any():
                continue
            quiet = np.abs(v).max(initial=0.0) <= STILL * scene.size
            if quiet and np.abs(rate).max(initial=0.0) <= STILL * size:
                self.resting[k] = (system, r, a)
                state.velocity[system.bodies] = 0.0
                self._last = None

    def _parts(self, rows: Rows) -> list[tuple[System, Floats, Floats]]:
        out = []
        for k, part in enumerate(self.forces.islands):
            if k in self.resting:
                out.append(self.resting[k])
                continue
            system = System(rows.state, part.system.contacts, part.system.joints)
            slip, mu = acting(system)
            L = part.index_set
            found = None if L is None else L.values(system, mu, slip)
            if found is None:
                raise SimulationError("the index set of a phase became singular")
            out.append((system, *found))
        return out

    def _power(self, rows: Rows, f: Floats, joint: Floats, v: Floats) -> Floats:
        """Rates of the energies of ``vector`` [W]."""
        state, out, nr = rows.state, np.zeros(4), rows.nr
        model = self.held.scene.model
        moving = model.inverse_mass > 0
        out[LOADS] = float((rows.loads.force[moving] * v[moving]).sum())
        out[FRICTION] = float((f[:nr, 1:] * state.u[:nr, 1:]).sum())
        if rows.loaded.any():
            own = contact_motion(state, v)[rows.loaded, 1]
            out[LOADS] += float((f[rows.loaded, 1] * own).sum())
        out[CONSTRAINT] = float((f[~rows.loaded, 0] * state.u[~rows.loaded, 0]).sum())
        out[CONSTRAINT] += float(joint @ state.joint_u)
        for i, _ in model.motions:
            out[DRIVING] -= float(_on_body(rows, f, joint, i) @ v[i])
        return out

    def margins(self, now: Evaluation) -> dict[tuple[str, int], float]:
        """By how much the conditions of L hold, relative to the island's largest force or
        acceleration: pressing contacts pull (f_n), sticking ones give way (cone), open ones that
        still touch would penetrate (a_n). Negative: violated."""
        out: dict[tuple[str, int], float] = {}
        if not self.smooth:
            return out
        rows, tol = now.rows, self.tolerances
        for n, (system, r, a) in enumerate(now.parts):
            L = self.forces.islands[n].index_set
            if L is None or system.contacts.size == 0 or n in self.resting:
                continue
            d, nc = system.state.d, system.contacts.size
            _, mu = acting(system)
            own = np.abs(system.W.diagonal())[: d * nc].reshape(nc, d).mean(axis=1)
            unit = np.sqrt(np.where(own > 0, own, 1.0))
            force = r[: d * nc].reshape(nc, d) * unit[:, None]
            pull = a[: d * nc].reshape(nc, d)[:, 0] / unit
            free = system.q[: d * nc].reshape(nc, d) / unit[:, None]
            size = max(float(np.abs(force).max()), float(np.abs(free).max()), 1e-300)
            friction = np.sqrt((force[:, 1:] ** 2).sum(axis=1))
            own_u = np.abs(rows.state.u[system.contacts, 0])
            free_load = ~rows.loaded[system.contacts]
            for name, where, value in (
                ("pull", free_load & L.closed, force[:, 0]),
                ("press", free_load & ~L.closed & (own_u <= tol.normal), pull),
                ("cone", L.stick, mu * force[:, 0] - friction),
            ):
                at = np.flatnonzero(where)
                numbers = (value[at] / size).tolist()
                for i, number in zip(system.contacts[at].tolist(), numbers, strict=True):
                    out[name, i] = number
        return out


def _on_body(rows: Rows, f: Floats, joint: Floats, i: int) -> Floats:
    """(dof,) force of contacts and joints on body i."""
    state = rows.state
    out = np.zeros(state.dof)
    for side in (0, 1):
        mine = state.body[:, side] == i
        out += np.einsum("cd,cdk->k", f[mine], state.J[mine, :, side])
        ties = state.joint_body[:, side] == i
        out += joint[ties] @ state.joint_J[ties, side]
    return out
