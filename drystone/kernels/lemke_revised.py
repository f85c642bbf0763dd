"""Complementary pivoting in revised form: Lemke's method for larger problems (F7).

The method and its lexicographic rule are those of ``lemke``; the bookkeeping differs. With
z_L and z0 basic, the rows where w is nonbasic are R = L and one more, so the basis is the square
matrix K = [M_RL d_R] of size k = |L| + 1, however large the problem. Its inverse is kept and
changed by bordering, by removing, or by replacing a row or column: O(k^2) for each pivot.

Columns = [M | d] transposed, (m + 1, m): row j is column j of M, row m is the covering vector.
X (m + 1, m + 1): the inverse of K, X[a, b] for column cols[a] and row rows[b].
numbers: rows (m + 1,), cols (m + 1,), row_at (m,), col_at (m + 1,): positions or -1.
"""

import numpy as np

from drystone.kernels import status as code
from drystone.kernels._jit import kernel

ENTERING = 0  # places in `state`: entering variable (w_i: i, z_i: m + i), size k, pivots done
SIZE = 1
PIVOTS = 2
DRIFTED = 3  # set when X should be computed anew before going on
FRESH = 4  # set when it has just been

SMALL = 1e-7  # a pivot below this times the largest entry of its column is looked at twice
NOTHING = 1e-11  # z0 below this times the largest |q_i| is zero


@kernel
def begin(columns, q, X, x, w, rows, cols, row_at, col_at, state):
    """Bring z0 in. SOLVED if q >= 0 already, RUNNING otherwise. x: basic z; w: (m,)."""
    m = q.size
    d = columns[m]
    r = -1
    for i in range(m):
        row_at[i] = col_at[i] = -1
        w[i] = q[i]
        # the lexicographic least of (q_i, e_i) / d_i: among equals the last row
        if q[i] < 0.0 and (r < 0 or q[i] * d[r] <= q[r] * d[i]):
            r = i
    state[:] = 0
    if r < 0:
        return code.SOLVED
    rows[0], cols[0] = r, m
    row_at[r] = col_at[m] = 0
    X[0, 0] = 1.0 / d[r]
    x[0] = -q[r] / d[r]
    for i in range(m):
        w[i] += d[i] * x[0]
    w[r] = 0.0
    state[ENTERING], state[SIZE], state[PIVOTS] = m + r, 1, 1
    return code.RUNNING


@kernel
def pivot(columns, scale, X, x, w, rows, cols, row_at, col_at, state, most, tol, dx, dw, g, ties):
    """Pivot at most `most` times: SOLVED, RAY, or RUNNING (perhaps with state[DRIFTED] set).

    A small pivot may be rounding alone: with a fresh inverse the entries of its column are
    compared with their own error bounds, and those within them are zero. A ray, too, is believed
    only with a fresh inverse.
    scale: largest |q_i|; dx (m + 1,), dw (m,), g (2 m + 1,), ties (2 m + 1,) int are scratch.
    On RAY, dx holds the direction of the basic z.
    """
    m = w.size
    for _ in range(most):
        k, fresh = state[SIZE], state[FRESH] == 1
        error = _direction(columns, X, rows, cols, row_at, state[ENTERING], k, dx, dw, g)
        state[DRIFTED] = 1 if error > 1e-11 and not fresh else 0
        if state[DRIFTED] == 1:
            return code.RUNNING
        leaving, size = _leaving(columns, X, x, w, cols, row_at, col_at, k, dx, dw, scale, tol,
                                 g, ties)  # fmt: skip
        if size < SMALL and not fresh:  # a ray has size 0
            state[DRIFTED] = 1
            return code.RUNNING
        if 0.0 < size < SMALL:
            _drop_noise(columns, X, rows, cols, row_at, state[ENTERING], k, dx, dw, g)
            leaving, size = _leaving(columns, X, x, w, cols, row_at, col_at, k, dx, dw, scale,
                                     tol, g, ties)  # fmt: skip
        if leaving < 0:
            return code.SOLVED if x[col_at[m]] <= NOTHING * scale else code.RAY
        step = -x[leaving - m] / dx[leaving - m] if leaving >= m else -w[leaving] / dw[leaving]
        step = max(step, 0.0)
        for a in range(k):
            x[a] += step * dx[a]
        for i in range(m):
            w[i] += step * dw[i]
        state[PIVOTS] += 1
        state[FRESH] = 0
        done = leaving >= m and cols[leaving - m] == m
        _update(columns, X, x, w, rows, cols, row_at, col_at, state, leaving, step, dx, dw, g)
        if done:
            return code.SOLVED
    return code.RUNNING


