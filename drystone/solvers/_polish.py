"""From an approximate solution to one accurate to rounding: a few steps of the active-set Newton
method on the natural map, kept only while the judged residual falls.

Interior-point and linear-programming libraries stop near 1e-8. Where the solution is not
degenerate, their answer already tells which rows are at a bound, and one linear solve finishes.
Where it is, that set is repaired by principal pivots (``_pivots``).
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from drystone.problems import BoxedLCP, FrictionProblem
from drystone.solvers._pivots import repaired
from drystone.types import Bools, Floats

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
        settled = repaired(problem, interior(problem, best))
        if settled is not None and max(problem.residuals(settled)) < least:
            return settled
    return best


def reused(problem: BoxedLCP, basis: object, tol: float) -> Floats | None:
    """The basic solution of an earlier index set if it still solves, else None."""
    if not isinstance(basis, np.ndarray) or basis.dtype != bool or basis.shape != (problem.size,):
        return None
    z = basic_solution(problem, basis | problem.free, np.zeros(problem.size))
    return z if np.isfinite(z).all() and max(problem.residuals(z)) <= tol else None


def polish_cones(problem: FrictionProblem, value: Floats, rounds: int = 6) -> Floats:
    """The same for the convex law with smooth cones: Newton on F = r - P_K(r - u)."""
    form = problem.form
    s = np.repeat(form.unit, problem.d)
    inverse = sp.diags_array(1.0 / s)
    W = sp.csr_array(inverse @ form.W.scipy @ inverse)
    best, least = value, max(problem.residuals(value))
    for _ in range(rounds):
        r = form.impulses(best) * form.unit[:, None]
        u = form.velocities(problem.dual(best)) / form.unit[:, None]
        P, D = _projection(r - u, form.mu)
        n = s.size
        slope = sp.csr_array(sp.bsr_array((D, np.arange(form.nb), np.arange(form.nb + 1))))
        J = sp.csr_array(sp.eye_array(n) - slope + slope @ W)
        F = (r - P).ravel()
        move = least_squares(J.toarray(), F) if n <= DENSE_ROWS else _regularised(J, F)
        new = form.value((r.ravel() - move).reshape(r.shape) / form.unit[:, None])
        error = max(problem.residuals(new)) if np.isfinite(new).all() else np.inf
        if not error < 0.5 * least:
            return new if error < least else best
        best, least = new, error
    return best


def _projection(x: Floats, mu: Floats) -> tuple[Floats, Floats]:
    """P_K(x) of each row (normal, tangents) and its derivative (nb, d, d); mu < 0: the identity."""
    nb, d = x.shape
    n, t = x[:, 0], np.linalg.norm(x[:, 1:], axis=1)
    P, D = x.copy(), np.tile(np.eye(d), (nb, 1, 1))
    contact = mu >= 0
    polar = contact & (mu * t <= -n)
    edge = contact & ~polar & (t > mu * n)
    P[polar], D[polar] = 0.0, 0.0
    m, te = mu[edge], t[edge]
    along = np.column_stack([np.ones(m.size), m[:, None] * x[edge, 1:] / te[:, None]])
    top = (n[edge] + m * te) / (1.0 + m**2)
    P[edge] = top[:, None] * along
    outer = np.einsum("ia,ib->iab", along, along) / (1.0 + m**2)[:, None, None]
    side = x[edge, 1:] / te[:, None]
    turn = np.eye(d - 1) - np.einsum("ia,ib->iab", side, side)
    outer[:, 1:, 1:] += (m * top / te)[:, None, None] * turn
    D[edge] = outer
    return P, D


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
