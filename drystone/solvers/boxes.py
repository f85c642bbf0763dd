"""A boxed LCP as a mixed LCP with lower bounds only.

With z = base + S y (S = -1 where only the upper bound is finite, 1 elsewhere):
  one finite bound: y >= 0 complementary to S w;
  two finite bounds: S w is split into w+ - v with 0 <= w+ _|_ y >= 0 and the extra row
  0 <= (upper - lower) - y _|_ v >= 0;
  no finite bound: a free row.
The extra block is skew, so a positive semidefinite M stays so.
"""

from __future__ import annotations

import numpy as np

from drystone.problems import BoxedLCP, MixedLCP
from drystone.types import Floats


class BoxReduction:
    """`lcp` has n rows of y, then one row for each doubly bounded one."""

    def __init__(self, problem: BoxedLCP) -> None:
        n = problem.size
        lower, upper = np.isfinite(problem.lower), np.isfinite(problem.upper)
        self.sign = np.where(upper & ~lower, -1.0, 1.0)
        self.base = np.where(lower, problem.lower, np.where(upper, problem.upper, 0.0))
        both = np.flatnonzero(lower & upper)
        extra = n + np.arange(both.size)
        M = np.zeros((n + both.size, n + both.size))
        M[:n, :n] = self.sign[:, None] * problem.dense * self.sign
        M[both, extra], M[extra, both] = 1.0, -1.0
        q = self.sign * (problem.dense @ self.base + problem.q)
        room = (problem.upper - problem.lower)[both]
        free = np.concatenate([problem.free, np.zeros(both.size, bool)])
        self.lcp = MixedLCP(M, np.concatenate([q, room]), free)

    def value(self, y: Floats) -> Floats:
        return self.base + self.direction(y)

    def direction(self, y: Floats) -> Floats:
        """Change of z for a change of y."""
        return np.asarray(self.sign * y[: self.sign.size])
