"""Statements turned into other statements; each result can translate its solution back."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from drystone.errors import ProblemError
from drystone.problems.cones import PolyhedralCone
from drystone.problems.delassus import DelassusOperator
from drystone.problems.friction import FrictionProblem, GlobalFrictionProblem
from drystone.problems.lcp import LCP, BoxedLCP, MixedLCP
from drystone.types import Bools, Floats, Ints
from drystone.values import text, whole


@dataclass(frozen=True)
class Folded:
    """A friction problem with the forces that are not unknowns folded away: a = A f + b.

    Sliding contacts keep their normal force only (the column carries -mu slip, so A is
    unsymmetric); contacts with mu = 0 lose their tangents. f = (contacts in order, bilateral).

    A (n, n), b (n,); normal (nc,) row of each contact's normal; tangent (nc,) row of its first
    tangent, or -1; mu (nc,); bilateral (n,) mask; sliding (nc,) mask; kept (n,) rows of the
    problem that are rows of f; dragged, by, drag: r[dragged] = drag f[by], dynamic friction.
    """

    A: Floats
    b: Floats
    normal: Ints
    tangent: Ints
    mu: Floats
    bilateral: Bools
    sliding: Bools
    d: int
    size: int
    kept: Ints
    dragged: Ints
    by: Ints
    drag: Floats

    def value(self, f: Floats) -> Floats:
        """r of the problem."""
        r = np.zeros(self.size)
        r[self.kept] = f
        r[self.dragged] = self.drag * f[self.by]
        return r

    @cached_property
    def Q(self) -> sp.csr_array:
        """(size, n) with r = Q f."""
        n = self.b.size
        rows = np.concatenate([self.kept, self.dragged])
        columns = np.concatenate([np.arange(n), self.by])
        entries = np.concatenate([np.ones(n), self.drag])
        return sp.csr_array((entries, (rows, columns)), shape=(self.size, n))


def fold(problem: FrictionProblem) -> Folded:
    """Fold known friction directions into the columns of W; cones must be circular."""
    d, nc = problem.d, problem.nc
    if problem.cone.stretch(problem.dim) is not None:
        raise ProblemError(f"{problem.cone} cannot be folded: only circular cones")
    sliding = problem.sliding
    sticky = ~sliding & (problem.mu > 0)
    ends = np.cumsum(np.where(sticky, d, 1))
    n = (int(ends[-1]) if nc else 0) + problem.bilateral
    normal = np.concatenate([[0], ends[:-1]])[:nc].astype(np.int64)
    keep = np.ones(problem.size, dtype=bool)
    tangents = d * np.arange(nc)[:, None] + np.arange(1, d)
    keep[tangents[~sticky].ravel()] = False
    kept = np.flatnonzero(keep)
    moving = np.flatnonzero(sliding)
    dragged, by = tangents[moving].ravel(), np.repeat(normal[moving], d - 1)
    drag = np.zeros(0)
    A = problem.dense[np.ix_(kept, kept)]
    if problem.slip is not None:
        drag = -(problem.mu[moving, None] * problem.slip[moving]).ravel()
        for t in range(d - 1):  # one tangent at a time: each normal column receives one term
            columns = problem.dense[np.ix_(kept, dragged[t :: d - 1])]
            A[:, by[t :: d - 1]] += columns * drag[t :: d - 1]
    tangent = np.where(sticky, normal + 1, -1)
    bilateral = np.arange(n) >= n - problem.bilateral
    return Folded(
        A, problem.q[kept], normal, tangent, problem.mu, bilateral, sliding, d, problem.size,
        kept, dragged, by, drag,
    )  # fmt: skip


@dataclass(frozen=True)
class PyramidLCP:
    """The LCP of a friction problem, exact or relaxed (convex); r = R z.

    z = for each contact (c_n, beta (k), lambda), or c_n alone where friction is folded away,
    then the bilateral multipliers. `lcp` is a MixedLCP if there are bilateral rows.
    """

    lcp: LCP | MixedLCP
    folded: Folded
    directions: Directions
    stretch: sp.csr_array | None = None

    def value(self, z: Floats) -> Floats:
        """r of the problem."""
        r = self.folded.value(self.directions.forces(z))
        return r if self.stretch is None else np.asarray(self.stretch @ r)

    @cached_property
    def R(self) -> sp.csr_array:
        """(size, n) with r = R z."""
        G = sp.csr_array(self.directions.spread(np.eye(self.folded.b.size)).T)
        R = sp.csr_array(self.folded.Q @ G)
        return R if self.stretch is None else sp.csr_array(self.stretch @ R)


class Directions:
    """Places of (c_n, beta, lambda) in z, and the map f = G z that it stands for.

    first (nc,) place of c_n; sticky: contacts with friction; beta (sticky, k); last (sticky,)
    place of lambda.
    """

    def __init__(self, folded: Folded, cone: PolyhedralCone) -> None:
        k, self.D, self._folded = cone.k, cone.directions(), folded
        width = np.where(folded.tangent >= 0, k + 2, 1)
        ends = np.cumsum(width)
        self.first = ends - width
        self.contacts = int(ends[-1]) if ends.size else 0
        self.n = self.contacts + int(folded.bilateral.sum())
        self.sticky = np.flatnonzero(folded.tangent >= 0)
        self.beta = self.first[self.sticky, None] + np.arange(1, k + 1)
        self.last = self.first[self.sticky] + k + 1
        self.tangents = folded.tangent[self.sticky, None] + np.arange(folded.d - 1)

    def spread(self, X: Floats) -> Floats:
        """G' X for X with one row for each entry of f."""
        out = np.zeros((self.n, X.shape[1]))
        out[self.first] = X[self._folded.normal]
        out[self.beta] = self.D.T @ X[self.tangents]
        out[self.contacts :] = X[self._folded.bilateral]
        return out

    def forces(self, z: Floats) -> Floats:
        """f = G z."""
        f = np.zeros(self._folded.b.size)
        f[self._folded.normal] = z[self.first]
        f[self.tangents] = z[self.beta] @ self.D.T
        f[self._folded.bilateral] = z[self.contacts :]
        return f


