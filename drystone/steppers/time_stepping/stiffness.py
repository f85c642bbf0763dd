"""Joints under load turn with their bodies: M + S in the place of M (``kernels.joint_stiffness``).

S depends on the impulses r of the joints, v' = v + (M + S(r))^-1 (h f + J' r) is nonlinear in r;
``Softened`` evaluates it and gives the rows by which it changes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drystone.constraints.joints.minimum_norm import Thinned, joined
from drystone.constraints.joints.rows import JointRows
from drystone.constraints.rows import Rows
from drystone.dynamics import bodies
from drystone.dynamics.frames import cross, rotations, turned
from drystone.kernels import joint_stiffness as kernels
from drystone.kernels.rows import add_impulses, responses
from drystone.model import Joints, Model, State
from drystone.types import Bools, Floats, Ints


@dataclass(slots=True)
class Part:
    """What a part of a step begins with (all of it, if it is not divided): how long it is and how
    long its forces act [s]; whether bodies move in it, which they do not in a second kick;
    velocities at its start and after its forces, inertia in world axes. softening [J]: kinetic
    energy that M + S in the place of M added."""

    model: Model
    state: State
    h: float
    kick: float
    drifts: bool
    v0: Floats
    v_free: Floats
    inertia: Floats
    inverse_inertia: Floats
    softening: float = 0.0


class Softened:
    """The velocities of a step as a function of its impulses.

    places: of the joints' rows in the blocks of `rows`: block, row in it, row of the joints, and
    the joint's side that comes first there; J, P, D, free: of the step with M alone, kept while
    `rows` hold others; thinned: which of them are too many, and left out of solves.
    """

    def __init__(
        self, part: Part, rows: Rows, joints: Joints, ties: JointRows, thinned: Thinned
    ) -> None:
        self.part, self.rows, self.joints, self.ties = part, rows, joints, ties
        self.thinned = thinned
        self.J, self.P, self.D, self.free = rows.J, rows.P, rows.D, part.v_free
        self.places = _places(rows, joints)
        self.arms, self.gap = _arms(joints, part.state)
        nb = part.model.nb
        self.scale = 0.25 * part.h**2 / part.kick
        self.S, self.axes = np.zeros((2, nb, 2, 3, 3))
        self.values, self.bend = np.zeros((2, nb, 2, 3))
        self.inverse = np.zeros((nb, 2, 3, 3))
        self.stiff: Bools = np.zeros(nb, bool)
        self.inertia = _spatial(part)
        self._levers = kernels.Levers(
            joints.body, self.arms, self.gap, joints.first_row, joints.row_code, ties.J
        )

    def load(self, r: Floats | None) -> None:
        """S of the impulses r (nc, d) of all rows: of the least that do what they do."""
        self.S[:] = 0.0
        self.stiff[:] = False
        self.impulse = np.zeros(self.joints.nr)
        if r is None:
            return
        block, place, row, _ = self.places
        self.impulse[row] = self.thinned.spread(r)[block, place]
        model = self.part.model
        kernels.stiffness(self._levers, self.impulse, self.scale, self.S)
        inverse_mass = np.where(self.rows.moves, model.inverse_mass, 0.0)
        kernels.soften(
            model.dim, inverse_mass, model.mass, self.inertia, self.S, self.axes, self.values,
            self.bend, self.inverse, self.stiff,
        )  # fmt: skip

    def velocity(self, r: Floats | None) -> Floats:
        """v' (nb, dof) of impulses r, with the S that is loaded."""
        model, part, body = self.part.model, self.part, self.rows.body
        v = self.free.copy()
        push = np.zeros_like(v)
        if r is not None:
            add_impulses(body, self.P, r, v)
            add_impulses(body, self.J, r, push)
        if self.stiff.any():
            kernels.soft_kick(
                model.dim, model.mass, self.inertia, self.inverse, self.stiff, part.v0, self.free,
                push, v,
            )  # fmt: skip
        return v

    def start_rows(self, whole: bool = False) -> None:
        """Rows of the step's start, with their answers by M + S; whole: also those too many."""
        rows = self.rows
        self.thinned.restore()
        rows.J, rows.P, rows.D = self.J, self.P, self.D
        if self.stiff.any():
            self._respond(self.J)
        if not whole:
            self.thinned.silence()

    def rows_at(self, pose: JointRows) -> tuple[Floats, Floats]:
        """J and M^-1 J' (nc, d, 2, dof) with the rows of joints at another pose."""
        J, rows, part = self.J.copy(), self.rows, self.part
        self._scatter(pose.J, J)
        return J, answers(part, rows, J, rows.soft, rows.body)[0]

    def unsure(self, end: JointRows) -> Ints:
        """Rows of the joints, of those kept, that are nearly too many at the step's end: what would
        close them there is anything."""
        if not self.thinned.splits or not self.part.drifts or self.part.model.motions:
            return np.empty(0, np.int64)
        J, P = self.rows_at(end)
        splits = self.thinned.splits
        return self.rows_of(joined([s.unsure(self.rows, J, P, end.error) for s in splits]))

    def end_rows(self, end: JointRows, v: Floats) -> bool:
        """Rows of the joints at the step's end, and how v' answers to their impulses.

        False if a joint turned so far that its impulses would open it.
        """
        rows, part = self.rows, self.part
        self.thinned.restore()
        rows.J, rows.P = self.J.copy(), self.P
        self._scatter(
            _turning(end.J, self.joints.row_body, v, part.h if part.drifts else 0.0), rows.J
        )
        right = self.J
        if self.stiff.any():
            mean = np.empty_like(self.ties.J)
            softened = kernels.Softened(self.axes, self.values, self.bend, self.stiff)
            change = v - part.v0
            kernels.mean_rows(self._levers, self.impulse, self.scale, softened, change, mean)
            right = self.J.copy()
            self._scatter(mean, right)
        self._respond(right)
        self.thinned.silence()
        return bool((np.einsum("iaa->ia", rows.D) > 0.0).all())

    def rows_of(self, at: tuple[Ints, Ints]) -> Ints:
        """Rows of the joints that are at these rows of blocks."""
        blocks = self.rows.blocks
        none = np.empty(0, np.int64)
        return none if blocks is None else blocks.row[self.rows.joint[at[0]], at[1]]

    def _respond(self, right: Floats) -> None:
        rows = self.rows
        rows.P, rows.D = self.P.copy(), np.empty_like(self.D)
        kernels.soft_responses(
            self.part.model.dim, rows.body, rows.J, rows.soft, self.inverse, self.stiff, right,
            rows.P, rows.D,
        )  # fmt: skip

    def _scatter(self, values: Floats, into: Floats) -> None:
        """Rows of joints (nr, 2, dof) to their places in blocks; the world is always b there."""
        block, place, row, side = self.places
        into[block, place, 0] = values[row, side]
        into[block, place, 1] = values[row, 1 - side]

    def work_of(self, v: Floats) -> float:
        """What M + S in the place of M added to the kinetic energy [J]."""
        if not self.stiff.any():
            return 0.0
        args = (self.part.model.dim, self.S, self.stiff, self.part.v0, v)
        return float(kernels.softening_work(*args))


