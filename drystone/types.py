"""What solvers give back, and the conventions that every layer shares.

Signs: a contact's first row is its normal; u > 0 separates, r >= 0 pushes apart; u = W r + q.
Units: SI. r is an impulse [N s] and u a velocity [m/s] (or, at force level, a force and an
acceleration); W maps one to the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from drystone.kernels import status as code

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

# What users may give. A text is no vector: numpy.typing.ArrayLike would take it.
Real = float | np.floating[Any] | np.integer[Any]
VectorLike = Sequence[Real] | NDArray[np.floating[Any] | np.integer[Any]]  # (n,)
MatrixLike = Sequence[VectorLike] | NDArray[np.floating[Any] | np.integer[Any]]  # (m, n)
Table = NDArray[np.void]  # structured: a column by its name
GRAVITY = 9.81  # [m/s^2] of a world that is given no other


class Named(Protocol):
    """A handle: what ``add_body`` and ``add_joint`` return."""

    @property
    def name(self) -> str: ...


BodyLike = str | Named  # a body by its name or handle


def own(values: Any, kind: Any = np.float64) -> Any:
    """What a user gave as an array of ours: copied, in C order, of the native kind.

    Every array enters here or through ``problems._check``: sums over an array depend on how it
    lies in memory, and the same numbers must give the same bits.
    """
    return np.array(values, dtype=kind, order="C")


class Status(Enum):
    """How a solve ended; the value is the sentence a user reads."""

    SOLVED = "solved: the residual is within the tolerance"
    RAY = "no solution found: ended on an unbounded ray, see Solution.ray"
    INFEASIBLE = "the problem has no solution"
    MAX_ITERATIONS = "stopped at the iteration limit before reaching the tolerance"
    TIME_LIMIT = "stopped at the time limit before reaching the tolerance"
    STALLED = "no further progress: the tolerance may be below what this method can reach here"
    SINGULAR = "a linear system became singular"
    APPROXIMATE = "the method's own approximation is solved, but the exact law is not met"
    JAMMED = "jammed: no force gives what is driven its speed, see StepReport.jammed"
    INACCURATE = "the method believed it had finished, but the judged residual is too large"

    @property
    def ok(self) -> bool:
        return self is Status.SOLVED


STATUS_OF_CODE: dict[int, Status] = {
    code.RUNNING: Status.MAX_ITERATIONS,
    code.SOLVED: Status.SOLVED,
    code.RAY: Status.RAY,
    code.INFEASIBLE: Status.INFEASIBLE,
    code.MAX_ITERATIONS: Status.MAX_ITERATIONS,
    code.STALLED: Status.STALLED,
    code.SINGULAR: Status.SINGULAR,
}


@dataclass(frozen=True, slots=True)
class Solution:
    """Answer of ``ds.solve``.

    value: z of an LCP, impulses r of a friction problem.
    dual: w = M z + q, or the velocities u = W r + q.
    velocity: generalised velocities v of a global friction problem, else None.
    residual, residual_unit: judged by the problem itself; with units scaled out in the second.
    primal, gap: of an LCP: the componentwise backward error, which no scaling of rows and columns
        changes, and 0; of a friction problem: the speed with which contacts close (for the convex
        law the distance of u from K*) and the distance of r from K, relative to |q|, and
        sum |r_i.u~_i| relative to |q|^2, unit-free. They see errors of velocities that the residual
        divides by large impulses or large coefficients of friction.
    backward: the least change of q, relative to |q|, with which the impulses of a friction problem
        solve exactly, or a bound; 0 where it was not measured. SOLVED means residuals, primal, gap
        and the square of backward within the tolerance.
    methods: every method that ran, in order (more than one for ``auto``).
    ray: direction of an unbounded ray (lemke, dantzig): z >= 0 with z_i > 0 => (M z)_i <= 0.
    basis: what a later solve can start from (Baraff 1992, 13.3): bool mask of an LCP's basic
        variables, or the ``index_sets`` of a friction problem.
    solutions: all of them, from enumeration.
    index_sets: contacts or rows by state, e.g. {"open": ..., "stick": ..., "slip": ...}.
    history: residual (or the method's own measure) per recorded iteration.
    info: statistics of the method, e.g. the counts (a) to (d) of the LP heuristic.
    """

    value: Floats
    status: Status
    residual: float
    residual_unit: float
    iterations: int
    seconds: float
    solver: str
    methods: tuple[str, ...]
    dual: Floats
    velocity: Floats | None = None
    primal: float = 0.0
    gap: float = 0.0
    backward: float = 0.0
    ray: Floats | None = None
    basis: Any = None
    solutions: tuple[Floats, ...] | None = None
    index_sets: dict[str, Ints] | None = None
    history: Floats | None = None
    info: dict[str, Any] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        return self.status is Status.SOLVED

    def __repr__(self) -> str:
        return (
            f"Solution({self.status.name}, residual={self.residual:.2e}, "
            f"unit={self.residual_unit:.2e}, iterations={self.iterations}, "
            f"seconds={self.seconds:.3g}, methods={'+'.join(self.methods)})"
        )
