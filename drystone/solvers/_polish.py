"""From an approximate solution to one accurate to rounding: a few steps of the active-set Newton
method on the natural map, kept only while the judged residual falls.

Interior-point and linear-programming libraries stop near 1e-8. Where the solution is not
degenerate, their answer already tells which rows are at a bound, and one linear solve finishes.
Where it is, that set is repaired by principal pivots.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.linalg.lapack import dgeqp3, dgetrf, dgetrs
from scipy.sparse.linalg import splu

from drystone.problems import BoxedLCP
from drystone.types import Bools, Floats, Ints

DENSE_ROWS = 1200  # rows: beyond it a regularised sparse factorisation takes over
DEGENERATE_RESIDUAL = 1e-12  # residual: refined answers with more have a wrong index set
PIVOT_CUT = 1e-13  # of the largest pivot: below it a direction counts as undetermined


def interior(problem: BoxedLCP, z: Floats) -> Bools:
    """(n,) rows that the natural map takes as basic: lower < z - w < upper, unit-free."""
    unit = problem.unit
    point = z * unit - problem.dual(z) / unit
    return np.asarray((point > problem.lower * unit) & (point < problem.upper * unit))


def basic_solution(problem: BoxedLCP, basis: Bools, z: Floats) -> Floats:
    """z with w = 0 on the basis and the rest at the bound next to z; least change if singular."""
    lower, upper = problem.lower, problem.upper
    finite = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper, 0.0))
    high = np.isfinite(upper) & np.isfinite(lower) & (z - lower > upper - z)
    out = np.where(basis, z, np.where(high, upper, finite))
    rows = np.flatnonzero(basis)
    if rows.size:
        error = problem.dual(out)[rows]
        if rows.size <= DENSE_ROWS or not problem.sparse:
            out[rows] -= least_squares(problem.dense[np.ix_(rows, rows)], error)
        else:
            out[rows] -= _regularised(problem.M[rows][:, rows], error)
    return out


def polish_boxed(problem: BoxedLCP, z: Floats, rounds: int = 6) -> Floats:
    """The best of z and its refinements, judged by the problem's residual."""
    best, least = z, max(problem.residuals(z))
    for _ in range(rounds):
        z = basic_solution(problem, interior(problem, z), z)
        z = np.clip(z, problem.lower, problem.upper)
        error = max(problem.residuals(z)) if np.isfinite(z).all() else np.inf
        if not error < 0.5 * least:
            best, least = (z, error) if error < least else (best, least)
            break
        best, least = z, error
    if least > DEGENERATE_RESIDUAL:
        exact = repaired(problem, interior(problem, best))
        if exact is not None and max(problem.residuals(exact)) < least:
            return exact
    return best


def reused(problem: BoxedLCP, basis: object, tol: float) -> Floats | None:
    """The basic solution of an earlier index set if it still solves, else None."""
    if not isinstance(basis, np.ndarray) or basis.dtype != bool or basis.shape != (problem.size,):
        return None
    z = basic_solution(problem, basis | problem.free, np.zeros(problem.size))
    return z if np.isfinite(z).all() and max(problem.residuals(z)) <= tol else None


def least_squares(A: Floats, b: Floats) -> Floats:
    """Minimum-norm least-squares solution; directions below PIVOT_CUT are left alone."""
    return np.asarray(scipy.linalg.lstsq(A, b, cond=PIVOT_CUT, lapack_driver="gelsy")[0])


def _regularised(A: sp.csr_array, b: Floats) -> Floats:
    """A x = b with a shift of 1e-12: repeated by the caller, it converges on the range of A."""
    shift = 1e-12 * max(float(abs(A.diagonal()).max()), 1e-300)
    try:
        return np.asarray(splu(sp.csc_array(A + shift * sp.eye_array(A.shape[0]))).solve(b))
    except RuntimeError:  # exactly singular: leave the value as it is
        return np.zeros_like(b)


# From the index set of an approximate solution to the solution: principal pivots, each of them
# a linear solve of its own (Cottle and Dantzig 1968, Keller 1973).
#
# Rows in the set have w = 0, the others z = 0. A library that minimises with a gap of 1e-9 cannot
# tell contacts that open with 1e-8 of the greatest acceleration from those that press with that
# much force, and puts some of them on the wrong side. From there to the solution it is a few
# exchanges: a row that pulls leaves the set, and a row with w < 0 enters it while z of the others
# stays above zero. Rows that follow from others stay outside with z = 0 until they are needed.

