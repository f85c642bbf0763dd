"""All solutions of a piecewise linear problem by trying every combination of modes.

Rows u = A y + b. Each entity (a complementary pair, a contact) has modes; a mode says which of
its columns y may be positive, all others being zero, and what its rows must do. The pieces of
the solution set are polyhedra without lines, and each is the hull of its vertices plus a cone.
A vertex is found with the mode of its support: the columns chosen are strictly positive, and
if the rows that must vanish do not determine y, others are made to vanish as well.
"""

from typing import Any, NamedTuple

import numpy as np

from drystone.kernels import status as code
from drystone.kernels._jit import kernel
from drystone.kernels.linalg.dense_lu import back_substitute, factorise

# roles of a row: anything, zero, at least zero, at most zero
ROLE_FREE, ROLE_ZERO, ROLE_ABOVE, ROLE_BELOW = 0, 1, 2, 3

# places in `state`
NEXT_COMBINATION = 0  # to be tried
SOLUTIONS = 1  # found
SINGULAR_COMBINATIONS = 2  # met
SKIPPED_COMBINATIONS = 3  # those with too many candidates for a vertex
DOUBTFUL_COMBINATIONS = 4  # those without a vertex whose rank is a matter of rounding

ZERO_PIVOT = 1e-11  # a pivot below this times its largest start counts as zero,
SURELY_ZERO_PIVOT = 1e-14  # and one below this surely is


class Pieces(NamedTuple):
    """A (p, g), b (p,). columns (ne, modes, 2) and rows (ne, 2): indices or -1; roles
    (ne, modes, 2) of those rows; count (ne,): number of modes; always_rows, always_columns: rows
    that always vanish and columns of any sign."""

    A: Any
    b: Any
    columns: Any
    rows: Any
    roles: Any
    count: Any
    always_rows: Any
    always_columns: Any


class Search(NamedTuple):
    """state (5,); modes (room, ne) int64 and values (room, g): what was found. Work: B, C
    (p + 1, g + 1), lists (2, p + g) int64: rows that vanish and columns; role (p,) int64, y (g,),
    picks (4, p + g) int64."""

    state: Any
    modes: Any
    values: Any
    B: Any
    C: Any
    lists: Any
    role: Any
    y: Any
    picks: Any


@kernel
def search(p, s, tol, stop):
    """Try combinations up to stop - 1. RUNNING if the buffers are full, else SOLVED."""
    state, count = s.state, p.count
    room = s.modes.shape[0]
    while state[NEXT_COMBINATION] < stop:
        if state[SOLUTIONS] > room // 2:  # the rest is for the vertices of one combination
            return code.RUNNING
        digits = s.modes[state[SOLUTIONS]]
        rest = state[NEXT_COMBINATION]
        for e in range(count.size):
            digits[e] = rest % count[e]
            rest //= count[e]
        nt, ns = _choose(p, digits, s.lists, s.role)
        _vertices(p, s, nt, ns, tol)
        state[NEXT_COMBINATION] += 1
    return code.SOLVED


@kernel
def _choose(p, digits, lists, role):
    """Vanishing rows lists[0, :nt], columns lists[1, :ns] (those of any sign first), roles."""
    nt, ns = 0, 0
    for i in range(role.size):
        role[i] = ROLE_FREE
    for k in range(p.always_rows.size):
        lists[0, nt] = p.always_rows[k]
        role[p.always_rows[k]] = ROLE_ZERO
        nt += 1
    for k in range(p.always_columns.size):
        lists[1, ns] = p.always_columns[k]
        ns += 1
    for e in range(digits.size):
        for k in range(2):
            i, j = p.rows[e, k], p.columns[e, digits[e], k]
            if i >= 0:
                role[i] = p.roles[e, digits[e], k]
                if role[i] == ROLE_ZERO:
                    lists[0, nt] = i
                    nt += 1
            if j >= 0:
                lists[1, ns] = j
                ns += 1
    return nt, ns


