"""Complementary pivoting: Lemke's method in revised form with an exact lexicographic rule.

Problem: w = M z + q + d z0, w, z, z0 >= 0, w_i z_i = 0, with d the covering vector. Variables are
numbered w_i: i, z_i: m + i, z0: 2 m. With z_L and z0 basic, the rows where w is nonbasic are R = L
and one more, so the basis is the square matrix K = [M_RL d_R] of size k = |L| + 1, however large
the problem. Its inverse is kept and changed by bordering, by removing, or by replacing a row or
column: O(k^2) for each pivot.

Ties in the ratio test are broken as if q were q + (eps, eps^2, ..., eps^m): then no basis occurs
twice and the method ends. The coefficient of eps^j in a basic
variable is minus the entry of w_j's column where w_j is nonbasic, and 1 or 0 where it is basic.
That holds only if ties are told from small differences, and zeros from small numbers: rounding
cannot. From the first tie on, the inverse is therefore also kept modulo two primes (``modular``),
where a zero is a zero; floating point decides what is not.

"""

from typing import Any, NamedTuple

import numpy as np

from drystone.kernels import status as code
from drystone.kernels._jit import stage
from drystone.kernels.linalg import modular

# places in `state`
ENTERING = 0  # variable: w_i is i, z_i is m + i
BASIS_SIZE = 1  # k
PIVOTS_DONE = 2  # so far
DRIFTED = 3  # set when X should be computed anew before going on
FRESH = 4  # set when it has just been
MODULAR = 5  # set while the inverse is kept modulo the primes
TIED = 6  # set when it is needed: a tie, a small pivot or a ray
CODE = 7  # sum of the keys of the basic variables: equal for equal bases
SAVED = 8  # that of an earlier basis (Brent)
RENEW = 9  # number of pivots at which the next is saved
PLACES = 10  # as many

SMALL_PIVOT = 1e-7  # an entry below this times the largest of its column may be a zero
RATIO_TIE = 1e-9  # ratios that differ by less may be equal
COVERING_ZERO = 1e-11  # z0 below this times the largest |q_i| is zero


class Basis(NamedTuple):
    """The LCP and its basis, m rows.

    columns (m + 1, m): [M | d] transposed: row j is column j of M, row m the covering vector.
    X (m + 1, m + 1): the inverse of K, X[a, b] for column cols[a] and row rows[b]; row_at (m,),
    col_at (m + 1,): places of rows and columns in X, or -1. x (m + 1,): basic z, w (m,).
    state (PLACES,); keys (2 m + 1,): random int64, one a variable. scale: largest |q_i|;
    tol: pivots below this part of the largest entry of their column are none.
    Work: dx (m + 1,), dw (m,): the direction, g (2 m + 2,), ties (2 m + 2,) int.
    """

    columns: Any
    q: Any
    X: Any
    x: Any
    w: Any
    rows: Any
    cols: Any
    row_at: Any
    col_at: Any
    state: Any
    keys: Any
    dx: Any
    dw: Any
    g: Any
    ties: Any
    scale: float
    tol: float


class Residues(NamedTuple):
    """The same modulo each of two primes; work: dx, x (2, m + 1), value, rate, slack (2 m + 2)."""

    primes: Any
    columns: Any
    q: Any
    X: Any
    dx: Any
    x: Any
    value: Any
    rate: Any
    slack: Any


@stage
def begin(b):
    """Bring z0 in. SOLVED if q >= 0 already, RUNNING otherwise."""
    q, w, row_at, col_at, x, state = b.q, b.w, b.row_at, b.col_at, b.x, b.state
    m = q.size
    d = b.columns[m]
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
    b.rows[0], b.cols[0] = r, m
    row_at[r] = col_at[m] = 0
    b.X[0, 0] = 1.0 / d[r]
    x[0] = -q[r] / d[r]
    for i in range(m):
        w[i] += d[i] * x[0]
    w[r] = 0.0
    state[ENTERING], state[BASIS_SIZE], state[PIVOTS_DONE] = m + r, 1, 1
    return code.RUNNING


