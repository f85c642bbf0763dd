"""What is written down of a frame: events, energies, sentences, and who took which impulse."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from drystone.constraints.joints.forces import wrenches
from drystone.kernels.joints_coupled import LOWER, UPPER
from drystone.model import State
from drystone.steppers.base import Event, Impulse
from drystone.steppers.event_driven.active_contacts import Rows
from drystone.steppers.event_driven.impulses.results import Collision
from drystone.steppers.event_driven.mechanics import Mechanics
from drystone.types import Floats, Ints, Status

IMPULSE_ROUNDING = 1e-12  # of the largest impulse of a collision: rounding of a solve


@dataclass(slots=True)
class FrameLog:
    """What happened in a frame: events, impulses by contact, energies [J], counts, sentences."""

    events: list[Event] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)
    impulse: dict[str, Floats] = field(default_factory=dict)
    impact_energy: float = 0.0
    driving: float = 0.0
    integration: float = 0.0  # error of steps in clusters
    collisions: int = 0
    steps: int = 0
    evaluations: int = 0
    status: Status = Status.SOLVED
    residual: float = 0.0

    def say(self, sentence: str) -> None:
        if sentence not in self.sentences:
            self.sentences.append(sentence)


def impulses(mechanics: Mechanics, state: State, rows: Rows, hit: Collision) -> tuple[Impulse, ...]:
    """Impulses of a collision at a state that are more than rounding: of contacts in their order,
    then of each joint its own and those of its stops."""
    least = IMPULSE_ROUNDING * max(np.abs(x).max(initial=0.0) for x in (hit.impulse, hit.joint))
    names = mechanics.model.names
    none = (0.0,) * (1 if mechanics.model.dim == 2 else 3)
    out = []
    for i in np.flatnonzero(np.abs(hit.impulse[: rows.nr]).max(axis=1, initial=0.0) > least):
        a, b = rows.kin.body[i]
        linear = tuple((rows.kin.frame[i].T @ hit.impulse[i]).tolist())
        out.append(Impulse(rows.state.key[i], "contact", (names[a], names[b]), linear, none))
    return (*out, *_of_joints(mechanics, state, rows, hit, least))


def _of_joints(
    mechanics: Mechanics, state: State, rows: Rows, hit: Collision, least: float
) -> list[Impulse]:
    joints, rates = mechanics.model.joints, mechanics.joints
    if joints is None or rates is None:
        return []
    bilateral = np.concatenate([joints.row_joint, mechanics.joint_of(rates.held)])
    J = np.einsum("nd,ndsk->nsk", hit.impulse[rows.nr :], rows.state.J[rows.nr :])
    mine = mechanics.joint_of(rows.action)
    stops = np.isin(joints.action_kind[rows.action], (LOWER, UPPER))
    ones = np.ones(len(J))
    body = np.concatenate([bilateral, mine[~stops]])
    parts: dict[str, tuple[Ints, Floats, Floats]] = {
        "joint": (
            body,
            np.concatenate([rows.jointed.bilateral.J, J[~stops]]),
            np.concatenate([hit.joint, ones[~stops]]),
        ),
        "limit": (mine[stops], J[stops], ones[stops]),
    }
    names = (*mechanics.model.names, "world")  # -1: the last
    found = {source: wrenches(joints, state, *part) for source, part in parts.items()}
    out = []
    for j, name in enumerate(joints.names):
        pair = tuple(names[int(k)] for k in joints.body[j])
        for source, (force, torque) in found.items():
            if max(np.abs(force[j]).max(), np.abs(torque[j]).max()) > least:
                both = tuple(force[j].tolist()), tuple(torque[j].tolist())
                out.append(Impulse(name, source, (pair[0], pair[1]), *both))
    return out
