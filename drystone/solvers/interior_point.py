"""``interior-point``: primal-dual predictor-corrector for LCPs and friction cones, with a polish.

Mehrotra's method with Nesterov-Todd scaling; for exact Coulomb friction the slip shift mu |u_t|
is linearised with everything else, so that no outer loop is needed. Near the solution semismooth
Newton steps on the natural map, which use the same linear systems, finish to rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from drystone.kernels.cones import interior_point as kernels
from drystone.problems import BoxedLCP, FrictionProblem, MixedLCP, Problem
from drystone.problems.convert import BoxReduction
from drystone.problems.delassus import BlockMatrix
from drystone.solvers._blocks import ConeProblem, smooth_cones_only
from drystone.solvers._system import System, shifted_system
from drystone.solvers.base import LEAST_RESIDUAL, Answer, Limits, Solver, Start
from drystone.solvers.certificates import ESCAPE
from drystone.types import Floats, Status

FRACTION = 0.99  # of the way to the boundary
# below SLOW_STEP a step with fixed shift is tried, to CENTRED times mu
SLOW_STEP, CENTRED = 0.1, 0.9
# more than SHORT_STEPS steps in a row shorter than SHORT_STEP: stuck
SHORT_STEP, SHORT_STEPS = 1e-6, 4
# |x| / |q| from which a certificate is searched for, and from which the run has diverged
CERTIFICATE_SIZE, DIVERGED_SIZE = 1e5, 1e12
POLISH_FIRST = 0.03  # residual below which a polish is tried,
POLISH_AGAIN = 0.1  # and the factor by which it must fall before the next one
POLISH_STEPS = 12  # of one polish
POLISH_DAMPING = 1e-9  # of polishing steps, along directions in which W vanishes
START_DISTANCE = 1e-2  # of the size of q: least distance of a warm start from the cones' boundary


@dataclass(frozen=True, kw_only=True)
class InteriorPoint(Solver):
    """Options of ``interior-point``.

    max_iterations: predictor-corrector steps. polish: finish by Newton steps on the natural map;
    without it rounding ends the run near 1e-7, in one problem of a hundred near 1e-6.
    """

    max_iterations: int = 100
    polish: bool = True
    name: ClassVar[str] = "interior-point"
    _least: ClassVar[dict[str, int]] = {"max_iterations": 1}

    def refuses(self, problem: Problem) -> str | None:
        return None if isinstance(problem, BoxedLCP) else smooth_cones_only(problem)

    def run(self, problem: Any, start: Start, limits: Limits) -> Answer:
        conic: ConicProblem = (
            Orthant(problem) if isinstance(problem, BoxedLCP) else FrictionCones(problem)
        )
        run = _Run(conic, limits)
        status = self._warm(run, start)
        if status is None:
            status = self._follow(run)
        info = {"polish_steps": run.polish_steps}
        extras: dict[str, Any] = {"history": np.array(run.history), "info": info}
        if run.proof is not None:
            ray = conic.direction(conic.scale * run.proof)
            extras["ray"] = ray / np.abs(ray).max()
            info["certificate"] = extras["ray"]
        return Answer(conic.value(run.best), status, run.path.done, extras=extras)

    def _warm(self, run: _Run, start: Start) -> Status | None:
        """Judge and polish a guess; if that is not enough, start from inside the cones near it."""
        if start.value is None:
            return None
        r = run.conic.start(start.value)
        if run.judge(r) <= run.limits.tol or (self.polish and run.polish(r, run.history[-1])):
            return Status.SOLVED
        run.path.begin_near(r)
        return None

    def _follow(self, run: _Run) -> Status:
        """Steps along the central path, with a polish whenever the residual has fallen enough."""
        path, limits, tried = run.path, run.limits, np.inf
        while True:
            # first: a residual relative to |r| means nothing along a ray to infinity
            run.proof = run.conic.infeasibility(path.x) if path.size > CERTIFICATE_SIZE else None
            if run.proof is not None:
                return Status.INFEASIBLE
            r = run.conic.scale * path.x
            residual = run.judge(r)
            if residual <= limits.tol:
                return Status.SOLVED
            if limits.expired():
                return Status.TIME_LIMIT
            ended = path.stuck or path.done >= self.max_iterations
            if self.polish and (ended or residual <= min(POLISH_FIRST, POLISH_AGAIN * tried)):
                tried = residual
                if run.polish(r, residual):
                    return Status.SOLVED
            if ended:
                return Status.STALLED if path.stuck else Status.MAX_ITERATIONS
            path.step()


class _Run:
    """A run's best point, by the larger of the problem's two residuals, and its polish."""

    def __init__(self, conic: ConicProblem, limits: Limits) -> None:
        self.conic, self.limits = conic, limits
        self.path = _Path(conic)
        self.least = np.inf
        self.best = np.zeros((conic.nb, conic.d))
        self.u = self.best
        self.polish_steps = 0
        self.proof: Floats | None = None
        self.history: list[float] = []

    def judge(self, r: Floats) -> float:
        self.u = self.conic.velocity(r)
        residual = max(self.conic.residuals(r, self.u))
        self.history.append(residual)
        if residual < self.least:
            self.least, self.best = residual, r.copy()
        return residual

    def polish(self, r: Floats, residual: float) -> bool:
        """Newton steps on the natural map while they pay; True if they reach the tolerance.

        The first step determines which contacts stick, slip and open and may well raise the
        residual; the second must lower it.
        """
        conic, shape = self.conic, r.shape
        D, rhs = np.empty((*shape, conic.d)), np.empty(shape)
        P = np.empty((conic.d + 1, conic.d))
        u = conic.velocity(r)
        seen = [residual]
        while len(seen) <= POLISH_STEPS and not self.limits.expired():
            kernels.polish(
                conic.key, conic.exact, r, u, conic.mu, conic.scale, POLISH_DAMPING, P, D, rhs
            )
            self.polish_steps += 1
            if not conic.system.factorise(D):
                return False
            dx = conic.system.solve(rhs)
            r = r + conic.scale * dx
            if not np.isfinite(dx).all():
                return False
            large = np.abs(dx).max(initial=0.0) > CERTIFICATE_SIZE * self.path.unit
            if large and conic.infeasibility(dx) is not None:
                return False
            seen.append(self.judge(r))
            u = self.u
            if seen[-1] <= self.limits.tol:
                return True
            if seen[-1] > 30.0 * seen[0] or (len(seen) > 2 and seen[-1] > 0.5 * seen[-3]):
                return False
        return False


def polished(problem: FrictionProblem, value: Floats, limits: Limits) -> Floats:
    """The best of impulses and their refinements by Newton steps on the natural map."""
    run = _Run(FrictionCones(problem), Limits(LEAST_RESIDUAL, limits.left()))
    r = run.conic.start(value)
    run.polish(r, run.judge(r))
    return run.conic.value(run.best)


class _Path:
    """Iterates (x, y) of the interior-point method and its work arrays."""

    def __init__(self, conic: ConicProblem) -> None:
        self.conic = conic
        shape = (conic.nb, conic.d)
        self.unit = float(np.abs(conic.q).max(initial=0.0)) or 1.0
        self._cones = conic.kind != kernels.FREE_BLOCK
        self.x, self.y = np.zeros(shape), np.zeros(shape)
        self.x[self._cones, 0] = self.y[self._cones, 0] = self.unit
        v, lam, t, rho, rhs, c = np.empty((6, *shape))
        theta, D = np.empty((2, *shape, conic.d))
        self.iterate = kernels.Iterate(
            conic.kind, self.x, self.y, v, np.empty(conic.nb), lam, theta, t, D, rho, c, rhs
        )
        self.done, self.stuck, self._short = 0, False, 0

    def begin_near(self, r: Floats) -> None:
        """Take x and y from natural impulses, moved off the cones' boundary."""
        conic, cones = self.conic, self._cones
        self.x[:] = np.divide(r, conic.scale, out=np.zeros_like(r), where=conic.scale > 0)
        u = conic.image(self.x)
        self.y[cones] = u[cones]
        self.y[conic.kind == kernels.RAY_BLOCK, 1:] = 0.0
        least = START_DISTANCE * self.unit
        for z in (self.x, self.y):
            floor = np.linalg.norm(z[:, 1:], axis=1) + least
            z[cones, 0] = np.maximum(z[cones, 0], floor[cones])

    @property
    def size(self) -> float:
        """Largest |x| relative to |q|."""
        return float(np.abs(self.x).max(initial=0.0)) / self.unit

    def step(self) -> None:
        """One predictor-corrector step; `stuck` if it cannot be taken or leads nowhere.

        Coulomb's law is not monotone and a Newton step may be short. The step with the shift held
        fixed is that of a convex problem: it brings the iterates back to the middle of the cones.
        """
        length, dx, dy = self._direction(self.conic.exact)
        if self.conic.exact and length < SLOW_STEP:
            other, dx_other, dy_other = self._direction(False)
            if other > length:
                length, dx, dy = other, dx_other, dy_other
        if length < 0.0:
            self.stuck = True
            return
        self.x += length * dx
        self.y += length * dy
        self.done += 1
        self._short = self._short + 1 if length < SHORT_STEP else 0
        self.stuck = self._short > SHORT_STEPS or self.size > DIVERGED_SIZE

    def _direction(self, bend: bool) -> tuple[float, Floats, Floats]:
        """(length, dx, dy) with the shift's derivative (`bend`) or without; length -1: singular."""
        conic, key, p, dy = self.conic, self.conic.key, self.iterate, np.empty_like(self.y)
        failed, mu = kernels.prepare(key, p, conic.exact, bend, conic.image(self.x))
        if failed or not conic.system.factorise(p.D):
            return -1.0, dy, dy
        if bend == conic.exact:
            kernels.correct(key, p, conic.system.solve(p.rhs), mu, dy)
        else:
            kernels.centre(key, p, CENTRED * mu, np.empty_like(dy), dy)
        dx = conic.system.solve(p.rhs)
        if not np.isfinite(dx).all():
            return -1.0, dy, dy
        reach = kernels.reach(key, p, dx, dy)
        return min(1.0, FRACTION * reach), dx, dy


