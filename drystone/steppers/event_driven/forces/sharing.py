"""Forces that contacts share where they are more than bodies need, so that their index set lasts.

A basic solution leaves some of these contacts without force and drives others to the bounds of
their friction; as soon as one is there the index set ends, although the others could have helped:
a block on two corners would give way at one of them, then at the other, thousands of times. Shared
in proportion to what each can bear, forces reach the bounds only where friction gives way indeed.
Accelerations are the same.

In space they are tried first (``held_together``): all that touches holds, what would pull opens,
all of it at once. With friction an instant may have several answers (Baraff 1992, 12.4). A method
that takes contacts one by one may end in one that prefers a corner to its mirror image, where all
of them sharing the load obey the laws as well; bodies turn to a side that nothing prefers, and
what would happen at both corners at one instant happens at hundreds. Not so where friction can pull
a contact together: there answers differ in kind, and the method chooses.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from drystone.steppers.event_driven.forces import methods
from drystone.steppers.event_driven.forces.index_set import (
    LAW_TOL,
    SAME_ACCELERATION,
    IndexSet,
    index_sets,
    states_of,
)
from drystone.steppers.event_driven.forces.results import Forces, Island, assembled
from drystone.steppers.event_driven.forces.state import ContactState, Kind, States
from drystone.steppers.event_driven.forces.system import System
from drystone.types import Bools, Floats

SHARE_ROUNDS = 5  # of shares from the forces of the round before
FULL = 0.95  # of what friction can bear: contacts with more get a smaller share
FEWER = 0.3  # of its share has a contact that would pull
RESTING_ACCELERATION = 1e-7  # of the island's accelerations: none
GUESS = "all alike"  # name of the method
OPENINGS = 4  # of contacts that open
LEAST_SHARE = 1e-3  # of the mean force: that is next to none

Found = tuple[IndexSet, Floats, Floats, float]


def shared_forces(state: ContactState, forces: Forces) -> Forces:
    """The same accelerations by forces that dependent rows share, where such forces exist."""
    parts = tuple(_shared(part) for part in forces.islands)
    if all(a is b for a, b in zip(parts, forces.islands, strict=True)):
        return forces
    return assembled(state, parts, list(forces.log))


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
    still = a[:, 0] <= RESTING_ACCELERATION * size
    still &= methods.sliding(system) | (a <= RESTING_ACCELERATION * size).all(axis=1)
    return still & (np.array(part.states, np.int64) == Kind.OPEN)


def _by_states(part: Island, states: States) -> Island | None:
    """The island with forces shared by contacts in these states, None if there are none."""
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


def _found(system: System, first: IndexSet, r: Floats, a: Floats) -> Found | None:
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
    for _ in range(SHARE_ROUNDS):
        bound = mu * np.maximum(f[:, 0], LEAST_SHARE * mean)
        L = replace(first, share=shares(system, first, normal, part * bound))
        stated = stated or L.equations(system, mu, slip)
        near = L.values(system, mu, slip, stated)
        if near is None:
            break
        violation = L.violation(system, *near, mu)
        if (
            violation <= LAW_TOL
            and np.abs(near[1] - a).max(initial=0.0) <= SAME_ACCELERATION * size
        ):
            best = (L, *near, violation)
        f = near[0][: d * nc].reshape(nc, d)
        # what bears too much gets a smaller share
        bound = mu * np.maximum(f[:, 0], LEAST_SHARE * mean)
        used = np.linalg.norm(f[:, 1:], axis=1) / np.where(bound > 0.0, bound, 1.0)
        over = first.stick & (used > FULL)
        pulls = first.closed & (f[:, 0] < LEAST_SHARE * mean)
        if best is not None and not (over.any() or pulls.any()):
            break
        part = np.where(over, part * FULL * FULL / np.where(over, used, 1.0), part)
        normal = np.where(pulls, FEWER * normal, normal)
    return best


def held_together(
    system: System,
) -> tuple[States, IndexSet, Floats, Floats, float] | None:
    """(states, L, r, a, violation) of forces that all contacts share but those that open; None
    where these do not obey the laws."""
    d, nc = system.state.d, system.contacts.size
    if nc == 0 or methods.suspicious(methods.friction_problem(system)).any():
        return None
    slip, mu = methods.acting(system)
    states = np.where(slip.any(axis=1), Kind.SLIDING, Kind.STICKING)
    none, one = np.zeros(system.m), np.ones(nc)
    for _ in range(OPENINGS):
        L = next(index_sets(system, none, tuple(states.tolist())))
        if not L.rows.size:
            return None
        more = int(L.closed.sum() + (d - 1) * L.stick.sum()) + system.joints.size > L.rows.size
        if more:
            L = replace(L, share=shares(system, L, one, mu))
        near = L.values(system, mu, slip)
        if near is None:
            return None
        violation = L.violation(system, *near, mu)
        if violation <= LAW_TOL:
            found = L, *near, violation
            if more and L.stick.any():
                found = _by_load(system, found)
            return tuple(states.tolist()), *found
        pulls = L.closed & (near[0][: d * nc : d] < 0.0)
        if not pulls.any():
            return None
        states[pulls] = Kind.OPEN
    return None


def _by_load(system: System, found: Found) -> Found:
    """The same with friction shared in proportion to the normal forces, if that obeys the laws."""
    L, r, _, _ = found
    d, nc = system.state.d, system.contacts.size
    slip, mu = methods.acting(system)
    load = np.maximum(r[: d * nc : d], 0.0)
    mean = float(load[L.closed].mean())
    if not mean > 0.0:
        return found
    bound = mu * np.maximum(load / mean, LEAST_SHARE)
    other = replace(L, share=shares(system, L, np.ones(nc), bound))
    near = other.values(system, mu, slip)
    if near is None:
        return found
    violation = other.violation(system, *near, mu)
    return (other, *near, violation) if violation <= LAW_TOL else found


def shares(system: System, L: IndexSet, normal: Floats, friction: Floats) -> Floats:
    """(m,) shares of closed contacts and of joints, by what normals and friction can bear."""
    d, nc = system.state.d, system.contacts.size
    out = np.zeros(system.m)
    f = out[: d * nc].reshape(nc, d)
    f[:, 0] = np.where(L.closed, normal, 0.0)
    f[:, 1:] = np.where(L.stick, friction, 0.0)[:, None]
    mobility = np.abs(system.W.diagonal())
    mean = float(mobility[: d * nc].mean())
    own = mobility[d * nc :]
    out[d * nc :] = normal.mean() * mean / np.where(own > 0.0, own, mean)
    return out
