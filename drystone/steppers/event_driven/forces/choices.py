"""Several solutions of one instant (F21; 001 ch. 10, 12): listing them, and saying which was taken.

There is no principle that prefers forces to impulses (12.4). What a method returns is decided by
its rules and by the index set of the step before, hence always the same; this puts it in words.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from drystone.errors import UnsupportedProblemError
from drystone.problems import FrictionProblem
from drystone.solvers.enumerative import Enumerative
from drystone.steppers.event_driven.forces.methods import friction_problem
from drystone.steppers.event_driven.forces.rays import impulse_rays, stopping_scale
from drystone.steppers.event_driven.forces.state import ContactState, Kind
from drystone.steppers.event_driven.forces.system import System
from drystone.types import Floats, Solution, Status

SMALL = 12  # 2^SMALL combinations are tried to explain a choice (a static contact counts 2)
SAME = 1e-7  # accelerations that differ less, relative to the largest, are one motion


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way on from an instant.

    kind: "forces" or "impulse". f (nc, d): forces, or the impulse at which the first sliding
    contact stops [N or N s]; joint (nj,): the same of joints. motion (nb, dof): accelerations of
    the bodies, or jumps of their velocities. contact_motion (nc, d): the same at the contacts.
    after: what each contact does next. unique: whether f is the only one with this motion.
    """

    kind: str
    f: Floats
    joint: Floats
    motion: Floats
    contact_motion: Floats
    after: tuple[str, ...]
    unique: bool = True


@dataclass(frozen=True, slots=True)
class Explanation:
    """Whether several ways exist, the forces among them, and sentences that say it."""

    several: bool
    forces: list[Solution]
    log: list[str]


def solutions(state: ContactState, *, max_size: int = 16) -> list[Alternative]:
    """All ways on from an instant, forces first; empty forces are a proof that none exist.

    max_size: refuse systems with more than 2^max_size combinations of contact states. Impulses
    are looked for only where no contact sticks with friction.
    """
    active = np.flatnonzero(state.kind != Kind.SEPARATING)
    system = System(state, active, np.arange(state.nj))
    problem = friction_problem(system)
    solver = Enumerative(max_size=max_size)
    reason = solver.refuses(problem)
    if reason is not None:
        raise UnsupportedProblemError(f"the solutions of this instant cannot be listed: {reason}")
    found = solver.solve(problem)
    out = [
        _forces(system, problem, motion[0], len(motion) == 1)
        for motion in _motions(problem, found.solutions or ())
    ]
    for ray in impulse_rays(problem):
        alternative = _impulse(system, ray)
        if alternative is not None:
            out.append(alternative)
    return out


def explain(problem: FrictionProblem, system: System, solution: Solution) -> Explanation | None:
    """What else a solution could have been; None where that cannot be enumerated."""
    solver = Enumerative(max_size=SMALL, time_limit=1.0)
    if solver.refuses(problem) is not None:
        return None
    found = solver.solve(problem)
    motions = _motions(problem, found.solutions or ())
    rays = [ray for ray in impulse_rays(problem) if np.isfinite(stopping_scale(system, ray)[0])]
    forces = [_as_solution(problem, found, values[0]) for values in motions]
    several = len(motions) + len(rays) > 1
    names = ", ".join(str(system.state.key[int(i)]) for i in system.contacts)
    log = []
    if solution.status is Status.RAY and not motions and found.info["complete"]:
        log.append(f"contacts {names}: no forces exist; an impulse follows")
    elif several:
        taken = "an impulse"
        if solution.status is not Status.RAY:
            taken = "forces " + _number(problem, motions, solution)
        log.append(
            f"contacts {names}: several solutions (by forces {len(motions)}, by impulses "
            f"{len(rays)}); {'+'.join(solution.methods)} took {taken}"
        )
    return Explanation(several, forces, log)


