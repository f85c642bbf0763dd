"""``admm``: alternating directions for friction cones, accelerated by Anderson's method.

Splitting min 1/2 x'Wx + q'x, x in K into a linear system and a projection gives the fixed point
of a map v -> T(v) (Douglas-Rachford). rho is balanced between the two halves' residuals. For exact
Coulomb friction the shift mu |u_t| is taken from v itself at every step: no outer loop.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from drystone.errors import OptionError
from drystone.kernels import admm as kernels
from drystone.problems import FrictionProblem, Problem
from drystone.solvers._anderson import Anderson
from drystone.solvers._cones import ConeProblem
from drystone.solvers._contacts import smooth_cones_only
from drystone.solvers._proximal import proximal
from drystone.solvers.base import Answer, Limits, Solver, Start
from drystone.types import Floats, Status

JUDGE = 10  # steps between looks at the residual
BALANCE = 20  # steps before rho is first balanced; the waits grow by half each time
UNEVEN = 3.0  # sqrt of the ratio of the two residuals beyond which rho is changed
INEXACT = 0.02  # error allowed in the linear half, as a fraction of the last step


@dataclass(frozen=True, kw_only=True)
class ADMM(Solver):
    """Options of ``admm``.

    rho: first penalty, in units of W's mean diagonal. relaxation: 0 < alpha < 2. memory: steps
    that Anderson's method looks back on, 0 for plain ADMM. balance: adapt rho.
    """

    max_iterations: int = 50_000
    rho: float = 1.0
    relaxation: float = 1.5
    memory: int = 10
    balance: bool = True
    name: ClassVar[str] = "admm"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_iterations < 1 or not 0 <= self.memory <= 1000:
            raise OptionError("admm: max_iterations must be >= 1 and memory from 0 to 1000")
        if not (0 < self.relaxation < 2 and self.rho > 0):
            raise OptionError("admm: expected 0 < relaxation < 2 and rho > 0")

    def refuses(self, problem: Problem) -> str | None:
        return smooth_cones_only(problem)

    def run(self, problem: FrictionProblem, start: Start, limits: Limits) -> Answer:
        cones = ConeProblem(problem)
        run = _Run(self, cones, limits)
        status = run.follow(cones.start(start.value) if start.value is not None else None)
        info = {"rho": run.rho, "factorisations": run.factorisations, "rejected": run.rejected}
        extras = {"history": np.array(run.history), "info": info}
        return Answer(cones.value(run.best), status, run.done, extras=extras)


class _Run:
    """State of one run: v, its map, and the best point seen."""

    def __init__(self, options: ADMM, cones: ConeProblem, limits: Limits) -> None:
        self.options, self.cones, self.limits = options, cones, limits
        self.linear = proximal(cones, limits)
        self.rho, self.factorisations, self.done = options.rho, 0, 0
        self.z, self.rhs, self.image = np.empty((3, *cones.q.shape))
        self.best, self.least = np.zeros_like(cones.q), np.inf
        self.anderson = Anderson(options.memory, cones.q.size)
        self.history: list[float] = []
        self._step = np.inf

    @property
    def rejected(self) -> int:
        return self.anderson.rejected

    def follow(self, r: Floats | None) -> Status:
        v = np.zeros_like(self.cones.q)
        if r is not None:  # z = r and u~ = u where they are consistent
            v = r - self.cones.velocity(r) / self.rho
        if not self._set(self.rho):
            return Status.SINGULAR
        balance_at, wait = float(BALANCE), float(BALANCE)
        while True:
            gap = self._map(v)
            if self.done % JUDGE == 0 or gap == 0.0:
                residual = self._judge()
                if residual <= self.limits.tol:
                    return Status.SOLVED
                if gap == 0.0 or not np.isfinite(gap):
                    return Status.STALLED
                if self.limits.expired():
                    return Status.TIME_LIMIT
            if self.done >= self.options.max_iterations:
                self._judge()
                return Status.MAX_ITERATIONS
            self.done += 1
            v = self.anderson.next(v.ravel(), self.image.ravel()).reshape(v.shape)
            if self.options.balance and self.done >= balance_at:
                wait *= 1.5
                balance_at = self.done + wait
                if not self._balance(v):
                    return Status.SINGULAR

    def _set(self, rho: float) -> bool:
        self.rho = rho
        self.factorisations += 1
        return self.linear.set(rho)

    def _map(self, v: Floats) -> float:
        """image = T(v), z = P_K(v); returns |x - z|."""
        c = self.cones
        kernels.reflect(c.key, v, c.q, c.mu, self.rho, c.exact, self.z, self.rhs)
        error = INEXACT * self.rho * self._step if np.isfinite(self._step) else 1e-2 * _norm(c.q)
        x = self.linear.solve(self.rhs, error)
        gap, _, _ = kernels.relax(c.key, v, x, self.z, self.options.relaxation, self.image)
        self._step = float(np.sqrt(gap))
        return self._step

    def _judge(self) -> float:
        residual = max(self.cones.residuals(self.z, self.cones.velocity(self.z)))
        self.history.append(residual)
        if residual < self.least:
            self.least = residual
            self.best[:] = self.z
        return residual

    def _balance(self, v: Floats) -> bool:
        """Move rho towards equal relative change of impulse and velocity; False if singular."""
        c = self.cones
        gap = self._map(v)
        before, impulse, dual = self.z.copy(), _norm(self.z), _norm(v - self.z)
        kernels.reflect(c.key, self.image, c.q, c.mu, self.rho, c.exact, self.z, self.rhs)
        change = _norm(self.z - before)
        if not min(gap, impulse, dual, change) > 0.0:
            return True
        ratio = float(np.sqrt((gap / impulse) / (change / dual)))
        if 1.0 / UNEVEN < ratio < UNEVEN:
            return True
        rho = self.rho * min(max(ratio, 0.1), 10.0)
        kernels.rescale(c.key, v, c.mu, self.rho / rho)
        self.anderson.forget()
        self._step = np.inf
        return self._set(rho)


def _norm(x: Floats) -> float:
    return float(np.sqrt(np.vdot(x, x)))
