"""Projected Jacobi, Gauss-Seidel and SOR sweeps (thesis, appendix C).

Each kernel runs at most `count` sweeps and returns (status, sweeps, change, period):
SOLVED     the last sweep moved the unknowns by no more than `target`,
STALLED    it came back to the iterate it started from (period > 0), did not move at all, or
           moved by more than `ceiling` (divergence; also when a number is not finite),
RUNNING    otherwise.
`change` is |unit * (z_new - z_old)|, an estimate of the unit-free residual before its scaling.
Jacobi reads the iterate of the last sweep from `work`; Gauss-Seidel reads what it writes.
"""

import numpy as np

from drystone.kernels._jit import kernel

RUNNING = 0
SOLVED = 1
STALLED = 6
RETURNED = 1e-9  # of the last move: nearer than this to the anchor is a cycle


@kernel
def _row_dense(M, i, x):
    """M[i] . x with four running sums: fast without reordering at the compiler's whim."""
    n = x.size
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    j = 0
    while j + 3 < n:
        s0 += M[i, j] * x[j]
        s1 += M[i, j + 1] * x[j + 1]
        s2 += M[i, j + 2] * x[j + 2]
        s3 += M[i, j + 3] * x[j + 3]
        j += 4
    while j < n:
        s0 += M[i, j] * x[j]
        j += 1
    return (s0 + s1) + (s2 + s3)


@kernel
def _row_sparse(indptr, indices, data, i, x):
    total = 0.0
    for k in range(indptr[i], indptr[i + 1]):
        total += data[k] * x[indices[k]]
    return total


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
def sweeps_dense(M, q, lower, upper, step, unit, jacobi, count, target, ceiling, anchor, work, z):
    """Sweeps of a boxed LCP with M (n, n); step (n,) is relaxation / M_ii."""
    n = q.size
    anchor[:] = z
    moved, status, period = 0.0, RUNNING, 0
    for k in range(count):
        moved, away = 0.0, 0.0
        if jacobi:
            work[:] = z
        x = work if jacobi else z
        for i in range(n):
            e = q[i] + _row_dense(M, i, x)
            new = min(max(z[i] - step[i] * e, lower[i]), upper[i])
            moved += (unit[i] * (new - z[i])) ** 2
            away += (unit[i] * (new - anchor[i])) ** 2
            z[i] = new
        status, period = _verdict(moved, away, k + 1, target, ceiling)
        if status != RUNNING:
            return status, k + 1, np.sqrt(moved), period
    return status, count, np.sqrt(moved), period


@kernel
def sweeps_sparse(
    indptr,
    indices,
    data,
    q,
    lower,
    upper,
    step,
    unit,
    jacobi,
    count,
    target,
    ceiling,
    anchor,
    work,
    z,
):
    """The same with M in compressed rows."""
    n = q.size
    anchor[:] = z
    moved, status, period = 0.0, RUNNING, 0
    for k in range(count):
        moved, away = 0.0, 0.0
        if jacobi:
            work[:] = z
        x = work if jacobi else z
        for i in range(n):
            e = q[i] + _row_sparse(indptr, indices, data, i, x)
            new = min(max(z[i] - step[i] * e, lower[i]), upper[i])
            moved += (unit[i] * (new - z[i])) ** 2
            away += (unit[i] * (new - anchor[i])) ** 2
            z[i] = new
        status, period = _verdict(moved, away, k + 1, target, ceiling)
        if status != RUNNING:
            return status, k + 1, np.sqrt(moved), period
    return status, count, np.sqrt(moved), period


@kernel
def _acceleration(shape, indptr, indices, blocks, q, i, x, a):
    """a = (W x + q)_i, (d,)."""
    d = len(shape)
    for b in range(d):
        a[b] = q[i, b]
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
def sweeps_friction(
    shape,
    indptr,
    indices,
    blocks,
    diagonal,
    q,
    mu,
    slip,
    sliding,
    step,
    unit,
    jacobi,
    count,
    target,
    ceiling,
    anchor,
    work,
    a,
    f,
):
    """Static-friction iteration on blocks: a = W f + q, f and q (nb, d).

    slip (nb, d - 1), sliding (nb,): contacts with f_t = -mu f_N slip; step (nb, d) is
    relaxation / D, of the folded diagonal for a sliding contact's normal; a (d,) is work space.
    """
    nb, d = q.shape[0], len(shape)
    anchor[:] = f
    moved, status, period = 0.0, RUNNING, 0
    for k in range(count):
        moved, away = 0.0, 0.0
        work[:] = f
        x = work if jacobi else f
        for i in range(nb):
            _acceleration(shape, indptr, indices, blocks, q, i, x, a)
            B = blocks[diagonal[i]]
            _update_contact(shape, B, mu[i], slip, sliding[i], step, jacobi, i, a, f)
            for b in range(d):
                moved += (unit[i] * (f[i, b] - work[i, b])) ** 2
                away += (unit[i] * (f[i, b] - anchor[i, b])) ** 2
        status, period = _verdict(moved, away, k + 1, target, ceiling)
        if status != RUNNING:
            return status, k + 1, np.sqrt(moved), period
    return status, count, np.sqrt(moved), period
