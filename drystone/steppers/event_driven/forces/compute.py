"""Contact forces at the level of accelerations: every method by name, index sets reused.

The forces of one instant solve a = W f + q with the laws of contact (Baraff 1992, chapters 8, 9,
14). With an index set L of an earlier instant they are one linear solve, and continuous in time as
long as L holds (13.3); when it does not, the method itself runs and may choose another solution.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from time import perf_counter
from typing import Any, Literal

import numpy as np

from drystone.problems import FrictionProblem
from drystone.solvers.base import Solver
from drystone.solvers.ramp import Ramp
from drystone.steppers.event_driven.forces import methods
from drystone.steppers.event_driven.forces.choices import Explanation, explain
from drystone.steppers.event_driven.forces.index_set import RepairedSet, index_set, onto_circle
from drystone.steppers.event_driven.forces.rest import at_rest, rests
from drystone.steppers.event_driven.forces.results import (
    Forces,
    Island,
    IslandCache,
    Key,
    Statistics,
    assembled,
    contact_states,
    known_from,
    snapshot_of,
)
from drystone.steppers.event_driven.forces.sharing import GUESS, held_together
from drystone.steppers.event_driven.forces.state import ContactState, Kind
from drystone.steppers.event_driven.forces.system import System, islands
from drystone.steppers.snapshot import Snapshot, part_of, within
from drystone.types import Floats, Solution, Status
from drystone.values import check_options, check_positive

Listener = Callable[[Any], None]
DONE = (Status.SOLVED, Status.APPROXIMATE)
FALLBACK = ("dantzig", "lemke")
CIRCLE = "round cone"  # name of the method that continues from a polyhedral one


@dataclass(frozen=True, kw_only=True)
class ForceOptions:
    """How ``ContactForces`` uses a method.

    tol: residual that a named method has to reach [1].
    ramp_speed: below it friction is scaled down by "ramp" [m/s].
    directions: of the polyhedral cone that stands for the circular one where "lemke" or
        "enumerative" meet static friction in space.
    round_cone: in space, continue from forces of the polyhedral cone to those of the circular one
        by their index set, repaired by a few pivots; where these find none, the former stay.
    explain: when to search for other solutions of small islands: where friction can pull a contact
        together ("suspicious"), "always" or "never".
    prefer: "method" takes what the method finds, forces or an impulse, which are equally valid
        (12.4); "force" prefers forces where enumeration finds some.
    reuse: try the committed index sets first; without it every evaluation runs the method.
    fallback: methods to try, in order, when the chosen one ends without an answer.
    """

    tol: float = 1e-9
    ramp_speed: float = 1e-3
    directions: int = 8
    round_cone: bool = False
    explain: Literal["suspicious", "never", "always"] = "suspicious"
    prefer: Literal["method", "force"] = "method"
    reuse: bool = True
    fallback: tuple[str, ...] = FALLBACK

    def __post_init__(self) -> None:
        check_options(self, "contact_forces")
        check_positive(self, "contact_forces", "tol", "ramp_speed", "directions")


class ContactForces:
    """Computes forces, instant by instant.

    method: "dantzig", "lemke", "lp", "qp" (ds.QP(form=2) for the other form), "lotstedt",
        "ramp", "qp-signs", "jacobi", or any solver of friction problems, by name or object.
    options: of ``ForceOptions``.

    ``listener``, None at first, is called at every accepted step of a run with what it tells
    (``force_log.LoggedForces``): the instant, the forces and accelerations it continues with.
    """

    def __init__(self, method: str | Solver = "dantzig", **options: Any) -> None:
        self.options = chosen = ForceOptions(**options)
        self.solver = methods.named(method, chosen.tol)
        fallback = [methods.named(name, chosen.tol) for name in chosen.fallback if name != method]
        self.fallback = tuple(fallback)
        self.statistics = Statistics()
        self.listener: Listener | None = None
        self._memory: dict[Key, IslandCache] = {}

    def solve(self, state: ContactState) -> Forces:
        """Forces of an instant; the index sets at hand stay as they are until ``commit``."""
        methods.check_supported(self.solver, state)
        self.statistics.evaluations += 1
        active = state.kind != Kind.SEPARATING
        log: list[str] = []
        parts = tuple(
            self._rest_first(self._island(system, log), log) for system in islands(state, active)
        )
        return assembled(state, parts, log)

    def _rest_first(self, part: Island, log: list[str]) -> Island:
        """The island at rest, where that is a solution beside the one that was found."""
        if part.reused or rests(part) or self.solver.name == "ramp":  # under which nothing sticks
            return part
        held = at_rest(part)
        if held is None:
            return part
        self.statistics.several += 1
        names = ", ".join(str(part.system.state.key[int(i)]) for i in part.system.contacts)
        log.append(f"contacts {names}: several solutions; rest was taken")
        return held

    def commit(self, forces: Forces) -> None:
        """Take over the index sets of these forces: what the next instants try first."""
        self._memory = {part.key: IslandCache.of(part) for part in forces.islands}

    def recalled(self, state: ContactState) -> Forces:
        """Forces by what was committed at an instant with the same contacts, nothing solved."""
        place = {name: i for i, name in enumerate(state.key)}
        parts = []
        for key, known in self._memory.items():
            contacts = np.array([place[name] for name in key[0]], np.int64)
            system = System(state, contacts, np.array(key[2], np.int64))
            parts.append(Island(key, system, known.solution, known.states, True, known.index_set))
        return assembled(state, tuple(parts), [])

    def go_on(self, islands: int) -> None:
        """Count islands whose index sets answer for another frame."""
        count = self.statistics
        count.tried += islands
        count.reused += islands

    def forget(self) -> None:
        """Drop all index sets, as after an impulse: continuity ends there anyway."""
        self._memory = {}

    def snapshot(self) -> Snapshot:
        """Index sets at hand, and counts."""
        counts = within("statistics", asdict(self.statistics))
        return counts | within("memory", snapshot_of(self._memory))

    def restore(self, known: Snapshot) -> None:
        """Take over what ``snapshot`` gave."""
        counts, names = part_of(known, "statistics"), [f.name for f in fields(Statistics)]
        self.statistics = Statistics(**{name: counts[name] for name in names})
        self._memory = known_from(part_of(known, "memory"))

    def _island(self, system: System, log: list[str]) -> Island:
        count = self.statistics
        moving = methods.sliding(system)
        names = tuple(system.state.key[int(i)] for i in system.contacts)
        key = (names, tuple(moving.tolist()), tuple(system.joints.tolist()))
        known = self._memory.get(key)
        count.solves += 1
        again = self._again(system, key, known)
        if again is not None:
            return again
        together = self._together(system, key)
        if together is not None:
            return together
        problem = self._stated(self.solver, system)
        solution = self._solve(problem, system, known, log)
        count.iterations += solution.iterations
        self._tally(solution, log)
        if self._wants_explanation(problem, solution):
            solution = self._explained(problem, system, solution, log)
        if self.options.round_cone and solution.ok and problem.k and problem.d == 3:
            circle = onto_circle(system, solution.value)
            if circle is not None:
                return self._circular(key, system, solution, circle)
        states = contact_states(problem, solution)
        if solution.solver == "ramp":  # nothing sticks: what creeps is not to be stopped
            states = tuple(Kind.OPEN if word == Kind.OPEN else Kind.SLIDING for word in states)
        L = None
        if solution.ok and self.solver.name not in methods.APPROXIMATE:
            L = index_set(system, solution.value, states)
        return Island(key, system, solution, states, False, L)

    def _circular(self, key: Key, system: System, solution: Solution, found: RepairedSet) -> Island:
        """The island with forces of the circular cone in place of the polyhedral one's."""
        solution = replace(
            solution,
            value=found.value,
            dual=found.dual,
            residual=found.violation,
            residual_unit=found.violation,
            methods=(*solution.methods, CIRCLE),
        )
        return Island(key, system, solution, found.states, False, found.index_set)

    def _again(self, system: System, key: Key, known: IslandCache | None) -> Island | None:
        """The forces by the committed index set, or None where it does not hold."""
        if known is None or known.index_set is None or not self.options.reuse:
            return None
        self.statistics.tried += 1
        slip, mu = methods.acting(system)
        begin = perf_counter()
        found = known.index_set.forces(system, mu, slip)
        if found is None:
            return None
        self.statistics.reused += 1
        r, a, violation = found
        if self.solver.name == "lp":
            self.statistics.lp["basis"] += 1
        solution = replace(
            known.solution,
            value=r,
            dual=a,
            residual=violation,
            residual_unit=violation,
            iterations=0,
            seconds=perf_counter() - begin,
        )
        return Island(key, system, solution, known.states, True, known.index_set)

    def _together(self, system: System, key: Key) -> Island | None:
        """In space: forces that all contacts share, where such obey the laws."""
        if self.solver.name != "dantzig" or self.options.explain == "always" or system.state.d == 2:
            return None
        begin = perf_counter()
        found = held_together(system)
        if found is None:
            return None
        states, L, r, a, violation = found
        seconds = perf_counter() - begin
        solution = Solution(
            r, Status.SOLVED, violation, violation, 0, seconds, "dantzig", (GUESS,), a
        )
        return Island(key, system, solution, states, False, L)

    def _stated(self, solver: Solver, system: System) -> FrictionProblem:
        if isinstance(solver, Ramp):
            return methods.ramped_problem(system)
        polyhedral = solver.name in methods.POLYHEDRAL
        if polyhedral and system.state.d == 3:
            rough = ~methods.sliding(system) & (system.state.mu[system.contacts, 0] > 0)
            polyhedral = bool(rough.any())
        return methods.friction_problem(system, self.options.directions if polyhedral else 0)

    def _solve(
        self, problem: FrictionProblem, system: System, known: IslandCache | None, log: list[str]
    ) -> Solution:
        """By the chosen method, else by the first fallback that arrives."""
        guess = self._committed(system) if known is None else known.solution
        solver = methods.prepared(self.solver, system, self.options.ramp_speed)
        refused = solver.refuses(problem)
        first: Solution | None = None
        if refused is None:
            first = solver.solve(problem, guess)
            if first.status in (*DONE, Status.RAY):
                return first
        reason = first.status.value if first is not None else refused
        for other in self.fallback:
            stated = self._stated(other, system)
            if other.refuses(stated) is not None:
                continue
            solution = other.solve(stated)
            if solution.status in (*DONE, Status.RAY):
                log.append(f"{solver.name} gave no forces ({reason}); {other.name} answered")
                return solution
        log.append(f"no method gave forces for {system.contacts.size} contacts: {reason}")
        if first is None:  # no other method either: let the chosen one raise its own reason
            first = solver.solve(problem, guess)
        return first

    def _committed(self, system: System) -> Floats | None:
        """Lotstedt's bounds in an island that was not committed as it is: by the forces of its
        contacts, wherever they were. Started at zero, evaluation by evaluation, they would jump."""
        if self.solver.name != "lotstedt" or not self._memory:
            return None
        d, r = system.state.d, np.zeros(system.m)
        was = {
            name: known.solution.value[d * i : d * i + d]
            for key, known in self._memory.items()
            for i, name in enumerate(key[0])
        }
        for i, contact in enumerate(system.contacts.tolist()):
            r[d * i : d * i + d] = was.get(system.state.key[contact], 0.0)
        return r

    def _tally(self, solution: Solution, log: list[str]) -> None:
        step = solution.info.get("step")
        count = self.statistics
        if step in count.lp:
            count.lp[step] += 1
        if step == "d":
            energy = float(solution.info["energy"])
            log.append(f"lp: no guess of breaking contacts holds; its forces add {energy:.4g} W")

    def _wants_explanation(self, problem: FrictionProblem, solution: Solution) -> bool:
        if self.options.explain == "never":
            return False
        if self.options.explain == "always" or solution.status is Status.RAY:
            return True
        if self.solver.name in methods.APPROXIMATE:
            return False  # without an index set it would be every evaluation
        return bool(methods.suspicious(problem).any())

    def _explained(
        self, problem: FrictionProblem, system: System, solution: Solution, log: list[str]
    ) -> Solution:
        """Log which of several solutions this is; exchange it where forces are preferred."""
        found: Explanation | None = explain(problem, system, solution)
        if found is None:
            return solution
        self.statistics.several += found.several
        log.extend(found.log)
        if self.options.prefer == "force" and solution.status is Status.RAY and found.forces:
            log.append("took the first of the forces: prefer='force'")
            return found.forces[0]
        return solution
