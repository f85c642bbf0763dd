"""W = J M^-1 J' of an instant, and what forces on its rows do to the bodies."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from drystone.kernels.island_sweeps import label_contacts
from drystone.steppers.event_driven.forces.state import ContactState
from drystone.types import Bools, Floats, Ints


class System:
    """Rows of some contacts (in order, d rows each) and of joints, on the bodies they touch.

    contacts, joints: numbers in the state. rows (m, n dof) is J on the n bodies `bodies`;
    P (m, n dof) is J M^-1, so that forces r accelerate the bodies by P'r.
    """

    def __init__(self, state: ContactState, contacts: Ints, joints: Ints) -> None:
        self.state, self.contacts, self.joints = state, contacts, joints
        d, dof = state.d, state.dof
        body = np.repeat(state.body[contacts], d, axis=0)
        body = np.concatenate([body, state.joint_body[joints]])
        J = np.concatenate([state.J[contacts].reshape(-1, 2, dof), state.joint_J[joints]])
        self.m = int(body.shape[0])
        used = np.unique(body)
        self.bodies = used[used >= 0]
        place = np.full(state.nb + 1, self.bodies.size)  # the last entry is that of body -1
        place[self.bodies] = np.arange(self.bodies.size)
        column = place[body][:, :, None] * dof + np.arange(dof)
        size = self.bodies.size * dof
        rows = np.zeros((self.m, size + dof))
        index = np.arange(self.m)[:, None]
        for side in (0, 1):  # one after the other: a body may be on both sides
            rows[index, column[:, side]] += J[:, side]
        self.rows = np.ascontiguousarray(rows[:, :size])
        self.P = self._responses()

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

    def _responses(self) -> Floats:
        state, chosen = self.state, self.bodies
        J = self.rows.reshape(self.m, chosen.size, state.dof)
        P = np.empty_like(J)
        line = state.d
        P[:, :, :line] = J[:, :, :line] * state.inverse_mass[chosen, None]
        if line == 2:
            P[:, :, 2] = J[:, :, 2] * state.inverse_inertia[chosen]
        else:
            P[:, :, 3:] = np.einsum("mbi,bij->mbj", J[:, :, 3:], state.inverse_inertia[chosen])
        return P.reshape(self.rows.shape)


def islands(state: ContactState, active: Bools) -> list[System]:
    """Systems that share no moving body (G14): active contacts, and the joints beside them."""
    contacts = np.flatnonzero(active)
    body = np.concatenate([state.body[contacts], state.joint_body])
    known = np.append(state.moves, False)
    body = np.where(body < 0, state.nb, body)
    label = np.empty(body.shape[0], np.int64)
    count = label_contacts(body, known, np.empty(known.size, np.int64), label)
    mine, theirs = label[: contacts.size], label[contacts.size :]
    return [System(state, contacts[mine == k], np.flatnonzero(theirs == k)) for k in range(count)]
