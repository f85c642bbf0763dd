"""One run, as numbers: what a golden keeps of it, and how far each number may be trusted."""

from __future__ import annotations

import hashlib
import os
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import drystone as ds
from tests.golden.cases import Case

ALL, FEW = 6, 4  # bodies that move: all are kept up to so many; of more, some and their mean
LEDGER = ("loads", "driving", "friction", "impact", "constraint", "integration")
# What another solver, or another processor, may leave, of the scale of each quantity; positions
# are followed more closely than velocities, and those than forces, which a step divides by dt.
FLOOR = {
    "position": 1e-8, "orientation": 1e-8, "velocity": 1e-7, "spin": 1e-7, "pressing": 1e-6,
    "pairs": 1e-6, "joints": 1e-6, "energy": 1e-7,
}  # fmt: skip
FACTOR = 5.0  # times what a nudge or a finer solve moves
LOST = 1e-3  # of a body's size: a run that a nudge moves by more is not followed further
NUDGES = (1,)  # seeds
NUDGE = 1e-11  # of a body's size, and of its speed when it falls by as much


@dataclass
class Look:
    """A run after some steps.

    numbers: {quantity: array, or {name: array}}; scale: what each is measured by; facts: words and
    counts; costs: what may become less, and not much more; bits: hash of the state.
    """

    step: int
    numbers: dict[str, Any]
    scale: dict[str, float]
    facts: dict[str, Any]
    costs: dict[str, float]
    bits: str


@dataclass
class Run:
    """Looks at a run, and the name of the error that ended it, "" for none."""

    bodies: tuple[str, ...]
    looks: list[Look]
    error: str = ""


def measured(case: Case, nudge: int = 0, finer: bool = False) -> Run:
    """The run of a case. nudge: seed of tiny changes of its start, 0 for none; finer: solved and
    integrated to smaller tolerances."""
    before = os.environ.get("DRYSTONE_THREADS")
    if case.threads:
        os.environ["DRYSTONE_THREADS"] = str(case.threads)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _measured(case, nudge, finer)
    finally:
        if case.threads and before is None:
            del os.environ["DRYSTONE_THREADS"]
        elif case.threads:
            os.environ["DRYSTONE_THREADS"] = before


def _measured(case: Case, nudge: int, finer: bool) -> Run:
    out = Run((), [])
    try:
        sim = started(case, finer)
        if nudge:
            push(sim, nudge)
        start = sim.state.copy()
        out.bodies, chosen = followed(sim)
        done, reports = 0, []
        for step in case.steps:
            reports += steps(sim, step - done)
            done = step
            out.looks.append(look(sim, step, chosen, start, reports))
    except ds.DrystoneError as error:
        out.error = type(error).__name__
    return out


def started(case: Case, finer: bool = False) -> ds.Simulation:
    sim = case.make()
    sim.forces = "raw"  # what the steps themselves found
    if not finer:
        return sim
    method = sim.method
    names = ("tol", "sweep_tol") if hasattr(method, "tol") else ("rtol", "atol")
    less = {"sweep_tol": 1e-6, "tol": 1e-2, "rtol": 0.1, "atol": 0.1}
    given = {name: less[name] * getattr(method, name) for name in names}
    return ds.Simulation(sim.world, replace(method, **given), forces="raw")


def steps(sim: ds.Simulation, count: int) -> list[Any]:
    """Steps in one run, and their reports."""
    told = None if getattr(sim.method, "on_failure", "") == "raise" else "ignore"
    until = sim.time + count * sim.method.dt
    kept = sim.run(until=until, record=True, every=1, on_failure=told)
    return list(kept.reports)


def push(sim: ds.Simulation, seed: int) -> None:
    """Move every body that is free to move, by next to nothing."""
    rng, model, state = np.random.default_rng(seed), sim.model, sim.state
    size = size_of(sim)
    free = (model.inverse_mass > 0)[:, None]
    fall = np.sqrt(max(float(np.linalg.norm(model.gravity)), 1e-3) * size)
    state.position += NUDGE * size * free * rng.normal(size=state.position.shape)
    speed = NUDGE * fall * free * rng.normal(size=state.velocity.shape)
    speed[:, model.dim :] /= size
    state.velocity += speed


def size_of(sim: ds.Simulation) -> float:
    """Radius of a usual body [m]."""
    radius = sim.model.geoms.radius
    radius = radius[np.isfinite(radius)]
    return float(np.median(radius)) if radius.size else 1.0


def followed(sim: ds.Simulation) -> tuple[tuple[str, ...], np.ndarray]:
    """Names and numbers of the bodies that are kept."""
    free = np.flatnonzero(sim.model.inverse_mass > 0)
    if free.size > ALL:
        free = free[np.linspace(0, free.size - 1, FEW).round().astype(int)]
    return tuple(sim.model.names[k] for k in free), free


