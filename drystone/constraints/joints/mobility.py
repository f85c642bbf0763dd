"""How many ways a mechanism can move, and which joints hold what others hold already.

Only joints on loops can be redundant: a joint that alone ties a part of the mechanism to the rest
bears what that part's own balance says. So tails are cut off first, and a tree costs no algebra.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import eigsh

from drystone.constraints.joints.metric import Group, Matrix, groups, roots, scaled_rows
from drystone.constraints.joints.rows import joint_rows
from drystone.model import Joints, Model, State
from drystone.types import Bools, Floats, Ints

LEAST_SINGULAR_VALUE = 1e-8  # of the greatest singular value
TAKES_PART = 1e-6  # of a null vector of length 1: what a joint must hold of it to be named
SINGULAR_ROWS = 600  # rows of loops up to which their singular values are computed
ZERO_EIGENVALUE = 1e-13  # of the greatest eigenvalue of B B', beyond that size


@dataclass(frozen=True, slots=True)
class Mobility:
    """freedom: velocities that all joints allow; rows and rank: of the joints' Jacobian.

    redundant: for each group of joined bodies with more rows than rank, how many rows too many
    and the names of the joints that share them: their forces are not unique.
    """

    freedom: int
    rows: int
    rank: int
    redundant: tuple[tuple[int, tuple[str, ...]], ...]

    @property
    def too_many(self) -> int:
        """Rows too many, of all groups."""
        return self.rows - self.rank


@dataclass(slots=True)
class Excess:
    """Loops of one group of bodies with `count` rows too many; rows (m,): of all joints on these
    loops; joints (n,): that share what is too many."""

    count: int
    rows: Ints
    joints: Ints


def mobility(model: Model, state: State) -> Mobility:
    """At one state: a mechanism may have more freedom at its dead points."""
    total = int((model.inverse_mass > 0).sum()) * model.dof
    joints = model.joints
    if joints is None or joints.nr == 0:
        return Mobility(total, 0, 0, ())
    found = excess(model, state)
    rank = joints.nr - sum(part.count for part in found)
    names = [(part.count, tuple(joints.names[j] for j in part.joints)) for part in found]
    return Mobility(total - rank, joints.nr, rank, tuple(names))


def excess(model: Model, state: State) -> list[Excess]:
    """Groups of bodies whose joints have more rows than rank, at one state."""
    joints = model.joints
    if joints is None or joints.nr == 0:
        return []
    looped = _looped(model, joints)
    if not looped.any():
        return []
    rows, owner, out = joint_rows(joints, state), joints.row_joint, []
    for group in groups(model, joints):
        on = looped[owner[group.rows]]
        if not on.any():
            continue
        mine = group.rows[on]
        part = Group(mine, group.bodies, group.body[on])
        L = roots(model, state, part.bodies)
        B = scaled_rows(rows.J[mine], part.body, L)
        length = np.sqrt(np.asarray(B.multiply(B).sum(axis=1)).ravel())
        count, share = _null(sparse.diags(1.0 / length) @ B)
        if count:
            who = np.unique(owner[mine[share > TAKES_PART]])
            out.append(Excess(count, mine, who))
    return out


def _null(B: Matrix) -> tuple[int, Floats]:
    """How many more rows than rank B (m, n) has, and the length (m,) of each row's part of the
    orthonormal vectors x with x B = 0."""
    m = B.shape[0]
    if m <= SINGULAR_ROWS:
        U, s, _ = np.linalg.svd(B.toarray(), full_matrices=True)
        known = int((s > LEAST_SINGULAR_VALUE * s[0]).sum())
        return m - known, np.sqrt((U[:, known:] ** 2).sum(axis=1))
    S = (B @ B.T).tocsc()
    most = float(eigsh(S, k=1, v0=np.ones(m), return_eigenvectors=False)[0])
    k = 8
    while True:
        k = min(k, m - 1)
        start = np.cos(np.arange(m))  # any fixed vector: the same answer each time
        values, vectors = eigsh(S, k=k, sigma=-1e-8 * most, v0=start)
        null = values < ZERO_EIGENVALUE * most
        if not null.all() or k == m - 1:
            return int(null.sum()), np.sqrt((vectors[:, null] ** 2).sum(axis=1))
        k *= 2


def _looped(model: Model, joints: Joints) -> Bools:
    """(nj,) joints on loops or between them. All that does not move is one body here."""
    moves = np.append(model.inverse_mass > 0, False)
    held = np.diff(joints.first_row) > 0
    ends = joints.row_body[np.minimum(joints.first_row[:-1], joints.nr - 1)]
    ends = np.where(moves[ends], ends, model.nb)
    on: list[set[int]] = [set() for _ in range(model.nb + 1)]
    for j in np.flatnonzero(held):
        for side in (0, 1):
            on[int(ends[j, side])].add(int(j))
    left = held.copy()
    tails = [body for body in range(model.nb + 1) if len(on[body]) == 1]
    pairs = ends.tolist()
    while tails:
        body = tails.pop()
        if len(on[body]) != 1:
            continue
        tail = on[body].pop()
        left[tail] = False
        other = sum(pairs[tail]) - body
        on[other].discard(tail)
        if len(on[other]) == 1:
            tails.append(other)
    return left
