"""Dantzig's method with bilateral rows, static and dynamic friction (Baraff 1994).

The main loop picks the contact that fails its conditions most and drives its force until they
hold, keeping those of all contacts in the index sets. `advance` does a bounded number of pivots
and can be called again: all state is in its arrays.
First come the index sets and their factorisation, then how a problem gets into the arrays and
forces out of them, the main loop, the changes of a contact, and how far a step may go.
"""

from typing import Any, NamedTuple

import numpy as np

from drystone.kernels import status
from drystone.kernels._jit import kernel
from drystone.kernels.linalg import bordered_inverse

# Index sets of Dantzig's method, the factorisation that follows them, and directions.
#
# Everything a solve holds lies in six arrays, named here by row: At (n, n) the transposed matrix,
# S (n, n) the transposed inverse of G, V floats and T integers by row of the problem, reg and num
# scalars. a = A f + b. A contact at row h owns rows h (normal) and h + 1 ... h + d - 1 (tangents).
#
# A tangent row t is *tied* when f_t = sat[t] f_h: saturated static friction, or (forever) sliding
# and frictionless contacts. With f = E x, x the untied forces, G = (A E)_CC: unsymmetric as soon
# as a tie is not zero.

# rows of V: force, acceleration, their change, constant term, tie, scale, friction coefficient,
# turn of the tangent frame, accepted noise, work
F, A, DF, DA, B, SAT, D, MU, COS, SIN, QUIET, G, U, H, Y = range(15)
V_ROWS = 15  # as many
# rows of T: set, place in S, members of C in order of place, kind of row, work
STATE, POS, MEMBER, KIND, WORK = range(5)
T_ROWS = 5  # as many
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
REGISTERS = 21  # as many
# num: greatest |b| and |a|; tolerances and limits of forces, accelerations and their changes
BMAX, AMAX, F_TOL, A_TOL, DF_TOL, DA_TOL, DF_MAX, STEP = range(8)
NUMBERS = 8  # as many


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
        bordered_inverse.solve(S, k, g, u)
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
        bordered_inverse.solve_left(S, k, h, v)
    bordered_inverse.border(S, k, u, v, sigma)
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
        bordered_inverse.shrink(S, k, p)
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
    if bordered_inverse.invert(S, k, T[WORK], 1e-13):
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
    if bordered_inverse.invert(S, k, T[WORK], 1e-12):
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
        bordered_inverse.solve(S, reg[K], V[G], V[U])
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
        bordered_inverse.solve(S, reg[K], V[G], V[U])
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


# A problem into the arrays of Dantzig's method, scaled, and its forces out of them.


class Given(NamedTuple):
    """A problem: W (n, n), q (n,); mu (nc,) and slip (nc, d - 1) of the contacts, which own the
    first d nc rows; free (n,) marks bilateral rows. An LCP has d = 1 and nc = n."""

    W: Any
    q: Any
    mu: Any
    slip: Any
    free: Any
    d: int


@kernel
def prepare(p, At, S, V, T, reg, num):
    """Scale the problem to unit diagonal, label the rows, and solve the bilateral rows.

    Scales are equal within a contact, which keeps its cone.
    """
    mu, slip, d = p.mu, p.slip, p.d
    n, nc = p.q.size, mu.size
    reg[DIM], reg[DRIVE], reg[LAST] = d, -1, -1
    reg[K], reg[TIES], reg[STALE], reg[SECOND], reg[AIMED] = 0, 0, 0, 0, 0
    for j in range(n):
        for row in range(V.shape[0]):
            V[row, j] = 0.0
        for row in range(T.shape[0]):
            T[row, j] = 0
        T[POS, j] = -1
    for c in range(nc):
        h = c * d
        T[KIND, h] = BILATERAL if p.free[h] else NORMAL
        V[MU, h], V[COS, h] = mu[c], 1.0
        slides = False
        for t in range(1, d):
            slides = slides or slip[c, t - 1] != 0.0
        for t in range(1, d):
            if slides or mu[c] == 0.0:
                T[KIND, h + t], T[STATE, h + t] = FIXED, TIED
                V[SAT, h + t] = -mu[c] * slip[c, t - 1]
            else:
                T[KIND, h + t] = TANGENT
        if slides and mu[c] > 0.0:
            reg[TIES] += 1
    _scale(p.W, p.q, d, nc, At, V, reg, num)
    clamp_bilateral(At, S, V, T, reg)
    refresh(At, S, V, T, reg, num)
    spare = 0.0
    for j in range(n):
        if T[STATE, j] == SPARE:
            spare = max(spare, abs(V[A, j]))
    if spare > 1e-8 * num[BMAX]:
        return status.INFEASIBLE if reg[SYMMETRIC] == 1 else status.SINGULAR
    return status.RUNNING


