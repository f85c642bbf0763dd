"""Exact forces from those near a solution: by their index set, repaired by pivots of the law.

Forces of an iteration, or of a polyhedral cone in place of the round one, tell nearly who opens,
sticks and gives way. The index set of these states gives forces by one linear solve. Where they
break a condition of static friction (14-1), the contacts that do change their state: what pulls
opens, what would be penetrated presses, what is beyond the bound of friction gives way where its
friction points, and what friction drives on sticks. All of them at once, or the worst one alone
where all together lead back to states that were tried before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from drystone.steppers.event_driven.forces import methods
from drystone.steppers.event_driven.forces.index_set import TOL, IndexSet, index_sets
from drystone.steppers.event_driven.forces.state import Kind, States
from drystone.steppers.event_driven.forces.system import System
from drystone.types import Floats

PIVOTS = 30  # more are no longer a repair
NONE = 1e-12  # of the largest: forces and accelerations that are none
STILL = 1e-9  # of the largest: accelerations of contacts that stick


@dataclass(frozen=True, slots=True)
class RepairedSet:
    """States of the contacts, their index set, forces and accelerations (m,), and how far these
    miss the conditions (``IndexSet.violation``)."""

    states: States
    index_set: IndexSet
    value: Floats
    dual: Floats
    violation: float


def repaired(system: System, r: Floats, states: States, tol: float = TOL) -> RepairedSet | None:
    """Forces that obey the law to `tol`, by an index set near forces r (m,) with contacts in these
    states; None where a few pivots do not find one."""
    slip, mu = methods.acting(system)
    tried: set[States] = set()
    for _ in range(PIVOTS):
        states = _with_friction(system, r, states)
        tried.add(states)
        best: RepairedSet | None = None
        for L in index_sets(system, r, states):
            near = L.values(system, mu, slip)
            if near is None:
                continue
            found = RepairedSet(states, L, *near, L.violation(system, *near, mu))
            if found.violation <= tol:
                return found
            if best is None or found.violation < best.violation:
                best = found
        if best is None:
            return None
        following = next((w for w in _pivoted(system, best) if w not in tried), None)
        if following is None:
            return None
        r, states = _directed(system, best), following
    return None


def _directed(system: System, found: RepairedSet) -> Floats:
    """The forces found, with friction along the directions of their index set also where a contact
    that gives way does not press: the directions of the next one are read from them."""
    d, nc = system.state.d, system.contacts.size
    r = found.value.copy()
    f = r[: d * nc].reshape(nc, d)
    size = np.maximum(np.linalg.norm(f[:, 1:], axis=1), NONE * np.abs(r).max(initial=0.0))
    direction = found.index_set.direction
    gives = np.flatnonzero(direction.any(axis=1))
    f[gives, 1:] = direction[gives] * size[gives, None]
    return r


def _with_friction(system: System, r: Floats, states: States) -> States:
    """The same states, but what gives way without friction, which has no direction, sticks."""
    d, nc = system.state.d, system.contacts.size
    size = np.abs(r[: d * nc].reshape(nc, d)[:, 1:]).max(axis=1)
    return tuple(
        Kind.STICKING if word == Kind.YIELDING and not size[i] > 0.0 else word
        for i, word in enumerate(states)
    )


def _pivoted(system: System, found: RepairedSet) -> Iterator[States]:
    """The states after those contacts changed theirs that break a condition: all of them, then
    each alone, the worst first."""
    d, nc = system.state.d, system.contacts.size
    slip, mu = methods.acting(system)
    L, unit = found.index_set, units(system)
    f = found.value[: d * nc].reshape(nc, d) * unit[:, None]
    a = found.dual[: d * nc].reshape(nc, d) / unit[:, None]
    moving = slip.any(axis=1)
    rests = np.where(moving, Kind.SLIDING, Kind.STICKING)
    onset = L.closed & L.direction.any(axis=1)
    beyond = np.where(L.stick, np.linalg.norm(f[:, 1:], axis=1) - mu * f[:, 0], 0.0)
    driven = np.where(onset, (L.direction * a[:, 1:]).sum(axis=1), 0.0)
    pulls = np.where(L.closed, -f[:, 0], 0.0)
    pressed = np.where(L.closed, 0.0, -a[:, 0])
    wrong = np.array([pulls, pressed, beyond, driven])
    to = np.array([np.full(nc, Kind.OPEN), rests, np.full(nc, Kind.YIELDING), rests])
    kind = np.argmax(wrong, axis=0)
    size = wrong[kind, np.arange(nc)]
    least = NONE * max(float(np.abs(f).max(initial=0.0)), float(np.abs(a).max(initial=0.0)))
    before, after = np.array(found.states, np.int64), to[kind, np.arange(nc)]
    worst = np.argsort(-size, kind="stable")
    for chosen in (size > least, *(np.arange(nc) == i for i in worst if size[i] > least)):
        yield tuple(np.where(chosen, after, before).tolist())


def units(system: System) -> Floats:
    """(nc,) roots of mobility: forces times it and accelerations by it have the same unit."""
    d, nc = system.state.d, system.contacts.size
    mean = np.abs(system.W.diagonal()[: d * nc]).reshape(nc, d).mean(axis=1)
    return np.asarray(np.sqrt(np.where(mean > 0.0, mean, 1.0)))


def onto_circle(system: System, r: Floats) -> RepairedSet | None:
    """Forces of the round cone near forces r (m,) of a polyhedral one, in space.

    On a facet friction is less than the round cone allows, and a contact that gives way there may
    hold: as the first states those that accelerate give way along their friction.
    """
    d, nc = system.state.d, system.contacts.size
    slip, mu = methods.acting(system)
    unit = units(system)
    f = r[: d * nc].reshape(nc, d)
    a = (system.W @ r + system.q)[: d * nc].reshape(nc, d)
    force, motion = f * unit[:, None], a / unit[:, None]
    size = max(float(np.abs(force).max(initial=0.0)), float(np.abs(motion).max(initial=0.0)))
    closed, rubs = force[:, 0] > NONE * size, np.linalg.norm(force[:, 1:], axis=1) > NONE * size
    gives = rubs & (np.linalg.norm(motion[:, 1:], axis=1) > STILL * size) & (mu > 0.0)
    states = np.where(closed, np.where(gives, Kind.YIELDING, Kind.STICKING), Kind.OPEN)
    states[closed & slip.any(axis=1)] = Kind.SLIDING
    return repaired(system, r, tuple(states.tolist()))