# Complementarity over second-order cones, as the interior-point method sees it.
#
# Friction problems and LCPs in one statement: blocks (nb, d), natural unknowns r, u (unit-free), in
# which problems are judged, and scaled ones x = r / scale, y = scale u~, in which every cone is
# {x_0 >= |x_1..|}. An LCP has d = 1 and scale = 1.

VANISHING = 1e-5  # share of a diverging x below which a block does not diverge
PROOF = 1e-9  # relative error of a certificate of infeasibility


class ConicProblem:
    """Find x in K with y = W x + q (+ |y_t| n if `exact`) in K*, x'y = 0.

    kind (nb,) as in ``kernels.cones.interior_point``; mu (nb,) of the natural cones; scale (nb, d).
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

    def _scale(self, W: BlockMatrix, q: Floats, scale: Floats) -> None:
        """Scale W and q, and prepare the linear systems."""
        self.kind = np.where(self.mu < 0, kernels.FREE_BLOCK, kernels.CONE_BLOCK)
        if self.d > 1:
            self.kind[self.mu == 0] = kernels.RAY_BLOCK
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
        Where -W'd is off K* by e, it follows for |z| < |q'd| / e.
        """
        if self.exact:
            return None  # the shift by the slip is not bounded: nothing is proved
        size = np.abs(x).max()
        if not (np.isfinite(size) and size > 0):
            return None
        d = np.where(
            (self.kind == kernels.RAY_BLOCK)[:, None] & (np.arange(self.d) > 0), 0.0, x / size
        )
        d[np.abs(d).max(axis=1) < VANISHING] = 0.0  # what tends to zero along the ray
        transposed = self.W.scipy.T
        g = -np.asarray(transposed @ d.ravel()).reshape(d.shape)
        slack = PROOF * np.asarray(abs(transposed) @ np.abs(d).ravel()).reshape(d.shape)
        tangent, loose = np.linalg.norm(g[:, 1:], axis=1), np.linalg.norm(slack, axis=1)
        tangent[self.kind == kernels.RAY_BLOCK] = 0.0
        free = self.kind == kernels.FREE_BLOCK
        off = np.where(free, np.hypot(g[:, 0], tangent), np.maximum(tangent - g[:, 0], 0.0))
        gain = -float(np.vdot(self.q, d))
        proved = (off <= loose).all() and gain > PROOF * float(np.vdot(np.abs(self.q), np.abs(d)))
        far = gain > ESCAPE * float(np.linalg.norm(off)) * float(np.abs(self.q).max())
        return d if proved and far else None

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
        self._scale(cones.W, cones.q, self.scale)

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
        self._scale(BlockMatrix.of(lcp.M, 1), lcp.q[:, None], 1.0 / self._unit[:, None])

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