@kernel
def _scale(W, q, d, nc, At, V, reg, num):
    """At = (D W D)', b = D q with unit mean diagonal per contact, per row elsewhere."""
    n = q.size
    largest = 0.0
    num[AMAX], num[BMAX] = 0.0, 0.0
    for i in range(n):
        largest = max(largest, abs(W[i, i]))
    for i in range(n):
        mean = abs(W[i, i])
        if i < d * nc:
            mean = 0.0
            for t in range(d):
                mean += W[i - i % d + t, i - i % d + t]
            mean = abs(mean) / d
        if not mean > 1e-12 * largest:
            mean = largest if largest > 0.0 else 1.0
        V[D, i] = 1.0 / np.sqrt(mean)
    skew = 0.0
    for i in range(n):
        V[B, i] = V[D, i] * q[i]
        num[BMAX] = max(num[BMAX], abs(V[B, i]))
        for j in range(n):
            At[i, j] = V[D, i] * W[j, i] * V[D, j]
            num[AMAX] = max(num[AMAX], abs(At[i, j]))
            if j < i:
                skew = max(skew, abs(At[i, j] - At[j, i]))
    reg[SYMMETRIC] = 1 if skew <= 1e-13 * num[AMAX] else 0


@kernel
def finish(V, row, d, nc, out):
    """Forces (or the direction V[row]) in the problem's own frames and units."""
    for j in range(out.size):
        out[j] = V[row, j]
    if d == 3:
        for c in range(nc):
            h = 3 * c
            size = np.hypot(V[COS, h], V[SIN, h])
            x, y = V[COS, h] / size, V[SIN, h] / size
            p, q = out[h + 1], out[h + 2]
            out[h + 1], out[h + 2] = x * p - y * q, y * p + x * q
    for j in range(out.size):
        out[j] *= V[D, j]


@kernel
def classify(T, value, d, nc, group, direction):
    """State of each contact: group 0 open, 1 stick, 2 slip, 3 closed with tied friction forever.

    direction (nc, d - 1): unit friction of slipping contacts, zero elsewhere.
    """
    for c in range(nc):
        h = d * c
        size = 0.0
        for t in range(1, d):
            direction[c, t - 1] = 0.0
            size = np.hypot(size, value[h + t])
        if T[STATE, h] != C:
            group[c] = 0
        elif T[KIND, h + 1] != TANGENT:
            group[c] = 3
        elif T[STATE, h + 1] != TIED:
            group[c] = 1
        else:
            group[c] = 2
            for t in range(1, d):
                direction[c, t - 1] = value[h + t] / size if size > 0.0 else 0.0


# The main loop: what to drive next, and one step of it.

# a violation below this times its terms that cannot be driven away is rounding
VIOLATION_NOISE = 1e-9
CHASED = 1e-11  # one below this is, after more drives than a solve needs: b is out of range by it


@kernel
def advance(At, S, V, T, reg, num, trace_sets, trace, budget):
    """At most `budget` pivots. Returns a status; RUNNING means: call again.

    trace_sets (m, n) and trace (m, 5), if m > 0, take one row per pivot: the index sets, and
    (drive, driven row, its acceleration, its force, step).
    """
    for _ in range(budget):
        if reg[STALE] == 1:
            rebuild(At, S, V, T, reg)
        if reg[DRIVE] < 0:
            outcome, what, row = _begin(At, S, V, T, reg, num)
        else:
            outcome, what, row = _pivot(At, S, V, T, reg, num, trace_sets, trace)
        if outcome != status.RUNNING:
            return outcome
        if what != NOTHING:
            change(At, S, V, T, reg, num, what, row)
            reg[AIMED] = 0
        if reg[PIVOTS] >= reg[MAX_PIVOTS]:
            return status.MAX_ITERATIONS
    return status.RUNNING


