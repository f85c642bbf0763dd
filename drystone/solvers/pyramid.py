"""Friction problems as arrays of an LCP, for pivoting; r = value(z) translates back."""

from __future__ import annotations

import numpy as np

from drystone.kernels import pyramid as kernels
from drystone.problems import FrictionProblem
from drystone.problems.convert import to_lcp
from drystone.types import Floats


class PlanarPyramid:
    """The LCP of a step in the plane, where two directions are exact; built by one kernel."""

    def __init__(self, problem: FrictionProblem) -> None:
        slip = np.zeros(problem.nc) if problem.slip is None else problem.slip[:, 0].copy()
        n = kernels.planar_size(problem.mu, slip, problem.bilateral)
        self._size = problem.size
        self._row, self._side, self._along = np.empty(n, np.int64), np.empty(n), np.empty(n)
        self.M, self.q = np.empty((n, n)), np.empty(n)
        kernels.planar_pyramid(
            problem.dense,
            problem.q,
            problem.mu,
            slip,
            problem.law == "convex",
            self._row,
            self._side,
            self._along,
            self.M,
            self.q,
        )
        self.free = self._row >= 2 * problem.nc

    def value(self, z: Floats) -> Floats:
        r = np.empty(self._size)
        kernels.planar_value(z, self._row, self._side, self._along, r)
        return r


class SpatialPyramid:
    """Polyhedral cones in space, and contacts whose friction is known."""

    def __init__(self, problem: FrictionProblem) -> None:
        self._pyramid = to_lcp(problem, problem.k or 4)  # k matters only where friction is unknown
        lcp = self._pyramid.lcp
        self.M, self.q, self.free = lcp.dense, lcp.q, lcp.free

    def value(self, z: Floats) -> Floats:
        return self._pyramid.value(z)
