"""Dantzig's method with bilateral rows, static and dynamic friction (Baraff 1994).

The main loop picks the contact that fails its conditions most and drives its force until they
hold, keeping those of all contacts in the index sets. `advance` does a bounded number of pivots
and can be called again: all state is in its arrays (see ``dantzig_sets``).
"""

import numpy as np

from drystone.kernels import dantzig_moves as moves
from drystone.kernels import status
from drystone.kernels._jit import kernel
from drystone.kernels.dantzig_limits import limit
from drystone.kernels.dantzig_moves import (
    ARRIVES,
    CLOSES,
    DRIVE_BACK,
    DRIVE_FRICTION,
    DRIVE_NORMAL,
    GIVES_UP,
    LETS_GO,
    NOTHING,
    OPENS,
    STICKS,
    change,
)
from drystone.kernels.dantzig_sets import (
    A_TOL,
    AIMED,
    AMAX,
    DA,
    DF,
    DF_MAX,
    DIM,
    DRIVE,
    DRIVES,
    DROPS,
    F_TOL,
    FRESH,
    KIND,
    LAST,
    MAX_PIVOTS,
    MODE,
    MU,
    NORMAL,
    OUT,
    PIVOTS,
    QUIET,
    RULE,
    SECOND,
    SIGN,
    STALE,
    STATE,
    STEP,
    TANGENT,
    TIED,
    TRACED,
    ZERO_RUN,
    ZEROS,
    A,
    C,
    F,
    direction,
    rebuild,
    refresh,
    tolerances,
)

NOISE = 1e-9  # a violation below this times its terms that cannot be driven away is rounding
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
    if reg[FRESH] == 0 and (h < 0 or worst < NOISE * scale):
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
            x = _friction_violation(V, T, reg, num, h)
            if x * _weight(h, rule) > score:
                best, worst, score = h, x, x * _weight(h, rule)
    return best, worst, score


@kernel
def _friction_violation(V, T, reg, num, h):
    """How far contact h is from |f_t| <= mu f_N, f_t.a_t <= 0, a_t = 0 inside the cone."""
    force, accel = moves.tangential(V[F], reg, h), moves.tangential(V[A], reg, h)
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
    force = moves.tangential(V[F], reg, h)
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
            moves.turn_to(At, V, reg, h, V[F], 1.0)
        else:
            moves.turn_to(At, V, reg, h, V[A], -1.0)
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
    if abs(V[A, d]) <= NOISE * num[A_TOL] / 2e-14:
        V[QUIET, d - d % reg[DIM]] = 2.0 * abs(V[A, d])
        reg[DRIVE] = -1
        return status.RUNNING
    return status.RAY
