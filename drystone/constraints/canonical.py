"""Canonical contact forces: of all that satisfy the law and give the same motion, the least ones.

Bodies with more contacts than they need leave forces open: a box on a floor may push its corners
apart with any friction that cancels. The motion is that of the step; impulses r' are chosen by

    min  sum_i |r'_i|^2
    with the same force and moment on every body that moves,
         r'_i = 0 where contact i opens,
         r'_i along the force that friction prescribes where it slides,
         r'_i in its cone where it sticks.

|r'_i| is the Euclidean length, the same in every frame and, but for a factor, in every system of
units. For a soft finger the moment is divided by its radius, for an elliptic cone friction by the
ratios: as in the coordinates in which the cone is circular. The problem is strictly convex: its
solution is unique, symmetric where the contacts and the loads are, and does not depend on the
solver that found the motion. Forces of joints stay as they are.

The graph of bodies and interfaces, with all that is fixed as one node, is divided at its cut
bodies: forces within one of its blocks balance at every body by themselves, so that each block is
a problem of its own (a tower has one for each interface, an arch only one).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from drystone.arguments import warn_user
from drystone.dynamics.bodies import radii
from drystone.errors import IgnoredWarning, OptionError
from drystone.kernels import layout
from drystone.kernels.canonical_forces import fill_slots, read_canonical
from drystone.kernels.packed import Packed
from drystone.model import Model
from drystone.problems.cones import Cone, EllipticCone, PolyhedralCone, SoftFingerCone
from drystone.types import Bools, Floats, Table
from drystone.values import text

AUTO_CONTACTS = 400  # contacts of an island up to which "auto" makes its forces canonical
MOST_OPERATIONS = 1e11  # operations that the factor of a block may take: about two minutes
CHOICES = ("auto", "canonical", "raw")  # of the forces that are read


@dataclass(frozen=True, slots=True)
class ContactLaw:
    """What a method's contacts obey, as far as forces are open under it.

    convex: the relaxed law, under which what slides also opens; stabilize, slop: of the gap terms
    (``ds.TimeStepping``).
    """

    cone: Cone
    convex: bool
    stabilize: bool
    slop: float


def checked_choice(owner: str, forces: Any) -> str:
    """One of CHOICES; an OptionError names who asked."""
    if not (isinstance(forces, str) and forces in CHOICES):
        expected = ", ".join(repr(choice) for choice in CHOICES)
        raise OptionError(f"{owner}: forces = {text(forces)}: expected one of {expected}")
    return forces


def in_words(canonical: Bools) -> str:
    """What the forces of a table are, by which of its contacts have their canonical one (n,)."""
    if not canonical.any():
        return "raw" if canonical.size else "none"
    return "canonical" if canonical.all() else "canonical in part"


class CanonicalForces:
    """Makes the forces of tables of contacts canonical, those of one model under one law.

    law: None of methods whose forces are read as they are. What is made of a table depends on
    nothing else; the room for it is kept.
    """

    def __init__(self, model: Model, law: ContactLaw | None) -> None:
        self.model, self.law = model, law
        # friction that depends on a direction of a body is left
        self._open = law is not None and not model.axis.any()
        self.work: Any = None
        self._kind: np.dtype[Any] | None = None
        self._room = 0
        # what was read last, its choice, and what was made of it
        self._last: tuple[bytes, str, Floats, Bools] | None = None

    def __reduce__(self) -> Any:
        """As of a recording: forces and motions may be functions that stay where they are."""
        return CanonicalForces, (replace(self.model, forces=(), motions=()), self.law)

    def of(self, table: Table, forces: str = "auto") -> Table:
        """A copy of a table with the canonical forces."""
        out = np.array(table.view(np.float64)).view(table.dtype)
        self.put(out, forces)
        return out

    def said(self, table: Table, forces: str = "auto") -> str:
        """What `of` gives, ``in_words``."""
        return in_words(self.put(np.array(table.view(np.float64)).view(table.dtype), forces))

    def put(self, table: Table, forces: str = "auto") -> Bools:
        """Write the canonical forces into a table as ``stepper.contact_table()`` has it; returns
        which contacts have them (n,), not to be written to.

        forces: "auto": islands of more than AUTO_CONTACTS contacts are left as they are;
        "canonical": none is; "raw": all are.
        """
        n = table.size
        if not self._open or forces == "raw" or not n:
            return np.zeros(n, np.bool_)
        words, last = np.ndarray(table.nbytes // 8, np.float64, table), self._last
        bits = bytes(words)
        if last is not None and bits == last[0] and forces == last[1] and table.dtype == self._kind:
            words[:] = last[2]
            return last[3]
        done, work = np.empty(n, np.bool_), self.prepare(table)
        largest = AUTO_CONTACTS if forces == "auto" else n
        missing = read_canonical(work, words, largest, done)
        while missing:
            work.put(L=np.empty(missing))
            words[:] = np.frombuffer(bits)
            missing = read_canonical(work, words, largest, done)
        if work.beyond and forces == "canonical":
            warn_user(
                f"forces: those of {work.beyond} contacts are read as the solver found them: they "
                "depend on so many others that the canonical ones would take minutes",
                IgnoredWarning,
            )
        done.flags.writeable = False
        self._last = bits, forces, words.copy(), done
        return done

    def prepare(self, table: Table) -> Any:
        """``layout.CANONICAL`` with room for this table; an OptionError where the law leaves no
        force open."""
        if self.law is None:
            raise OptionError("force_range: a question for ds.TimeStepping(...)")
        if not self._open:
            raise OptionError(
                "force_range: friction that depends on a direction of a body has no range"
            )
        if len(table) > self._room or table.dtype != self._kind:
            self._room, self._kind = max(2 * len(table), 16), table.dtype
            self.work = _record(self.model, self.law, table.dtype, self._room)
        return self.work


def _record(model: Model, law: ContactLaw, kind: np.dtype[Any], n: int) -> Packed:
    """``layout.CANONICAL`` for tables of this kind of up to n contacts."""
    nb, dim = model.nb, model.dim
    soft = isinstance(law.cone, SoftFingerCone) and dim == 3
    width = 3 * (dim - 1)
    rows = width * (min(n, nb) + 1)
    sizes: layout.Sizes = {
        "n": n, "2n": 2 * n, "n+1": n + 1, "dim": dim, "d": dim + soft, "dof": width,
        "bodies": nb + 1, "bodies+1": nb + 2, "slots": 2 * nb + 1, "rows": max(rows, n),
        "rows+1": rows + 1, "entries": width * rows,
    }  # fmt: skip
    made = layout.make(layout.CANONICAL, sizes)
    text_kind = kind["bodies"].base
    names = np.array(model.names, text_kind).view(np.uint32).reshape(nb, -1)
    states = np.array(["open", "stick", "slip"], kind["state"]).view(np.uint32).reshape(3, -1)
    fill_slots(names, made["slots"])
    made["inverse_mass"][:nb] = model.inverse_mass
    made["slack"][:] = np.append(law.slop * radii(model), np.inf)
    made["node"][:] = np.where(made["inverse_mass"] > 0.0, np.arange(nb + 1), nb)
    made["place"][:] = -1
    made["ratios"][:] = 1.0
    if isinstance(law.cone, EllipticCone) and dim == 3:
        made["stretched"] = 1
        made["axis"][:, :2] = np.cos(law.cone.angle), np.sin(law.cone.angle)
        made["ratios"][:] = law.cone.ratios
    sides = law.cone.k if isinstance(law.cone, PolyhedralCone) and dim == 3 else 0
    made |= {
        "dim": dim, "width": kind.itemsize // 8, "sides": sides, "round": int(not (soft or sides)),
        "convex": int(law.convex), "stabilize": int(law.stabilize),
        "slop": float(law.slop), "most": MOST_OPERATIONS,
        "radius": law.cone.radius if isinstance(law.cone, SoftFingerCone) else 1.0,
    }  # fmt: skip
    return Packed(**made, names=names, states=states)
