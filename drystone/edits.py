"""Edits of a running simulation: what they put into other bodies is found before the next step, and
refused, or moved apart by positions alone: no velocity is left behind.

The least displacement in the metric of the masses, dq = M^-1 J' r with gap + J dq >= 0, r >= 0 and
joints kept, is a step of the scheme (Hart and Anitescu 2003, (2.9)) from rest, of length 1, without
loads and friction. It is made again until nothing overlaps: normals turn, and what is moved may
meet others.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

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


def start(sim: Any) -> State:
    """The state to start from: bodies that overlap are refused, or moved apart."""
    sim.stepper.check_start(sim.state)
    return _apart(sim) if _allows(sim) else sim.state


def note(sim: Any) -> None:
    """An edit is to come: keep what overlaps before it, as steps left it."""
    if sim._overlaps is None:
        found = sim.stepper.overlaps(sim.state)
        sim._overlaps = {} if found is None else bodies.overlapping(sim.stepper.model, found)


def check(sim: Any) -> None:
    """Bodies that edits since the last step put into others are refused as at the start, by name
    and depth, or moved apart. A simulation that is refused stays as it is: it can be mended."""
    known = sim._overlaps
    if known is None:
        return
    model = sim.stepper.model
    found = sim.stepper.overlaps(sim.state)
    if found is not None:
        bodies.check_finite(model, sim.state)
        when, kind = f"after an edit at t = {sim.time:.6g} s", type(sim.method).__name__
        try:
            bodies.check_apart(model, bodies.radii(model), found, kind, known, when)
        except ModelError:
            if not _allows(sim):
                raise
            sim.state = _apart(sim)
    sim._overlaps = None


def _allows(sim: Any) -> bool:
    return getattr(sim.method, "overlap", "") == "allow"


def _apart(sim: Any) -> State:
    return moved_apart(sim.stepper.model, sim.state, sim.stepper.turns)


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