def answers(part: Part, rows: Rows, J: Floats, soft: Floats, body: Ints) -> tuple[Floats, Floats]:
    """M^-1 J' and D of rows J (n, d, 2, dof) of blocks on `body` (n, 2)."""
    inverse_mass = np.where(rows.moves, part.model.inverse_mass, 0.0)
    inverse = bodies.of_moving(part.inverse_inertia, rows.moves)
    P, D = np.empty_like(J), np.empty((*J.shape[:2], J.shape[1]))
    responses(inverse_mass, inverse, body, J, soft, P, D)
    return P, D


def _places(rows: Rows, joints: Joints) -> tuple[Ints, Ints, Ints, Ints]:
    if rows.blocks is None:
        raise ValueError("no joints in these rows")
    row = rows.blocks.row[rows.joint]  # (nc, d), -1 where a row is none of a joint's
    row[rows.joint < 0] = -1
    block, place = np.nonzero(row >= 0)
    row = row[block, place]
    return block, place, row, np.where(joints.row_body[row, 0] < 0, 1, 0)


def _arms(joints: Joints, state: State) -> tuple[Floats, Floats]:
    """Anchors from the centres of mass (nj, 2, 3), and from b's anchor to a's (nj, 3)."""
    nj, dim = joints.anchor_a.shape
    R = rotations(state.orientation)
    arms, points = np.zeros((nj, 2, 3)), np.zeros((2, nj, 3))
    for s, anchor in enumerate((joints.anchor_a, joints.anchor_b)):
        body = joints.body[:, s]
        held = body >= 0
        points[s, :, :dim] = anchor
        arms[held, s, :dim] = turned(R[body[held]], anchor[held])
        points[s, held, :dim] = state.position[body[held]] + arms[held, s, :dim]
    return arms, points[0] - points[1]


def _spatial(part: Part) -> Floats:
    """(nb, 3, 3) inertia in world axes; in the plane about z, and something about the others."""
    if part.model.dim == 3:
        return part.inertia
    return np.asarray(part.model.inertia[:, None, None] * np.eye(3))


def _turning(J: Floats, body: Ints, v: Floats, h: float) -> Floats:
    """Rows of the end of a step by changes of the velocity v during it.

    In space exp(h (w + dw)) is not exp(h dw) exp(h w): dw counts by the left Jacobian of the
    exponential, 1 + [h w]/2 + [h w]^2/6 + ...
    """
    if J.shape[2] == 3:
        return J
    w = np.where((body >= 0)[:, :, None], v[body][:, :, 3:], 0.0) * h
    t = J[:, :, 3:]
    once = cross(t, w)
    out = J.copy()
    out[:, :, 3:] = t + 0.5 * once + cross(once, w) / 6.0
    return out
