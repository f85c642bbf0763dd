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
    DROPS,
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
def turn_to(At, V, reg, h, row, sign):
    """Turn the frame so that the first tangent points along sign * V[row] (in space only)."""
    if reg[DIM] == 3:
        x, y = sign * V[row, h + 1], sign * V[row, h + 2]
        size = np.hypot(x, y)
        if size > 0.0 and not (y == 0.0 and x > 0.0):
            turn(At, V, reg, h, x / size, y / size)
            V[row, h + 1], V[row, h + 2] = sign * size, 0.0


@kernel
def tangential(V, reg, row, h):
    """|V[row]| over the tangents of contact h."""
    if reg[DIM] == 2:
        return abs(V[row, h + 1])
    return np.hypot(V[row, h + 1], V[row, h + 2])


@kernel
def unhook(At, S, V, T, reg, h):
    """Take contact h out of C and end its static ties. Returns 1 if its normal was in C."""
    for t in range(h + 1, h + reg[DIM]):
        if T[STATE, t] == C:
            leave(At, S, V, T, reg, t)
    was = 1 if T[STATE, h] == C else 0
    if was:
        leave(At, S, V, T, reg, h)
    if reg[DIM] > 1 and T[KIND, h + 1] == TANGENT:
        if T[STATE, h + 1] == TIED:
            reg[TIES] -= 1
        for t in range(h + 1, h + reg[DIM]):
            V[SAT, t] = 0.0
            T[STATE, t] = OUT
    return was


@kernel
def _tie_up(V, T, reg, h, coefficient):
    V[SAT, h + 1] = coefficient
    for t in range(h + 1, h + reg[DIM]):
        T[STATE, t] = TIED
        V[F, t] = V[SAT, t] * V[F, h]
    reg[TIES] += 1


@kernel
def open_contact(At, S, V, T, reg, num, h):
    """f_N reached zero: no force at this contact, NC."""
    unhook(At, S, V, T, reg, h)
    T[STATE, h] = NC
    _silence(V, reg, num, h)


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
def close_contact(At, S, V, T, reg, num, h):
    """a_N of an open contact reached zero: its force may grow from now on.

    Its friction is at the tip of the cone: it opposes the tangential acceleration at once, or
    holds the contact if there is none.
    """
    static = reg[DIM] > 1 and T[KIND, h + 1] == TANGENT and tangential(V, reg, F, h) == 0.0
    slips = static and tangential(V, reg, A, h) > 10.0 * num[A_TOL]
    if slips:
        turn_to(At, V, reg, h, A, -1.0)
        sign = 1.0 if V[A, h + 1] < 0.0 else -1.0
        _tie_up(V, T, reg, h, sign * V[MU, h])
    if enter(At, S, V, T, reg, h, False):
        if static and not slips:
            for t in range(h + 1, h + reg[DIM]):
                enter(At, S, V, T, reg, t, False)
    elif slips:
        unhook(At, S, V, T, reg, h)


@kernel
def saturate(At, S, V, T, reg, h):
    """|f_t| reached mu f_N: freeze its direction (F13)."""
    was = unhook(At, S, V, T, reg, h)
    if tangential(V, reg, F, h) > 0.0:
        turn_to(At, V, reg, h, F, 1.0)
        sign = 1.0 if V[F, h + 1] > 0.0 else -1.0
    else:
        turn_to(At, V, reg, h, A, -1.0)
        sign = 1.0 if V[A, h + 1] < 0.0 else -1.0
    _tie_up(V, T, reg, h, sign * V[MU, h])
    if was:
        enter(At, S, V, T, reg, h, False)


@kernel
def stick(At, S, V, T, reg, num, h):
    """The acceleration no longer opposes saturated friction: clamp it.

    In space only its component along the friction is zero; the other one stays out until the
    main loop drives it.
    """
    was = unhook(At, S, V, T, reg, h)
    if was and not enter(At, S, V, T, reg, h, False):
        return
    enter(At, S, V, T, reg, h + 1, False)
    if reg[DIM] == 3 and abs(V[A, h + 2]) <= num[A_TOL]:
        enter(At, S, V, T, reg, h + 2, False)


@kernel
def drop_normal(At, S, V, T, reg, num, h):
    """Give up contact h for now (F12): no force, and no condition kept."""
    reg[DROPS] += 1
    unhook(At, S, V, T, reg, h)
    T[STATE, h] = OUT
    _silence(V, reg, num, h)


@kernel
def drop_friction(At, S, V, T, reg, h):
    """Give up friction of contact h for now (F12): its force stays as it is."""
    reg[DROPS] += 1
    if unhook(At, S, V, T, reg, h):
        enter(At, S, V, T, reg, h, False)
    if h < reg[DRIVE] < h + reg[DIM]:
        reg[DRIVE] = -1
