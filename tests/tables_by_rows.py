"""Tables worked out row by row with NumPy, against those of kernels."""

import numpy as np

from drystone.constraints.joints.forces import joint_forces
from drystone.constraints.joints.rows import free_coordinates, joint_extra_rows, joint_rows
from drystone.steppers.tables import contact_table
from drystone.steppers.time_stepping.friction import sliding


def contacts_by_rows(stepper):
    """As ``Simulation.contacts``."""
    model, rows, solved = stepper.model, stepper.rows, stepper.solved
    dim = model.dim
    table = contact_table(model.names, dim, rows.nc)
    impulse, spin = rows.vectors(solved.r)
    table["bodies"] = np.array(model.names, dtype=np.str_)[rows.body]
    table["point"], table["normal"] = rows.contacts.point, rows.contacts.normal
    table["gap"], table["feature"] = rows.contacts.gap, rows.contacts.feature
    table["impulse"], table["spin"] = impulse, spin
    table["force"] = impulse / stepper.kick
    length = np.sqrt((rows.frame[:, :dim] ** 2).sum(axis=2))
    u = rows.velocities(solved.v)[:, :dim] / length
    table["velocity"] = np.einsum("ia,iae->ie", u, rows.frame[:, :dim] / length[:, :, None])
    table["friction"] = solved.mu
    table["island"] = np.repeat(np.arange(rows.islands), np.diff(rows.start))
    state = np.where(sliding(rows, solved), "slip", "stick")
    table["state"] = np.where(solved.r[:, 0] > 0, state, "open")
    return table[rows.touching]


def wrenches_by_rows(stepper, before):
    """Force and torque on body a of every joint in a step that began with the state `before`."""
    model, rows, r = stepper.model, stepper.rows, stepper.solved.r
    joints, blocks = model.joints, rows.blocks
    q = free_coordinates(joints, before, stepper.turns)
    impulse, acting = np.zeros(joints.row_target.size), np.zeros(joints.action_kind.size)
    for i, block in enumerate(rows.joint):
        if block < 0:
            continue
        for a, row in enumerate(blocks.row[block]):
            if row >= 0:
                impulse[row] = r[i, a]
        if blocks.action[block] >= 0:  # friction under a load: its tangent
            bears = r[i, 1 if blocks.mu[block] > 0 else 0]
            acting[blocks.action[block]] = bears * blocks.sign[block]
    tie = joint_rows(joints, before, q)
    extra = joint_extra_rows(model, before, stepper.kick, q) if joints.action_kind.size else None
    return joint_forces(joints, before, tie, impulse, stepper.kick, extra, acting)
