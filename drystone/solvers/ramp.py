"""Static friction as dynamic friction with a ramp, "ramp" (Baraff 1992, 14.2.2).

A contact that slides at v_t has f_t = -mu f_N v_t / |v_t|; below the threshold eps the same force
is scaled down: f_t = -mu f_N v_t / eps (14-12). Every contact is then dynamic: an LCP in the
normal forces alone, a_N = A f_N + b, unsymmetric, with a force or a ray as its answer.

A body at rest gets no friction until it creeps: on an incline of angle theta < atan(mu) it settles
at the speed eps tan(theta) / mu instead of stopping.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from drystone.errors import ArrayError, OptionError
from drystone.problems import LCP, FrictionProblem, MixedLCP, Problem
from drystone.problems.convert import fold
from drystone.solvers._blocks import circular_cones_only
from drystone.solvers.base import Answer, Limits, Solver, Start
from drystone.solvers.registry import by_name
from drystone.types import Floats, Status
from drystone.values import reals


@dataclass(frozen=True, kw_only=True, eq=False)
class Ramp(Solver):
    """All contacts dynamic, friction ramped up to full at the speed `eps`.

    velocity: (nc, d - 1) tangential velocities now, rows in the order of the contacts [m/s];
        contacts whose slip the problem itself states keep that direction and full friction.
    eps: speed below which friction is scaled down [m/s].
    inner: method for the LCP; lemke ends in a solution or in a valid impulse direction.
    """

    velocity: Any = None
    eps: float = 1e-3
    inner: str | Solver = "lemke"

    name: ClassVar[str] = "ramp"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (np.isfinite(self.eps) and self.eps > 0):
            raise OptionError(f"ramp: eps = {self.eps}: expected a positive speed")
        if self.velocity is None:
            return
        given = reals(self.velocity)
        velocity = np.zeros(0) if given is None else given
        if velocity.ndim == 1 and velocity.size:  # one tangent: a plain list will do
            velocity = velocity[:, None]
        if velocity.ndim != 2 or not np.isfinite(velocity).all():
            raise ArrayError("ramp: velocity must be a finite array with a row for each contact")
        velocity.setflags(write=False)
        object.__setattr__(self, "velocity", velocity)

    def refuses(self, problem: Problem) -> str | None:
        reason = circular_cones_only(problem)
        if reason is not None:
            return reason
        stated: Any = problem.local
        shape = (stated.nc, stated.d - 1)
        if self.velocity is None and (~stated.sliding & (stated.mu > 0)).any():
            return "needs the tangential velocities now: ds.Ramp(velocity=..., eps=...)"
        if self.velocity is not None and self.velocity.shape != shape:
            return f"velocity has shape {self.velocity.shape}: this problem needs {shape}"
        return None

    def run(self, problem: Any, start: Start, limits: Limits) -> Answer:
        slip = ramped(problem, self.velocity, self.eps)
        folded = fold(_dynamic(problem, slip))
        lcp: LCP | MixedLCP
        if problem.bilateral:
            lcp = MixedLCP(folded.A, folded.b, folded.bilateral)
        else:
            lcp = LCP(folded.A, folded.b)
        inner = by_name(self.inner) if isinstance(self.inner, str) else self.inner
        answer = inner.run(lcp, Start(None, start.basis), limits)
        strength = np.linalg.norm(slip, axis=1)
        info = {"ramped": int((strength < 1.0).sum()), "inner": inner.name}
        extras: dict[str, Any] = {"info": info}
        for key in ("basis", "history"):
            if key in answer.extras:
                extras[key] = answer.extras[key]
        if answer.extras.get("ray") is not None:
            extras["ray"] = folded.value(answer.extras["ray"])
        status = answer.status
        if status is Status.SOLVED or max(lcp.residuals(answer.value)) <= limits.tol:
            status = Status.APPROXIMATE
        value, methods = folded.value(answer.value), (self.name, inner.name)
        return Answer(value, status, answer.iterations, methods, extras=extras)


def ramped(problem: FrictionProblem, velocity: Floats | None, eps: float) -> Floats:
    """(nc, d - 1) slip directions, shorter than 1 below the speed eps."""
    slip = np.zeros((problem.nc, problem.d - 1))
    if velocity is not None:
        speed = np.linalg.norm(velocity, axis=1, keepdims=True)
        slip = velocity / np.maximum(speed, eps)
    if problem.slip is not None:
        slip[problem.sliding] = problem.slip[problem.sliding]
    return slip


def _dynamic(problem: FrictionProblem, slip: Floats) -> FrictionProblem:
    """The problem with every contact dynamic: a short slip is a smaller coefficient."""
    return FrictionProblem(
        problem.dense if problem.matrix_free else problem.W,
        problem.q,
        problem.mu * np.linalg.norm(slip, axis=1),
        dim=problem.dim,
        bilateral=problem.bilateral,
        slip=slip,
    )