@stage
def pivot(b, e, most):
    """Pivot at most `most` times: SOLVED, RAY, RUNNING (perhaps with state[DRIFTED] or state[TIED]
    set), or STALLED: a basis has come back. On RAY, b.dx holds the direction of the basic z.

    b: Basis, e: Residues. A small entry of the column that enters may be rounding alone: it is zero
    if it is so modulo the primes, or if it lies within its own error bound, computed with a fresh
    inverse. A ray, too, is believed only with a fresh inverse.
    """
    x, w, dx, dw, state = b.x, b.w, b.dx, b.dw, b.state
    m = w.size
    state[TIED] = 0
    for _ in range(most):
        k, fresh = state[BASIS_SIZE], state[FRESH] == 1
        error = _direction(b, k)
        state[DRIFTED] = 1 if error > 1e-11 and not fresh else 0
        if state[DRIFTED] == 1:
            return code.RUNNING
        if state[MODULAR] == 1:
            _exact_direction(b, e, k)
        leaving, size = _leaving(b, e, k)
        if state[MODULAR] == 0 and (state[TIED] == 1 or size < SMALL_PIVOT):  # a ray has size 0
            state[TIED] = 1
            return code.RUNNING
        if size < SMALL_PIVOT and not fresh:
            state[DRIFTED] = 1
            return code.RUNNING
        if 0.0 < size < SMALL_PIVOT:
            _drop_noise(b, k)
            leaving, size = _leaving(b, e, k)
        if leaving < 0:
            return code.SOLVED if x[b.col_at[m]] <= COVERING_ZERO * b.scale else code.RAY
        step = -x[leaving - m] / dx[leaving - m] if leaving >= m else -w[leaving] / dw[leaving]
        step = max(step, 0.0)
        for a in range(k):
            x[a] += step * dx[a]
        for i in range(m):
            w[i] += step * dw[i]
        state[PIVOTS_DONE] += 1
        state[FRESH] = 0
        done = leaving >= m and b.cols[leaving - m] == m
        _update(b, e, leaving, step)
        if done:
            return code.SOLVED
        if state[CODE] == state[SAVED]:
            return code.STALLED
        if state[PIVOTS_DONE] >= state[RENEW]:
            state[SAVED], state[RENEW] = state[CODE], 2 * state[PIVOTS_DONE]
    return code.RUNNING


@stage
def _drop_noise(b, k):
    """Set to zero the entries of the direction that lie within their rounding error.

    Componentwise bound of a linear solve (Bauer, Skeel): |K^-1| (|K| |dx| + |right side|) eps.
    """
    columns, X, rows, cols, dx, dw, u = b.columns, b.X, b.rows, b.cols, b.dx, b.dw, b.g
    m, entering = dw.size, b.state[ENTERING]
    eps = 2.220446049250313e-16
    for c in range(k):
        i = rows[c]
        u[c] = abs(columns[entering - m, i]) if entering >= m else 0.0
        for a in range(k):
            u[c] += abs(columns[cols[a], i] * dx[a])
    noise = u[k : 2 * k]
    for a in range(k):
        noise[a] = 0.0
        for c in range(k):
            noise[a] += abs(X[a, c]) * u[c]
        noise[a] *= 4.0 * eps
    for i in range(m):
        if b.row_at[i] < 0:
            bound = 4.0 * eps * abs(columns[entering - m, i]) if entering >= m else 0.0
            for a in range(k):
                bound += abs(columns[cols[a], i]) * (noise[a] + 4.0 * eps * abs(dx[a]))
            if abs(dw[i]) <= bound:
                dw[i] = 0.0
    for a in range(k):
        if abs(dx[a]) <= noise[a]:
            dx[a] = 0.0


