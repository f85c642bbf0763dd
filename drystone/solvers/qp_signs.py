"""Static friction by quadratic programs of guessed signs, "qp-signs" (Baraff 1992, 14.2.3).

Guess sigma = sgn(f_t) of every static tangent, bound each axis by itself, and minimise (14-19):
    sum f_N a_N + sum (mu f_N - sigma f_t) (-sigma a_t)
    subject to f_N, a_N >= 0, 0 <= sigma f_t <= mu f_N, sigma a_t <= 0          (14-14 to 14-16).
With x = (f_N, s = mu f_N - sigma f_t) and w = (a_N, -sigma a_t) this is the form 1 program of
an LCP, min x'(M x + c), with the extra rows s <= mu f_N. A minimum of zero is a solution: exact
in the plane; in space the axes are decoupled and the disk is taken for a square.

M need not be semidefinite. Then the concave part is linearised at the last point and the convex
rest minimised, which lowers the objective until it is zero or stands still.

Signs come from sweeps of appendix C. When the minimum is not zero, those signs are flipped whose
force the minimiser holds at zero; when that fails too, or has been tried, the sweeps continue,
twice as long, and the guess is made anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from drystone.kernels.cones import pgs as kernels
from drystone.problems import FrictionProblem, MixedLCP, Problem
from drystone.problems.convert import ConicProgram, Folded, fold
from drystone.solvers._blocks import circular_cones_only
from drystone.solvers._convex import minimise
from drystone.solvers._polish import polish_boxed
from drystone.solvers.base import Answer, Limits, Solver, Start, initial
from drystone.solvers.pgs import PGS, SWEEP_PRODUCTS, ContactSweeps
from drystone.types import Floats, Status

GAP = 1e-9  # asked of the library; the accepted answer is polished
ZERO_OBJECTIVE, TIGHT = 1e-6, 1e-14  # a smaller objective may be zero: ask the library for more
SIGNS_ROWS = 600  # rows; beyond it the dense eigenvalues alone take too long
DESCENTS = 12  # linearisations of a concave part in one attempt


@dataclass(frozen=True, kw_only=True)
class QPSigns(Solver):
    """Guess the signs of friction, then solve a quadratic program; up to about 40 contacts.

    sweeps: Gauss-Seidel sweeps before the first guess; doubled with every new guess.
    attempts: patterns of signs to try.
    """

    sweeps: int = 100
    attempts: int = 12

    name: ClassVar[str] = "qp-signs"
    _least: ClassVar[dict[str, int]] = {"sweeps": 1, "attempts": 1}

    def refuses(self, problem: Problem) -> str | None:
        reason = circular_cones_only(problem)
        if reason is not None:
            return reason
        if problem.size > SIGNS_ROWS:
            return f"meant for tens of contacts: {problem.size} rows, at most {SIGNS_ROWS}"
        return None

    def run(self, problem: Any, start: Start, limits: Limits) -> Answer:
        contacts = ContactSweeps(problem, initial(problem, start), jacobi=False)
        if contacts.ray is not None or contacts.infeasible is not None:
            return PGS(tol=self.tol).run(problem, start, limits)
        folded = fold(problem)
        search = _Search(problem, folded, limits)
        sweeps, total = self.sweeps, 0
        tried: set[bytes] = set()
        flipped: Floats | None = None
        for _ in range(self.attempts):
            fresh = flipped is None or flipped.tobytes() in tried
            if flipped is None or fresh:
                total += _sweep(contacts, sweeps, limits)
                sigma, sweeps = search.signs(contacts.value()), 2 * sweeps
            else:
                sigma = flipped
            tried.add(sigma.tobytes())
            signed = Signed.of(folded, sigma)
            x = search.minimise(signed, contacts.value())
            if search.accepted or limits.expired():
                break
            flipped = signed.flipped(x) if fresh and x is not None else None
        return search.answer(len(tried), total)


def _sweep(contacts: ContactSweeps, count: int, limits: Limits) -> int:
    """Gauss-Seidel sweeps in portions of a few milliseconds; how many were done."""
    total = 0
    while total < count and not limits.expired():
        portion = min(count - total, max(1, SWEEP_PRODUCTS // contacts.cost))
        code, done, _, _ = contacts.sweep(1.0, portion, 0.0)
        total += done
        if code != kernels.RUNNING:  # nothing moves any more, or it cycles
            break
    return total


@dataclass(frozen=True)
class Signed:
    """The LCP of one pattern of signs: f = T x, w = S (A f + b), and how rows pair up.

    tangents, normals: (nt,) rows of each static tangent and of its contact's normal; mu (nt,).
    """

    lcp: MixedLCP
    T: Floats
    sigma: Floats
    tangents: Any
    normals: Any
    mu: Floats

    @classmethod
    def of(cls, folded: Folded, sigma: Floats) -> Signed:
        tangents, normals, mu = _static_rows(folded)
        n = folded.b.size
        T, S = np.eye(n), np.ones(n)
        T[tangents, tangents] = -sigma
        T[tangents, normals] = sigma * mu
        S[tangents] = -sigma
        lcp = MixedLCP(S[:, None] * (folded.A @ T), S * folded.b, folded.bilateral)
        return cls(lcp, T, sigma, tangents, normals, mu)

    def forces(self, x: Floats) -> Floats:
        return np.asarray(self.T @ x)

    def unknowns(self, f: Floats) -> Floats:
        x = f.copy()
        x[self.tangents] = self.mu * f[self.normals] - self.sigma * f[self.tangents]
        return x

    def objective(self, x: Floats, size: float) -> float:
        """x.w over the square of q's size, which itself may be too small for a number."""
        return float((x / size) @ (self.lcp.dual(x) / size))

    def beyond(self, x: Floats) -> float:
        """How far |f_t| passes mu f_N, relative to the largest force."""
        over = np.abs(self.forces(x)[self.tangents]) - self.mu * x[self.normals]
        return float(over.max(initial=0.0)) / max(float(np.abs(x).max(initial=0.0)), 1e-300)

    def flipped(self, x: Floats) -> Floats:
        """Signs with those reversed whose force is held at zero although it may act."""
        bound = self.mu * x[self.normals]
        held = self.sigma * self.forces(x)[self.tangents] <= 1e-6 * bound
        acts = bound > 1e-9 * np.abs(x).max(initial=0.0)
        return np.where(held & acts, -self.sigma, self.sigma)

    def program(self, x: Floats | None = None) -> tuple[ConicProgram, bool]:
        """(14-19) with its concave part linearised at x; whether there is such a part."""
        M, q, free = self.lcp.dense, self.lcp.q, self.lcp.free
        size = max(float(np.abs(q).max(initial=0.0)), 1e-300)
        values, vectors = np.linalg.eigh(M + M.T)
        concave = values < -1e-9 * max(float(values[-1]), -float(values[0]))
        convex = vectors[:, ~concave] * values[~concave] @ vectors[:, ~concave].T
        c = q / size
        if concave.any() and x is not None:
            down = vectors[:, concave]
            c = c + down @ (values[concave] * (down.T @ x)) / size
        rows = np.zeros((self.mu.size, q.size))
        rows[np.arange(self.mu.size), self.normals] = -self.mu
        rows[np.arange(self.mu.size), self.tangents] = 1.0
        eye = np.eye(q.size)[~free]
        G = np.vstack([M[free], -M[~free], -eye, rows])
        h = np.concatenate([-q[free], q[~free], np.zeros(len(eye) + len(rows))]) / size
        equal = int(free.sum())
        cones = (("zero", equal), ("nonnegative", h.size - equal))
        P = sp.csc_array(0.5 * (convex + convex.T))
        return ConicProgram(P, c, sp.csc_array(G), h, cones), bool(concave.any())


