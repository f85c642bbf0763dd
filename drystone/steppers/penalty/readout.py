"""What the penalty method lets its users read: forces at the end of the step."""

from __future__ import annotations

import numpy as np

from drystone.constraints.joints.forces import joint_forces, stored_by_joints
from drystone.constraints.joints.rows import free_coordinates, joint_extra_rows, joint_rows
from drystone.dynamics.bodies import relative_velocity
from drystone.model import Model, State
from drystone.steppers.penalty.instant import Instant
from drystone.steppers.penalty.options import Penalty
from drystone.steppers.tables import contact_table, joint_table
from drystone.types import Floats


class Readout:
    """The part of the stepper that answers ``Simulation``.

    last: forces of the state `now`, the last one reached.
    """

    options: Penalty
    model: Model
    turns: Floats | None
    last: Instant | None
    now: State | None

    def wake(self) -> None:
        """Nobody sleeps here."""

    def problem(self) -> None:
        """There is no friction problem in a step: None."""
        return None

    def stored(self, state: State) -> float:
        """Energy in the springs that the user gave to joints [J]."""
        return stored_by_joints(self.model.joints, state, self.turns)

    def contact_table(self) -> np.ndarray:
        """Points in penetration; impulse is that of the force over dt."""
        model, last, state = self.model, self.last, self.now
        if last is None or state is None:
            return contact_table(model.names, model.dim, 0)
        found = last.contacts
        table = contact_table(model.names, model.dim, len(found))
        if len(found) == 0:
            return table
        table["bodies"] = np.array(model.names, dtype=np.str_)[last.body]
        table["point"], table["normal"] = found.point, found.normal
        table["gap"], table["feature"] = found.gap, found.feature
        table["force"], table["impulse"] = last.f, last.f * self.options.dt
        arm = [found.point - state.position[last.body[:, s]] for s in (0, 1)]
        u = relative_velocity(state.velocity, last.body, arm)
        table["velocity"], table["friction"] = u, last.mu
        un = np.einsum("ij,ij->i", u, found.normal)
        speed = np.linalg.norm(u - un[:, None] * found.normal, axis=1)
        moving = np.where(speed > self.options.slip_speed, "slip", "stick")
        table["state"] = np.where(last.f.any(axis=1), moving, "open")
        return table

    def joint_table(self) -> np.ndarray:
        """Force and torque of each joint at the end of the step."""
        joints, last, state = self.model.joints, self.last, self.now
        if joints is None or last is None or state is None or not len(joints):
            return joint_table(self.model.names, None, None)
        q = free_coordinates(joints, state, self.turns)
        rows = joint_rows(joints, state, q)
        extra = joint_extra_rows(self.model, state, 1.0, q)
        wrench = joint_forces(joints, state, rows, last.joint, 1.0, extra, last.action)
        return joint_table(self.model.names, joints, wrench)
