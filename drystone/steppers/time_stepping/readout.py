"""What a stepper lets its users read after a step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from drystone.constraints.joints.forces import stored_by_joints
from drystone.constraints.rows import Rows
from drystone.model import Model, State
from drystone.steppers.tables import contact_table, joint_table
from drystone.steppers.time_stepping.warm import sliding
from drystone.types import Floats

if TYPE_CHECKING:
    from drystone.steppers.time_stepping.jointed import Jointed
    from drystone.steppers.time_stepping.sleeping import Sleepers
    from drystone.steppers.time_stepping.solve import Solved
    from drystone.steppers.time_stepping.work import Work


class Readout:
    """The part of a stepper that answers ``Simulation``."""

    model: Model
    rows: Rows | None
    solved: Solved | None
    work: Work | None
    jointed: Jointed
    sleepers: Sleepers

    @property
    def turns(self) -> Floats | None:
        """(nq,) coordinates of the joints lately, from which their angles are counted."""
        return self.jointed.turns

    def wake(self) -> None:
        """Wake all sleeping bodies."""
        self.sleepers.adopt(self.model)

    def stored(self, state: State) -> float:
        """Energy in the springs of joints [J]."""
        return stored_by_joints(self.jointed.joints, state, self.jointed.turns)

    def joint_table(self) -> np.ndarray:
        """Structured array, one entry a joint; see ``Simulation.joints``."""
        return joint_table(self.model.names, self.jointed.held, self.jointed.wrench)

    def contact_table(self) -> np.ndarray:
        """Structured array, one entry a contact; see ``Simulation.contacts``."""
        dim, rows, solved = self.model.dim, self.rows, self.solved
        count = rows.nc if rows is not None else 0
        table = contact_table(self.model.names, dim, count)
        if rows is None or solved is None or count == 0 or self.work is None:
            return table
        impulse, spin = rows.vectors(solved.r)
        table["bodies"] = np.array(self.model.names, dtype=np.str_)[rows.body]
        table["point"], table["normal"] = rows.contacts.point, rows.contacts.normal
        table["gap"], table["feature"] = rows.contacts.gap, rows.contacts.feature
        table["impulse"], table["spin"] = impulse, spin
        table["force"] = impulse / self.work.kick
        length = np.sqrt((rows.frame[:, :dim] ** 2).sum(axis=2))
        u = rows.velocities(solved.v)[:, :dim] / length
        table["velocity"] = np.einsum("ia,iae->ie", u, rows.frame[:, :dim] / length[:, :, None])
        table["friction"] = solved.mu
        table["island"] = np.repeat(np.arange(rows.islands), np.diff(rows.start))
        state = np.where(sliding(rows, solved), "slip", "stick")
        table["state"] = np.where(solved.r[:, 0] > 0, state, "open")
        return table[rows.touching]
