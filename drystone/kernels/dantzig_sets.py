"""Index sets of Dantzig's method, the factorisation that follows them, and directions.

Everything a solve holds lies in six arrays, named here by row: At (n, n) the transposed matrix,
S (n, n) the transposed inverse of G, V floats and T integers by row of the problem, reg and num
scalars. a = A f + b. A contact at row h owns rows h (normal) and h + 1 ... h + d - 1 (tangents).

A tangent row t is *tied* when f_t = sat[t] f_h: saturated static friction, or (forever) sliding
and frictionless contacts. With f = E x, x the untied forces, G = (A E)_CC: unsymmetric as soon
as a tie is not zero.
"""

import numpy as np

from drystone.kernels import incremental
from drystone.kernels._jit import kernel

# rows of V: force, acceleration, their change, constant term, tie, scale, friction coefficient,
# turn of the tangent frame, accepted noise, work
F, A, DF, DA, B, SAT, D, MU, COS, SIN, QUIET, G, U, H, Y = range(15)
V_ROWS = 15
# rows of T: set, place in S, members of C in order of place, kind of row, work
STATE, POS, MEMBER, KIND, WORK = range(5)
T_ROWS = 5
OUT, C, NC, TIED, SPARE = range(5)
BILATERAL, NORMAL, TANGENT, FIXED = range(4)
# reg
(
    K,
    DIM,
    DRIVE,
    SIGN,
    MODE,
    PIVOTS,
    DRIVES,
    ZEROS,
    REBUILDS,
    LAST,
    SYMMETRIC,
    TIES,
    FRESH,
    DROPS,
    ZERO_RUN,
    MAX_PIVOTS,
    TRACED,
    RULE,
    AIMED,
    STALE,
    SECOND,
) = range(21)
REGISTERS = 21
# num
BMAX, AMAX, F_TOL, A_TOL, DF_TOL, DA_TOL, DF_MAX, STEP = range(8)
NUMBERS = 8


@kernel
def column(At, V, T, reg, j, g):
    """g_i = G[i, j] over the members i of C, for a row j inside or outside C."""
    sat, member, d = V[SAT], T[MEMBER], reg[DIM]
    for i in range(reg[K]):
        g[i] = At[j, member[i]]
    if T[KIND, j] == NORMAL:
        for t in range(j + 1, j + d):
            if sat[t] != 0.0:
                for i in range(reg[K]):
                    g[i] += sat[t] * At[t, member[i]]


@kernel
def entry(At, V, T, reg, i, j):
    """(A E)[i, j]."""
    out = At[j, i]
    if T[KIND, j] == NORMAL:
        for t in range(j + 1, j + reg[DIM]):
            out += V[SAT, t] * At[t, i]
    return out


@kernel
def enter(At, S, V, T, reg, j):
    """Put row j into C. Returns 0, and leaves j out, if G would become singular.

    When reg[AIMED] is 1, V[DF] holds the direction of driving j, which contains G^-1 g already.
    """
    k = reg[K]
    if reg[STALE] == 1:
        _join(T, reg, j)
        return 1
    g, u, h, v = V[G], V[U], V[H], V[Y]
    if reg[AIMED] == 1:
        for i in range(k):
            u[i] = -V[DF, T[MEMBER, i]] / V[DF, j]
    else:
        column(At, V, T, reg, j, g)
        incremental.solve(S, k, g, u)
    symmetric = reg[SYMMETRIC] == 1 and reg[TIES] == 0
    corner = entry(At, V, T, reg, j, j)
    sigma, size = corner, abs(corner)
    for i in range(k):
        i_row = T[MEMBER, i]
        h[i] = At[j, i_row] if symmetric else entry(At, V, T, reg, j, i_row)
        sigma -= h[i] * u[i]
        size += abs(h[i] * u[i])
    if not abs(sigma) > 1e-12 * size:
        T[STATE, j] = OUT
        return 0
    if symmetric:
        v = u
    else:
        incremental.solve_left(S, k, h, v)
    incremental.border(S, k, u, v, sigma)
    _join(T, reg, j)
    return 1