def _motions(problem: FrictionProblem, values: tuple[Floats, ...]) -> list[list[Floats]]:
    """Solutions by the accelerations they give, in the order of enumeration."""
    out: list[tuple[Floats, list[Floats]]] = []
    for value in values:
        a = problem.dual(value)
        size = max(float(np.abs(a).max(initial=0.0)), float(np.abs(problem.q).max(initial=0.0)))
        for known, members in out:
            if np.abs(a - known).max(initial=0.0) <= SAME * size:
                members.append(value)
                break
        else:
            out.append((a, [value]))
    return [members for _, members in out]


def _number(problem: FrictionProblem, motions: list[list[Floats]], solution: Solution) -> str:
    size = max(float(np.abs(solution.dual).max(initial=0.0)), float(np.abs(problem.q).max()))
    for k, members in enumerate(motions):
        away = np.abs(problem.dual(members[0]) - solution.dual).max(initial=0.0)
        if away <= 10 * SAME * size:
            return f"no. {k + 1} of {len(motions)}"
    return "beside these (an approximation)"


def _as_solution(problem: FrictionProblem, found: Solution, value: Floats) -> Solution:
    dual = problem.dual(value)
    residuals = problem.residuals(value, dual)
    return replace(
        found, value=value, dual=dual, residual=residuals[0], residual_unit=residuals[1],
        status=Status.SOLVED, basis=None, index_sets=None, solutions=None,
    )  # fmt: skip


def _split(system: System, r: Floats) -> tuple[Floats, Floats]:
    state = system.state
    rows = system.contacts.size * state.d
    f, joint = np.zeros((state.nc, state.d)), np.zeros(state.nj)
    f[system.contacts] = r[:rows].reshape(-1, state.d)
    joint[system.joints] = r[rows:]
    return f, joint


def _forces(system: System, problem: FrictionProblem, value: Floats, unique: bool) -> Alternative:
    state = system.state
    f, joint = _split(system, value)
    motion = state.acceleration.copy()
    system.add_motion(value, motion)
    a = np.zeros_like(f)
    rows = system.contacts.size * state.d
    a[system.contacts] = problem.dual(value)[:rows].reshape(-1, state.d)
    size = max(float(np.abs(a).max(initial=0.0)), float(np.abs(problem.q).max(initial=0.0)))
    top = float(np.abs(f).max(initial=0.0))
    after = tuple(_next(state, i, f[i], a[i], 1e-9 * size, 1e-12 * top) for i in range(state.nc))
    return Alternative("forces", f, joint, motion, a, after, unique)


def _next(state: ContactState, i: int, f: Floats, a: Floats, still: float, none: float) -> str:
    """What contact i does in the moments after: by its force and its acceleration."""
    if state.kind[i] == Kind.SEPARATING:
        return "separates"
    if f[0] <= none:
        return "separates" if a[0] > still else "touches without force"
    slip = state.slip_directions[i]
    along = float(slip @ a[1:])
    if slip.any():
        if abs(along) <= still:
            return "slides on at its speed"
        return "slides faster" if along > 0 else "slides more slowly"
    if float(np.linalg.norm(a[1:])) <= still:
        return "sticks"
    if state.d == 2:
        return "begins to slide along +t" if a[1] > 0 else "begins to slide along -t"
    return "begins to slide"


def _impulse(system: System, ray: Floats) -> Alternative | None:
    """The impulse along a ray at which the first sliding contact stops, or None."""
    state = system.state
    alpha, stopped = stopping_scale(system, ray)
    if stopped < 0:
        return None
    r = alpha * ray
    f, joint = _split(system, r)
    motion = np.zeros((state.nb, state.dof))
    system.add_motion(r, motion)
    change = np.zeros_like(f)
    rows = system.contacts.size * state.d
    change[system.contacts] = (system.W @ r)[:rows].reshape(-1, state.d)
    after = []
    for i in range(state.nc):
        speed = float(state.u[i, 0] + change[i, 0])
        word = "stops sliding" if i == stopped else "goes on"
        if speed < -state.tolerances.normal:
            word += f" and collides at {-speed:.4g} m/s"
        elif speed > state.tolerances.normal:
            word += " and separates"
        after.append(word)
    return Alternative("impulse", f, joint, motion, change, tuple(after))
