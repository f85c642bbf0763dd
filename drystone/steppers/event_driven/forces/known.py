"""What is remembered of an island from instant to instant: its index set, and where to start."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from drystone.steppers.event_driven.forces.index_set import IndexSet
from drystone.steppers.event_driven.forces.results import Island
from drystone.steppers.snapshot import Snapshot, part_of, within
from drystone.types import Solution, Status

Key = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Known:
    """States of an island's contacts, its solution without the story of how it was found, and L
    where the stated law was met."""

    words: tuple[str, ...]
    solution: Solution
    index_set: IndexSet | None

    @classmethod
    def of(cls, part: Island) -> Known:
        """What a computation leaves for the next one."""
        s = part.solution
        solution = Solution(
            s.value, s.status, s.residual, s.residual_unit, 0, 0.0, s.solver, s.methods, s.dual,
            basis=s.basis,
        )  # fmt: skip
        return cls(part.words, solution, part.index_set)


def snapshot_of(known: dict[Key, Known]) -> Snapshot:
    """Islands by their number, in order."""
    out: Snapshot = {"count": len(known)}
    for k, (key, item) in enumerate(known.items()):
        names, moving, joints = key
        s = item.solution
        own: Snapshot = {
            "names": np.array(names, np.str_), "moving": np.array(moving, np.bool_),
            "joints": np.array(joints, np.int64), "words": np.array(item.words, np.str_),
            "value": s.value, "dual": s.dual, "status": s.status.name, "residual": s.residual,
            "residual_unit": s.residual_unit, "solver": s.solver,
            "methods": np.array(s.methods, np.str_),
        }  # fmt: skip
        own |= within("basis", s.basis) if isinstance(s.basis, dict) else {"basis": s.basis}
        if item.index_set is not None:
            own |= within("set", asdict(item.index_set))
        out |= within(str(k), own)
    return out


def known_from(snapshot: Snapshot) -> dict[Key, Known]:
    """What ``snapshot_of`` was given."""
    out: dict[Key, Known] = {}
    for k in range(int(snapshot["count"])):
        own = part_of(snapshot, str(k))
        names, moving, joints, words, methods = (
            tuple(own[name].tolist()) for name in ("names", "moving", "joints", "words", "methods")
        )
        L = part_of(own, "set")
        solution = Solution(
            own["value"], Status[own["status"]], float(own["residual"]),
            float(own["residual_unit"]), 0, 0.0, own["solver"], methods, own["dual"],
            basis=part_of(own, "basis") or own.get("basis"),
        )  # fmt: skip
        out[names, moving, joints] = Known(words, solution, IndexSet(**L) if L else None)
    return out
