"""What a computation of contact forces gives back, and what a run of them adds up to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from drystone.steppers.event_driven.forces.index_set import IndexSet
from drystone.steppers.event_driven.forces.system import System
from drystone.types import Bools, Floats, Solution, Status


@dataclass(slots=True)
class Statistics:
    """Counts over a run. An island is one solve; `hit_rate` is that of index sets.

    steps: force problems of accepted steps and of the beginnings of phases.
    lp: how often the heuristic ended in each of its steps (a) to (d), or in the basis of the
    step before ("basis"). energy: [W] that step (d) added, summed over its evaluations.
    """

    steps: int = 0
    evaluations: int = 0
    solves: int = 0
    tried: int = 0
    reused: int = 0
    iterations: int = 0
    fallbacks: int = 0
    rays: int = 0
    failures: int = 0
    several: int = 0
    energy: float = 0.0
    lp: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("basis", *"abcd"), 0))

    @property
    def hit_rate(self) -> float:
        """Share of the solves with an index set at hand that it answered; 1 without any."""
        return self.reused / self.tried if self.tried else 1.0


@dataclass(frozen=True, slots=True)
class Island:
    """One independent group of contacts: its key, its solve, and the states of its contacts.

    index_set: L of the solution where the stated law is met, to be tried first next time.
    """

    key: tuple[Any, ...]
    system: System
    solution: Solution
    words: tuple[str, ...]
    reused: bool
    changed: bool
    index_set: IndexSet | None


@dataclass(frozen=True, slots=True)
class Forces:
    """Contact forces of an instant and the accelerations they give.

    f (nc, d) [N]; joint (nj,); acceleration (nb, dof) of the bodies; contact_acceleration
    (nc, d); word (nc,): "open", "stick", "onset" (static friction gives way), "slide" or
    "separates"; changed: whether the index set L differs from the committed one, so that an
    integrator has to start anew; exact: whether the stated law is met, not an approximation.
    ray (nc, d), joint_ray (nj,): with status RAY, direction of an impulse, else None.
    colliding (nc,): contacts that approach: resolve them first. residual: of the worst island.
    log: sentences on choices among several solutions (Baraff 1992, 12.4), fallbacks, energy put in.
    """

    f: Floats
    joint: Floats
    acceleration: Floats
    contact_acceleration: Floats
    word: tuple[str, ...]
    changed: bool
    exact: bool
    status: Status
    residual: float
    ray: Floats | None
    joint_ray: Floats | None
    colliding: Bools
    log: tuple[str, ...]
    islands: tuple[Island, ...]

    @property
    def ok(self) -> bool:
        """Forces that can be used: the law or the method's own approximation of it is met."""
        return self.status in (Status.SOLVED, Status.APPROXIMATE)

    @property
    def onset(self) -> Floats:
        """(nc, d - 1) unit directions in which contacts at rest begin to slide, else zeros.

        What an integrator hands on as slip when it goes on with the dynamic coefficient.
        """
        pull = self.contact_acceleration[:, 1:]
        size = np.linalg.norm(pull, axis=1, keepdims=True)
        gives = np.array([word == "onset" for word in self.word], bool)[:, None] & (size > 0)
        return np.divide(pull, size, out=np.zeros_like(pull), where=gives)
