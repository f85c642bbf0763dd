"""Every force problem of a run by every method that takes it.

A method solves each problem from nothing, island by island, and its accelerations are compared
with Dantzig's; its forces are put into the law as stated, and the residual says whether they obey.
Accelerations are unique without friction. With friction they are not: contacts that bodies do not
need can be wedged or not, and share loads in many ways. And in space the static conditions (14-1)
leave open how a contact gives way, so the direction in which it does is part of the
statement: that of the run, or that of Coulomb's law for accelerations where the run has none. A
polyhedral cone has a corner where the friction of Dantzig's answer points, so that it holds what
the round one holds there. An answer with other accelerations is counted apart, with its residual;
and with the friction of Dantzig's answer given as a load, which makes accelerations unique, the
method must find them. So lp and qp are asked where they do not take the friction.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from drystone.errors import DrystoneError
from drystone.scenes.base import Scene
from drystone.simulation import Simulation
from drystone.solvers.qp import QP
from drystone.steppers.event_driven.force_log import LoggedForces
from drystone.steppers.event_driven.forces import ContactForces, ContactState, Forces, Kind
from drystone.steppers.event_driven.forces.coulomb import coulomb_forces
from drystone.steppers.event_driven.forces.methods import FRICTIONLESS, friction_problem, named
from drystone.steppers.event_driven.forces.system import System, islands
from drystone.steppers.event_driven.options import EventDriven
from drystone.types import Bools, Floats, Status

TOL = 1e-9  # residual asked of every method
SAME = 1e-8  # accelerations
LAW = 1e-8  # residual of forces that obey the law
PATIENCE = 0.25  # seconds for those that may not converge (jacobi) or grow fast (qp-signs)
ROUND = "lemke, round"  # its polyhedral answer carried on to the round cone
METHODS: dict[str, Any] = {
    "lp": "lp",
    "qp (8-10)": QP(form=1, tol=TOL),
    "qp (8-11)": QP(form=2, tol=TOL),
    "lemke": "lemke",
    ROUND: "lemke",
    "jacobi": replace(named("jacobi", 1e-3 * TOL), time_limit=PATIENCE),
    "qp-signs": replace(named("qp-signs", TOL), time_limit=PATIENCE),
}
REFERENCE, RUN = "dantzig", "index set"


@dataclass(slots=True)
class Tally:
    """What one method made of the problems of a run.

    solved: with the residual asked for; agree: of them, those with Dantzig's accelerations to
    1e-8 of the greatest acceleration with or without forces; worst: the greatest distance among
    these. other: those with other accelerations that obey the law as well, given: of them, those
    that agree once friction is given as a load, left: the greatest distance then; apart: those
    that do not obey it; farthest: greatest distance of either. residual: the worst of the law as
    stated, of all but `apart`. loads: solved with some friction as a load. declined: the method
    does not take them; failed.
    lp: in which step of the heuristic the islands ended.
    """

    solved: int = 0
    agree: int = 0
    worst: float = 0.0
    other: int = 0
    given: int = 0
    left: float = 0.0
    apart: int = 0
    farthest: float = 0.0
    residual: float = 0.0
    loads: int = 0
    declined: int = 0
    failed: int = 0
    lp: Counter[str] = field(default_factory=Counter)

    def judge(self, away: float, residual: float) -> None:
        """Note an answer by its distance from Dantzig's and its residual."""
        self.solved += 1
        if away <= SAME:
            self.agree += 1
            self.worst = max(self.worst, away)
        else:
            self.farthest = max(self.farthest, away)
            self.other += residual <= LAW
            self.apart += residual > LAW
        if away <= SAME or residual <= LAW:
            self.residual = max(self.residual, residual)


