"""Projected Jacobi, Gauss-Seidel and SOR sweeps (thesis, appendix C).

Each kernel runs at most `count` sweeps and returns (status, sweeps, change, period):
SOLVED     the last sweep moved the unknowns by no more than `target`,
STALLED    it came back to the iterate it started from (period > 0), did not move at all, or
           moved by more than `ceiling` (divergence; also when a number is not finite),
RUNNING    otherwise.
`change` is |unit * (z_new - z_old)|, an estimate of the unit-free residual before its scaling.
Jacobi reads the iterate of the last sweep from `work`; Gauss-Seidel reads what it writes.
"""

from typing import Any, NamedTuple

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.status import RUNNING, SOLVED, STALLED
from drystone.kernels.step.copies import copy_all

RETURNED = 1e-9  # of the last move: nearer than this to the anchor is a cycle


class Box(NamedTuple):
    """The rows of a boxed LCP but for M: q, lower, upper, unit (n,)."""

    q: Any
    lower: Any
    upper: Any
    unit: Any


class Pattern(NamedTuple):
    """Where the entries of compressed rows are: indptr (n + 1,), indices (nnz,)."""

    indptr: Any
    indices: Any


class Sweeps(NamedTuple):
    """How sweeps go. step: relaxation / diagonal, shaped as the unknowns; jacobi: or Gauss-Seidel;
    target, ceiling: see the module; anchor, work: work, shaped as the unknowns."""

    step: Any
    jacobi: bool
    target: float
    ceiling: float
    anchor: Any
    work: Any


class Law(NamedTuple):
    """What friction at force level has beside W, q and mu. diagonal (nb,): places of W's diagonal
    blocks; slip (nb, d - 1), sliding (nb,): contacts with f_t = -mu f_N slip."""

    diagonal: Any
    slip: Any
    sliding: Any