@kernel
def _drop_noise(columns, X, rows, cols, row_at, entering, k, dx, dw, u):
    """Set to zero the entries of the direction that lie within their rounding error.

    Componentwise bound of a linear solve (Bauer, Skeel): |K^-1| (|K| |dx| + |right side|) eps.
    """
    m = dw.size
    eps = 2.220446049250313e-16
    for b in range(k):
        i = rows[b]
        u[b] = abs(columns[entering - m, i]) if entering >= m else 0.0
        for a in range(k):
            u[b] += abs(columns[cols[a], i] * dx[a])
    noise = u[k : 2 * k]
    for a in range(k):
        noise[a] = 0.0
        for b in range(k):
            noise[a] += abs(X[a, b]) * u[b]
        noise[a] *= 4.0 * eps
    for i in range(m):
        if row_at[i] < 0:
            bound = 4.0 * eps * abs(columns[entering - m, i]) if entering >= m else 0.0
            for a in range(k):
                bound += abs(columns[cols[a], i]) * (noise[a] + 4.0 * eps * abs(dx[a]))
            if abs(dw[i]) <= bound:
                dw[i] = 0.0
    for a in range(k):
        if abs(dx[a]) <= noise[a]:
            dx[a] = 0.0


@kernel
def _direction(columns, X, rows, cols, row_at, entering, k, dx, dw, u):
    """dx, dw for a unit of the entering variable; the largest relative error of K dx on R."""
    m = dw.size
    for i in range(m):
        dw[i] = 0.0
    if entering < m:
        b = row_at[entering]
        for a in range(k):
            dx[a] = X[a, b]
    else:
        for b in range(k):
            u[b] = columns[entering - m, rows[b]]
        for a in range(k):
            dx[a] = -_dot(X[a], u, k)
        for i in range(m):
            dw[i] = columns[entering - m, i]
    largest = 1e-300
    for a in range(k):
        f = dx[a]
        if f != 0.0:
            column = columns[cols[a]]
            for i in range(m):
                dw[i] += f * column[i]
            largest = max(largest, abs(f))
    error = 0.0
    for b in range(k):
        want = 1.0 if rows[b] == entering else 0.0
        error = max(error, abs(dw[rows[b]] - want))
        dw[rows[b]] = want
    return error / max(largest, 1.0)


