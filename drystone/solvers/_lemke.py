"""Lemke's method on an LCP w = M z + q: the state of the pivoting, and how it starts.

The kernel runs in bursts of some milliseconds; in between the clock is read, and inverses that have
drifted or that a tie asks for are computed.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np

from drystone.kernels import lemke as kernels
from drystone.kernels import modular
from drystone.kernels import status as code
from drystone.solvers.base import Limits
from drystone.types import Bools, Floats, Ints

CHUNK = 4_000_000  # entries changed between two looks at the clock


class Pivoting:
    """The inverse X of the basis K and the values of the basic variables (``kernels.lemke``).

    d: covering vector; it starts at z = 0. `howson` starts elsewhere.
    """

    def __init__(self, M: Floats, q: Floats, d: Floats, tol: float) -> None:
        m = q.size
        self.m, self.q, self.tol = m, q, tol
        self.columns = np.empty((m + 1, m))
        self.columns[:m], self.columns[m] = M.T, d
        self.X, self.x, self.w = np.empty((m + 1, m + 1)), np.empty(m + 1), np.empty(m)
        self.rows, self.cols, self.row_at, self.col_at = np.empty((4, m + 1), np.int64)
        self.row_at = self.row_at[:m]
        self.state = np.zeros(kernels.PLACES, np.int64)
        self.exact = _no_residues()
        self.result = kernels.begin(
            self.columns, self.q, self.X, self.x, self.w,
            self.rows, self.cols, self.row_at, self.col_at, self.state,
        )  # fmt: skip

    @classmethod
    def howson(cls, M: Floats, q: Floats, first: Bools, k: int, tol: float) -> Pivoting:
        """Start of Lemke and Howson (1964) for a game M = [[0, A], [B', 0]], A, B > 0, q < 0;
        first: (m,) rows of the first block; k: the strategy that is played first.

        From z = 0 every covering vector ends on a ray at once, as M >= 0. Here strategy k is
        played as much as meets all rows of the other block, the row r that is met last is
        answered likewise, and s is the row met last by that. All is complementary but for row
        k, where z_k and w_k are both positive: with the covering vector -e_k, z0 is that w_k.
        """
        own = first if first[k] else ~first
        r = _last_met(M[:, k], q, np.flatnonzero(~own))
        s = _last_met(M[:, r], q, np.flatnonzero(own))
        d = np.zeros(q.size)
        d[k] = -1.0
        start = cls(M, q, d, tol)
        strategies = [k, r] if s == k else [k, r, q.size]
        start._set_basis([k, r] if s == k else [k, r, s], strategies)
        start.state[kernels.ENTERING] = q.size + s
        start.state[kernels.PIVOTS] = 2
        if s == k and start.result == code.RUNNING:
            start.result = code.SOLVED
        return start

    def _set_basis(self, rows: list[int], cols: list[int]) -> None:
        k = len(rows)
        self.rows[:k], self.cols[:k] = rows, cols
        self.row_at[:], self.col_at[:] = -1, -1
        self.row_at[rows], self.col_at[cols] = np.arange(k), np.arange(k)
        self.state[:] = 0
        self.state[kernels.SIZE] = k
        self.result = code.RUNNING if self.refresh() else code.SINGULAR

    def run(self, most: int, limits: Limits) -> tuple[int, int, Bools, Floats]:
        """(status code, pivots, mask of basic z, its value or the ray)."""
        m, state = self.m, self.state
        dx, dw, g = np.empty(m + 1), np.empty(m), np.empty(2 * m + 2)
        ties, keys = np.empty(2 * m + 2, np.int64), _keys(2 * m + 1)
        scale = float(np.abs(self.q).max(initial=0.0))
        chunk = max(1, CHUNK // (m * m + 1))
        while self.result == code.RUNNING and state[kernels.PIVOTS] < most:
            burst = min(chunk, most - int(state[kernels.PIVOTS]))
            self.result = kernels.pivot(
                self.columns, scale, self.X, self.x, self.w, self.rows, self.cols, self.row_at,
                self.col_at, state, burst, self.tol, dx, dw, g, ties, keys, self.exact,
            )  # fmt: skip
            if (state[kernels.DRIFTED] and not self.refresh()) or (
                state[kernels.TIED] and self.result == code.RUNNING and not self.find_residues()
            ):
                self.result = code.SINGULAR
            if limits.expired():
                break
        value, mask = np.empty(m), np.zeros(m, bool)
        kernels.read_basis(m, self.x, self.cols, int(state[kernels.SIZE]), mask, value)
        if self.result == code.RAY:
            kernels.read_ray(m, dx, self.cols, state, value)
        return self.result, int(state[kernels.PIVOTS]), mask, value

    def refresh(self) -> bool:
        """The inverse of K, and the values, from scratch; False if K is singular."""
        k = int(self.state[kernels.SIZE])
        R, C = self.rows[:k], self.cols[:k]
        K = np.ascontiguousarray(self.columns[np.ix_(C, R)].T)
        try:
            self.X[:k, :k] = np.linalg.solve(K, np.eye(k))
        except np.linalg.LinAlgError:
            return False
        self.x[:k] = -self.X[:k, :k] @ self.q[R]
        self.w[:] = self.q + self.x[:k] @ self.columns[C]
        self.w[R] = 0.0
        self.state[kernels.FRESH], self.state[kernels.DRIFTED] = 1, 0
        return True

    def find_residues(self) -> bool:
        """The inverse of K modulo two primes; False if K is singular."""
        m, k = self.m, int(self.state[kernels.SIZE])
        R, C = self.rows[:k], self.cols[:k]
        primes, columns, q, X = self.exact[:4]
        if columns.shape[1] == 0:
            columns, q = np.empty((2, m + 1, m), np.int64), np.empty((2, m), np.int64)
            X = np.zeros((2, m + 1, m + 1), np.int64)
            for s, p in enumerate(modular.PRIMES):
                powers = modular.powers_of_two(p)
                modular.residues(self.columns, p, powers, columns[s])
                modular.residues(self.q[None], p, powers, q[s : s + 1])
            dx, x = np.empty((2, 2, m + 1), np.int64)
            value, rate = np.empty((2, 2, 2 * m + 2), np.int64)
            self.exact = (primes, columns, q, X, dx, x, value, rate, np.empty(2 * m + 2))
        for s, p in enumerate(modular.PRIMES):
            K = np.ascontiguousarray(columns[s][np.ix_(C, R)].T)
            if not modular.inverse(K, k, p, X[s]):
                return False
        self.state[kernels.EXACT], self.state[kernels.TIED] = 1, 0
        return True


def _no_residues() -> tuple[Ints, Ints, Ints, Ints, Ints, Ints, Ints, Ints, Floats]:
    two, three = np.empty((2, 0), np.int64), np.empty((2, 0, 0), np.int64)
    primes = np.array(modular.PRIMES, np.int64)
    return primes, three, two, three, two, two, two, two, np.empty(0)


@cache
def _keys(count: int) -> Ints:
    """Random numbers, always the same; sums of thousands of them do not overflow."""
    return np.random.default_rng(1).integers(1, 2**48, count)


def _last_met(column: Floats, q: Floats, rows: Ints) -> int:
    """The row that a growing z meets last, column z + q >= 0; of equals the last, as by the
    perturbation q + (eps, eps^2, ...)."""
    met = [(Fraction(-float(q[i])) / Fraction(float(column[i])), int(i)) for i in rows]
    return max(met)[1]


def game_blocks(M: Floats, q: Floats) -> tuple[Floats, Bools] | None:
    """(M', first block) of a bimatrix game w = [[0, A], [B', 0]] z + q, q < 0; None for other LCPs.

    Payoffs may have any sign: the equilibria are those of M' = M + c |q| 1' on the two blocks,
    which is positive, and they solve the LCP where they have positive costs.
    """
    m = q.size
    if m < 2 or not (q < 0.0).all() or M.diagonal().any():
        return None
    first = M[0] == 0.0  # where all payoffs differ from zero, in whatever order
    if not _is_game(M, first):
        for_each = np.maximum.accumulate(np.maximum.accumulate(np.abs(M), 0), 1).diagonal()
        first = for_each == 0.0  # the largest leading block of zeros
        if not _is_game(M, first):
            return None
    across = first[:, None] != first
    least = float((M / -q[:, None])[across].min())
    if least > 0.0:
        return M, first
    shift = np.floor(1.0 - least) * np.abs(q)[:, None]
    return np.where(across, M + shift, 0.0), first


def _is_game(M: Floats, first: Bools) -> bool:
    inside = first[:, None] == first
    return bool(first.any() and not first.all() and not M[inside].any())
