"""Edits of a running simulation: what they put into other bodies is found before the next step."""

from __future__ import annotations

from typing import Any

from drystone.dynamics import bodies
from drystone.errors import ModelError
from drystone.model import State
from drystone.steppers.time_stepping.apart import moved_apart


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
