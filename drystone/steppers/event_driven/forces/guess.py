"""A guess of the index set: all that touches holds, and what would pull opens, all of it at once.

With friction an instant may have several answers (Baraff 1992, 12.4). A method that takes contacts
one by one may end in one that prefers a corner to its mirror image, where all of them sharing the
load obey the laws as well; bodies then turn to a side that nothing prefers, and what would happen
at both corners at one instant happens at hundreds. The guess treats all contacts alike. It is none
where friction can pull a contact together: there answers differ in kind, and the method chooses.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from drystone.steppers.event_driven.forces import methods
from drystone.steppers.event_driven.forces.index_set import TOL, IndexSet, index_sets
from drystone.steppers.event_driven.forces.state import Kind, States
from drystone.steppers.event_driven.forces.system import System
from drystone.types import Floats

GUESS = "all alike"  # name of the method
ROUNDS = 4  # of contacts that open
LEAST = 1e-3  # of the mean force: that is next to none


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
    for _ in range(ROUNDS):
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
        if violation <= TOL:
            found = L, *near, violation
            if more and L.stick.any():
                found = _by_load(system, found)
            return tuple(states.tolist()), *found
        pulls = L.closed & (near[0][: d * nc : d] < 0.0)
        if not pulls.any():
            return None
        states[pulls] = Kind.OPEN
    return None


Found = tuple[IndexSet, Floats, Floats, float]


def _by_load(system: System, found: Found) -> Found:
    """The same with friction shared in proportion to the normal forces, if that obeys the laws."""
    L, r, _, _ = found
    d, nc = system.state.d, system.contacts.size
    slip, mu = methods.acting(system)
    load = np.maximum(r[: d * nc : d], 0.0)
    mean = float(load[L.closed].mean())
    if not mean > 0.0:
        return found
    bound = mu * np.maximum(load / mean, LEAST)
    other = replace(L, share=shares(system, L, np.ones(nc), bound))
    near = other.values(system, mu, slip)
    if near is None:
        return found
    violation = other.violation(system, *near, mu)
    return (other, *near, violation) if violation <= TOL else found


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
