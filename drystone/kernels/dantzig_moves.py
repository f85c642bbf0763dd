"""Changes of the index sets of Dantzig's method: a contact opens, closes, slips or sticks.

In space the tangent frame of a static contact turns so that its first tangent is the direction
that matters: of the friction force, or against the acceleration. A saturated contact then looks
like a planar one, f_1 = mu f_N and f_2 = 0, and no result depends on the frame it was given in.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.dantzig_sets import (
    A_TOL,
    COS,
    DIM,
    DRIVE,
    F_TOL,
    KIND,
    MODE,
    MU,
    NC,
    OUT,
    SAT,
    SIN,
    STATE,
    TANGENT,
    TIED,
    TIES,
    A,
    B,
    C,
    F,
    enter,
    leave,
)

# how a contact changes
NOTHING, ARRIVES, OPENS, CLOSES, GIVES_UP, SLIPS, STICKS, LETS_GO = range(8)
# what is driven: a normal force, friction towards a_t = 0, friction back into its cone
DRIVE_NORMAL, DRIVE_FRICTION, DRIVE_BACK = range(3)


@kernel
def turn(At, V, reg, h, c, s):
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
            turn(At, V, reg, h, x / size, y / size)
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
