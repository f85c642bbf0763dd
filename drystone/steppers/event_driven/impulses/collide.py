"""Collisions of one instant by a chosen law, and impulses without collision (Baraff 1992, 13.1).

Where no forces exist sliding stops at once: a ray r of the force problem is scaled until the first
contact with dynamic friction stops; where it acts, contacts then approach, and these genuine
collisions are resolved by the chosen law.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from drystone.errors import OptionError, SimulationError
from drystone.solvers.base import Solver
from drystone.steppers.event_driven.forces.methods import named
from drystone.steppers.event_driven.forces.rays import stopping_scale
from drystone.steppers.event_driven.forces.state import ContactState, Kind
from drystone.steppers.event_driven.forces.system import System
from drystone.steppers.event_driven.impulses.exact import Restitution, keller, routh
from drystone.steppers.event_driven.impulses.propagation import (
    Reduced,
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
from drystone.types import Floats
from drystone.values import check_options

Law = Literal["newton", "frictionless", "routh", "keller"]
Order = Literal["simultaneous", "propagation"]
EXACT = ("routh", "keller")
FALLBACK = ("dantzig", "lemke", "nsgs")
ENERGY_GAIN = 1e-9  # of the energy that impulses exchange: more than this is a gain, not rounding


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
            path, ends = routh if d == 2 else keller, self.restitution or "poisson"
            return lambda K, u, mu, eps: path(K, u, mu, eps, ends)[0]
        return newton_single(self.law == "newton", self._solvers())

    def _solvers(self) -> tuple[Solver, ...]:
        others = tuple(name for name in FALLBACK if name != self.solver)
        return tuple(named(name, 1e-10) for name in (self.solver, *others))

    def _watch(self, impact: Impact, state: ContactState, out: Collision) -> None:
        """Say so when an impact gains energy, and which law did."""
        scale = float(np.abs(out.impulse * (np.abs(state.u) + np.abs(out.u))).sum())
        if impact.energy <= ENERGY_GAIN * scale:
            return
        names = ", ".join(str(state.key[i]) for i in impact.contacts)
        law: str = self.law
        if law in EXACT:
            law += f" with {self.restitution or 'poisson'} restitution"
        out.log.append(f"contacts {names}: {law} gained {impact.energy:.4g} J")


def collide(state: ContactState, **options: Any) -> Collision:
    """Resolve the collisions of an instant; options as of ``CollisionLaw``."""
    return CollisionLaw(**options).resolve(state)


def impulse_without_collision(
    state: ContactState, ray: Floats, joint_ray: Floats | None = None
) -> tuple[Collision, int]:
    """(impulse along the ray, number of the contact whose sliding it stops).

    ray (nc, d), joint_ray (nj,): direction, as of ``Forces.ray``. Exact in the plane; in space
    the slip direction is taken as constant (Baraff 1992, 13.1, footnote).
    """
    system, r = _on_rows(state, ray, joint_ray)
    alpha, stopped = stopping_scale(system, r)
    if stopped < 0:
        raise SimulationError(
            "an impulse along the ray stops no sliding contact: it is no answer to the jam of "
            f"contacts {', '.join(str(k) for k in state.key)}"
        )
    out = Collision.before(state)
    out.apply(system, alpha * r)
    out.u[stopped, 1:] = 0.0
    out.log.append(
        f"contact {state.key[stopped]}: friction jams; an impulse without collision stops it"
    )
    return out, stopped


def resolve_jam(
    state: ContactState,
    ray: Floats,
    joint_ray: Floats | None = None,
    law: CollisionLaw | None = None,
) -> Collision:
    """The impulse along the ray, and the collisions that it makes.

    An exact law takes the whole as one impact where the ray acts on one contact: in space it
    then follows the slip as it turns.
    """
    law = CollisionLaw() if law is None else law
    acting = np.flatnonzero(np.abs(ray[:, 0]) > 0.0)
    if law.law in EXACT and acting.size == 1:
        return _exact(state, int(acting[0]), law)
    first, stopped = impulse_without_collision(state, ray, joint_ray)
    slip: Any = state.slip
    if slip is not None:
        slip = slip.copy()
        slip[stopped] = 0.0
    then = law.resolve(replace(state, u=first.u, joint_u=first.joint_u, slip=slip))
    first.absorb(then)
    return first


def _exact(state: ContactState, i: int, law: CollisionLaw) -> Collision:
    """One impact that begins at u_n = 0; the other contacts are resolved after it."""
    active = np.flatnonzero(state.kind != Kind.SEPARATING)
    reduced = Reduced(System(state, active, np.arange(state.nj)))
    out = Collision.before(state)
    out.u[i, 0] = min(out.u[i, 0], 0.0)
    chosen = int(np.flatnonzero(active == i)[0])
    if not reduced.strike(chosen, out, law.single(state.d), state.restitution):
        raise SimulationError(f"contact {state.key[i]}: {law.law} finds no jam here")
    out.log.append(f"contact {state.key[i]}: friction jams; an impulse without collision stops it")
    out.absorb(law.resolve(replace(state, u=out.u, joint_u=out.joint_u, slip=None)))
    return out


def _on_rows(state: ContactState, ray: Floats, joint_ray: Floats | None) -> tuple[System, Floats]:
    active = np.flatnonzero((state.kind != Kind.SEPARATING) | ray.any(axis=1))
    system = System(state, active, np.arange(state.nj))
    joints = np.zeros(state.nj) if joint_ray is None else joint_ray
    return system, np.concatenate([ray[active].ravel(), joints])
