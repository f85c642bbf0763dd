"""What users read of a step, as structured arrays: contacts and joints, the same of all methods."""

from __future__ import annotations

import numpy as np

from drystone.model import Joints
from drystone.types import Floats


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
