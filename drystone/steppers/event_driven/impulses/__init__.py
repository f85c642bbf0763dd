"""Impulses of collisions, and without them."""

from drystone.steppers.event_driven.impulses.collide import (
    CollisionLaw,
    collide,
    impulse_without_collision,
    resolve_jam,
)
from drystone.steppers.event_driven.impulses.exact import keller, routh
from drystone.steppers.event_driven.impulses.results import Collision, Impact

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