@kernel
def _join(T, reg, j):
    T[POS, j] = reg[K]
    T[MEMBER, reg[K]] = j
    T[STATE, j] = C
    reg[K] += 1


@kernel
def leave(S, T, reg, j):
    """Take row j out of C; its state becomes OUT. If that needs a division by nearly zero, the
    factorisation is declared stale, and `rebuild` is due before the next solve."""
    p, k = T[POS, j], reg[K]
    largest = 0.0
    for i in range(k):
        largest = max(largest, abs(S[p, i]), abs(S[i, p]))
    if not abs(S[p, p]) > 1e-13 * largest:
        reg[STALE] = 1
    if reg[STALE] == 0:
        incremental.shrink(S, k, p)
    last = T[MEMBER, k - 1]
    T[MEMBER, p] = last
    T[POS, last] = p
    T[POS, j] = -1
    T[STATE, j] = OUT
    reg[K] = k - 1


@kernel
def rebuild(At, S, V, T, reg):
    """Factorise G afresh; members that make it singular are left out (OUT, bilateral SPARE)."""
    k = reg[K]
    reg[REBUILDS] += 1
    reg[STALE] = 0
    for i in range(k):
        for j in range(k):
            S[j, i] = entry(At, V, T, reg, T[MEMBER, i], T[MEMBER, j])
    if incremental.invert(S, k, T[WORK], 1e-13):
        return
    for i in range(k):
        T[WORK, i] = T[MEMBER, i]
        T[POS, T[MEMBER, i]] = -1
    reg[K] = 0
    for i in range(k):
        j = T[WORK, i]
        if not enter(At, S, V, T, reg, j) and T[KIND, j] == BILATERAL:
            T[STATE, j] = SPARE


@kernel
def clamp_bilateral(At, S, V, T, reg):
    """Put the bilateral rows into C for good; dependent ones become SPARE.

    One factorisation if they are independent; else rows join in the order of what they add to
    the ones before (largest Schur complement first), which finds a well-conditioned subset.
    """
    n, k = At.shape[0], np.int64(0)
    for j in range(n):
        if T[KIND, j] == BILATERAL:
            T[MEMBER, k] = j
            k += 1
    for i in range(k):
        for j in range(k):
            S[j, i] = At[T[MEMBER, j], T[MEMBER, i]]
    if incremental.invert(S, k, T[WORK], 1e-12):
        for i in range(k):
            T[POS, T[MEMBER, i]] = i
            T[STATE, T[MEMBER, i]] = C
        reg[K] = k
        return
    schur = V[DA]
    for j in range(n):
        schur[j] = At[j, j]
    for _ in range(k):
        best = np.int64(-1)
        for j in range(n):
            waits = T[KIND, j] == BILATERAL and T[STATE, j] == OUT
            if waits and (best < 0 or abs(schur[j]) > abs(schur[best])):
                best = j
        if not abs(schur[best]) > 1e-11 or not enter(At, S, V, T, reg, best):
            T[STATE, best] = SPARE
            continue
        _schur_update(At, V, T, reg, schur, 1.0 / S[reg[K] - 1, reg[K] - 1])
    for j in range(n):
        schur[j] = 0.0


@kernel
def _schur_update(At, V, T, reg, schur, sigma):
    """Diagonal of the Schur complement after the last member joined with pivot sigma."""
    k, u, v = reg[K] - 1, V[U], V[Y]
    p = T[MEMBER, k]
    if reg[SYMMETRIC] == 1 and reg[TIES] == 0:
        v = u
    for j in range(At.shape[0]):
        if T[KIND, j] == BILATERAL and T[STATE, j] == OUT:
            right, left = At[p, j], At[j, p]
            for i in range(k):
                right -= At[T[MEMBER, i], j] * u[i]
                left -= v[i] * At[j, T[MEMBER, i]]
            schur[j] -= right * left / sigma


