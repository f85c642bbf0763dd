"""How many ways a mechanism can move, and which joints hold what others hold already."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drystone.constraints.joints.metric import groups, roots, scaled_rows
from drystone.constraints.joints.rows import joint_rows
from drystone.model import Model, State

RANK = 1e-8  # of the greatest singular value
TAKES_PART = 1e-6  # of a null vector of length 1: what a joint must hold of it to be named


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


def mobility(model: Model, state: State) -> Mobility:
    """At one state: a mechanism may have more freedom at its dead points."""
    total = int((model.inverse_mass > 0).sum()) * model.dof
    joints = model.joints
    if joints is None or joints.nr == 0:
        return Mobility(total, 0, 0, ())
    rows, owner = joint_rows(joints, state), joints.row_joint
    rank, extra = 0, []
    for group in groups(model, joints):
        L = roots(model, state, group.bodies)
        B = scaled_rows(rows.J[group.rows], group.body, L).toarray()
        B /= np.linalg.norm(B, axis=1, keepdims=True)
        U, s, _ = np.linalg.svd(B, full_matrices=True)
        known = int((s > RANK * s[0]).sum())
        rank += known
        if known < group.rows.size:
            share = np.sqrt((U[:, known:] ** 2).sum(axis=1))
            who = np.unique(owner[group.rows[share > TAKES_PART]])
            extra.append((group.rows.size - known, tuple(joints.names[j] for j in who)))
    return Mobility(total - rank, joints.nr, rank, tuple(extra))
