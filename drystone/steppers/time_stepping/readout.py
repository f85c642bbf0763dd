"""Contacts of the last step as a table to read."""

from __future__ import annotations

import numpy as np

from drystone.steppers.time_stepping.pipeline import Stepper
from drystone.steppers.time_stepping.warm import sliding


def contact_table(stepper: Stepper) -> np.ndarray:
    """Structured array, one entry a contact; see ``Simulation.contacts``."""
    dim = stepper.model.dim
    names = np.array(stepper.model.names, dtype=np.str_) if stepper.model.nb else np.array([""])
    rows, solved = stepper.rows, stepper.solved
    count = rows.nc if rows is not None else 0
    table = np.zeros(
        count,
        dtype=[
            ("bodies", names.dtype, (2,)),
            ("point", float, (dim,)),
            ("normal", float, (dim,)),
            ("gap", float),
            ("force", float, (dim,)),
            ("impulse", float, (dim,)),
            ("spin", float),
            ("velocity", float, (dim,)),
            ("friction", float),
            ("island", int),
            ("feature", int),
            ("state", "U5"),
        ],
    )
    if rows is None or solved is None or count == 0 or stepper.work is None:
        return table
    impulse, spin = rows.vectors(solved.r)
    table["bodies"] = names[rows.body]
    table["point"], table["normal"] = rows.contacts.point, rows.contacts.normal
    table["gap"], table["feature"] = rows.contacts.gap, rows.contacts.feature
    table["impulse"], table["spin"] = impulse, spin
    table["force"] = impulse / stepper.work.kick
    length = np.sqrt((rows.frame[:, :dim] ** 2).sum(axis=2))
    u = rows.velocities(solved.v)[:, :dim] / length
    table["velocity"] = np.einsum("ia,iae->ie", u, rows.frame[:, :dim] / length[:, :, None])
    table["friction"] = solved.mu
    table["island"] = np.repeat(np.arange(rows.islands), np.diff(rows.start))
    state = np.where(sliding(rows, solved), "slip", "stick")
    table["state"] = np.where(solved.r[:, 0] > 0, state, "open")
    return table[rows.touching]
