"""Redundant joints: which rows a step is solved without, and of all forces the least.

Where joints hold what others hold already, their rows depend on each other at the state in which
all are closed. Beside it they contradict each other, and what moves by all of them at once may
move by none: so a step is solved with as many rows as are independent (``kernels.redundant``).
A row within 5e-8 sqrt(m) of its length of the span of m others counts as dependent, which is what
rounding leaves; joints that are open by an angle bend rows by as much, so within ten times that
angle, too.

Impulses r and r + x with J' x = 0 do the same. The one kept has the least sum of w_i r_i^2 with
w_i = J_i M^-1 J_i', twice the kinetic energy that a unit of row i alone would give: newtons and
newton metres are made comparable by what they move, no frame and no unit of length is preferred,
and a symmetric mechanism has symmetric forces.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from drystone.constraints.joints.metric import Matrix
from drystone.constraints.joints.mobility import Excess, excess
from drystone.constraints.joints.rows import JointRows
from drystone.kernels import redundant as kernels
from drystone.model import Joints, Model, State
from drystone.types import Bools, Floats, Ints

if TYPE_CHECKING:
    from drystone.constraints.rows import Rows

DEPENDENT_ROWS = 300  # rows of one group up to which dependent ones are found
# of a row's own response, beyond that size: taken back by refinement; rounding divided by it is
# what the forces may be off
FACTOR_SHIFT = 1e-8
FACTOR_REFINEMENTS = 5  # of forces by the shifted factor


@dataclass(slots=True)
class Split:
    """Rows `at` (m, 2: block, row in it) of loops, `rows` (m,) among those of all joints; of these
    extra[:count] too many and `weak` more weak; see ``kernels.redundant``."""

    rows: Ints
    at: Ints
    root: Floats
    extra: Ints
    null: Floats
    idle: Floats
    count: int
    weak: int

    @property
    def dropped(self) -> tuple[Ints, Ints]:
        """Block and row of those too many."""
        at = self.at[self.extra[: self.count]]
        return at[:, 0], at[:, 1]

    @property
    def kept(self) -> Bools:
        """(m,) rows that are not too many."""
        out = np.ones(self.at.shape[0], bool)
        out[self.extra[: self.count]] = False
        return out

    def elsewhere(self, rows: Rows, J: Floats, P: Floats, error: Floats, strict: int) -> Split:
        """The same at another pose, with rows J, P (nc, d, 2, dof) and errors (nr,) there; those
        kept here come before others."""
        return _split(rows.body, J, P, self.at, self.rows, error, 0.0, self.kept, strict)

    def closing(
        self, rows: Rows, J: Floats, P: Floats, error: Floats
    ) -> tuple[Ints, Floats, Floats]:
        """Bodies, the least motion of them (n, dof) that closes the rows kept here, which are open
        by error (nr,), and the impulses (n, dof) of a motion in a unit of time; J, P
        (nc, d, 2, dof): rows, and how impulses along them move bodies."""
        closed = self.kept & (self.root > 0.0)
        i, a = self.at[closed].T
        left, right = (_sparse(rows, i, a, M).toarray() for M in (J, P))
        load = np.linalg.solve(left @ right.T, -error[self.rows[closed]])
        shape = (-1, J.shape[3])
        return np.unique(rows.body[i]), (load @ right).reshape(shape), (load @ left).reshape(shape)

    def unsure(self, rows: Rows, J: Floats, P: Floats, error: Floats) -> tuple[Ints, Ints]:
        """Blocks and rows of those kept that are weak or too many at another pose."""
        at, mine = self.at[self.kept], self.rows[self.kept]
        firm = np.zeros(mine.size, bool)
        return _split(rows.body, J, P, at, mine, error, 0.0, firm, kernels.WEAKER).dropped

    def silence(self, rows: Rows) -> None:
        """Make padding of the rows too many, in place."""
        kernels.silence(
            self.at, self.extra, self.count, self.root, rows.J, rows.P, rows.D, rows.soft
        )

    def gather(self, r: Floats) -> None:
        """Impulses (nc, d) as the kept rows alone have them, in place."""
        kernels.gather(self.at, self.root, self.extra, self.null, self.count, r)

    def spread(self, r: Floats) -> None:
        """The least impulses (nc, d) that do the same, in place."""
        kernels.spread(self.at, self.root, self.idle, self.count, r)


class Thinned:
    """Rows of a step without those of joints that are too many, for as long as it is solved: `rows`
    with the rows of `splits` as they are, or silenced: padding without bodies.

    dropped: block and row in it of those too many; weak: whether any others nearly are.
    """

    def __init__(self, rows: Rows, splits: list[Split]) -> None:
        self.rows, self.splits = rows, splits
        self.whole = rows.J, rows.P, rows.D, rows.soft
        self.dropped = joined([split.dropped for split in splits])
        self.weak = any(split.weak for split in splits)

    def silence(self) -> None:
        """Leave out of the rows, as they are now, those too many."""
        rows = self.rows
        if self.splits:
            rows.J, rows.P = rows.J.copy(), rows.P.copy()
            rows.D, rows.soft = rows.D.copy(), rows.soft.copy()
        for split in self.splits:
            split.silence(rows)

    def restore(self) -> None:
        """All rows again, as they were at first."""
        self.rows.J, self.rows.P, self.rows.D, self.rows.soft = self.whole

    def gather(self, r: Floats) -> Floats:
        """Impulses (nc, d) as the rows that are left have them."""
        r = r.copy() if self.splits else r
        for split in self.splits:
            split.gather(r)
        return r

    def spread(self, r: Floats) -> Floats:
        """Of all impulses (nc, d) that do what r does, the least."""
        r = r.copy() if self.splits else r
        for split in self.splits:
            split.spread(r)
        return r


def joined(parts: list[tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
    """Blocks and rows in one list."""
    none = np.empty(0, np.int64)
    block, place = ([part[k] for part in parts] for k in (0, 1))
    return np.concatenate([none, *block]), np.concatenate([none, *place])


class MinimumNorm:
    """Knows the redundant joints of a model; found anew when its joints change.

    count: rows too many, in the last step or, before the first, where they were found.
    """

    def __init__(self) -> None:
        self._joints: Joints | None = None
        self.parts: list[Excess] = []
        self.count = 0

    def snapshot(self, joints: Joints | None) -> dict[str, Ints]:
        """What was found for these joints, as arrays; nothing if they are to be found anew."""
        if joints is None or joints is not self._joints:
            return {}
        out = {}
        for name in ("rows", "joints"):
            lists = [getattr(part, name) for part in self.parts]
            out[name] = np.concatenate(lists) if lists else np.empty(0, np.int64)
            out[f"{name}_each"] = np.array([x.size for x in lists], np.int64)
        return out | {"count": np.array([part.count for part in self.parts], np.int64)}

    def restore(self, known: dict[str, Ints], joints: Joints | None) -> None:
        """Take over what ``snapshot`` gave."""
        self._joints, self.parts = None, []
        if not known:
            return
        lists = [np.split(known[n], np.cumsum(known[f"{n}_each"])[:-1]) for n in ("rows", "joints")]
        self.parts = [
            Excess(int(count), rows, mine)
            for count, rows, mine in zip(known["count"], *lists, strict=False)
        ]
        self._joints = joints

    @property
    def known(self) -> tuple[Joints | None, list[Excess]]:
        """The joints that were examined, and what was found."""
        return self._joints, self.parts

    @known.setter
    def known(self, value: tuple[Joints | None, list[Excess]]) -> None:
        self._joints, self.parts = value

    def find(self, model: Model, state: State) -> bool:
        """Find the redundant joints of a model, unless they are known; whether they were not."""
        new = model.joints is not self._joints
        if new:
            self._joints, self.parts = model.joints, excess(model, state)
            self.count = sum(part.count for part in self.parts)
        return new

    @property
    def large(self) -> bool:
        """Whether any group is so large that dependent rows are not searched for."""
        return any(part.rows.size > DEPENDENT_ROWS for part in self.parts)

    def split(
        self,
        model: Model,
        state: State,
        rows: Rows,
        ties: JointRows,
        h: float = 0.0,
        strict: int = kernels.LOOSE,
    ) -> list[Split]:
        """Rows of this step that are too many, group by group; ties: joints at its start; h: its
        length [s]; strict: weak ones, too, see ``kernels.redundant.separate``."""
        self.find(model, state)
        self.count = sum(part.count for part in self.parts if part.rows.size > DEPENDENT_ROWS)
        out: list[Split] = []
        for part, at in self._here(model, rows):
            if part.rows.size <= DEPENDENT_ROWS:
                firm = np.zeros(part.rows.size, bool)
                turn = h * kernels.turning(at, rows.body, rows.moves, state.velocity)
                args = (rows.body, rows.J, rows.P, at, part.rows, ties.error, turn, firm, strict)
                found = _split(*args)
                self.count += found.count
                out += [found] if found.count or found.weak else []
        return out

    def __call__(self, model: Model, rows: Rows, r: Floats) -> None:
        """Take from impulses r (nc, d) of large groups what does nothing, in place."""
        for part, at in self._here(model, rows):
            if part.rows.size > DEPENDENT_ROWS:
                i, a = at.T
                r[i, a] -= _idle(rows, i, a, r[i, a])

    def _here(self, model: Model, rows: Rows) -> Iterator[tuple[Excess, Ints]]:
        """Groups all of whose rows are among `rows`, and where; sleepers have none."""
        if not self.parts or rows.blocks is None:
            return
        row = np.where(rows.joint[:, None] >= 0, rows.blocks.row[rows.joint], -1)
        at = np.full((0 if model.joints is None else model.joints.nr, 2), -1)
        at[row[row >= 0]] = np.argwhere(row >= 0)
        for part in self.parts:
            here = at[part.rows]
            if (here >= 0).all():
                yield part, here


def _split(
    body: Ints,
    J: Floats,
    P: Floats,
    at: Ints,
    mine: Ints,
    error: Floats,
    turn: float,
    firm: Bools,
    strict: int = kernels.LOOSE,
) -> Split:
    """Divide the rows `at`, which are `mine` of those (nr,) that errors are given of."""
    m = at.shape[0]
    null, idle, S, L = np.zeros((4, m, m))
    root, extra = np.zeros(m), np.zeros(m, np.int64)
    order = np.zeros(m, np.int64)
    opening = kernels.opening(at, body, J, error[mine])
    division = kernels.Division(root, extra, null, idle, S, L, order)
    count, weak = kernels.separate(at, body, J, P, opening, turn, strict, firm, division)
    return Split(mine, at, root, extra, null, idle, int(count), int(weak))


def _idle(rows: Rows, i: Ints, a: Ints, r: Floats) -> Floats:
    """What of r (m,) has J' x = 0, orthogonal to the rest in the metric above."""
    J, P = (_sparse(rows, i, a, M) for M in (rows.J, rows.P))
    S = J @ P.T
    root = np.sqrt(S.diagonal())
    S = sparse.diags(1.0 / root) @ S @ sparse.diags(1.0 / root)
    z = root * r
    factor = splu((S + FACTOR_SHIFT * sparse.identity(z.size)).tocsc())
    x, wanted = np.zeros_like(z), S @ z
    for _ in range(FACTOR_REFINEMENTS):
        x += factor.solve(wanted - S @ x)
    return np.asarray(z - x) / root


def _places(rows: Rows, i: Ints, a: Ints, M: Floats) -> tuple[Floats, Ints, int]:
    """Rows a of blocks i of M, zero on bodies that do not move; their bodies in new numbers, and
    how many these are."""
    body, local = np.unique(rows.body[i], return_inverse=True)
    local = local.reshape(i.size, 2)
    return np.where(rows.moves[body][local][:, :, None], M[i, a], 0.0), local, body.size


def _sparse(rows: Rows, i: Ints, a: Ints, M: Floats) -> Matrix:
    values, local, k = _places(rows, i, a, M)
    m, _, dof = values.shape
    column = (local[:, :, None] * dof + np.arange(dof)).ravel()
    row = np.repeat(np.arange(m), 2 * dof)
    return sparse.csr_array((values.ravel(), (row, column)), shape=(m, k * dof))
