"""Contacts in space whose static friction gives way, by Coulomb's law for accelerations.

The conditions of static friction (14-1) leave the direction of friction open once it gives way
(Baraff 1994, 5.4): contacts may slide where friction could hold them, or across it. The motion that
follows needs more: friction opposite to the acceleration, that is to the slip about to begin.
Contacts that slide already take part with an acceleration so large along their slip that their
friction opposes it; the index set of the answer then gives the exact forces of the stated problem.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from drystone.problems import FrictionProblem
from drystone.steppers.event_driven.forces import methods
from drystone.steppers.event_driven.forces.central import central_answer
from drystone.steppers.event_driven.forces.compute import assembled, contact_states
from drystone.steppers.event_driven.forces.guess import GUESS
from drystone.steppers.event_driven.forces.index_set import index_sets, states_of
from drystone.steppers.event_driven.forces.results import Forces, Island
from drystone.steppers.event_driven.forces.state import ContactState, Kind, States
from drystone.steppers.event_driven.forces.system import System
from drystone.types import Floats, Solution

LARGE = 1e3  # times the accelerations of an island: that of what slides already
SOLVERS = ("newton", "nsgs")
CENTRAL = ("interior-point", "newton", "nsgs")
ALIKE = "central"  # name of the method that treats images of a problem alike
SURE = 1e-8  # relative: contacts that stick by more rows than they need are at rest to within a
# speed, and so are their accelerations: taken for slip these would end phase after phase (at
# 1e-10 ``collapse`` takes 1.6 times as many steps, and twice as many if pivots look for slip)
ROUNDS = 4  # of an index set from the forces of the one before


def coulomb_forces(state: ContactState, forces: Forces, central: bool = False) -> Forces | None:
    """The same forces, with those islands solved anew whose contacts give way; None if one of
    them has no such solution that an index set confirms. So are those whose answer was picked.

    central: all islands where contacts stick, by a method that stays away from the bounds of
    friction where forces are not unique, so that their index set lasts; where all contacts share
    the load they are away from them already.
    """
    parts = []
    for part in forces.islands:
        again: Island | None = part
        bears = central and Kind.STICKING in part.states and GUESS not in part.solution.methods
        if Kind.YIELDING in part.states or bears or picked(part):
            again = _solved(part, CENTRAL if central else SOLVERS)
        if again is None and Kind.YIELDING in part.states:
            return None
        again = part if again is None else again
        parts.append(again)
    return assembled(state, tuple(parts), True, list(forces.log))


def picked(part: Island) -> bool:
    """Whether contacts at rest are in states that a method picked by taking them one by one: it
    may let one corner open and its mirror image hold where both would give way."""
    if part.reused or part.index_set is None or GUESS in part.solution.methods:
        return False
    rough = methods.acting(part.system)[1] > 0.0
    resting = rough & ~methods.sliding(part.system)
    problem = methods.friction_problem(part.system)
    return bool(resting.any()) and not methods.suspicious(problem).any()


def _solved(part: Island, solvers: tuple[str, ...]) -> Island | None:
    system = part.system
    d, nc = system.state.d, system.contacts.size
    slip, mu = methods.acting(system)
    q = system.q.copy()
    shift = np.zeros((nc, d))
    shift[:, 1:] = LARGE * float(np.abs(q).max(initial=0.0)) * slip
    q[: nc * d] += shift.ravel()
    stated = methods.friction_problem(system)
    joints = int(system.joints.size)
    r = central_answer(FrictionProblem(system.W, system.q, mu, dim=d, bilateral=joints), slip, SURE)
    if r is not None:
        found = replace(part.solution, value=r, dual=stated.dual(r), methods=(ALIKE,))
        sure = _confirmed(part, system, stated, found)
        if sure is not None:
            return sure
    problem = FrictionProblem(system.W, q, mu, dim=d, bilateral=joints, law="coulomb")
    for name in solvers:
        found = methods.named(name, 1e-10).solve(problem)  # from nothing: what can stick sticks
        sure = _confirmed(part, system, stated, found) if found.ok else None
        if sure is not None:
            return sure
    return None


def _confirmed(
    part: Island, system: System, stated: FrictionProblem, found: Solution
) -> Island | None:
    """The island with exact forces by an index set of the solution that was found."""
    d, nc = stated.d, stated.nc
    slip, mu = methods.acting(system)
    r = found.value.copy()
    f = r[: d * nc].reshape(nc, d)
    moving = slip.any(axis=1)
    f[moving, 1:] = -mu[moving, None] * slip[moving] * f[moving, :1]
    for _ in range(ROUNDS):
        states = contact_states(stated, replace(found, value=r, dual=stated.dual(r)))
        following = None
        for L in index_sets(system, r, states):
            near = L.values(system, stated.mu, slip)
            if near is None:
                continue
            value, dual = near
            violation = L.violation(system, value, dual, stated.mu)
            if violation <= SURE and _held(system, states, dual):
                solution = replace(
                    part.solution, value=value, dual=dual, residual=violation,
                    residual_unit=violation, methods=found.methods,
                )  # fmt: skip
                return Island(part.key, system, solution, states, False, True, L)
            following = value
        if following is None:
            break
        r = following
    return None


def _held(system: System, states: States, a: Floats) -> bool:
    """Whether what is said to stick is held indeed. Friction at its bound that is tied there may
    let its contact go, and still obey (14-1): the block would turn on a slope that holds it."""
    d, nc = system.state.d, system.contacts.size
    _, stick, _ = states_of(system, states)
    size = max(float(np.abs(a).max(initial=0.0)), float(np.abs(system.q).max(initial=0.0)))
    across = a[: d * nc].reshape(nc, d)[stick, 1:]
    return bool(np.abs(across).max(initial=0.0) <= SURE * size)
