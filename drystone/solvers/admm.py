"""``admm``: alternating directions for friction cones, accelerated by Anderson's method.

Splitting min 1/2 x'Wx + q'x, x in K into a linear system and a projection gives the fixed point
of a map v -> T(v) (Douglas-Rachford). rho is balanced between the two halves' residuals. For exact
Coulomb friction the shift mu |u_t| is taken from v itself at every step: no outer loop.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.linalg import lapack

from drystone.errors import OptionError
from drystone.kernels.cones import admm as kernels
from drystone.kernels.cones import conic
from drystone.problems import FrictionProblem, Problem
from drystone.problems.delassus import BlockMatrix
from drystone.solvers._blocks import ConeProblem, smooth_cones_only
from drystone.solvers._system import shifted_system
from drystone.solvers.base import Answer, Limits, Solver, Start
from drystone.types import Floats, Status

JUDGE = 10  # steps between two residuals
BALANCE = 20  # steps before rho is first balanced; the waits grow by half each time
UNEVEN_RATIO = 3.0  # sqrt of the ratio of the two residuals beyond which rho is changed
LINEAR_ACCURACY = 0.02  # error allowed in the linear half, as a fraction of the last step


@dataclass(frozen=True, kw_only=True)
class ADMM(Solver):
    """Options of ``admm``.

    rho: first penalty, in units of W's mean diagonal. relaxation: 0 < alpha < 2. memory: past
    steps that Anderson's method uses, 0 for plain ADMM. balance: adapt rho.
    """

    max_iterations: int = 50_000
    rho: float = 1.0
    relaxation: float = 1.5
    memory: int = 10
    balance: bool = True
    name: ClassVar[str] = "admm"
    _least: ClassVar[dict[str, int]] = {"max_iterations": 1, "memory": 0}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.memory > 1000:
            raise OptionError(f"admm: memory = {self.memory}: expected at most 1000")
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
        error = (
            LINEAR_ACCURACY * self.rho * self._step
            if np.isfinite(self._step)
            else 1e-2 * _norm(c.q)
        )
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
        ratio = float(np.sqrt(gap / change) * np.sqrt(dual / impulse))  # none of them underflows
        if 1.0 / UNEVEN_RATIO < ratio < UNEVEN_RATIO:
            return True
        rho = self.rho * min(max(ratio, 0.1), 10.0)
        kernels.rescale(c.key, v, c.mu, self.rho / rho)
        self.anderson.forget()
        self._step = np.inf
        return self._set(rho)


def _norm(x: Floats) -> float:
    return float(np.sqrt(np.vdot(x, x)))


# x = (W + rho)^-1 b: the linear half of ADMM, in the space that is cheapest.
#
# Formed W is factorised as it is. With W = G G' the bodies' space is smaller and sparser:
# (W + rho)^-1 = (1 - G (rho + G'G)^-1 G') / rho, factorised while that is cheap, and by conjugate
# gradients, warm-started, for very many bodies.

BODIES = 12_000  # unknowns up to which the bodies' matrix is factorised
GRADIENT_STEPS = 5  # conjugate gradient steps between readings of the clock
GRADIENT_STEPS_MOST = 500  # of one linear system


class Proximal:
    """(W + rho)^-1, for one rho after the other."""

    def __init__(self, cones: ConeProblem, limits: Limits) -> None:
        self.cones, self.limits = cones, limits

    def set(self, rho: float) -> bool:
        """Prepare for rho; False if W + rho is singular."""
        raise NotImplementedError

    def solve(self, b: Floats, error: float) -> Floats:
        """x, or an approximation to about `error` where the method is iterative."""
        raise NotImplementedError


def proximal(cones: ConeProblem, limits: Limits) -> Proximal:
    if not cones.matrix_free:
        return Formed(cones, limits)
    many = cones.G.shape[1] > BODIES
    return ManyBodies(cones, limits) if many else Bodies(cones, limits)


class Formed(Proximal):
    """W itself, factorised."""

    def __init__(self, cones: ConeProblem, limits: Limits) -> None:
        super().__init__(cones, limits)
        self._system = shifted_system(cones.W)
        self._ones = np.broadcast_to(np.eye(cones.d), (cones.nb, cones.d, cones.d))

    def set(self, rho: float) -> bool:
        return self._system.factorise(rho * self._ones)

    def solve(self, b: Floats, error: float) -> Floats:
        return self._system.solve(b)


class Bodies(Proximal):
    """rho + G'G factorised; blocks of a body's unknowns where they come in such numbers."""

    def __init__(self, cones: ConeProblem, limits: Limits) -> None:
        super().__init__(cones, limits)
        ndof = cones.G.shape[1]
        usual = 3 if cones.d == 2 else 6
        self._d = usual if ndof % usual == 0 else 1
        G = sp.csr_array(cones.G)
        self._system = shifted_system(BlockMatrix.of(sp.csr_array(G.T @ G), self._d))
        self._ones = np.broadcast_to(np.eye(self._d), (ndof // self._d, self._d, self._d))
        self._right, self._u = np.empty(ndof), np.empty_like(cones.q)
        self._rho = 1.0

    def set(self, rho: float) -> bool:
        self._rho = rho
        return self._system.factorise(rho * self._ones)

    def solve(self, b: Floats, error: float) -> Floats:
        cones = self.cones
        conic.scatter(cones.key, cones.factor, b, self._right)
        nu = self._inner(self._right, error)
        conic.gather(cones.key, cones.factor, -nu, b, self._u)
        return self._u / self._rho

    def _inner(self, right: Floats, error: float) -> Floats:
        return self._system.solve(right.reshape(-1, self._d)).ravel()


class ManyBodies(Bodies):
    """rho + G'G by conjugate gradients from the last solution: time and memory stay linear."""

    def __init__(self, cones: ConeProblem, limits: Limits) -> None:
        Proximal.__init__(self, cones, limits)
        ndof = cones.G.shape[1]
        self._right, self._u = np.empty(ndof), np.empty_like(cones.q)
        columns, blocks = cones.factor.columns, cones.factor.blocks
        self._squares = np.bincount(columns, (blocks * blocks).sum(axis=1), minlength=ndof)
        self._nu = np.zeros(ndof)
        self._work = (*np.empty((3, ndof)), np.empty_like(cones.q))
        self._rho, self.steps = 1.0, 0

    def set(self, rho: float) -> bool:
        self._rho = rho
        return True

    def _inner(self, right: Floats, error: float) -> Floats:
        cones, state = self.cones, np.array([-1.0])
        diagonal = self._squares + self._rho
        for _ in range(GRADIENT_STEPS_MOST // GRADIENT_STEPS):
            self.steps += GRADIENT_STEPS
            if kernels.gradient_steps(
                cones.key, cones.factor, diagonal, self._rho, right, error, GRADIENT_STEPS,
                self._nu, state, self._work,
            ) or self.limits.expired():  # fmt: skip
                break
        return self._nu


# Anderson acceleration of a fixed-point iteration v -> T(v), with a safeguard.
#
# The next point is the combination of the last images whose residuals T(v) - v combine to the
# least; if that point's residual is larger than the last one's, the plain image is taken instead
# and the memory starts anew. Where T is nonexpansive the plain step never raises the residual.

GRAM_SHIFT = 1e-10  # of the least-squares problem, relative to its trace


class Anderson:
    """memory: past steps that are used (0: plain iteration); size: entries of v."""

    def __init__(self, memory: int, size: int) -> None:
        self.memory, self.rejected = memory, 0
        self._df, self._dg = np.zeros((2, memory, size))
        self._gram = np.zeros((memory, memory))
        self._f, self._g = np.empty((2, size))
        self.forget()

    def forget(self) -> None:
        """Start anew: the map has changed, or the last combination was a bad one."""
        self._count, self._stored, self._norm = 0, False, np.inf

    def next(self, v: Floats, image: Floats) -> Floats:
        """The point to try next, given T(v)."""
        if self.memory == 0:
            return image.copy()
        f = image - v
        norm = float(np.sqrt(f @ f))
        if self._stored and norm > self._norm:
            self.rejected += 1
            self.forget()
            return self._g.copy()
        self._norm = norm
        if self._stored:
            slot = self._count % self.memory
            np.subtract(f, self._f, out=self._df[slot])
            np.subtract(image, self._g, out=self._dg[slot])
            self._count += 1
            rows = min(self._count, self.memory)
            self._gram[slot, :rows] = self._df[:rows] @ self._df[slot]
            self._gram[:rows, slot] = self._gram[slot, :rows]
        self._f[:], self._g[:] = f, image
        self._stored = True
        rows = min(self._count, self.memory)
        if rows == 0:
            return image.copy()
        gram = self._gram[:rows, :rows].copy()
        gram.flat[:: rows + 1] += GRAM_SHIFT * np.trace(gram)
        _, weights, failed = lapack.dposv(gram, self._df[:rows] @ f)
        if failed:
            self.forget()
            return image.copy()
        return np.asarray(image - weights @ self._dg[:rows])
