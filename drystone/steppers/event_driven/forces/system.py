"""W = J M^-1 J' of an instant, and what forces on its rows do to the bodies."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from drystone.kernels.event_forces import island_bodies, island_rows
from drystone.kernels.islands import label_contacts
from drystone.steppers.event_driven.forces.state import ContactState
from drystone.types import Bools, Floats, Ints


class System:
    """Rows of some contacts (in order, d rows each) and of joints, on the bodies they touch.

    contacts, joints: numbers in the state. rows (m, n dof) is J on the n bodies `bodies`;
    P (m, n dof) is J M^-1, so that forces r accelerate the bodies by P'r.
    """

    def __init__(self, state: ContactState, contacts: Ints, joints: Ints) -> None:
        self.state, self.contacts, self.joints = state, contacts, joints
        nb, dof, k = state.nb, state.dof, 1 if state.d == 2 else 3
        place, own = np.full(nb, -1), np.empty(nb, np.int64)
        n = island_bodies(state.body, contacts, state.joint_body, joints, place, own)
        self.m = int(contacts.size * state.d + joints.size)
        self.bodies: Ints = own[:n].copy()
        self.rows, self.P = np.zeros((2, self.m, n * dof))
        island_rows(
            state.body, state.J, contacts, state.joint_body, state.joint_J, joints, place,
            state.inverse_mass, state.inverse_inertia.reshape(nb, k, k), self.rows, self.P,
        )  # fmt: skip

    @cached_property
    def W(self) -> Floats:
        """(m, m) accelerations of the rows by unit forces on them."""
        W = self.P @ self.rows.T
        W = 0.5 * (W + W.T)
        nd = self.contacts.size * self.state.d
        W[np.arange(nd), np.arange(nd)] += self.state.soft[self.contacts].ravel()
        return np.ascontiguousarray(W)

    @cached_property
    def q(self) -> Floats:
        """(m,) accelerations of the rows without forces on them."""
        state = self.state
        bias = np.concatenate([state.bias[self.contacts].ravel(), state.joint_bias[self.joints]])
        return np.asarray(self.rows @ state.acceleration[self.bodies].ravel() + bias)

    @cached_property
    def u(self) -> Floats:
        """(m,) velocities of the rows."""
        state = self.state
        return np.concatenate([state.u[self.contacts].ravel(), state.joint_u[self.joints]])

    def add_motion(self, r: Floats, out: Floats) -> None:
        """out (nb, dof) += M^-1 J' r: accelerations by forces, velocities by impulses."""
        change = np.asarray(self.P.T @ r)
        out[self.bodies] += change.reshape(-1, self.state.dof)


def islands(state: ContactState, active: Bools) -> list[System]:
    """Systems that share no moving body: active contacts, and the joints beside them."""
    contacts = np.flatnonzero(active)
    body = np.concatenate([state.body[contacts], state.joint_body])
    known = np.append(state.moves, False)
    body = np.where(body < 0, state.nb, body)
    label = np.empty(body.shape[0], np.int64)
    count = label_contacts(body, known, np.empty(known.size, np.int64), label)
    mine, theirs = label[: contacts.size], label[contacts.size :]
    return [System(state, contacts[mine == k], np.flatnonzero(theirs == k)) for k in range(count)]
