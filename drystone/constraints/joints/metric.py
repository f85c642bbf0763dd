"""Joint rows in the mass metric: B = J L with L L' = M^-1, so that a least |y| with B y = c is the
motion q = L y of least kinetic energy with J q = c."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from drystone.constraints.joints.rows import JointRows
from drystone.dynamics.frames import rotations
from drystone.model import Joints, Model, State
from drystone.types import Floats, Ints

Matrix = Any  # a SciPy sparse matrix, which has no type of its own


@dataclass(slots=True)
class Group:
    """Joints that share movable bodies, directly or through others: rows (m,), joints (k,)."""

    rows: Ints
    joints: Ints


def groups(model: Model, joints: Joints) -> list[Group]:
    """All groups with rows, in the order of their first joint."""
    nb = model.nb
    held = np.where(joints.row_body >= 0, joints.row_body, nb)
    moves = np.append(model.inverse_mass > 0, False)
    row = np.repeat(np.arange(joints.nr), 2)
    body = held.ravel()
    keep = moves[body]
    links = sparse.coo_matrix(
        (np.ones(keep.sum()), (row[keep], joints.nr + body[keep])),
        shape=(joints.nr + nb, joints.nr + nb),
    )
    _, label = connected_components(links, directed=False)
    label = label[: joints.nr]
    owner = joints.row_joint
    _, first = np.unique(label, return_index=True)
    out = []
    for i in np.sort(first):
        rows = np.flatnonzero(label == label[i])
        out.append(Group(rows, np.unique(owner[rows])))
    return out


def roots(model: Model, state: State) -> Floats:
    """L (nb, dof, dof) with L L' = M^-1 in world axes; zero for bodies that do not move."""
    dim, dof = model.dim, model.dof
    out = np.zeros((model.nb, dof, dof))
    moves = np.flatnonzero(model.inverse_mass > 0)
    root = np.sqrt(model.inverse_mass[moves])
    for e in range(dim):
        out[moves, e, e] = root
    if dim == 2:
        out[moves, 2, 2] = np.sqrt(model.inverse_inertia[moves])
    elif moves.size:
        R = rotations(state.orientation[moves])
        out[moves, 3:, 3:] = R @ np.linalg.cholesky(model.inverse_inertia[moves])
    return out


def scaled_rows(rows: JointRows, L: Floats, pick: Ints) -> Matrix:
    """B (m, nb * dof), sparse, of the rows `pick`."""
    nb, dof, _ = L.shape
    body, J = rows.body[pick], rows.J[pick]
    at = np.maximum(body, 0)
    values = np.einsum("nse,nsef->nsf", J, L[at])
    values[body < 0] = 0.0
    column = at[:, :, None] * dof + np.arange(dof)
    row = np.broadcast_to(np.arange(pick.size)[:, None, None], values.shape)
    entries = (values.ravel(), (row.ravel(), column.ravel()))
    return sparse.coo_matrix(entries, shape=(pick.size, nb * dof)).tocsr()
