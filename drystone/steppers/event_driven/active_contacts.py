"""Contacts that touch, from instant to instant, and their rows with those of joints.

A contact is held by its key. Where the detector no longer finds it (its features ceased to meet
within a trial step of the integrator) it is continued: A's point, fixed in A, against B's plane,
fixed in B, or the other way round. Such states are never accepted: the loss is an event.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from drystone.constraints.kinematics import (
    ContactKinematics,
    Feature,
    Fill,
    LocalShapes,
    Sides,
    jacobians,
)
from drystone.constraints.rows import select
from drystone.dynamics import bodies
from drystone.dynamics.frames import rotations, turned
from drystone.kernels.event_state import match
from drystone.kernels.kinematics import codes
from drystone.model import Contacts, State
from drystone.steppers.event_driven.caps import Rims
from drystone.steppers.event_driven.forces import ContactState, Tolerances
from drystone.steppers.event_driven.joint_acceleration_rows import JointActions, along
from drystone.steppers.event_driven.mechanics import (
    Jointed,
    Loads,
    Mechanics,
    same_pose,
    same_state,
)
from drystone.types import Bools, Floats, Ints

Slip = Callable[[ContactKinematics, Floats], Floats]


@dataclass(slots=True)
class Continued:
    """Where held contacts lie on their bodies: local points (nc, dim) on A and B, local normal
    on the body `owner` (nc,) 0 or 1, the one whose plane it is; corner (nc,): whether that plane
    is a face, and the point on the other body a corner."""

    point: Floats
    normal: Floats
    owner: Ints
    corner: Bools


@dataclass(slots=True)
class Rows:
    """All rows of an instant: contacts, then actions of joints as contacts; bilateral rows.

    contacts, kin: the real ones, nr of them; gap (nc,): inf for given loads; state: what the
    laws of contact are applied to. loaded (nc,): given loads. lost (nr,): continued contacts.
    body (N, 2), J (N, 2, dof), bias, soft (N,): of all N rows, d a contact, then joints.
    action (nc - nr,): numbers of the actions of joints.
    """

    contacts: Contacts
    kin: ContactKinematics
    jointed: Jointed
    loads: Loads
    state: ContactState
    gap: Floats
    loaded: Bools
    lost: Bools
    body: Ints
    J: Floats
    bias: Floats
    soft: Floats
    action: Ints

    @property
    def nr(self) -> int:
        return len(self.contacts)


@dataclass(slots=True)
class Closing:
    """What closes contacts and joints at a state, rows as in ``Rows``: gap (nc,), inf for given
    loads; error (nj,) of joints; lost (nc,); body (N, 2), J (N, 2, dof), speeds u (N,)."""

    gap: Floats
    error: Floats
    lost: Bools
    body: Ints
    J: Floats
    u: Floats


class ContactSet:
    """A set of contacts and actions to follow: keys of contacts, numbers of actions; loaded: how
    many of these are given loads."""

    def __init__(self, mechanics: Mechanics, state: State, contacts: Contacts, acts: Ints) -> None:
        self.mechanics, self.acts, self.loaded = mechanics, acts, 0
        self.keys = mechanics.keys(contacts)
        self.sides = Sides.of(mechanics.model.geoms, contacts)
        self.body = self.sides.body
        self.mu, self.eps = bodies.materials(mechanics.model, self.body)
        self.names = [mechanics.contact_name(k, self.body[i]) for i, k in enumerate(self.keys)]
        self.start = contacts
        self._keys, self._eps = tuple(self.names), np.ascontiguousarray(self.eps[:, 0])
        self._key = np.stack([contacts.geom_a, contacts.geom_b, contacts.feature], axis=1)
        self._continued: Continued | None = None
        self.began = state.copy()
        self._known: tuple[State, bool, Rows, dict[Slip | None, Rows]] | None = None
        self._closing: tuple[State, Floats | None, Closing] | None = None
        self._there = self.began, contacts, np.zeros(len(contacts), bool)
        self._rims: Rims | None = None
        self._accepted = self.began, contacts
        self.follow(self.began, contacts)

    def follow(self, state: State, contacts: Contacts) -> None:
        """A state is accepted: contacts that are lost are continued from it, and lowest points of
        rims are identified by where they are in it."""
        self._accepted, self._continued = (state.copy(), contacts), None
        caps = self.mechanics.caps
        if not caps.any:
            return
        x, R = bodies.geom_poses(self.mechanics.model, state)
        rims = caps.rims(contacts, x, R).only_lowest()
        self._rims = rims if rims.index.size else None

    def leans(self, state: State, contacts: Contacts) -> tuple[Ints, Floats]:
        """Contacts of this set that are lowest points of rims, and how far the points across are
        over the plane [m]: negative where the end leans the other way than it did."""
        rims = self._rims
        if rims is None:
            return np.empty(0, np.int64), np.empty(0)
        R = bodies.geom_poses(self.mechanics.model, state)[1]
        return rims.index, rims.across(self.sides.geom, contacts.normal[rims.index], R)

    @property
    def on_rims(self) -> frozenset[str]:
        """Names of the contacts of ``leans``."""
        rims = self._rims
        return frozenset() if rims is None else frozenset(self.names[i] for i in rims.index)

    def level_heights(self) -> Floats:
        """(n,) heights across their ends at which the contacts of ``leans`` are lost [m]."""
        return np.empty(0) if self._rims is None else self.mechanics.caps.limit(self._rims.radius)

    def same_rims(self, chosen: Ints, normal: Floats, R: Floats) -> bool:
        """Whether the lowest points among contacts `chosen` (n,), with these normals, are those of
        the state that was accepted last, moved on: not across their ends, and of tilted ones."""
        rims = self._rims
        if rims is None:
            return True
        every = np.zeros((len(self.keys), 3))
        every[chosen] = normal
        away = rims.across(self.sides.geom, every[rims.index], R)
        mine = np.isin(rims.index, chosen)
        return bool((away > self.mechanics.caps.limit(rims.radius))[mine].all())

    def title(self, who: Any) -> str:
        """What users call a contact, by its number here or its key, or an action: its joint."""
        if isinstance(who, tuple):
            return self.mechanics.contact_name(who)
        n = len(self.names)
        return self.names[who] if who < n else self.mechanics.joint_name(int(self.acts[who - n]))

    def begin(self, state: State) -> None:
        """A phase begins: what is lost is continued from here."""
        contacts, lost = self.contacts(state)
        if not lost.any():
            self.start, self.began = contacts, state.copy()
            self.follow(state, contacts)

    def put(self, state: State, contacts: Contacts) -> None:
        """Where the contacts of this set are at a state, without a search."""
        self._there = state.copy(), contacts, np.zeros(len(contacts), bool)
        self.follow(state, contacts)

    def contacts(self, state: State, found: Contacts | None = None) -> tuple[Contacts, Bools]:
        """The contacts of this set at a state, in order, and which had to be continued.

        found: what the detector says of the state, if it has been asked already.
        """
        n = len(self.keys)
        if n == 0:
            return self.start, np.zeros(0, bool)
        if not same_pose(self._there[0], state):
            self._there = state.copy(), *self._located(state, found)
        return self._there[1:]

    def _located(self, state: State, found: Contacts | None) -> tuple[Contacts, Bools]:
        n = len(self.keys)
        if found is None:
            found = self.mechanics.contacts(state)
        place = self.places(found)
        index = np.full(n, -1)
        there = (place >= 0).nonzero()[0]
        index[place[there]] = there
        rims = self._rims
        if rims is not None:  # on the other side of its end it is another point
            R = bodies.geom_poses(self.mechanics.model, state)[1]
            normal = np.zeros((n, 3))
            normal[place[there]] = found.normal[there]
            away = rims.across(self.sides.geom, normal[rims.index], R) < 0.0
            index[rims.index[away]] = -1
        lost = index < 0
        if not lost.any():
            return select(found, index), lost
        out = self._continue(state)
        have = ~lost
        for name in ("point", "normal", "gap"):
            getattr(out, name)[have] = getattr(found, name)[index[have]]
        return out, lost

    def places(self, found: Contacts) -> Ints:
        """Which of this set's contacts those are that a detector found; -1: none."""
        out = np.empty(len(found), np.int64)
        match(found.geom_a, found.geom_b, found.feature, self._key, out)
        return out

    def rows(
        self,
        state: State,
        slip: Slip | None,
        tolerances: Tolerances,
        *,
        impulse: bool = False,
        found: Contacts | None = None,
    ) -> Rows:
        """Rows at a state.

        slip(kin, u): (nc, d - 1) who slides and where, None: by velocities and tolerances.
        impulse: leave out given loads, which are nothing at the instant of a collision.
        """
        _, _, rows, by_slip = self._at(state, tolerances, impulse, found)
        if slip not in by_slip:
            way = None if slip is None else slip(rows.kin, rows.state.u)
            by_slip[slip] = replace(rows, state=rows.state.sliding_along(way, tolerances))
        return by_slip[slip]

    def _at(
        self, state: State, tolerances: Tolerances, impulse: bool, found: Contacts | None
    ) -> tuple[State, bool, Rows, dict[Slip | None, Rows]]:
        """Rows of the state that was asked for last, and those with slips."""
        known = self._known
        if known is None or known[1] != impulse or not same_state(known[0], state):
            rows = self._rows(state, tolerances, impulse, found)
            known = self._known = (state.copy(), impulse, rows, {})
        return known

    def closing(self, state: State) -> Closing:
        """What closes this set at a state: without accelerations."""
        known = self._closing
        if known is None or known[1] is not self.mechanics.turns or not same_state(known[0], state):
            known = self._closing = state.copy(), self.mechanics.turns, self._closed(state)
        return known[2]

    def _closed(self, state: State) -> Closing:
        if self.acts.size:
            rows = self._at(state, Tolerances(), False, None)[2]
            lost = np.append(rows.lost, np.zeros(rows.gap.size - rows.nr, bool))
            u = np.concatenate([rows.state.u.ravel(), rows.state.joint_u])
            return Closing(rows.gap, rows.jointed.bilateral.error, lost, rows.body, rows.J, u)
        contacts, lost = self.contacts(state)
        J = jacobians(self.body, state.position, contacts)
        d, dof = J.shape[1], J.shape[3]
        body, J = np.repeat(self.body, d, axis=0), J.reshape(-1, 2, dof)
        error = np.empty(0)
        if self.mechanics.joints is not None:
            own, bilateral, error = self.mechanics.joints.rows(state, self.mechanics.turns)
            body, J = np.concatenate([body, own]), np.concatenate([J, bilateral])
        return Closing(contacts.gap, error, lost, body, J, along(J, body, state.velocity))

    def _rows(
        self,
        state: State,
        tolerances: Tolerances,
        impulse: bool,
        found: Contacts | None,
    ) -> Rows:
        mechanics, model = self.mechanics, self.mechanics.model
        contacts, lost = self.contacts(state, found)
        sides = replace(self.sides, fill=self._shapes(lost)) if lost.any() else self.sides
        kin = mechanics.kinematics(state, contacts, sides)
        jointed = mechanics.jointed(state)
        loads = mechanics.loads(state, jointed.q)
        acts = self._acts(jointed.acts, impulse)
        nr, n, d = len(contacts), acts.size, model.dim
        J, u, bias, mu = kin.J, kin.velocity, kin.bias, self.mu
        soft, eps, body, gap = np.zeros((nr + n, d)), self._eps, self.body, contacts.gap
        loaded = np.zeros(nr, bool)
        names = self._keys
        if n:
            own = jointed.acts
            J, u, bias, mu, body, gap = self._with_acts(own, acts, kin, contacts.gap)
            loaded = np.concatenate([loaded, own.loaded[acts]])
            place = np.where(own.loaded[acts], 1, 0)
            size = mobility(own.J[acts], own.body[acts], model.inverse_mass, loads.inverse_inertia)
            soft[nr:] = size[:, None]
            soft[np.arange(nr, nr + n), place] = 0.0
            bias[loaded, 0] = -soft[loaded, 0] * own.load[acts][own.loaded[acts]]
            eps = np.concatenate([eps, np.zeros(n)])
            names = (*names, *(mechanics.action_name(k) for k in own.action[acts].tolist()))
        bilateral = jointed.bilateral
        whole = ContactState.trusted(
            body=body, J=J, u=u, mu=mu, restitution=eps, bias=bias, soft=soft,
            slip=None,
            inverse_mass=model.inverse_mass, inverse_inertia=loads.inverse_inertia,
            acceleration=loads.acceleration, joint_body=bilateral.body, joint_J=bilateral.J,
            joint_bias=bilateral.bias, joint_u=bilateral.u, key=names, tolerances=tolerances,
        )  # fmt: skip
        return Rows(
            contacts, kin, jointed, loads, whole, gap, loaded, lost,
            np.concatenate([np.repeat(body, d, axis=0), bilateral.body]),
            np.concatenate([J.reshape(-1, 2, model.dof), bilateral.J]),
            np.concatenate([bias.ravel(), bilateral.bias]),
            np.concatenate([soft.ravel(), np.zeros(bilateral.bias.size)]),
            jointed.acts.action[acts],
        )  # fmt: skip

    def _acts(self, acts: JointActions, impulse: bool) -> Ints:
        """Numbers of the actions of this set among all."""
        if self.acts.size == 0:
            return self.acts
        mine = np.flatnonzero(np.isin(acts.action, self.acts))
        return mine[~acts.loaded[mine]] if impulse else mine

    def _with_acts(
        self, acts: JointActions, mine: Ints, kin: ContactKinematics, gap: Floats
    ) -> tuple[Floats, Floats, Floats, Floats, Ints, Floats]:
        """(J, u, bias, mu, body, gap) of contacts and, after them, of actions as contacts."""
        nr, n, d = gap.size, mine.size, self.mechanics.model.dim
        J = np.zeros((nr + n, d, 2, self.mechanics.model.dof))
        u, bias, mu = np.zeros((nr + n, d)), np.zeros((nr + n, d)), np.zeros((nr + n, 2))
        J[:nr], u[:nr], bias[:nr], mu[:nr] = kin.J, kin.velocity, kin.bias, self.mu
        at, loaded = np.arange(nr, nr + n), acts.loaded[mine]
        place = np.where(loaded, 1, 0)
        J[at, place], u[at, place], bias[at, place] = acts.J[mine], acts.u[mine], acts.bias[mine]
        mu[at[loaded]] = 1.0
        body = np.concatenate([self.body, acts.body[mine]])
        return J, u, bias, mu, body, np.concatenate([gap, acts.gap[mine]])

    def _fixed(self, state: State, contacts: Contacts) -> Continued:
        """Points and normals of contacts in the frames of their bodies."""
        kin = self.mechanics.kinematics(state, contacts)
        half = 0.5 * contacts.gap[:, None] * contacts.normal
        R = rotations(state.orientation)
        local = np.empty((len(contacts), 2, self.mechanics.model.dim))
        for side, p in enumerate((contacts.point + half, contacts.point - half)):
            own = self.body[:, side]
            local[:, side] = turned(R[own].transpose(0, 2, 1), p - state.position[own])
        first = (kin.feature[:, 0] == Feature.FACE) & (kin.feature[:, 1] != Feature.FACE)
        owner = np.where(first, 0, 1)
        own = self.body[np.arange(owner.size), owner]
        normal = turned(R[own].transpose(0, 2, 1), contacts.normal)
        other = kin.feature[np.arange(owner.size), 1 - owner]
        corner = (kin.feature[np.arange(owner.size), owner] == Feature.FACE) & (
            other == Feature.VERTEX
        )
        if self._rims is not None:
            corner[self._rims.index] = True
            owner[self._rims.index] = 1 - self._rims.side
        return Continued(local, normal, owner, corner)

    def _shapes(self, lost: Bools) -> Fill:
        """Shapes of the contacts, of which lost ones that were corners on faces stay so."""

        def fill(x: Floats, R: Floats, p: Floats, frame: Floats, out: LocalShapes) -> None:
            self.sides.fill(x, R, p, frame, out)
            fixed = self._continued
            if fixed is None:
                return
            size = self.sides.size
            ends = [0, -1] if p.shape[2] == 3 else [0]  # xx and yy of (xx, xy, yy)
            for i in np.flatnonzero(lost & fixed.corner).tolist():
                face, corner = int(fixed.owner[i]), 1 - int(fixed.owner[i])
                out.feature[i, face], out.bits[i, face] = codes.FACE, codes.ON_FACE
                out.feature[i, corner], out.bits[i, corner] = codes.VERTEX, 0
                out.E[i], out.D[i] = 0.0, 0.0
                out.E[i, face, ends], out.D[i, corner, ends] = 1.0, 1.0 / size[i]

        return fill

    def _continue(self, state: State) -> Contacts:
        start = self.start
        if self._continued is None:
            self._continued = self._fixed(*self._accepted)
        fixed = self._continued
        R = rotations(state.orientation)
        p = [
            turned(R[self.body[:, s]], fixed.point[:, s]) + state.position[self.body[:, s]]
            for s in (0, 1)
        ]
        normal = turned(R[self.body[np.arange(fixed.owner.size), fixed.owner]], fixed.normal)
        gap = ((p[0] - p[1]) * normal).sum(axis=1)
        other = np.where(fixed.owner[:, None] == 1, p[0], p[1])  # the point that has a place
        shift = np.where(fixed.owner == 1, -0.5, 0.5) * gap
        point = other + shift[:, None] * normal
        return Contacts(start.geom_a, start.geom_b, point, normal, gap, start.feature)


def mobility(J: Floats, body: Ints, inverse_mass: Floats, inverse_inertia: Floats) -> Floats:
    """(n,) J M^-1 J' of single rows J (n, 2, dof), 1 where nothing moves."""
    n, _, dof = J.shape
    dim = 2 if dof == 3 else 3
    out = np.zeros(n)
    for side in (0, 1):
        b, row = body[:, side], J[:, side]
        real = b >= 0
        m = np.where(real, inverse_mass[b], 0.0)
        out += m * (row[:, :dim] ** 2).sum(axis=1)
        if dim == 2:
            out += np.where(real, inverse_inertia[b], 0.0) * row[:, 2] ** 2
        else:
            turn = np.einsum("ni,nij,nj->n", row[:, 3:], inverse_inertia[b], row[:, 3:])
            out += np.where(real, turn, 0.0)
    return np.where(out > 0, out, 1.0)
