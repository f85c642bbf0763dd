"""Collisions of one instant by a chosen law."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, get_args

import numpy as np

from drystone.errors import OptionError
from drystone.solvers.base import Solver
from drystone.steppers.event_driven.forces.methods import named
from drystone.steppers.event_driven.forces.state import ContactState
from drystone.steppers.event_driven.impulses.exact import Restitution, keller, routh
from drystone.steppers.event_driven.impulses.propagation import (
    SingleLaw,
    newton_single,
    propagate,
)
from drystone.steppers.event_driven.impulses.results import Collision, Impact
from drystone.steppers.event_driven.impulses.simultaneous import (
    close_joints,
    finish,
    simultaneous,
)
from drystone.values import check_options

Law = Literal["newton", "frictionless", "routh", "keller"]
Order = Literal["simultaneous", "propagation"]
EXACT = ("routh", "keller")
FALLBACK = ("dantzig", "lemke", "nsgs")
GAIN = 1e-9  # of the energy that impulses exchange: more than this is a gain, not rounding


@dataclass(frozen=True, kw_only=True)
class CollisionLaw:
    """How velocities jump when contacts approach.

    law: "newton": u_n+ = -eps u_n- with friction by the conditions of Baraff 1992, 9.4;
        "frictionless": the same without friction; "routh": exact impact in the plane, with
        stick, slip and reversed slip; "keller": the same in space, where slip turns.
        Friction is the dynamic coefficient.
    order: "simultaneous" (default of the first two) or "propagation", one contact at a time
        (the exact laws know no other).
    restitution: "poisson" (default), "newton" or "stronge", of the exact laws.
    solver: method for the friction problems of the first two.
    max_impacts: of propagation; beyond it the rest is resolved at once and plastically.
    """

    law: Law = "newton"
    order: Order | None = None
    restitution: Restitution | None = None
    solver: str | Solver = "dantzig"
    max_impacts: int = 10_000

    def __post_init__(self) -> None:
        check_options(self, "collisions")
        exact = self.law in EXACT
        for name, kind in (("law", Law), ("order", Order), ("restitution", Restitution)):
            value, known = getattr(self, name), get_args(kind)
            if value not in known and (value is not None or name == "law"):
                raise OptionError(f"collisions: {name} = {value!r}: expected one of {known}")
        if exact and self.order == "simultaneous":
            raise OptionError(f"{self.law} resolves one contact at a time: order='propagation'")
        if not exact and self.restitution not in (None, "newton"):
            raise OptionError(
                f"{self.law}: restitution = {self.restitution!r}: only routh and keller know it"
            )
        if self.max_impacts < 1:
            raise OptionError(f"collisions: max_impacts = {self.max_impacts}: expected >= 1")

    @property
    def propagates(self) -> bool:
        return self.law in EXACT or self.order == "propagation"

    def resolve(self, state: ContactState) -> Collision:
        """Impulses after which joints move as they must and no contact approaches faster than the
        tolerance."""
        out = Collision.before(state)
        solvers = self._solvers()
        friction = self.law != "frictionless"
        close_joints(state, out, friction, state.restitution, solvers)
        if self.propagates:
            law = self.single(state.d)
            if not propagate(state, out, law, state.restitution, self.max_impacts):
                left = float(-out.u[:, 0].min())
                out.log.append(
                    f"contacts still approach at {left:.4g} m/s after {self.max_impacts} impacts "
                    "one at a time; ended at once, without rebound"
                )
                finish(state, out, friction, solvers)
        else:
            simultaneous(state, out, friction, state.restitution, solvers)
        for impact in out.impacts:
            self._watch(impact, state, out)
        return out

    def single(self, d: int) -> SingleLaw:
        """The law of one contact."""
        if self.law == "routh" and d == 3:
            raise OptionError("routh is the exact law of the plane: use keller in space")
        if self.law in EXACT:
            return partial(routh if d == 2 else keller, restitution=self.restitution or "poisson")
        return newton_single(self.law == "newton", self._solvers())

    def _solvers(self) -> tuple[Solver, ...]:
        others = tuple(name for name in FALLBACK if name != self.solver)
        return tuple(named(name, 1e-10) for name in (self.solver, *others))

    def _watch(self, impact: Impact, state: ContactState, out: Collision) -> None:
        """Say so when an impact gains energy, and which law did."""
        scale = float(np.abs(out.impulse * (np.abs(state.u) + np.abs(out.u))).sum())
        if impact.energy <= GAIN * scale:
            return
        names = ", ".join(str(state.key[i]) for i in impact.contacts)
        law: str = self.law
        if law in EXACT:
            law += f" with {self.restitution or 'poisson'} restitution"
        out.log.append(f"contacts {names}: {law} gained {impact.energy:.4g} J")


def collide(state: ContactState, **options: Any) -> Collision:
    """Resolve the collisions of an instant; options as of ``CollisionLaw``."""
    return CollisionLaw(**options).resolve(state)