_KINDS = (BoxedLCP, FrictionProblem, GlobalFrictionProblem)


def _stated(owner: str, problem: Any, kinds: tuple[type, ...]) -> None:
    if not isinstance(problem, kinds):
        expected = " or ".join(kind.__name__ for kind in kinds)
        raise ProblemError(f"{owner}: {text(problem)} is no problem: expected {expected}")


def to_lcp(problem: FrictionProblem | GlobalFrictionProblem, k: int | None = None) -> PyramidLCP:
    """Friction problem with k directions as an LCP: Anitescu et al. 1998, (7), or its relaxation.

    k defaults to the problem's own polyhedral cone, or to 2 in the plane, where it is exact;
    where no friction is unknown it does not matter. An elliptic cone takes its directions in the
    coordinates in which it is circular.
    """
    _stated("to_lcp", problem, _KINDS[1:])
    problem = problem.local
    problem, stretch = _circular(problem)
    if k is None:
        known = problem.sliding | (problem.mu == 0)
        k = problem.k or (2 if problem.d == 2 else 4 if known.all() else 0)
    if whole(k) == 0:
        raise ProblemError("a smooth cone in space has no exact LCP: give a number of directions")
    cone = PolyhedralCone(k)
    cone.block(problem.dim)
    folded = fold(problem)
    at = Directions(folded, cone)
    M = at.spread(np.ascontiguousarray(at.spread(folded.A.T).T))
    q = at.spread(folded.b[:, None])[:, 0]
    mu, first = problem.mu[at.sticky], at.first[at.sticky]
    M[at.beta, at.last[:, None]] += 1.0
    M[at.last[:, None], at.beta] -= 1.0
    M[at.last, first] += mu
    if problem.law == "convex":
        M[first, at.last] -= mu  # (2.10); printed in the transposed place
    free = np.arange(at.n) >= at.contacts
    lcp = MixedLCP(M, q, free) if problem.bilateral else LCP(M, q)
    return PyramidLCP(lcp, folded, at, stretch)


def _circular(problem: FrictionProblem) -> tuple[FrictionProblem, sp.csr_array | None]:
    """The problem in coordinates in which its cone is circular, and r = (the map) s."""
    T = problem.cone.stretch(problem.dim)
    if T is None:
        return problem, None
    if problem.d != 3:
        raise ProblemError(f"{problem.cone} has three tangents: no polyhedral form is defined")
    block = np.eye(3)
    block[1:, 1:] = T
    contacts, rest = sp.eye_array(problem.nc), sp.eye_array(problem.bilateral)
    S = sp.csr_array(sp.block_diag([sp.kron(contacts, block), rest]))
    slip = None if problem.form.slip is None else problem.form.slip[: problem.nc]
    circular = FrictionProblem(
        S.T @ (S.T @ problem.dense.T).T,
        S.T @ problem.q,
        problem.mu,
        dim=3,
        bilateral=problem.bilateral,
        law=problem.law,
        slip=slip,
    )
    return circular, S


class BoxReduction:
    """A boxed LCP as a mixed LCP with lower bounds only; `lcp` has n rows of y, then one row for
    each doubly bounded one.

    With z = base + S y (S = -1 where only the upper bound is finite, 1 elsewhere):
      one finite bound: y >= 0 complementary to S w;
      two finite bounds: S w is split into w+ - v with 0 <= w+ _|_ y >= 0 and the extra row
      0 <= (upper - lower) - y _|_ v >= 0;
      no finite bound: a free row.
    The extra block is skew, so a positive semidefinite M stays so.
    """

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
    _stated("to_conic", problem, _KINDS[1:])
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
    _stated("scaled", problem, _KINDS)
    problem = problem.local
    if isinstance(problem, FrictionProblem):
        s = np.ones(problem.size)
        mean = problem.W.diagonal()[: problem.d * problem.nc].reshape(-1, problem.d).mean(axis=1)
        s[: problem.d * problem.nc] = np.repeat(_inverse_root(mean), problem.d)
        s[problem.d * problem.nc :] = _inverse_root(problem.W.diagonal()[problem.d * problem.nc :])
        return Scaled(problem.stated_with(_congruent(problem.W, s), s * problem.q), s)
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
