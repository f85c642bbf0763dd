"""Projected Jacobi, Gauss-Seidel and SOR: "pgs", "jacobi", "sor" (Baraff 1992, appendix C).

Boxed LCP (LCP, mixed LCP): z_i <- mid(lower_i, z_i - omega w_i / M_ii, upper_i), w = M z + q.
Friction at force level: f_N <- (f_N - omega a_N / D_N)_+; friction moves by -omega a_t / D_t when
it is below its bound or drives the motion, then is scaled back to |f_t| <= mu f_N. The fixed
points are exactly the solutions of (14-1).

Gauss-Seidel and SOR (0 < omega < 2) converge for symmetric positive semidefinite M when there
is a solution. Jacobi does not converge merely because M is definite: a cycle or growth is
noticed and reported as STALLED, or answered by halving omega (``damp=True``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from drystone.errors import OptionError
from drystone.kernels.blocks import STATIC
from drystone.kernels.cones import pgs as kernels
from drystone.kernels.cones.problem import FrictionBlocks
from drystone.problems import BoxedLCP, FrictionProblem, Problem
from drystone.solvers.base import Answer, Limits, Solver, Start, initial
from drystone.types import Bools, Floats, Status

SWEEP_PRODUCTS = 2_000_000  # multiplications between two readings of the clock: a few milliseconds
DIVERGED_GROWTH = 1e10  # a sweep that moves this many times |q| (unit-free) has diverged
RELAXATIONS = {"gauss-seidel": 1.0, "jacobi": 1.0, "sor": 1.3}
NAMES = {"gauss-seidel": "pgs", "jacobi": "jacobi", "sor": "sor"}


@dataclass(frozen=True, kw_only=True)
class PGS(Solver):
    """Projected sweeps, row by row (LCP) or contact by contact (friction).

    sweep: "gauss-seidel", "jacobi" or "sor".
    relaxation: omega [1]; None means 1, or 1.3 for "sor".
    max_sweeps: iteration limit.
    damp: halve omega and continue from the best iterate whenever sweeps cycle or diverge.
    """

    sweep: str = "gauss-seidel"
    relaxation: float | None = None
    max_sweeps: int = 100_000
    damp: bool = False

    name: ClassVar[str] = "pgs"
    _least: ClassVar[dict[str, int]] = {"max_sweeps": 1}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sweep not in RELAXATIONS:
            raise OptionError(
                f"pgs: sweep = {self.sweep!r}: expected one of {', '.join(RELAXATIONS)}"
            )
        if self.relaxation is not None and not 0 < self.relaxation < 2:
            raise OptionError(f"pgs: relaxation = {self.relaxation}: expected 0 < omega < 2")
        object.__setattr__(self, "name", NAMES[self.sweep])  # users see the name they typed

    def refuses(self, problem: Problem) -> str | None:
        problem = problem.local
        if isinstance(problem, FrictionProblem):
            return _refuses_friction(problem)
        return _refuses_rows(problem)

    def run(self, problem: Any, start: Start, limits: Limits) -> Answer:
        jacobi = self.sweep == "jacobi"
        model: RowSweeps | ContactSweeps
        if isinstance(problem, FrictionProblem):
            model = ContactSweeps(problem, initial(problem, start), jacobi)
            if model.ray is not None:
                extras = {"ray": model.ray, "info": {"contact": model.culprit}}
                known = start.value is not None and problem.residual(start.value) <= limits.tol
                value = initial(problem, start) if known else np.zeros(problem.size)
                return Answer(value, Status.RAY, extras=extras)
        else:
            model = RowSweeps(problem, initial(problem, start), jacobi)
        if model.infeasible is not None:
            extras = {"info": {"row": model.infeasible}}
            return Answer(model.value(), Status.INFEASIBLE, extras=extras)
        return self._iterate(problem, model, limits)

    def _iterate(self, problem: Any, model: RowSweeps | ContactSweeps, limits: Limits) -> Answer:
        omega = self.relaxation or RELAXATIONS[self.sweep]
        target, total, status = limits.tol, 0, Status.MAX_ITERATIONS
        first, best, best_value, best_residuals = model.value(), np.inf, model.value(), None
        history: list[float] = []
        info: dict[str, Any] = {}
        chunk = max(4, SWEEP_PRODUCTS // max(1, model.cost))
        while total < self.max_sweeps:
            count = min(chunk, self.max_sweeps - total)
            code, done, change, period = model.sweep(omega, count, target)
            total += done
            value = model.value()
            residuals = problem.residuals(value) if np.isfinite(change) else (np.inf, np.inf)
            history.append(max(residuals))
            if history[-1] < best:
                best, best_value, best_residuals = history[-1], value, residuals
            if best <= limits.tol:
                status = Status.SOLVED
                break
            if code == kernels.SOLVED and change > 0.0 and target > 1e-6 * limits.tol:
                target *= 0.1  # the sweep's own measure was too kind: ask for more
            elif code != kernels.RUNNING:
                info = {"diverged": not change <= DIVERGED_GROWTH * model.scale, "period": period}
                if not (self.damp and change > 0.0 and omega > 1e-6):
                    status = Status.STALLED
                    break
                omega *= 0.5
                model.restart(best_value)
            if limits.expired():
                status = Status.TIME_LIMIT
                break
        if status is Status.STALLED and max(problem.residuals(first)) < best:
            best_value, best_residuals = first, None
        info["relaxation"] = omega
        extras = {"history": np.array(history), "info": info}
        return Answer(best_value, status, total, (self.name,), None, best_residuals, extras)


class RowSweeps:
    """A boxed LCP set up for sweeps; `infeasible` names a row 0 z + q < 0 with no upper bound."""

    def __init__(self, problem: BoxedLCP, z: Floats, jacobi: bool) -> None:
        self.problem, self.jacobi = problem, jacobi
        self.z = np.clip(z, problem.lower, problem.upper)
        diagonal = problem.M.diagonal()
        self.inverse = np.divide(1.0, diagonal, out=np.zeros_like(diagonal), where=diagonal != 0)
        self.infeasible: int | None = None
        idle = np.flatnonzero(diagonal == 0.0)
        if idle.size:
            self._fix_idle(idle)
        self.scale = _scale(problem.q / problem.unit)
        self.work = np.empty((2, z.size))
        entries = problem.M.nnz if problem.sparse else z.size**2
        self.cost = int(entries) + 10 * z.size

    def _fix_idle(self, idle: Any) -> None:
        """Rows of zeros: w = q whatever z is, so z sits at the bound that the sign of q asks."""
        lower, upper, q = (
            x[idle] for x in (self.problem.lower, self.problem.upper, self.problem.q)
        )
        fixed = np.where(q > 0, lower, np.where(q < 0, upper, self.z[idle]))
        if np.isinf(fixed).any():
            self.infeasible = int(idle[np.argmax(np.isinf(fixed))])
            fixed = np.where(np.isinf(fixed), self.z[idle], fixed)
        self.z[idle] = fixed

    def sweep(self, omega: float, count: int, target: float) -> tuple[int, int, float, int]:
        p, pattern, M = self.problem, None, self.problem.M
        if p.sparse:
            pattern, M = kernels.Pattern(M.indptr, M.indices), M.data
        how = _sweeps(self, omega, target)
        box = kernels.Box(p.q, p.lower, p.upper, p.unit)
        return kernels.sweeps_rows(M, pattern, box, how, count, self.z)

    def value(self) -> Floats:
        return self.z.copy()

    def restart(self, value: Floats) -> None:
        self.z[:] = value


class ContactSweeps:
    """A friction problem in block form set up for sweeps; `ray` is set if D_N <= 0 somewhere."""

    def __init__(self, problem: FrictionProblem, r: Floats, jacobi: bool) -> None:
        form, d = problem.form, problem.d
        self.form, self.jacobi = form, jacobi
        self.f = form.impulses(r)
        self.slip = np.zeros((form.nb, d - 1))
        if problem.slip is not None:
            self.slip[: problem.nc] = problem.slip
        self.sliding = (form.mu == 0) | self.slip.any(axis=1)  # mu = 0: f_t = 0, never moved
        cells = form.W.blocks[form.W.diagonal]
        D = np.einsum("ijj->ij", cells).copy()
        D[:, 0] -= form.mu * np.einsum("ij,ij->i", cells[:, 0, 1:], self.slip)
        self.inverse = np.divide(1.0, D, out=np.zeros_like(D), where=D > 0)
        moving = np.asarray(self.slip.any(axis=1))
        self.infeasible = _stuck(form.q, D, form.mu, moving)
        self.ray: Floats | None = None
        self.culprit = -1
        if (moving & (D[:, 0] <= 0)).any():
            self._impulse(int(np.argmax(moving & (D[:, 0] <= 0))))
        self._enter_cones()
        self.scale = _scale(form.q / form.unit[:, None])
        self.work = np.empty((2, form.nb, d))
        self.a = np.empty(d)
        self.cost = int(form.W.blocks.size) + 50 * form.nb

    def _impulse(self, i: int) -> None:
        """A push along this contact's force direction does not separate it: a valid impulse."""
        push = np.zeros_like(self.f)
        push[i, 0] = 1.0
        push[i, 1:] = -self.form.mu[i] * self.slip[i]
        self.ray, self.culprit = self.form.value(push), i

    def _enter_cones(self) -> None:
        """Make a guess obey what the sweeps keep: f_N >= 0, |f_t| <= mu f_N, slip directions."""
        contact, f, mu = self.form.mu >= 0, self.f, self.form.mu
        f[contact, 0] = np.maximum(f[contact, 0], 0.0)
        size = np.linalg.norm(f[:, 1:], axis=1)
        over = contact & (size > mu * f[:, 0])
        f[over, 1:] *= (mu * f[:, 0] / np.maximum(size, np.finfo(float).tiny))[over, None]
        f[self.sliding, 1:] = -(mu * f[:, 0])[self.sliding, None] * self.slip[self.sliding]

    def sweep(self, omega: float, count: int, target: float) -> tuple[int, int, float, int]:
        form, W = self.form, self.form.W
        given = (form.q, form.mu, form.unit, STATIC)
        p = FrictionBlocks(W.indptr, W.indices, W.blocks, *given)
        law = kernels.Law(W.diagonal, self.slip, self.sliding)
        how = _sweeps(self, omega, target)
        return kernels.sweeps_friction(form.key, p, law, how, count, self.a, self.f)

    def value(self) -> Floats:
        return self.form.value(self.f)

    def restart(self, value: Floats) -> None:
        self.f[:] = self.form.impulses(value)