class _Search:
    """Keeps the best answer, judged by the problem itself, while patterns are tried."""

    def __init__(self, problem: FrictionProblem, folded: Folded, limits: Limits) -> None:
        self.problem, self.folded, self.limits = problem, folded, limits
        self.rows = _static_rows(folded)[0]
        self.value, self.least = np.zeros(problem.size), np.inf
        self.accepted, self.programs, self.objective = False, 0, np.inf

    def signs(self, value: Floats) -> Floats:
        """sgn of the static tangential forces; where there is none, against the acceleration.

        The thesis takes +1 for zero, which asks a_t <= 0 of a contact that opens.
        """
        f = _restrict(self.folded, value)
        a = self.folded.A @ f + self.folded.b
        lean = np.where(f == 0.0, -a, f)[self.rows]
        return np.where(lean >= 0, 1.0, -1.0)

    def minimise(self, signed: Signed, value: Floats) -> Floats | None:
        """The minimiser of (14-19) for these signs, None if they cannot be met."""
        size = max(float(np.abs(signed.lcp.q).max(initial=0.0)), 1e-300)
        x: Floats | None = None
        lowest, gap = np.inf, GAP
        first = at = signed.unknowns(_restrict(self.folded, value))
        for _ in range(DESCENTS):
            program, concave = signed.program(at)
            found = minimise(program, gap, self.limits)
            self.programs += 1
            if found.certificate is not None or not np.isfinite(found.x).all():
                break
            x = at = found.x * size
            objective = signed.objective(x, size)
            self._keep(signed, x, objective)
            if self.accepted or self.limits.expired():
                break
            stands = objective > 0.999 * lowest
            lowest = min(lowest, objective)
            if lowest <= ZERO_OBJECTIVE and gap == GAP:
                gap = TIGHT  # zero within the tolerance: perhaps a degenerate solution
            elif not concave or stands:
                break
        if not self.accepted and lowest <= ZERO_OBJECTIVE:
            # degenerate: the library leaves f and a of a contact both small. The sweeps' forces
            # hold the zeros exactly, and polishing tells whether they are those of the minimum
            self._keep(signed, first, signed.objective(first, size))
        return x

    def _keep(self, signed: Signed, x: Floats, objective: float) -> None:
        polished = polish_boxed(signed.lcp, np.where(signed.lcp.free, x, np.maximum(x, 0.0)))
        zero = max(signed.lcp.residuals(polished)) <= self.limits.tol
        inside = signed.beyond(polished) <= self.limits.tol
        value = self.folded.value(signed.forces(polished if zero and inside else x))
        error = max(self.problem.residuals(value))
        self.accepted = zero and inside
        if self.accepted or error < self.least:
            self.value, self.least, self.objective = value, error, objective

    def answer(self, attempts: int, sweeps: int) -> Answer:
        status = Status.APPROXIMATE if self.accepted else Status.STALLED
        if not self.accepted and self.limits.expired():
            status = Status.TIME_LIMIT
        info = {"attempts": attempts, "sweeps": sweeps, "objective": self.objective}
        return Answer(self.value, status, self.programs, extras={"info": info})


def _static_rows(folded: Folded) -> tuple[Any, Any, Floats]:
    """(nt,) rows of the static tangents, rows of their normals, and their mu."""
    static = np.flatnonzero(folded.tangent >= 0)
    axes = np.arange(folded.d - 1)
    tangents = (folded.tangent[static][:, None] + axes).ravel()
    normals = np.repeat(folded.normal[static], folded.d - 1)
    return tangents, normals, np.repeat(folded.mu[static], folded.d - 1)


def _restrict(folded: Folded, value: Floats) -> Floats:
    """f of impulses r = Q f: normals, static tangents and bilateral rows, read off directly."""
    d, nc = folded.d, folded.normal.size
    blocks = value[: d * nc].reshape(nc, d)
    static = np.flatnonzero(folded.tangent >= 0)
    f = np.empty(folded.b.size)
    f[folded.normal] = blocks[:, 0]
    f[folded.tangent[static][:, None] + np.arange(d - 1)] = blocks[static, 1:]
    f[folded.bilateral] = value[d * nc :]
    return f
