"""Rows of a step: contacts and joints in island order, with everything a solver asks for."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from drystone.constraints.joints.blocks import JointBlocks
from drystone.kernels import rows as kernels
from drystone.kernels.delassus import delassus
from drystone.kernels.islands import label_contacts
from drystone.model import Contacts
from drystone.problems.delassus import BlockMatrix
from drystone.types import Bools, Floats, Ints


@dataclass(slots=True)
class Rows:
    """nc blocks of d rows, contacts and joints, island by island: island k owns
    start[k]:start[k + 1]; in each, blocks with a law come before those without (mu = -1).

    body (nc, 2); contacts: in this order (joints have geoms -1 and an infinite gap); frame, J, P,
    D as in ``kernels.rows``; soft (nc, d): compliances, u = J v + bias + soft r; mu (nc, 2) static
    and dynamic; eps (nc, 2) normal and tangential; unit (nc,): sqrt of the mean diagonal of D;
    joint (nc,): number of the block of ``blocks``, -1 for contacts.
    """

    start: Ints
    body: Ints
    contacts: Contacts
    moves: Bools
    frame: Floats
    J: Floats
    P: Floats
    D: Floats
    mu: Floats
    eps: Floats
    unit: Floats
    soft: Floats
    joint: Ints
    blocks: JointBlocks | None = None

    @property
    def touching(self) -> Bools:
        """(nc,) which blocks are contacts."""
        return self.joint < 0

    @property
    def nc(self) -> int:
        return int(self.body.shape[0])

    @property
    def islands(self) -> int:
        return int(self.start.size - 1)

    @property
    def d(self) -> int:
        return int(self.frame.shape[1])

    @property
    def key(self) -> tuple[int, ...]:
        return (0,) * self.d

    def velocities(self, v: Floats, bias: Floats | None = None) -> Floats:
        """(nc, d) contact velocities J v + bias."""
        u = np.empty((self.nc, self.d))
        kernels.row_velocities(self.body, self.J, np.zeros_like(u) if bias is None else bias, v, u)
        return u

    def push(self, r: Floats, v: Floats) -> None:
        """v += M^-1 J' r, in place."""
        kernels.add_impulses(self.body, self.P, r, v)

    def W(self, lo: int, hi: int) -> BlockMatrix:
        """W of the contacts lo:hi, which share no moving body with others."""
        work = np.empty(self.moves.size, np.int64)
        args = (self.key, lo, hi, self.body, self.moves, self.J, self.P, work)
        W = BlockMatrix(*delassus(*args))
        if self.blocks is not None:
            span = np.arange(self.d)
            W.blocks[W.diagonal[:, None], span, span] += self.soft[lo:hi]
        return W

    def take(self, chosen: Ints) -> Rows:
        """Some of the contacts as rows of their own, in new islands."""
        body = self.body[chosen]
        order, start = island_order(body, self.moves)
        pick = chosen[order]
        values = {name: getattr(self, name)[pick] for name in PER_BLOCK}
        contacts = select(self.contacts, pick)
        return replace(self, start=start, body=self.body[pick], contacts=contacts, **values)

    def vectors(self, r: Floats) -> tuple[Floats, Floats]:
        """Impulse vectors on body a (nc, dim) and spins about the normal (nc,)."""
        vector, spin = np.empty((self.nc, self.frame.shape[2])), np.empty(self.nc)
        kernels.impulse_vectors(self.frame, r, vector, spin)
        return vector, spin


PER_BLOCK = ("frame", "J", "P", "D", "mu", "eps", "unit", "soft", "joint")


def island_order(body: Ints, moves: Bools) -> tuple[Ints, Ints]:
    """Order that sorts contacts by island (stable), and where each island starts."""
    nc = body.shape[0]
    label = np.empty(nc, np.int64)
    count = label_contacts(body, moves, np.empty(moves.size, np.int64), label)
    start = np.zeros(count + 1, np.int64)
    if nc:
        np.cumsum(np.bincount(label, minlength=count), out=start[1:])
    return np.argsort(label, kind="stable"), start


def select(contacts: Contacts, pick: Ints | Bools) -> Contacts:
    return Contacts(
        contacts.geom_a[pick],
        contacts.geom_b[pick],
        contacts.point[pick],
        contacts.normal[pick],
        contacts.gap[pick],
        contacts.feature[pick],
    )
