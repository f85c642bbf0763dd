"""Lemke's method on an LCP w = M z + q with covering vector d: by tableau, and in revised form.

Both run their kernel in bursts of some milliseconds and look at the clock in between.
"""

from __future__ import annotations

import numpy as np

from drystone.kernels import lemke as tableau
from drystone.kernels import lemke_revised as revised
from drystone.kernels import status as code
from drystone.solvers.base import Limits
from drystone.types import Bools, Floats, Ints

CHUNK = 4_000_000  # entries changed between two looks at the clock


def pivot_tableau(
    M: Floats, q: Floats, d: Floats, most: int, tol: float, limits: Limits
) -> tuple[int, int, Bools, Floats]:
    """(status code, pivots, mask of basic z, its value or the ray)."""
    m = q.size
    T, value, mask = np.empty((m, m + 2)), np.empty(m), np.zeros(m, bool)
    numbers = np.empty(5 * m + 4, np.int64)
    basic, nonbasic, place = numbers[:m], numbers[m : 2 * m + 1], numbers[2 * m + 1 : 4 * m + 2]
    ties, state = numbers[4 * m + 2 : 5 * m + 2], numbers[5 * m + 2 :]
    result = tableau.begin(M, q, d, T, basic, nonbasic, place, state)
    scale = float(np.abs(q).max(initial=0.0))
    chunk = max(1, CHUNK // (m * m + 1))
    while result == code.RUNNING and state[tableau.PIVOTS] < most:
        burst = min(chunk, most - int(state[tableau.PIVOTS]))
        result = tableau.pivot(T, basic, nonbasic, place, state, scale, burst, tol, ties, value)
        if limits.expired():
            break
    if result == code.STALLED:
        return Revised(M, q, d, tol).resumed(basic, nonbasic, state).run(most, limits)
    tableau.read_basis(T, basic, mask, value)
    if result == code.RAY:
        tableau.read_ray(T, basic, nonbasic, state, value)
    return result, int(state[tableau.PIVOTS]), mask, value


def pivot_revised(
    M: Floats, q: Floats, d: Floats, most: int, tol: float, limits: Limits
) -> tuple[int, int, Bools, Floats]:
    """The same by the revised form."""
    return Revised(M, q, d, tol).run(most, limits)


class Revised:
    """The state of the revised form: the inverse X of K and the values (``lemke_revised``)."""

    def __init__(self, M: Floats, q: Floats, d: Floats, tol: float) -> None:
        m = q.size
        self.m, self.q, self.tol = m, q, tol
        self.columns = np.empty((m + 1, m))
        self.columns[:m], self.columns[m] = M.T, d
        self.X, self.x, self.w = np.empty((m + 1, m + 1)), np.empty(m + 1), np.empty(m)
        self.rows, self.cols, self.row_at, self.col_at = np.empty((4, m + 1), np.int64)
        self.state = np.zeros(5, np.int64)
        self.result = revised.begin(
            self.columns, self.q, self.X, self.x, self.w,
            self.rows, self.cols, self.row_at, self.col_at, self.state,
        )  # fmt: skip

    def resumed(self, basic: Ints, nonbasic: Ints, state: Ints) -> Revised:
        """Take over the basis of a tableau."""
        m = self.m
        cols = basic[basic >= m] - m
        rows = np.setdiff1d(np.arange(m), basic[basic < m])
        k = cols.size
        self.cols[:k], self.rows[:k] = cols, rows
        self.col_at[:], self.row_at[:] = -1, -1
        self.col_at[cols], self.row_at[rows] = np.arange(k), np.arange(k)
        self.state[revised.ENTERING] = nonbasic[state[tableau.COLUMN]]
        self.state[revised.SIZE], self.state[revised.PIVOTS] = k, state[tableau.PIVOTS]
        self.result = code.RUNNING if self.refresh() else code.SINGULAR
        return self

    def run(self, most: int, limits: Limits) -> tuple[int, int, Bools, Floats]:
        m, state = self.m, self.state
        dx, dw, g = np.empty(m + 1), np.empty(m), np.empty(2 * m + 2)
        ties = np.empty(2 * m + 2, np.int64)
        scale = float(np.abs(self.q).max(initial=0.0))
        chunk = max(1, CHUNK // (m * m + 1))
        while self.result == code.RUNNING and state[revised.PIVOTS] < most:
            burst = min(chunk, most - int(state[revised.PIVOTS]))
            self.result = revised.pivot(
                self.columns, scale, self.X, self.x, self.w, self.rows, self.cols, self.row_at,
                self.col_at, state, burst, self.tol, dx, dw, g, ties,
            )  # fmt: skip
            if state[revised.DRIFTED] and not self.refresh():
                self.result = code.SINGULAR
            if limits.expired():
                break
        value, mask = np.empty(m), np.zeros(m, bool)
        revised.read_basis(m, self.x, self.cols, int(state[revised.SIZE]), mask, value)
        if self.result == code.RAY:
            revised.read_ray(m, dx, self.cols, state, value)
        return self.result, int(state[revised.PIVOTS]), mask, value

    def refresh(self) -> bool:
        """The inverse of K, and the values, from scratch; False if K is singular."""
        k = int(self.state[revised.SIZE])
        R, C = self.rows[:k], self.cols[:k]
        K = np.ascontiguousarray(self.columns[np.ix_(C, R)].T)
        try:
            self.X[:k, :k] = np.linalg.solve(K, np.eye(k))
        except np.linalg.LinAlgError:
            return False
        self.x[:k] = -self.X[:k, :k] @ self.q[R]
        self.w[:] = self.q + self.x[:k] @ self.columns[C]
        self.w[R] = 0.0
        self.state[revised.FRESH], self.state[revised.DRIFTED] = 1, 0
        return True