@stage
def _direction(b, k):
    """dx, dw for a unit of the entering variable; the largest relative error of K dx on R."""
    columns, rows, dx, dw, u = b.columns, b.rows, b.dx, b.dw, b.g
    m, entering = dw.size, b.state[ENTERING]
    for i in range(m):
        dw[i] = 0.0
    if entering < m:
        c = b.row_at[entering]
        for a in range(k):
            dx[a] = b.X[a, c]
    else:
        for c in range(k):
            u[c] = columns[entering - m, rows[c]]
        for a in range(k):
            dx[a] = -_dot(b.X[a], u, k)
        for i in range(m):
            dw[i] = columns[entering - m, i]
    largest = 1e-300
    for a in range(k):
        f = dx[a]
        if f != 0.0:
            column = columns[b.cols[a]]
            for i in range(m):
                dw[i] += f * column[i]
            largest = max(largest, abs(f))
    error = 0.0
    for c in range(k):
        want = 1.0 if rows[c] == entering else 0.0
        error = max(error, abs(dw[rows[c]] - want))
        dw[rows[c]] = want
    return error / max(largest, 1.0)


@stage
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


@stage
def _leaving(b, e, k):
    """The basic variable that blocks first: w_i as i, x[a] as m + a; -1 if none does.

    Second, the size of its pivot relative to the largest entry of the column.
    """
    x, w, dx, dw, row_at, ties, state = b.x, b.w, b.dx, b.dw, b.row_at, b.ties, b.state
    m, scale = w.size, b.scale
    steepest = 0.0
    for a in range(k):
        steepest = max(steepest, abs(dx[a]))
    for i in range(m):
        if row_at[i] < 0:
            steepest = max(steepest, abs(dw[i]))
    if state[MODULAR] == 1:
        _drop_zeros(b, e, k, SMALL_PIVOT * steepest)
    cut = -b.tol * steepest
    best = np.inf
    for a in range(k):
        if dx[a] < cut:
            best = min(best, max(x[a], 0.0) / -dx[a])
    for i in range(m):
        if dw[i] < cut and row_at[i] < 0:
            best = min(best, max(w[i], 0.0) / -dw[i])
    if best == np.inf:
        return -1, 0.0
    z0 = b.col_at[m]
    if dx[z0] < cut and x[z0] + best * dx[z0] <= COVERING_ZERO * scale:
        return m + z0, -dx[z0] / steepest
    near = RATIO_TIE if state[MODULAR] == 1 else 1e-12
    count = 0
    for a in range(k):
        if dx[a] < cut and _ties(x[a], dx[a], best, near, scale):
            ties[count] = m + a
            count += 1
    for i in range(m):
        if row_at[i] < 0 and dw[i] < cut and _ties(w[i], dw[i], best, near, scale):
            ties[count] = i
            count += 1
    if count > 1 and state[MODULAR] == 0:
        state[TIED] = 1
    elif count > 1:
        count = _least_ratios(b, e, k, count)
        for j in range(m):
            if count == 1:
                break
            count = _still_tied(b, e, k, j, count)
    pick = ties[0]
    for t in range(1, count):
        if _rate(ties[t], dx, dw) < _rate(pick, dx, dw):
            pick = ties[t]
    return pick, -_rate(pick, dx, dw) / steepest


@stage
def _ties(value, rate, best, near, scale):
    value = max(value, 0.0)
    return value + best * rate <= 0.1 * near * scale + near * value


@stage
def _rate(variable, dx, dw):
    m = dw.size
    return dx[variable - m] if variable >= m else dw[variable]


@stage
def _drop_zeros(b, e, k, below):
    """Set to zero the small entries of the direction that are zero modulo the primes."""
    dx, dw, doubtful, value = b.dx, b.dw, b.ties, e.value
    m, count = dw.size, 0
    for a in range(k):
        if abs(dx[a]) < below and e.dx[0, a] == 0.0 and e.dx[1, a] == 0.0:
            dx[a] = 0.0
    for i in range(m):
        if b.row_at[i] < 0 and 0.0 < abs(dw[i]) < below:
            doubtful[count] = i
            count += 1
    for s in range(2):
        _residues_of_rates(b, e, k, s, doubtful[:count], value[s])
    for t in range(count):
        if value[0, t] == 0.0 and value[1, t] == 0.0:
            dw[doubtful[t]] = 0.0