def _sweeps(model: RowSweeps | ContactSweeps, omega: float, target: float) -> kernels.Sweeps:
    scale, (anchor, work) = model.scale, model.work
    ends = target * scale, DIVERGED_GROWTH * scale
    return kernels.Sweeps(omega * model.inverse, model.jacobi, *ends, anchor, work)


def _scale(q: Floats) -> float:
    size = float(np.linalg.norm(q))
    return size if size > np.finfo(float).eps else 1.0


def _stuck(q: Floats, D: Floats, mu: Floats, moving: Bools) -> int | None:
    """A block with a row of zeros that no force moves and that q leaves unsatisfied."""
    bad = (D <= 0) & np.where((mu < 0)[:, None], q != 0, False)
    bad[:, 0] |= (mu >= 0) & ~moving & (D[:, 0] <= 0) & (q[:, 0] < 0)
    return int(np.argmax(bad.any(axis=1))) if bad.any() else None


def _refuses_rows(problem: BoxedLCP) -> str | None:
    diagonal = problem.M.diagonal()
    if diagonal.size == 0 or diagonal.min() > 0:
        return None
    negative = (diagonal < 0) & ~problem.free
    if negative.any():
        i = int(np.argmax(negative))
        return f"M[{i}, {i}] = {diagonal[i]:.6g}: projected sweeps need a diagonal >= 0"
    for i in map(int, np.flatnonzero(diagonal == 0)):
        row = problem.M[[i]].toarray() if sp.issparse(problem.M) else problem.M[i]
        if row.any():
            return f"M[{i}, {i}] = 0 in a row that is not zero: sweeps divide by the diagonal"
    return None


