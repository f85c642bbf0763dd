"""The index set L of a solution, and solving again with it (Baraff 1992, 8.2, 13.3).

L names the rows whose acceleration vanishes and whose forces are unknown: normals that press,
tangents that stick, joints. Friction of sliding contacts, and of contacts at rest whose friction
gives way, is tied to the normal. Bodies on more points than they need make these rows
dependent; L is then an independent part of them with B = A_LL invertible. The others have no
force, or keep what they have where the solution is not basic, or all share the load (``sharing``).
As long as L holds forces are continuous functions of the state.

Forces of an iteration, or of a polyhedral cone in place of the round one, tell nearly who opens,
sticks and gives way. ``repaired`` makes them exact: where the index set of these states breaks a
condition of static friction (14-1), the contacts that do change their state: what pulls opens, what
would be penetrated presses, what is beyond the bound of friction gives way where its friction
points, and what friction drives on sticks. All of them at once, or the worst one alone where all
together lead back to states that were tried before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dgels, dgeqp3

from drystone.kernels.event_margins import violation
from drystone.steppers.event_driven.forces import methods
from drystone.steppers.event_driven.forces.state import Kind, States
from drystone.steppers.event_driven.forces.system import System
from drystone.types import Bools, Floats, Ints

Equations = tuple[Ints, Floats, Floats, Ints, Floats]  # bears, B, load; tied, r_t / r_n there

LAW_TOL = 1e-10  # relative to the largest force or acceleration, units scaled out
# relative: accelerations that L must give again to be the index set of a solution
SAME_ACCELERATION = 1e-7
CONE_EDGE = 1e-9  # of mu f_n: friction this near its bound is at it
# where rows depend on each other, those of contacts with force are chosen first; weights of others
OPEN_WEIGHT = 1e-3  # rows of contacts without force
JOINT_WEIGHT = 1.0 / 32.0  # rows of joints
SET_PIVOTS = 30  # more are no longer a repair
ZERO_FORCE = 1e-12  # of the largest: smaller forces and accelerations count as zero
STICKING_ACCELERATION = 1e-9  # of the largest: accelerations of contacts that stick


@dataclass(frozen=True, slots=True)
class IndexSet:
    """rows (k,): L, in the order of the problem; closed, stick (nc,): states of contacts;
    direction (nc, d - 1): unit friction of contacts at rest whose friction gives way;
    held (m,): constant forces of rows that follow from others, zero in a basic solution;
    share (m,): of rows that bear the load together, dependent ones too: the forces with the least
    sum of r^2 / share; all zero where only `rows` have forces."""

    rows: Ints
    closed: Bools
    stick: Bools
    direction: Floats
    held: Floats
    share: Floats

    def forces(
        self, system: System, mu: Floats, slip: Floats
    ) -> tuple[Floats, Floats, float] | None:
        """(r, a, violation) of an instant, r and a (m,), or None where L no longer holds.

        mu (nc,): the coefficient that acts; slip (nc, d - 1): of sliding contacts, else zeros.
        """
        found = self.values(system, mu, slip)
        if found is None:
            return None
        violation = self.violation(system, *found, mu)
        return (*found, violation) if violation <= LAW_TOL else None

    def values(
        self, system: System, mu: Floats, slip: Floats, stated: Equations | None = None
    ) -> tuple[Floats, Floats] | None:
        """(r, a) with L kept, whether its conditions hold or not; None without finite forces.

        Where B is singular the least forces are taken. Smooth functions of the state: what an
        integrator follows until an event ends L. stated: the equations, which those of other
        shares of the same rows have too.
        """
        d = system.state.d
        bears, B, load, tied, friction = stated or self.equations(system, mu, slip)
        r = self.held.copy()
        r[bears] = solved(B, load, self.share[bears])
        for t in range(1, d):
            r[d * tied + t] = friction[:, t - 1] * r[d * tied]
        return (r, system.W @ r + system.q) if np.isfinite(r).all() else None

    def equations(self, system: System, mu: Floats, slip: Floats) -> Equations:
        """B r = load of the rows that bear it; the ties of the others to them."""
        W, q, rows, d = system.W, system.q, self.rows, system.state.d
        tied, friction = self._ties(mu, slip)
        r = self.held.copy()
        bears = self.share.nonzero()[0]
        bears = bears if bears.size else rows
        B = W[rows[:, None], bears]
        if tied.size:
            place = np.searchsorted(bears, d * tied)
            basic = bears.take(place, mode="clip") == d * tied if bears.size else place < 0
            place = place[basic]
            for t in range(1, d):
                r[d * tied + t] = friction[:, t - 1] * r[d * tied]
                more = W[rows[:, None], d * tied[basic] + t]
                B[:, place] += more * friction[basic, t - 1]
        load = -(W[rows] @ r + q[rows]) if r.any() else -q[rows]
        return bears, B, load, tied, friction

    def _ties(self, mu: Floats, slip: Floats) -> tuple[Ints, Floats]:
        """Closed contacts whose friction follows the normal force, and r_t / r_n there."""
        tied = (self.closed & ~self.stick & (mu > 0.0)).nonzero()[0]
        return tied, (mu[:, None] * (self.direction - slip))[tied]

    def violation(self, system: System, r: Floats, a: Floats, mu: Floats) -> float:
        """How far the conditions of contact are missed, relative to the largest force and
        acceleration, units scaled out by the diagonal of W."""
        return float(violation(
            system.state.d, system.W.diagonal(), r, a, system.q, mu, self.closed, self.stick,
            self.direction,
        ))  # fmt: skip


def solved(B: Floats, load: Floats, share: Floats) -> Floats:
    """Forces with B r = load, the least where B is singular; where B has more columns than rows
    those with the least sum of r^2 / share."""
    if B.shape[0] < B.shape[1]:
        root, goal = np.sqrt(share), np.zeros(share.size)
        goal[: load.size] = load
        A = np.multiply(B, root, order="F")
        _, y, info = dgels(A, goal, overwrite_a=True, overwrite_b=True)
        if info == 0:
            return np.asarray(root * y)
        return root * np.linalg.lstsq(B * root, load, rcond=1e-12)[0]
    try:
        return np.asarray(np.linalg.solve(B, load))
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(B, load, rcond=1e-12)[0])


def index_set(system: System, r: Floats, states: States) -> IndexSet | None:
    """L of a solution r whose contacts are in these states, with independent rows.

    None where L does not give that solution again: polyhedral cones, degenerate states.
    """
    state, chosen = system.state, system.contacts
    slip, mu = state.slip_directions[chosen], state.acting[chosen]
    a = system.W @ r + system.q
    size = max(float(np.abs(a).max(initial=0.0)), float(np.abs(system.q).max(initial=0.0)))
    for L in index_sets(system, r, states):
        found = L.forces(system, mu, slip)
        if found is not None and np.abs(found[1] - a).max(initial=0.0) <= SAME_ACCELERATION * size:
            return L
    return None


def states_of(system: System, states: States) -> tuple[Bools, Bools, Bools]:
    """(closed, stick, onset), (nc,) each: contacts that press, and those at rest with friction
    that hold or give way."""
    word = np.array(states, np.int64)
    closed = (word == Kind.STICKING) | (word == Kind.YIELDING) | (word == Kind.SLIDING)
    state, chosen = system.state, system.contacts
    rough = ~state.slip_directions[chosen].any(axis=1) & (state.acting[chosen] > 0)
    return closed, rough & (word == Kind.STICKING), rough & (word == Kind.YIELDING)


def index_sets(system: System, r: Floats, states: States) -> Iterator[IndexSet]:
    """Index sets that forces r may belong to, with contacts in these states: without forces on
    dependent rows; with friction that is at its bound and held by others alone tied there; with
    constant forces on those rows."""
    d, nc = system.state.d, system.contacts.size
    closed, stick, onset = states_of(system, states)
    f = r[: d * nc].reshape(nc, d)
    size = np.sqrt((f[:, 1:] ** 2).sum(axis=1))
    direction = np.zeros((nc, d - 1))
    direction[onset] = f[onset, 1:] / np.maximum(size[onset], 1e-300)[:, None]
    every, rows = _chosen(system, closed, stick, r)
    none = np.zeros(r.size)
    yield IndexSet(rows, closed, stick, direction, none, none)
    full = stick & (f[:, 0] > SAME_ACCELERATION * np.abs(f).max(initial=0.0))
    full &= size >= system.state.acting[system.contacts] * f[:, 0] * (1.0 - CONE_EDGE)
    full &= ~np.isin(d * np.arange(nc)[:, None] + np.arange(1, d), rows).all(axis=1)
    if full.any():
        tied = direction.copy()
        tied[full] = f[full, 1:] / size[full, None]
        fewer = _chosen(system, closed, stick & ~full, r)[1]
        yield IndexSet(fewer, closed, stick & ~full, tied, none, none)
    rest = np.setdiff1d(every, rows)
    held = np.zeros(r.size)
    held[rest] = r[rest]
    yield IndexSet(rows, closed, stick, direction, held, none)


def _chosen(system: System, closed: Bools, stick: Bools, r: Floats) -> tuple[Ints, Ints]:
    """All rows without acceleration, and independent ones of them."""
    d, nc = system.state.d, system.contacts.size
    mark = np.ones(r.size, bool)
    own = mark[: d * nc].reshape(nc, d)
    own[:, 0], own[:, 1:] = closed, stick[:, None]
    every = np.flatnonzero(mark)
    return every, _independent(system.W, every, r, d * nc)


def _independent(W: Floats, rows: Ints, r: Floats, of_contacts: int) -> Ints:
    """Rows of which none follows from the others: first those of contacts with force, whose signs
    are conditions; then those of joints, by how independent they are alone, whoever bears the load
    in r: a bad choice would bear it with forces of any size; then those of contacts without."""
    if rows.size == 0:
        return rows
    part = W[rows[:, None], rows]
    unit = np.sqrt(np.maximum(np.abs(part.diagonal()), 1e-300))
    force = np.abs(r[rows]) * unit
    heavy = force > 1e-12 * float(force.max(initial=0.0))
    weight = np.where(rows >= of_contacts, JOINT_WEIGHT, np.where(heavy, 1.0, OPEN_WEIGHT))
    scaled = part / unit[:, None] * (weight / unit)
    R, order, _, _, _ = dgeqp3(scaled)
    size = np.abs(R.diagonal()) / weight[order - 1]
    return np.sort(rows[order[size > 1e-10] - 1])


@dataclass(frozen=True, slots=True)
class RepairedSet:
    """States of the contacts, their index set, forces and accelerations (m,), and how far these
    miss the conditions (``IndexSet.violation``)."""

    states: States
    index_set: IndexSet
    value: Floats
    dual: Floats
    violation: float


def repaired(system: System, r: Floats, states: States, tol: float = LAW_TOL) -> RepairedSet | None:
    """Forces that obey the law to `tol`, by an index set near forces r (m,) with contacts in these
    states; None where a few pivots do not find one."""
    slip, mu = methods.acting(system)
    tried: set[States] = set()
    for _ in range(SET_PIVOTS):
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
    size = np.maximum(np.linalg.norm(f[:, 1:], axis=1), ZERO_FORCE * np.abs(r).max(initial=0.0))
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
    least = ZERO_FORCE * max(float(np.abs(f).max(initial=0.0)), float(np.abs(a).max(initial=0.0)))
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
    closed, rubs = (
        force[:, 0] > ZERO_FORCE * size,
        np.linalg.norm(force[:, 1:], axis=1) > ZERO_FORCE * size,
    )
    gives = (
        rubs & (np.linalg.norm(motion[:, 1:], axis=1) > STICKING_ACCELERATION * size) & (mu > 0.0)
    )
    states = np.where(closed, np.where(gives, Kind.YIELDING, Kind.STICKING), Kind.OPEN)
    states[closed & slip.any(axis=1)] = Kind.SLIDING
    return repaired(system, r, tuple(states.tolist()))
