"""What a stepper must remember to go on to the same bits: dictionaries of arrays and scalars.

``Stepper.snapshot()`` gives one of each part of a stepper between two steps, and
``Stepper.restore(parts, model)`` takes them over in a stepper of the same model and options, in
this process or another, whatever steps that one made. Both leave the arrays to the snapshot: what a
stepper goes on to change, it copies. Files keep all parts in one ``flat`` dictionary, whose entries
have the name of their part and a dot in front; what is None is left out.
"""

from __future__ import annotations

from typing import Any

Snapshot = dict[str, Any]


def within(name: str, part: Snapshot) -> Snapshot:
    """Entries of a part under its name."""
    return {f"{name}.{key}": value for key, value in part.items() if value is not None}


Parts = dict[str, Snapshot]


def flat(parts: Parts) -> Snapshot:
    """All parts in one dictionary."""
    return {key: value for name, part in parts.items() for key, value in within(name, part).items()}


def parts_of(snapshot: Snapshot) -> Parts:
    """What ``flat`` put together, by name; a part that had no entries is not there."""
    out: Parts = {}
    for key, value in snapshot.items():
        name, _, rest = key.partition(".")
        out.setdefault(name, {})[rest] = value
    return out


def part_of(snapshot: Snapshot, name: str) -> Snapshot:
    """The entries that ``within`` named."""
    start = f"{name}."
    return {key[len(start) :]: value for key, value in snapshot.items() if key.startswith(start)}
