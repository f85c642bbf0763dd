"""``ds.TimeStepping``: the options of the scheme, checked where they are given."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal

from drystone.constraints.canonical import ContactLaw
from drystone.errors import DrystoneError, OptionError
from drystone.problems.cones import Cone, PolyhedralCone, SoftFingerCone, as_cone
from drystone.solvers.base import Solver
from drystone.solvers.registry import by_name
from drystone.steppers.base import Method
from drystone.steppers.time_stepping.policy import USUAL, IslandPolicy
from drystone.values import check_options, check_positive

if TYPE_CHECKING:
    from drystone.model import Model
    from drystone.steppers.time_stepping.stepper import TimeStepper

NO_TIME_LIMIT = 1e9  # [s]
JOINT_HALVINGS, DEEPEST = 6, 12  # of steps of joints that are closed exactly; and the most
LARGEST_SLOP = 0.1  # of a body's size: no gap of rounding
MOST_RETRIES = 50  # halvings of a step: beyond, its length is rounding of its time


@dataclass(frozen=True)
class Sleeping:
    """Islands whose bodies were all slower than this for that long stop moving until touched.

    speed [m/s] of any surface point; duration [s].
    """

    speed: float = 1e-3
    duration: float = 0.5

    def __post_init__(self) -> None:
        check_options(self, "Sleeping", ".")
        check_positive(self, "Sleeping", "speed", "duration")


@dataclass(frozen=True)
class TimeStepping(Method):
    """Complementarity time stepping: one friction problem a step.

    The schemes of Anitescu, Potra and Stewart 1998 and of Hart and Anitescu 2003.

    dt: step [s].
    cone: "circular", an even number of directions (a polyhedral cone, solved as an LCP),
        ds.EllipticCone(...), ds.SoftFingerCone(...).
    formulation: "coulomb", or "convex": the relaxation of 2003, a convex problem at every step.
    stabilize: gap / h in the contact rows, (2.9) of 2003; False leaves the velocity scheme (7) of
        1998.
    slop: gaps and depths below this part of the smaller body's size count as touching: faces on
        faces are hyperstatic, and rounding in their gaps must not decide which corner carries.
    restitution: "none"; "newton": v+ = -eps v-; "poisson": compression and decompression
        by (27), (28) of 1998;
        "poisson-shortcut": one solve, v+ = (1 + eps) v^c - eps v-.
    active_gap: contacts nearer than this are in the problem [m]; None: nearer than what the
        bodies of an island can travel in a step; "predicted": gap + h n.v <= 0 (1998).
    solver: "auto" or any friction solver's name or options; tol: its residual, for each island;
        sweep_tol: the residual at which "auto" may leave a large island that moves.
    policy: ds.IslandPolicy(...): which methods "auto" tries on an island, and until when.
    on_failure: of a solve: "report" goes on and says so, "raise" stops with the problem attached,
        "retry" halves the step, up to `retries` times over.
    mass: M at the "start" of the step, or at its "end" by outer iteration.
    rotation: "flow": bodies turn by the torque-free rotation, which keeps energy and angular
        momentum; "explicit": gyroscopic torque as a force, exponential of h omega.
    order: of the smooth motion (gravity, springs, joints, spin) in dt: 1: one kick a step, whose
        velocities lie half a step behind the positions; 2: half a kick before and half after the
        drift, velocities at the time of the positions; a step costs two solves.
    joints: "exact": C(q') = 0 at the end of each step, by a few solves with corrected rows;
        "stabilize": its linearisation C / h + J v' = 0 (2.8); "project": J v' = 0, and bodies
        are moved back after the step (1998, 2.5); "velocity": J v' = 0 alone, which drifts.
    halvings: times over that a step is halved whose joints it leaves open, or that do more work in
        it than 0.001 of the kinetic energy; None: 6 with joints="exact", and none of the others:
        who names a scheme gets it. ``report.retries`` counts them. 0: never.
    warm_start: start from the last step's impulses. sleeping: ds.Sleeping(...) or None.
    overlap: bodies that start in each other, or are put there later: "refuse", or "allow": they are
        moved apart, without a change of velocity.
    max_depth: part of the smaller body's size (its radius): steps that begin with bodies deeper in
        each other are counted and reported by ``Simulation.run``.
    """

    dt: float = 1.0 / 240.0
    cone: Literal["circular"] | int | Cone = "circular"
    formulation: Literal["coulomb", "convex"] = "coulomb"
    stabilize: bool = True
    slop: float = 1e-9
    restitution: Literal["none", "newton", "poisson", "poisson-shortcut"] = "none"
    active_gap: float | Literal["predicted"] | None = None
    solver: str | Solver = "auto"
    tol: float = 1e-8
    sweep_tol: float = 1e-3
    policy: IslandPolicy = USUAL
    on_failure: Literal["report", "raise", "retry"] = "report"
    retries: int = 6
    mass: Literal["start", "end"] = "start"
    rotation: Literal["flow", "explicit"] = "flow"
    order: Literal[1, 2] = 1
    joints: Literal["exact", "stabilize", "project", "velocity"] = "exact"
    halvings: int | None = None
    warm_start: bool = True
    sleeping: Sleeping | None = None
    overlap: Literal["refuse", "allow"] = "refuse"
    max_depth: float = 0.01

    name: ClassVar[str] = "time-stepping"
    words: ClassVar[tuple[str, ...]] = ("formulation", "restitution", "cone", "solver")

    def __post_init__(self) -> None:
        check_options(self, "TimeStepping", ".")
        check_positive(self, "TimeStepping", "dt", "tol", "sweep_tol", "max_depth", "active_gap")
        if not 0 <= self.slop < LARGEST_SLOP:
            raise OptionError(
                f"TimeStepping.slop = {self.slop!r}: expected 0 <= slop < {LARGEST_SLOP}"
            )
        for counts, value, most in (
            ("retries", self.retries, MOST_RETRIES), ("halvings", self.halvings, DEEPEST)
        ):  # fmt: skip
            if value is not None and not 0 <= value <= most:
                raise OptionError(
                    f"TimeStepping.{counts} = {value!r}: expected a count from 0 to {most}"
                )
        if self.order == 2 and self.mass == "end":
            raise OptionError(
                'TimeStepping.order = 2 has M at the times of its kicks: mass="start"'
            )
        try:
            as_cone(self.cone)
        except DrystoneError as error:
            raise OptionError(f"TimeStepping.cone: {error}") from None
        _ = self.method

    @property
    def most_halvings(self) -> int:
        """Times over that a step is halved for the sake of its joints."""
        if self.halvings is not None:
            return self.halvings
        return JOINT_HALVINGS if self.joints == "exact" else 0

    @property
    def shape(self) -> Cone:
        """The cone of every contact; a planar world makes any even number of directions 2."""
        return as_cone(self.cone)

    @property
    def contact_law(self) -> ContactLaw:
        """What forces of contacts obey."""
        return ContactLaw(self.shape, self.formulation == "convex", self.stabilize, self.slop)

    @property
    def method(self) -> Solver:
        """The solver object, with this tolerance; one given by name never reads the clock: runs
        are bitwise reproducible."""

        if isinstance(self.solver, Solver):
            return self.solver
        return replace(by_name(self.solver), tol=self.tol, time_limit=NO_TIME_LIMIT)

    @property
    def direct(self) -> bool:
        """Whether the stepper's own sweeps and Newton steps apply."""
        return self.solver == "auto" and not isinstance(self.shape, PolyhedralCone)

    def smooth(self, dim: int) -> bool:
        """Whether Newton's method applies: to all cones but polyhedral ones in space."""
        return dim == 2 or not isinstance(self.shape, PolyhedralCone)

    def asks(self, dim: int) -> bool:
        """Whether a solver of the library is asked for the islands of contacts."""
        return not (self.solver == "auto" or self.only_sweeps(dim))

    def only_sweeps(self, dim: int) -> bool:
        """Whether the islands are solved by Gauss-Seidel alone, on packed contacts."""
        return self.solver == "nsgs" and self._packable(dim)

    def packs(self, dim: int) -> bool:
        """Whether contacts are packed for sweeps; else their rows J and P are stored."""
        return self._packable(dim) and not self.asks(dim)

    def _packable(self, dim: int) -> bool:
        if dim == 2:
            return True
        odd = isinstance(self.shape, SoftFingerCone | PolyhedralCone)
        return self.formulation == "coulomb" and not odd

    def sweeps_beside_joints(self, dim: int) -> bool:
        """Whether Gauss-Seidel alone solves the islands of a world with joints."""
        return self.solver == "nsgs" and not self.pivots_beside_joints(dim)

    def asks_beside_joints(self, dim: int) -> bool:
        """Whether a solver of the library is asked for the islands of a world with joints."""
        return not (self.solver == "auto" or self.sweeps_beside_joints(dim))

    def pivots_beside_joints(self, dim: int) -> bool:
        """Whether blocks with laws beside joints are left to pivoting: polyhedral cones; in the
        plane they are the cone itself."""
        return dim == 3 and isinstance(self.shape, PolyhedralCone)

    def stepper(self, model: Model) -> TimeStepper:
        from drystone.steppers.time_stepping.stepper import TimeStepper

        return TimeStepper(self, model)
