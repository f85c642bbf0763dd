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

Columns = [M | d] transposed, (m + 1, m): row j is column j of M, row m is the covering vector.
X (m + 1, m + 1): the inverse of K, X[a, b] for column cols[a] and row rows[b].
numbers: rows (m + 1,), cols (m + 1,), row_at (m,), col_at (m + 1,): positions or -1.
exact: the same modulo each prime, int64, in the order primes (2,), columns (2, m + 1, m), q (2, m),
X (2, m + 1, m + 1), and as scratch dx, x (2, m + 1), value, rate (2, 2 m + 1), slack (2 m + 1,) of
floats.
"""

import numpy as np

from drystone.kernels import status as code
from drystone.kernels._jit import kernel
from drystone.kernels.linalg import modular

ENTERING = 0  # places in `state`: entering variable (w_i: i, z_i: m + i), size k, pivots done
SIZE = 1
PIVOTS = 2
DRIFTED = 3  # set when X should be computed anew before going on
FRESH = 4  # set when it has just been
EXACT = 5  # set while the inverse is kept modulo the primes
TIED = 6  # set when it is needed: a tie, a small pivot or a ray
CODE = 7  # sum of the keys of the basic variables: equal for equal bases
SAVED = 8  # that of an earlier basis, and the number of pivots at which the next is saved (Brent)
RENEW = 9
PLACES = 10

SMALL = 1e-7  # an entry below this times the largest of its column may be a zero
NEAR = 1e-9  # ratios that differ by less may be equal
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
def pivot(columns, scale, X, x, w, rows, cols, row_at, col_at, state, most, tol, dx, dw, g, ties,
          keys, exact):  # fmt: skip
    """Pivot at most `most` times: SOLVED, RAY, RUNNING (perhaps with state[DRIFTED] or state[TIED]
    set), or STALLED: a basis has come back.

    A small entry of the column that enters may be rounding alone: it is zero if it is so modulo
    the primes, or if it lies within its own error bound, computed with a fresh inverse. A ray,
    too, is believed only with a fresh inverse.
    scale: largest |q_i|; dx (m + 1,), dw (m,), g (2 m + 1,), ties (2 m + 1,) int are scratch;
    keys (2 m + 1,): random int64, one a variable. On RAY, dx holds the direction of the basic z.
    """
    m = w.size
    state[TIED] = 0
    for _ in range(most):
        k, fresh = state[SIZE], state[FRESH] == 1
        error = _direction(columns, X, rows, cols, row_at, state[ENTERING], k, dx, dw, g)
        state[DRIFTED] = 1 if error > 1e-11 and not fresh else 0
        if state[DRIFTED] == 1:
            return code.RUNNING
        if state[EXACT] == 1:
            _exact_direction(rows, row_at, state[ENTERING], k, exact)
        leaving, size = _leaving(columns, X, x, w, rows, cols, row_at, col_at, k, dx, dw, scale,
                                 tol, g, ties, state, exact)  # fmt: skip
        if state[EXACT] == 0 and (state[TIED] == 1 or size < SMALL):  # a ray has size 0
            state[TIED] = 1
            return code.RUNNING
        if size < SMALL and not fresh:
            state[DRIFTED] = 1
            return code.RUNNING
        if 0.0 < size < SMALL:
            _drop_noise(columns, X, rows, cols, row_at, state[ENTERING], k, dx, dw, g)
            leaving, size = _leaving(columns, X, x, w, rows, cols, row_at, col_at, k, dx, dw,
                                     scale, tol, g, ties, state, exact)  # fmt: skip
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
        _update(columns, X, x, w, rows, cols, row_at, col_at, state, leaving, step, dx, dw, g,
                keys, exact)  # fmt: skip
        if done:
            return code.SOLVED
        if state[CODE] == state[SAVED]:
            return code.STALLED
        if state[PIVOTS] >= state[RENEW]:
            state[SAVED], state[RENEW] = state[CODE], 2 * state[PIVOTS]
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
def _leaving(columns, X, x, w, rows, cols, row_at, col_at, k, dx, dw, scale, tol, work, ties, state,
             exact):  # fmt: skip
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
    if state[EXACT] == 1:
        _drop_zeros(cols, row_at, state[ENTERING], k, SMALL * steepest, dx, dw, exact)
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
    near = NEAR if state[EXACT] == 1 else 1e-12
    count = 0
    for a in range(k):
        if dx[a] < cut and _ties(x[a], dx[a], best, near, scale):
            ties[count] = m + a
            count += 1
    for i in range(m):
        if row_at[i] < 0 and dw[i] < cut and _ties(w[i], dw[i], best, near, scale):
            ties[count] = i
            count += 1
    if count > 1 and state[EXACT] == 0:
        state[TIED] = 1
    elif count > 1:
        count = _least_ratios(x, w, rows, cols, state[ENTERING], k, scale, dx, dw, ties, count,
                              work, exact)  # fmt: skip
        for j in range(m):
            if count == 1:
                break
            count = _still_tied(columns, X, cols, row_at, k, j, dx, dw, ties, count, work, exact)
    pick = ties[0]
    for t in range(1, count):
        if _rate(ties[t], dx, dw) < _rate(pick, dx, dw):
            pick = ties[t]
    return pick, -_rate(pick, dx, dw) / steepest


@kernel
def _ties(value, rate, best, near, scale):
    value = max(value, 0.0)
    return value + best * rate <= 0.1 * near * scale + near * value


@kernel
def _rate(variable, dx, dw):
    m = dw.size
    return dx[variable - m] if variable >= m else dw[variable]


@kernel
def _drop_zeros(cols, row_at, entering, k, below, dx, dw, exact):
    """Set to zero the small entries of the direction that are zero modulo the primes."""
    m = dw.size
    for v in range(m + k):
        if (v < m and row_at[v] >= 0) or not 0.0 < abs(_rate(v, dx, dw)) < below:
            continue
        if _residue_of_rate(cols, entering, k, v, exact, 0) == 0 and (
            _residue_of_rate(cols, entering, k, v, exact, 1) == 0
        ):
            if v < m:
                dw[v] = 0.0
            else:
                dx[v - m] = 0.0


@kernel
def _exact_direction(rows, row_at, entering, k, exact):
    """dx modulo the primes."""
    primes, columns, _, X, dx, x = exact[:6]
    m = row_at.size
    for s in range(2):
        p = primes[s]
        if entering >= m:
            for b in range(k):
                x[s, b] = columns[s, entering - m, rows[b]]
        for a in range(k):
            if entering < m:
                dx[s, a] = X[s, a, row_at[entering]]
            else:
                dx[s, a] = (p - modular.dot(X[s, a], x[s], k, p)) % p


@kernel
def _residue_of_rate(cols, entering, k, variable, exact, s):
    """dx or dw of a basic variable modulo prime s."""
    primes, columns, _, _, dx = exact[:5]
    m = columns.shape[2]
    if variable >= m:
        return dx[s, variable - m]
    total = columns[s, entering - m, variable] if entering >= m else 0
    return (total + _row_times(columns[s], cols, variable, dx[s], k, primes[s])) % primes[s]


@kernel
def _row_times(columns, cols, row, y, k, p):
    """Row `row` of the basic columns times y, modulo p."""
    total = 0
    for start in range(0, k, 64):
        for a in range(start, min(start + 64, k)):
            total += columns[cols[a], row] * y[a]
        total %= p
    return total


@kernel
def _least_ratios(x, w, rows, cols, entering, k, scale, dx, dw, ties, count, ratio, exact):
    """Keep the candidates of least ratio. `rate` keeps what they have modulo the primes."""
    primes, columns, q, X, _, xs, value, rate, slack = exact
    m = dw.size
    for s in range(2):
        p = primes[s]
        for b in range(k):
            value[s, b] = q[s, rows[b]]
        for a in range(k):
            xs[s, a] = (p - modular.dot(X[s, a], value[s], k, p)) % p
        for t in range(count):
            v = ties[t]
            rate[s, t] = _residue_of_rate(cols, entering, k, v, exact, s)
            if v >= m:
                value[s, t] = xs[s, v - m]
            else:
                value[s, t] = (q[s, v] + _row_times(columns[s], cols, v, xs[s], k, p)) % p
    for t in range(count):
        v = ties[t]
        size = max(x[v - m] if v >= m else w[v], 0.0)
        ratio[t] = size / -_rate(v, dx, dw)
        slack[t] = (1e-14 * scale + 1e-13 * size) / -_rate(v, dx, dw)
    return _keep_least(ratio, ties, count, exact)


@kernel
def _still_tied(columns, X, cols, row_at, k, j, dx, dw, ties, count, ratio, exact):
    """Keep the candidates that are least in the coefficient of eps^j."""
    slack = exact[8]
    m = dw.size
    b = row_at[j]
    largest = 0.0
    for t in range(count):
        v = ties[t]
        beta, size = 0.0, 0.0
        if b < 0:
            beta = 1.0 if v == j else 0.0
        elif v >= m:
            beta = -X[v - m, b]
            size = abs(beta)
        else:
            for a in range(k):
                part = columns[cols[a], v] * X[a, b]
                beta -= part
                size += abs(part)
        ratio[t] = beta / -_rate(v, dx, dw)
        slack[t] = 1e-13 * size / -_rate(v, dx, dw)
        largest = max(largest, abs(ratio[t]))
    if largest == 0.0:
        return count
    _residues_of_coefficients(cols, b, j, k, ties, count, exact)
    for t in range(count):
        slack[t] += 1e-13 * largest
    return _keep_least(ratio, ties, count, exact)


@kernel
def _residues_of_coefficients(cols, b, j, k, ties, count, exact):
    """Coefficients of eps^j modulo the primes; b: place of row j in the basis, or -1."""
    primes, columns, _, X, _, _, value = exact[:7]
    m = columns.shape[2]
    for s in range(2):
        for t in range(count):
            v = ties[t]
            if b < 0:
                value[s, t] = 1 if v == j else 0
            elif v >= m:
                value[s, t] = (primes[s] - X[s, v - m, b]) % primes[s]
            else:
                total = _row_times(columns[s], cols, v, X[s, :, b], k, primes[s])
                value[s, t] = (primes[s] - total) % primes[s]


@kernel
def _keep_least(ratio, ties, count, exact):
    """Keep the candidates t whose ratio is least: those that equal the least one modulo the
    primes, and those of which rounding (`slack`) cannot tell whether they are greater."""
    primes, value, rate, slack = exact[0], exact[6], exact[7], exact[8]
    ref = 0
    for t in range(1, count):
        if ratio[t] < ratio[ref]:
            ref = t
    least, room = ratio[ref], slack[ref]
    v0, v1, r0, r1 = value[0, ref], value[1, ref], rate[0, ref], rate[1, ref]
    kept = 0
    for t in range(count):
        equal = (
            value[0, t] * r0 % primes[0] == v0 * rate[0, t] % primes[0]
            and value[1, t] * r1 % primes[1] == v1 * rate[1, t] % primes[1]
        )
        if equal or ratio[t] - least <= slack[t] + room:
            ties[kept] = ties[t]
            rate[0, kept], rate[1, kept] = rate[0, t], rate[1, t]
            kept += 1
    return kept


@kernel
def _update(columns, X, x, w, rows, cols, row_at, col_at, state, leaving, step, dx, dw, g, keys,
            exact):  # fmt: skip
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
    if state[EXACT] == 1 and not _exact_update(cols, row_at, entering, k, leaving, exact):
        state[EXACT] = 0
    out = leaving if leaving < m else m + cols[leaving - m]
    state[CODE] += keys[entering] - keys[out]
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
    state[ENTERING] = out + m if out < m else out - m


@kernel
def _exact_update(cols, row_at, entering, k, leaving, exact):
    """The same exchange modulo the primes; False if its pivot is zero modulo one of them."""
    primes, columns, _, X, dx, g = exact[:6]
    m = columns.shape[2]
    for s in range(2):
        p = primes[s]
        if leaving < m:
            for b in range(k):
                g[s, b] = 0
            for a in range(k):
                f = columns[s, cols[a], leaving]
                if f != 0:
                    for b in range(k):
                        g[s, b] = (g[s, b] + f * X[s, a, b]) % p
        if entering >= m and leaving < m:
            pivot = _residue_of_rate(cols, entering, k, leaving, exact, s)
            modular.border(X[s], k, dx[s], g[s], pivot, p)
        elif entering >= m:
            pivot = dx[s, leaving - m]
            modular.replace_column(X[s], k, leaving - m, dx[s], p)
        elif leaving < m:
            pivot = g[s, row_at[entering]]
            modular.replace_row(X[s], k, row_at[entering], g[s], p)
        else:
            pivot = X[s, leaving - m, row_at[entering]]
            modular.remove(X[s], k, leaving - m, row_at[entering], p)
        if pivot == 0:
            return False
    return True


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
