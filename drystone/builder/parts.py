"""All that a world was told, for those who write it down."""

from __future__ import annotations

from typing import NamedTuple

from drystone.builder.bodies import Body
from drystone.builder.joints import JointEntry
from drystone.dynamics.forces import Force


class Parts(NamedTuple):
    """All that a world was told, in order, checked. pairs and ignored: by the uids of two bodies;
    pairs: (static, dynamic, normal, tangential), nan where they say nothing."""

    bodies: tuple[Body, ...]
    joints: tuple[JointEntry, ...]
    forces: tuple[Force, ...]
    pairs: dict[tuple[int, int], tuple[float, float, float, float]]
    ignored: frozenset[tuple[int, int]]
    uids: tuple[int, int, int]