def _refuses_friction(problem: FrictionProblem) -> str | None:
    rough = bool((problem.mu > 0)[~problem.sliding].any())
    if rough and problem.law == "convex":
        return "solves the static law (14-1), not the convex relaxation"
    if rough and problem.law == "coulomb" and problem.d > 2:
        return (
            "its fixed points meet law='static' (friction need only partly oppose the motion), "
            "which in space is weaker than law='coulomb': state the static law for them"
        )
    if problem.slip is not None and problem.cone.stretch(problem.dim) is not None:
        return f"known slip directions need a circular cone, not {problem.cone}"
    return _zero_tangent(problem)


def _zero_tangent(problem: FrictionProblem) -> str | None:
    """A sticking contact whose tangential velocity no force changes."""
    rough = ~problem.sliding & (problem.mu > 0)
    count = problem.d * problem.nc
    diagonal = np.asarray(problem.W.diagonal())[:count].reshape(problem.nc, problem.d)
    q = problem.q[:count].reshape(problem.nc, problem.d)
    bad = rough[:, None] & (diagonal == 0) & (q != 0)
    bad[:, 0] = False
    if not bad.any():
        return None
    i, b = (int(place) for place in np.argwhere(bad)[0])
    row = problem.d * i + b
    return f"contact {i}: W[{row}, {row}] = 0 but q[{row}] = {q[i, b]:.6g}: no force acts there"
