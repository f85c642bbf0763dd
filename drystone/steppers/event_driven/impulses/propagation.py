"""Impacts one at a time (Baraff 1989, 8): the fastest approach first, until no contact approaches.

Joints take part in each of them (Baraff 1989, 8): they are eliminated once, so that an impact at
contact i sees K_i = W_ii - W_ij W_jj^-1 W_ji of its own rows.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from drystone.problems import FrictionProblem
from drystone.solvers.base import Solver
from drystone.steppers.event_driven.forces.state import ContactState
from drystone.steppers.event_driven.forces.system import System, islands
from drystone.steppers.event_driven.impulses.results import Collision
from drystone.steppers.event_driven.impulses.simultaneous import solved
from drystone.types import Floats, Status

SingleLaw = Callable[[Floats, Floats, float, float], Floats]  # (K, u, mu, eps) -> impulse


def propagate(state: ContactState, out: Collision, law: SingleLaw, eps: Floats, most: int) -> bool:
    """Impacts until none approaches faster than the tolerance; False after `most` of them."""
    tol, count = state.tolerances.normal, 0
    for system in islands(state, np.ones(state.nc, bool)):
        if system.contacts.size == 0:
            continue
        reduced = Reduced(system)
        while True:
            chosen = int(np.argmin(out.u[system.contacts, 0]))
            i = int(system.contacts[chosen])
            if out.u[i, 0] >= -tol:
                break
            if count >= most:
                return False
            count += 1
            if not reduced.strike(chosen, out, law, eps):
                out.status = Status.SINGULAR
                out.log.append(f"contact {state.key[i]}: no impulse stops its approach")
                return True
    return True


class Reduced:
    """An island whose joints follow the contacts: r_j = -W_jj^+ (W_jc r_c + u_j)."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.d = system.state.d
        rows = system.contacts.size * self.d
        W = system.W
        self.hold: Floats = np.zeros((system.joints.size, rows))
        self.close: Floats = np.zeros((system.joints.size, system.joints.size))
        if system.joints.size:
            closed = np.linalg.pinv(W[rows:, rows:], hermitian=True)
            self.close = -np.asarray(closed, dtype=np.float64)
            self.hold = self.close @ W[rows:, :rows]
        self.W = W[:rows, :rows] + W[:rows, rows:] @ self.hold
        self.bend = W[:rows, rows:] @ self.close

    def strike(self, chosen: int, out: Collision, law: SingleLaw, eps: Floats) -> bool:
        """One impact at a contact of the island; False if no impulse stops its approach."""
        system, state = self.system, self.system.state
        i, span = int(system.contacts[chosen]), slice(chosen * self.d, (chosen + 1) * self.d)
        joint_u = out.joint_u[system.joints]
        u = out.u[i] + self.bend[span] @ joint_u
        K, mu = self.W[span, span], float(state.mu[i, 1])
        r_c = law(K, u, mu, float(eps[i]))
        if not np.isfinite(r_c).all() and eps[i] > 0.0:
            # Newton's rebound may contradict friction; without rebound a solution exists
            r_c = law(K, u, mu, 0.0)
            out.log.append(f"contact {state.key[i]}: no impulse with this rebound; ended without")
        if not np.isfinite(r_c).all() or r_c[0] <= 0.0:
            return False
        r = np.zeros(system.m)
        r[span] = r_c
        rows = system.contacts.size * self.d
        r[rows:] = self.hold[:, span] @ r_c + self.close @ joint_u
        out.apply(system, r)
        return True


def newton_single(friction: bool, solvers: tuple[Solver, ...]) -> SingleLaw:
    """Newton's law at one contact: u_n+ = -eps u_n-; friction holds the contact, or slips (9-9)."""

    def law(K: Floats, u: Floats, mu: float, eps: float) -> Floats:
        q = u.copy()
        q[0] *= 1.0 + eps
        if not friction or mu == 0.0:
            r = np.zeros(u.size)
            r[0] = -q[0] / K[0, 0]
            return r
        problem = FrictionProblem(K, q, mu, dim=u.size, law="static" if u.size == 3 else "coulomb")
        solution = solved(problem, solvers)
        return solution.value if solution.ok else np.full(u.size, np.nan)

    return law