@kernel
def _begin(At, S, V, T, reg, num):
    """Choose what to drive next: (status, change to make at once, row).

    SOLVED when every contact holds after removal of rounding.
    """
    tolerances(V, num)
    if reg[FRESH] == 1:
        h = _negative(V, T, num)
        if h >= 0:
            reg[FRESH] = 0
            reg[PIVOTS] += 1
            return status.RUNNING, OPENS, h
    rule = reg[RULE]
    h, worst, score = _worst_normal(V, T, num, rule)
    friction = False
    if reg[DIM] > 1 and (h < 0 or rule % 2 == 1):
        other, size, rank = _worst_friction(V, T, reg, num, rule)
        if other >= 0 and rank > score:
            h, worst, friction = other, size, True
    scale = num[A_TOL] / 2e-14
    if reg[FRESH] == 0 and (h < 0 or worst < VIOLATION_NOISE * scale):
        refresh(At, S, V, T, reg, num)
        return status.RUNNING, NOTHING, h
    if h < 0:
        return status.SOLVED, NOTHING, h
    if worst < CHASED * scale and reg[DRIVES] > 2 * V.shape[1] + 20:
        V[QUIET, h] = 2.0 * worst
        reg[PIVOTS] += 1
        return status.RUNNING, NOTHING, h
    reg[FRESH], reg[LAST], reg[ZERO_RUN], reg[SECOND] = 0, -1, 0, 0
    reg[DRIVES] += 1
    if friction:
        return status.RUNNING, _begin_friction(At, V, T, reg, num, h), h
    T[STATE, h] = OUT
    reg[DRIVE], reg[MODE] = h, DRIVE_NORMAL
    reg[SIGN] = 1 if V[A, h] < 0.0 else -1
    return status.RUNNING, NOTHING, h


@kernel
def _negative(V, T, num):
    """First contact of C whose force is negative, which only rounding can do; -1 if none."""
    for h in range(V.shape[1]):
        if T[KIND, h] == NORMAL and T[STATE, h] == C and V[F, h] < -num[F_TOL]:
            return h
    return -1


@kernel
def _weight(h, rule):
    """Weight of row h when choosing what to drive: 1, or a fixed shuffle in later rules.

    Friction has no proof of termination: contacts that give each other up may do so for
    ever. When far more pivots have passed than a solve needs, the caller tries another order.
    """
    return 1.0 if rule == 0 else ((h * 7919 + rule * 104729) % 1021 + 1) / 1021.0


@kernel
def _worst_normal(V, T, num, rule):
    """(row, violation, weighted) of the worst normal outside C; row -1 if all hold."""
    best, worst, score = -1, 0.0, 0.0
    for h in range(V.shape[1]):
        if T[KIND, h] == NORMAL and T[STATE, h] != C:
            tol = max(num[A_TOL], V[QUIET, h])
            a = V[A, h]
            fails = -a > tol or (a > tol and V[F, h] > num[F_TOL])
            if fails and abs(a) * _weight(h, rule) > score:
                best, worst, score = h, abs(a), abs(a) * _weight(h, rule)
    return best, worst, score


@kernel
def _worst_friction(V, T, reg, num, rule):
    """(row, violation, weighted) of the contact whose friction fails most; row -1 if none."""
    best, worst, score = -1, 0.0, 0.0
    for h in range(V.shape[1]):
        if T[KIND, h] == NORMAL and T[KIND, h + 1] == TANGENT:
            x = _friction_violation(V, reg, num, h)
            if x * _weight(h, rule) > score:
                best, worst, score = h, x, x * _weight(h, rule)
    return best, worst, score