@stage
def _exact_direction(b, e, k):
    """dx modulo the primes."""
    m, entering = b.w.size, b.state[ENTERING]
    for s in range(2):
        p = e.primes[s]
        if entering >= m:
            for c in range(k):
                e.x[s, c] = e.columns[s, entering - m, b.rows[c]]
        for a in range(k):
            if entering < m:
                e.dx[s, a] = e.X[s, a, b.row_at[entering]]
            else:
                e.dx[s, a] = _minus(modular.dot(e.X[s, a], e.x[s], k, p), p)


@stage
def _minus(a, p):
    """-a modulo p."""
    return p - a if a != 0.0 else 0.0


@stage
def _residues_of_rates(b, e, k, s, rows, out):
    """dw of some rows modulo prime s."""
    m, entering, p = b.w.size, b.state[ENTERING], e.primes[s]
    _rows_times(e.columns[s], b.cols, rows, e.dx[s], k, p, out)
    if entering >= m:
        for t in range(rows.size):
            out[t] += e.columns[s, entering - m, rows[t]]
            out[t] = out[t] - p if out[t] >= p else out[t]


@stage
def _rows_times(columns, cols, rows, y, k, p, out):
    """Some rows of the basic columns, times y (k,), modulo p."""
    inverse, room = (
        1.0 / p,
        modular.EXACT_PRODUCTS - 1,
    )  # products beside what is left of those before
    n = rows.size
    for t in range(n):
        out[t] = 0.0
    for a in range(k):
        f = y[a]
        if f == 0.0:
            continue
        column = columns[cols[a]]
        for t in range(n):
            out[t] += f * column[rows[t]]
        room -= 1
        if room == 0:
            room = modular.EXACT_PRODUCTS - 1
            for t in range(n):
                out[t] = modular.remainder(out[t], p, inverse)
    for t in range(n):
        out[t] = modular.remainder(out[t], p, inverse)


@stage
def _first_row(ties, count, m):
    """Where the rows among the candidates begin: basic z come first."""
    t = 0
    while t < count and ties[t] >= m:
        t += 1
    return t


@stage
def _least_ratios(b, e, k, count):
    """Keep the candidates of least ratio. `rate` keeps what they have modulo the primes."""
    ties, dx, dw = b.ties, b.dx, b.dw
    m = dw.size
    first = _first_row(ties, count, m)
    rows = ties[first:count]
    for s in range(2):
        p, xs, value, rate = e.primes[s], e.x[s], e.value[s], e.rate[s]
        for c in range(k):
            value[c] = e.q[s, b.rows[c]]
        for a in range(k):
            xs[a] = _minus(modular.dot(e.X[s, a], value, k, p), p)
        for t in range(first):
            rate[t], value[t] = e.dx[s, ties[t] - m], xs[ties[t] - m]
        _residues_of_rates(b, e, k, s, rows, rate[first:])
        _rows_times(e.columns[s], b.cols, rows, xs, k, p, value[first:])
        for t in range(first, count):
            value[t] += e.q[s, ties[t]]
            value[t] = value[t] - p if value[t] >= p else value[t]
    for t in range(count):
        v = ties[t]
        size = max(b.x[v - m] if v >= m else b.w[v], 0.0)
        b.g[t] = size / -_rate(v, dx, dw)
        e.slack[t] = (1e-14 * b.scale + 1e-13 * size) / -_rate(v, dx, dw)
    return _keep_least(b.g, ties, count, e)