@kernel
def tie(V, T, reg, x, h):
    """x_t = sat[t] x_h for the tied tangents of the contact at row h."""
    for t in range(h + 1, h + reg[DIM]):
        if T[STATE, t] == TIED:
            x[t] = V[SAT, t] * x[h]


@kernel
def product(At, x, y):
    """y += A x."""
    n = At.shape[0]
    for j in range(n):
        c = x[j]
        if c != 0.0:
            for i in range(n):
                y[i] += c * At[j, i]


@kernel
def direction(At, S, V, T, reg, num):
    """df with df_d = +-1, da = 0 on C, ties kept; da = A df. Sets the tolerances of the step.

    The residual da_C is known anyway: it triggers refinement. Returns 0 if it stays too large.
    """
    d, da, df = reg[DRIVE], V[DA], V[DF]
    _clear(df)
    df[d] = reg[SIGN]
    column(At, V, T, reg, d, V[G])
    for i in range(reg[K]):
        V[G, i] *= -reg[SIGN]
    total, worst = 0.0, 0.0
    for _ in range(3):
        incremental.solve(S, reg[K], V[G], V[U])
        for i in range(reg[K]):
            df[T[MEMBER, i]] += V[U, i]
        _spread(V, T, reg, df)
        _clear(da)
        product(At, df, da)
        total, worst = _measure(V, T, reg, num)
        if worst <= 2e-14 * total:
            return 1
        for i in range(reg[K]):
            V[G, i] = -da[T[MEMBER, i]]
    return 1 if worst <= 1e-11 * total or (reg[SECOND] == 1 and worst <= 1e-7 * total) else 0


@kernel
def _spread(V, T, reg, x):
    """Apply all ties to x."""
    if reg[DIM] > 1:
        for h in range(x.size):
            if T[KIND, h] == NORMAL:
                tie(V, T, reg, x, h)


@kernel
def _measure(V, T, reg, num):
    """(size of the terms that make up da, largest |da| on C); sets the step's tolerances."""
    df, da = V[DF], V[DA]
    total, largest = 0.0, 0.0
    for j in range(df.size):
        total += abs(df[j])
        largest = max(largest, abs(df[j]))
    worst = 0.0
    for i in range(reg[K]):
        worst = max(worst, abs(da[T[MEMBER, i]]))
    num[DF_MAX] = largest
    num[DF_TOL] = 1e-12 * largest
    num[DA_TOL] = 1e-13 * total * num[AMAX] + 4.0 * worst
    return total * num[AMAX], worst


@kernel
def _clear(x):
    for i in range(x.size):
        x[i] = 0.0


@kernel
def _evaluate(At, V, T, reg):
    """a = A f + b with all ties applied."""
    _spread(V, T, reg, V[F])
    for i in range(V.shape[1]):
        V[A, i] = V[B, i]
    product(At, V[F], V[A])


@kernel
def refresh(At, S, V, T, reg, num):
    """Remove accumulated rounding: a = A f + b anew, f on C refined until a_C vanishes."""
    f, a = V[F], V[A]
    for _ in range(4):
        _evaluate(At, V, T, reg)
        tolerances(V, num)
        worst = 0.0
        for i in range(reg[K]):
            V[G, i] = a[T[MEMBER, i]]
            worst = max(worst, abs(V[G, i]))
        if worst <= 0.01 * num[A_TOL]:
            break
        incremental.solve(S, reg[K], V[G], V[U])
        for i in range(reg[K]):
            f[T[MEMBER, i]] -= V[U, i]
    _evaluate(At, V, T, reg)
    reg[FRESH] = 1


@kernel
def tolerances(V, num):
    """What counts as zero: rounding in a sum of terms of the present size (A has unit scale)."""
    total, largest = 0.0, 0.0
    for j in range(V.shape[1]):
        total += abs(V[F, j])
        largest = max(largest, abs(V[F, j]))
    num[A_TOL] = 2e-14 * (num[BMAX] + num[AMAX] * total) + 1e-300
    num[F_TOL] = 1e-13 * (largest + num[BMAX] / max(num[AMAX], 1.0)) + 1e-300
