"""Several solutions of one instant (Baraff 1992, chapters 10 and 12): which was taken.

There is no principle that prefers forces to impulses (12.4). What a method returns is decided by
its rules and by the index set of the step before, hence always the same; this puts it in words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from drystone.errors import CollidingContactsError, UnsupportedProblemError
from drystone.problems import FrictionProblem
from drystone.solvers._jammed import at_rest
from drystone.solvers.base import Limits
from drystone.solvers.enumerative import Enumerative
from drystone.solvers.registry import by_name
from drystone.steppers.event_driven.forces.methods import friction_problem
from drystone.steppers.event_driven.forces.rays import impulse_rays, stopping_scale
from drystone.steppers.event_driven.forces.state import ContactState, Kind
from drystone.steppers.event_driven.forces.system import System
from drystone.types import Floats, Solution, Status

UNLISTED = "the solutions of this instant cannot be listed"
SEARCHED_CONTACTS = 8  # contacts with friction in space whose sets are searched
EXPLAINED_CONTACTS = 12  # 2^12 combinations explain a choice (a static contact counts 2)
SAME_MOTION = 1e-7  # accelerations that differ less, relative to the largest, are one motion


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way on from an instant.

    kind: "forces" or "impulse". f (nc, d): forces, or the impulse at which the first sliding
    contact stops [N or N s], along the normal and the tangents; joint (nj,): the same of joints.
    motion (nb, dof): accelerations of the bodies, or jumps of their velocities, in world axes.
    contact_motion (nc, d): the same at the contacts, along the normal and the tangents.
    after: what each contact does next. unique: whether f is the only one with this motion.
    contacts (nc,): names, "first/second body (key)"; bodies (nb,): names, in the order of `motion`.
    point, force (nc, dim): where each contact acts, and its f as a vector of the world on the
    first body; NaN for limits and motors of joints, which act as contacts do.
    """

    kind: str
    f: Floats
    joint: Floats
    motion: Floats
    contact_motion: Floats
    after: tuple[str, ...]
    unique: bool = True
    contacts: tuple[str, ...] = ()
    bodies: tuple[str, ...] = ()
    point: Floats | None = None
    force: Floats | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """Whether several ways exist, the forces among them, and sentences that say it."""

    several: bool
    forces: list[Solution]
    log: list[str]


def solutions(
    state: ContactState,
    *,
    max_size: int = 16,
    points: Floats | None = None,
    bodies: Sequence[str] = (),
) -> list[Alternative]:
    """All ways on from an instant, forces first; empty forces are a proof that none exist, but
    for contacts that stick with friction in space (``_spatial``).

    max_size: refuse systems with more than 2^max_size combinations of contact states. Impulses
    are searched for only where no contact sticks with friction. points (n, dim): of the first
    contacts; the rest are limits and motors of joints. CollidingContactsError where contacts
    collide: their velocities jump before any force acts.
    """
    _refuse_collisions(state)
    active = np.flatnonzero(state.kind != Kind.SEPARATING)
    system = System(state, active, np.arange(state.nj))
    problem = friction_problem(system)
    values: tuple[Floats, ...] = ()
    if problem.dim == 3 and (~problem.sliding & (problem.mu > 0)).any():
        values = _spatial(problem)
    else:
        solver = Enumerative(max_size=max_size)
        reason = solver.refuses(problem)
        if reason is not None:
            raise UnsupportedProblemError(f"{UNLISTED}: {reason}")
        values = solver.solve(problem).solutions or ()
    out = [
        _forces(system, problem, motion[0], len(motion) == 1)
        for motion in _motions(problem, values)
    ]
    for ray in impulse_rays(problem):
        alternative = _impulse(system, ray)
        if alternative is not None:
            out.append(alternative)
    return [_in_world(way, state, points, bodies) for way in out]