@stage
def _still_tied(b, e, k, j, count):
    """Keep the candidates that are least in the coefficient of eps^j."""
    ties, dx, dw, ratio, slack = b.ties, b.dx, b.dw, b.g, e.slack
    m = dw.size
    c, first = b.row_at[j], _first_row(ties, count, m)
    for t in range(count):
        ratio[t], slack[t] = 0.0, 0.0
        if c < 0:
            ratio[t] = 1.0 if ties[t] == j else 0.0
        elif t < first:
            ratio[t] = -b.X[ties[t] - m, c]
            slack[t] = abs(ratio[t])
    for a in range(k if c >= 0 else 0):
        f, column = b.X[a, c], b.columns[b.cols[a]]
        if f != 0.0:
            for t in range(first, count):
                part = column[ties[t]] * f
                ratio[t] -= part
                slack[t] += abs(part)
    largest = 0.0
    for t in range(count):
        rate = -_rate(ties[t], dx, dw)
        ratio[t] /= rate
        slack[t] = 1e-13 * slack[t] / rate
        largest = max(largest, abs(ratio[t]))
    if largest == 0.0:
        return count
    _residues_of_coefficients(b, e, k, j, first, count)
    for t in range(count):
        slack[t] += 1e-13 * largest
    return _keep_least(ratio, ties, count, e)


@stage
def _residues_of_coefficients(b, e, k, j, first, count):
    """Coefficients of eps^j modulo the primes; first: of the candidates that are rows."""
    m, c, ties = b.w.size, b.row_at[j], b.ties
    for s in range(2):
        p, value = e.primes[s], e.value[s]
        if c < 0:
            for t in range(count):
                value[t] = 1.0 if ties[t] == j else 0.0
            continue
        for t in range(first):
            value[t] = _minus(e.X[s, ties[t] - m, c], p)
        rows = ties[first:count]
        _rows_times(e.columns[s], b.cols, rows, e.X[s, :, c], k, p, value[first:])
        for t in range(first, count):
            value[t] = _minus(value[t], p)


@stage
def _keep_least(ratio, ties, count, e):
    """Keep the candidates t whose ratio is least: those that equal the least one modulo the
    primes, and those of which rounding (`slack`) cannot tell whether they are greater."""
    rate, slack = e.rate, e.slack
    ref = 0
    for t in range(1, count):
        if ratio[t] < ratio[ref]:
            ref = t
    least, room = ratio[ref], slack[ref]
    v0, v1, r0, r1 = e.value[0, ref], e.value[1, ref], rate[0, ref], rate[1, ref]
    kept = 0
    for t in range(count):
        equal = _equal(e, 0, t, v0, r0) and _equal(e, 1, t, v1, r1)
        if equal or ratio[t] - least <= slack[t] + room:
            ties[kept] = ties[t]
            rate[0, kept], rate[1, kept] = rate[0, t], rate[1, t]
            kept += 1
    return kept


@stage
def _equal(e, s, t, value, rate):
    """Whether the ratio of candidate t is value / rate modulo prime s."""
    p = e.primes[s]
    mine = modular.remainder(e.value[s, t] * rate, p, 1.0 / p)
    return mine == modular.remainder(value * e.rate[s, t], p, 1.0 / p)


