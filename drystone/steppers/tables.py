"""What users read of a step, as structured arrays: contacts and joints, the same of all methods."""

from __future__ import annotations

import numpy as np

from drystone.kernels.step import names as the
from drystone.model import Joints
from drystone.types import Floats, Ints


def contact_table(names: tuple[str, ...], dim: int, count: int) -> np.ndarray:
    """Structured array for `count` contacts, zeros; see ``Simulation.contacts``."""
    text = np.array(names, dtype=np.str_) if names else np.array([""])
    return np.zeros(
        count,
        dtype=[
            ("bodies", text.dtype, (2,)),
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


STATES = np.array(["open", "stick", "slip"])  # by the codes of ``kernels.step.names``


def table_of(
    names: tuple[str, ...], dim: int, whole: Ints, real: Floats, kick: float
) -> np.ndarray:
    """The table of contacts whose numbers lie in whole (n, 5) and real (n, 4 dim + 3), columns as
    in ``kernels.step.names``; kick [s]: for how long their forces acted."""
    table = contact_table(names, dim, whole.shape[0])
    if not whole.shape[0]:
        return table
    table["bodies"] = np.array(names, dtype=np.str_)[whole[:, :2]]
    table["island"], table["feature"] = whole[:, the.ISLAND], whole[:, the.FEATURE]
    table["state"] = STATES[whole[:, the.STATE]]
    ends = np.cumsum([dim, dim, 1, dim, dim, 1])
    fields = ("point", "normal", "gap", "impulse", "velocity", "friction", "spin")
    for name, part in zip(fields, np.split(real, ends, axis=1), strict=True):
        table[name] = part if table[name].ndim == 2 else part[:, 0]
    table["force"] = table["impulse"] / kick
    return table


def joint_table(
    names: tuple[str, ...], joints: Joints | None, wrench: tuple[Floats, Floats] | None
) -> np.ndarray:
    """Structured array, one entry a joint: name, bodies, force, torque."""
    if joints is None or wrench is None:
        joints, count = None, 0
    else:
        count = len(joints)
    dim = 3 if wrench is None else wrench[0].shape[1]
    turns = 3 if wrench is None else wrench[1].shape[1]
    text = np.array([*names, "world"], dtype=np.str_)
    own = np.array(joints.names if joints is not None and count else [""], dtype=np.str_)
    kinds = [("name", own.dtype), ("bodies", text.dtype, (2,))]
    table = np.zeros(count, dtype=[*kinds, ("force", float, (dim,)), ("torque", float, (turns,))])
    if joints is not None and wrench is not None and count:
        table["name"], table["bodies"] = own, text[joints.body]  # -1: the last name, "world"
        table["force"], table["torque"] = wrench
    return table