@kernel
def _friction_violation(V, reg, num, h):
    """How far contact h is from |f_t| <= mu f_N, f_t.a_t <= 0, a_t = 0 inside the cone."""
    force, accel = tangential(V[F], reg, h), tangential(V[A], reg, h)
    room = V[MU, h] * V[F, h] - force
    tol = max(num[A_TOL], V[QUIET, h])
    if -room > num[F_TOL] * (1.0 + V[MU, h]) and -room * num[AMAX] > V[QUIET, h]:
        return -room * num[AMAX]
    if accel <= tol:
        return 0.0
    if room > num[F_TOL] * (1.0 + V[MU, h]):
        return accel
    along = 0.0
    for t in range(h + 1, h + reg[DIM]):
        along += V[F, t] * V[A, t]
    if force <= num[F_TOL] or along <= tol * force:
        return 0.0
    return along / force


@kernel
def _begin_friction(At, V, T, reg, num, h):
    """Start driving friction of contact h, from whatever state it was left in.

    Returns the change that must come first, if any.
    """
    if T[STATE, h + 1] == TIED:
        reg[PIVOTS] += 1
        return STICKS
    force = tangential(V[F], reg, h)
    outside = V[MU, h] * V[F, h] - force < -num[F_TOL] * (1.0 + V[MU, h])
    first = T[STATE, h + 1] == C
    second = reg[DIM] == 3 and T[STATE, h + 2] == C
    if (first and (second or reg[DIM] == 2)) or (outside and (first or second)):
        reg[PIVOTS] += 1
        return LETS_GO
    d = h + 1
    if first:
        d = h + 2
    elif not second:
        if force > num[F_TOL]:
            turn_to(At, V, reg, h, V[F], 1.0)
        else:
            turn_to(At, V, reg, h, V[A], -1.0)
        if not outside and reg[DIM] == 3 and abs(V[A, h + 1]) <= num[A_TOL]:
            d = h + 2
    reg[DRIVE], reg[MODE] = d, DRIVE_FRICTION
    reg[SIGN] = -1 if V[A, d] > 0.0 else 1
    if outside:
        reg[MODE] = DRIVE_BACK
        reg[SIGN] = -1 if V[F, d] > 0.0 else 1
    return NOTHING


@kernel
def _pivot(At, S, V, T, reg, num, trace_sets, trace):
    """One step of the drive: (status, change that ends it, row)."""
    d = reg[DRIVE]
    if not direction(At, S, V, T, reg, num):
        outcome = status.SINGULAR if reg[SECOND] == 1 else status.RUNNING
        reg[SECOND], reg[STALE] = 1, 1  # factorise afresh and try once more
        return outcome, NOTHING, d
    reg[SECOND] = 0
    what, row = limit(V, T, reg, num)
    s = num[STEP]
    _record(V, T, reg, num, trace_sets, trace)
    reg[PIVOTS] += 1
    if s == np.inf:
        return _unlimited(V, reg, num), NOTHING, d
    for j in range(V.shape[1]):
        V[F, j] += s * V[DF, j]
        V[A, j] += s * V[DA, j]
    tolerances(V, num)
    zero = s * num[DF_MAX] <= 0.1 * num[F_TOL]
    reg[ZEROS] += 1 if zero else 0
    reg[ZERO_RUN] = reg[ZERO_RUN] + 1 if zero else 0
    if row == d:
        reg[DRIVE] = -1
        if what == ARRIVES:
            V[A, d] = 0.0
            reg[AIMED] = 1
        elif what != OPENS:
            row = d - d % reg[DIM]
        return status.RUNNING, what, row
    if what == CLOSES:
        V[A, row] = 0.0
    return status.RUNNING, _unless_bouncing(V, reg, what, row, zero), row


@kernel
def _record(V, T, reg, num, trace_sets, trace):
    k, d = reg[TRACED], reg[DRIVE]
    if k < trace.shape[0]:
        for j in range(V.shape[1]):
            trace_sets[k, j] = T[STATE, j]
        trace[k, 0], trace[k, 1], trace[k, 4] = reg[DRIVES], d, num[STEP]
        trace[k, 2], trace[k, 3] = V[A, d], V[F, d]
        reg[TRACED] = k + 1