@stage
def _update(b, e, leaving, step):
    """Change K, its inverse and the values for one exchange; the complement enters next."""
    X, x, w, rows, cols, row_at, col_at = b.X, b.x, b.w, b.rows, b.cols, b.row_at, b.col_at
    dx, g, state = b.dx, b.g, b.state
    m = w.size
    k, entering = state[BASIS_SIZE], state[ENTERING]
    if leaving < m:
        for c in range(k):
            g[c] = 0.0
        for a in range(k):
            f = b.columns[cols[a], leaving]
            if f != 0.0:
                for c in range(k):
                    g[c] += f * X[a, c]
    if state[MODULAR] == 1 and not _exact_update(b, e, k, leaving):
        state[MODULAR] = 0
    out = leaving if leaving < m else m + cols[leaving - m]
    state[CODE] += b.keys[entering] - b.keys[out]
    if entering >= m and leaving < m:
        _border(X, k, dx, g, b.dw[leaving])
        rows[k], cols[k] = leaving, entering - m
        row_at[leaving] = col_at[entering - m] = k
        x[k] = step
        w[leaving] = 0.0
        state[BASIS_SIZE] = k + 1
    elif entering >= m:
        a = leaving - m
        _replace_column(X, k, a, dx)
        col_at[cols[a]] = -1
        cols[a] = entering - m
        col_at[entering - m] = a
        x[a] = step
    elif leaving < m:
        c = row_at[entering]
        _replace_row(X, k, c, g)
        row_at[entering] = -1
        rows[c], row_at[leaving] = leaving, c
        w[entering], w[leaving] = step, 0.0
    else:
        a, c = leaving - m, row_at[entering]
        _remove(X, k, a, c)
        col_at[cols[a]] = -1
        row_at[entering] = -1
        cols[a], rows[c], x[a] = cols[k - 1], rows[k - 1], x[k - 1]
        if a < k - 1:
            col_at[cols[a]] = a
        if c < k - 1:
            row_at[rows[c]] = c
        w[entering] = step
        state[BASIS_SIZE] = k - 1
    state[ENTERING] = out + m if out < m else out - m


@stage
def _exact_update(b, e, k, leaving):
    """The same exchange modulo the primes; False if its pivot is zero modulo one of them."""
    m, entering = b.w.size, b.state[ENTERING]
    for s in range(2):
        p, X, dx, g = e.primes[s], e.X[s], e.dx[s], e.x[s]
        if leaving < m:
            for c in range(k):
                g[c] = 0.0
            for a in range(k):
                f = e.columns[s, b.cols[a], leaving]
                if f != 0.0:
                    modular.add(g, f, X[a], k, p)
        if entering >= m and leaving < m:
            b.ties[0] = leaving
            _residues_of_rates(b, e, k, s, b.ties[:1], e.value[s])
            pivot = e.value[s, 0]
            modular.border(X, k, dx, g, pivot, p)
        elif entering >= m:
            pivot = dx[leaving - m]
            modular.replace_column(X, k, leaving - m, dx, p)
        elif leaving < m:
            pivot = g[b.row_at[entering]]
            modular.replace_row(X, k, b.row_at[entering], g, p)
        else:
            pivot = X[leaving - m, b.row_at[entering]]
            modular.remove(X, k, leaving - m, b.row_at[entering], p)
        if pivot == 0.0:
            return False
    return True


@stage
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


@stage
def _replace_column(X, k, a, dx):
    pivot = -dx[a]
    for b in range(k):
        X[a, b] /= pivot
    for i in range(k):
        if i != a and dx[i] != 0.0:
            f = dx[i]
            for b in range(k):
                X[i, b] += f * X[a, b]


@stage
def _replace_row(X, k, b, g):
    pivot = g[b]
    for a in range(k):
        f = X[a, b] / pivot
        if f != 0.0:
            for j in range(k):
                X[a, j] -= f * g[j]
        X[a, b] = f


@stage
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


@stage
def read_basis(b, mask, value):
    """Basic z as a mask (m,), and its value (m,)."""
    m, cols = b.w.size, b.cols
    for i in range(m):
        mask[i] = False
        value[i] = 0.0
    for a in range(b.state[BASIS_SIZE]):
        if cols[a] < m:
            mask[cols[a]] = True
            value[cols[a]] = max(b.x[a], 0.0)


@stage
def read_ray(b, ray):
    """Direction of z (m,) along the unblocked variable, largest entry 1."""
    m, dx, cols, state = b.w.size, b.dx, b.cols, b.state
    for i in range(m):
        ray[i] = 0.0
    if state[ENTERING] >= m:
        ray[state[ENTERING] - m] = 1.0
    for a in range(state[BASIS_SIZE]):
        if cols[a] < m:
            ray[cols[a]] = max(dx[a], 0.0)
    top = 0.0
    for i in range(m):
        top = max(top, ray[i])
    for i in range(m):
        ray[i] = ray[i] / top if ray[i] > 1e-12 * top else 0.0