def look(sim: ds.Simulation, step: int, chosen: np.ndarray, start: Any, reports: list) -> Look:
    """The simulation as it is now."""
    state, model, report, dim = sim.state, sim.model, sim.report, sim.model.dim
    free = model.inverse_mass > 0
    few = len(chosen) < int(free.sum())

    def rows(values: np.ndarray) -> np.ndarray:
        kept = values[chosen]
        return np.vstack([kept, values[free].mean(axis=0)]) if few else kept

    moved = np.abs(state.position - start.position)[free].max(initial=0.0)
    size = size_of(sim)
    weight = float(model.mass[free].sum() * max(np.linalg.norm(model.gravity), 1e-3))
    fall = np.sqrt(max(float(np.linalg.norm(model.gravity)), 1e-3) * size)
    fast = np.abs(state.velocity[free, :dim]).max(initial=fall)
    turning = np.abs(state.velocity[free, dim:]).max(initial=fall / size)
    pairs, pressing = touching(sim)
    ledger = [report.energy.kinetic, report.energy.potential]
    ledger += [sum(getattr(r.energy, name) for r in reports) for name in LEDGER]
    forces = {str(j["name"]): np.hstack([j["force"], j["torque"]]) for j in sim.joints}
    numbers = {
        "position": rows(state.position),
        "orientation": state.orientation[chosen],
        "velocity": rows(state.velocity[:, :dim]),
        "spin": rows(state.velocity[:, dim:]),
        "pressing": np.array([pressing]),
        "pairs": pairs,
        "joints": forces,
        "energy": np.array(ledger),
    }
    scale = {
        "position": max(size, moved), "orientation": 1.0, "velocity": fast, "spin": turning,
        "pressing": max(weight, pressing), "pairs": max(weight, largest(pairs)),
        "joints": max(weight, largest(forces)),
        "energy": max(float(np.abs(ledger).max()), weight * size),
    }  # fmt: skip
    facts = {
        "status": report.status.name,
        "unsolved": sum(not r.ok for r in reports),
        "halved": sum(r.retries > 0 for r in reports),
        "contacts": report.contacts,
        "islands": report.islands,
        "asleep": report.asleep,
        "collisions": sum(r.collisions for r in reports),
        "broken": [name for r in reports for name in r.broken],
        "events": counted(e.kind for r in reports for e in r.events),
        "open ledgers": sum(not r.energy.closes for r in reports),
    }
    costs = {
        "iterations": sum(r.iterations for r in reports),
        "evaluations": sum(r.evaluations for r in reports),
        "residual": max(r.residual for r in reports),
        "depth": max(r.penetration for r in reports),
        "joint_error": max(r.joint_error for r in reports),
    }
    facts = {
        name: value for name, value in facts.items() if value or name in ("status", "contacts")
    }
    costs = {name: value for name, value in costs.items() if value}
    numbers = {name: value for name, value in numbers.items() if len(value)}
    return Look(step, numbers, scale, facts, costs, hashed(sim))


def touching(sim: ds.Simulation) -> tuple[dict[str, np.ndarray], float]:
    """{pair of bodies: force on the first of them}, and the sum of all that presses; which point of
    a face carries how much is not asked, for a solver may choose it."""
    found: dict[str, np.ndarray] = {}
    pressing = 0.0
    for c in sim.contacts:
        names, force = [str(name) for name in c["bodies"]], np.array(c["force"])
        if names[0] > names[1]:
            names, force = names[::-1], -force
        pressing += float(np.abs(c["normal"] @ c["force"]))
        pair = "|".join(names)
        found[pair] = found.get(pair, 0.0) + force
    return {pair: found[pair] for pair in sorted(found)}, pressing


def largest(table: dict[str, np.ndarray]) -> float:
    return max((float(np.abs(row).max(initial=0.0)) for row in table.values()), default=0.0)


def counted(words: Any) -> dict[str, int]:
    out: dict[str, int] = {}
    for word in words:
        out[word] = out.get(word, 0) + 1
    return dict(sorted(out.items()))


def hashed(sim: ds.Simulation) -> str:
    """The bits of the state and of the forces."""
    s = sim.state
    text = s.position.tobytes() + s.orientation.tobytes() + s.velocity.tobytes()
    text += np.ascontiguousarray(sim.contacts["impulse"]).tobytes()
    return hashlib.sha256(text).hexdigest()[:12]


def apart(a: Any, b: Any, quantity: str) -> float:
    """Greatest difference of two values of a quantity, of what the first names; inf where they are
    not of one form."""
    if isinstance(a, dict):  # who does not touch has no force
        b = b if isinstance(b, dict) else {}
        nothing = {name: np.zeros(len(row)) for name, row in a.items()}
        return max((apart(a[n], b.get(n, nothing[n]), quantity) for n in a), default=0.0)
    a, b = np.asarray(a, float), np.asarray(b, float)
    if a.shape != b.shape:
        return np.inf
    if quantity == "orientation" and a.ndim == 2:  # q and -q are one orientation
        away = np.minimum(np.abs(a - b).max(axis=1), np.abs(a + b).max(axis=1))
        return float(away.max(initial=0.0))
    return float(np.abs(a - b).max(initial=0.0))


def trusted(case: Case) -> tuple[Run, list[dict[str, float]], list[set[str]]]:
    """The run of a case; for each look, the tolerance of each quantity (inf: it hangs on rounding,
    or on how well the step is solved), and the facts that do so. Looks from which on the run
    cannot be followed are left out."""
    run = measured(case)
    others = [measured(case, nudge=seed) for seed in NUDGES] + [measured(case, finer=True)]
    tolerances, loose = [], []
    for k, here in enumerate(run.looks):
        there = [other.looks[k] for other in others if len(other.looks) > k]
        spread = {
            name: max(
                (apart(here.numbers[name], o.numbers.get(name, np.zeros(0)), name) for o in there),
                default=0.0,
            )
            for name in here.numbers
        }
        if k and (not there or spread["position"] > LOST * here.scale["position"]):
            run.looks = run.looks[:k]
            break
        tolerances.append(
            {name: FLOOR[name] * here.scale[name] + FACTOR * spread[name] for name in here.numbers}
        )
        facts = [here.facts, *(other.facts for other in there)]
        named = {name for one in facts for name in one}
        loose.append({n for n in named if any(one.get(n) != here.facts.get(n) for one in facts)})
    return run, tolerances, loose