class Comparison:
    """Listens to a run; ``tallies`` by method, ``problems`` compared, ``contacts`` of each,
    ``rubs``: problems with static friction, ``gives``: those where it gives way; ``open``: what
    Dantzig's method makes of the latter if the direction is not given, beside the run's answer.

    every: of so many problems one is given to methods that take long (`rare`).
    """

    rare = ("jacobi", "qp-signs")

    def __init__(self, methods: dict[str, Any] | None = None, every: int = 1) -> None:
        chosen = METHODS if methods is None else methods
        self.methods = {
            name: _from_nothing(method, name == ROUND) for name, method in chosen.items()
        }
        self.dantzig = _from_nothing(REFERENCE)
        self.coherent = ContactForces(REFERENCE, tol=TOL, explain="never")
        self.tallies = {name: Tally() for name in (RUN, REFERENCE, *chosen)}
        self.open = Tally()
        self.every, self.heard, self.problems = every, 0, 0
        self.contacts: list[int] = []
        self.rubs = self.gives = 0
        self.refused = False

    @property
    def hit_rate(self) -> float:
        """Share of islands with the contacts of the problem before that its index set answered."""
        return self.coherent.statistics.hit_rate

    @property
    def stayed(self) -> float:
        """Share of islands with the contacts of the problem before."""
        count = self.coherent.statistics
        return count.tried / count.solves if count.solves else 1.0

    def __call__(self, told: LoggedForces) -> None:
        self.heard += 1
        state = told.state
        if state.nc:
            self.coherent.commit(self.coherent.solve(state))
        if state.nc == 0:
            return
        self.problems += 1
        self.contacts.append(state.nc)
        stated, truth = self._truth(told)
        if truth is None:
            return
        law = Law(stated)
        self.tallies[REFERENCE].judge(0.0, law.residual(truth.f, truth.joint))
        away = _away(told.acceleration, truth, stated)
        own = law if stated is state else Law(state)  # Dantzig's directions are not the run's
        self.tallies[RUN].judge(away, own.residual(told.f, told.joint))
        for name, method in self.methods.items():
            if name not in self.rare or (self.heard - 1) % self.every == 0:
                self._ask(name, method, stated, truth, law)

    def _ask(
        self, name: str, method: ContactForces, stated: ContactState, truth: Forces, law: Law
    ) -> None:
        """One method on one problem."""
        tally, rough = self.tallies[name], _rough(stated)
        turn = aligned(stated, truth.f, rough)
        if method.solver.name not in FRICTIONLESS:
            found = self._solved(name, method, turn.state)
            if found is not None:
                away = _away(found.acceleration, truth, stated)
                tally.judge(away, law.residual(turn.back(found.f), found.joint))
                if away > SAME:
                    self._given(name, method, stated, truth)
            return
        for chosen in (rough, stated.mu[:, 0] > 0):  # what it does not take, else all friction
            state = with_loads(stated, truth.f, chosen) if chosen.any() else stated
            found = self._solved(name, method, state, last=chosen is not rough)
            if found is not None:
                tally.loads += bool(chosen.any())
                away = _away(found.acceleration, truth, stated)
                tally.judge(away, Law(state).residual(found.f, found.joint))
                if away > SAME:
                    self._given(name, method, stated, truth)
                return
            if not self.refused:
                return

    def _given(self, name: str, method: ContactForces, stated: ContactState, truth: Forces) -> None:
        """Note whether another answer becomes the same with all friction as a load."""
        again, tally = (
            method.solve(with_loads(stated, truth.f, stated.mu[:, 0] > 0)),
            self.tallies[name],
        )
        away = _away(again.acceleration, truth, stated)
        if again.status is Status.SOLVED:
            tally.given += away <= SAME
            tally.left = max(tally.left, away)

    def _truth(self, told: LoggedForces) -> tuple[ContactState, Forces | None]:
        """The problem with directions of all that gives way, and Dantzig's answer to it."""
        state = told.state
        self.rubs += bool((_rough(state) | told.gives).any())
        if told.gives.any():
            self._as_open(told)
        truth = self._solved(REFERENCE, self.dantzig, state)
        gives = bool(told.gives.any())
        if truth is not None and _gives_way(truth, _rough(state)).any():
            gives = True
            strict = coulomb_forces(state, truth) if state.d == 3 else None
            if strict is not None:
                state = directed(state, strict)
                truth = self._solved(REFERENCE, self.dantzig, state)
        self.gives += gives
        return state, truth

    def _as_open(self, told: LoggedForces) -> None:
        """What (14-1) alone says where contacts give way: Dantzig's answer beside the run's."""
        found = self.dantzig.solve(told.open)
        if found.status is not Status.SOLVED:
            self.open.failed += 1
            return
        law = Law(told.open)
        away = _away(told.acceleration, found, told.state)
        own, runs = law.residual(found.f, found.joint), law.residual(told.f, told.joint)
        self.open.judge(away, max(own, runs))

    def _solved(
        self, name: str, method: ContactForces, state: ContactState, last: bool = True
    ) -> Forces | None:
        """Forces with the residual asked for; `refused` says whether the method took the problem,
        which counts as declined if there is no other way to state it."""
        tally = self.tallies[name]
        before = Counter(method.statistics.lp)
        self.refused = False
        try:
            found = method.solve(state)
        except DrystoneError:
            self.refused = True
            tally.declined += last
            return None
        tally.lp += Counter(method.statistics.lp) - before
        if found.status is not Status.SOLVED and not _near(found):
            tally.failed += 1
            return None
        return found


