"""``ds.EventDriven``: the options of the method, checked where they are given."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from drystone.errors import OptionError
from drystone.solvers.base import Solver
from drystone.steppers.base import Method
from drystone.steppers.event_driven.forces import ContactForces, ForceOptions
from drystone.steppers.event_driven.guards import USUAL, EventGuards
from drystone.steppers.event_driven.impulses import CollisionLaw
from drystone.values import check_options, check_positive

if TYPE_CHECKING:
    from drystone.model import Model
    from drystone.steppers.event_driven.stepper import EventStepper

Collisions = Literal["simultaneous", "propagation", "frictionless", "routh", "keller"]
ForcesWith = tuple[str | Solver, Annotated[dict[str, Any], ForceOptions]]
# options that were here before they had an object of their own, and their names in it
MOVED = {"max_events": "max_events", "storm_step": "cluster_step"}


@dataclass(frozen=True, kw_only=True)
class EventDriven(Method):
    """Forces and accelerations, integrated smoothly from event to event (Baraff 1992).

    dt: length of a frame [s]: what ``Simulation.step`` advances; steps inside it adapt.
    integrator: "dop853" (order 8), "rk45" (order 5), or "adams" (predictor and corrector of orders
        1 to 12), with relative and absolute tolerances rtol, atol.
    contact_forces: method: "dantzig", "lemke", "lp", "qp", "lotstedt", "ramp", "qp-signs",
        "jacobi", any solver, or a tuple of options (method, {"prefer": "force", ...}) as of
        ``steppers.event_driven.forces.ForceOptions``.
    collisions: "simultaneous" or "propagation" (of Newton's law), "frictionless", "routh" (exact,
        in the plane), "keller" (exact, in space), or a CollisionLaw.
    touch: bodies nearer than this touch; no accepted state is deeper [m].
    rest_speed: contacts that approach or part more slowly rest, if they press [m/s]: where the
        infinitely many impacts of a bouncing or rocking body end.
    slip_speed: contacts that slip more slowly stick, if friction holds them [m/s].
    turning_speed: in space, slip below it keeps its direction until it stops [m/s].
    guards: ds.EventGuards(...): when not every event is followed any more, so that each frame ends:
        greatest numbers of impulses, impacts and events, and what happens after them.
    overlap: bodies that start in each other, or are put there later: "refuse", or "allow": they are
        moved apart, without a change of velocity.
    max_depth: part of the smaller body's size (its radius): frames that end with bodies deeper in
        each other are counted and reported by ``Simulation.run``.
    max_events, storm_step: deprecated names of options of guards; max_impacts: deprecated, and
        without effect: impacts are events, and more than guards.max_events of them a cluster.
    """

    dt: float = 1.0 / 60.0
    integrator: Literal["dop853", "rk45", "adams"] = "dop853"
    rtol: float = 1e-8
    atol: float = 1e-10
    contact_forces: str | Solver | ForcesWith = "dantzig"
    collisions: Collisions | CollisionLaw = "simultaneous"
    touch: float = 1e-9
    rest_speed: float = 1e-6
    slip_speed: float = 1e-8
    turning_speed: float = 1e-6
    guards: EventGuards = USUAL
    overlap: Literal["refuse", "allow"] = "refuse"
    max_depth: float = 0.01
    max_impacts: int | None = None
    max_events: int | None = None
    storm_step: float | None = None

    name: ClassVar[str] = "event-driven"
    words: ClassVar[tuple[str, ...]] = ("contact_forces", "integrator", "collisions")
    partial_steps: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_options(self, "EventDriven", ".")
        check_positive(
            self, "EventDriven", "dt", "rtol", "atol", "touch", "rest_speed", "slip_speed",
            "turning_speed", "max_depth",
        )  # fmt: skip
        self._move_options()
        self.forces()
        _ = self.law

    def _move_options(self) -> None:
        """Take over options by their earlier names."""
        if self.max_impacts is not None:
            warnings.warn(
                "EventDriven(max_impacts=...) has no effect: guards=ds.EventGuards(max_events=...) "
                "bounds impacts too", DeprecationWarning, stacklevel=5,
            )  # fmt: skip
            object.__setattr__(self, "max_impacts", None)
        for old, new in MOVED.items():
            value = getattr(self, old)
            if value is not None:
                given = getattr(self.guards, new)
                if given not in (value, getattr(USUAL, new)):
                    raise OptionError(
                        f"EventDriven.{old} = {value!r}, but guards.{new} = {given!r}: "
                        "give the latter alone"
                    )
                use = f"guards=ds.EventGuards({new}={value!r})"
                warnings.warn(
                    f"EventDriven({old}=...): use {use}", DeprecationWarning, stacklevel=5
                )
                object.__setattr__(self, "guards", replace(self.guards, **{new: value}))
                object.__setattr__(self, old, None)

    def forces(self) -> ContactForces:
        """A new object that computes forces, with its own memory."""
        given: Any = self.contact_forces
        options: dict[str, Any] = {}
        if isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], dict):
            given, options = given
        if not isinstance(given, str | Solver):
            raise OptionError(
                f"EventDriven.contact_forces = {self.contact_forces!r}: expected a method's name, "
                "a solver, or a pair of one and its options"
            )
        known = [field.name for field in fields(ForceOptions)]
        for name in options:
            if name not in known:
                raise OptionError(
                    f"EventDriven.contact_forces: unknown option {name!r}: expected one of "
                    f"{', '.join(known)}"
                )
        return ContactForces(given, **options)

    @property
    def law(self) -> CollisionLaw:
        """The law of collisions."""
        if isinstance(self.collisions, CollisionLaw):
            return self.collisions
        if self.collisions == "simultaneous" or self.collisions == "propagation":
            return CollisionLaw(order=self.collisions)
        return CollisionLaw(law=self.collisions)

    def stepper(self, model: Model) -> EventStepper:
        from drystone.steppers.event_driven.stepper import EventStepper

        return EventStepper(self, model)
