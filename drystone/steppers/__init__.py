"""Methods of simulation: one folder each, with its options and the stepper they make.

This is the table of ours. Classes load when they are asked for. ``registry`` knows them by their
names in scene files and commands, together with those of users.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from drystone.lazy import lazily

if TYPE_CHECKING:
    from drystone.steppers.base import (
        Conditions,
        EnergyLedger,
        Event,
        Impulse,
        Method,
        Stepper,
        StepReport,
    )
    from drystone.steppers.event_driven.forces.choices import Alternative
    from drystone.steppers.event_driven.guards import EventGuards
    from drystone.steppers.event_driven.impulses.collide import CollisionLaw
    from drystone.steppers.event_driven.options import EventDriven
    from drystone.steppers.penalty.options import Penalty
    from drystone.steppers.registry import register_method
    from drystone.steppers.time_stepping.options import Sleeping, TimeStepping
    from drystone.steppers.time_stepping.policy import IslandPolicy
    from drystone.steppers.totals import RunSummary

__all__ = [
    "Alternative",
    "CollisionLaw",
    "Conditions",
    "EnergyLedger",
    "Event",
    "EventDriven",
    "EventGuards",
    "Impulse",
    "IslandPolicy",
    "Method",
    "Penalty",
    "RunSummary",
    "Sleeping",
    "StepReport",
    "Stepper",
    "TimeStepping",
    "register_method",
]

OURS = {  # by their names in files and commands; the first is the default
    "time-stepping": "TimeStepping",
    "event-driven": "EventDriven",
    "penalty": "Penalty",
}
_HOMES = {cls: f"{name.replace('-', '_')}.options" for name, cls in OURS.items()} | {
    "Alternative": "event_driven.forces.choices",
    "CollisionLaw": "event_driven.impulses.collide",
    "EventGuards": "event_driven.guards",
    "IslandPolicy": "time_stepping.policy",
    **dict.fromkeys(
        ("Conditions", "EnergyLedger", "Event", "Impulse", "Method", "StepReport", "Stepper"),
        "base",
    ),
    "RunSummary": "totals",
    "Sleeping": "time_stepping.options",
    "register_method": "registry",
}


if not TYPE_CHECKING:  # a type checker must see that a name does not exist
    __getattr__ = lazily(__name__, _HOMES)
