"""Bodies that overlap are moved apart by their positions alone: no velocity is left behind.

The least displacement in the metric of the masses, dq = M^-1 J' r with gap + J dq >= 0, r >= 0 and
joints kept, is a step of the scheme (Hart and Anitescu 2003, (2.9)) from rest, of length 1, without
loads and friction. It is made again until nothing overlaps: normals turn, and what is moved may
meet others.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from drystone.dynamics import bodies
from drystone.errors import ModelError
from drystone.kernels.joints_coupled import HOLD, LOWER, UPPER
from drystone.kernels.step import codes
from drystone.model import Joints, Model, State
from drystone.steppers.time_stepping.options import TimeStepping
from drystone.types import Floats

DISPLACEMENTS = 100  # at most
NO_OVERLAP = 1e-9  # of the smaller body's size: a depth that is none
SEARCH_WIDTH = 2.0  # times the greatest depth: how far apart others are that take part


def moved_apart(model: Model, state: State, turns: Floats | None = None) -> State:
    """The state with bodies moved so far that none overlaps; ModelError names bodies that cannot
    be. turns: coordinates of joints, from which their angles are counted."""
    options = TimeStepping(dt=1.0, overlap="allow", slop=0.1 * NO_OVERLAP)
    stepper = options.stepper(_still(model))
    sizes, now = bodies.radii(model), state.copy()
    now.velocity[:] = 0.0
    for _ in range(DISPLACEMENTS):
        found = stepper.overlaps(now)
        part, pair = bodies.deepest(model, sizes, found)
        if part <= NO_OVERLAP:
            break
        depth = float(-found.gap.min())
        stepper.buffers.s.put(search=codes.GIVEN, active_gap=SEARCH_WIDTH * depth)
        stepper.turns = turns
        after, _ = stepper.step(now, 1.0)
        now.position, now.orientation = after.position, after.orientation
    part, pair = bodies.deepest(model, sizes, stepper.overlaps(now))
    if part > bodies.OVERLAP:
        a, b = (model.names[k] for k in pair)
        raise ModelError(
            f"bodies {a!r} and {b!r} overlap, and there is no room to move them apart: "
            f"{100 * part:.3g} % of the smaller one's size are left at t = {state.time:.6g} s"
        )
    return State(state.time, now.position, now.orientation, state.velocity.copy())


def _still(model: Model) -> Model:
    """The model without loads, friction and rebound; bodies that are driven stand still."""
    rules = replace(
        model.rules,
        friction=np.zeros_like(model.rules.friction),
        restitution=np.zeros_like(model.rules.restitution),
    )
    out = replace(
        model,
        gravity=np.zeros_like(model.gravity),
        friction=np.zeros_like(model.friction),
        restitution=np.zeros_like(model.restitution),
        rules=rules,
        motions=(),
        joints=None if model.joints is None else _passive(model.joints),
    )
    out.forces = ()
    return out


def _passive(joints: Joints) -> Joints:
    """Joints that neither drive nor break; their limits stay."""
    keep = np.isin(joints.action_kind, (LOWER, UPPER, HOLD))
    return replace(
        joints,
        action_kind=joints.action_kind[keep],
        action_coordinate=joints.action_coordinate[keep],
        action_numbers=joints.action_numbers[keep],
        breaks_at=np.full_like(joints.breaks_at, np.inf),
    )
