"""x = (W + rho)^-1 b: the linear half of ADMM, in the space that is cheapest.

Formed W is factorised as it is. With W = G G' the bodies' space is smaller and sparser:
(W + rho)^-1 = (1 - G (rho + G'G)^-1 G') / rho, factorised while that is cheap, and by conjugate
gradients, warm-started, for very many bodies.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from drystone.kernels import admm as kernels
from drystone.kernels import conic
from drystone.problems.delassus import BlockMatrix
from drystone.solvers._cones import ConeProblem
from drystone.solvers._system import shifted_system
from drystone.solvers.base import Limits
from drystone.types import Floats

BODIES = 12_000  # unknowns up to which the bodies' matrix is factorised
STEPS = 5  # conjugate gradient steps between looks at the clock
MOST = 500


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
        conic.scatter(cones.key, *cones.columns, b, self._right)
        nu = self._inner(self._right, error)
        conic.gather(cones.key, *cones.columns, -nu, b, self._u)
        return self._u / self._rho

    def _inner(self, right: Floats, error: float) -> Floats:
        return self._system.solve(right.reshape(-1, self._d)).ravel()


class ManyBodies(Bodies):
    """rho + G'G by conjugate gradients from the last solution: time and memory stay linear."""

    def __init__(self, cones: ConeProblem, limits: Limits) -> None:
        Proximal.__init__(self, cones, limits)
        ndof = cones.G.shape[1]
        self._right, self._u = np.empty(ndof), np.empty_like(cones.q)
        _, columns, G = cones.columns
        self._squares = np.bincount(columns, (G * G).sum(axis=1), minlength=ndof)
        self._nu = np.zeros(ndof)
        self._work = (*np.empty((3, ndof)), np.empty_like(cones.q))
        self._rho, self.steps = 1.0, 0

    def set(self, rho: float) -> bool:
        self._rho = rho
        return True

    def _inner(self, right: Floats, error: float) -> Floats:
        cones, state = self.cones, np.array([-1.0])
        diagonal = self._squares + self._rho
        for _ in range(MOST // STEPS):
            self.steps += STEPS
            if kernels.gradient_steps(
                cones.key, *cones.columns, diagonal, self._rho, right,
                error, STEPS, self._nu, state, self._work,
            ) or self.limits.expired():  # fmt: skip
                break
        return self._nu
