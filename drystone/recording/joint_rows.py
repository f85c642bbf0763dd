"""Forces of joints in the file: number of the joint, force, torque."""

from __future__ import annotations

import numpy as np

from drystone.model import Joints
from drystone.steppers.tables import joint_table
from drystone.types import Floats


def rows(table: np.ndarray, places: dict[str, int]) -> Floats:
    """Rows of a table as ``Simulation.joints``; places: numbers of joints by name."""
    if not len(table):
        return np.empty((0, 1))
    number = [[places[name]] for name in table["name"].tolist()]
    return np.concatenate([np.array(number, float), table["force"], table["torque"]], axis=1)


def of_loop(wrench: Floats, number: list[int]) -> Floats:
    """The same from wrenches (n, nj, dof) of n frames; number: of each of the nj joints."""
    n, nj, dof = wrench.shape
    out = np.empty((n, nj, 1 + dof))
    out[:, :, 0], out[:, :, 1:] = number, wrench
    return out.reshape(n * nj, 1 + dof)


def read(rows: Floats, joints: Joints | None, names: tuple[str, ...], dim: int) -> np.ndarray:
    """The table again; names: of bodies."""
    if joints is None or not len(rows):
        return joint_table(names, None, None)
    own, text = np.array(joints.names, np.str_), np.array([*names, "world"], np.str_)
    turns = rows.shape[1] - 1 - dim
    kinds = [("name", own.dtype), ("bodies", text.dtype, (2,))]
    table = np.zeros(
        len(rows), dtype=[*kinds, ("force", float, (dim,)), ("torque", float, (turns,))]
    )
    number = rows[:, 0].astype(np.int64)
    table["name"], table["bodies"] = own[number], text[joints.body[number]]
    table["force"], table["torque"] = rows[:, 1 : 1 + dim], rows[:, 1 + dim :]
    return table
