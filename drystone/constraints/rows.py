"""Rows of a step: the active contacts in island order, with everything a solver asks for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drystone.kernels import rows as kernels
from drystone.kernels.active import pair_materials
from drystone.kernels.delassus import delassus
from drystone.kernels.island_sweeps import label_contacts
from drystone.model import Contacts, Model
from drystone.problems.cones import Cone, EllipticCone, SoftFingerCone
from drystone.problems.delassus import BlockMatrix
from drystone.types import Bools, Floats, Ints


@dataclass(slots=True)
class Rows:
    """nc contacts, island by island: island k owns start[k]:start[k + 1].

    body (nc, 2); contacts: the same contacts, in this order; frame, J, P, D as in
    ``kernels.rows``; mu (nc, 2) static and dynamic; eps (nc, 2) normal and tangential;
    unit (nc,): sqrt of the mean diagonal of D.
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
        return BlockMatrix(*delassus(self.key, lo, hi, self.body, self.moves, self.J, self.P, work))

    def take(self, chosen: Ints) -> Rows:
        """Some of the contacts as rows of their own, in new islands."""
        body = self.body[chosen]
        order, start = island_order(body, self.moves)
        pick = chosen[order]
        return Rows(
            start,
            self.body[pick],
            select(self.contacts, pick),
            self.moves,
            *(getattr(self, name)[pick] for name in ("frame", "J", "P", "D", "mu", "eps", "unit")),
        )

    def vectors(self, r: Floats) -> tuple[Floats, Floats]:
        """Impulse vectors on body a (nc, dim) and spins about the normal (nc,)."""
        vector, spin = np.empty((self.nc, self.frame.shape[2])), np.empty(self.nc)
        kernels.impulse_vectors(self.frame, r, vector, spin)
        return vector, spin

    def coordinates(self, vector: Floats, spin: Floats) -> Floats:
        """r (nc, d) of impulse vectors: the inverse of ``vectors``."""
        r = np.empty((self.nc, self.d))
        kernels.project_impulses(self.frame, vector, spin, r)
        return r


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


def contact_rows(
    model: Model,
    moves: Bools,
    inverse_mass: Floats,
    inverse_inertia: Floats,
    position: Floats,
    turn: Floats | None,
    contacts: Contacts,
    cone: Cone,
) -> Rows:
    """Rows of contacts at given positions; inverse_inertia in world axes.

    turn: (nb, 3, 3) body axes in the world, needed only for anisotropic bodies.
    """
    body = np.stack([model.geoms.body[contacts.geom_a], model.geoms.body[contacts.geom_b]], axis=1)
    order, start = island_order(body, moves)
    body, contacts = body[order], select(contacts, order)
    nc, dim = body.shape[0], model.dim
    d = cone.block(dim) if isinstance(cone, SoftFingerCone) else dim
    frame = np.empty((nc, d, dim))
    J, P = np.empty((nc, d, 2, model.dof)), np.empty((nc, d, 2, model.dof))
    D = np.empty((nc, d, d))
    if dim == 2:
        kernels.frames_planar(contacts.normal, frame)
        fill = kernels.rows_planar
    else:
        axis, ratios = _anisotropy(model, body, turn, cone)
        radius = cone.radius if isinstance(cone, SoftFingerCone) else 1.0
        kernels.frames_spatial(contacts.normal, axis, ratios, radius, frame)
        fill = kernels.rows_spatial
    fill(inverse_mass, inverse_inertia, position, body, contacts.point, frame, J, P, D)
    mu, eps = np.empty((nc, 2)), np.empty((nc, 2))
    rules = model.rules
    pair_materials(
        body, model.friction, model.restitution, rules.key, rules.friction, rules.restitution,
        mu, eps,
    )  # fmt: skip
    mean = np.einsum("iaa->i", D) / d
    unit = np.sqrt(np.where(mean > 0, mean, 1.0))
    return Rows(start, body, contacts, moves, frame, J, P, D, mu, eps, unit)


def _anisotropy(model: Model, body: Ints, turn: Floats | None, cone: Cone) -> tuple[Floats, Floats]:
    """Axis and ratios of each contact: those of body a, else of body b, else of the cone."""
    nc = body.shape[0]
    axis, ratios = np.zeros((nc, 3)), np.ones((nc, 2))
    if isinstance(cone, EllipticCone):
        axis[:] = np.cos(cone.angle), np.sin(cone.angle), 0.0
        ratios[:] = cone.ratios
    if turn is not None:
        world = np.einsum("bij,bj->bi", turn, model.axis)
        special = np.asarray(model.axis.any(axis=1))
        for side in (1, 0):
            mine = special[body[:, side]]
            axis[mine] = world[body[mine, side]]
            ratios[mine] = model.ratios[body[mine, side]]
    return axis, ratios