def _refuse_collisions(state: ContactState) -> None:
    hits = np.flatnonzero(state.kind == Kind.COLLIDING)
    if hits.size == 0:
        return
    speeds = {str(state.key[int(i)]): -float(state.u[i, 0]) for i in hits}
    named = ", ".join(f"{name} at {speed:.4g} m/s" for name, speed in speeds.items())
    raise CollidingContactsError(
        f"contacts collide: {named}; an impact comes before any forces, step() resolves it", speeds
    )


def _in_world(
    way: Alternative, state: ContactState, points: Floats | None, bodies: Sequence[str]
) -> Alternative:
    """The same with names, and with forces as vectors of the world on the first bodies."""
    nc, d = way.f.shape
    real = nc if points is None else points.shape[0]
    first = state.J[:, :, 0, :d]
    axes = np.where(first.any(axis=(1, 2))[:, None, None], first, -state.J[:, :, 1, :d])
    force = np.einsum("ci,cij->cj", way.f, axes)
    force[real:] = np.nan
    point = np.full((nc, d), np.nan)
    if points is not None:
        point[:real] = points
    names = tuple(str(key) for key in state.key)
    return replace(way, contacts=names, bodies=tuple(bodies), point=point, force=force)


def _spatial(problem: FrictionProblem) -> tuple[Floats, ...]:
    """Solutions in space with friction that sticks: of every set of closed contacts the forces
    that hold all of them at rest, and what ``auto`` finds; judged by the whole problem.

    Directions of beginning slip are a continuum, so this is a search and no proof.
    """
    nc, d = problem.nc, problem.d
    if nc > SEARCHED_CONTACTS:
        raise UnsupportedProblemError(
            f"{UNLISTED}: {nc} contacts with friction in space, at most {SEARCHED_CONTACTS} are "
            "searched"
        )
    limits, out = Limits(1e-8, 60.0), []
    for closed in product((False, True), repeat=nc):
        mask = np.array(closed, dtype=bool)
        rows = np.concatenate([np.repeat(mask, d), np.ones(problem.bilateral, bool)])
        part = FrictionProblem(
            np.ascontiguousarray(problem.dense[np.ix_(rows, rows)]),
            problem.q[rows],
            problem.mu[mask],
            dim=3,
            bilateral=problem.bilateral,
            law=problem.law,
            slip=None if problem.slip is None else problem.slip[mask],
        )
        for found in (_held(part, limits), _by_auto(part)):
            r = np.zeros(problem.size)
            if found is not None and np.isfinite(found).all():
                r[rows] = found
                dual = problem.dual(r)
                errors = (*problem.residuals(r, dual), *problem.optimality(r, dual))
                if max(errors) <= limits.tol:
                    out.append(r)
    return tuple(out)


def _held(part: FrictionProblem, limits: Limits) -> Floats | None:
    """Forces that hold every contact at rest, or None."""
    if part.size == 0:
        return np.zeros(0)
    loaded = np.zeros(part.size)
    loaded[: part.nc * part.d : part.d] = 1.0
    return at_rest(part, loaded, limits)


def _by_auto(part: FrictionProblem) -> Floats | None:
    found = by_name("auto").solve(part) if part.size else None
    return found.value if found is not None and found.ok else None


def explain(problem: FrictionProblem, system: System, solution: Solution) -> Explanation | None:
    """What else a solution could have been; None where that cannot be enumerated."""
    solver = Enumerative(max_size=EXPLAINED_CONTACTS, time_limit=1.0)
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
            if np.abs(a - known).max(initial=0.0) <= SAME_MOTION * size:
                members.append(value)
                break
        else:
            out.append((a, [value]))
    return [members for _, members in out]


def _number(problem: FrictionProblem, motions: list[list[Floats]], solution: Solution) -> str:
    size = max(float(np.abs(solution.dual).max(initial=0.0)), float(np.abs(problem.q).max()))
    for k, members in enumerate(motions):
        away = np.abs(problem.dual(members[0]) - solution.dual).max(initial=0.0)
        if away <= 10 * SAME_MOTION * size:
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
