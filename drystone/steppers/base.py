"""What every method of a simulation is, and gives back: options, a stepper, reports.

A method is a frozen dataclass of options (``Method``), which makes the object that steps a model
(``Stepper``); a step is reported by a ``StepReport``. ``registry`` knows methods by their names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from drystone.arguments import answering, warn_user
from drystone.constraints.canonical import ContactLaw
from drystone.constraints.joints.forces import stored_by_joints
from drystone.dynamics import bodies
from drystone.dynamics.energy import energy
from drystone.geometry.detector import Detector
from drystone.model import Contacts, Model, State
from drystone.steppers.snapshot import Parts
from drystone.steppers.tables import contact_table, joint_table
from drystone.types import Floats, Ints, Status
from drystone.values import check_options, check_positive

# of what a ledger's parts move, and of the energy that is there: what rounding may leave
UNEXPLAINED, ENERGY_ROUNDING = 1e-8, 1e-11


@answering
@dataclass(frozen=True, slots=True)
class EnergyLedger:
    """Where a step's energy came from and went [J].

    kinetic, potential: at the end of the step; change: of their sum over the step.
    loads: work of forces beyond what they store (dampers, callbacks; springs to order h^2).
    driving: work of bodies that move as prescribed.
    friction: r_t.u_t' with the velocities u' after the step, never positive.
    impact: what changes of velocity cost: r.(u - u') / 2 of the step's impulses, never positive
        where contacts alone act, and of order h^2 of either sign where other forces change u; and
        all that collisions with restitution changed (``StepReport.impact_energy``).
    constraint: work of the gap correction, r_n u_n', of either sign.
    integration: error of the free motion, of order h^2 a step, of order h where bodies bounce.
    unexplained: change minus all of these: rounding, or the step is not SOLVED.
    """

    kinetic: float
    potential: float
    change: float
    loads: float
    driving: float
    friction: float
    impact: float
    constraint: float
    integration: float

    @property
    def total(self) -> float:
        return self.kinetic + self.potential

    @property
    def closes(self) -> bool:
        """Whether the parts explain the change but for rounding: to 1e-8 of what they move, and
        1e-11 of the energy that is there."""
        return closes(
            self.kinetic, self.potential, self.change, self.loads, self.driving, self.friction,
            self.impact, self.constraint, self.integration,
        )  # fmt: skip

    @property
    def unexplained(self) -> float:
        parts = self.loads + self.driving + self.friction + self.impact
        return self.change - (parts + self.constraint + self.integration)


def closes(
    kinetic: float,
    potential: float,
    change: float,
    loads: float,
    driving: float,
    friction: float,
    impact: float,
    constraint: float,
    integration: float,
) -> bool:
    """``EnergyLedger.closes`` of the fields in their order."""
    unexplained = change - (loads + driving + friction + impact + constraint + integration)
    moved = abs(loads) + abs(driving) + abs(friction) + abs(impact) + abs(constraint)
    bound = UNEXPLAINED * (abs(change) + abs(integration) + moved)
    return bool(abs(unexplained) <= bound + ENERGY_ROUNDING * (kinetic + abs(potential)))


@answering
@dataclass(frozen=True, slots=True)
class Conditions:
    """The law of contact as the step left it; (10) to (13) of 1998 with their signs.

    least_impulse >= 0 [N s]; least_velocity >= 0 [m/s], of the normal with its gap term;
    complementarity = sum r_n u_n [J] = 0; cone = greatest |r_t| - mu r_n <= 0 [N s];
    power = sum r_t.u_t <= 0 [J]; dissipation = sum mu r_n |u_t| + r_t.u_t = 0 [J], as maximal
    dissipation asks.
    """

    least_impulse: float = 0.0
    least_velocity: float = 0.0
    complementarity: float = 0.0
    cone: float = 0.0
    power: float = 0.0
    dissipation: float = 0.0


@answering
@dataclass(frozen=True, slots=True)
class Impulse:
    """What one contact, joint or stop of a joint gave to a collision.

    name: of the contact, or of the joint; source: "contact", "joint" (what holds it together, and
    its motors), "limit" (its stops); bodies: the names of both, "world" for none.
    linear (dim,) [N s], angular (1 or 3,) [N m s]: on the first body, in world axes, at the contact
    point or the joint's anchor; the second body gets the opposite.
    """

    name: str
    source: str
    bodies: tuple[str, str]
    linear: tuple[float, ...]
    angular: tuple[float, ...]


@answering
@dataclass(frozen=True, slots=True)
class Event:
    """Something that ended a smooth phase of motion.

    time [s]; kind: "impact", "jam" (an impulse without collision), "limit" (a joint reaches a
    stop, with its impulse if they collide), "touch", "release", "slip", "stick", "turn" (of slip
    that kept its direction), "contacts" (their set changed), "curvature" and "border" (a contact
    point races over a flat spot, passes to another piece of a surface), "cluster" (many
    events in a short time: steps with impulses follow).
    names: of the contacts and of the joints whose stops take part; in a collision all that took an
    impulse. energy: T+ - T- [J]. impulses: of a collision, by contacts, joints and stops.
    """

    time: float
    kind: str
    names: tuple[str, ...] = ()
    energy: float = 0.0
    impulses: tuple[Impulse, ...] = ()


FORMER_NAMES = {"infeasibility": "penetration"}  # of quantities that a report holds


def current_name(name: Any) -> Any:
    """The name of a quantity of a report; a former one is translated, with a warning."""
    if not (isinstance(name, str) and name in FORMER_NAMES):
        return name
    now = FORMER_NAMES[name]
    warn_user(f"'{name}' is now called '{now}'", DeprecationWarning)
    return now


@answering
@dataclass(frozen=True, slots=True)
class StepReport:
    """What a step did.

    time: at its end [s]; dt [s]; status, residual, residual_unit: the worst island's;
    iterations: of all islands together; methods: that ran, in order.
    contacts: points in the solve; islands: of them.
    penetration: greatest max(0, -gap) at the start of the step [m]; of event-driven and penalty
    steps at their end.
    collisions: contacts that met with restitution; by events, contacts and stops of joints that
    took an impulse in collisions (``events`` names them); impact_energy: what the impact law
    changed, T+ - T- [J], but for the work of prescribed bodies.
    retries: times the step was halved; asleep: bodies that slept;
    joint_error: greatest opening of a joint after the step [m or rad]; broken: joints that broke;
    jammed: joints whose motors stall, and bodies whose motion meets what does not give way, where
    no force gives them their speed (Status.JAMMED; `log` has a sentence on each);
    redundant: rows of joints beyond their rank (``Simulation.mobility`` names the joints).
    relative_depth: greatest depth as part of the size (radius about its centre) of the smaller of
    both bodies; deepest: their numbers in ``Simulation.bodies``, -1 for none; unsolved_body: one of
    the island that was not solved. Recordings have these three in their summary, not of each frame.
    evaluations: of all forces, by methods that integrate them (their `iterations` are its steps).
    events: of methods that find them, in order of time; log: sentences on choices among several
    solutions, energy gained, impacts that were ended, jams; reuse: share of the force problems that
    the index set at hand answered (Baraff 1992, 13.3).
    seconds: per stage (see ``Simulation.profile``).
    island_residuals, island_sizes: of each island in turn.
    """

    time: float
    dt: float
    status: Status
    residual: float
    residual_unit: float
    iterations: int
    methods: tuple[str, ...]
    contacts: int
    islands: int
    penetration: float
    energy: EnergyLedger
    conditions: Conditions
    collisions: int = 0
    impact_energy: float = 0.0
    retries: int = 0
    asleep: int = 0
    outer: int = 1
    joint_error: float = 0.0
    broken: tuple[str, ...] = ()
    jammed: tuple[str, ...] = ()
    redundant: int = 0
    relative_depth: float = 0.0
    deepest: tuple[int, int] = (-1, -1)
    unsolved_body: int = -1
    evaluations: int = 0
    events: tuple[Event, ...] = ()
    log: tuple[str, ...] = ()
    reuse: float = 1.0
    seconds: dict[str, float] = field(default_factory=dict)
    island_residuals: Floats | None = None
    island_sizes: Ints | None = None

    @property
    def ok(self) -> bool:
        return self.status.ok

    @property
    def infeasibility(self) -> float:
        """Former name of ``penetration``."""
        return float(getattr(self, current_name("infeasibility")))

    @property
    def outcome(self) -> tuple[float, bool, int, float, float, float, tuple[Event, ...]]:
        """What totals ask of every step: time, whether it was solved, retries, residual,
        penetration, relative_depth, events."""
        solved = self.status is Status.SOLVED
        return (
            self.time, solved, self.retries, self.residual, self.penetration,
            self.relative_depth, self.events,
        )  # fmt: skip

    def ended(self, time: float) -> StepReport:
        """The same of a step that ended at `time` [s]."""
        return self if time == self.time else replace(self, time=time)

    def __str__(self) -> str:
        """What a person asks first; ``repr`` has everything."""
        parts = [
            f"t = {self.time:.6g} s: {self.status.name.lower()}, residual {self.residual:.1e}",
            f"{_of(self.contacts, 'contact')} in {_of(self.islands, 'island')}",
            f"penetration {self.penetration:.1e} m",
            f"energy {self.energy.total:.6g} J, unexplained {self.energy.unexplained:.0e} J",
        ]
        parts += [f"joints open by {self.joint_error:.1e}"] if self.joint_error else []
        parts += [f"{self.asleep} asleep"] if self.asleep else []
        parts += [f"halved {self.retries} times"] if self.retries else []
        parts += [f"broke {', '.join(self.broken)}"] if self.broken else []
        parts += [f"jammed {', '.join(self.jammed)}"] if self.jammed else []
        return "; ".join(parts)


class Stepper:
    """Steps a model: what ``Method.stepper`` makes. Those of users derive from it and have at least
    ``step``.

    model: as it is stepped, without joints that broke; detector: of its contacts; turns (nq,):
    coordinates of joints lately, from which their angles are counted, or None. profile: whether the
    time of every stage is reported.
    in_one: whether many steps may be made in one compiled loop, ``run(state, h, start, done, steps,
    every, out)``: `steps` steps of length h, of which out gets a frame of every `every`-th;
    method_names: of solvers, by their bits in its reports.
    """

    model: Model
    detector: Detector
    profile = True
    method_names: Sequence[str] = ()

    def __init__(self, model: Model) -> None:
        self.adopt(model)

    def adopt(self, model: Model) -> None:
        """Continue with an edited model: what is cached stays with its bodies."""
        self.model = model
        self.look_for_contacts(model)

    @property
    def turns(self) -> Floats | None:
        return None

    @property
    def in_one(self) -> bool:
        return False

    def look_for_contacts(self, model: Model) -> None:
        """Make the detector of a model, or adapt the one at hand."""
        args = (model.geoms, model.inverse_mass > 0, model.layer, model.rules.ignored)
        known: Detector | None = getattr(self, "detector", None)
        if known is None:
            self.detector = Detector(*args, names=model.names)
        else:
            known.remap(*args, names=model.names)

    def contacts(self, state: State) -> Contacts:
        """Points at which bodies touch or are in each other."""
        x, R = bodies.geom_poses(self.model, state)
        return self.detector.contacts(x, R, np.zeros(len(self.model.geoms)))

    def step(self, state: State, h: float) -> tuple[State, StepReport]:
        """The state after h [s], and what happened. The given one is left untouched, so that a step
        that fails can be tried again."""
        raise NotImplementedError

    def check_start(self, state: State) -> None:
        """An error where no run can start."""
        bodies.check_finite(self.model, state)

    def overlaps(self, state: State) -> Contacts | None:
        """All contacts in a state, or None if bodies may overlap; changes no later step."""
        return None

    def penetration(self, state: State) -> float:
        """Greatest depth of any contact in a state [m]; changes no later step."""
        found = self.overlaps(state)
        return depth(self.contacts(state) if found is None else found)

    def stored(self, state: State) -> float:
        """Energy in the springs of joints [J]."""
        return stored_by_joints(self.model.joints, state, self.turns)

    def wake(self) -> None:
        """What sleeps is to move again."""

    def contact_table(self) -> np.ndarray:
        """Contacts of the last step; see ``Simulation.contacts``."""
        return contact_table(self.model.names, self.model.dim, 0)

    def joint_table(self) -> np.ndarray:
        """Joints of the last step; see ``Simulation.joints``."""
        return joint_table(self.model.names, None, None)

    def problem(self) -> Any:
        """The friction problem of the last step, or None."""
        return None

    def snapshot(self) -> Parts:
        """All that the next step depends on beside the state, as arrays, so that a run resumes bit
        for bit, here after other steps or in another process."""
        return {"detector": self.detector.state()}

    def restore(self, known: Parts, model: Model) -> None:
        """Take over what ``snapshot`` gave, whatever steps were made since; model: with all its
        joints, also those that broke."""
        self.detector.restore(known["detector"])

    def energies(self, state: State) -> tuple[float, float, float]:
        """Kinetic energy, that of gravity, and that of springs [J]."""
        kinetic, height, forces = energy(self.model, state)
        return kinetic, height, forces + self.stored(state)

    def report(
        self,
        before: tuple[float, float, float],
        after: State,
        h: float,
        work: Mapping[str, float] | None = None,
        **facts: Any,
    ) -> StepReport:
        """What a step did. before: ``energies`` at its start; work: fields of ``EnergyLedger`` [J],
        loads without what springs took; what they leave of the change is ``integration``, unless it
        is among them; facts: fields of ``StepReport``."""
        kinetic, height, springs = self.energies(after)
        change = kinetic + height + springs - sum(before)
        parts = dict.fromkeys(("loads", "driving", "friction", "impact", "constraint"), 0.0)
        parts |= work or {}
        parts["loads"] += springs - before[2]
        parts.setdefault("integration", change - sum(parts.values()))
        ledger = EnergyLedger(
            kinetic=kinetic, potential=height + springs, change=change, **parts
        )  # fmt: skip
        usual: dict[str, Any] = {
            "status": Status.SOLVED, "residual": 0.0, "residual_unit": 0.0, "iterations": 0,
            "methods": (), "contacts": 0, "islands": 0, "penetration": 0.0,
            "conditions": Conditions(),
        }  # fmt: skip
        return StepReport(time=after.time, dt=h, energy=ledger, **usual | facts)


@dataclass(frozen=True)
class Method:
    """A method of simulation, chosen once: frozen options, among them the step `dt` [s].

    name: in scene files, recordings, commands and messages.
    words: options whose choices may stand alone in a text: "time-stepping:convex".
    partial_steps: whether a run may end with a shorter step.
    max_depth: part of the smaller body's size: steps with bodies deeper in each other are counted.
    contact_law: what forces of contacts obey, where canonical ones are read; else None.
    """

    dt: float = 1.0 / 240.0

    name: ClassVar[str] = ""
    words: ClassVar[tuple[str, ...]] = ()
    partial_steps: ClassVar[bool] = False
    max_depth = np.inf

    def __post_init__(self) -> None:
        check_options(self, type(self).__name__, ".")
        check_positive(self, type(self).__name__, "dt")

    @property
    def contact_law(self) -> ContactLaw | None:
        return None

    def stepper(self, model: Model) -> Stepper:
        """The object that steps a model by these options."""
        raise NotImplementedError


def depth(found: Contacts) -> float:
    """The greatest of any contact [m]."""
    return float(np.maximum(-found.gap, 0.0).max(initial=0.0))


def _of(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