@kernel
def _row(M, pattern, i, x):
    """M[i] . x, of compressed rows M (nnz,), or of a dense M (n, n): with four running sums, fast
    without reordering at the compiler's whim."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    if M.ndim == 2:  # a constant for the compiler
        n = x.size
        for j in range(0, n - 3, 4):
            s0 += M[i, j] * x[j]
            s1 += M[i, j + 1] * x[j + 1]
            s2 += M[i, j + 2] * x[j + 2]
            s3 += M[i, j + 3] * x[j + 3]
        for j in range(n - n % 4, n):
            s0 += M[i, j] * x[j]
    else:
        for k in range(pattern.indptr[i], pattern.indptr[i + 1]):
            s0 += M[k] * x[pattern.indices[k]]
    return (s0 + s1) + (s2 + s3)


@kernel
def _verdict(moved, away, sweep, target, ceiling):
    """Status after a sweep that moved by `moved` and ended `away` from the anchor (squares)."""
    if not moved <= ceiling * ceiling:
        return STALLED, 0
    if moved <= target * target:
        return (STALLED, 0) if moved == 0.0 and target == 0.0 else (SOLVED, 0)
    if sweep > 1 and away <= moved * RETURNED**2:
        return STALLED, sweep
    return RUNNING, 0


@kernel
def sweeps_rows(M, pattern, p, how, count, z):
    """Sweeps of a boxed LCP; M (n, n) and pattern None, or the entries of M in compressed rows."""
    lower, upper, unit, step, anchor = p.lower, p.upper, p.unit, how.step, how.anchor
    copy_all(z, anchor)  # a slice would be compiled in each process
    moved, status, period = 0.0, RUNNING, 0
    for k in range(count):
        moved, away = 0.0, 0.0
        if how.jacobi:
            copy_all(z, how.work)
        x = how.work if how.jacobi else z
        for i in range(z.size):
            e = p.q[i] + _row(M, pattern, i, x)
            new = min(max(z[i] - step[i] * e, lower[i]), upper[i])
            moved += (unit[i] * (new - z[i])) ** 2
            away += (unit[i] * (new - anchor[i])) ** 2
            z[i] = new
        status, period = _verdict(moved, away, k + 1, how.target, how.ceiling)
        if status != RUNNING:
            return status, k + 1, np.sqrt(moved), period
    return status, count, np.sqrt(moved), period


@kernel
def _acceleration(shape, p, i, x, a):
    """a = (W x + q)_i, (d,)."""
    indptr, indices, blocks = p.indptr, p.indices, p.blocks
    d = len(shape)
    for b in range(d):
        a[b] = p.q[i, b]
    for k in range(indptr[i], indptr[i + 1]):
        j = indices[k]
        for b in range(d):
            total = a[b]
            for c in range(d):
                total += blocks[k, b, c] * x[j, c]
            a[b] = total


@kernel
def _push(shape, B, b, change, jacobi, i, a, f):
    """Change force b of contact i; Gauss-Seidel lets its own acceleration know (block B)."""
    f[i, b] += change
    if not jacobi:
        for c in range(len(shape)):
            a[c] += B[c, b] * change


@kernel
def _move_friction(shape, B, step, bound, jacobi, i, a, f):
    """Appendix C: friction of contact i moves against its acceleration, then back to the cone.

    It rests when it is at its bound and already opposes (or is across) the acceleration.
    """
    d = len(shape)
    size, p = 0.0, 0.0
    for b in range(1, d):
        size += f[i, b] ** 2
        p += f[i, b] * a[b]
    if size < bound * bound or p > 0.0:
        for b in range(1, d):
            _push(shape, B, b, -step[i, b] * a[b], jacobi, i, a, f)
    size = 0.0
    for b in range(1, d):
        size += f[i, b] ** 2
    if size > bound * bound:
        shrink = bound / np.sqrt(size)
        for b in range(1, d):
            f[i, b] *= shrink


@kernel
def _update_contact(shape, B, mu, slip, sliding, step, jacobi, i, a, f):
    """Forces of contact i from its acceleration a (d,); mu < 0 marks a bilateral block."""
    d = len(shape)
    if mu < 0.0:
        for b in range(d):
            _push(shape, B, b, -step[i, b] * a[b], jacobi, i, a, f)
        return
    before = f[i, 0]
    _push(shape, B, 0, max(0.0, before - step[i, 0] * a[0]) - before, jacobi, i, a, f)
    if sliding:
        for b in range(1, d):
            f[i, b] = -mu * f[i, 0] * slip[i, b - 1]
    else:
        bound = mu * (before if jacobi else f[i, 0])
        _move_friction(shape, B, step, bound, jacobi, i, a, f)


@kernel
def sweeps_friction(shape, p, law, how, count, a, f):
    """Static-friction iteration on blocks: a = W f + q, f and q (nb, d); p: FrictionBlocks.

    The step of a sliding contact's normal is that of its folded diagonal; a (d,) is work space.
    """
    nb, d = p.q.shape[0], len(shape)
    unit, anchor, work = p.unit, how.anchor, how.work
    copy_all(f, anchor)
    moved, status, period = 0.0, RUNNING, 0
    for k in range(count):
        moved, away = 0.0, 0.0
        copy_all(f, work)
        x = work if how.jacobi else f
        for i in range(nb):
            _acceleration(shape, p, i, x, a)
            B, mu, slides = p.blocks[law.diagonal[i]], p.mu[i], law.sliding[i]
            _update_contact(shape, B, mu, law.slip, slides, how.step, how.jacobi, i, a, f)
            for b in range(d):
                moved += (unit[i] * (f[i, b] - work[i, b])) ** 2
                away += (unit[i] * (f[i, b] - anchor[i, b])) ** 2
        status, period = _verdict(moved, away, k + 1, how.target, how.ceiling)
        if status != RUNNING:
            return status, k + 1, np.sqrt(moved), period
    return status, count, np.sqrt(moved), period