@kernel
def _unless_bouncing(V, reg, what, h, zero):
    """The change, or giving up for now if a zero step only undoes the last change."""
    friction = what > GIVES_UP
    item = 2 * h + (1 if friction else 0)
    bounces = zero and (reg[LAST] == item or reg[ZERO_RUN] > 4 * V.shape[1] + 20)
    reg[LAST] = -1 if bounces else item
    if not bounces:
        return what
    reg[DROPS] += 1
    if not friction:
        return GIVES_UP
    if h < reg[DRIVE] < h + reg[DIM]:
        reg[DRIVE] = -1
    return LETS_GO


@kernel
def _unlimited(V, reg, num):
    """An infinite step: a ray, unless the violation is no more than rounding."""
    d = reg[DRIVE]
    if abs(V[A, d]) <= VIOLATION_NOISE * num[A_TOL] / 2e-14:
        V[QUIET, d - d % reg[DIM]] = 2.0 * abs(V[A, d])
        reg[DRIVE] = -1
        return status.RUNNING
    return status.RAY


# Changes of the index sets of Dantzig's method: a contact opens, closes, slips or sticks.
#
# In space the tangent frame of a static contact turns so that its first tangent is the direction
# that matters: of the friction force, or against the acceleration. A saturated contact then looks
# like a planar one, f_1 = mu f_N and f_2 = 0, and no result depends on the frame it was given in.

# how a contact changes
NOTHING, ARRIVES, OPENS, CLOSES, GIVES_UP, SLIPS, STICKS, LETS_GO = range(8)
# what is driven: a normal force, friction towards a_t = 0, friction back into its cone
DRIVE_NORMAL, DRIVE_FRICTION, DRIVE_BACK = range(3)


@kernel
def turn(At, V, h, c, s):
    """Turn the two tangents of contact h: t1' = c t1 + s t2, t2' = -s t1 + c t2 (rows not in C)."""
    p, q = h + 1, h + 2
    for i in range(At.shape[0]):
        x, y = At[p, i], At[q, i]
        At[p, i], At[q, i] = c * x + s * y, c * y - s * x
    for i in range(At.shape[0]):
        x, y = At[i, p], At[i, q]
        At[i, p], At[i, q] = c * x + s * y, c * y - s * x
    for row in (F, A, B):
        x, y = V[row, p], V[row, q]
        V[row, p], V[row, q] = c * x + s * y, c * y - s * x
    x, y = V[COS, h], V[SIN, h]
    V[COS, h], V[SIN, h] = c * x - s * y, s * x + c * y


@kernel
def turn_to(At, V, reg, h, target, sign):
    """Turn the frame so that the first tangent points along sign * target (in space only).

    target: V[F] or V[A].
    """
    if reg[DIM] == 3:
        x, y = sign * target[h + 1], sign * target[h + 2]
        size = np.hypot(x, y)
        if size > 0.0 and not (y == 0.0 and x > 0.0):
            turn(At, V, h, x / size, y / size)
            target[h + 1], target[h + 2] = sign * size, 0.0


@kernel
def tangential(x, reg, h):
    """Length of x over the tangents of contact h."""
    if reg[DIM] == 2:
        return abs(x[h + 1])
    return np.hypot(x[h + 1], x[h + 2])


@kernel
def _unhook(S, V, T, reg, h):
    """Take contact h out of C and end its static ties. Returns 1 if its normal was in C."""
    for t in range(h + reg[DIM] - 1, h, -1):
        if T[STATE, t] == C:
            leave(S, T, reg, t)
    was = 1 if T[STATE, h] == C else 0
    if was:
        leave(S, T, reg, h)
    _untie(V, T, reg, h)
    return was


@kernel
def _untie(V, T, reg, h):
    if reg[DIM] > 1 and T[KIND, h + 1] == TANGENT:
        if T[STATE, h + 1] == TIED:
            reg[TIES] -= 1
        for t in range(h + 1, h + reg[DIM]):
            V[SAT, t] = 0.0
            T[STATE, t] = OUT


@kernel
def _tie_up(At, V, T, reg, h, target, sense):
    """Saturate friction along sense * target, which is V[F] or V[A]."""
    turn_to(At, V, reg, h, target, sense)
    V[SAT, h + 1] = V[MU, h] if sense * target[h + 1] > 0.0 else -V[MU, h]
    for t in range(h + 1, h + reg[DIM]):
        T[STATE, t] = TIED
        V[F, t] = V[SAT, t] * V[F, h]
    reg[TIES] += 1