class Law:
    """The law of a state, island by island: Coulomb's where slip is known, (14-1) elsewhere."""

    def __init__(self, state: ContactState) -> None:
        parts = islands(state, state.kind != Kind.SEPARATING)
        self.parts = [(system, friction_problem(system)) for system in parts]

    def residual(self, f: Floats, joint: Floats) -> float:
        """The greatest of any island, of forces f (nc, d) and joint (nj,)."""
        worst = 0.0
        for system, problem in self.parts:
            r = np.concatenate([f[system.contacts].ravel(), joint[system.joints]])
            worst = max(worst, *problem.residuals(r))
        return worst


@dataclass(frozen=True, slots=True)
class Turned:
    """A state whose contacts' tangents were turned by angles with these cosines and sines."""

    state: ContactState
    cos: Floats
    sin: Floats

    def back(self, f: Floats) -> Floats:
        """Forces (nc, d) in the frames from before."""
        if f.shape[1] == 2:
            return f
        x, y = f[:, 1], f[:, 2]
        return np.column_stack([f[:, 0], self.cos * x - self.sin * y, self.sin * x + self.cos * y])


def aligned(state: ContactState, f: Floats, chosen: Bools) -> Turned:
    """The same instant with the first tangent of some contacts along their friction in f."""
    cos, sin = np.ones(state.nc), np.zeros(state.nc)
    if state.d == 2:
        return Turned(state, cos, sin)
    size = np.linalg.norm(f[:, 1:], axis=1)
    turns = chosen & (size > 0.0)
    cos[turns], sin[turns] = (f[turns, 1:] / size[turns, None]).T

    def turned(x: Floats) -> Floats:
        c, s = (y.reshape(-1, *(1,) * (x.ndim - 2)) for y in (cos, sin))
        out = x.copy()
        out[:, 1], out[:, 2] = c * x[:, 1] + s * x[:, 2], c * x[:, 2] - s * x[:, 1]
        return out

    slip = None
    if state.slip is not None:
        slip = turned(np.column_stack([np.zeros(state.nc), state.slip]))[:, 1:]
    J, u, bias = turned(state.J), turned(state.u), turned(state.bias)
    return Turned(replace(state, J=J, u=u, bias=bias, slip=slip), cos, sin)


def directed(state: ContactState, forces: Forces) -> ContactState:
    """The same instant with contacts that give way in `forces` sliding as they begin to."""
    onset = forces.onset
    gives = onset.any(axis=1) & _rough(state)
    slip = state.slip_directions if state.slip is None else state.slip
    mu = np.where(gives[:, None], state.mu[:, :1], state.mu)
    return replace(state, slip=np.where(gives[:, None], onset, slip), mu=mu)


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
    stepper: Any = sim.stepper
    method: ContactForces = stepper.method
    return method


def _from_nothing(method: Any, round_cone: bool = False) -> ContactForces:
    return ContactForces(
        method, tol=TOL, explain="never", reuse=False, fallback=(), round_cone=round_cone
    )


def _rough(state: ContactState) -> Bools:
    """(nc,) contacts at rest with friction of unknown direction."""
    return np.asarray((state.kind == Kind.STICKING) & (state.mu[:, 0] > 0))


def _gives_way(forces: Forces, rough: Bools) -> Bools:
    return rough & (np.array(forces.states, np.int64) == Kind.YIELDING)


def _near(forces: Forces) -> bool:
    """Whether an iteration that asked for more came to the residual asked of all."""
    found = [part.solution for part in forces.islands]
    return all(max(s.residual, s.residual_unit) <= TOL for s in found)


def _away(a: Floats, truth: Forces, state: ContactState) -> float:
    """Distance of accelerations, relative to the greatest with or without forces."""
    size = max(_most(truth.acceleration), _most(state.acceleration))
    return _most(a - truth.acceleration) / size if size else 0.0


def _most(a: Floats) -> float:
    return float(np.abs(a).max(initial=0.0))
