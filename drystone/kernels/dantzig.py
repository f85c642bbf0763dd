"""Dantzig's method with bilateral rows, static and dynamic friction (F8 to F14, SEEDS 10).

The main loop picks the contact that fails its conditions most and drives its force until they
hold, keeping those of all contacts in the index sets. `advance` does a bounded number of pivots
and can be called again: all state is in its arrays (see ``dantzig_sets``).
"""

import numpy as np

from drystone.kernels import dantzig_moves as moves
from drystone.kernels import status
from drystone.kernels._jit import kernel
from drystone.kernels.dantzig_limits import (
    ARRIVED,
    CLOSES,
    EMPTIED,
    OPENS,
    REACHED_CONE,
    SLIPS,
    limit,
)
from drystone.kernels.dantzig_moves import DRIVE_BACK, DRIVE_FRICTION, DRIVE_NORMAL
from drystone.kernels.dantzig_sets import (
    A_TOL,
    AMAX,
    BILATERAL,
    BMAX,
    COS,
    DA,
    DF,
    DF_MAX,
    DIM,
    DRIVE,
    DRIVES,
    F_TOL,
    FIXED,
    FRESH,
    KIND,
    LAST,
    MAX_PIVOTS,
    MEMBER,
    MODE,
    MU,
    NORMAL,
    OUT,
    PIVOTS,
    POS,
    QUIET,
    ROUNDS,
    RULE,
    SAT,
    SIGN,
    SIN,
    SPARE,
    STATE,
    STEP,
    SYMMETRIC,
    TANGENT,
    TIED,
    TIES,
    TRACED,
    ZERO_RUN,
    ZEROS,
    A,
    B,
    C,
    D,
    F,
    K,
    clamp_bilateral,
    direction,
    enter,
    refresh,
    tolerances,
)

NOISE = 1e-9  # a violation below this times its terms that cannot be driven away is rounding


@kernel
def prepare(W, q, mu, slip, free, d, At, S, V, T, reg, num):
    """Scale the problem to unit diagonal, label the rows, and solve the bilateral rows.

    W (n, n), q (n,); mu (nc,) and slip (nc, d - 1) of the contacts, which own the first d nc
    rows; free (n,) marks bilateral rows. An LCP has d = 1 and nc = n. Scales are equal within
    a contact, which keeps its cone.
    """
    n, nc = q.size, mu.size
    V[:] = 0.0
    T[:] = 0
    reg[DIM], reg[DRIVE], reg[LAST] = d, -1, -1
    reg[K], reg[TIES], reg[ROUNDS] = 0, 0, 0
    num[:] = 0.0
    T[POS, :] = -1
    T[MEMBER, :] = -1
    for c in range(nc):
        h = c * d
        T[KIND, h] = BILATERAL if free[h] else NORMAL
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
    _scale(W, q, d, nc, At, V, reg, num)
    clamp_bilateral(At, S, V, T, reg)
    V[A, :] = V[B]
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
def advance(At, S, V, T, reg, num, trace_sets, trace, budget):
    """At most `budget` pivots. Returns a status; RUNNING means: call again.

    trace_sets (m, n) and trace (m, 5), if m > 0, take one row per pivot: the index sets, and
    (drive, driven row, its acceleration, its force, step).
    """
    for _ in range(budget):
        if reg[DRIVE] < 0:
            outcome = _begin(At, S, V, T, reg, num)
            if outcome != status.RUNNING:
                return outcome
        if reg[DRIVE] >= 0:
            outcome = _pivot(At, S, V, T, reg, num, trace_sets, trace)
            if outcome != status.RUNNING:
                return outcome
        if reg[PIVOTS] >= reg[MAX_PIVOTS]:
            return status.MAX_ITERATIONS
    return status.RUNNING


