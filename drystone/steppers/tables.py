"""What users read of a step, as structured arrays: contacts and joints, the same of all methods."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

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


def fields(dim: int, forces: bool) -> dict[str, slice]:
    """Columns of the numbers of a contact, as they are noted; forces: those are among them."""
    widths = {"point": dim, "normal": dim, "gap": 1, "impulse": dim, "velocity": dim}
    if forces:
        widths["force"] = dim
    out, at = {}, 0
    for name, width in widths.items():
        out[name] = slice(at, at + width)
        at += width
    return out


@cache
def bodies_kind(nb: int) -> np.dtype[Any]:
    """Both bodies of a contact, its island and state; there are at most as many islands as
    bodies."""
    narrow = "u1" if nb < 1 << 8 else "<u2" if nb < 1 << 16 else "<i4"
    return np.dtype([("bodies", narrow, (2,)), ("island", narrow), ("state", "u1")])


def as_bodies(noted: np.ndarray, nb: int) -> np.ndarray:
    """The bytes (n, ...) that a kernel noted as rows (n,) of `bodies_kind`, without a copy."""
    return noted.reshape(-1).view(bodies_kind(nb))


def spread(rows: np.ndarray, first: int, end: int, n: int) -> np.ndarray:
    """What n contacts share, one row for each: rows[first:end] if these are so many, else the
    last row before the end."""
    return rows[first:end] if end - first == n else np.repeat(rows[end - 1 : end], n, axis=0)


def table_of(
    names: np.ndarray,
    dim: int,
    numbers: Floats,
    bodies: np.ndarray,
    laws: Floats,
    features: Ints,
    kick: float,
    forces: bool = False,
) -> np.ndarray:
    """The table of n contacts; names (nb,) of bodies, numbers (n, ...) as in `fields`, bodies (n,)
    of `bodies_kind`, laws (n, 2): friction and spin, features (n,); kick [s]: for how long impulses
    acted, forces: they are among the numbers."""
    table = contact_table(tuple(names.tolist()), dim, len(numbers))
    if not len(numbers):
        return table
    for name, place in fields(dim, forces).items():
        table[name] = numbers[:, place] if table[name].ndim == 2 else numbers[:, place.start]
    table["bodies"], table["island"] = names[bodies["bodies"]], bodies["island"]
    table["state"] = STATES[bodies["state"]]
    table["friction"], table["spin"] = laws.T
    table["feature"] = features
    if not forces:
        table["force"] = table["impulse"] / kick
    return table


class NotedContacts(NamedTuple):
    """Contacts of a step, to be made into a table when somebody asks for it; noted: as
    ``kernels.step.contacts`` notes them, and the ends of what it noted; kick [s]."""

    names: tuple[str, ...]
    dim: int
    noted: tuple[np.ndarray, ...]
    kick: float

    def table(self) -> np.ndarray:
        if not self.noted:
            return contact_table(self.names, self.dim, 0)
        numbers, bodies, laws, features, ends = self.noted
        n, *last = ends.tolist()
        shared = spread(laws, 0, last[0], n), spread(features, 0, last[1], n)
        rows = as_bodies(bodies[:n], len(self.names))
        names = np.array(self.names, dtype=np.str_)
        return table_of(names, self.dim, numbers[:n], rows, *shared, self.kick)


class NotedJoints(NamedTuple):
    """The same of ``joint_table``."""

    names: tuple[str, ...]
    joints: Joints | None
    wrench: tuple[Floats, Floats] | None

    def table(self) -> np.ndarray:
        return joint_table(self.names, self.joints, self.wrench)


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
