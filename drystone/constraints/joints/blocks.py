"""Joints as blocks of d rows, of the kinds that friction solvers know, beside contacts.

- Rows C = 0: blocks without a law (mu = -1: r free, u = 0), the last one of a joint padded.
- A limit is a contact without friction: normal row J (or -J at an upper limit), r_n >= 0.
- A force between -F and F that resists or drives (motor, friction) is friction under a given
  load: the normal row has no bodies, only a compliance s and the bias -s F h, so that r_n = F h;
  the row itself is the tangent, with mu = 1.
- A spring is a row C = 0 with a compliance.
Padding rows have no bodies and a compliance: their impulse is zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drystone.constraints.joints.rows import joint_extra_rows
from drystone.kernels.joints_coupled import POSITION_MOTOR, SPEED_MOTOR
from drystone.model import Joints, Model, State
from drystone.types import Bools, Floats, Ints


@dataclass(slots=True)
class JointBlocks:
    """Which n blocks there are: those with a law first. Their rows are made in each step.

    body (n, 2): where the world is one of them, twice the other; mu (n,): -1, 0 or 1; uid (n,): of
    the joint; part (n,): which of the joint's blocks, for warm starts; row (n, d): the row of the
    joints that each row of a block is, -1 for none; action (n,): of the joints, -1 for rows C = 0;
    sign (n,): -1 at an upper limit; drives (n,): motors of unlimited force.
    """

    body: Ints
    mu: Floats
    uid: Ints
    part: Ints
    row: Ints
    action: Ints
    sign: Floats
    drives: Bools


def joint_blocks(model: Model, joints: Joints, state: State, d: int) -> JointBlocks:
    """Of all joints, d rows to a block; the state is any: it does not change which there are."""
    ties, acts = _ties(joints, d), _acts(model, joints, state, d)
    names = JointBlocks.__slots__
    both = {name: np.concatenate([getattr(acts, name), getattr(ties, name)]) for name in names}
    order = np.argsort(both["mu"] < 0, kind="stable")
    return JointBlocks(**{name: values[order] for name, values in both.items()})


def _ties(joints: Joints, d: int) -> JointBlocks:
    """Rows C = 0, d to a block."""
    count = np.diff(joints.first_row)
    joint = np.repeat(np.arange(count.size), count)
    nth = np.arange(joint.size) - np.repeat(joints.first_row[:-1], count)
    first = np.concatenate([[0], np.cumsum(-(-count // d))])
    block, place = first[joint] + nth // d, nth % d
    out = _empty(int(first[-1]), d)
    out.row[block, place] = np.arange(joint.size)
    out.body[block] = joints.row_body
    out.uid[block], out.part[block] = joints.uid[joint], nth // d
    return _grounded(out)


def _acts(model: Model, joints: Joints, state: State, d: int) -> JointBlocks:
    """Limits, motors, friction, springs: one block each."""
    rows = joint_extra_rows(model, state, 1.0)
    if rows is None:
        return _empty(0, d)
    n = rows.bias.size
    out = _empty(n, d)
    out.body[:], out.action[:] = rows.body, np.arange(n)
    out.uid[:], out.part[:] = joints.uid[rows.joint], 1000 + np.arange(n)
    free = np.isinf(rows.lower) & np.isinf(rows.upper)
    bounded = np.isfinite(rows.lower) & np.isfinite(rows.upper)
    out.sign[np.isinf(rows.lower) & ~free] = -1.0
    out.mu[:] = np.where(free, -1.0, np.where(bounded, 1.0, 0.0))
    out.drives[:] = free & np.isin(rows.kind, (SPEED_MOTOR, POSITION_MOTOR))
    return _grounded(out)


def _empty(n: int, d: int) -> JointBlocks:
    return JointBlocks(
        body=np.zeros((n, 2), np.int64),
        mu=np.full(n, -1.0),
        uid=np.zeros(n, np.int64),
        part=np.zeros(n, np.int64),
        row=np.full((n, d), -1),
        action=np.full(n, -1),
        sign=np.ones(n),
        drives=np.zeros(n, bool),
    )


def _grounded(out: JointBlocks) -> JointBlocks:
    """The world (-1) becomes the other body, on whose second side nothing acts."""
    first = out.body[:, 0] < 0
    out.body[first] = out.body[first][:, ::-1]
    out.body[:, 1] = np.where(out.body[:, 1] < 0, out.body[:, 0], out.body[:, 1])
    return out