@kernel
def _silence(V, reg, num, h):
    """No force at contact h, except friction left over from when it was given up.

    That must not jump, or other contacts would lose their conditions: the main loop drives it
    back to zero.
    """
    V[F, h] = 0.0
    for t in range(h + 1, h + reg[DIM]):
        if abs(V[F, t]) <= 10.0 * num[F_TOL]:
            V[F, t] = 0.0
    if reg[MODE] == DRIVE_FRICTION and h < reg[DRIVE] < h + reg[DIM]:
        reg[DRIVE] = -1  # friction was being driven, and nothing is left to drive


@kernel
def change(At, S, V, T, reg, num, what, h):
    """Change the sets of the contact at row h.

    OPENS: f_N is zero. CLOSES: a_N is zero, and friction starts at the tip of the cone: it
    opposes the tangential acceleration, or clamps the contact if there is none. SLIPS: friction
    is at its bound, and keeps its direction. STICKS: the acceleration no longer opposes
    it; in space only the component along friction is zero, and the main loop drives the other.
    LETS_GO: friction keeps its value, no condition is kept. GIVES_UP: the same for the
    whole contact, which has no normal force. ARRIVES: row h was driven to a = 0.
    """
    if what == ARRIVES:
        enter(At, S, V, T, reg, h)
        return
    was = _unhook(S, V, T, reg, h)
    if what in (OPENS, GIVES_UP):
        T[STATE, h] = NC if what == OPENS else OUT
        _silence(V, reg, num, h)
        return
    clamped = 0
    static = reg[DIM] > 1 and T[KIND, h + 1] == TANGENT
    if what == CLOSES:
        was = 1
        if static and tangential(V[F], reg, h) == 0.0:
            if tangential(V[A], reg, h) > 10.0 * num[A_TOL]:
                _tie_up(At, V, T, reg, h, V[A], -1.0)
            else:
                clamped = reg[DIM] - 1
    elif what == SLIPS:
        if tangential(V[F], reg, h) > 0.0:
            _tie_up(At, V, T, reg, h, V[F], 1.0)
        else:
            _tie_up(At, V, T, reg, h, V[A], -1.0)
    elif what == STICKS:
        clamped = 2 if reg[DIM] == 3 and abs(V[A, h + 2]) <= num[A_TOL] else 1
    last = h + clamped
    for t in range(h if was else h + 1, last + 1):
        if not enter(At, S, V, T, reg, t) and t == h:
            if what == CLOSES:
                _untie(V, T, reg, h)
            break


# How far a direction of Dantzig's method can be followed, and what ends it (Baraff 1994).

TIE = 1e-11  # steps this close (relative) are equal: the driven row wins, then the first row


@kernel
def limit(V, T, reg, num):
    """Longest step along (df, da): stores it in num[STEP], returns (change that ends it, row).

    The row is that of the contact that changes, or the driven row when the drive itself ends.
    """
    what, row = _driven(V, reg, num)
    tangents = reg[DIM] > 1
    for h in range(V.shape[1]):
        if T[KIND, h] != NORMAL:
            continue
        state = T[STATE, h]
        bound = num[STEP] * (1.0 - TIE)
        if state == NC:
            if V[DA, h] < -num[DA_TOL]:
                s = max(V[A, h], 0.0) / -V[DA, h]
                if s < bound:
                    what, row, num[STEP] = CLOSES, h, s
            continue
        if state == C and V[DF, h] < -num[DF_TOL]:
            s = max(V[F, h], 0.0) / -V[DF, h]
            if s < bound:
                what, row, num[STEP] = OPENS, h, s
        if tangents and T[KIND, h + 1] == TANGENT:
            bound = num[STEP] * (1.0 - TIE)
            if T[STATE, h + 1] == TIED:
                s = _stick_step(V, num, h)
                if s < bound:
                    what, row, num[STEP] = STICKS, h, s
            elif _has_friction(T, reg, h) and not h < reg[DRIVE] < h + reg[DIM]:
                s = cone_step(V, reg, num, h)
                if s < bound:
                    what, row, num[STEP] = SLIPS, h, s
    return what, row


