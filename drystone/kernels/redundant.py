"""Which rows of joints say what others say already, and the impulses that do nothing.

Rows J of loops, scaled to length 1 in the metric of the mass, have the Gram matrix S = B B', with
a unit diagonal. Cholesky's method with the greatest pivot first takes rows in turn, each by its
distance from the span of those before it; what is left very near to that span is dependent.
The measure knows no heading, no unit and no mass. J does not say which of the dependent rows is
the one too many, but with those that are taken the motion is the same, and nothing is left in
them that could contradict. Weak rows are independent, but nearer to the span than joints are
closed: what closes them may change them.
"""

from typing import NamedTuple

import numpy as np

from drystone.kernels._jit import kernel

# of a row's length, its distance from the span of others, times the root of their number: what
# rounding leaves, which is squared in S
DEPENDENT = 5e-8
OPENING_SHARE, WIDEST_SHARE = 10.0, 1e-2  # the same per radian that joints are open, and at most
WEAK_SHARE = 8.0  # (distance)^2 per radian that joints are open
LOOSE, WEAKER, PASSED = range(3)  # rows that are left out; see ``separate``


@kernel
def tolerances(m, opening, turn):
    """How near to the span of others one of m rows is dependent, and how near it is weak, with
    joints open by so much [rad] on bodies that turn by so much [rad] in a step.

    An opening bends rows by as much. And a row at a distance s can close an opening c by a motion
    of c / s, which changes s by as much: where that is more than s itself, no motion may close it,
    as of a chain between two posts that is taut. Steps that end where a row is weak leave what it
    holds where their chord leads, which is off their arc by about turn^2 / 8.
    """
    dependent = max(DEPENDENT * np.sqrt(m), min(OPENING_SHARE * opening, WIDEST_SHARE))
    near = max(
        min(np.sqrt(WEAK_SHARE * opening), 10.0 * WIDEST_SHARE), min(turn * turn, WIDEST_SHARE)
    )
    return dependent, max(dependent, near)


class Division(NamedTuple):
    """m rows divided into those to keep and those too many.

    root (m,): sqrt of each row's own response; extra (m,): first the rows too many; null (m, m): in
    its first columns impulses root r that move nothing, each of one row too many and of kept ones;
    idle (m, m): the same, orthonormal. Work: S, L (m, m), order (m,).
    """

    root: np.ndarray
    extra: np.ndarray
    null: np.ndarray
    idle: np.ndarray
    S: np.ndarray
    L: np.ndarray
    order: np.ndarray


@kernel
def separate(at, body, J, P, opening, turn, strict, firm, out):
    """Divide the rows `at` (m, 2: block and row in it) into those to keep and those too many.

    body (nc, 2), J, P (nc, d, 2, dof); strict: LOOSE, or weak rows are too many (WEAKER), or also
    those that bodies that turn so far may bring into the span of others (PASSED); firm (m,): rows
    that are taken before others; out: a Division. Returns how many rows are too many, and how many
    weak.
    """
    root, extra, null, idle, S, L, order = out
    m, n, weak = at.shape[0], 0, 0
    tol, near = tolerances(m, opening, turn)
    if strict >= WEAKER:
        tol = near
    if strict == PASSED:
        tol = max(tol, min(turn, 10.0 * WIDEST_SHARE))
    _gram(at, body, J, P, S, root)
    rank = _pivoted(S, tol * tol, firm, L, order)
    for p in range(rank, m):
        i = order[p]
        if root[i] > 0.0:  # a row that nothing answers to is none of these
            extra[n] = i
            _combination(L, order, rank, i, null[:, n])
            n += 1
    for c in range(n):
        for i in range(m):
            idle[i, c] = null[i, c]
    _orthonormal(idle, n)
    while weak < rank and L[order[rank - 1 - weak], rank - 1 - weak] <= near:
        weak += 1
    return n, weak


@kernel
def _gram(at, body, J, P, S, root):
    """S = B B' with a unit diagonal; rows that nothing answers to are zero."""
    m, dof = at.shape[0], J.shape[3]
    for i in range(m):
        for j in range(i + 1):
            total = 0.0
            for x in range(2):
                for y in range(2):
                    if body[at[i, 0], x] == body[at[j, 0], y]:
                        for e in range(dof):
                            total += J[at[i, 0], at[i, 1], x, e] * P[at[j, 0], at[j, 1], y, e]
            S[i, j] = total
        root[i] = np.sqrt(max(S[i, i], 0.0))
    for i in range(m):
        for j in range(i):
            scale = root[i] * root[j]
            S[i, j] = S[j, i] = S[i, j] / scale if scale > 0.0 else 0.0
        S[i, i] = 1.0 if root[i] > 0.0 else 0.0


