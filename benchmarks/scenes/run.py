"""Measuring: scenes with our engine and with others, kernels warm, on one thread.

Every engine is run the same way: once observed, which gives the figure, then against the clock,
in as few calls as the engine allows. Simulations repeat exactly, so both runs are the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from benchmarks.clock import timed
from benchmarks.scenes.cases import PLANE, Case
from benchmarks.scenes.figures import Seen
from drystone.cli.progress import Tally
from drystone.errors import DrystoneError
from drystone.kernels._jit import compile_seconds
from drystone.model import State
from drystone.scenes.base import Scene
from drystone.scenes.registry import scene as build
from drystone.simulation import Simulation
from drystone.steppers.time_stepping.options import TimeStepping

if TYPE_CHECKING:
    from benchmarks.peers.engine import Engine

ENOUGH = 60.0  # [s] spent on a case: it is not repeated again
PATIENCE = 240  # steps between two looks at the clock
OURS = "drystone"
USUAL = 1.0 / 240.0  # [s] the step of every peer


@dataclass(frozen=True)
class Row:
    """One case with one engine in one world, 3D or 2D.

    wall: seconds for a simulated one, the least of the runs; figure in the case's unit, and its
    distance from the truth, error; more: other figures, in words; depth: greatest at the end [m],
    at any time where the case asks for it; stages: seconds of ours by stage.
    """

    case: str
    engine: str
    world: str
    bodies: int
    dt: float
    wall: float | None
    figure: float
    label: str
    unit: str
    error: float = math.nan
    more: tuple[tuple[str, float, str], ...] = ()
    contacts: int | None = None
    residual: float | None = None
    unsolved: int | None = None
    steps: int = 0
    depth: float = math.nan
    stages: dict[str, float] = field(default_factory=dict)
    note: str = ""


class Runner(Protocol):
    """An engine in the middle of a run."""

    def run(self, steps: int) -> None: ...

    def state(self) -> State: ...


class _Ours:
    """Our engine as a runner; observed, it goes step by step and keeps the reports."""

    def __init__(self, simulation: Simulation, tally: Tally | None = None) -> None:
        self.simulation, self.tally = simulation, tally

    def run(self, steps: int) -> None:
        if self.tally is None:
            self.simulation.run(steps * self.simulation.method.dt)
            return
        for _ in range(steps):
            self.tally.add(self.simulation.step())

    def state(self) -> State:
        return self.simulation.state


def time_stages(simulation: Simulation) -> None:
    """From now on steps report their seconds by stage; they are then run from Python, one stage at
    a time, to the same bits."""
    stepper: Any = simulation._stepper
    stepper.profile = True


@dataclass(frozen=True)
class Plan:
    """How long a case runs at a step dt [s]."""

    case: Case
    world: str
    scene: Scene
    dt: float
    settle: int
    steps: int

    @classmethod
    def of(cls, case: Case, world: str, dt: float | None, shorter: float) -> Plan:
        scene = build(case.scene, **case.settings_in(world))
        dt = case.options.get("dt", scene.method.dt) if dt is None else dt
        duration = shorter * (scene.duration if case.duration is None else case.duration)
        settle = round(shorter * case.settle / dt)
        return cls(case, world, scene, dt, settle, max(1, round(duration / dt)))

    @property
    def duration(self) -> float:
        return self.steps * self.dt


@dataclass(frozen=True)
class Pace:
    """How often every run is made, a factor on all durations, and when a peer is stopped [s]."""

    repeats: int
    shorter: float
    limit: float


class StoppedError(Exception):
    """A run took longer than it was given."""


def measure(
    case: Case,
    *,
    world: str | None = None,
    dt: float | None = None,
    repeats: int = 3,
    shorter: float = 1.0,
) -> Row:
    """Our engine on a case: the fastest of `repeats` runs. dt [s]: instead of the scene's own;
    shorter: factor on all durations."""
    plan = Plan.of(case, world or case.worlds[0], dt, shorter)
    tallies: list[Tally] = []

    def make() -> _Ours:
        options = dict(case.options) | ({} if dt is None else {"dt": dt})
        return _Ours(plan.scene.simulation(**options))

    def observed() -> tuple[Seen, State]:
        while True:  # again if kernels were compiled on the way: the stages would tell of it
            compiled, runner = compile_seconds(), make()
            runner.run(plan.settle)
            runner.tally = Tally()
            time_stages(runner.simulation)
            tallies[:] = [runner.tally]
            out = _observe(plan, runner, math.inf)
            if compile_seconds() == compiled:
                return out

    row = _measured(plan, OURS, observed, make, repeats, math.inf)
    if row.wall is None:
        return row
    (tally,) = tallies
    return replace(
        row, contacts=tally.most_contacts, residual=tally.residual, unsolved=tally.unsolved,
        stages=dict(tally.seconds),
    )  # fmt: skip


def measure_peer(
    case: Case,
    engine: type[Engine],
    *,
    limit: float = 120.0,
    repeats: int = 1,
    shorter: float = 1.0,
) -> Row:
    """Another engine on the same bodies, judged by the same figure; a run of it is stopped after
    `limit` [s]."""
    world = PLANE if engine.planar else "3D"
    plan = Plan.of(case, world, USUAL, shorter)
    model, start = plan.scene.world.build()

    def make() -> Runner:
        return engine(model, start, USUAL)

    def observed() -> tuple[Seen, State]:
        return _observe(plan, _advance(plan.settle, make(), limit), limit)

    return _measured(plan, engine.name, observed, make, repeats, limit)


def compare(
    case: Case,
    engines: list[type[Engine]],
    pace: Pace,
    tell: Callable[[str], object],
) -> Iterator[Row]:
    """Ours in the case's usual world; with other engines in each of its worlds, then theirs, then
    ours at the steps that the comparison asks for."""
    from benchmarks.scenes.verdict import other_steps

    repeats, shorter, limit = pace.repeats, pace.shorter, pace.limit
    for world in case.worlds if engines and case.peers else case.worlds[:1]:
        tell(f"{case.name} ({world}): ours")
        ours = measure(case, world=world, repeats=repeats, shorter=shorter)
        yield ours
        others = []
        for engine in engines if case.peers else ():
            if engine.planar == (world == PLANE) and (engine.touches or not case.touches):
                tell(f"{case.name} ({world}): {engine.name}")
                row = measure_peer(case, engine, limit=limit, repeats=repeats, shorter=shorter)
                others.append(row)
                yield row
        steps = other_steps(ours, others, case.finest)
        dt = next(steps, None)
        while dt is not None:
            tell(f"{case.name} ({world}): ours, dt 1/{1 / dt:.0f}")
            row = measure(case, world=world, dt=dt, repeats=repeats, shorter=shorter)
            yield row
            try:
                dt = steps.send(row)
            except StopIteration:
                dt = None


def _measured(
    plan: Plan,
    name: str,
    observed: Callable[[], tuple[Seen, State]],
    make: Callable[[], Runner],
    repeats: int,
    limit: float,
) -> Row:
    case = plan.case
    row = Row(
        case.name, name, plan.world, len(plan.scene.world), plan.dt, None, math.nan, case.label,
        case.unit, steps=plan.steps,
    )  # fmt: skip
    try:
        seen, end = observed()
        best, spent, note = math.inf, 0.0, ""
        for _ in range(repeats):
            runner = _advance(plan.settle, make(), limit)
            seconds = timed(partial(_advance, plan.steps, runner, limit)).seconds
            best, spent = min(best, seconds), spent + seconds
            if not np.array_equal(runner.state().position, end.position, equal_nan=True):
                note = "does not repeat exactly"
            if spent > ENOUGH:
                break
    except StoppedError as stop:
        return replace(row, note=str(stop))
    except DrystoneError as error:
        return replace(row, note=str(error))
    figure = case.figure(seen)
    more = tuple((one.label, one.figure(seen), one.unit) for one in case.more)
    return replace(
        row, wall=best / plan.duration, figure=figure, error=case.error(figure), more=more,
        depth=seen.deepest, note=note,
    )  # fmt: skip


def _chunks(steps: int, limit: float) -> Iterator[int]:
    """Steps in portions, with a look at the clock after each; all at once without a limit."""
    patience = perf_counter() + limit
    while steps > 0:
        portion = steps if limit == math.inf else min(steps, PATIENCE)
        yield portion
        steps -= portion
        if steps > 0 and perf_counter() > patience:
            raise StoppedError(f"stopped after {limit:g} s")


def _advance(steps: int, runner: Runner, limit: float) -> Runner:
    for portion in _chunks(steps, limit):
        runner.run(portion)
    return runner


def _observe(plan: Plan, runner: Runner, limit: float) -> tuple[Seen, State]:
    """The run as its judge sees it; depths are found by our own collision detection."""
    case = plan.case
    judge = Simulation(plan.scene.world, TimeStepping(dt=plan.dt, overlap="allow"))
    start, model = runner.state().copy(), judge.model
    pause = PATIENCE
    if case.watch is not None or case.deep:
        pause = max(1, round(case.every / plan.dt))
    track, deepest, done = [], 0.0, 0
    patience = perf_counter() + limit
    while done < plan.steps:
        portion = min(pause, plan.steps - done)
        runner.run(portion)
        done += portion
        state = runner.state()
        if case.watch is not None:
            track.append((done * plan.dt, case.watch(model, state)))
        if case.deep or done == plan.steps:
            deepest = max(deepest, _depth(judge, state))
        if done < plan.steps and perf_counter() > patience:
            raise StoppedError(f"stopped after {limit:g} s")
    end = runner.state().copy()
    settings = plan.scene.settings
    final = _depth(judge, end)
    return Seen(model, start, end, settings, plan.duration, track, final, deepest), end


def _depth(judge: Simulation, state: State) -> float:
    if not np.isfinite(state.position).all():
        return math.inf
    judge.state = state.copy()
    return judge.penetration
