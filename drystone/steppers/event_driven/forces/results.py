"""Results of a computation of contact forces: of islands, of all of them together, what it leaves
for the next one, and counts."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from drystone.problems import FrictionProblem
from drystone.steppers.event_driven.forces.index_set import CONE_EDGE, IndexSet
from drystone.steppers.event_driven.forces.state import ContactState, Kind, States
from drystone.steppers.event_driven.forces.system import System
from drystone.steppers.snapshot import Snapshot, part_of, within
from drystone.types import Floats, Solution, Status

Key = tuple[Any, ...]
ORDER = (Status.SOLVED, Status.APPROXIMATE, Status.RAY)  # what a caller acts on last comes first


@dataclass(slots=True)
class Statistics:
    """Counts over a run. An island is one solve; `hit_rate` is that of index sets.

    steps: force problems of accepted steps and of the beginnings of phases.
    lp: how often the heuristic ended in each of its steps (a) to (d), or in the basis of the
    step before ("basis").
    """

    steps: int = 0
    evaluations: int = 0
    solves: int = 0
    tried: int = 0
    reused: int = 0
    iterations: int = 0
    several: int = 0
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

    key: Key
    system: System
    solution: Solution
    states: States
    reused: bool
    index_set: IndexSet | None


@dataclass(frozen=True, slots=True)
class Forces:
    """Contact forces of an instant and the accelerations they give.

    f (nc, d) [N]; joint (nj,); acceleration (nb, dof) of the bodies; contact_acceleration
    (nc, d); states (nc,): of Kind.
    ray (nc, d), joint_ray (nj,): with status RAY, direction of an impulse, else None.
    residual: of the worst island.
    log: sentences on choices among several solutions (Baraff 1992, 12.4), fallbacks, energy put in.
    """

    f: Floats
    joint: Floats
    acceleration: Floats
    contact_acceleration: Floats
    states: States
    status: Status
    residual: float
    ray: Floats | None
    joint_ray: Floats | None
    log: tuple[str, ...]
    islands: tuple[Island, ...]

    @property
    def ok(self) -> bool:
        """Forces that can be used: the law or the method's own approximation of it is met."""
        return self.status in (Status.SOLVED, Status.APPROXIMATE)

    @property
    def onset(self) -> Floats:
        """(nc, d - 1) unit directions in which contacts at rest begin to slide, else zeros.

        What an integrator hands on as slip when it continues with the dynamic coefficient.
        """
        pull = self.contact_acceleration[:, 1:]
        size = np.linalg.norm(pull, axis=1, keepdims=True)
        gives = (np.array(self.states, np.int64) == Kind.YIELDING)[:, None] & (size > 0)
        return np.divide(pull, size, out=np.zeros_like(pull), where=gives)


def contact_states(problem: FrictionProblem, solution: Solution) -> States:
    """State of each contact: open, stick, onset (at rest, but friction gives way) or slide."""
    d, nc = problem.d, problem.nc
    f = solution.value[: d * nc].reshape(nc, d)
    a = solution.dual[: d * nc].reshape(nc, d)
    top = float(np.abs(f).max(initial=0.0))
    size = max(float(np.abs(a).max(initial=0.0)), float(np.abs(problem.q).max(initial=0.0)))
    friction, pull = np.linalg.norm(f[:, 1:], axis=1), np.linalg.norm(a[:, 1:], axis=1)
    held = f[:, 0] > 1e-12 * top
    gives = (friction >= problem.mu * f[:, 0] * (1.0 - CONE_EDGE)) & (pull > 1e-9 * size)
    out = np.where(held, np.where(gives, Kind.YIELDING, Kind.STICKING), Kind.OPEN)
    out[held & problem.sliding] = Kind.SLIDING
    return tuple(out.tolist())


