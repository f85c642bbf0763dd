"""Who took which impulse in a collision: contacts, joints, and stops of joints."""

from __future__ import annotations

import numpy as np

from drystone.constraints.joints.forces import wrenches
from drystone.kernels.joints_coupled import LOWER, UPPER
from drystone.model import State
from drystone.steppers.base import Impulse
from drystone.steppers.event_driven.impulses.results import Collision
from drystone.steppers.event_driven.scene import Scene
from drystone.steppers.event_driven.touch import Rows
from drystone.types import Floats, Ints

NONE = 1e-12  # of the largest impulse of a collision: rounding of a solve


def impulses(scene: Scene, state: State, rows: Rows, hit: Collision) -> tuple[Impulse, ...]:
    """Impulses of a collision at a state that are more than rounding: of contacts in their order,
    then of each joint its own and those of its stops."""
    least = NONE * max(np.abs(x).max(initial=0.0) for x in (hit.impulse, hit.joint))
    names = scene.model.names
    none = (0.0,) * (1 if scene.model.dim == 2 else 3)
    out = []
    for i in np.flatnonzero(np.abs(hit.impulse[: rows.nr]).max(axis=1, initial=0.0) > least):
        a, b = rows.kin.body[i]
        linear = tuple((rows.kin.frame[i].T @ hit.impulse[i]).tolist())
        out.append(Impulse(rows.state.key[i], "contact", (names[a], names[b]), linear, none))
    return (*out, *_of_joints(scene, state, rows, hit, least))


def _of_joints(
    scene: Scene, state: State, rows: Rows, hit: Collision, least: float
) -> list[Impulse]:
    joints, rates = scene.model.joints, scene.joints
    if joints is None or rates is None:
        return []
    ties = np.concatenate([joints.row_joint, scene.joint_of(rates.held)])
    J = np.einsum("nd,ndsk->nsk", hit.impulse[rows.nr :], rows.state.J[rows.nr :])
    mine = scene.joint_of(rows.action)
    stops = np.isin(joints.action_kind[rows.action], (LOWER, UPPER))
    ones = np.ones(len(J))
    body = np.concatenate([ties, mine[~stops]])
    parts: dict[str, tuple[Ints, Floats, Floats]] = {
        "joint": (
            body,
            np.concatenate([rows.jointed.ties.J, J[~stops]]),
            np.concatenate([hit.joint, ones[~stops]]),
        ),
        "limit": (mine[stops], J[stops], ones[stops]),
    }
    names = (*scene.model.names, "world")  # -1: the last
    found = {source: wrenches(joints, state, *part) for source, part in parts.items()}
    out = []
    for j, name in enumerate(joints.names):
        pair = tuple(names[int(k)] for k in joints.body[j])
        for source, (force, torque) in found.items():
            if max(np.abs(force[j]).max(), np.abs(torque[j]).max()) > least:
                both = tuple(force[j].tolist()), tuple(torque[j].tolist())
                out.append(Impulse(name, source, (pair[0], pair[1]), *both))
    return out
