"""Rows of a step: contacts and joints in island order, with everything a solver asks for."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from drystone.constraints.joints.blocks import JointBlocks, scaled
from drystone.kernels import rows as kernels
from drystone.kernels.active import pair_materials
from drystone.kernels.delassus import delassus
from drystone.kernels.islands import label_contacts
from drystone.model import Contacts, Model
from drystone.problems.cones import Cone, EllipticCone, SoftFingerCone
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

    def coordinates(self, vector: Floats, spin: Floats) -> Floats:
        """r (nc, d) of impulse vectors: the inverse of ``vectors``."""
        r = np.empty((self.nc, self.d))
        kernels.project_impulses(self.frame, vector, spin, r)
        return r


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


def step_rows(
    model: Model,
    moves: Bools,
    inverse_mass: Floats,
    inverse_inertia: Floats,
    position: Floats,
    turn: Floats | None,
    contacts: Contacts,
    cone: Cone,
    blocks: JointBlocks | None = None,
) -> Rows:
    """Rows of contacts and joints at given positions; inverse_inertia in world axes.

    turn: (nb, 3, 3) body axes in the world, needed only for anisotropic bodies.
    """
    body = np.stack([model.geoms.body[contacts.geom_a], model.geoms.body[contacts.geom_b]], axis=1)
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
    values = [frame, J, P, D, mu, eps, np.zeros((nc, d)), np.full(nc, -1)]
    if blocks is not None:
        body = np.concatenate([body, blocks.body])
        contacts = _with_joints(contacts, blocks)
        more = _joint_values(model, inverse_mass, inverse_inertia, blocks, d)
        values = [np.concatenate(pair) for pair in zip(values, more, strict=True)]
    order, start = island_order(body, moves)
    frame, J, P, D, mu, eps, soft, joint = (value[order] for value in values)
    mean = np.einsum("iaa->i", D) / d
    unit = np.sqrt(np.where(mean > 0, mean, 1.0))
    contacts = select(contacts, order)
    return Rows(
        start, body[order], contacts, moves, frame, J, P, D, mu, eps, unit, soft, joint, blocks
    )


def _joint_values(
    model: Model, inverse_mass: Floats, inverse_inertia: Floats, blocks: JointBlocks, d: int
) -> list[Floats | Ints]:
    """Frame, J, P, D, mu, eps, soft and number of joint blocks; frames are unit vectors."""
    n = blocks.mu.size
    P, D = np.empty_like(blocks.J), np.empty((n, d, d))
    args = (inverse_mass, inverse_inertia, blocks.body, blocks.J)
    kernels.responses(*args, np.zeros((n, d)), P, D)
    scaled(blocks, D)
    kernels.responses(*args, blocks.soft, P, D)
    frame = np.zeros((n, d, model.dim))
    frame[:, np.arange(d), np.arange(d) % model.dim] = 1.0
    mu = np.repeat(blocks.mu[:, None], 2, axis=1)
    return [frame, blocks.J, P, D, mu, np.zeros((n, 2)), blocks.soft, np.arange(n)]


def _with_joints(contacts: Contacts, blocks: JointBlocks) -> Contacts:
    """Contacts, and joint blocks dressed as contacts that never touch."""
    n, dim = blocks.mu.size, contacts.point.shape[1]
    nowhere, none = np.full(n, -1), np.zeros((n, dim))
    return Contacts(
        np.concatenate([contacts.geom_a, nowhere]),
        np.concatenate([contacts.geom_b, nowhere]),
        np.concatenate([contacts.point, none]),
        np.concatenate([contacts.normal, none]),
        np.concatenate([contacts.gap, np.full(n, np.inf)]),
        np.concatenate([contacts.feature, nowhere]),
    )


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
