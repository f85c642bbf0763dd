"""Forces of redundant joints: of all that move the bodies alike, the least.

Where joints hold what others hold already, impulses r and r + x with J' x = 0 do the same. The one
kept has the least sum of w_i r_i^2 with w_i = J_i M^-1 J_i', twice the kinetic energy that a unit
of row i alone would give: newtons and newton metres are made comparable by what they move, no
frame and no unit of length is preferred, and a symmetric mechanism has symmetric forces.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from drystone.constraints.joints.metric import Matrix
from drystone.constraints.joints.mobility import Excess, excess
from drystone.model import Joints, Model, State
from drystone.types import Floats, Ints

if TYPE_CHECKING:
    from drystone.constraints.rows import Rows

DENSE = 150  # rows up to which eigenvectors are computed
NOTHING = 1e-11  # eigenvalues of rows scaled to their own responses: less counts as none
# of a row's own response, beyond that: taken back by refinement; rounding divided by it is what
# the forces may be off
SHIFT = 1e-8
REFINED = 5


class LeastNorm:
    """Knows the redundant joints of a model; found anew when its joints change.

    count: rows too many.
    """

    def __init__(self) -> None:
        self._joints: Joints | None = None
        self._parts: list[Excess] = []

    @property
    def count(self) -> int:
        return sum(part.count for part in self._parts)

    def snapshot(self, joints: Joints | None) -> dict[str, Ints]:
        """What was found for these joints, as arrays; nothing if they are to be looked at anew."""
        if joints is None or joints is not self._joints:
            return {}
        out = {}
        for name in ("rows", "joints"):
            lists = [getattr(part, name) for part in self._parts]
            out[name] = np.concatenate(lists) if lists else np.empty(0, np.int64)
            out[f"{name}_each"] = np.array([x.size for x in lists], np.int64)
        return out | {"count": np.array([part.count for part in self._parts], np.int64)}

    def restore(self, known: dict[str, Ints], joints: Joints | None) -> None:
        """Take over what ``snapshot`` gave."""
        self._joints, self._parts = None, []
        if not known:
            return
        lists = [np.split(known[n], np.cumsum(known[f"{n}_each"])[:-1]) for n in ("rows", "joints")]
        self._parts = [
            Excess(int(count), rows, mine)
            for count, rows, mine in zip(known["count"], *lists, strict=False)
        ]
        self._joints = joints

    def look(self, model: Model, state: State) -> bool:
        """Find the redundant joints of a model, unless they are known; whether they were not."""
        new = model.joints is not self._joints
        if new:
            self._joints, self._parts = model.joints, excess(model, state)
        return new

    def __call__(self, model: Model, state: State, rows: Rows, r: Floats) -> None:
        """Take from impulses r (nc, d) of the rows what does nothing, in place."""
        self.look(model, state)
        if not self._parts or rows.blocks is None:
            return
        row = np.where(rows.joint[:, None] >= 0, rows.blocks.row[rows.joint], -1)
        block, place = np.nonzero(row >= 0)
        at = np.full(0 if model.joints is None else model.joints.nr, -1)
        at[row[block, place]] = np.arange(block.size)
        for part in self._parts:
            here = at[part.rows]
            if (here >= 0).all():  # sleepers have no rows
                i, a = block[here], place[here]
                r[i, a] -= _idle(rows, i, a, r[i, a], part)


def _idle(rows: Rows, i: Ints, a: Ints, r: Floats, part: Excess) -> Floats:
    """What of r (m,) has J' x = 0, orthogonal to the rest in the metric above.

    Rows too many at a dead point only are not so a step later: part.count falls to what stays.
    """
    if r.size <= DENSE:
        J, P = (_full(rows, i, a, M) for M in (rows.J, rows.P))
        S = J @ P.T
        root = np.sqrt(np.diagonal(S))
        values, vectors = np.linalg.eigh(S / np.outer(root, root))
        part.count = min(part.count, int((values < NOTHING).sum()))
        N = vectors[:, : part.count]
        return np.asarray(N @ (N.T @ (root * r))) / root
    J, P = (_sparse(rows, i, a, M) for M in (rows.J, rows.P))
    S = J @ P.T
    root = np.sqrt(S.diagonal())
    S = sparse.diags(1.0 / root) @ S @ sparse.diags(1.0 / root)
    z = root * r
    factor = splu((S + SHIFT * sparse.identity(z.size)).tocsc())
    x, wanted = np.zeros_like(z), S @ z
    for _ in range(REFINED):
        x += factor.solve(wanted - S @ x)
    return np.asarray(z - x) / root


def _places(rows: Rows, i: Ints, a: Ints, M: Floats) -> tuple[Floats, Ints, int]:
    """Rows a of blocks i of M, zero on bodies that do not move; their bodies in new numbers, and
    how many these are."""
    body, local = np.unique(rows.body[i], return_inverse=True)
    local = local.reshape(i.size, 2)
    return np.where(rows.moves[body][local][:, :, None], M[i, a], 0.0), local, body.size


def _full(rows: Rows, i: Ints, a: Ints, M: Floats) -> Floats:
    """(m, bodies * dof)."""
    values, local, k = _places(rows, i, a, M)
    out = np.zeros((i.size, k, values.shape[2]))
    every = np.arange(i.size)
    for side in (0, 1):
        out[every, local[:, side]] += values[:, side]
    return out.reshape(i.size, -1)


def _sparse(rows: Rows, i: Ints, a: Ints, M: Floats) -> Matrix:
    values, local, k = _places(rows, i, a, M)
    m, _, dof = values.shape
    column = (local[:, :, None] * dof + np.arange(dof)).ravel()
    row = np.repeat(np.arange(m), 2 * dof)
    return sparse.csr_array((values.ravel(), (row, column)), shape=(m, k * dof))
