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

from drystone.constraints.joints.rows import (
    ActionRows,
    Coordinates,
    JointRows,
    joint_extra_rows,
    joint_rows,
)
from drystone.kernels.joints_coupled import POSITION_MOTOR, SPEED_MOTOR
from drystone.model import Joints, Model, State
from drystone.types import Bools, Floats, Ints


@dataclass(slots=True)
class JointBlocks:
    """n blocks: those with a law first.

    body (n, 2); J (n, d, 2, dof); bias, soft (n, d); mu (n,): -1, 0 or 1; uid (n,): of the joint;
    part (n,): which of the joint's blocks, for warm starts; row (n, d): the row of the joints that
    each row of a block is, -1 for none; action (n,): of the joints, -1 for rows C = 0;
    sign (n,): -1 at an upper limit; drives (n,): motors of unlimited force.
    """

    body: Ints
    J: Floats
    bias: Floats
    soft: Floats
    mu: Floats
    uid: Ints
    part: Ints
    row: Ints
    action: Ints
    sign: Floats
    drives: Bools


def joint_blocks(
    model: Model,
    state: State,
    h: float,
    d: int,
    q: Coordinates,
    stabilize: bool,
    acts: ActionRows | None = None,
) -> JointBlocks:
    """All of a model's joints at a state; stabilize: C / h in the rows (2.8).

    acts: rows of what acts on coordinates, if they are not those of one kick of length h.
    """
    joints = model.joints
    if joints is None:
        raise ValueError("a model without joints has no blocks of them")
    ties = tie_blocks(joints, joint_rows(joints, state, q), h if stabilize else np.inf, d)
    if acts is None:
        acts = joint_extra_rows(model, state, h, q)
    return ties if acts is None else _joined(_acts(joints, acts, d), ties)


def tie_blocks(joints: Joints, rows: JointRows, h: float, d: int) -> JointBlocks:
    """Rows C = 0 with the bias C / h, d to a block."""
    count = np.diff(joints.first_row)
    joint = np.repeat(np.arange(count.size), count)
    nth = np.arange(joint.size) - np.repeat(joints.first_row[:-1], count)
    first = np.concatenate([[0], np.cumsum(-(-count // d))])
    block, place = first[joint] + nth // d, nth % d
    n = int(first[-1])
    out = _empty(n, d, rows.J.shape[2])
    out.J[block, place], out.soft[block, place] = rows.J, 0.0
    out.bias[block, place] = rows.error / h
    out.row[block, place] = np.arange(joint.size)
    out.body[block] = rows.body
    out.uid[block], out.part[block] = joints.uid[joint], nth // d
    return _grounded(out)


def _acts(joints: Joints, rows: ActionRows, d: int) -> JointBlocks:
    """Limits, motors, friction, springs: one block each."""
    n = rows.bias.size
    out = _empty(n, d, rows.J.shape[2])
    out.body[:], out.action[:] = rows.body, np.arange(n)
    out.uid[:], out.part[:] = joints.uid[rows.joint], 1000 + np.arange(n)
    free = np.isinf(rows.lower) & np.isinf(rows.upper)
    bounded = np.isfinite(rows.lower) & np.isfinite(rows.upper)
    out.sign[np.isinf(rows.lower) & ~free] = -1.0
    place = np.where(bounded, 1, 0)
    every = np.arange(n)
    out.J[every, place] = rows.J * out.sign[:, None, None]
    out.bias[every, place] = rows.bias * out.sign
    out.soft[every, place] = rows.soft
    out.mu[:] = np.where(free, -1.0, np.where(bounded, 1.0, 0.0))
    out.drives[:] = free & np.isin(rows.kind, (SPEED_MOTOR, POSITION_MOTOR))
    out.bias[bounded, 0] = -rows.upper[bounded]  # times the compliance, set with the scale
    return _grounded(out)


def _empty(n: int, d: int, dof: int) -> JointBlocks:
    return JointBlocks(
        np.zeros((n, 2), np.int64),
        np.zeros((n, d, 2, dof)),
        np.zeros((n, d)),
        np.ones((n, d)),
        np.full(n, -1.0),
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
        np.full((n, d), -1),
        np.full(n, -1),
        np.ones(n),
        np.zeros(n, bool),
    )


def _grounded(out: JointBlocks) -> JointBlocks:
    """The world (-1) becomes the other body, on whose second side nothing acts."""
    first = out.body[:, 0] < 0
    out.J[first] = out.J[first][:, :, ::-1]
    out.body[first] = out.body[first][:, ::-1]
    out.body[:, 1] = np.where(out.body[:, 1] < 0, out.body[:, 0], out.body[:, 1])
    return out


def _joined(a: JointBlocks, b: JointBlocks) -> JointBlocks:
    """Blocks with a law first, then those without."""
    names = JointBlocks.__dataclass_fields__
    both = [np.concatenate([getattr(a, name), getattr(b, name)]) for name in names]
    order = np.argsort(both[4] < 0, kind="stable")
    return JointBlocks(*(values[order] for values in both))
