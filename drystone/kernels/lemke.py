"""Complementary pivoting on a condensed tableau: Lemke's method with a lexicographic rule (F7).

Problem: w = M z + q + d z0, w, z, z0 >= 0, w_i z_i = 0, with d > 0 the covering vector. Variables
are numbered w_i: i, z_i: m + i, z0: 2 m. Only the columns of nonbasic variables are stored:

    x_basic = T[:, :m + 1] x_nonbasic + T[:, m + 1]

`basic` (m,) and `nonbasic` (m + 1,) name the variables of rows and columns; `place` (2 m + 1,)
is the row of a basic variable, or -1 - column of a nonbasic one.

Ties in the ratio test are broken as if q were q + (eps, eps^2, ..., eps^m): then no basis occurs
twice and the method ends (001:13.2, Murty 1988, 2.2.8). The coefficient of eps^j in basic
variable i is minus the column of w_j where w_j is nonbasic, and 1 or 0 where it is basic, so the
tableau holds all that the rule needs.
"""

import numpy as np

from drystone.kernels import status as code
from drystone.kernels._jit import kernel

COLUMN = 0  # places in `state`: the entering column, and the pivots done
PIVOTS = 1

SMALL = 1e-7  # a pivot below this times the largest entry of its column may be rounding alone
NOTHING = 1e-11  # z0 below this times the largest |q_i| is zero


@kernel
def begin(M, q, d, T, basic, nonbasic, place, state):
    """Fill the tableau and bring z0 in. SOLVED if q >= 0 already, RUNNING otherwise."""
    m = q.size
    row = -1
    for i in range(m):
        for j in range(m):
            T[i, j] = M[i, j]
        T[i, m] = d[i]
        T[i, m + 1] = q[i]
        basic[i] = i
        nonbasic[i] = m + i
        place[i] = i
        place[m + i] = -1 - i
        # the lexicographic least of (q_i, e_i) / d_i: among equals the last row
        if q[i] < 0.0 and (row < 0 or q[i] * d[row] <= q[row] * d[i]):
            row = i
    nonbasic[m] = 2 * m
    place[2 * m] = -1 - m
    state[PIVOTS] = 0
    if row < 0:
        return code.SOLVED
    state[PIVOTS] = 1
    state[COLUMN] = _swap(T, row, m, basic, nonbasic, place)
    return code.RUNNING


@kernel
def pivot(T, basic, nonbasic, place, state, scale, most, pivot_tol, ties, work):
    """Pivot at most `most` times. SOLVED: z0 has left; RAY: nothing blocks the entering column;
    STALLED: the next pivot is so small that the revised form should decide, or rounding may
    have led to the ray.

    scale: largest |q_i|, for what counts as a tie; ties (m,) int and work (m,) are scratch.
    """
    m = basic.size
    for _ in range(most):
        c = state[COLUMN]
        row, size = _leaving_row(T, c, place, scale, pivot_tol, ties, work)
        if row < 0 and state[PIVOTS] <= 2:
            return code.RAY
        if size < SMALL:
            return code.STALLED
        leaving = basic[row]
        state[PIVOTS] += 1
        state[COLUMN] = _swap(T, row, c, basic, nonbasic, place)
        if leaving == 2 * m:
            return code.SOLVED
    return code.RUNNING


@kernel
def _swap(T, row, c, basic, nonbasic, place):
    """Exchange basic[row] with nonbasic[c]; the column where the complement of the one that
    leaves stands now, -1 for z0."""
    m = basic.size
    exchange(T, row, c)
    entering, leaving = nonbasic[c], basic[row]
    basic[row], nonbasic[c] = entering, leaving
    place[entering], place[leaving] = row, -1 - c
    if leaving == 2 * m:
        return -1
    return -1 - place[leaving + m if leaving < m else leaving - m]


@kernel
def exchange(T, row, c):
    """Solve row `row` for the variable of column c and insert it in the other rows."""
    n, width = T.shape
    p = 1.0 / T[row, c]
    for k in range(width):
        T[row, k] *= -p
    T[row, c] = p
    for i in range(n):
        f = T[i, c]
        if i == row or f == 0.0:
            continue
        T[i, c] = 0.0
        for k in range(width):
            T[i, k] += f * T[row, k]


@kernel
def _leaving_row(T, c, place, scale, pivot_tol, ties, work):
    """Row that blocks the increase of column c first, lexicographically; -1 if none does.

    Second, the size of its pivot relative to the largest entry of the column.
    """
    m = T.shape[0]
    steepest = 0.0
    for i in range(m):
        steepest = max(steepest, abs(T[i, c]))
    cut = -pivot_tol * steepest
    best = np.inf
    for i in range(m):
        if T[i, c] < cut:
            best = min(best, max(T[i, m + 1], 0.0) / -T[i, c])
    if best == np.inf:
        return -1, 0.0
    z0 = place[2 * m]
    if T[z0, c] < cut and T[z0, m + 1] + best * T[z0, c] <= NOTHING * scale:
        return z0, -T[z0, c] / steepest  # z0 may leave: that is the end
    count = 0
    for i in range(m):
        if T[i, c] < cut:
            value = max(T[i, m + 1], 0.0)
            if value + best * T[i, c] <= 1e-13 * scale + 1e-12 * value:
                ties[count] = i
                count += 1
    for j in range(m):
        if count == 1:
            break
        count = _still_tied(T, c, place[j], ties, count, work)
    row = ties[0]
    for k in range(1, count):
        if T[ties[k], c] < T[row, c]:
            row = ties[k]
    return row, -T[row, c] / steepest


@kernel
def _still_tied(T, c, place_of_w, ties, count, work):
    """Keep the tied rows that are least in the coefficient of one power of eps."""
    least, largest = np.inf, 0.0
    for k in range(count):
        i = ties[k]
        if place_of_w >= 0:
            beta = 1.0 if place_of_w == i else 0.0
        else:
            beta = -T[i, -1 - place_of_w]
        work[k] = beta / -T[i, c]
        least = min(least, work[k])
        largest = max(largest, abs(work[k]))
    kept = 0
    for k in range(count):
        if work[k] - least <= 1e-10 * largest:
            ties[kept] = ties[k]
            kept += 1
    return kept


@kernel
def read_basis(T, basic, mask, value):
    """Basic z as a mask, and its value; both (m,)."""
    m = basic.size
    for i in range(m):
        mask[i] = False
        value[i] = 0.0
    for i in range(m):
        if m <= basic[i] < 2 * m:
            mask[basic[i] - m] = True
            value[basic[i] - m] = max(T[i, m + 1], 0.0)


@kernel
def read_ray(T, basic, nonbasic, state, ray):
    """Direction of z (m,) along the unblocked column, largest entry 1."""
    m = basic.size
    c = state[COLUMN]
    for i in range(m):
        ray[i] = 0.0
    if nonbasic[c] >= m:
        ray[nonbasic[c] - m] = 1.0
    top = 0.0
    for i in range(m):
        if m <= basic[i] < 2 * m:
            ray[basic[i] - m] = max(T[i, c], 0.0)
    for i in range(m):
        top = max(top, ray[i])
    for i in range(m):
        ray[i] = ray[i] / top if ray[i] > 1e-12 * top else 0.0
