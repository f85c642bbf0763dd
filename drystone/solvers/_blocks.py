"""A friction problem as methods on cones see it: uniform blocks, in its own units or unit-free.

``BlockProblem`` (nsgs, newton) has the blocks of W, q, mu and a law. The rows of an LCP are blocks
of size 1 with mu = 0, and free rows are bilateral blocks, so that the same kernels serve.
``ConeProblem`` (first-order and interior methods) is unit-free: r sqrt(d), u / sqrt(d) with d the
mean diagonal of a contact's block, so that every contact has the same weight; scaling by contact
keeps its circular cone. W is held in block rows, or as G G' with G = J M^-1/2 if it is matrix-free.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.sparse as sp

from drystone.kernels.blocks import CONVEX, COULOMB, LINEAR, block_product
from drystone.kernels.cones import conic
from drystone.kernels.cones.problem import Factor, FrictionBlocks
from drystone.kernels.contact.residual import contact_residuals
from drystone.problems import BoxedLCP, FrictionProblem, Problem
from drystone.problems.delassus import BlockMatrix
from drystone.problems.friction import BlockForm
from drystone.problems.mass import assembled, decoupled
from drystone.types import Floats


def smooth_cones_only(problem: Problem) -> str | None:
    """Why a method for circular (or stretched) cones does not take the problem, or None."""
    problem = problem.local
    if not isinstance(problem, FrictionProblem):
        return f"solves friction problems, not {problem.kind}"
    if problem.k > 2:
        return f"solves smooth cones, not polyhedral ones (k = {problem.k})"
    if problem.slip is not None and problem.sliding.any():
        return "does not take contacts with a known slip direction"
    return None


def circular_cones_only(problem: Problem) -> str | None:
    """Why a method that stands for circular cones does not take the problem, or None."""
    problem = problem.local
    if not isinstance(problem, FrictionProblem):
        return f"solves friction problems, not {problem.kind}"
    if problem.k > 2 or problem.cone.stretch(problem.dim) is not None:
        return f"stands for circular cones, not for {problem.cone}"
    return None


class BlockProblem:
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


class ConeProblem:
    """Unit-free blocks of a friction problem. q (nb, d), mu (nb,); exact: not the convex law.

    A solution of Coulomb's law also meets the weaker conditions of law "static".

    Products come from ``W`` (scaled BlockMatrix) or ``G`` (rows of J M^-1/2 in column blocks).
    """

    def __init__(self, problem: FrictionProblem) -> None:
        self.form = problem.form
        self.unit = self.form.unit
        self.key, self.nb, self.d = self.form.key, self.form.nb, problem.d
        self.mu = self.form.mu
        self.q = self.form.q / self.unit[:, None]
        self.exact = problem.law != "convex" and bool((self.mu > 0).any())
        self.matrix_free = problem.matrix_free
        self._operator = problem.W
        self._inverse_unit = 1.0 / self.unit
        self._law = CONVEX if problem.law == "convex" else COULOMB
        self._work = np.empty_like(self.q)

    @cached_property
    def W(self) -> BlockMatrix:
        W = self.form.W
        weight = np.repeat(self._inverse_unit, np.diff(W.indptr)) * self._inverse_unit[W.indices]
        return W.with_blocks(W.blocks * weight[:, None, None])

    @cached_property
    def G(self) -> sp.bsr_array:
        """(nb d, ndof) in blocks of (d, 1): W = G G'."""
        scale = sp.diags_array(np.repeat(self._inverse_unit, self.d))
        G = sp.csr_array(scale @ self.form.J @ mass_root(self._operator.inverse_mass))
        out = sp.bsr_array(G, blocksize=(self.d, 1))
        out.sort_indices()
        return out

    @cached_property
    def factor(self) -> Factor:
        """G for kernels."""
        return Factor(self.G.indptr, self.G.indices, np.ascontiguousarray(self.G.data[:, :, 0]))

    def velocity(self, r: Floats, u: Floats | None = None) -> Floats:
        """u = W r + q, unit-free."""
        u = np.empty_like(self.q) if u is None else u
        if self.matrix_free:
            nu = np.empty(self.G.shape[1])
            conic.scatter(self.key, self.factor, r, nu)
            conic.gather(self.key, self.factor, nu, self.q, u)
        else:
            W = self.W
            block_product(self.key, W.indptr, W.indices, W.blocks, r, self.q, u)
        return u

    def start(self, value: Floats | None) -> Floats:
        """Unit-free blocks of a value, or zeros."""
        if value is None:
            return np.zeros_like(self.q)
        return np.ascontiguousarray(self.form.impulses(value) * self.unit[:, None])

    def value(self, r: Floats) -> Floats:
        return self.form.value(r * self._inverse_unit[:, None])

    def residuals(self, r: Floats, u: Floats) -> tuple[float, float]:
        """(scaled, unit-free), as the problem itself judges."""
        unit, plain = contact_residuals(
            self.key, r, u, self.q, self.mu, self._inverse_unit, self._law
        )
        return plain, unit

    def convex_residual(self, r: Floats, u: Floats, s: Floats) -> float:
        """Unit-free residual of the convex problem with the shift s."""
        error = conic.convex_error(self.key, r, u, s, self.mu, self._work)
        scale = max(_norm(self.q), _norm(r), _norm(u))
        return float(error / scale) if scale > 0 else float(error)


def mass_root(inverse: sp.csr_array) -> sp.csr_array:
    """Symmetric S with S S = M^-1, block by block; M^-1 may have zero blocks (fixed bodies)."""
    diagonal = inverse.diagonal()
    if inverse.nnz == np.count_nonzero(diagonal):
        return sp.csr_array(sp.diags_array(np.sqrt(diagonal)))
    roots = []
    for members, cells in decoupled(inverse, np.inf) or []:
        values, vectors = np.linalg.eigh(cells)
        spectrum = np.sqrt(np.maximum(values, 0.0))[:, None, :]
        roots.append((members, (vectors * spectrum) @ vectors.transpose(0, 2, 1)))
    return assembled(roots, inverse.shape)


def _norm(x: Floats) -> float:
    return float(np.sqrt(np.vdot(x, x)))
