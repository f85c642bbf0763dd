"""Complementarity over second-order cones, as the interior-point method sees it.

Friction problems and LCPs in one statement: blocks (nb, d), natural unknowns r, u (unit-free), in
which problems are judged, and scaled ones x = r / scale, y = scale u~, in which every cone is
{x_0 >= |x_1..|}. An LCP has d = 1 and scale = 1.
"""

from __future__ import annotations

import numpy as np

from drystone.kernels import nt_cone as nt
from drystone.problems import BoxedLCP, FrictionProblem, MixedLCP
from drystone.problems.delassus import BlockMatrix
from drystone.solvers._cones import ConeProblem
from drystone.solvers._system import System, shifted_system
from drystone.solvers.boxes import BoxReduction
from drystone.types import Floats

VANISHING = 1e-5  # share of a diverging x below which a block does not diverge
PROOF = 1e-9  # relative error of a certificate of infeasibility


class ConicProblem:
    """Find x in K with y = W x + q (+ |y_t| n if `exact`) in K*, x'y = 0.

    kind (nb,) as in ``kernels.nt_cone``; mu (nb,) of the natural cones; scale (nb, d).
    """

    key: tuple[int, ...]
    nb: int
    d: int
    exact: bool
    mu: Floats
    scale: Floats
    q: Floats
    W: BlockMatrix
    system: System

    def _settle(self, W: BlockMatrix, q: Floats, scale: Floats) -> None:
        """Scale W and q, and prepare the linear systems."""
        self.kind = np.where(self.mu < 0, nt.FREE, nt.CONE)
        if self.d > 1:
            self.kind[self.mu == 0] = nt.RAY
        self.q = scale * q
        rows = np.repeat(np.arange(self.nb), np.diff(W.indptr))
        self.W = W.with_blocks(W.blocks * scale[rows, :, None] * scale[W.indices, None, :])
        self.system = shifted_system(self.W)

    def image(self, x: Floats) -> Floats:
        """W x + q in scaled unknowns."""
        return self.W.product(x, self.q)

    def infeasibility(self, x: Floats) -> Floats | None:
        """A direction d of x that shows that no z in K has W z + q in K*, or None.

        d in K, -W'd in K*, q'd < 0: for such z, 0 <= d'(W z + q) = (W'd)'z + q'd < 0 would follow.
        """
        if self.exact:
            return None  # the shift by the slip is not bounded: nothing is proved
        size = np.abs(x).max()
        if not (np.isfinite(size) and size > 0):
            return None
        d = np.where((self.kind == nt.RAY)[:, None] & (np.arange(self.d) > 0), 0.0, x / size)
        d[np.abs(d).max(axis=1) < VANISHING] = 0.0  # what tends to zero along the ray
        transposed = self.W.scipy.T
        g = -np.asarray(transposed @ d.ravel()).reshape(d.shape)
        slack = PROOF * np.asarray(abs(transposed) @ np.abs(d).ravel()).reshape(d.shape)
        tangent, loose = np.linalg.norm(g[:, 1:], axis=1), np.linalg.norm(slack, axis=1)
        tangent[self.kind == nt.RAY] = 0.0
        inside = np.where(
            self.kind == nt.FREE, np.hypot(g[:, 0], tangent) <= loose, g[:, 0] >= tangent - loose
        )
        gain = float(np.vdot(self.q, d))
        proved = inside.all() and gain < -PROOF * float(np.vdot(np.abs(self.q), np.abs(d)))
        return d if proved else None

    def velocity(self, r: Floats) -> Floats:
        """u of natural impulses."""
        raise NotImplementedError

    def residuals(self, r: Floats, u: Floats) -> tuple[float, float]:
        """(scaled, unit-free), as the problem itself judges."""
        raise NotImplementedError

    def value(self, r: Floats) -> Floats:
        raise NotImplementedError

    def direction(self, r: Floats) -> Floats:
        """A change of the value, for a change r."""
        return self.value(r)

    def start(self, value: Floats) -> Floats:
        """Natural unknowns of a value."""
        raise NotImplementedError


class FrictionCones(ConicProblem):
    """Circular cones made self-dual: x = (r_n sqrt(mu), r_t / sqrt(mu)).

    Without friction the tangents are left out: their scale is 0.
    """

    def __init__(self, problem: FrictionProblem) -> None:
        self.cones = cones = ConeProblem(problem)
        self.key, self.nb, self.d, self.mu = cones.key, cones.nb, cones.d, cones.mu
        self.exact = cones.exact
        self.scale = np.ones((self.nb, self.d))
        rough = self.mu > 0
        root = np.sqrt(self.mu[rough])
        self.scale[rough, 0] = 1.0 / root
        self.scale[rough, 1:] = root[:, None]
        self.scale[self.mu == 0, 1:] = 0.0
        self._settle(cones.W, cones.q, self.scale)

    def velocity(self, r: Floats) -> Floats:
        return self.cones.velocity(r)

    def residuals(self, r: Floats, u: Floats) -> tuple[float, float]:
        return self.cones.residuals(r, u)

    def value(self, r: Floats) -> Floats:
        return self.cones.value(r)

    def start(self, value: Floats) -> Floats:
        return self.cones.start(value)


class Orthant(ConicProblem):
    """An LCP, mixed or boxed, as blocks of one row; upper bounds become rows of their own."""

    def __init__(self, problem: BoxedLCP) -> None:
        self.problem = problem
        self.boxes = None if isinstance(problem, MixedLCP) else BoxReduction(problem)
        lcp = problem if self.boxes is None else self.boxes.lcp
        self.key, self.nb, self.d, self.exact = (0,), lcp.size, 1, False
        self.mu = np.where(lcp.free, -1.0, 0.0)
        self._unit = lcp.unit
        self.scale = np.ones((lcp.size, 1))  # the natural unknowns are unit-free already
        self._settle(BlockMatrix.of(lcp.M, 1), lcp.q[:, None], 1.0 / self._unit[:, None])

    def velocity(self, r: Floats) -> Floats:
        return self.image(r)

    def residuals(self, r: Floats, u: Floats) -> tuple[float, float]:
        dual = u[:, 0] * self._unit if self.boxes is None else None
        return self.problem.residuals(self.value(r), dual)

    def value(self, r: Floats) -> Floats:
        z = r[:, 0] / self._unit
        return z if self.boxes is None else self.boxes.value(z)

    def direction(self, r: Floats) -> Floats:
        z = r[:, 0] / self._unit
        return z if self.boxes is None else self.boxes.direction(z)

    def start(self, value: Floats) -> Floats:
        out, n = np.zeros((self.nb, 1)), self.problem.size
        if self.boxes is not None:
            value = self.boxes.sign * (value - self.boxes.base)
        out[:n, 0] = value * self._unit[:n]
        return out