@kernel
def _dot(a, b, k):
    """Sum of k products in four strands, which the compiler can vectorise."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    for j in range(0, k - 3, 4):
        s0 += a[j] * b[j]
        s1 += a[j + 1] * b[j + 1]
        s2 += a[j + 2] * b[j + 2]
        s3 += a[j + 3] * b[j + 3]
    for j in range(k - k % 4, k):
        s0 += a[j] * b[j]
    return (s0 + s1) + (s2 + s3)


@kernel
def _leaving(columns, X, x, w, cols, row_at, col_at, k, dx, dw, scale, tol, work, ties):
    """The basic variable that blocks first: w_i as i, x[a] as m + a; -1 if none does.

    Second, the size of its pivot relative to the largest entry of the column.
    """
    m = w.size
    steepest = 0.0
    for a in range(k):
        steepest = max(steepest, abs(dx[a]))
    for i in range(m):
        if row_at[i] < 0:
            steepest = max(steepest, abs(dw[i]))
    cut = -tol * steepest
    best = np.inf
    for a in range(k):
        if dx[a] < cut:
            best = min(best, max(x[a], 0.0) / -dx[a])
    for i in range(m):
        if dw[i] < cut and row_at[i] < 0:
            best = min(best, max(w[i], 0.0) / -dw[i])
    if best == np.inf:
        return -1, 0.0
    z0 = col_at[m]
    if dx[z0] < cut and x[z0] + best * dx[z0] <= NOTHING * scale:
        return m + z0, -dx[z0] / steepest
    count = 0
    for a in range(k):
        if dx[a] < cut and _ties(x[a], dx[a], best, scale):
            ties[count] = m + a
            count += 1
    for i in range(m):
        if row_at[i] < 0 and dw[i] < cut and _ties(w[i], dw[i], best, scale):
            ties[count] = i
            count += 1
    for j in range(m):
        if count == 1:
            break
        count = _still_tied(columns, X, cols, row_at, k, j, dx, dw, ties, count, work)
    pick = ties[0]
    for t in range(1, count):
        if _rate(ties[t], dx, dw) < _rate(pick, dx, dw):
            pick = ties[t]
    return pick, -_rate(pick, dx, dw) / steepest


@kernel
def _ties(value, rate, best, scale):
    value = max(value, 0.0)
    return value + best * rate <= 1e-13 * scale + 1e-12 * value


@kernel
def _rate(variable, dx, dw):
    m = dw.size
    return dx[variable - m] if variable >= m else dw[variable]


@kernel
def _still_tied(columns, X, cols, row_at, k, j, dx, dw, ties, count, work):
    """Keep the candidates that are least in the coefficient of eps^j (see ``lemke``)."""
    m = dw.size
    b = row_at[j]
    least, largest = np.inf, 0.0
    for t in range(count):
        v = ties[t]
        beta = 0.0
        if b >= 0:
            if v >= m:
                beta = -X[v - m, b]
            else:
                for a in range(k):
                    beta -= columns[cols[a], v] * X[a, b]
        elif v == j:
            beta = 1.0
        work[t] = beta / -_rate(v, dx, dw)
        least = min(least, work[t])
        largest = max(largest, abs(work[t]))
    kept = 0
    for t in range(count):
        if work[t] - least <= 1e-10 * largest:
            ties[kept] = ties[t]
            kept += 1
    return kept


@kernel
def _update(columns, X, x, w, rows, cols, row_at, col_at, state, leaving, step, dx, dw, g):
    """Change K, its inverse and the values for one exchange; the complement enters next."""
    m = w.size
    k, entering = state[SIZE], state[ENTERING]
    if leaving < m:
        for b in range(k):
            g[b] = 0.0
        for a in range(k):
            f = columns[cols[a], leaving]
            if f != 0.0:
                for b in range(k):
                    g[b] += f * X[a, b]
    if entering >= m and leaving < m:
        _border(X, k, dx, g, dw[leaving])
        rows[k], cols[k] = leaving, entering - m
        row_at[leaving] = col_at[entering - m] = k
        x[k] = step
        w[leaving] = 0.0
        state[SIZE] = k + 1
    elif entering >= m:
        a = leaving - m
        _replace_column(X, k, a, dx)
        col_at[cols[a]] = -1
        leaving = m + cols[a]
        cols[a] = entering - m
        col_at[entering - m] = a
        x[a] = step
    elif leaving < m:
        b = row_at[entering]
        _replace_row(X, k, b, g)
        row_at[entering] = -1
        rows[b], row_at[leaving] = leaving, b
        w[entering], w[leaving] = step, 0.0
    else:
        a, b = leaving - m, row_at[entering]
        leaving = m + cols[a]
        _remove(X, k, a, b)
        col_at[cols[a]] = -1
        row_at[entering] = -1
        cols[a], rows[b], x[a] = cols[k - 1], rows[k - 1], x[k - 1]
        if a < k - 1:
            col_at[cols[a]] = a
        if b < k - 1:
            row_at[rows[b]] = b
        w[entering] = step
        state[SIZE] = k - 1
    state[ENTERING] = leaving + m if leaving < m else leaving - m


@kernel
def _border(X, k, dx, g, pivot):
    """K gains a column (K^-1 of it is -dx) and a row (g = it times K^-1); Schur part `pivot`."""
    for a in range(k):
        f = dx[a] / pivot
        if f != 0.0:
            for b in range(k):
                X[a, b] -= f * g[b]
        X[a, k] = f
    for b in range(k):
        X[k, b] = -g[b] / pivot
    X[k, k] = 1.0 / pivot


@kernel
def _replace_column(X, k, a, dx):
    pivot = -dx[a]
    for b in range(k):
        X[a, b] /= pivot
    for i in range(k):
        if i != a and dx[i] != 0.0:
            f = dx[i]
            for b in range(k):
                X[i, b] += f * X[a, b]


@kernel
def _replace_row(X, k, b, g):
    pivot = g[b]
    for a in range(k):
        f = X[a, b] / pivot
        if f != 0.0:
            for j in range(k):
                X[a, j] -= f * g[j]
        X[a, b] = f


@kernel
def _remove(X, k, a, b):
    """K loses row b and column a; the last ones take their places."""
    pivot = X[a, b]
    for i in range(k):
        f = X[i, b] / pivot
        if i != a and f != 0.0:
            for j in range(k):
                X[i, j] -= f * X[a, j]
    last = k - 1
    if a != last:
        for j in range(k):
            X[a, j] = X[last, j]
    if b != last:
        for i in range(last):
            X[i, b] = X[i, last]


@kernel
def read_basis(m, x, cols, k, mask, value):
    """Basic z as a mask (m,), and its value (m,)."""
    for i in range(m):
        mask[i] = False
        value[i] = 0.0
    for a in range(k):
        if cols[a] < m:
            mask[cols[a]] = True
            value[cols[a]] = max(x[a], 0.0)


@kernel
def read_ray(m, dx, cols, state, ray):
    """Direction of z (m,) along the unblocked variable, largest entry 1."""
    for i in range(m):
        ray[i] = 0.0
    if state[ENTERING] >= m:
        ray[state[ENTERING] - m] = 1.0
    for a in range(state[SIZE]):
        if cols[a] < m:
            ray[cols[a]] = max(dx[a], 0.0)
    top = 0.0
    for i in range(m):
        top = max(top, ray[i])
    for i in range(m):
        ray[i] = ray[i] / top if ray[i] > 1e-12 * top else 0.0
