"""The complete description of a world, for scene files and recordings."""

from __future__ import annotations

from typing import NamedTuple

from drystone.builder.bodies import Body
from drystone.builder.joints import JointEntry
from drystone.dynamics.forces import Force


class Parts(NamedTuple):
    """The complete description of a world, in order, validated.

    pairs and ignored: by the uids of two bodies; pairs: (static, dynamic, normal, tangential), nan
    where they say nothing.
    """

    bodies: tuple[Body, ...]
    joints: tuple[JointEntry, ...]
    forces: tuple[Force, ...]
    pairs: dict[tuple[int, int], tuple[float, float, float, float]]
    ignored: frozenset[tuple[int, int]]
    uids: tuple[int, int, int]
