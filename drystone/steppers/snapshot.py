"""What a stepper must remember to go on to the same bits: flat dictionaries of arrays and scalars.

``Stepper.snapshot()`` gives one after a step, ``Stepper.restore(snapshot)`` takes it over in a
stepper of the same model and options, in this process or another. Parts name their entries with a
prefix and a dot; what is None is left out.
"""

from __future__ import annotations

from typing import Any

Snapshot = dict[str, Any]


def within(name: str, part: Snapshot) -> Snapshot:
    """Entries of a part under its name."""
    return {f"{name}.{key}": value for key, value in part.items() if value is not None}


def part_of(snapshot: Snapshot, name: str) -> Snapshot:
    """The entries that ``within`` named."""
    start = f"{name}."
    return {key[len(start) :]: value for key, value in snapshot.items() if key.startswith(start)}