@kernel
def _vertices(p, s, nt, ns, tol):
    """Vertices of one piece that have its full support; written to modes and values."""
    B, lists, order = s.B, s.lists, s.picks[0]
    for i in range(nt):
        for j in range(ns):
            B[i, j] = p.A[lists[0, i], lists[1, j]]
        B[i, ns] = -p.b[lists[0, i]]
    for j in range(ns):
        order[j] = j
    found = s.state[SOLUTIONS]
    rank, sure, noise = _reduce(B, nt, ns, order, tol)
    if rank == ns:
        for j in range(ns):
            s.y[order[j]] = B[j, ns]
        _accept(p, s, ns, tol, noise)
    elif rank >= 0:
        s.state[SINGULAR_COMBINATIONS] += 1
        _more_rows(p, s, ns, rank, tol, noise)
    if not sure and s.state[SOLUTIONS] == found:
        s.state[DOUBTFUL_COMBINATIONS] += 1


@kernel
def _more_rows(p, s, ns, rank, tol, noise):
    """The same where the rows do not determine y: every choice of as many inequality rows as are
    missing vanishes too."""
    B, C, y, picks, role = s.B, s.C, s.y, s.picks, s.role
    missing = ns - rank
    candidates = 0
    for i in range(role.size):
        if role[i] == ROLE_ABOVE or role[i] == ROLE_BELOW:
            picks[1, candidates] = i
            candidates += 1
    if candidates < missing:
        return
    total = 1.0
    for k in range(missing):
        total *= (candidates - k) / (k + 1.0)
    if total > 20000.0:
        s.state[SKIPPED_COMBINATIONS] += 1
        return
    choice, turn = picks[2], picks[3]
    for a in range(missing):
        choice[a] = a
    while True:
        for a in range(missing):
            _restrict(p, s, picks[1, choice[a]], rank, ns, C[a])
            turn[a] = a
        determined, _, more = _reduce(C, missing, missing, turn, tol)
        if determined == missing:
            for a in range(missing):
                y[picks[0, rank + turn[a]]] = C[a, missing]
            for i in range(rank):
                value = B[i, ns]
                for a in range(missing):
                    value -= B[i, rank + turn[a]] * C[a, missing]
                y[picks[0, i]] = value
            _accept(p, s, ns, tol, max(noise, more))
        a = missing - 1
        while a >= 0 and choice[a] == candidates - missing + a:
            a -= 1
        if a < 0:
            return
        choice[a] += 1
        for k in range(a + 1, missing):
            choice[k] = choice[k - 1] + 1


@kernel
def _reduce(B, nt, ns, order, tol):
    """Gauss-Jordan with full pivoting on [B | c], columns permuted by `order`; (rank, whether that
    is sure, rounding of c, which small pivots multiply, relative to it), rank -1 if the equations
    contradict each other. Then y_order[:rank] = c - B[:rank, rank:] y_rest."""
    largest, right = 0.0, 0.0
    for i in range(nt):
        right = max(right, abs(B[i, ns]))
        for j in range(ns):
            largest = max(largest, abs(B[i, j]))
    rank, sure, least = 0, True, largest
    while rank < min(nt, ns):
        best, row, c = 0.0, -1, -1
        for i in range(rank, nt):
            for j in range(rank, ns):
                if abs(B[i, j]) > best:
                    best, row, c = abs(B[i, j]), i, j
        if not best > ZERO_PIVOT * largest:
            sure = best <= SURELY_ZERO_PIVOT * largest
            break
        least = best
        for j in range(ns + 1):
            B[rank, j], B[row, j] = B[row, j], B[rank, j]
        for i in range(nt):
            B[i, rank], B[i, c] = B[i, c], B[i, rank]
        order[rank], order[c] = order[c], order[rank]
        p = 1.0 / B[rank, rank]
        for j in range(rank, ns + 1):
            B[rank, j] *= p
        for i in range(nt):
            f = B[i, rank]
            if i != rank and f != 0.0:
                for j in range(rank, ns + 1):
                    B[i, j] -= f * B[rank, j]
        rank += 1
    noise = SURELY_ZERO_PIVOT * (largest / least if least > 0.0 else 1.0)
    for i in range(rank, nt):
        if abs(B[i, ns]) > 10.0 * tol * (right + 1e-300):
            return -1, sure and abs(B[i, ns]) >= noise * right, noise
    return rank, sure, noise


