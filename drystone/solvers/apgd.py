"""``apgd``: accelerated projected gradient, matrix-free, for very many contacts.

Mazhar, Heyn, Negrut, Tasora, "Using Nesterov's method to accelerate multibody dynamics with
friction and contact" (2015); exact Coulomb friction by the fixed point on mu |u_t|.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from drystone.kernels.cones import apgd as kernels
from drystone.kernels.cones import conic
from drystone.kernels.cones.problem import Blocks
from drystone.problems import FrictionProblem, Problem
from drystone.solvers._blocks import ConeProblem, smooth_cones_only
from drystone.solvers.base import Answer, Limits, Solver, Start
from drystone.types import Floats, Status

# iterations between two residuals, which cost about two of them, and the fewest
CHUNK_STEPS, CHUNK_STEPS_LEAST = 25, 5
# contacts x iterations in one chunk, where that leaves CHUNK_STEPS_LEAST of them
CHUNK_WORK = 300_000


@dataclass(frozen=True, kw_only=True)
class APGD(Solver):
    """Options of ``apgd``. max_iterations: accelerated gradient steps, all convex problems."""

    max_iterations: int = 100_000
    name: ClassVar[str] = "apgd"
    _least: ClassVar[dict[str, int]] = {"max_iterations": 1}

    def refuses(self, problem: Problem) -> str | None:
        return smooth_cones_only(problem)

    def run(self, problem: FrictionProblem, start: Start, limits: Limits) -> Answer:
        cones = ConeProblem(problem)
        state = _State(cones, cones.start(start.value))
        shift = SlipShift(cones, state.u)
        best, least = state.r.copy(), np.inf
        chunk = max(CHUNK_STEPS_LEAST, min(CHUNK_STEPS, CHUNK_WORK // max(cones.nb, 1)))
        done, status, history = 0, Status.MAX_ITERATIONS, []
        while True:
            plain, unit = cones.residuals(state.r, state.u)
            residual = max(plain, unit)
            history.append(residual)
            if residual < least:
                least = residual
                best[:] = state.r
            if residual <= limits.tol:
                status = Status.SOLVED
            elif limits.expired():
                status = Status.TIME_LIMIT
            if status is not Status.MAX_ITERATIONS or done >= self.max_iterations:
                break
            if shift.update(state.r, state.u, unit):
                state.restart()
            steps = min(chunk, self.max_iterations - done)
            state.advance(shift.s, steps)
            done += steps
        info = {
            "restarts": int(state.state[2]),
            "products": int(state.state[3]),
            "shift_updates": shift.updates,
        }
        extras = {"history": np.array(history), "info": info}
        return Answer(cones.value(best), status, done, extras=extras)


class _State:
    """Iterates of a run: r, its extrapolation y, and what is linear in them."""

    def __init__(self, cones: ConeProblem, r: Floats) -> None:
        self.cones = cones
        conic.project(cones.key, r, cones.mu)
        self.r, self.y = r, r.copy()
        self.u = cones.velocity(r)
        self.state = np.array([1.0, _first_curvature(cones), 0.0, 0.0])
        carried = self.u
        if cones.matrix_free:
            carried = np.empty(cones.G.shape[1])
            conic.scatter(cones.key, cones.factor, r, carried)
        work = np.empty_like(r), np.empty_like(carried), np.empty(cones.d)
        self.iterate = kernels.Iterate(r, self.y, carried, carried.copy(), *work)

    def restart(self) -> None:
        """Forget the momentum: the function to minimise has changed."""
        self.state[0] = 1.0
        self.y[:] = self.r
        self.iterate.u_y[:] = self.iterate.u

    def advance(self, s: Floats, steps: int) -> None:
        cones, x = self.cones, self.iterate
        p = kernels.Cones(cones.q, cones.mu, s)
        W = (
            cones.factor
            if cones.matrix_free
            else Blocks(cones.W.indptr, cones.W.indices, cones.W.blocks)
        )
        kernels.advance(cones.key, W, p, x, self.state, steps)
        if cones.matrix_free:
            conic.gather(cones.key, cones.factor, x.u, cones.q, self.u)


def _first_curvature(cones: ConeProblem) -> float:
    """A first guess of the Lipschitz constant: the Rayleigh quotient of q (all pulled alike)."""
    size = float(np.vdot(cones.q, cones.q))
    if size == 0.0:
        return 1.0
    product = cones.velocity(cones.q) - cones.q
    return max(float(np.vdot(cones.q, product)) / size, 1e-3)


# Exact Coulomb friction from convex problems: the fixed point on s = mu |u_t| (De Saxce, Feng).
#
# With s given, K* ∋ u + s n ⊥ r ∈ K are the optimality conditions of min 1/2 r'Wr + (q + s n)'r
# over K. The law of Coulomb is met where s reproduces itself: s = mu |u_t|. Each convex problem is
# solved only as well as the present s deserves.

INNER_SHARE = 0.3  # the convex residual to reach, as a fraction of the Coulomb residual


class SlipShift:
    """The shift s (nb,) of a run, and the rule that moves it."""

    def __init__(self, cones: ConeProblem, u: Floats) -> None:
        self.cones = cones
        self.s = np.zeros(cones.nb)
        self.updates = 0
        self._next = np.zeros(cones.nb)
        if cones.exact:
            conic.slip_shift(cones.key, u, cones.mu, self.s)

    def update(self, r: Floats, u: Floats, residual: float) -> bool:
        """Take s = mu |u_t| if the convex problem is solved well enough; True if s moved."""
        if not self.cones.exact:
            return False
        if self.cones.convex_residual(r, u, self.s) > INNER_SHARE * residual:
            return False
        self.updates += 1
        return conic.slip_shift(self.cones.key, u, self.cones.mu, self.s) > 0.0
