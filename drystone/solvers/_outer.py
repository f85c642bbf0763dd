"""Exact Coulomb friction from convex problems: the fixed point on s = mu |u_t| (De Saxce, Feng).

With s given, K* ∋ u + s n ⊥ r ∈ K are the optimality conditions of min 1/2 r'Wr + (q + s n)'r
over K. The law of Coulomb is met where s reproduces itself: s = mu |u_t|. Each convex problem is
solved only as well as the present s deserves.
"""

from __future__ import annotations

import numpy as np

from drystone.kernels import conic
from drystone.solvers._cones import ConeProblem
from drystone.types import Floats

INNER = 0.3  # the convex residual to reach, as a fraction of the Coulomb residual


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
        if self.cones.convex_residual(r, u, self.s) > INNER * residual:
            return False
        self.updates += 1
        return conic.slip_shift(self.cones.key, u, self.cones.mu, self.s) > 0.0
