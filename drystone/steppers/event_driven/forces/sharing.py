"""Forces that contacts share where they are more than bodies need, so that their index set lasts.

A basic solution leaves some of these contacts without force and drives others to the bounds of
their friction; as soon as one is there the index set ends, although the others could have helped:
a block on two corners would give way at one of them, then at the other, thousands of times. Shared
in proportion to what each can bear, forces reach the bounds only where friction gives way indeed.
Accelerations are the same.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from drystone.steppers.event_driven.forces import methods
from drystone.steppers.event_driven.forces.compute import assembled
from drystone.steppers.event_driven.forces.guess import LEAST, shares
from drystone.steppers.event_driven.forces.index_set import (
    SAME,
    TOL,
    IndexSet,
    index_sets,
    states_of,
)
from drystone.steppers.event_driven.forces.results import Forces, Island
from drystone.steppers.event_driven.forces.state import ContactState, Kind, States
from drystone.steppers.event_driven.forces.system import System
from drystone.types import Bools, Floats

ROUNDS = 5  # of shares from the forces of the round before
FULL = 0.95  # of what friction can bear: contacts with more get a smaller share
FEWER = 0.3  # of its share has a contact that would pull
STILL = 1e-7  # of the island's accelerations: none


def shared_forces(state: ContactState, forces: Forces) -> Forces:
    """The same accelerations by forces that dependent rows share, where such forces exist."""
    parts = tuple(_shared(part) for part in forces.islands)
    if all(a is b for a, b in zip(parts, forces.islands, strict=True)):
        return forces
    return assembled(state, parts, forces.changed, list(forces.log))


def _shared(part: Island) -> Island:
    if part.index_set is None or part.index_set.share.any():
        return part
    states = np.array(part.states, np.int64)
    helped = np.where(
        _idle(part), np.where(methods.sliding(part.system), Kind.SLIDING, Kind.STICKING), states
    )
    for word in (helped, states) if (helped != states).any() else (states,):
        found = _by_states(part, tuple(word.tolist()))
        if found is not None:
            return found
    return part


def _idle(part: Island) -> Bools:
    """(nc,) contacts that touch without force or acceleration: they can help."""
    system, solution = part.system, part.solution
    d, nc = system.state.d, system.contacts.size
    a = np.abs(solution.dual[: d * nc].reshape(nc, d))
    size = max(float(a.max(initial=0.0)), float(np.abs(system.q).max(initial=0.0)))
    still = a[:, 0] <= STILL * size
    still &= methods.sliding(system) | (a <= STILL * size).all(axis=1)
    return still & (np.array(part.states, np.int64) == Kind.OPEN)


def _by_states(part: Island, states: States) -> Island | None:
    """The island with forces shared by contacts in these states, None if there are none such."""
    system, L = part.system, part.index_set
    closed, stick, _ = states_of(system, states)
    every = int(closed.sum() + (system.state.d - 1) * stick.sum()) + system.joints.size
    if L is None or every == L.rows.size or not closed.any():
        return None  # nothing depends on anything
    r, a = part.solution.value, part.solution.dual
    same = states == part.states and np.array_equal(stick, L.stick) and not L.held.any()
    found = _found(system, L if same else next(index_sets(system, r, states)), r, a)
    if found is None:
        return None
    L, r, a, violation = found
    solution = replace(part.solution, value=r, dual=a, residual=violation, residual_unit=violation)
    return replace(part, solution=solution, states=states, index_set=L)


def _found(
    system: System, first: IndexSet, r: Floats, a: Floats
) -> tuple[IndexSet, Floats, Floats, float] | None:
    """L with shares, its forces, accelerations, violation: of the last round that holds."""
    d, nc = system.state.d, system.contacts.size
    slip, mu = methods.acting(system)
    f = r[: d * nc].reshape(nc, d)
    mean = float(f[first.closed, 0].mean())
    if not mean > 0.0:
        return None
    size = max(float(np.abs(a).max(initial=0.0)), float(np.abs(system.q).max(initial=0.0)))
    normal, part = np.full(nc, mean), np.ones(nc)
    best = stated = None
    for _ in range(ROUNDS):
        bound = mu * np.maximum(f[:, 0], LEAST * mean)
        L = replace(first, share=shares(system, first, normal, part * bound))
        stated = stated or L.equations(system, mu, slip)
        near = L.values(system, mu, slip, stated)
        if near is None:
            break
        violation = L.violation(system, *near, mu)
        if violation <= TOL and np.abs(near[1] - a).max(initial=0.0) <= SAME * size:
            best = (L, *near, violation)
        f = near[0][: d * nc].reshape(nc, d)
        # what bears too much gets a smaller share
        bound = mu * np.maximum(f[:, 0], LEAST * mean)
        used = np.linalg.norm(f[:, 1:], axis=1) / np.where(bound > 0.0, bound, 1.0)
        over = first.stick & (used > FULL)
        pulls = first.closed & (f[:, 0] < LEAST * mean)
        if best is not None and not (over.any() or pulls.any()):
            break
        part = np.where(over, part * FULL * FULL / np.where(over, used, 1.0), part)
        normal = np.where(pulls, FEWER * normal, normal)
    return best