@kernel
def _begin(At, S, V, T, reg, num):
    """Choose what to drive next; SOLVED when every contact holds after removal of rounding."""
    tolerances(V, num)
    if reg[FRESH] == 1:
        outcome = _repair(At, S, V, T, reg, num)
        if outcome != status.RUNNING or reg[FRESH] == 0:
            return outcome
    rule = reg[RULE]
    h, worst, score = _worst_normal(V, T, num, rule)
    friction = False
    if reg[DIM] > 1 and (h < 0 or rule % 2 == 1):
        other, size, rank = _worst_friction(V, T, reg, num, rule)
        if other >= 0 and rank > score:
            h, worst, friction = other, size, True
    scale = num[A_TOL] / 2e-14
    if reg[FRESH] == 0 and (h < 0 or worst < NOISE * scale):
        refresh(At, S, V, T, reg, num)
        return status.RUNNING
    if h < 0:
        return status.SOLVED
    reg[FRESH], reg[LAST], reg[ZERO_RUN] = 0, -1, 0
    reg[DRIVES] += 1
    if friction:
        _begin_friction(At, S, V, T, reg, num, h)
        return status.RUNNING
    T[STATE, h] = OUT
    reg[DRIVE], reg[MODE] = h, DRIVE_NORMAL
    reg[SIGN] = 1 if V[A, h] < 0.0 else -1
    return status.RUNNING


