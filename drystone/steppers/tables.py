"""What users read of a step, as structured arrays: contacts and joints, the same of all methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from drystone.kernels.contact_rows import write_rows
from drystone.model import Joints
from drystone.types import Floats, Ints


class ContactRows:
    """Tables of contacts between bodies of these names; see ``Simulation.contacts``.

    kind: of a row, which is `words` of 8 bytes long; letters (nb, n) and states (3, n): names of
    bodies and states by the codes of their characters.
    """

    __slots__ = ("dim", "kind", "letters", "states", "words")

    def __init__(self, names: Sequence[str], dim: int) -> None:
        text = np.array(names, dtype=np.str_) if len(names) else np.array([""])
        self.dim, self.letters = dim, _letters(text)
        self.kind = _kind(text.dtype, dim)
        self.words = self.kind.itemsize // 8
        self.states = STATE_LETTERS

    def none(self, count: int = 0) -> np.ndarray:
        """A table of zeros."""
        return np.zeros(count, self.kind)

    def table(
        self,
        numbers: Floats,
        bodies: np.ndarray,
        laws: Floats,
        features: Ints,
        kick: float,
    ) -> np.ndarray:
        """The table of n contacts; numbers (n, ...) as in `fields`, bodies (n,) of `bodies_kind`,
        laws (n, 2): friction and spin, features (n,); kick [s]: for how long impulses acted, where
        forces are not among the numbers. They may be a file's: the kernel reads what they say."""
        n, nb = len(numbers), len(self.letters)
        if not n:
            return self.none()
        alike = len(bodies) == len(laws) == len(features) == n
        if not alike or numbers.shape[1] not in (4 * self.dim + 1, 5 * self.dim + 1):
            raise IndexError(f"{n} contacts with numbers of shape {numbers.shape}")
        own = np.empty(n, bodies_kind(nb))
        for name in own.dtype.names or ():
            own[name] = bodies[name]
        if own["bodies"].min() < 0 or own["bodies"].max() >= nb:
            raise IndexError(f"contacts of bodies beyond the {nb} that there are")
        if own["state"].max() >= len(self.states):
            raise IndexError("contacts in a state that there is not")
        out, noted = np.zeros(n * self.words), own.view(np.uint8).reshape(n, own.itemsize)
        numbers, laws = (np.ascontiguousarray(x, dtype=np.float64) for x in (numbers, laws))
        features = np.ascontiguousarray(features, dtype=np.int64)
        names = self.letters, self.states
        write_rows(self.dim, numbers, noted, laws, features, *names, float(kick), out)
        return out.view(self.kind)


def contact_table(names: tuple[str, ...], dim: int, count: int) -> np.ndarray:
    """Structured array for `count` contacts, zeros; see ``Simulation.contacts``."""
    return ContactRows(names, dim).none(count)


@cache
def _kind(text: np.dtype[Any], dim: int) -> np.dtype[Any]:
    """Of a row, padded to whole words."""
    plain = np.dtype(
        [
            ("bodies", text, (2,)),
            ("point", float, (dim,)),
            ("normal", float, (dim,)),
            ("gap", float),
            ("force", float, (dim,)),
            ("impulse", float, (dim,)),
            ("spin", float),
            ("velocity", float, (dim,)),
            ("friction", float),
            ("island", np.int64),
            ("feature", np.int64),
            ("state", STATES.dtype),
        ]
    )
    parts: Mapping[str, Any] = plain.fields or {}
    return np.dtype(
        {
            "names": list(parts),
            "formats": [part[0] for part in parts.values()],
            "offsets": [part[1] for part in parts.values()],
            "itemsize": -(-plain.itemsize // 8) * 8,
        }
    )


def _letters(text: np.ndarray, even: bool = False) -> np.ndarray:
    """(n, letters) codes of the characters of n texts."""
    wide = text.dtype.itemsize // 4
    found = text.view(np.uint32).reshape(len(text), wide)
    return np.pad(found, ((0, 0), (0, wide % 2))) if even else found


STATES = np.array(["open", "stick", "slip"])  # by the codes of ``kernels.step.codes``
STATE_LETTERS = _letters(STATES, even=True)


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


class NotedJoints(NamedTuple):
    """Joints of a step, to be made into a table on request."""

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
