"""Options of the penalty method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from drystone.steppers.base import Method
from drystone.values import check_options, check_positive

if TYPE_CHECKING:
    from drystone.model import Model
    from drystone.steppers.penalty.stepper import PenaltyStepper


@dataclass(frozen=True)
class Penalty(Method):
    """Springs in place of constraints, integrated with error control (Baraff 1992, 2.4).

    dt: how often there is a state and a report [s]; the integrator steps as it must in between.
    stiffness: k of every contact point [N/m]: f_n = k depth - damping u_n, never pulling.
    damping: [N s/m] of every contact point; 0: bodies bounce as if their restitution were 1.
    slip_speed: friction is -mu f_n u_t / max(|u_t|, slip_speed) [m/s]: bodies creep where they
        should stick, the slower the smaller it is.
    joint_stiffness, joint_damping: of every row of a joint [N/m or N m/rad, and times s]; None:
        those of contacts.
    integrator: "rk45", "dop853" (explicit), "lsoda" (Adams or BDF as it sees fit), "radau", "bdf"
        (implicit). rtol, atol: its error in a step, of what moved since the last report, and in
        [m], [rad], [m/s], [rad/s]. max_steps: of it between two reports.
    max_depth: part of the smaller body's size (its radius): steps that begin or end with bodies
        deeper in each other are counted and reported by ``Simulation.run``; springs give way by
        their nature.
    """

    dt: float = 1.0 / 60.0
    stiffness: float = 1e6
    damping: float = 0.0
    slip_speed: float = 1e-3
    joint_stiffness: float | None = None
    joint_damping: float | None = None
    integrator: Literal["rk45", "dop853", "lsoda", "radau", "bdf"] = "rk45"
    rtol: float = 1e-6
    atol: float = 1e-9
    max_steps: int = 200_000
    max_depth: float = 0.1

    name: ClassVar[str] = "penalty"
    words: ClassVar[tuple[str, ...]] = ("integrator",)
    partial_steps: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_options(self, "Penalty", ".")
        check_positive(
            self, "Penalty", "dt", "stiffness", "slip_speed", "rtol", "atol", "max_depth",
            "joint_stiffness", "max_steps",
        )  # fmt: skip
        check_positive(self, "Penalty", "damping", "joint_damping", zero=True)

    def stepper(self, model: Model) -> PenaltyStepper:
        from drystone.steppers.penalty.stepper import PenaltyStepper

        return PenaltyStepper(self, model)