REPAIR_ROWS = 400  # up to which a linear solve for each pivot is cheap
REPAIR_PIVOTS = 60  # more are no longer a repair
DEPENDENT_PART = 1e-12  # of the largest, unit-free: rows with less of their own follow from others
ZERO_PART = 1e-13  # of |q|, unit-free: z and w below count as zero
REFINEMENT_SWEEPS = 2  # of refinement


def repaired(problem: BoxedLCP, basis: Bools) -> Floats | None:
    """z of the solution that principal pivots reach from rows `basis` (n,) with w = 0.

    Positive semidefinite matrices, rows with z >= 0 or free; None for other bounds, for too many
    rows, and where the pivots do not end. Within rounding z is a solution: w and z are judged
    unit-free, with |q| = 1.
    """
    n, unit = problem.size, problem.unit
    bounded = (problem.lower != 0.0) & ~problem.free
    if not 0 < n <= REPAIR_ROWS or bounded.any() or np.isfinite(problem.upper).any():
        return None
    q = problem.q / unit
    size = float(np.linalg.norm(q))
    if not 0.0 < size < np.inf:
        return None
    z = _Pivots(problem.dense / unit[:, None] / unit, q / size, problem.free).run(basis)
    return None if z is None else z * size / unit


class _Pivots:
    """A z + b = w, unit-free; S: mask of rows with w = 0, independent ones."""

    def __init__(self, A: Floats, b: Floats, free: Bools) -> None:
        self.A, self.b, self.free = A, b, free
        self.S = np.zeros(b.size, bool)
        self.left = REPAIR_PIVOTS

    def run(self, basis: Bools) -> Floats | None:
        """z >= 0 with w >= 0 where z = 0; None where that takes too many pivots."""
        self.S[independent(self.A, np.flatnonzero(basis | self.free))] = True
        z = self._solve(self.b)
        while z is not None and (pulls := self.S & ~self.free & (z < -ZERO_PART)).any():
            self.S[np.argmin(np.where(pulls, z, 0.0))] = False
            self.left -= 1
            z = self._solve(self.b) if self.left > 0 else None
        while z is not None and self.left > 0:
            w = self.A @ z + self.b
            low = np.where(self.S, 0.0, np.where(self.free, -np.abs(w), w))
            s = int(np.argmin(low))
            if low[s] >= -ZERO_PART:
                return np.where(self.free, z, np.maximum(z, 0.0))
            z = self._solve(self.b) if self._drive(s, z, float(w[s])) else None
        return None

    def _drive(self, s: int, z: Floats, w: float) -> bool:
        """Bring w_s = w to zero by z_s, the rows of S kept at zero; rows of S whose z would fall
        below zero leave it. False where nothing stops z_s: no such z exists."""
        sign = -np.sign(w)
        while self.left > 0:
            dz = self._solve(sign * self.A[:, s])
            if dz is None:
                return False
            dz[s] = sign
            rate = float(self.A[s] @ dz)
            step = w / -rate if abs(rate) > DEPENDENT_PART * self.A[s, s] else np.inf
            falls = self.S & ~self.free & (dz < 0.0)
            steps = np.full(z.size, np.inf)
            steps[falls] = np.maximum(z[falls], 0.0) / -dz[falls]
            block = int(np.argmin(steps))
            if not min(step, steps[block]) < np.inf:
                return False
            self.left -= 1
            if step <= steps[block]:
                self.S[s] = True
                return True
            z = z + steps[block] * dz
            w += steps[block] * rate
            z[block], self.S[block] = 0.0, False
        return False

    def _solve(self, b: Floats) -> Floats | None:
        """z with (A z + b)_S = 0 and nothing outside S, refined; None where A_SS is singular."""
        S, z = np.flatnonzero(self.S), np.zeros(b.size)
        if S.size == 0:
            return z
        B = self.A[S[:, None], S]
        factors, order, info = dgetrf(B)
        if info != 0:
            return None
        x = dgetrs(factors, order, -b[S])[0]
        for _ in range(REFINEMENT_SWEEPS):
            x -= dgetrs(factors, order, B @ x + b[S])[0]
        z[S] = x
        return z if np.isfinite(x).all() else None


def independent(A: Floats, rows: Ints) -> Ints:
    """Those of some rows of A of which none follows from the others, by pivoted QR."""
    if rows.size == 0:
        return rows
    R, order, _, _, _ = dgeqp3(A[rows[:, None], rows])
    size = np.abs(R.diagonal())
    return np.sort(rows[order[size > DEPENDENT_PART * size.max()] - 1])
