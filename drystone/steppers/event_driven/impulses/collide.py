"""Collisions of one instant by a chosen law, and impulses without collision (Baraff 1992, 13.1).

Newton's law at all contacts at once (Baraff 1989, 8; Baraff 1992, 9.4): u_n+ >= -eps u_n-,
r_n >= 0, and one of them an equality; friction as for static contacts, with velocities after the
impact in the place of accelerations (9-9, 9-10): |r_t| <= mu r_n, and at its bound and against the
slip where the contact slides on. So a collision is a friction problem with
q = ((1 + eps) u_n-, u_t-). Newton's law with friction may gain energy (Baraff 1989, Kane's
example).

Impacts one at a time (Baraff 1989, 8): the fastest approach first, until no contact approaches.
Joints take part in each of them: they are eliminated once, so that an impact at contact i sees
K_i = W_ii - W_ij W_jj^-1 W_ji of its own rows. The law of one contact may be an exact one
(``exact``).

Where no forces exist sliding stops at once: a ray r of the force problem is scaled until the first
contact with dynamic friction stops; where it acts, contacts then approach, and these genuine
collisions are resolved by the chosen law.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, Literal

import numpy as np

from drystone.errors import OptionError, SimulationError
from drystone.problems import FrictionProblem
from drystone.solvers.base import Solver
from drystone.steppers.event_driven.forces.coulomb import ALIKE, central_answer
from drystone.steppers.event_driven.forces.methods import named
from drystone.steppers.event_driven.forces.rays import stopping_scale
from drystone.steppers.event_driven.forces.state import ContactState, Kind
from drystone.steppers.event_driven.forces.system import System, islands
from drystone.steppers.event_driven.impulses.exact import Restitution, keller, routh
from drystone.steppers.event_driven.impulses.results import Collision, Impact
from drystone.types import Floats, Solution, Status
from drystone.values import check_options

Law = Literal["newton", "frictionless", "routh", "keller"]
Order = Literal["simultaneous", "propagation"]
EXACT = ("routh", "keller")
FALLBACK = ("dantzig", "lemke", "nsgs")
ENERGY_GAIN = 1e-9  # of the energy that impulses exchange: more than this is a gain, not rounding
SingleLaw = Callable[[Floats, Floats, float, float], Floats]  # (K, u, mu, eps) -> impulse

OPPOSED = 1e-9  # by how much Coulomb's law is missed at most, of the largest impulse or velocity
REOPENED_ROUNDS = 50  # of contacts that separated and are driven together again by others


@dataclass(frozen=True, kw_only=True)
class CollisionLaw:
    """How velocities jump when contacts approach.

    law: "newton": u_n+ = -eps u_n- with friction by the conditions of Baraff 1992, 9.4;
        "frictionless": the same without friction; "routh": exact impact in the plane, with
        stick, slip and reversed slip; "keller": the same in space, where slip turns.
        Friction is the dynamic coefficient.
    order: "simultaneous" (default of the first two) or "propagation", one contact at a time
        (the exact laws know no other).
    restitution: "poisson" (default), "newton" or "stronge", of the exact laws.
    solver: method for the friction problems of the first two.
    max_impacts: of propagation; beyond it the rest is resolved at once and plastically.
    """

    law: Law = "newton"
    order: Order | None = None
    restitution: Restitution | None = None
    solver: str | Solver = "dantzig"
    max_impacts: int = 10_000

    def __post_init__(self) -> None:
        check_options(self, "collisions")
        exact = self.law in EXACT
        if exact and self.order == "simultaneous":
            raise OptionError(f"{self.law} resolves one contact at a time: order='propagation'")
        if not exact and self.restitution not in (None, "newton"):
            raise OptionError(
                f"{self.law}: restitution = {self.restitution!r}: only routh and keller know it"
            )
        if self.max_impacts < 1:
            raise OptionError(f"collisions: max_impacts = {self.max_impacts}: expected >= 1")

    @property
    def propagates(self) -> bool:
        return self.law in EXACT or self.order == "propagation"

    def resolve(self, state: ContactState) -> Collision:
        """Impulses after which joints move as they must and no contact approaches faster than the
        tolerance."""
        out = Collision.before(state)
        solvers = self._solvers()
        friction = self.law != "frictionless"
        close_joints(state, out, friction, state.restitution, solvers)
        if self.propagates:
            law = self.single(state.d)
            if not propagate(state, out, law, state.restitution, self.max_impacts):
                left = float(-out.u[:, 0].min())
                out.log.append(
                    f"contacts still approach at {left:.4g} m/s after {self.max_impacts} impacts "
                    "one at a time; ended at once, without rebound"
                )
                finish(state, out, friction, solvers)
        else:
            simultaneous(state, out, friction, state.restitution, solvers)
        for impact in out.impacts:
            self._watch(impact, state, out)
        return out

    def single(self, d: int) -> SingleLaw:
        """The law of one contact."""
        if self.law == "routh" and d == 3:
            raise OptionError("routh is the exact law of the plane: use keller in space")
        if self.law in EXACT:
            path, ends = routh if d == 2 else keller, self.restitution or "poisson"
            return lambda K, u, mu, eps: path(K, u, mu, eps, ends)[0]
        return newton_single(self.law == "newton", self._solvers())

    def _solvers(self) -> tuple[Solver, ...]:
        others = tuple(name for name in FALLBACK if name != self.solver)
        return tuple(named(name, 1e-10) for name in (self.solver, *others))

    def _watch(self, impact: Impact, state: ContactState, out: Collision) -> None:
        """Say so when an impact gains energy, and which law did."""
        scale = float(np.abs(out.impulse * (np.abs(state.u) + np.abs(out.u))).sum())
        if impact.energy <= ENERGY_GAIN * scale:
            return
        names = ", ".join(str(state.key[i]) for i in impact.contacts)
        law: str = self.law
        if law in EXACT:
            law += f" with {self.restitution or 'poisson'} restitution"
        out.log.append(f"contacts {names}: {law} gained {impact.energy:.4g} J")


def collide(state: ContactState, **options: Any) -> Collision:
    """Resolve the collisions of an instant; options as of ``CollisionLaw``."""
    return CollisionLaw(**options).resolve(state)


def impulse_without_collision(
    state: ContactState, ray: Floats, joint_ray: Floats | None = None
) -> tuple[Collision, int]:
    """(impulse along the ray, number of the contact whose sliding it stops).

    ray (nc, d), joint_ray (nj,): direction, as of ``Forces.ray``. Exact in the plane; in space
    the slip direction is taken as constant (Baraff 1992, 13.1, footnote).
    """
    system, r = _on_rows(state, ray, joint_ray)
    alpha, stopped = stopping_scale(system, r)
    if stopped < 0:
        raise SimulationError(
            "an impulse along the ray stops no sliding contact: it is no answer to the jam of "
            f"contacts {', '.join(str(k) for k in state.key)}"
        )
    out = Collision.before(state)
    out.apply(system, alpha * r)
    out.u[stopped, 1:] = 0.0
    out.log.append(
        f"contact {state.key[stopped]}: friction jams; an impulse without collision stops it"
    )
    return out, stopped


def resolve_jam(
    state: ContactState,
    ray: Floats,
    joint_ray: Floats | None = None,
    law: CollisionLaw | None = None,
) -> Collision:
    """The impulse along the ray, and the collisions that it makes.

    An exact law takes the whole as one impact where the ray acts on one contact: in space it
    then follows the slip as it turns.
    """
    law = CollisionLaw() if law is None else law
    acting = np.flatnonzero(np.abs(ray[:, 0]) > 0.0)
    if law.law in EXACT and acting.size == 1:
        return _exact(state, int(acting[0]), law)
    first, stopped = impulse_without_collision(state, ray, joint_ray)
    slip: Any = state.slip
    if slip is not None:
        slip = slip.copy()
        slip[stopped] = 0.0
    then = law.resolve(replace(state, u=first.u, joint_u=first.joint_u, slip=slip))
    first.absorb(then)
    return first


def _exact(state: ContactState, i: int, law: CollisionLaw) -> Collision:
    """One impact that begins at u_n = 0; the other contacts are resolved after it."""
    active = np.flatnonzero(state.kind != Kind.SEPARATING)
    reduced = Reduced(System(state, active, np.arange(state.nj)))
    out = Collision.before(state)
    out.u[i, 0] = min(out.u[i, 0], 0.0)
    chosen = int(np.flatnonzero(active == i)[0])
    if not reduced.strike(chosen, out, law.single(state.d), state.restitution):
        raise SimulationError(f"contact {state.key[i]}: {law.law} finds no jam here")
    out.log.append(f"contact {state.key[i]}: friction jams; an impulse without collision stops it")
    out.absorb(law.resolve(replace(state, u=out.u, joint_u=out.joint_u, slip=None)))
    return out


def _on_rows(state: ContactState, ray: Floats, joint_ray: Floats | None) -> tuple[System, Floats]:
    active = np.flatnonzero((state.kind != Kind.SEPARATING) | ray.any(axis=1))
    system = System(state, active, np.arange(state.nj))
    joints = np.zeros(state.nj) if joint_ray is None else joint_ray
    return system, np.concatenate([ray[active].ravel(), joints])


# All contacts at once.


def simultaneous(
    state: ContactState, out: Collision, friction: bool, eps: Floats, solvers: tuple[Solver, ...]
) -> None:
    """Rounds of simultaneous impacts until no contact approaches; eps (nc,).

    Contacts that separate are left out of a round. Bodies caught between others may then be
    thrown to and fro without end, or be asked to leave both: such collisions end without rebound.
    """
    tol = state.tolerances.normal
    for _ in range(REOPENED_ROUNDS):
        approach = out.u[:, 0] < -tol
        if not approach.any():
            return
        for system in islands(state, out.u[:, 0] <= tol):
            if not approach[system.contacts].any():
                continue
            solution = solved(impact_problem(system, out, friction, eps), solvers)
            if not solution.ok:
                out.log.append(
                    f"{_names(state, system)}: no impulses with this rebound "
                    f"({solution.status.value}); ended without rebound"
                )
                finish(state, out, friction, solvers)
                return
            out.apply(system, solution.value)
    left = float(-out.u[:, 0].min())
    if left > tol:
        out.log.append(
            f"contacts still approach at {left:.4g} m/s after {REOPENED_ROUNDS} simultaneous "
            "impacts; ended without rebound"
        )
        finish(state, out, friction, solvers)


def close_joints(
    state: ContactState, out: Collision, friction: bool, eps: Floats, solvers: tuple[Solver, ...]
) -> None:
    """Impulses where joints do not move as they must, with the contacts beside them: they push and
    rub as in a collision. Joints without contacts are left to the projection, which is the same.
    """
    tol = state.tolerances.normal
    for system in islands(state, out.u[:, 0] <= tol):
        if system.contacts.size == 0 or np.abs(out.joint_u[system.joints]).max(initial=0.0) <= tol:
            continue
        solution = solved(impact_problem(system, out, friction, eps), solvers)
        if solution.ok:
            out.apply(system, solution.value)
        else:
            out.status = solution.status
            out.log.append(f"{_names(state, system)}: joints do not close with them")


def finish(
    state: ContactState, out: Collision, friction: bool, solvers: tuple[Solver, ...]
) -> None:
    """One plastic impact of every contact, separating ones included: afterwards none approaches."""
    plastic = np.zeros(state.nc)
    approach = out.u[:, 0] < -state.tolerances.normal
    for system in islands(state, np.ones(state.nc, bool)):
        if not approach[system.contacts].any():
            continue
        solution = solved(impact_problem(system, out, friction, plastic), solvers)
        if not solution.ok:
            out.status = solution.status
            out.log.append(f"{_names(state, system)}: {solution.status.value}")
        if solution.status not in (Status.INFEASIBLE, Status.RAY):
            out.apply(system, solution.value)


def _names(state: ContactState, system: System) -> str:
    return "contacts " + ", ".join(str(state.key[int(i)]) for i in system.contacts)


def impact_problem(system: System, out: Collision, friction: bool, eps: Floats) -> FrictionProblem:
    """The impact of some contacts and joints: u = u- + W r, with the rebound in the normal."""
    state, chosen = system.state, system.contacts
    u = out.u[chosen].copy()
    u[:, 0] += eps[chosen] * np.minimum(u[:, 0], 0.0)
    mu = state.mu[chosen, 1] if friction else np.zeros(chosen.size)
    return FrictionProblem(
        system.W,
        np.concatenate([u.ravel(), out.joint_u[system.joints]]),
        mu,
        dim=state.d,
        bilateral=int(system.joints.size),
        law="static" if state.d == 3 else "coulomb",
    )


def solved(problem: FrictionProblem, solvers: tuple[Solver, ...]) -> Solution:
    """By the first of the methods that arrives; those for exact Coulomb get that law in space."""
    first: Solution | None = None
    if solvers[0].refuses(problem) is None and (alike := opposed(problem)) is not None:
        return alike
    for solver in solvers:
        stated = problem
        if solver.refuses(stated) is not None:
            stated = _coulomb(problem)
            if solver.refuses(stated) is not None:
                continue
        solution = solver.solve(stated)
        if solution.ok:
            return solution
        first = first or solution
    return first if first is not None else solvers[0].solve(problem)


def opposed(problem: FrictionProblem) -> Solution | None:
    """Impulses whose friction opposes the slip after the impact, None where none are found or the
    law as stated has no others.

    In space (9-9) asks only that friction does not push along the slip: the side to which it
    pushes is open, and a method's choice turns bodies to a side that nothing prefers. A row of
    dominoes then rocks from corner to corner through hundreds of impacts.
    """
    if problem.law != "static" or not problem.mu.any():
        return None
    begin = perf_counter()
    coulomb = _coulomb(problem)
    r = central_answer(coulomb, tol=OPPOSED) if problem.nc > 1 else None  # one contact has no image
    if r is not None:
        plain, unit = coulomb.residuals(r)
        seconds = perf_counter() - begin
        return Solution(r, Status.SOLVED, plain, unit, 0, seconds, ALIKE, (ALIKE,), coulomb.dual(r))
    for name in ("newton", "nsgs"):
        found = named(name, 1e-10).solve(coulomb)
        if found.ok:
            return found
    return None


def _coulomb(problem: FrictionProblem) -> FrictionProblem:
    """The same impact with friction opposite to the slip after it."""
    return FrictionProblem(
        problem.W, problem.q, problem.mu, dim=problem.dim, bilateral=problem.bilateral
    )


# One contact at a time.


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