@kernel
def _has_friction(T, reg, h):
    """Whether a tangent of contact h is clamped, so that its cone must be watched."""
    clamped = T[STATE, h + 1] == C
    return clamped or (reg[DIM] == 3 and T[STATE, h + 2] == C)


@kernel
def _driven(V, reg, num):
    """The driven row's own end: stores the step, returns (what, row)."""
    d, mode, tol = reg[DRIVE], reg[MODE], num[DA_TOL]
    f, df, a, da = V[F, d], V[DF, d], V[A, d], V[DA, d]
    num[STEP] = np.inf
    what = NOTHING
    if mode != DRIVE_BACK and reg[SIGN] * a >= -4.0 * num[A_TOL]:
        num[STEP] = 0.0  # it arrived with the last step, which another row had limited as well
        return ARRIVES, d
    if mode != DRIVE_BACK and abs(da) > tol and (a > 0.0) != (da > 0.0):
        num[STEP] = abs(a / da)
        what = ARRIVES
    if mode == DRIVE_NORMAL:
        if reg[SIGN] < 0 and f / -df < num[STEP]:
            num[STEP] = max(f, 0.0) / -df
            what = OPENS
        return what, d
    h = d - d % reg[DIM]
    if mode == DRIVE_FRICTION:
        s = cone_step(V, reg, num, h)
        if s < num[STEP]:
            num[STEP] = s
            return SLIPS if _opposes(V, reg, num, h, s) else LETS_GO, d
    else:
        s = abs(f / df)
        side = 1.0 if f > 0.0 else -1.0
        rate = V[MU, h] * V[DF, h] - side * df
        if rate > num[DF_TOL]:
            s = min(s, max(side * f - V[MU, h] * V[F, h], 0.0) / rate)
        if s < num[STEP]:
            num[STEP] = s
            what = LETS_GO
    return what, d


@kernel
def _opposes(V, reg, num, h, s):
    """Whether friction of contact h, after the step s, does not drive its own acceleration."""
    along, force = 0.0, 0.0
    for t in range(h + 1, h + reg[DIM]):
        f = V[F, t] + s * V[DF, t]
        along += f * (V[A, t] + s * V[DA, t])
        force = max(force, abs(f))
    return along <= 10.0 * num[A_TOL] * force


@kernel
def _stick_step(V, num, h):
    """Step at which the acceleration stops opposing the saturated friction of contact h."""
    side = 1.0 if V[SAT, h + 1] > 0.0 else -1.0
    rate = side * V[DA, h + 1]
    if rate <= num[DA_TOL]:
        return np.inf
    return max(-side * V[A, h + 1], 0.0) / rate


@kernel
def cone_step(V, reg, num, h):
    """Step at which contact h leaves its cone, |f_t + s df_t| = mu (f_N + s df_N); inf if never.

    In the plane two lines; in space a quadratic, since both sides vary, solved so that nothing
    cancels: q(s) = qa s^2 + 2 qb s + qc with q <= 0 inside.
    """
    mu, f, df = V[MU, h], V[F], V[DF]
    fn, dfn, tol = mu * f[h], mu * df[h], num[DF_TOL]
    if reg[DIM] == 2:
        best = np.inf
        for side in (1.0, -1.0):
            rate = side * df[h + 1] - dfn
            if rate > tol:
                best = min(best, max(fn - side * f[h + 1], 0.0) / rate)
        return best
    x, y, dx, dy = f[h + 1], f[h + 2], df[h + 1], df[h + 2]
    size, change = np.hypot(x, y), np.hypot(dx, dy)
    if size == 0.0:
        return max(fn, 0.0) / (change - dfn) if change - dfn > tol else np.inf
    qa = (change - dfn) * (change + dfn)
    qb = x * dx + y * dy - fn * dfn
    qc = min((size - fn) * (size + fn), 0.0)
    disc = qb * qb - qa * qc
    if qb > tol * size:
        return -qc / (qb + np.sqrt(disc)) if disc >= 0.0 else np.inf
    if qa > tol * tol:
        return (-qb + np.sqrt(max(disc, 0.0))) / qa
    return np.inf
