"""What joints bore in the last step."""

from __future__ import annotations

import numpy as np

from drystone.constraints.joints.forces import joint_forces
from drystone.constraints.joints.rows import Coordinates, joint_extra_rows, joint_rows
from drystone.constraints.rows import Rows
from drystone.model import Joints
from drystone.steppers.time_stepping.solve import Solved
from drystone.steppers.time_stepping.work import Work
from drystone.types import Floats


def joint_wrenches(
    work: Work, joints: Joints, rows: Rows, solved: Solved, q: Coordinates
) -> tuple[Floats, Floats]:
    """Force (nj, dim) [N] and torque (nj, 1 or 3) [N m] on body a of every joint, over the step.

    q: coordinates at its start.
    """
    impulse, acting = np.zeros(joints.row_target.size), np.zeros(joints.action_kind.size)
    blocks = rows.blocks
    if blocks is not None:
        tied = (rows.joint[:, None] >= 0) & (blocks.row[rows.joint] >= 0)
        impulse[blocks.row[rows.joint][tied]] = solved.r[tied]
        act = (rows.joint >= 0) & (blocks.action[rows.joint] >= 0)
        block = rows.joint[act]
        place = np.where(blocks.mu[block] > 0, 1, 0)  # friction under a load: its tangent
        acting[blocks.action[block]] = solved.r[act][np.arange(block.size), place]
        acting[blocks.action[block]] *= blocks.sign[block]
    state = work.state
    tie = joint_rows(joints, state, q)
    extra = joint_extra_rows(work.model, state, work.h, q) if joints.action_kind.size else None
    return joint_forces(joints, state, tie, impulse, work.kick, extra, acting)