@kernel
def _pivoted(S, least, firm, L, order):
    """Cholesky's factor L of the rows and columns order[:rank] of S; L[order[p], :p + 1]. Firm rows
    come first."""
    m = order.size
    left = np.empty(m)
    for i in range(m):
        order[i], left[i] = i, S[i, i]
    for p in range(m):
        best = p
        taken = firm[order[p]] and left[order[p]] > least
        for k in range(p + 1, m):
            first = firm[order[k]] and left[order[k]] > least
            if (first and not taken) or (first == taken and left[order[k]] > left[order[best]]):
                best, taken = k, first
        i = order[best]
        if not left[i] > least:
            return p
        order[best], order[p] = order[p], i
        pivot = np.sqrt(left[i])
        L[i, p] = pivot
        for k in range(p + 1, m):
            j = order[k]
            total = S[j, i]
            for c in range(p):
                total -= L[j, c] * L[i, c]
            L[j, p] = total / pivot
            left[j] -= L[j, p] ** 2
    return m


@kernel
def _combination(L, order, rank, i, out):
    """out (m,): row i less what the kept ones make of it: impulses that move nothing."""
    for k in range(out.size):
        out[k] = 0.0
    out[i] = 1.0
    for p in range(rank - 1, -1, -1):  # L' t = L[i]
        total = L[i, p]
        for c in range(p + 1, rank):
            total += L[order[c], p] * out[order[c]]
        out[order[p]] = -total / L[order[p], p]


@kernel
def _orthonormal(X, n):
    """Gram and Schmidt, twice each, on the first n columns."""
    for c in range(n):
        for _ in range(2):
            for b in range(c):
                _remove(X[:, b], X[:, c])
        length = np.sqrt(_dot(X[:, c], X[:, c]))
        for k in range(X.shape[0]):
            X[k, c] /= length


@kernel
def _dot(x, y):
    total = 0.0
    for k in range(x.size):
        total += x[k] * y[k]
    return total


@kernel
def _remove(b, x):
    total = _dot(b, x)
    for k in range(x.size):
        x[k] -= total * b[k]


@kernel
def spread(at, root, idle, n, r):
    """Take from impulses r (nc, d) what moves nothing, so that sum (root r)^2 is the least."""
    m = at.shape[0]
    for c in range(n):
        total = 0.0
        for k in range(m):
            total += idle[k, c] * root[k] * r[at[k, 0], at[k, 1]]
        for k in range(m):
            if root[k] > 0.0:
                r[at[k, 0], at[k, 1]] -= total * idle[k, c] / root[k]


@kernel
def gather(at, root, extra, null, n, r):
    """Impulses r (nc, d) as the kept rows alone have them, in place."""
    m = at.shape[0]
    for c in range(n):
        i = extra[c]
        part = root[i] * r[at[i, 0], at[i, 1]]
        for k in range(m):
            if root[k] > 0.0:
                r[at[k, 0], at[k, 1]] -= part * null[k, c] / root[k]
        r[at[i, 0], at[i, 1]] = 0.0


@kernel
def silence(at, extra, n, root, J, P, D, soft):
    """Make padding of the rows that are too many: no bodies, and a compliance of their size."""
    d = J.shape[1]
    for c in range(n):
        k = extra[c]
        i, a = at[k, 0], at[k, 1]
        for s in range(2):
            for e in range(J.shape[3]):
                J[i, a, s, e] = P[i, a, s, e] = 0.0
        for b in range(d):
            D[i, a, b] = D[i, b, a] = 0.0
        D[i, a, a] = soft[i, a] = root[k] ** 2


@kernel
def turning(at, body, moves, v):
    """The fastest [rad/s] of the bodies that rows hold, with velocities v (nb, dof)."""
    most, dim = 0.0, 2 if v.shape[1] == 3 else 3
    for n in range(at.shape[0]):
        for s in range(2):
            b = body[at[n, 0], s]
            if moves[b]:
                total = 0.0
                for e in range(dim, v.shape[1]):
                    total += v[b, e] ** 2
                most = max(most, total)
    return np.sqrt(most)


@kernel
def opening(at, body, J, error):
    """By how much of a radian open rows let bodies turn away from where joints hold them.

    error (m,): of the rows `at`. Rows that turn are in radians; an opening in metres counts by the
    longest arm of the body that has the shorter one.
    """
    most = 0.0
    for n in range(at.shape[0]):
        i, a = at[n, 0], at[n, 1]
        share = abs(error[n])
        if _length(J, i, a, 0, 0) + _length(J, i, a, 1, 0) > 0.0:
            shortest = np.inf
            for s in range(2):
                arm = 0.0
                for k in range(at.shape[0]):
                    for t in range(2):
                        if body[at[k, 0], t] == body[i, s]:
                            along = _length(J, at[k, 0], at[k, 1], t, 0)
                            if along > 0.0:
                                turn = _length(J, at[k, 0], at[k, 1], t, 1)
                                arm = max(arm, turn / along)
                if 0.0 < arm < shortest:
                    shortest = arm
            share /= shortest
        most = max(most, share)
    return most


@kernel
def _length(J, i, a, s, part):
    """Of row a of block i on side s: how its body moves (part 0), or how it turns (part 1)."""
    dof, total = J.shape[3], 0.0
    dim = 2 if dof == 3 else 3
    for e in range(dim if part else 0, dof if part else dim):
        total += J[i, a, s, e] ** 2
    return np.sqrt(total)
