"""Statements turned into other statements; each result can translate its solution back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from drystone.errors import ProblemError
from drystone.problems.cones import PolyhedralCone
from drystone.problems.delassus import DelassusOperator
from drystone.problems.friction import FrictionProblem, GlobalFrictionProblem
from drystone.problems.lcp import LCP, BoxedLCP, MixedLCP
from drystone.types import Bools, Floats, Ints


@dataclass(frozen=True)
class Folded:
    """A friction problem with the forces that are not unknowns folded away: a = A f + b.

    Sliding contacts keep their normal force only (F14: the column carries -mu slip, so A is
    unsymmetric); contacts with mu = 0 lose their tangents. f = (contacts in order, bilateral).

    A (n, n), b (n,); Q (m, n) with r = Q f; normal (nc,) row of each contact's normal; tangent
    (nc,) row of its first tangent, or -1; mu (nc,); bilateral (n,) mask; sliding (nc,) mask.
    """

    A: Floats
    b: Floats
    Q: sp.csr_array
    normal: Ints
    tangent: Ints
    mu: Floats
    bilateral: Bools
    sliding: Bools
    d: int

    def value(self, f: Floats) -> Floats:
        return np.asarray(self.Q @ f)


def fold(problem: FrictionProblem) -> Folded:
    """Fold known friction directions into the columns of W; cones must be circular."""
    d, nc = problem.d, problem.nc
    if problem.cone.stretch(problem.dim) is not None:
        raise ProblemError(f"{problem.cone} cannot be folded: only circular cones")
    sliding = problem.sliding
    sticky = ~sliding & (problem.mu > 0)
    widths = np.where(sticky, d, 1)
    normal = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
    n = int(normal[-1]) + problem.bilateral
    keep = np.ones(problem.size, dtype=bool)
    tangent_rows = d * np.arange(nc)[:, None] + np.arange(1, d)
    keep[tangent_rows[~sticky].ravel()] = False
    kept = np.flatnonzero(keep)
    Q = sp.lil_array((problem.size, n))
    Q[kept, np.arange(n)] = 1.0
    if problem.slip is not None:
        for i in np.flatnonzero(sliding):
            for a in range(d - 1):
                Q[d * i + 1 + a, normal[i]] = -problem.mu[i] * problem.slip[i, a]
    Q = sp.csr_array(Q)
    A = np.ascontiguousarray((problem.dense @ Q)[kept])
    bilateral = np.arange(n) >= normal[-1]
    tangent = np.where(sticky, normal[:-1] + 1, -1)
    return Folded(A, problem.q[kept], Q, normal[:-1], tangent, problem.mu, bilateral, sliding, d)


@dataclass(frozen=True)
class PyramidLCP:
    """The LCP of T1/T8 (or T9) of a friction problem; r = R z.

    z = for each contact (c_n, beta (k), lambda), or c_n alone where friction is folded away,
    then the bilateral multipliers. `lcp` is a MixedLCP if there are bilateral rows.
    """

    lcp: LCP | MixedLCP
    R: sp.csr_array

    def value(self, z: Floats) -> Floats:
        return np.asarray(self.R @ z)


def to_lcp(problem: FrictionProblem | GlobalFrictionProblem, k: int | None = None) -> PyramidLCP:
    """Friction problem with k directions as an LCP: T1/T8, or T9 for law "convex".

    k defaults to the problem's own polyhedral cone, or to 2 in the plane, where it is exact.
    """
    if isinstance(problem, GlobalFrictionProblem):
        problem = problem.local
    if k is None:
        k = problem.k or (2 if problem.d == 2 else 0)
    if k == 0:
        raise ProblemError("a circular cone in space has no exact LCP: give a number of directions")
    cone = PolyhedralCone(k)
    cone.block(problem.dim)
    folded = fold(problem)
    D = cone.directions()
    width = np.where(folded.tangent >= 0, k + 2, 1)
    start = np.concatenate([[0], np.cumsum(width)])
    n, nf = int(start[-1]) + problem.bilateral, folded.b.size
    G = np.zeros((nf, n))  # f = G z
    E = np.zeros((n, n))  # rows of lambda, and what they add to the others
    for i, row in enumerate(folded.normal):
        G[row, start[i]] = 1.0
        if folded.tangent[i] < 0:
            continue
        beta, lam = slice(start[i] + 1, start[i] + 1 + k), start[i] + 1 + k
        t = folded.tangent[i]
        G[t : t + folded.d - 1, beta] = D
        E[beta, lam] = 1.0
        E[lam, start[i]] = problem.mu[i]
        E[lam, beta] = -1.0
        if problem.law == "convex":
            E[start[i], lam] = -problem.mu[i]  # (2.10); block place: misprint E11
    G[folded.bilateral, start[-1] :] = np.eye(problem.bilateral)
    M, q = G.T @ folded.A @ G + E, G.T @ folded.b
    free = np.arange(n) >= start[-1]
    lcp = MixedLCP(M, q, free) if problem.bilateral else LCP(M, q)
    return PyramidLCP(lcp, sp.csr_array(folded.Q @ sp.csr_array(G)))


@dataclass(frozen=True)
class ConicProgram:
    """min 1/2 x'Px + c'x with h - G x in a product of cones, row blocks in order.

    cones: ("zero" | "nonnegative" | "second-order", rows) for each block.
    Its minimiser x is the impulse vector of the convex law.
    """

    P: sp.csc_array
    c: Floats
    G: sp.csc_array
    h: Floats
    cones: tuple[tuple[str, int], ...]


def to_conic(problem: FrictionProblem | GlobalFrictionProblem) -> ConicProgram:
    """The convex law as a second-order cone program in stretched impulses (block form).

    min 1/2 r'Wr + q'r with (mu r_n, r_t) in the second-order cone of each contact; where mu is
    zero that would leave the sign of r_n open, so such a contact has r_n >= 0 and r_t = 0.
    """
    if isinstance(problem, GlobalFrictionProblem):
        problem = problem.local
    if problem.k > 2:
        raise ProblemError(f"{problem.cone} is not a second-order cone: use to_lcp")
    if problem.sliding.any():
        raise ProblemError("contacts with a known slip direction have no conic program")
    form = problem.form
    nb, d = form.nb, problem.d
    scale = np.ones((nb, d))
    scale[: problem.nc, 0] = np.where(problem.mu > 0, problem.mu, 1.0)
    cones: list[tuple[str, int]] = []
    for mu in problem.mu:
        smooth = (("nonnegative", 1), ("zero", d - 1))
        cones.extend((("second-order", d),) if mu > 0 else smooth)
    rows = d * problem.nc
    G = -sp.diags_array(scale.ravel()).tocsc()[:rows]
    W = form.W.scipy
    return ConicProgram(
        P=sp.csc_array(0.5 * (W + W.T)),
        c=form.q.ravel(),
        G=sp.csc_array(G),
        h=np.zeros(rows),
        cones=tuple(cones),
    )


@dataclass(frozen=True)
class Scaled:
    """A problem in scaled unknowns: value = scale * (its value)."""

    problem: BoxedLCP | FrictionProblem
    scale: Floats

    def value(self, scaled: Floats) -> Floats:
        return self.scale * scaled

    def guess(self, value: Floats) -> Floats:
        return value / self.scale


def scaled(problem: BoxedLCP | FrictionProblem | GlobalFrictionProblem) -> Scaled:
    """Symmetric scaling to a unit mean diagonal: per contact (keeps its cone), or per row."""
    if isinstance(problem, GlobalFrictionProblem):
        problem = problem.local
    if isinstance(problem, FrictionProblem):
        s = np.ones(problem.size)
        mean = problem.W.diagonal()[: problem.d * problem.nc].reshape(-1, problem.d).mean(axis=1)
        s[: problem.d * problem.nc] = np.repeat(_inverse_root(mean), problem.d)
        s[problem.d * problem.nc :] = _inverse_root(problem.W.diagonal()[problem.d * problem.nc :])
        new: BoxedLCP | FrictionProblem = FrictionProblem(
            _congruent(problem.W, s),
            s * problem.q,
            problem.mu,
            dim=problem.dim,
            bilateral=problem.bilateral,
            law=problem.law,
            cone=problem.cone,
            slip=problem.slip,
        )
        return Scaled(new, s)
    s = 1.0 / problem.unit
    M, q = _congruent(problem.M, s), s * problem.q
    if type(problem) is LCP:
        return Scaled(LCP(M, q), s)
    if type(problem) is MixedLCP:
        return Scaled(MixedLCP(M, q, problem.free), s)
    return Scaled(BoxedLCP(M, q, problem.lower / s, problem.upper / s), s)


def _congruent(M: Any, s: Floats) -> Any:
    """diag(s) M diag(s), in the form in which M came."""
    if isinstance(M, np.ndarray):
        return s[:, None] * M * s
    S = sp.diags_array(s)
    if isinstance(M, DelassusOperator):
        return DelassusOperator(S @ M.J, M.inverse_mass)
    return sp.csr_array(S @ M @ S)


def _inverse_root(mean: Floats) -> Floats:
    return 1.0 / np.sqrt(np.where(mean > 0, mean, 1.0))
