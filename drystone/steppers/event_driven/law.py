"""Forces of a smooth phase by the index sets of its islands, over rows of contacts and joints.

What stays the same for the whole phase is laid out once: equations and unknowns of every island,
constant forces, and whose friction is tied to the normal force.
"""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg.lapack import dgecon, dgesv

from drystone.kernels import event_forces as kernels
from drystone.steppers.event_driven.forces.index_set import solved
from drystone.types import Floats, Ints

if TYPE_CHECKING:
    from drystone.model import Model
    from drystone.steppers.event_driven.forces import Forces


WEAK = 1e-9  # reciprocal condition below which rows may depend on each other
# Of the largest singular value, units scaled out: what rows still resist, about the square of how
# far a linkage is from a dead point [rad]. There it is free to go either way, and goes on as it
# moves; closer to it a row's force would be that of its rounding.
RANK = 1e-10


class Law:
    """Forces on N rows: d of each of n contacts, normal first, then nj of joints.

    contacts (n,): numbers among those of the forces; resting: islands that are left out.
    body (N, 2): of the rows. tied (n,), direction (n, d - 1): contacts whose friction follows the
    normal force, and where to if their static friction gives way.
    """

    def __init__(
        self, model: Model, forces: Forces, contacts: Ints, body: Ints, resting: Container[int]
    ) -> None:
        self.model, self.body = model, body
        n, d = contacts.size, model.dim
        self.n, self.d = n, d
        place = np.full(len(forces.states), -1)
        place[contacts] = np.arange(n)
        self.tied, self.direction = np.zeros(n, bool), np.zeros((n, d - 1))
        self.moves = np.asarray(model.inverse_mass > 0)
        held = np.zeros(body.shape[0])
        self._parts: list[tuple[Ints, Ints, Floats]] = []  # equations, unknown rows, their shares
        for i, part in enumerate(forces.islands):
            L, system = part.index_set, part.system
            if i in resting or L is None:
                continue
            at = place[system.contacts]
            rows_of = np.concatenate([
                (d * at[:, None] + np.arange(d)).ravel(), n * d + system.joints,
            ])  # fmt: skip
            bears = np.flatnonzero(L.share) if L.share.any() else L.rows
            if bears.size:
                self._parts.append((rows_of[L.rows], rows_of[bears], L.share[bears]))
            mine = at >= 0
            self.tied[at[mine]] = (L.closed & ~L.stick)[mine]
            self.direction[at[mine]] = L.direction[mine]
            given = np.flatnonzero(L.held)
            held[rows_of[given]] = L.held[given]
        tangents = held[: n * d].reshape(n, d)[:, 1:]
        tangents[self.tied] = 0.0
        self._given = np.flatnonzero(held)
        self._force = held[self._given]

    def forces(
        self,
        J: Floats,
        bias: Floats,
        soft: Floats,
        friction: Floats,
        inverse_inertia: Floats,
        a: Floats,
    ) -> Floats:
        """r (N,) [N], and what r does to the bodies is added to a (nb, dof).

        J (N, 2, dof), bias, soft (N,); friction (n, d - 1): r_t / r_n of tied contacts, zeros of
        the others; inverse_inertia in world axes; a: without forces on the rows.
        """
        model, n, d = self.model, self.n, self.d
        k = 1 if d == 2 else 3
        S = np.empty_like(J)
        kernels.responses(self.body, J, model.inverse_mass, inverse_inertia.reshape(-1, k, k), S)
        kernels.tie(friction, self.tied, S)
        r = np.zeros(bias.size)
        r[self._given] = self._force
        kernels.add_rows(self._given, self._force, self.body, S, a)
        for equations, unknown, share in self._parts:
            B, load = np.empty((unknown.size, equations.size)), np.empty(equations.size)
            kernels.equations(
                equations, unknown, self.body, self.moves, J, S, bias, soft, a, B, load
            )
            f = _unknown(B, load, share)
            r[unknown] = f
            kernels.add_rows(unknown, f, self.body, S, a)
        f = r[: n * d].reshape(n, d)
        f[self.tied, 1:] = friction[self.tied] * f[self.tied, :1]
        return r


def _unknown(B: Floats, load: Floats, share: Floats) -> Floats:
    """Forces f with B'f = load: those that share the load, the only ones, or the least."""
    if load.size < B.shape[0]:
        return solved(B.T, load, share)
    lu, _, f, info = dgesv(B.T, load)
    if info == 0 and dgecon(lu, np.abs(B).sum(axis=1).max(initial=0.0))[0] > WEAK:
        return np.asarray(f)
    unit = np.sqrt(np.maximum(np.abs(B.diagonal()), 1e-300))
    scaled = B.T / unit[:, None] / unit
    return np.asarray(np.linalg.lstsq(scaled, load / unit, rcond=RANK)[0] / unit)
