"""A problem as the block methods (nsgs, newton) see it: blocks of W, q, mu and a law.

A friction problem is its block form. The rows of an LCP are blocks of size 1 with mu = 0, and
free rows are bilateral blocks, so that the same kernels serve.
"""

from __future__ import annotations

import numpy as np

from drystone.kernels.blocks import CONVEX, COULOMB, LINEAR
from drystone.kernels.cones.problem import FrictionBlocks
from drystone.problems import BoxedLCP, FrictionProblem, GlobalFrictionProblem, Problem
from drystone.problems.delassus import BlockMatrix
from drystone.problems.friction import BlockForm
from drystone.types import Floats


def smooth_cones_only(problem: Problem) -> str | None:
    """Why a method for circular (or stretched) cones does not take the problem, or None."""
    if isinstance(problem, GlobalFrictionProblem):
        problem = problem.local
    if not isinstance(problem, FrictionProblem):
        return f"solves friction problems, not {problem.kind}"
    if problem.k > 2:
        return f"solves smooth cones, not polyhedral ones (k = {problem.k}): use lemke"
    if problem.slip is not None and problem.sliding.any():
        return "does not take contacts with a known slip direction: use dantzig or lemke"
    return None


class Contacts:
    """q (nb, d), mu (nb,), unit (nb,), law (kernel code), W (formed on demand)."""

    __slots__ = ("_W", "_blocks", "_form", "key", "law", "mu", "nb", "q", "unit")

    def __init__(self, problem: FrictionProblem | BoxedLCP) -> None:
        self._form: BlockForm | None = None
        self._W: BlockMatrix | None = None
        self._blocks: FrictionBlocks | None = None
        if isinstance(problem, FrictionProblem):
            form = self._form = problem.form
            self.key, self.nb, self.q, self.mu = form.key, form.nb, form.q, form.mu
            self.unit = form.unit
            # a Coulomb solution meets the weaker conditions of law "static" too
            self.law = CONVEX if problem.law == "convex" else COULOMB
        else:
            self.key, self.nb, self.q = (0,), problem.size, problem.q.reshape(-1, 1)
            self.mu = np.where(problem.free, -1.0, 0.0)
            self.unit, self.law = problem.unit, LINEAR
            self._W = BlockMatrix.of(problem.M, 1)

    @property
    def W(self) -> BlockMatrix:
        if self._W is None:
            assert self._form is not None
            self._W = self._form.W
        return self._W

    @property
    def blocks(self) -> FrictionBlocks:
        """The problem as kernels take it."""
        if self._blocks is None:
            W, given = self.W, (self.q, self.mu, self.unit, self.law)
            self._blocks = FrictionBlocks(W.indptr, W.indices, W.blocks, *given)
        return self._blocks

    def start(self, value: Floats | None) -> Floats:
        """A fresh (nb, d) array of impulses."""
        if value is None:
            return np.zeros_like(self.q)
        if self._form is not None:
            return self._form.impulses(value).copy()
        return value.reshape(-1, 1).copy()

    def value(self, r: Floats) -> Floats:
        if self._form is not None:
            return self._form.value(r)
        return r.reshape(-1)
