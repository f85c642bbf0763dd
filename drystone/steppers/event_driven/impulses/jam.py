"""Impulses without collision (Baraff 1992, 13.1): where no forces exist, sliding stops at once.

A ray r of the force problem is scaled until the first contact with dynamic friction stops; where it
acts, contacts then approach, and these genuine collisions are resolved by the chosen law.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from drystone.errors import SimulationError
from drystone.steppers.event_driven.forces.rays import stopping_scale
from drystone.steppers.event_driven.forces.state import ContactState, Kind
from drystone.steppers.event_driven.forces.system import System
from drystone.steppers.event_driven.impulses.collide import EXACT, CollisionLaw
from drystone.steppers.event_driven.impulses.propagation import Reduced
from drystone.steppers.event_driven.impulses.results import Collision
from drystone.types import Floats


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
    out.apply(system, alpha * r, ("jam",))
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
    """One impact that begins at u_n = 0; the other contacts are looked at after it."""
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