def assembled(state: ContactState, parts: tuple[Island, ...], log: list[str]) -> Forces:
    """Forces of all islands together."""
    f, joint = np.zeros((state.nc, state.d)), np.zeros(state.nj)
    ray, joint_ray = np.zeros_like(f), np.zeros_like(joint)
    acceleration = state.acceleration.copy()
    states = [int(Kind.SEPARATING)] * state.nc
    status, residual, has_ray = Status.SOLVED, 0.0, False
    for part in parts:
        system, solution = part.system, part.solution
        scatter(system, solution.value, f, joint)
        system.add_motion(solution.value, acceleration)
        residual = max(residual, solution.residual)
        status = worse(status, solution.status)
        if solution.status is Status.RAY and solution.ray is not None and not has_ray:
            has_ray = True  # one impulse at a time: the next evaluation finds the others
            scatter(system, solution.ray, ray, joint_ray)
        for i, word in zip(system.contacts, part.states, strict=True):
            states[int(i)] = word
    return Forces(
        f,
        joint,
        acceleration,
        contact_motion(state, acceleration) + state.bias + state.soft * f,
        tuple(states),
        status,
        residual,
        ray if has_ray else None,
        joint_ray if has_ray else None,
        tuple(log),
        parts,
    )


def scatter(system: System, r: Floats, f: Floats, joint: Floats) -> None:
    """Add forces on a system's rows to those of all contacts (nc, d) and joint rows (nj,)."""
    rows = system.contacts.size * system.state.d
    f[system.contacts] += r[:rows].reshape(-1, system.state.d)
    joint[system.joints] += r[rows:]


def worse(one: Status, two: Status) -> Status:
    """The status that a caller has to act on: failure before ray before approximation."""
    rank = {status: k for k, status in enumerate(ORDER)}
    return one if rank.get(one, len(ORDER)) >= rank.get(two, len(ORDER)) else two


def contact_motion(state: ContactState, v: Floats) -> Floats:
    """(nc, d) J v of all contacts for v (nb, dof)."""
    padded = np.vstack([v, np.zeros(state.dof)])  # body -1 is the last row
    return np.asarray(np.einsum("cdsk,csk->cd", state.J, padded[state.body]))


@dataclass(frozen=True, slots=True)
class IslandCache:
    """States of an island's contacts, its solution without the story of how it was found, and L
    where the stated law was met."""

    states: States
    solution: Solution
    index_set: IndexSet | None

    @classmethod
    def of(cls, part: Island) -> IslandCache:
        """What a computation leaves for the next one."""
        s = part.solution
        solution = Solution(
            s.value, s.status, s.residual, s.residual_unit, 0, 0.0, s.solver, s.methods, s.dual,
            basis=s.basis,
        )  # fmt: skip
        return cls(part.states, solution, part.index_set)


def snapshot_of(known: dict[Key, IslandCache]) -> Snapshot:
    """Islands by their number, in order."""
    out: Snapshot = {"count": len(known)}
    for k, (key, item) in enumerate(known.items()):
        names, moving, joints = key
        s = item.solution
        own: Snapshot = {
            "names": np.array(names, np.str_), "moving": np.array(moving, np.bool_),
            "joints": np.array(joints, np.int64), "states": np.array(item.states, np.int64),
            "value": s.value, "dual": s.dual, "status": s.status.name, "residual": s.residual,
            "residual_unit": s.residual_unit, "solver": s.solver,
            "methods": np.array(s.methods, np.str_),
        }  # fmt: skip
        own |= within("basis", s.basis) if isinstance(s.basis, dict) else {"basis": s.basis}
        if item.index_set is not None:
            own |= within("set", asdict(item.index_set))
        out |= within(str(k), own)
    return out


FORMER = {
    "separates": Kind.SEPARATING, "stick": Kind.STICKING, "slide": Kind.SLIDING,
    "open": Kind.OPEN, "onset": Kind.YIELDING,
}  # words for states  # fmt: skip


def known_from(snapshot: Snapshot) -> dict[Key, IslandCache]:
    """What ``snapshot_of`` was given."""
    out: dict[Key, IslandCache] = {}
    for k in range(int(snapshot["count"])):
        own = part_of(snapshot, str(k))
        if "words" in own:  # of checkpoints before 0.2
            own["states"] = np.array([FORMER[word] for word in own["words"].tolist()], np.int64)
        names, moving, joints, states, methods = (
            tuple(own[name].tolist()) for name in ("names", "moving", "joints", "states", "methods")
        )
        L = part_of(own, "set")
        solution = Solution(
            own["value"], Status[own["status"]], float(own["residual"]),
            float(own["residual_unit"]), 0, 0.0, own["solver"], methods, own["dual"],
            basis=part_of(own, "basis") or own.get("basis"),
        )  # fmt: skip
        out[names, moving, joints] = IslandCache(states, solution, IndexSet(**L) if L else None)
    return out
