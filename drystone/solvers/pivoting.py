"""Lemke's method on a mixed LCP given as arrays: what ``Lemke`` runs for every kind of problem.

1. Balance rows and columns. 2. Pivot the free rows in, which leaves an LCP; a start basis is
pivoted in likewise. 3. Complementary pivoting; a bimatrix game starts as Lemke and Howson do.
4. The basis found gives the solution by one refined linear solve with the given matrix, so that
errors of the pivoting do not stay; if they are too large, pivoting continues from that basis, then
starts again with another threshold, and in the end the basis is repaired by principal pivots.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache

import numpy as np
from scipy.linalg.lapack import dgetrf, dgetrs

from drystone.kernels import status as code
from drystone.kernels.linalg import modular
from drystone.kernels.pivoting import complementary as bases
from drystone.kernels.pivoting import lemke as kernels
from drystone.problems import BoxedLCP
from drystone.solvers._polish import repaired
from drystone.solvers.base import Limits
from drystone.solvers.certificates import infeasibility_certificate, moves, ray_certificate
from drystone.types import STATUS_OF_CODE, Bools, Floats, Ints, Status

FREE_PIVOT = 1e-12  # pivots of a free block below this, in balanced units, count as zero
RESTARTS = 3  # from the basis of a solution that is not accurate
PERTURBATIONS: tuple[float, ...] = (0.0, 1e-11, 1e-9, 1e-7)  # of the largest |q_i|, tried in order
THRESHOLDS = (1.0, 1e3, 1e6, 1e-2)  # factors on pivot_tol, tried in order
LARGEST_THRESHOLD = 1e-4  # threshold
LAPACK_FROM = 250  # rows from which the final solve leaves the kernel


@dataclass(slots=True)
class Outcome:
    """What pivoting found. z, w: solution or last point; error: |min(z, w)|.

    exchanged: it started from another basis than z = 0, so a ray need not satisfy (13-1).
    """

    z: Floats
    w: Floats
    status: Status
    basis: Bools
    pivots: int
    error: float = np.inf
    ray: Floats | None = None
    exchanged: bool = False


@dataclass(frozen=True, slots=True)
class MixedArrays:
    """w = M z + q; w = 0 and z of any sign on rows marked free.

    cover: (n,) positive covering vector; None: ones in balanced units.
    """

    M: Floats
    q: Floats
    free: Bools
    cover: Floats | None

    @property
    def has_free(self) -> bool:
        return bool(self.free.any())


@dataclass(frozen=True, slots=True)
class Settings:
    max_pivots: int
    pivot_tol: float


def lemke(problem: MixedArrays, start: Bools | None, settings: Settings, limits: Limits) -> Outcome:
    """Complementary pivoting from the mask of basic z `start`, or from z = 0.

    What counts as a zero pivot decides near-singular problems, and no threshold suits all. So
    the outcome is checked, and when it is poor (also a ray that proves nothing: rounded data may
    have one where the exact ones have none) pivoting continues from its basis, then starts again
    with larger thresholds and with a smaller one, and with q perturbed by more than its rounding;
    the best outcome counts.
    """
    target = 1e-12 * float(np.sqrt(problem.q @ problem.q))
    best, pivots = None, 0
    if start is None and problem.cover is None and (problem.q < 0.0).all():
        view = View(problem, None)
        game = game_blocks(view.M, view.q) if view.plain else None
        found = None if game is None else _equilibrium(view, game, target, settings, limits)
        if found is not None:
            return found
    if start is not None:
        best = _attempt(problem, start, pivots, settings, limits)
        pivots = best.pivots
    tries: list[tuple[float, tuple[float, ...]]] = [(f, PERTURBATIONS) for f in THRESHOLDS]
    tries += [(1.0, (size,)) for size in PERTURBATIONS[1:]]
    for factor, sizes in tries:
        if best is not None and _is_final(best, problem, target):
            break
        tuned = replace(settings, pivot_tol=min(settings.pivot_tol * factor, LARGEST_THRESHOLD))
        out = _attempt(problem, None, pivots, tuned, limits, sizes)
        if out.status is Status.STALLED and problem.has_free:
            out = _split(problem, settings, limits)
        best = _better(best, _continued(problem, out, target, tuned, limits))
        pivots = best.pivots = max(pivots, out.pivots, best.pivots)
        if limits.expired() or pivots >= settings.max_pivots:
            break
    assert best is not None
    return _repaired(problem, best, target)


def _repaired(problem: MixedArrays, out: Outcome, target: float) -> Outcome:
    """A solution that is not accurate, as accurate as principal pivots from its basis make it."""
    if out.status is not Status.SOLVED or out.error <= target:
        return out
    lower = np.where(problem.free, -np.inf, 0.0)
    z = repaired(BoxedLCP(problem.M, problem.q, lower, np.inf), out.basis | problem.free)
    if z is None:
        return out
    w = problem.M @ z + problem.q
    error = float(bases.natural_error(z, w, problem.free))
    if not error < out.error:
        return out
    basis = (z > 0.0) & ~problem.free
    return Outcome(z, w, out.status, basis, out.pivots, error, exchanged=out.exchanged)


def _continued(
    problem: MixedArrays, out: Outcome, target: float, settings: Settings, limits: Limits
) -> Outcome:
    """Go on from the basis of a solution that is not accurate: its tableau is free of errors."""
    best = out
    for _ in range(RESTARTS):
        if out.status is not Status.SOLVED or out.error <= target or limits.expired():
            break
        again = _attempt(problem, out.basis, out.pivots, settings, limits)
        best = _better(best, again)
        best.pivots = again.pivots
        if again.status is not Status.SOLVED or bool((again.basis == out.basis).all()):
            break
        out = again
    return best


def _is_final(out: Outcome, problem: MixedArrays, target: float) -> bool:
    if out.status is Status.RAY and out.ray is not None and not out.exchanged:
        M, q, free = problem.M, problem.q, problem.free
        if not ray_certificate(M, out.ray, 1e-9, free):
            return False
        return moves(M, out.ray) or infeasibility_certificate(M, q, out.ray, 1e-9, free)
    accurate = out.status is Status.SOLVED and out.error <= 100.0 * target
    return accurate or out.status in (Status.INFEASIBLE, Status.TIME_LIMIT)


def _better(one: Outcome | None, two: Outcome) -> Outcome:
    if one is None:
        return two
    if (one.status is Status.SOLVED) != (two.status is Status.SOLVED):
        return one if one.status is Status.SOLVED and one.error < np.inf else two
    return one if one.error < two.error else two


def _attempt(
    problem: MixedArrays,
    start: Bools | None,
    pivots: int,
    settings: Settings,
    limits: Limits,
    sizes: tuple[float, ...] = PERTURBATIONS,
) -> Outcome:
    """Pivot once, and again with the next of the perturbations (sizes) where a basis came back."""
    view = View(problem, start)
    if view.code != code.SOLVED:
        return view.failure(pivots)
    for size in sizes:
        q = perturbed(view.q, size)
        pivoting = Pivoting(view.M, q, view.d, settings.pivot_tol)
        result, done, mask, value = pivoting.run(settings.max_pivots - pivots, limits)
        pivots += done
        if result != code.STALLED:
            break
    if result == code.RAY:
        # with z0 already zero but for rounding, the last point is a solution, not a ray's end
        last = view.solution(mask, np.zeros_like(value), Status.SOLVED, pivots)
        if last.error <= 1e-11 * float(np.sqrt(problem.q @ problem.q)):
            return last
        return view.ray(value, mask, pivots)
    status = Status.MAX_ITERATIONS if result == code.STALLED else STATUS_OF_CODE[result]
    if result == code.RUNNING and pivots < settings.max_pivots:
        status = Status.TIME_LIMIT
    return view.solution(mask, value, status, pivots)


def perturbed(q: Floats, size: float) -> Floats:
    """q with entries raised by up to size times the largest, always in the same way.

    Data that are rounded themselves have ties that differ in the last bit, and which of two such
    rows comes first may change as the basis does: the lexicographic rule then cannot end. It
    does where differences are larger than rounding; the basis found is as good for q.
    """
    if size == 0.0:
        return q
    share = np.random.default_rng(q.size).uniform(0.5, 1.0, q.size)
    return np.asarray(q + size * float(np.abs(q).max(initial=0.0)) * share)


def _equilibrium(
    view: View, game: tuple[Floats, Bools], target: float, settings: Settings, limits: Limits
) -> Outcome | None:
    """A bimatrix game by Lemke and Howson (1964), from each strategy until one of the equilibria
    solves the LCP: with positive payoffs the first does. None if none does."""
    M, first = game
    pivots = 0
    for k in range(view.q.size):
        pivoting = Pivoting.howson(M, view.q, first, k, settings.pivot_tol)
        result, done, mask, value = pivoting.run(settings.max_pivots - pivots, limits)
        pivots += done
        out = view.solution(mask, value, Status.SOLVED, pivots)
        if result == code.SOLVED and out.error <= 1e3 * target:
            return _repaired(view.problem, out, target)
        if limits.expired() or pivots >= settings.max_pivots:
            break
    return None


def _split(problem: MixedArrays, settings: Settings, limits: Limits) -> Outcome:
    """Free z as the difference of two nonnegative ones, their rows as two inequalities.

    Larger and never definite, but it asks nothing of the free block.
    """
    n, F = problem.q.size, np.flatnonzero(problem.free)
    index = np.concatenate([np.arange(n), F])
    sign = np.concatenate([np.ones(n), -np.ones(F.size)])
    M = sign[:, None] * problem.M[np.ix_(index, index)] * sign
    cover = None if problem.cover is None else problem.cover[index]
    whole = MixedArrays(M, sign * problem.q[index], np.zeros(index.size, bool), cover)
    out = _attempt(whole, None, 0, settings, limits)

    def joined(y: Floats) -> Floats:
        z = y[:n].copy()
        z[F] -= y[n:]
        return z

    z, w = joined(out.z), np.empty(n)
    bases.dual_of(problem.M, problem.q, z, w)
    error = float(bases.natural_error(z, w, problem.free))
    ray = None if out.ray is None else joined(out.ray)
    basis = out.basis[:n] & ~problem.free
    return Outcome(z, w, out.status, basis, out.pivots, error, ray)


class View:
    """A mixed LCP balanced, with free rows (and a start basis) pivoted in: the LCP (M, q).

    labels: (m,) original index of each row; swapped: (n,) indices whose z and w have changed
    roles; code: SOLVED, or why there is no such view.
    """

    def __init__(self, problem: MixedArrays, start: Bools | None) -> None:
        n = problem.q.size
        self.problem = problem
        self.r, self.c = np.empty(n), np.empty(n)
        T = np.empty((n, n + 1))
        bases.balance(problem.M, problem.q, self.r, self.c, T)
        self.swapped = np.zeros(n, bool) if start is None else start & ~problem.free
        self.plain = start is None and not problem.has_free
        self.code = code.SOLVED
        self.labels: Ints | None = None
        self.d = np.ones(n) if problem.cover is None else problem.cover * self.r
        if self.plain:
            self.M, self.q = np.ascontiguousarray(T[:, :n]), T[:, n].copy()
            return
        self._pivot_in(T)

    def _pivot_in(self, T: Floats) -> None:
        n, free = self.problem.q.size, self.problem.free
        marks = np.empty((4, n), np.int64)
        self.code = bases.transform(
            T, free, self.swapped, FREE_PIVOT, marks[0], marks[1], marks[2], marks[3], np.empty(n)
        )
        if self.code != code.SOLVED:
            return
        m = n - int(np.count_nonzero(free))
        self.M, self.q, labels = np.empty((m, m)), np.empty(m), np.empty(m, np.int64)
        bases.condense(T, free, marks[2], marks[3], labels, self.M, self.q)
        self.d, self.labels = np.where(self.swapped, 1.0, self.d)[labels], labels
        self._rows, self._columns = marks[2], marks[3]

    def failure(self, pivots: int) -> Outcome:
        z = np.zeros(self.problem.q.size)
        return Outcome(z, self.problem.q.copy(), STATUS_OF_CODE[self.code], z > 0, pivots)

    def full_basis(self, mask: Bools) -> Bools:
        if self.labels is None:
            return mask
        full = self.swapped.copy()
        full[self.labels] ^= mask
        return full

    def used(self, basis: Bools) -> tuple[Bools, Bools]:
        """Rows and columns of the linear system that a basis stands for."""
        free = self.problem.free
        if not self.problem.has_free:
            return basis, basis
        rows = np.where(free, self._rows != bases.DROPPED, basis)
        return rows, np.where(free, self._columns != bases.DROPPED, basis)

    def solution(self, mask: Bools, value: Floats, status: Status, pivots: int) -> Outcome:
        """The better of the refined basic solution and the value of the tableau."""
        p = self.problem
        basis = self.full_basis(mask)
        rows, columns = self.used(basis)
        z, w, error = basic_point(p, rows, columns)
        if not error <= 1e-12 * float(np.abs(p.q).max(initial=0.0)):
            other = self._tableau_point(value)
            if not error <= other[2]:
                z, w, error = other
        return Outcome(z, w, status, basis, pivots, error)

    def _tableau_point(self, value: Floats) -> tuple[Floats, Floats, float]:
        """The point the pivoting itself holds: the better one where the basis is near singular."""
        p, n = self.problem, self.problem.q.size
        z, w = np.zeros(n), np.empty(n)
        if self.labels is None:
            z = self.c * value
        else:
            inside = np.where(self.swapped[self.labels], self.M @ value + self.q, value)
            z[self.labels] = self.c[self.labels] * inside
            if p.has_free:
                z[p.free] = _free_part(p, self, z, p.q)
        bases.dual_of(p.M, p.q, z, w)
        return z, w, float(bases.natural_error(z, w, p.free))

    def ray(self, direction: Floats, mask: Bools, pivots: int) -> Outcome:
        p, n = self.problem, self.problem.q.size
        ray = np.zeros(n)
        if self.labels is None:
            ray = self.c * direction
        else:
            growth = self.M @ direction
            swapped = self.swapped[self.labels]
            ray[self.labels] = self.c[self.labels] * np.where(swapped, growth, direction)
            if p.has_free:
                ray[p.free] = _free_part(p, self, ray, 0.0 * p.q)
        z = np.zeros(n)
        top = float(np.abs(ray).max(initial=0.0))
        ray = ray / top if top > 0 else ray
        basis = self.full_basis(mask)
        exchanged = bool(self.swapped.any())
        return Outcome(z, p.q.copy(), Status.RAY, basis, pivots, ray=ray, exchanged=exchanged)


def _free_part(p: MixedArrays, view: View, z: Floats, q: Floats) -> Floats:
    """Free z that meet the equations given the others: least squares covers singular blocks."""
    F, C = p.free, ~p.free
    rhs = -view.r[F] * (p.M[np.ix_(F, C)] @ z[C] + q[F])
    block = view.r[F][:, None] * p.M[np.ix_(F, F)] * view.c[F]
    return np.asarray(view.c[F] * np.linalg.lstsq(block, rhs, rcond=FREE_PIVOT)[0])


def basic_point(p: MixedArrays, rows: Bools, columns: Bools) -> tuple[Floats, Floats, float]:
    """(z, w, error) with w = 0 on the rows and z = 0 off the columns: one refined solve."""
    n = p.q.size
    z, w = np.zeros(n), np.empty(n)
    if n > LAPACK_FROM:
        z[columns] = _refined_solve(p.M[np.ix_(rows, columns)], -p.q[rows])
        w[:] = p.M @ z + p.q
    else:
        work, index, B = np.empty((2, n)), np.empty(3 * n, np.int64), np.empty((n, n))
        done = bases.basic_solution(p.M, p.q, rows, columns, B, index, work[0], work[1], z, w)
        if done != code.SOLVED:
            z[:] = 0.0
            z[columns] = _least_squares(p.M[np.ix_(rows, columns)], -p.q[rows])
            bases.dual_of(p.M, p.q, z, w)
    error = float(bases.natural_error(z, w, p.free))
    if bases.clip(z, p.free, 1e-9 * float(np.abs(z).max(initial=0.0))):
        bases.dual_of(p.M, p.q, z, w)
        error = float(bases.natural_error(z, w, p.free))
    return z, w, error


def _refined_solve(block: Floats, rhs: Floats) -> Floats:
    """LAPACK in place of the kernel where the block may be large; one step of refinement."""
    if block.shape[0] != block.shape[1]:
        return _least_squares(block, rhs)
    if block.size == 0:
        return np.zeros(0)
    factors, order, info = dgetrf(block)
    if info != 0:
        return _least_squares(block, rhs)
    x = dgetrs(factors, order, rhs)[0]
    x += dgetrs(factors, order, rhs - block @ x)[0]
    return np.asarray(x)


def _least_squares(block: Floats, rhs: Floats) -> Floats:
    """The same where the block is singular; one step of refinement."""
    x = np.linalg.lstsq(block, rhs, rcond=FREE_PIVOT)[0]
    x += np.linalg.lstsq(block, rhs - block @ x, rcond=FREE_PIVOT)[0]
    return np.asarray(x)


# Lemke's method on an LCP w = M z + q: the state of the pivoting, and how it starts.
#
# The kernel runs in bursts of some milliseconds; in between the clock is read, and inverses that
# have drifted or that a tie asks for are computed.

BURST_ENTRIES = 4_000_000  # entries changed between two readings of the clock


class Pivoting:
    """The inverse X of the basis K, and the values of the basic variables: see the kernels.

    d: covering vector; it starts at z = 0. `howson` starts elsewhere.
    """

    def __init__(self, M: Floats, q: Floats, d: Floats, tol: float) -> None:
        m = q.size
        columns = np.empty((m + 1, m))
        columns[:m], columns[m] = M.T, d
        rows, cols, row_at, col_at = np.empty((4, m + 1), np.int64)
        self.m, self.exact = m, _no_residues()
        self.basis = kernels.Basis(
            columns, q, X=np.empty((m + 1, m + 1)), x=np.empty(m + 1), w=np.empty(m),
            rows=rows, cols=cols, row_at=row_at[:m], col_at=col_at,
            state=np.zeros(kernels.PLACES, np.int64), keys=_keys(2 * m + 1),
            dx=np.empty(m + 1), dw=np.empty(m), g=np.empty(2 * m + 2),
            ties=np.empty(2 * m + 2, np.int64),
            scale=float(np.abs(q).max(initial=0.0)), tol=tol,
        )  # fmt: skip
        self.state = self.basis.state
        self.result = kernels.begin(self.basis)

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
        start.state[kernels.PIVOTS_DONE] = 2
        if s == k and start.result == code.RUNNING:
            start.result = code.SOLVED
        return start

    def _set_basis(self, rows: list[int], cols: list[int]) -> None:
        k, b = len(rows), self.basis
        b.rows[:k], b.cols[:k] = rows, cols
        b.row_at[:], b.col_at[:] = -1, -1
        b.row_at[rows], b.col_at[cols] = np.arange(k), np.arange(k)
        self.state[:] = 0
        self.state[kernels.BASIS_SIZE] = k
        self.result = code.RUNNING if self.refresh() else code.SINGULAR

    def run(self, most: int, limits: Limits) -> tuple[int, int, Bools, Floats]:
        """(status code, pivots, mask of basic z, its value or the ray)."""
        m, state = self.m, self.state
        chunk = max(1, BURST_ENTRIES // (m * m + 1))
        while self.result == code.RUNNING and state[kernels.PIVOTS_DONE] < most:
            burst = min(chunk, most - int(state[kernels.PIVOTS_DONE]))
            self.result = kernels.pivot(self.basis, self.exact, burst)
            if (state[kernels.DRIFTED] and not self.refresh()) or (
                state[kernels.TIED] and self.result == code.RUNNING and not self.find_residues()
            ):
                self.result = code.SINGULAR
            if limits.expired():
                break
        value, mask = np.empty(m), np.zeros(m, bool)
        kernels.read_basis(self.basis, mask, value)
        if self.result == code.RAY:
            kernels.read_ray(self.basis, value)
        return self.result, int(state[kernels.PIVOTS_DONE]), mask, value

    def refresh(self) -> bool:
        """The inverse of K, and the values, from scratch; False if K is singular."""
        k, b = int(self.state[kernels.BASIS_SIZE]), self.basis
        R, C = b.rows[:k], b.cols[:k]
        K = np.ascontiguousarray(b.columns[np.ix_(C, R)].T)
        try:
            b.X[:k, :k] = np.linalg.solve(K, np.eye(k))
        except np.linalg.LinAlgError:
            return False
        b.x[:k] = -b.X[:k, :k] @ b.q[R]
        b.w[:] = b.q + b.x[:k] @ b.columns[C]
        b.w[R] = 0.0
        self.state[kernels.FRESH], self.state[kernels.DRIFTED] = 1, 0
        return True

    def find_residues(self) -> bool:
        """The inverse of K modulo two primes; False if K is singular."""
        m, k, b = self.m, int(self.state[kernels.BASIS_SIZE]), self.basis
        if self.exact.q.size == 0:
            columns, q, X = np.empty((2, m + 1, m)), np.empty((2, m)), np.zeros((2, m + 1, m + 1))
            for s, p in enumerate(modular.PRIMES):
                powers = modular.powers_of_two(p)
                modular.residues(b.columns, float(p), powers, columns[s])
                modular.residues(b.q[None], float(p), powers, q[s : s + 1])
            dx, x = np.empty((2, 2, m + 1))
            value, rate = np.empty((2, 2, 2 * m + 2))
            slack = np.empty(2 * m + 2)
            self.exact = kernels.Residues(
                self.exact.primes, columns, q, X, dx, x, value, rate, slack
            )
        for s, p in enumerate(modular.PRIMES):
            K = np.ascontiguousarray(self.exact.columns[s][np.ix_(b.cols[:k], b.rows[:k])].T)
            if not modular.invert(K, k, float(p), self.exact.X[s]):
                return False
        self.state[kernels.MODULAR], self.state[kernels.TIED] = 1, 0
        return True


def _no_residues() -> kernels.Residues:
    two, three = np.empty((2, 0)), np.empty((2, 0, 0))
    primes = np.array(modular.PRIMES, float)
    return kernels.Residues(primes, three, two, three, two, two, two, two, np.empty(0))


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