@kernel
def _weight(h, rule):
    """Weight of row h when choosing what to drive: 1, or a fixed shuffle in later rules.

    Friction has no proof of termination (F12): contacts that give each other up may do so for
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
            x = _friction_violation(V, T, reg, num, h)
            if x * _weight(h, rule) > score:
                best, worst, score = h, x, x * _weight(h, rule)
    return best, worst, score


@kernel
def _friction_violation(V, T, reg, num, h):
    """How far contact h is from |f_t| <= mu f_N, f_t.a_t <= 0, a_t = 0 inside the cone."""
    force, accel = moves.tangential(V, reg, F, h), moves.tangential(V, reg, A, h)
    room = V[MU, h] * V[F, h] - force
    tol = max(num[A_TOL], V[QUIET, h])
    if room < -num[F_TOL] * (1.0 + V[MU, h]):
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
def _begin_friction(At, S, V, T, reg, num, h):
    """Start driving friction of contact h, from whatever state it was left in."""
    if T[STATE, h + 1] == TIED:
        moves.stick(At, S, V, T, reg, num, h)
        reg[PIVOTS] += 1
        return
    force = moves.tangential(V, reg, F, h)
    outside = V[MU, h] * V[F, h] - force < -num[F_TOL] * (1.0 + V[MU, h])
    first = T[STATE, h + 1] == C
    second = reg[DIM] == 3 and T[STATE, h + 2] == C
    if outside and (first or second):
        if moves.unhook(At, S, V, T, reg, h):
            enter(At, S, V, T, reg, h, False)
        first, second = False, False
    d = h + 1
    if first:
        d = h + 2
    elif not second:
        if force > num[F_TOL]:
            moves.turn_to(At, V, reg, h, F, 1.0)
        else:
            moves.turn_to(At, V, reg, h, A, -1.0)
        if not outside and abs(V[A, d]) <= num[A_TOL]:
            enter(At, S, V, T, reg, d, False)
            d = h + 2
    if first and (second or reg[DIM] == 2):
        # a clamped tangent that still accelerates: its factorisation has lost it
        moves.drop_friction(At, S, V, T, reg, h)
        reg[PIVOTS] += 1
        return
    reg[DRIVE], reg[MODE] = d, DRIVE_FRICTION
    reg[SIGN] = -1 if V[A, d] > 0.0 else 1
    if outside:
        reg[MODE] = DRIVE_BACK
        reg[SIGN] = -1 if V[F, d] > 0.0 else 1


@kernel
def _repair(At, S, V, T, reg, num):
    """Open contacts of C whose force is negative once rounding is removed; clears FRESH if so."""
    for h in range(V.shape[1]):
        if T[KIND, h] == NORMAL and T[STATE, h] == C and V[F, h] < -num[F_TOL]:
            moves.open_contact(At, S, V, T, reg, num, h)
            reg[FRESH] = 0
    if reg[FRESH] == 1:
        return status.RUNNING
    reg[ROUNDS] += 1
    reg[PIVOTS] += 1
    return status.RUNNING if reg[ROUNDS] < 20 else status.STALLED


@kernel
def _pivot(At, S, V, T, reg, num, trace_sets, trace):
    """One step of the drive and the change of sets that ends it."""
    if not direction(At, S, V, T, reg, num):
        return status.SINGULAR
    what, row = limit(V, T, reg, num)
    s, d = num[STEP], reg[DRIVE]
    if reg[TRACED] < trace.shape[0]:
        k = reg[TRACED]
        trace_sets[k, :] = T[STATE]
        trace[k, 0], trace[k, 1], trace[k, 4] = reg[DRIVES], d, s
        trace[k, 2], trace[k, 3] = V[A, d], V[F, d]
        reg[TRACED] = k + 1
    reg[PIVOTS] += 1
    if s == np.inf:
        return _unlimited(V, reg, num)
    for j in range(V.shape[1]):
        V[F, j] += s * V[DF, j]
        V[A, j] += s * V[DA, j]
    tolerances(V, num)
    zero = s * num[DF_MAX] <= 0.1 * num[F_TOL]
    if zero:
        reg[ZEROS] += 1
        reg[ZERO_RUN] += 1
    else:
        reg[ZERO_RUN] = 0
    if what in (ARRIVED, EMPTIED, REACHED_CONE):
        _arrive(At, S, V, T, reg, num, what, d)
    else:
        _move(At, S, V, T, reg, num, what, row, zero)
    return status.RUNNING


@kernel
def _unlimited(V, reg, num):
    """An infinite step: a ray, unless the violation is no more than rounding."""
    d = reg[DRIVE]
    if abs(V[A, d]) <= NOISE * num[A_TOL] / 2e-14:
        V[QUIET, d - d % reg[DIM]] = 2.0 * abs(V[A, d])
        reg[DRIVE] = -1
        return status.RUNNING
    return status.RAY


@kernel
def _arrive(At, S, V, T, reg, num, what, d):
    """The driven row has reached its own end: give it its set."""
    if what == ARRIVED:
        V[A, d] = 0.0
        enter(At, S, V, T, reg, d, True)
    elif what == EMPTIED:
        moves.open_contact(At, S, V, T, reg, num, d)
    elif reg[MODE] == DRIVE_FRICTION:
        h = d - d % reg[DIM]
        moves.saturate(At, S, V, T, reg, h)
        side = 1.0 if V[SAT, h + 1] > 0.0 else -1.0
        if side * V[A, h + 1] > 10.0 * num[A_TOL]:
            moves.drop_friction(At, S, V, T, reg, h)
    reg[DRIVE] = -1


@kernel
def _move(At, S, V, T, reg, num, what, h, zero):
    """Another contact limits the step: it changes set, or is dropped if it only bounces (F12)."""
    friction = what > CLOSES
    item = 2 * h + (1 if friction else 0)
    bounces = zero and (reg[LAST] == item or reg[ZERO_RUN] > 4 * V.shape[1] + 20)
    reg[LAST] = item
    if bounces:
        reg[LAST] = -1
        if friction:
            moves.drop_friction(At, S, V, T, reg, h)
        else:
            moves.drop_normal(At, S, V, T, reg, num, h)
    elif what == OPENS:
        moves.open_contact(At, S, V, T, reg, num, h)
    elif what == CLOSES:
        V[A, h] = 0.0
        moves.close_contact(At, S, V, T, reg, num, h)
    elif what == SLIPS:
        moves.saturate(At, S, V, T, reg, h)
    else:
        moves.stick(At, S, V, T, reg, num, h)


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