@kernel
def _restrict(p, s, row, rank, ns, out):
    """Row `row` of u = 0 as an equation in the undetermined columns only."""
    A, B, lists, picks = p.A, s.B, s.lists, s.picks
    missing = ns - rank
    for a in range(missing):
        out[a] = A[row, lists[1, picks[0, rank + a]]]
    out[missing] = -p.b[row]
    for i in range(rank):
        f = A[row, lists[1, picks[0, i]]]
        if f != 0.0:
            for a in range(missing):
                out[a] -= f * B[i, rank + a]
            out[missing] -= f * B[i, ns]


@kernel
def _accept(p, s, ns, tol, noise):
    """Keep y if its support is positive and every row does what its role asks, or might but for
    the noise of y: what is kept will be judged. Parts that are small beside the largest need not
    be zero: friction is mu times what presses, for any mu."""
    A, b, lists, role, y = p.A, p.b, s.lists, s.role, s.y
    state, modes, values, nfree = s.state, s.modes, s.values, p.always_columns.size
    top = 0.0
    for j in range(ns):
        if not abs(y[j]) < np.inf:
            return
        top = max(top, abs(y[j]))
    for j in range(nfree, ns):
        if y[j] <= -noise * top:
            return
    for i in range(role.size):
        if role[i] == ROLE_FREE:
            continue
        u, size, weight = b[i], abs(b[i]), 0.0
        for j in range(ns):
            term = A[i, lists[1, j]] * y[j]
            u += term
            size += abs(term)
            weight += abs(A[i, lists[1, j]])
        slack = 100.0 * tol * size + noise * (size + weight * top) + 1e-300
        if role[i] == ROLE_ZERO and abs(u) > slack:
            return
        if role[i] == ROLE_ABOVE and u < -slack:
            return
        if role[i] == ROLE_BELOW and u > slack:
            return
    found = state[SOLUTIONS]
    if found >= modes.shape[0] - 1:
        state[SKIPPED_COMBINATIONS] += 1
        return
    for j in range(values.shape[1]):
        values[found, j] = 0.0
    for j in range(ns):
        values[found, lists[1, j]] = y[j]
    for e in range(modes.shape[1]):
        modes[found + 1, e] = modes[found, e]
    state[SOLUTIONS] = found + 1


# The first solution of an LCP of a handful of rows, in one call that costs microseconds.


@kernel
def first_basis(M, q, tol, z, basis):
    """The first of the 2^n bases (fewest leading rows first) that solves w = M z + q.

    Fills z (n,) and basis (n,) bool; False if no basis does, or only singular ones would.
    tol: largest violation of a sign, relative to the largest |q|.
    """
    n = q.size
    top = 0.0
    for i in range(n):
        top = max(top, abs(q[i]))
    work, rows, order = np.empty((n + 2, n)), np.empty(n, np.int64), np.empty(n, np.int64)
    for mask in range(1 << n):
        m = 0
        for i in range(n):
            basis[i] = (mask >> i) & 1 == 1
            if basis[i]:
                rows[m] = i
                m += 1
        if _solve(M, q, rows, m, work, order, z) and _signs(M, q, basis, tol * top, z):
            return True
    return False


@kernel
def _solve(M, q, rows, m, work, order, z):
    """z_L = -M_LL^-1 q_L for L = rows[:m], zero elsewhere; False if M_LL is singular."""
    z[:] = 0.0
    n, size = q.size, 0.0
    B, r, x = work[:n], work[n], work[n + 1]
    for a in range(m):
        r[a] = -q[rows[a]]
        for b in range(m):
            B[a, b] = M[rows[a], rows[b]]
            size = max(size, abs(B[a, b]))
    if factorise(B, m, order) != code.SOLVED:
        return False
    for c in range(m):
        if not abs(B[c, c]) > 1e-12 * size:
            return False
    back_substitute(B, m, order, r, x)
    for c in range(m):
        z[rows[c]] = x[c]
    return True


@kernel
def _signs(M, q, basis, slack, z):
    """Whether z >= 0 and w = M z + q >= 0 off the basis; rounding below zero is cut off z."""
    largest = 0.0
    for i in range(q.size):
        largest = max(largest, z[i])
    for i in range(q.size):
        if z[i] < 0.0:
            if z[i] < -1e-14 * largest:
                return False
            z[i] = 0.0
    for i in range(q.size):
        if not basis[i]:
            w = q[i]
            for j in range(q.size):
                w += M[i, j] * z[j]
            if w < -slack:
                return False
    return True
