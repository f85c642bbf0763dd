"""Measuring: scenes with our engine and with others, kernels warm, on one thread."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from drystone.cli.bench_scenes_cases import Case, Seen
from drystone.cli.tally import Tally
from drystone.errors import DrystoneError
from drystone.kernels._jit import compile_seconds
from drystone.scenes.base import Scene
from drystone.scenes.registry import scene as build
from drystone.simulation import Simulation
from drystone.steppers.time_stepping.options import TimeStepping

if TYPE_CHECKING:
    from drystone.interop.engine_peers import Engine

ENOUGH = 60.0  # [s] spent on a case: it is not repeated again
OURS = "drystone"


@dataclass(frozen=True)
class Row:
    """One case with one engine.

    wall: seconds for a simulated one, the least of the runs; figure in the case's unit; depth:
    greatest at any time, of peers at the end [m]; stages: seconds of ours by stage.
    """

    case: str
    engine: str
    bodies: int
    dt: float
    wall: float | None
    figure: float
    label: str
    unit: str
    contacts: int | None = None
    residual: float | None = None
    unsolved: int | None = None
    steps: int = 0
    depth: float = math.nan
    stages: dict[str, float] = field(default_factory=dict)
    note: str = ""


@dataclass
class _Run:
    seen: Seen
    tally: Tally
    seconds: float
    bodies: int
    dt: float


def measure(case: Case, *, repeats: int = 3, shorter: float = 1.0) -> Row:
    """Our engine on a case: the fastest of `repeats` runs. shorter: factor on all durations."""
    scene = build(case.scene, **case.settings)
    _warm(scene, case)
    best, spent = None, 0.0
    for _ in range(repeats):
        begin = perf_counter()
        try:
            run = _run(scene, case, shorter)
        except DrystoneError as error:
            return _failed(case, len(scene.world), scene.method.dt, str(error))
        spent += perf_counter() - begin
        if best is None or run.seconds < best.seconds:
            best = run
        if spent > ENOUGH:
            break
    assert best is not None
    tally = best.tally
    return Row(
        case.name, OURS, best.bodies, best.dt, best.seconds / best.seen.duration,
        case.figure(best.seen), case.label, case.unit, tally.most_contacts, tally.residual,
        tally.unsolved, tally.steps, best.seen.deepest, dict(tally.seconds),
    )  # fmt: skip


def _failed(case: Case, bodies: int, dt: float, note: str, engine: str = OURS) -> Row:
    return Row(
        case.name, engine, bodies, dt, None, math.nan, case.label, case.unit, note=note
    )  # fmt: skip


def _warm(scene: Scene, case: Case) -> None:
    """Compile or load the kernels that the first steps need."""
    simulation = scene.simulation(**case.options)
    for _ in range(3):
        simulation.step()


def _run(scene: Scene, case: Case, shorter: float) -> _Run:
    simulation = scene.simulation(**case.options)
    dt = simulation.method.dt
    simulation.run(shorter * case.settle)
    start = simulation.state.copy()
    duration = shorter * (scene.duration if case.duration is None else case.duration)
    steps = max(1, round(duration / dt))
    tally, track, seconds = Tally(), [], 0.0
    for _ in range(steps):
        compiled, begin = compile_seconds(), perf_counter()
        report = simulation.step()
        seconds += perf_counter() - begin - (compile_seconds() - compiled)
        tally.add(report)
        if case.watch is not None:
            track.append((simulation.time, case.watch(simulation.model, simulation.state)))
    final = simulation.infeasibility
    seen = Seen(
        simulation.model, start, simulation.state, scene.settings, steps * dt, track,
        final, max(final, tally.infeasibility),
    )  # fmt: skip
    return _Run(seen, tally, seconds, len(simulation.bodies), dt)


def measure_peer(
    case: Case, engine: type[Engine], *, limit: float = 120.0, shorter: float = 1.0
) -> Row:
    """Another engine on the same bodies, judged by the same figure; stopped after `limit` [s]."""
    settings = dict(case.settings) | ({"planar": True} if engine.planar else {})
    scene = build(case.scene, **settings)
    dt = 1.0 / 240.0
    judge = Simulation(scene.world, TimeStepping(dt=dt, overlap="allow"))
    bodies = len(judge.bodies)
    try:
        peer = engine(judge.model, judge.state, dt)
    except DrystoneError as error:
        return _failed(case, bodies, dt, str(error), engine.name)
    duration = shorter * (scene.duration if case.duration is None else case.duration)
    settle, steps = round(shorter * case.settle / dt), max(1, round(duration / dt))
    start, seconds, track = judge.state.copy(), 0.0, []
    patience = perf_counter() + limit
    for k in range(settle + steps):
        if k == settle and settle:
            start = peer.state()
        begin = perf_counter()
        peer.step()
        now = perf_counter()
        seconds += now - begin if k >= settle else 0.0
        if case.watch is not None:
            track.append(((k + 1) * dt, case.watch(judge.model, peer.state())))
        if now > patience:
            return _failed(case, bodies, dt, f"stopped after {limit:g} s", engine.name)
    end = peer.state()
    judge.state = end
    sunk = judge.infeasibility if np.isfinite(end.position).all() else math.inf
    seen = Seen(judge.model, start, end, scene.settings, steps * dt, track, sunk, sunk)
    return Row(
        case.name, engine.name, bodies, dt, seconds / (steps * dt), case.figure(seen), case.label,
        case.unit, steps=steps, depth=sunk, note="planar" if engine.planar else "",
    )  # fmt: skip


@dataclass(frozen=True)
class Growth:
    """Cost of a step of n settled spheres [s], with their contacts."""

    n: int
    step: float
    contacts: int
    stages: dict[str, float]

    @property
    def per_body(self) -> float:
        return self.step / self.n


def growth(
    sizes: tuple[int, ...] = (100, 1000, 10000),
    *,
    settle: float = 1.5,
    steps: int = 24,
    tell: Callable[[str], Any] = lambda text: None,
) -> Iterator[Growth]:
    """Spheres that have come to rest in a box: seconds a step, for several numbers of them.

    They settle in steps four times as long; the clock runs over the last half of `steps`.
    """
    for n in sizes:
        tell(f"{n} spheres settle")
        scene = build("spheres", n=n)
        rough = scene.simulation(dt=4.0 * scene.method.dt)
        rough.run(settle)
        simulation = scene.simulation()
        simulation.state = rough.state
        tell(f"{n} spheres, measured")
        times, tally = [], Tally()
        for k in range(steps):
            compiled, begin = compile_seconds(), perf_counter()
            report = simulation.step()
            if 2 * k >= steps:
                times.append(perf_counter() - begin - (compile_seconds() - compiled))
                tally.add(report)
        stages = {name: seconds / len(times) for name, seconds in tally.seconds.items()}
        yield Growth(n, float(np.median(times)), tally.contacts, stages)


def exponent(rows: list[Growth]) -> float:
    """p of the best fit step = c n^p; n log n would be about 1.15 from 10^2 to 10^4."""
    if len(rows) < 2:
        return math.nan
    slope, _ = np.polyfit(np.log([r.n for r in rows]), np.log([r.step for r in rows]), 1)
    return float(slope)
