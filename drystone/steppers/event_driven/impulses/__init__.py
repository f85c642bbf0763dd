"""Impulses of collisions, and without them."""

from drystone.steppers.event_driven.impulses.collide import CollisionLaw, collide
from drystone.steppers.event_driven.impulses.jam import impulse_without_collision, resolve_jam
from drystone.steppers.event_driven.impulses.keller import keller
from drystone.steppers.event_driven.impulses.results import Collision, Impact
from drystone.steppers.event_driven.impulses.routh import routh

__all__ = [
    "Collision",
    "CollisionLaw",
    "Impact",
    "collide",
    "impulse_without_collision",
    "keller",
    "resolve_jam",
    "routh",
]
