"""Newton's law at all contacts at once (Baraff 1989, 8; Baraff 1992, 9.4).

u_n+ >= -eps u_n-, r_n >= 0, and one of them an equality; friction as for static contacts, with
velocities after the impact in the place of accelerations (9-9, 9-10): |r_t| <= mu r_n, and at its
bound and against the slip where the contact slides on. So a collision is a friction problem with
q = ((1 + eps) u_n-, u_t-). Newton's law with friction may gain energy (Baraff 1989, Kane's
example).
"""

from __future__ import annotations

from time import perf_counter

import numpy as np

from drystone.problems import FrictionProblem
from drystone.solvers.base import Solver
from drystone.steppers.event_driven.forces.coulomb import central_answer
from drystone.steppers.event_driven.forces.methods import named
from drystone.steppers.event_driven.forces.state import ContactState
from drystone.steppers.event_driven.forces.system import System, islands
from drystone.steppers.event_driven.impulses.results import Collision
from drystone.types import Floats, Solution, Status

OPPOSED = 1e-9  # by how much Coulomb's law is missed at most, of the largest impulse or velocity
ALIKE = "central"  # name of the method that treats images of a problem alike
REOPENED_ROUNDS = 50  # of contacts that separated and are driven together again by others


def simultaneous(
    state: ContactState, out: Collision, friction: bool, eps: Floats, solvers: tuple[Solver, ...]
) -> None:
    """Rounds of simultaneous impacts until no contact approaches; eps (nc,).

    Contacts that separate are left out of a round. Bodies caught between others may then be
    thrown to and fro for ever, or be asked to leave both: such collisions end without rebound.
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
