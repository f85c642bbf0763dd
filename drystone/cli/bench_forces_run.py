"""Every force problem of a run by every method that takes it (V1, F1, F6).

A method solves each problem from nothing, island by island, and its accelerations are compared
with Dantzig's. They are unique without friction, and where slip is known and friction weak. Static
friction is another matter. In space the static conditions leave open how a contact gives way (F13);
a polyhedral cone gives way elsewhere than a round one. So where a contact at rest gives way, only
the residual of what was stated is looked at. And lp and qp take no friction of unknown direction:
they are given that of Dantzig's answer as a load, and must find the same normal forces.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

import numpy as np

from drystone.errors import DrystoneError
from drystone.scenes.base import Scene
from drystone.simulation import Simulation
from drystone.solvers.qp import QP
from drystone.steppers.event_driven.forces import ContactForces, ContactState, Forces, Kind
from drystone.steppers.event_driven.forces.methods import FRICTIONLESS, named
from drystone.steppers.event_driven.forces.system import System
from drystone.steppers.event_driven.options import EventDriven
from drystone.types import Bools, Floats

TOL = 1e-9  # residual asked of every method
SAME = 1e-8
PATIENCE = 0.25  # seconds for those that may not converge (jacobi) or grow fast (qp-signs)
METHODS: dict[str, Any] = {
    "lp": "lp",
    "qp (8-10)": QP(form=1, tol=TOL),
    "qp (8-11)": QP(form=2, tol=TOL),
    "lemke": "lemke",
    "jacobi": replace(named("jacobi", TOL), time_limit=PATIENCE),
    "qp-signs": replace(named("qp-signs", TOL), time_limit=PATIENCE),
}
REFERENCE, RUN = "dantzig", "index set"


@dataclass(slots=True)
class Tally:
    """What one method made of the problems of a run.

    solved: with the residual asked for; compared: of them, those whose accelerations the law
    determines; worst: their greatest distance from Dantzig's, relative to the greatest
    acceleration with or without forces; beyond: how many are further than 1e-8. open: solved, but
    the law leaves the motion open, and other: of them, those that move another way. declined:
    the method does not take them; failed.
    lp: in which step of the heuristic the islands ended.
    """

    solved: int = 0
    compared: int = 0
    worst: float = 0.0
    beyond: int = 0
    open: int = 0
    other: int = 0
    declined: int = 0
    failed: int = 0
    seconds: list[float] = field(default_factory=list)
    lp: Counter[str] = field(default_factory=Counter)


class Comparison:
    """Listens to a run; ``tallies`` by method, ``problems`` compared, ``contacts`` of each,
    ``rubs``: problems with static friction.

    every: of so many problems one is compared.
    """

    def __init__(self, methods: dict[str, Any] | None = None, every: int = 1) -> None:
        chosen = METHODS if methods is None else methods
        self.methods = {name: _from_nothing(method) for name, method in chosen.items()}
        self.dantzig = _from_nothing(REFERENCE)
        self.coherent = ContactForces(REFERENCE, tol=TOL, explain="never")
        self.tallies = {name: Tally() for name in (RUN, REFERENCE, *chosen)}
        self.every, self.heard, self.problems = every, 0, 0
        self.contacts: list[int] = []
        self.rubs = 0

    @property
    def hit_rate(self) -> float:
        """Share of islands with the contacts of the problem before that its index set answered."""
        return self.coherent.statistics.hit_rate

    @property
    def stayed(self) -> float:
        """Share of islands with the contacts of the problem before."""
        count = self.coherent.statistics
        return count.tried / count.solves if count.solves else 1.0

    def __call__(self, state: ContactState, acceleration: Floats) -> None:
        self.heard += 1
        if state.nc:
            self.coherent.commit(self.coherent.solve(state))
        if state.nc == 0 or (self.heard - 1) % self.every:
            return
        self.problems += 1
        self.contacts.append(state.nc)
        truth = self._solved(REFERENCE, self.dantzig, state)
        if truth is None:
            return
        rough = (state.kind == Kind.STICKING) & (state.mu[:, 0] > 0)
        self.rubs += bool(rough.any())
        gives = _gives_way(truth, rough)
        size = max(_most(truth.acceleration), _most(state.acceleration))
        self.tallies[REFERENCE].compared += 1
        self._judge(self.tallies[RUN], acceleration, truth, size, gives)
        for name, method in self.methods.items():
            given, stated = rough.any() and method.solver.name in FRICTIONLESS, state
            if given:
                stated = with_loads(state, truth.f, rough)
            found = self._solved(name, method, stated)
            if found is not None:
                free = not given and (gives or _gives_way(found, rough))
                self._judge(self.tallies[name], found.acceleration, truth, size, free)

    def _solved(self, name: str, method: ContactForces, state: ContactState) -> Forces | None:
        tally = self.tallies[name]
        begin = perf_counter()
        before = Counter(method.statistics.lp)
        try:
            found = method.solve(state)
        except DrystoneError:
            tally.declined += 1
            return None
        tally.seconds.append(perf_counter() - begin)
        tally.lp += Counter(method.statistics.lp) - before
        if not (found.ok and found.exact):
            tally.failed += 1
            return None
        if name == REFERENCE:
            tally.solved += 1
        return found

    def _judge(self, tally: Tally, a: Floats, truth: Forces, size: float, free: bool) -> None:
        away = _most(a - truth.acceleration) / size if size else 0.0
        if tally is not self.tallies[REFERENCE]:
            tally.solved += 1
        if free:
            tally.open += 1
            tally.other += away > SAME
        else:
            tally.compared += 1
            tally.beyond += away > SAME
            tally.worst = max(tally.worst, away)


def with_loads(state: ContactState, f: Floats, chosen: Bools) -> ContactState:
    """The same instant with the friction f (nc, d) of some contacts given as a load."""
    system = System(state, np.flatnonzero(chosen), np.empty(0, np.int64))
    load = f[chosen].copy()
    load[:, 0] = 0.0
    acceleration = state.acceleration.copy()
    system.add_motion(load.ravel(), acceleration)
    mu = np.where(chosen[:, None], 0.0, state.mu)
    return replace(state, mu=mu, acceleration=acceleration)


def listen(
    scene: Scene, duration: float, every: int = 1, method: EventDriven | None = None
) -> RunOfForces:
    """Run a scene by events and compare the methods on its force problems."""
    sim = scene.simulation(method=EventDriven() if method is None else method)
    heard = Comparison(every=every)
    force_method(sim).listener = heard
    evaluations = 0
    while sim.time < duration * (1 - 1e-9):
        evaluations += sim.step().evaluations
    return RunOfForces(heard, evaluations, sim)


@dataclass(slots=True)
class RunOfForces:
    """A run that was listened to, and how often its forces were evaluated."""

    heard: Comparison
    evaluations: int
    sim: Simulation


def force_method(sim: Simulation) -> ContactForces:
    """What computes the contact forces of an event-driven simulation."""
    method: ContactForces = sim._stepper.method
    return method


def _from_nothing(method: Any) -> ContactForces:
    return ContactForces(method, tol=TOL, explain="never", reuse=False, fallback=())


def _gives_way(forces: Forces, rough: Bools) -> bool:
    return any(word == "onset" for word, rubs in zip(forces.word, rough, strict=True) if rubs)


def _most(a: Floats) -> float:
    return float(np.abs(a).max(initial=0.0))
