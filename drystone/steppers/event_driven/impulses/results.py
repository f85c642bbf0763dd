"""What impulses did: to bodies, to contacts, to energy."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from drystone.steppers.event_driven.forces.results import contact_motion, scatter
from drystone.steppers.event_driven.forces.state import ContactState
from drystone.steppers.event_driven.forces.system import System
from drystone.types import Floats, Status


@dataclass(frozen=True, slots=True)
class Impact:
    """One application of a law: the contacts with an impulse, and T+ - T- [J]."""

    contacts: tuple[int, ...]
    energy: float


@dataclass(slots=True)
class Collision:
    """Impulses at one instant, all impacts together.

    velocity_change (nb, dof); impulse (nc, d), joint (nj,) [N s]; u (nc, d), joint_u (nj,):
    velocities after. energy: T+ - T- of the bodies that impulses move, but for the work of
    prescribed bodies [J]. impacts: in order. log: sentences on energy gained and unfinished work.
    """

    velocity_change: Floats
    impulse: Floats
    joint: Floats
    u: Floats
    joint_u: Floats
    energy: float = 0.0
    status: Status = Status.SOLVED
    impacts: list[Impact] = field(default_factory=list)
    log: list[str] = field(default_factory=list)

    def work_on(self, state: ContactState, body: int, v: Floats) -> float:
        """Work of the impulses on a prescribed body with velocity v [J]."""
        total = 0.0
        for side in (0, 1):
            mine = state.body[:, side] == body
            total += float(np.einsum("cd,cdk,k->", self.impulse[mine], state.J[mine, :, side], v))
            ties = state.joint_body[:, side] == body
            total += float(self.joint[ties] @ (state.joint_J[ties, side] @ v))
        return total

    @classmethod
    def before(cls, state: ContactState) -> Collision:
        """Nothing has happened yet."""
        return cls(
            np.zeros((state.nb, state.dof)),
            np.zeros((state.nc, state.d)),
            np.zeros(state.nj),
            state.u.copy(),
            state.joint_u.copy(),
        )

    def apply(self, system: System, r: Floats) -> Impact:
        """Impulses r (m,) on the rows of a system: velocities jump, and energy changes."""
        state = system.state
        rows = system.contacts.size * state.d
        before = np.concatenate([self.u[system.contacts].ravel(), self.joint_u[system.joints]])
        change = np.zeros((state.nb, state.dof))
        system.add_motion(r, change)
        jump = system.rows @ change[system.bodies].ravel()
        # T+ - T- = (v+ + v-)' M (v+ - v-) / 2, and M (v+ - v-) = J' r
        energy = float(r @ (before + 0.5 * jump))
        self.velocity_change += change
        self.u += contact_motion(state, change)
        self.joint_u += joint_motion(state, change)
        scatter(system, r, self.impulse, self.joint)
        hit = np.flatnonzero(r[:rows].reshape(-1, state.d).any(axis=1))
        contacts = tuple(int(i) for i in system.contacts[hit])
        impact = Impact(contacts, energy)
        self.impacts.append(impact)
        self.energy += energy
        return impact

    def absorb(self, other: Collision) -> None:
        """Go on with what happened after: `other` began where this one ends."""
        self.velocity_change += other.velocity_change
        self.impulse += other.impulse
        self.joint += other.joint
        self.u, self.joint_u = other.u.copy(), other.joint_u.copy()
        self.energy += other.energy
        self.impacts.extend(other.impacts)
        self.log.extend(other.log)
        if other.status is not Status.SOLVED:
            self.status = other.status


def joint_motion(state: ContactState, v: Floats) -> Floats:
    """(nj,) J v of the joints' rows for v (nb, dof)."""
    padded = np.vstack([v, np.zeros(state.dof)])
    return np.asarray(np.einsum("jsk,jsk->j", state.joint_J, padded[state.joint_body]))
