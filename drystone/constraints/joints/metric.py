"""Joint rows in the mass metric: B = J L with L L' = M^-1, so that a least |y| with B y = c is the
motion q = L y of least kinetic energy with J q = c."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from drystone.dynamics.frames import rotations
from drystone.model import Joints, Model, State
from drystone.types import Bools, Floats, Ints

Matrix = Any  # a SciPy sparse matrix, which has no type of its own


@dataclass(slots=True)
class Group:
    """Joints that share movable bodies, directly or through others: their rows (m,), the movable
    bodies (k,), and which of these the rows are about: body (m, 2), -1 for one that stays."""

    rows: Ints
    bodies: Ints
    body: Ints


def groups(model: Model, joints: Joints) -> list[Group]:
    """All groups with rows, in the order of their first rows."""
    nr, nb = joints.nr, model.nb
    moves = np.append(model.inverse_mass > 0, False)
    body = joints.row_body.ravel()
    keep = moves[body]  # the world, -1, is the last
    row = np.repeat(np.arange(nr), 2)[keep]
    links = sparse.coo_matrix((np.ones(row.size), (row, nr + body[keep])), shape=(nr + nb,) * 2)
    _, label = connected_components(links, directed=False)
    _, first, label = np.unique(label[:nr], return_index=True, return_inverse=True)
    order = np.argsort(first[label], kind="stable")
    cuts = np.flatnonzero(np.diff(first[label][order])) + 1
    return [_group(joints, moves, rows) for rows in np.split(order, cuts)]


def _group(joints: Joints, moves: Bools, rows: Ints) -> Group:
    body = joints.row_body[rows]
    bodies = np.unique(body[moves[body]])
    return Group(rows, bodies, np.where(moves[body], np.searchsorted(bodies, body), -1))


def roots(model: Model, state: State, bodies: Ints) -> Floats:
    """L (k, dof, dof) with L L' = M^-1, in world axes, of movable bodies."""
    dim, dof = model.dim, model.dof
    out = np.zeros((bodies.size, dof, dof))
    root = np.sqrt(model.inverse_mass[bodies])
    for e in range(dim):
        out[:, e, e] = root
    if dim == 2:
        out[:, 2, 2] = np.sqrt(model.inverse_inertia[bodies])
    else:
        R = rotations(state.orientation[bodies])
        out[:, 3:, 3:] = R @ np.linalg.cholesky(model.inverse_inertia[bodies])
    return out


def scaled_rows(J: Floats, body: Ints, L: Floats) -> Matrix:
    """B (m, k * dof), sparse, of rows J (m, 2, dof) on bodies (m, 2) of the k in L."""
    k, dof, _ = L.shape
    at = np.maximum(body, 0)
    values = np.einsum("nse,nsef->nsf", J, L[at])
    values[body < 0] = 0.0
    column = at[:, :, None] * dof + np.arange(dof)
    row = np.broadcast_to(np.arange(J.shape[0])[:, None, None], values.shape)
    entries = (values.ravel(), (row.ravel(), column.ravel()))
    return sparse.coo_matrix(entries, shape=(J.shape[0], k * dof)).tocsr()
